//! Operational webhooks: endpoints that receive events about the account's applications, endpoints and attempts.

mod delete;
mod detail;
mod form;
mod list;
mod new;
mod secret;

use axum::Router;
use kit_http::page_routes::{form, get, post};
use provider_core::model::Role;

use super::Dashboard;
use super::access::Page;

pub(super) const PAGES: &[Page] = &[
    ("GET", "/operational-webhooks", Role::Viewer),
    ("GET", "/operational-webhooks/new", Role::Member),
    ("POST", "/operational-webhooks/new", Role::Member),
    ("GET", "/operational-webhooks/{endpoint}", Role::Viewer),
    ("GET", "/operational-webhooks/{endpoint}/edit", Role::Member),
    ("POST", "/operational-webhooks/{endpoint}/edit", Role::Member),
    ("POST", "/operational-webhooks/{endpoint}/secret", Role::Member),
    ("POST", "/operational-webhooks/{endpoint}/rotate", Role::Member),
    ("GET", "/operational-webhooks/{endpoint}/delete", Role::Member),
    ("POST", "/operational-webhooks/{endpoint}/delete", Role::Member),
];

pub(super) fn router() -> Router<Dashboard> {
    Router::new()
        .route("/operational-webhooks", get(list::page))
        .route("/operational-webhooks/new", form(new::page, new::create))
        .route("/operational-webhooks/{endpoint}", get(detail::page))
        .route("/operational-webhooks/{endpoint}/edit", form(detail::edit_page, detail::save))
        .route("/operational-webhooks/{endpoint}/secret", post(secret::reveal))
        .route("/operational-webhooks/{endpoint}/rotate", post(secret::rotate))
        .route("/operational-webhooks/{endpoint}/delete", form(delete::page, delete::delete))
}
