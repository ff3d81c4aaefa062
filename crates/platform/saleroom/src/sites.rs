//! Web sites of the house that act for a bidder: the page on which the bidder allows it, and the list of those that may.

mod authorize;
mod connected;

use axum::Router;
use axum::routing::get;

use crate::site::SaleroomSite;

pub(crate) fn router() -> Router<SaleroomSite> {
    Router::new()
        .route("/{house}/authorize", get(authorize::page).post(authorize::allow))
        .route("/{house}/account/sites", get(connected::page).post(connected::disconnect))
}
