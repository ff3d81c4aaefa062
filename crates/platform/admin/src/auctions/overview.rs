//! An auction's first page: where it stands, what comes next, its terms.

use askama::Template;
use axum::response::Response;
use contract::AuctionStatus;
use http::StatusCode;
use kit_design::fields::{FormFields, QueryFields};
use kit_design::frame::{Frame, render_page_as};
use platform_core::port::{Page, RegistrationStatus};
use platform_core::sales::lists::RegistrationQuery;
use platform_core::{PlatformError, Scope};
use platform_rules::{Admission, AuctionKind, InternetBids};
use uuid::Uuid;

use super::announced::AnnouncedPanel;
use super::clerks::ClerksPanel;
use super::for_bidders::ForBidders;
use super::{blockers, owners};
use crate::lots::bidder_offer::{self, OfferRow};
use crate::page_error::PageError;
use crate::sale::labels;
use crate::sale::{Head, Sale, Tab};
use crate::session::{PathIds, Session};
use platform_words::percent;

/// Waiting registrations that are counted at most.
const WAITING_MAX: usize = 100;

#[derive(Template)]
#[template(path = "auctions/overview.html")]
struct OverviewPage {
    frame: Frame,
    head: Head,
    steps: Vec<Step>,
    next: Vec<NextStep>,
    blockers: Vec<String>,
    /// Words, figure, and the address of what it counts, below that of the auction.
    figures: Vec<(&'static str, String, &'static str)>,
    facts: Vec<(&'static str, String)>,
    waiting: String,
    offers: Vec<OfferRow>,
    for_bidders: Option<ForBidders>,
    announced: Option<AnnouncedPanel>,
    clerks: Option<ClerksPanel>,
    can_archive: bool,
    /// The sale's bidders can be reminded.
    may_remind: bool,
}

/// A status in the strip of all statuses.
struct Step {
    words: &'static str,
    is_current: bool,
    is_past: bool,
}

/// A status that comes after the present one.
struct NextStep {
    words: &'static str,
    to: &'static str,
    /// Why it is not possible now; empty when it is.
    blocked: String,
    is_main: bool,
}

/// The overview.
pub(super) async fn page(
    session: Session,
    PathIds([uuid]): PathIds<1>,
    QueryFields(query): QueryFields,
) -> Result<Response, PageError> {
    show(&session, uuid, &query, Vec::new()).await
}

/// Renders the overview, with the faults of an assignment of a clerk.
pub(super) async fn show(
    session: &Session,
    uuid: Uuid,
    query: &FormFields,
    clerk_faults: Vec<String>,
) -> Result<Response, PageError> {
    let sale = Sale::load(session, uuid).await?;
    let status = if clerk_faults.is_empty() { StatusCode::OK } else { StatusCode::CONFLICT };
    let names = owners::auctioneer_names(session, std::slice::from_ref(&sale.auction)).await?;
    let owner = names.into_values().next().unwrap_or_default();
    let page = OverviewPage {
        frame: sale.frame(session, "Overview", query),
        head: sale.head(session, Tab::Overview),
        steps: steps(sale.auction.status),
        next: if session.may(Scope::AuctionsWrite) { next(&sale) } else { Vec::new() },
        blockers: blockers::of_live(&sale.auction, &sale.counts, sale.now),
        figures: figures(&sale),
        facts: facts(&sale, owner),
        waiting: waiting(session, &sale).await?,
        offers: bidder_offer::of_sale(session, &sale).await?,
        for_bidders: ForBidders::of_sale(session, &sale).await?,
        announced: AnnouncedPanel::of_sale(session, &sale).await?,
        clerks: ClerksPanel::of_sale(session, &sale, clerk_faults).await?,
        may_remind: session.may(Scope::BiddersWrite)
            && session.platform().sends_mail()
            && matches!(sale.auction.status, AuctionStatus::Preview | AuctionStatus::Live),
        can_archive: session.may(Scope::AuctionsWrite) && can_archive(&sale),
    };
    render_page_as(status, &page)
}

fn steps(status: AuctionStatus) -> Vec<Step> {
    let step = |own: &AuctionStatus| Step {
        words: own.label(),
        is_current: *own == status,
        is_past: own.code() < status.code(),
    };
    AuctionStatus::ALL.iter().map(step).collect()
}

/// The statuses that the table of transitions has after this one, possible or not.
fn next(sale: &Sale) -> Vec<NextStep> {
    let from = sale.auction.status;
    let rows = platform_rules::transitions::AUCTION_TRANSITIONS.iter().filter(|row| row.from == Some(from));
    let step = |to: AuctionStatus| NextStep {
        words: blockers::action(from, to),
        to: to.name(),
        blocked: match sale.bulk_change {
            Some(_) => "Wait until the lots have followed the last change.".to_owned(),
            None => blockers::of(&sale.auction, &sale.counts, to, sale.now).unwrap_or_default(),
        },
        is_main: to.code() > from.code(),
    };
    rows.filter(|row| !blockers::is_mistake(from, row.to)).map(|row| step(row.to)).collect()
}

/// True when the auction can be archived as a mistake.
fn can_archive(sale: &Sale) -> bool {
    let to = AuctionStatus::Archived;
    blockers::is_mistake(sale.auction.status, to) && blockers::of(&sale.auction, &sale.counts, to, sale.now).is_none()
}

fn figures(sale: &Sale) -> Vec<(&'static str, String, &'static str)> {
    let counts = sale.counts;
    vec![
        ("Lots", labels::number(counts.total), "lots"),
        ("With bids", labels::number(counts.with_bids), "lots"),
        ("Live", labels::number(counts.live), "lots?status=LIVE"),
        ("Suspended", labels::number(counts.suspended), "lots?status=SUSPENDED"),
        ("Sold", labels::number(counts.sold), "results?show=sold"),
        ("Passed", labels::number(counts.passed), "results?show=passed"),
        ("Unsold", labels::number(counts.unsold), "results?show=unsold"),
    ]
}

fn facts(sale: &Sale, owner: String) -> Vec<(&'static str, String)> {
    let auction = &sale.auction;
    let mut facts = vec![("Auctioneer", owner), ("Dates", sale.dates())];
    if let (AuctionKind::Timed, Some(starts_at)) = (auction.kind, auction.starts_at) {
        facts.push(("Bidding opens", sale.zone.show(starts_at)));
    }
    if let Some(stagger) = auction.stagger {
        let lots = labels::count(u64::from(stagger.items), "lot", "lots");
        facts.push(("Staggered ends", format!("{lots} every {} s", stagger.seconds)));
    }
    if auction.kind == AuctionKind::Timed {
        let window = auction.extension_seconds.map_or("Off".to_owned(), |seconds| format!("{seconds} s"));
        facts.push(("Soft close", window));
    } else {
        let internet = match auction.internet_bids {
            InternetBids::WaitForClerk => "Wait for the clerk",
            InternetBids::AcceptedAtOnce => "Accepted at once",
        };
        facts.push(("Internet bids", internet.to_owned()));
    }
    let admission = match auction.registration {
        Admission::Open => "Any bidder",
        Admission::Required => "Approved registrations only",
    };
    facts.push(("Who may bid", admission.to_owned()));
    facts.push(("Buyer's premium", percent::show(auction.charges.premium_basis_points)));
    facts.push((
        "Tax on hammer, on premium",
        format!(
            "{}, {}",
            percent::show(auction.charges.hammer_tax_basis_points),
            percent::show(auction.charges.premium_tax_basis_points)
        ),
    ));
    facts
}

async fn waiting(session: &Session, sale: &Sale) -> Result<String, PageError> {
    if !sale.may_change(session, Scope::BiddersRead) {
        return Ok(String::new());
    }
    let wanted = RegistrationQuery { statuses: vec![RegistrationStatus::Pending], paddle: None };
    let page = Page { after: None, limit: WAITING_MAX + 1 };
    let found = match session.platform().list_registrations(&session.caller, sale.auction.uuid, &wanted, page).await {
        Ok(found) => found.len(),
        // A clerk sees the registrations of assigned webcasts only.
        Err(PlatformError::Forbidden(_)) => return Ok(String::new()),
        Err(error) => return Err(error.into()),
    };
    let (found, more) = if found > WAITING_MAX { (WAITING_MAX, " or more") } else { (found, "") };
    Ok(if found == 0 {
        String::new()
    } else {
        format!("{}{more}", labels::count(found as u64, "registration waits", "registrations wait"))
    })
}
