//! The saleroom: pages on which everyone follows the sales of a house, on a host and port of their own.
//!
//! A house has its pages below `/<address>`. The pages are complete without script. They show what the room `saleroom` of
//! `platform-core` returns, which has no field for what bidders may not see.
//!
//! Guarantees:
//! - A request with another host than the configured one gets 404.
//! - A house that did not open its saleroom, a draft, a sandbox and a rehearsal are not found.
//! - A live stream carries what the pages show, and ends when the saleroom closes or the sale is over.
//! - Templates escape every value: no house adds HTML or script.

#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used))]

mod catalogue;
mod conditions;
mod files;
mod host;
mod house;
mod live;
mod live_view;
mod lot;
mod lot_words;
mod page_error;
mod sales;
mod site;

use axum::Router;
use axum::middleware::from_fn_with_state;
use axum::routing::get;
use kit_design::site as pages;
use kit_http::Surface;
use platform_core::Platform;

use crate::host::Host;
use crate::site::SaleroomSite;

/// Settings of the saleroom.
#[derive(Debug, Clone, Default)]
pub struct SaleroomConfig {
    /// Base URL at which people reach it. Its host is the only one that the saleroom answers.
    pub public_url: String,
}

/// The surface with the pages of the salerooms of this platform. The caller serves it on a separate port.
pub fn surface(platform: Platform, config: &SaleroomConfig) -> Surface {
    let host = Host::of(&config.public_url);
    let saleroom = SaleroomSite::new(platform, config);
    let site = saleroom.shared_site();
    let pages = pages::wrap_site(router().with_state(saleroom), site);
    kit_http::finish_pages(pages.layer(from_fn_with_state(host, host::require)))
}

fn router() -> Router<SaleroomSite> {
    Router::new()
        .route("/{house}", get(sales::page))
        .route("/{house}/sales/{auction}", get(catalogue::page))
        .route("/{house}/sales/{auction}/live", get(live::sale))
        .route("/{house}/sales/{auction}/lots/{item}/live", get(live::lot))
        .route("/{house}/sales/{auction}/conditions", get(conditions::page))
        .route("/{house}/sales/{auction}/lots/{item}", get(lot::page))
        .route("/{house}/images/{image}/{variant}", get(files::image))
        .route("/{house}/logo/{logo}", get(files::logo))
        .merge(kit_design::assets::routes_with(files::OWN))
}
