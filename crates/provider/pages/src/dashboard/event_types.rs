//! Event types: list, editor and import.

use axum::Router;

use super::Dashboard;
use super::access::Page;

pub(super) const PAGES: &[Page] = &[];

pub(super) fn router() -> Router<Dashboard> {
    Router::new()
}
