//! One lot: where it stands, its fields, bids, history, and each event announced about it.

use askama::Template;
use axum::response::Response;
use contract::ItemStatus;
use http::StatusCode;
use kit_design::error_page::ErrorPage;
use kit_design::fields::{FormFields, QueryFields};
use kit_design::frame::{Frame, render_page_as};
use kit_design::relative_time::RelativeTime;
use platform_core::Scope;
use platform_core::port::{Bid, Page};
use platform_rules::PublicBid;
use platform_rules::{BidSource, Item};
use uuid::Uuid;

use super::bidder_offer::{self, OfferRow};
use super::columns::Column;
use super::consignors::Consignors;
use super::history::{self, HistoryRow};
use super::offer;
use crate::images::panel::{Panel, Uploaded};
use crate::page_error::PageError;
use crate::sale::Sale;
use crate::sale::labels::{self, Badge};
use crate::sale::notice;
use crate::session::{PathIds, Section, Session};

/// Bids of a page.
const BIDS_MAX: usize = 50;

#[derive(Template)]
#[template(path = "lots/lot.html")]
struct LotPage {
    frame: Frame,
    sale_title: String,
    sale_path: String,
    path: String,
    id: Uuid,
    lot_number: String,
    title: String,
    badge: Badge,
    description: String,
    figures: Vec<(&'static str, String)>,
    facts: Vec<(&'static str, String)>,
    /// For users who edit lots.
    consignor: Option<Consignor>,
    actions: Vec<(String, &'static str)>,
    previous: Option<Neighbour>,
    next: Option<Neighbour>,
    offers: Vec<OfferRow>,
    bids: Vec<BidRow>,
    earlier_bids: Option<i64>,
    has_older_page: bool,
    history: Vec<HistoryRow>,
    /// Path of the customer's quarantine; none for a user who may not see the customer.
    quarantine_path: Option<String>,
    images: Panel,
    may_write: bool,
    may_see_events: bool,
}

struct Consignor {
    label: String,
    /// The record in the register; none for an identifier that the register does not know.
    record: Option<Uuid>,
}

struct Neighbour {
    id: Uuid,
    lot_number: String,
}

struct BidRow {
    id: Uuid,
    number: i64,
    paddle: String,
    amount: String,
    source: &'static str,
    at: RelativeTime,
    struck: String,
    is_leading: bool,
    can_cancel: bool,
}

/// The lot of an auction that the path names, with its sale.
pub(crate) async fn load(session: &Session, auction: Uuid, item: Uuid) -> Result<(Sale, Item), PageError> {
    let sale = Sale::load(session, auction).await?;
    let (item, of) = session.platform().item(&session.caller, item).await?;
    if of.uuid != auction {
        return Err(ErrorPage::not_found().into());
    }
    Ok((sale, item))
}

/// The page of a lot.
pub(super) async fn page(
    session: Session,
    PathIds([auction, item]): PathIds<2>,
    QueryFields(query): QueryFields,
) -> Result<Response, PageError> {
    let (sale, item) = load(&session, auction, item).await?;
    show(&session, &sale, &item, &query, Uploaded::default(), StatusCode::OK).await
}

/// Renders the page, with what became of files that were just uploaded.
pub(crate) async fn show(
    session: &Session,
    sale: &Sale,
    item: &Item,
    query: &FormFields,
    uploaded: Uploaded,
    status: StatusCode,
) -> Result<Response, PageError> {
    let may_write = session.may(Scope::AuctionsWrite);
    let (bids, earlier_bids, has_older_page) = bids(session, sale, item, query).await?;
    let (previous, next) = neighbours(session, item).await?;
    let offers = bidder_offer::of_lot(session, sale, item).await?;
    let actions = if may_write { actions(sale, item, &offers) } else { Vec::new() };
    let title = format!("Lot {}: {}", item.lot_number, item.title);
    let may_see_customer = session.may(Scope::CustomersRead);
    let page = LotPage {
        frame: session.frame(title, Section::Auctions).with_notice(notice::from_query(query)),
        sale_title: sale.title(),
        sale_path: sale.path(""),
        path: sale.path(&format!("/lots/{}", item.uuid)),
        id: item.uuid,
        lot_number: item.lot_number.clone(),
        title: item.title.clone(),
        badge: item.status.into(),
        description: item.description.clone(),
        figures: figures(sale, item),
        facts: facts(sale, item, may_write),
        consignor: if may_write { consignor(session, sale, item).await? } else { None },
        actions,
        previous,
        next,
        offers,
        bids,
        earlier_bids,
        has_older_page,
        history: history::load(session, sale, item).await?,
        quarantine_path: may_see_customer.then(|| format!("/customers/{}#quarantine", item.customer)),
        images: Panel::load(session, sale, item, uploaded).await?,
        may_write: may_write && sale.auction.require_open().is_ok(),
        may_see_events: session.may(Scope::EventsRead),
    };
    render_page_as(status, &page)
}

fn figures(sale: &Sale, item: &Item) -> Vec<(&'static str, String)> {
    let price = item.price().map_or("No bid".to_owned(), |price| sale.currency.show(price));
    let mut figures = vec![("Price", price), ("Bids", labels::number(item.shown_bids().unsigned_abs()))];
    if let Some(standing) = &item.standing {
        let words = if matches!(item.status, ItemStatus::Sold | ItemStatus::SoldBuyNow) { "Buyer" } else { "Leads" };
        figures.push((words, labels::bidder(standing)));
    }
    if let Some(met) = item.reserve_met() {
        figures.push(("Reserve", if met { "Met".to_owned() } else { "Not met".to_owned() }));
    }
    if let Some(end) = item.effective_end_time.or(item.end_time) {
        figures.push(("Ends", sale.zone.show(end)));
    }
    figures
}

fn facts(sale: &Sale, item: &Item, may_write: bool) -> Vec<(&'static str, String)> {
    let shown = Column::ALL.into_iter().filter(|column| {
        !matches!(column, Column::LotNumber | Column::Title | Column::Description | Column::Vendor)
            && (may_write || *column != Column::Reserve)
    });
    let value = |column: Column| (column.label(), column.shown(item, &sale.currency, &Consignors::default()));
    let mut facts: Vec<_> = shown.map(value).filter(|(_, value)| !value.is_empty()).collect();
    if let (Some(planned), true) = (item.end_time, item.effective_end_time > item.end_time) {
        facts.push(("Planned end", sale.zone.show(planned)));
    }
    facts
}

async fn consignor(session: &Session, sale: &Sale, item: &Item) -> Result<Option<Consignor>, PageError> {
    let consignors = Consignors::of(session, sale, [item]).await?;
    let record = item.vendor.filter(|_| consignors.known(item).is_some());
    Ok(item.vendor.map(|_| Consignor { label: consignors.label(item), record }))
}

/// The statuses that the lot can get now, with the words of their buttons.
fn actions(sale: &Sale, item: &Item, offers: &[OfferRow]) -> Vec<(String, &'static str)> {
    let words = |to: &ItemStatus| match (item.status, to) {
        (ItemStatus::Sold | ItemStatus::Passed, ItemStatus::Live) => "Reopen lot",
        (ItemStatus::Suspended, _) => "End suspension",
        (ItemStatus::Withdrawn, _) => "Reinstate lot",
        (_, ItemStatus::Draft) => "Return to draft",
        (_, ItemStatus::Preview) => "Move to preview",
        (_, ItemStatus::Live) => "Put on sale",
        (_, ItemStatus::Suspended) => "Suspend lot",
        (_, ItemStatus::Withdrawn) => "Withdraw lot",
        (ItemStatus::Sold | ItemStatus::SoldBuyNow, ItemStatus::Unsold) => "Record unpaid buyer",
        (_, other) => other.label(),
    };
    // A post-sale offer has a page of its own: it needs a buyer and an amount.
    let legal = item.legal_next(&sale.auction, sale.now).into_iter().filter(|to| *to != ItemStatus::Sold);
    let mut actions: Vec<(String, &'static str)> =
        legal.map(|to| (format!("status?to={}", to.name()), words(&to))).collect();
    if bidder_offer::is_possible(sale, item, offers) {
        actions.push(("bidder-offer".to_owned(), "Offer to a bidder"));
    }
    if offer::is_possible(sale, item) {
        actions.push(("offer".to_owned(), "Record post-sale offer"));
    }
    if item.is_result_correctable(&sale.auction) {
        actions.push(("hammer-price".to_owned(), "Correct hammer price"));
        actions.push(("buyer".to_owned(), if item.is_buyer_open() { "Name buyer" } else { "Change buyer" }));
    }
    actions
}

async fn neighbours(session: &Session, item: &Item) -> Result<(Option<Neighbour>, Option<Neighbour>), PageError> {
    let page = Page { after: Some(item.position - 2), limit: 3 };
    let around = session.platform().items(&session.caller, item.auction, page).await?;
    let at = |position: i64| {
        let found = around.iter().find(|other| other.position == position);
        found.map(|other| Neighbour { id: other.uuid, lot_number: other.lot_number.clone() })
    };
    Ok((at(item.position - 1), at(item.position + 1)))
}

/// The latest bids, newest first, or those before a number; with where the page before begins.
async fn bids(
    session: &Session,
    sale: &Sale,
    item: &Item,
    query: &FormFields,
) -> Result<(Vec<BidRow>, Option<i64>, bool), PageError> {
    let before: Option<i64> = query.text("before").parse().ok();
    let last = before.map_or(item.shown_bids(), |before| before - 1).clamp(0, item.shown_bids());
    let after = (last - i64::try_from(BIDS_MAX).unwrap_or(i64::MAX)).max(0);
    let limit = usize::try_from(last - after).unwrap_or(0);
    if limit == 0 {
        return Ok((Vec::new(), None, before.is_some()));
    }
    let page = Page { after: Some(after), limit };
    let (item, found) = session.platform().bids(&session.caller, item.uuid, page).await?;
    let may_write = session.may(Scope::AuctionsWrite) && item.status == ItemStatus::Live;
    let rows = found.iter().rev().filter_map(|bid| row(session, sale, &item, bid, may_write)).collect();
    Ok((rows, (after > 0).then_some(after + 1), before.is_some()))
}

fn row(session: &Session, sale: &Sale, item: &Item, bid: &Bid, may_cancel: bool) -> Option<BidRow> {
    let public = PublicBid::of(item, &bid.record())?;
    let struck = bid.struck.as_ref();
    Some(BidRow {
        id: bid.uuid,
        number: public.number,
        paddle: public.bidder,
        amount: sale.currency.show(public.amount),
        source: source(public.source),
        at: sale.zone.relative(public.at, session.now()),
        struck: struck
            .map(|struck| struck.reason.clone().unwrap_or_else(|| "No longer counts".to_owned()))
            .unwrap_or_default(),
        is_leading: item.standing.as_ref().is_some_and(|standing| standing.bid == bid.uuid),
        can_cancel: may_cancel && struck.is_none(),
    })
}

fn source(source: BidSource) -> &'static str {
    match source {
        BidSource::Internet => "Internet",
        BidSource::Room => "Room",
        BidSource::Commission => "Commission",
        BidSource::Absentee => "Absentee",
        BidSource::BuyNow => "Buy now",
        BidSource::PostSaleOffer => "Post-sale offer",
    }
}
