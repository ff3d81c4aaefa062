//! Consumer applications: list, create, change, delete, and the links to and previews of their App Portal.

mod delete;
mod detail;
mod edit;
mod form;
mod list;
mod new;
mod portal_links;
mod preview;

use axum::Router;
use kit_http::page_routes::{form, get, post};
use provider_core::model::Role;

use super::Dashboard;
use super::access::Page;

pub(super) const PAGES: &[Page] = &[
    ("GET", "/applications", Role::Viewer),
    ("GET", "/applications/new", Role::Member),
    ("POST", "/applications/new", Role::Member),
    ("GET", "/applications/{application}", Role::Viewer),
    ("GET", "/applications/{application}/edit", Role::Member),
    ("POST", "/applications/{application}/edit", Role::Member),
    ("GET", "/applications/{application}/delete", Role::Member),
    ("POST", "/applications/{application}/delete", Role::Member),
    ("POST", "/applications/{application}/preview", Role::Support),
    ("GET", "/applications/{application}/portal-links", Role::Viewer),
    ("GET", "/applications/{application}/portal-links/new", Role::Support),
    ("POST", "/applications/{application}/portal-links/new", Role::Support),
    ("GET", "/applications/{application}/portal-links/{link}/revoke", Role::Support),
    ("POST", "/applications/{application}/portal-links/{link}/revoke", Role::Support),
];

pub(super) fn router() -> Router<Dashboard> {
    Router::new()
        .route("/applications", get(list::page))
        .route("/applications/new", form(new::page, new::create))
        .route("/applications/{application}", get(detail::page))
        .route("/applications/{application}/edit", form(edit::page, edit::save))
        .route("/applications/{application}/delete", form(delete::page, delete::delete))
        .route("/applications/{application}/preview", post(preview::open))
        .route("/applications/{application}/portal-links", get(portal_links::page))
        .route("/applications/{application}/portal-links/new", form(portal_links::new_page, portal_links::create))
        .route(
            "/applications/{application}/portal-links/{link}/revoke",
            form(portal_links::revoke_page, portal_links::revoke),
        )
}
