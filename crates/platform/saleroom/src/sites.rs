//! Web sites of the house that act for a bidder: the page on which the bidder allows it, and the list of those that may.

mod authorize;
mod connected;

use axum::Router;
use kit_http::page_routes::form;

use crate::site::SaleroomSite;

pub(crate) fn router() -> Router<SaleroomSite> {
    Router::new()
        .route("/{house}/authorize", form(authorize::page, authorize::allow))
        .route("/{house}/account/sites", form(connected::page, connected::disconnect))
}
