//! The web sites that act for a bidder, and the end of it.

use askama::Template;
use axum::response::{IntoResponse as _, Redirect, Response};
use kit_design::fields::{QueryFields, SubmittedForm};
use kit_design::frame::{Frame, render_page};
use platform_words::SaleZone;

use crate::account::sign_in_first;
use crate::house::{House, HouseFrame};
use crate::page_error::PageError;

/// The zone of times at a house that names none.
const ZONE: &str = "Etc/UTC";

#[derive(Template)]
#[template(path = "sites/connected.html")]
struct ConnectedPage {
    frame: Frame,
    around: HouseFrame,
    sites: Vec<SiteRow>,
    is_disconnected: bool,
}

struct SiteRow {
    origin: String,
    allowed: String,
    used: String,
    ends: String,
}

pub(super) async fn page(house: House<0>, QueryFields(query): QueryFields) -> Result<Response, PageError> {
    let Some(bidder) = &house.bidder else {
        return Ok(sign_in_first(&house.path(), &format!("{}/account/sites", house.path())));
    };
    let zone = SaleZone::named(house.saleroom.house.profile.time_zone.as_deref().unwrap_or(ZONE));
    let grants = house.platform().connected_sites(bidder).await?;
    let row = |grant: platform_core::port::SiteGrant| SiteRow {
        allowed: zone.show(grant.created_at),
        used: zone.show(grant.last_used_at),
        ends: zone.show(grant.expires_at),
        origin: grant.origin,
    };
    let around = house.frame("Connected sites", "/account/sites", "Web sites that bid for you.".to_owned());
    render_page(&ConnectedPage {
        frame: around.frame.clone(),
        around,
        sites: grants.into_iter().map(row).collect(),
        is_disconnected: query.text("done") == "disconnected",
    })
}

pub(super) async fn disconnect(house: House<0>, SubmittedForm(form): SubmittedForm) -> Result<Response, PageError> {
    let own = format!("{}/account/sites", house.path());
    let Some(bidder) = &house.bidder else { return Ok(sign_in_first(&house.path(), &own)) };
    house.platform().disconnect_site(bidder, form.text("origin")).await?;
    Ok(Redirect::to(&format!("{own}?done=disconnected")).into_response())
}
