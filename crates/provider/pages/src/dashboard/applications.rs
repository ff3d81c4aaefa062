//! Consumer applications: list, create, change, delete, and the preview of their App Portal.

mod delete;
mod detail;
mod edit;
mod form;
mod list;
mod new;
mod preview;

use axum::Router;
use axum::routing::{get, post};
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
];

pub(super) fn router() -> Router<Dashboard> {
    Router::new()
        .route("/applications", get(list::page))
        .route("/applications/new", get(new::page).post(new::create))
        .route("/applications/{application}", get(detail::page))
        .route("/applications/{application}/edit", get(edit::page).post(edit::save))
        .route("/applications/{application}/delete", get(delete::page).post(delete::delete))
        .route("/applications/{application}/preview", post(preview::open))
}
