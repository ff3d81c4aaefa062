//! The test clocks of sandbox auctions: shown, and advanced.

use askama::Template;
use axum::Router;
use axum::response::{IntoResponse as _, Response};
use kit_design::error_page::ErrorPage;
use kit_design::fields::{QueryFields, SubmittedForm};
use kit_design::frame::{Frame, render_page};
use kit_http::page_routes::{get, post};
use platform_core::Scope::SandboxWrite;
use platform_core::port::Page as ListPage;
use platform_core::sales::lists::AuctionQuery;
use platform_core::sandbox::Advance;
use platform_rules::{Auction, SaleMode};
use uuid::Uuid;

use crate::access::{Need, Page};
use crate::admin::Admin;
use crate::notice;
use crate::page_error::PageError;
use crate::session::{PathIds, Section, Session};

/// Sandbox auctions on one page of the list.
const LISTED: usize = 50;
/// Steps that the form offers: seconds and words.
const STEPS: &[(i64, &str)] = &[
    (60, "1 minute"),
    (600, "10 minutes"),
    (3_600, "1 hour"),
    (86_400, "1 day"),
    (7 * 86_400, "7 days"),
    (30 * 86_400, "30 days"),
];

pub(crate) const PAGES: &[Page] =
    &[("GET", "/test-clock", Need::Has(SandboxWrite)), ("POST", "/test-clock/{auction}", Need::Has(SandboxWrite))];

pub(crate) fn router() -> Router<Admin> {
    Router::new().route("/test-clock", get(page)).route("/test-clock/{auction}", post(advance))
}

/// A sandbox auction in the list.
struct ClockRow {
    uuid: Uuid,
    title: String,
    status: &'static str,
    shows: String,
    is_advancing: bool,
    ended: u64,
    version: i64,
}

#[derive(Template)]
#[template(path = "test_clock.html")]
struct ClockPage {
    frame: Frame,
    rows: Vec<ClockRow>,
    steps: &'static [(i64, &'static str)],
    next: Option<Uuid>,
}

fn row(auction: Auction) -> Option<ClockRow> {
    let clock = auction.clock?;
    // The clock of an archived sale does not advance.
    auction.require_unarchived().ok()?;
    Some(ClockRow {
        uuid: auction.uuid,
        title: auction.shown_title().to_owned(),
        status: auction.status.name(),
        shows: clock.now().strftime("%-d %b %Y, %H:%M:%S UTC").to_string(),
        is_advancing: clock.target.is_some(),
        ended: clock.ended,
        version: auction.version,
    })
}

async fn page(session: Session, QueryFields(query): QueryFields) -> Result<Response, PageError> {
    let wanted = AuctionQuery { sale_mode: Some(SaleMode::Sandbox), ..AuctionQuery::default() };
    let page = ListPage { after: Uuid::try_parse(query.text("after")).ok(), limit: LISTED + 1 };
    let mut auctions = session.platform().list_auctions(&session.caller, wanted, page).await?;
    let has_more = auctions.len() > LISTED;
    auctions.truncate(LISTED);
    render_page(&ClockPage {
        frame: session.frame("Test clock", Section::TestClock).with_notice(notice::from_query(&query)),
        next: auctions.last().map(|auction| auction.uuid).filter(|_| has_more),
        rows: auctions.into_iter().filter_map(row).collect(),
        steps: STEPS,
    })
}

/// Advances a clock by one of the steps.
async fn advance(
    session: Session,
    PathIds([auction]): PathIds<1>,
    SubmittedForm(form): SubmittedForm,
) -> Result<Response, PageError> {
    let seconds = form.text("seconds").parse();
    let by =
        seconds.map(Advance::Seconds).map_err(|_| ErrorPage::bad_request("Choose how far to advance the clock."))?;
    let seen = form.text("version").parse().ok();
    session.platform().advance_clock(&session.caller, auction, by, seen, None).await?;
    Ok(session.admin.redirect("/test-clock?done=clock-advanced").into_response())
}
