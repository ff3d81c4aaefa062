//! Event types: list, create, change, archive, delete, import from OpenAPI, and the ready ones.

mod delete;
mod detail;
mod editor;
mod import;
mod json_lines;
mod list;
mod new;
mod ready;
mod schema_form;
mod unknown;

use axum::Router;
use kit_http::page_routes::{form, get, post};
use provider_core::model::Role;

pub use ready::{ReadyEventType, ReadyEventTypes};

use super::Dashboard;
use super::access::Page;

pub(super) const PAGES: &[Page] = &[
    ("GET", "/event-types", Role::Viewer),
    ("GET", "/new-event-type", Role::Member),
    ("POST", "/new-event-type", Role::Member),
    ("GET", "/import-event-types", Role::Member),
    ("POST", "/import-event-types", Role::Member),
    ("POST", "/ready-event-types", Role::Member),
    ("POST", "/unknown-event-types", Role::Admin),
    ("POST", "/unknown-event-types/create", Role::Member),
    ("GET", "/event-types/{name}", Role::Viewer),
    ("GET", "/event-types/{name}/edit", Role::Member),
    ("POST", "/event-types/{name}/edit", Role::Member),
    ("GET", "/event-types/{name}/archive", Role::Member),
    ("POST", "/event-types/{name}/archive", Role::Member),
    ("POST", "/event-types/{name}/restore", Role::Member),
    ("GET", "/event-types/{name}/delete", Role::Member),
    ("POST", "/event-types/{name}/delete", Role::Member),
];

pub(super) fn router() -> Router<Dashboard> {
    Router::new()
        .route("/event-types", get(list::page))
        .route("/new-event-type", form(new::page, new::create))
        .route("/import-event-types", form(import::page, import::submit))
        .route("/ready-event-types", post(ready::add))
        .route("/unknown-event-types", post(unknown::save))
        .route("/unknown-event-types/create", post(unknown::create))
        .route("/event-types/{name}", get(detail::page))
        .route("/event-types/{name}/edit", form(editor::page, editor::save))
        .route("/event-types/{name}/archive", form(delete::archive_page, delete::archive))
        .route("/event-types/{name}/restore", post(delete::restore))
        .route("/event-types/{name}/delete", form(delete::page, delete::delete))
}
