//! The web sites that act for a bidder, and the end of it.

use askama::Template;
use axum::response::{IntoResponse as _, Redirect, Response};
use kit_design::fields::{QueryFields, SubmittedForm};
use kit_design::frame::{Frame, render_page};
use platform_words::Value;

use crate::account::sign_in_first;
use crate::house::{House, HouseFrame};
use crate::page_error::PageError;

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
    /// When it was allowed, last renewed, and when it ends.
    times: String,
}

pub(super) async fn page(house: House<0>, QueryFields(query): QueryFields) -> Result<Response, PageError> {
    let Some(bidder) = &house.bidder else {
        return Ok(sign_in_first(&house.path(), &format!("{}/account/sites", house.path())));
    };
    let (words, zone) = (house.words, house.zone("UTC"));
    let grants = house.platform().connected_sites(bidder).await?;
    let row = |grant: platform_core::port::SiteGrant| SiteRow {
        times: words.with("sites-times", {
            let shown = |at| Value::from(zone.show(at));
            [
                ("allowed", shown(grant.created_at)),
                ("used", shown(grant.last_used_at)),
                ("ends", shown(grant.expires_at)),
            ]
        }),
        origin: grant.origin,
    };
    let around = house.frame(words.of("sites"), "/account/sites", words.of("sites").into_owned());
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
