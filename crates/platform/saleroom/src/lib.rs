//! The saleroom: pages on which everyone follows the sales of a house, on a host and port of their own.
//!
//! A house has its pages below `/<address>`. The pages are complete without script. They show what the room `saleroom` of
//! `platform-core` returns, which has no field for what bidders may not see.
//!
//! Guarantees:
//! - A request with another host than the configured one and the proven domains of houses gets 404 ([`hosts`]).
//! - On the domain of a house, only that house has pages.
//! - A house that did not open its saleroom, a draft, a sandbox and a rehearsal are not found.
//! - A live stream carries what the pages show, and ends when the saleroom closes or the sale is over.
//! - Templates escape every value: no house adds HTML or script.
//! - A web site of a house acts for a bidder only after the bidder allowed it on a page of the saleroom, and only by the JSON API.

#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used))]

mod account;
mod api;
mod bid_box;
mod bidding;
mod catalogue;
mod conditions;
mod embed;
mod faults;
mod files;
mod film;
mod hosts;
mod house;
mod language;
mod limit;
mod live;
mod live_view;
mod lot;
mod lot_filter;
mod lot_words;
mod messages;
mod my_bids;
mod notices;
mod offers;
mod own_time;
mod page_error;
mod register;
mod sales;
mod site;
mod site_map;
mod sites;
mod structured;
mod way_back;

use std::sync::Arc;

use axum::Router;
use axum::middleware::from_fn_with_state;
use axum::routing::any;
use kit_design::{site as pages, theme};
use kit_http::Surface;
use kit_http::page_routes::{form, get, post};
use kit_http::request_counts::RequestCounts;
use platform_core::Platform;
use utoipa::openapi::OpenApi;

use crate::site::SaleroomSite;

/// Settings of the saleroom.
#[derive(Debug, Clone, Default)]
pub struct SaleroomConfig {
    /// Base URL at which people reach it. The saleroom answers its host, and the proven domains of houses.
    pub public_url: String,
}

/// The surface with the pages of the salerooms of this platform. The caller serves it on a separate port.
pub fn surface(platform: Platform, config: &SaleroomConfig) -> Surface {
    if !platform.sends_mail() {
        tracing::warn!("the salerooms are closed, because this server sends no mail: set mail.smtp_url");
    }
    let saleroom = SaleroomSite::new(platform, config);
    let (site, api) = (saleroom.shared_site(), api::router(&saleroom));
    let router = router().layer(from_fn_with_state(saleroom.clone(), way_back::add)).with_state(saleroom.clone());
    let one_click = notices::one_click().with_state(saleroom.clone());
    let pages = pages::wrap_site(router, site)
        .merge(one_click)
        .merge(api)
        .layer(from_fn_with_state(saleroom.clone(), language::middleware));
    // As a fallback, so that the routes are matched after the host.
    let pages = Router::new().fallback_service(pages).layer(from_fn_with_state(saleroom, hosts::route));
    kit_http::finish_pages(pages).counted(request_counts())
}

/// The OpenAPI document of the bidders' API, as `/{house}/api/openapi.json` serves it.
pub fn openapi() -> OpenApi {
    api::document()
}

/// Schema names in the OpenAPI document that two different types share. Must be empty: otherwise an operation would be described with
/// the schema of another one.
pub fn ambiguous_schemas() -> Vec<String> {
    api::ambiguous_schemas()
}

/// Pages that are counted under a name; the others count as `other`.
const COUNTED: [(&str, &str); 20] = [
    ("/{house}", "sales"),
    ("/{house}/sales/{auction}", "catalogue"),
    ("/{house}/sales/{auction}/conditions", "conditions"),
    ("/{house}/sales/{auction}/lots/{item}", "lot"),
    ("/{house}/sales/{auction}/register", "registration"),
    ("/{house}/my-bids", "my_bids"),
    ("/{house}/sign-in", "sign_in_form"),
    ("/{house}/sign-up", "sign_up_form"),
    ("/{house}/sign-up/account", "account_form"),
    ("/{house}/account", "account"),
    ("/{house}/account/notices", "notice_choices"),
    ("/{house}/notices", "notices"),
    ("/{house}/notices/new", "new_notices"),
    ("/{house}/mails/{code}", "end_mails_form"),
    ("/{house}/images/{image}/{variant}", "image"),
    ("/{house}/logo/{logo}", "logo"),
    ("/{house}/sitemap.xml", "site_map"),
    ("/sitemap.xml", "site_map_index"),
    ("/robots.txt", "robots"),
    ("/static/{name}", "static"),
];

/// Forms that are counted under a name.
const COUNTED_FORMS: [(&str, &str); 15] = [
    ("/{house}/sales/{auction}/lots/{item}/bid", "bid"),
    ("/{house}/sales/{auction}/lots/{item}/offer", "answer_offer"),
    ("/{house}/sales/{auction}/lots/{item}/watch", "watch"),
    ("/{house}/sales/{auction}/register", "register"),
    ("/{house}/sales/{auction}/limit", "ask_limit"),
    ("/{house}/sign-in", "sign_in"),
    ("/{house}/sign-up", "mail_link"),
    ("/{house}/sign-up/account", "open_account"),
    ("/{house}/account", "change_account"),
    ("/{house}/account/export", "export_account"),
    ("/{house}/account/notices", "choose_notices"),
    ("/{house}/notices/seen", "see_notices"),
    ("/{house}/push", "add_browser"),
    ("/{house}/mails/{code}/one-click", "end_mails"),
    ("/{house}/language", "language"),
];

fn request_counts() -> Arc<RequestCounts> {
    let of =
        |method: http::Method| move |(path, name): (&str, &str)| (method.clone(), path.to_owned(), name.to_owned());
    let pages = COUNTED.into_iter().map(of(http::Method::GET));
    let forms = COUNTED_FORMS.into_iter().map(of(http::Method::POST));
    Arc::new(RequestCounts::new(pages.chain(forms).chain(api::counted())))
}

fn router() -> Router<SaleroomSite> {
    Router::new()
        .route("/{house}", get(sales::page))
        .route("/{house}/sales/{auction}", get(catalogue::page))
        .route("/{house}/sales/{auction}/live", get(live::sale))
        .route("/{house}/sales/{auction}/lots/{item}/live", get(live::lot))
        .route("/{house}/sales/{auction}/conditions", get(conditions::page))
        .route("/{house}/sales/{auction}/lots/{item}", get(lot::page))
        .route("/{house}/sales/{auction}/register", form(register::page, register::register))
        .route("/{house}/sales/{auction}/limit", post(limit::ask))
        .route("/{house}/sales/{auction}/lots/{item}/bid", post(bidding::bid))
        .route("/{house}/sales/{auction}/lots/{item}/offer", post(offers::answer))
        .route("/{house}/sales/{auction}/lots/{item}/watch", post(bidding::watch))
        .route("/{house}/my-bids", get(my_bids::page))
        .route("/{house}/language", post(language::choose))
        .merge(account::router())
        .merge(notices::router())
        .merge(sites::router())
        .route("/{house}/images/{image}/{variant}", get(files::image))
        .route("/{house}/logo/{logo}", get(files::logo))
        .route("/{house}/sitemap.xml", get(site_map::of_house))
        .route("/{house}/{*rest}", any(house::missing))
        .route("/sitemap.xml", get(site_map::index))
        .route("/robots.txt", get(site_map::robots))
        .route(theme::ROUTE, get(theme::style))
        .merge(kit_design::assets::routes_with(files::OWN))
}
