//! The clerk's desk, the room screen and the speaker's view of a webcast.

use axum::Router;

use crate::access::Page;
use crate::admin::Admin;

/// The pages of this module with the scope that each requires.
pub(crate) const PAGES: &[Page] = &[];

pub(crate) fn router() -> Router<Admin> {
    Router::new()
}
