//! Auctions: list, creation, status, ends.

use axum::Router;

use crate::access::Page;
use crate::admin::Admin;

/// The pages of this module with the scope that each requires.
pub(crate) const PAGES: &[Page] = &[];

pub(crate) fn router() -> Router<Admin> {
    Router::new()
}
