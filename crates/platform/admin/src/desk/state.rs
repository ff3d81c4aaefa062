//! What the desk shows: the ring with its version, and what is around it.

use axum::response::{IntoResponse as _, Response};
use http::StatusCode;
use jiff::Timestamp;
use kit_runtime::clock::rfc3339_ms;
use platform_core::port::TelephoneBooking;
use platform_core::ring::{AnnouncedItem, Desk, RingState, RingVersion};
use platform_core::{Platform, PlatformError};
use platform_rules::{Auction, BidRecord, BidSource, InRing, InternetBids, Item, RingStatus};
use serde::Serialize;
use uuid::Uuid;

use super::amounts::{Amount, Money};
use super::messages::{self, MessageView};
use super::names::{self, Names};
use super::problem::DeskProblem;
use super::waiting::{LateView, PendingView, WaitingView, late, lost, pending, waiting};
use crate::images;
use crate::session::{PathIds, Session};
use contract::{AuctionStatus, ItemStatus};

/// Lots in "Just done".
const DONE_MAX: usize = 20;
/// Of these, the desk shows the first ones.
const DONE_SHOWN_MAX: usize = 6;
/// Lots that a pace is computed from, at least.
const PACE_LOTS_MIN: usize = 4;
const SECONDS_PER_HOUR: f64 = 3_600.0;

/// The state of a desk.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct DeskState {
    /// The versions that the next command names in `If-Match`.
    tag: String,
    version: VersionView,
    server_time: String,
    sale: SaleView,
    lot: Option<LotView>,
    offer: Option<OfferView>,
    pending: Vec<PendingView>,
    commissions: Vec<CommissionView>,
    /// Bidders whom staff call for this lot.
    telephone: Vec<TelephoneView>,
    /// The bid that one key makes for the book.
    book_bid: Option<BookBidView>,
    /// The highest bid that waits above the standing one: a sale or a pass asks first.
    waiting: Option<WaitingView>,
    bids: Vec<BidView>,
    next: Vec<NextView>,
    /// When no lot waits.
    end: Option<EndView>,
    done: Vec<DoneView>,
    /// The lot that `reopen` would bring back.
    last: Option<DoneView>,
    /// Names of bidders by paddle, for people who may see them.
    names: Names,
    /// The picture of that lot, which stays until the next lot comes.
    last_picture: Option<String>,
    commands: Vec<&'static str>,
    open_buyers: u64,
    late: Vec<LateView>,
    /// Web bids on this lot, or on the last one, that waited and were not taken, the latest first.
    lost: Vec<LateView>,
    lots_per_hour: Option<u32>,
    /// What all visitors of the saleroom read.
    message: Option<MessageView>,
}

#[derive(Debug, Clone, Copy, Serialize)]
struct VersionView {
    auction: i64,
    item: i64,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct SaleView {
    status: &'static str,
    /// No buyer can be named any more.
    is_archived: bool,
    currency: String,
    currency_sign: String,
    minor_digits: u32,
    time_zone: String,
    /// Bids on the internet stand without the clerk.
    takes_web_bids_at_once: bool,
    total: u64,
    live: u64,
    passed: u64,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct LotView {
    uuid: Uuid,
    lot_number: String,
    title: String,
    description: String,
    picture: Option<String>,
    estimate: Option<String>,
    opening: Option<String>,
    reserve: Option<ReserveView>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct ReserveView {
    amount: Amount,
    is_met: bool,
    /// By how much the standing bid is below it.
    short: Option<Amount>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct OfferView {
    asking_price: Amount,
    /// The highest price that the clerk enters without a confirmation.
    unconfirmed_max: Amount,
    unconfirmed_min: Amount,
    /// The highest bid that undo brings back, after a lowered asking price cancelled it.
    cancelled: Option<StandingView>,
    paused: bool,
    warnings: u32,
    standing: Option<StandingView>,
}

#[derive(Debug, Serialize)]
struct StandingView {
    bid: Uuid,
    bidder: Option<String>,
    amount: Amount,
    source: &'static str,
}

/// The next bid for an absentee.
#[derive(Debug, Serialize)]
struct BookBidView {
    bidder: String,
    amount: Amount,
}

#[derive(Debug, Serialize)]
struct TelephoneView {
    bidder: String,
    number: String,
    line: String,
}

#[derive(Debug, Serialize)]
struct CommissionView {
    bidder: String,
    maximum: Amount,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct BidView {
    bidder: Option<String>,
    amount: Option<Amount>,
    source: &'static str,
    struck: Option<&'static str>,
    reaches_reserve: bool,
    at: String,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct NextView {
    uuid: Uuid,
    lot_number: String,
    title: String,
    estimate: Option<String>,
    /// It was removed from the ring or offered again, so it comes after the last lot.
    waits_again: bool,
}

/// The end of a sale: what is left to do.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct EndView {
    text: String,
    passed: u64,
    open_buyers: u64,
}

/// A lot with its result.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct DoneView {
    uuid: Uuid,
    version: i64,
    lot_number: String,
    title: String,
    status: &'static str,
    estimate: Option<String>,
    price: Option<Amount>,
    buyer: Option<String>,
    /// For a sold lot, true while its buyer's paddle is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    is_buyer_open: Option<bool>,
    is_in_ring: bool,
    waits_again: bool,
    /// It was sold or passed last, and no other lot is in the ring.
    is_last: bool,
    /// Sequence of its last event.
    event: Option<i64>,
    at: Option<String>,
}

impl DoneView {
    pub(super) fn new(auction: &Auction, item: &Item, money: &Money) -> Self {
        let is_sold = matches!(item.status, ItemStatus::Sold | ItemStatus::SoldBuyNow);
        let passed_at = item.before_pass.as_ref().and_then(|before| before.standing.as_ref());
        let price = if is_sold { item.standing.as_ref() } else { passed_at };
        let buyer = item.standing.as_ref().filter(|_| is_sold).and_then(|standing| known(&standing.bidder));
        Self {
            uuid: item.uuid,
            version: item.version,
            lot_number: item.lot_number.clone(),
            title: item.title.clone(),
            status: item.status.name(),
            estimate: money.range(item.low_estimate, item.high_estimate),
            price: price.map(|standing| money.amount(standing.amount)),
            is_buyer_open: is_sold.then_some(buyer.is_none()),
            buyer,
            is_in_ring: auction.in_ring == Some(item.uuid),
            waits_again: item.ring == RingStatus::WaitingAgain,
            is_last: auction.in_ring.is_none() && auction.last_in_ring == Some(item.uuid),
            event: None,
            at: None,
        }
    }
}

async fn telephone(session: &Session, item: Option<&Item>) -> Result<Vec<TelephoneView>, PlatformError> {
    let Some(item) = item else { return Ok(Vec::new()) };
    let booked = session.platform().telephone_bookings_of(&session.caller, item.uuid).await?;
    let view =
        |booked: TelephoneBooking| TelephoneView { bidder: booked.paddle, number: booked.telephone, line: booked.line };
    Ok(booked.into_iter().map(view).collect())
}

/// The paddle; none for a bidder in the room whose paddle is not known yet.
fn known(bidder: &str) -> Option<String> {
    (!bidder.is_empty()).then(|| bidder.to_owned())
}

/// `GET /webcasts/{webcast}/desk/state`
pub(super) async fn current(session: Session, PathIds([webcast]): PathIds<1>) -> Result<Response, DeskProblem> {
    let state = read(&session, webcast).await?;
    Ok(respond(&state))
}

/// 200 with this JSON.
pub(super) fn respond(view: &impl Serialize) -> Response {
    kit_http::json::response(StatusCode::OK, kit_http::json::text(view)).into_response()
}

/// Reads the present state.
pub(super) async fn read(session: &Session, webcast: Uuid) -> Result<DeskState, PlatformError> {
    let ring = session.platform().ring(&session.caller, webcast).await?;
    around(session, &ring).await
}

/// The state of a ring, with what is around it.
pub(super) async fn around(session: &Session, ring: &RingState) -> Result<DeskState, PlatformError> {
    let (platform, caller, uuid) = (session.platform(), &session.caller, ring.auction.uuid);
    let counts = platform.item_counts(caller, uuid).await?;
    let announced = platform.announced_in_ring(caller, uuid, DONE_MAX).await?;
    let late_bids = platform.late_bids(caller, uuid).await?;
    let auction = &ring.auction;
    let money = Money::of(&auction.currency);
    let desk = ring.desk.as_ref().ok_or(PlatformError::NotFound("clerk's desk"))?;
    let sale = SaleView {
        status: auction.status.name(),
        is_archived: auction.status == AuctionStatus::Archived,
        currency: auction.currency.clone(),
        currency_sign: money.sign().to_owned(),
        minor_digits: money.digits(),
        time_zone: auction.time_zone.clone(),
        takes_web_bids_at_once: auction.internet_bids == InternetBids::AcceptedAtOnce,
        total: counts.total,
        live: counts.live,
        passed: counts.passed,
    };
    let version = ring.version();
    let item = ring.item.as_ref();
    let picture = match item.or(desk.last.as_ref()) {
        Some(item) => images::picture(&session.admin, caller, item).await?,
        None => None,
    };
    let (picture, last_picture) = if item.is_some() { (picture, None) } else { (None, picture) };
    let open_buyers = platform.open_buyers(caller, uuid).await?;
    let names = names::around(session, ring, &announced, &late_bids).await?;
    let done: Vec<DoneView> = announced.iter().filter_map(|announced| done(auction, announced, &money)).collect();
    Ok(DeskState {
        tag: tag(version),
        version: VersionView { auction: version.auction, item: version.item },
        server_time: rfc3339_ms(now_in(platform, auction)),
        sale,
        lot: item.map(|item| lot(item, &money, picture)),
        offer: item.and_then(|item| Some(offer(item, item.in_ring()?, desk, &money))),
        pending: item.iter().flat_map(|item| &item.pending).map(|bid| pending(bid, &money)).collect(),
        telephone: telephone(session, item).await?,
        commissions: desk.commissions.iter().map(|left| commission(left, &money)).collect(),
        book_bid: desk
            .next_commission
            .as_ref()
            .map(|(next, amount)| BookBidView { bidder: next.bidder.clone(), amount: money.amount(*amount) }),
        waiting: desk.waiting.as_ref().map(|bid| waiting(bid, &money)),
        bids: item.map(|item| bids(item, desk, &money)).unwrap_or_default(),
        lost: item.or(desk.last.as_ref()).map(|item| lost(item, &money)).unwrap_or_default(),
        next: desk.next.iter().map(|item| next(item, &money)).collect(),
        end: desk
            .not_offered
            .filter(|_| auction.status == AuctionStatus::Live)
            .map(|not_offered| end(not_offered, counts.passed, open_buyers)),
        open_buyers,
        last: desk.last.as_ref().map(|item| DoneView::new(auction, item, &money)),
        names,
        last_picture,
        commands: desk.legal.iter().map(|action| action.as_str()).collect(),
        late: late_bids.iter().map(|bid| late(bid, &money)).collect(),
        lots_per_hour: lots_per_hour(&announced),
        message: messages::on_stage(session, auction).await?,
        done: done.into_iter().take(DONE_SHOWN_MAX).collect(),
    })
}

fn now_in(platform: &Platform, auction: &Auction) -> Timestamp {
    platform.time_of(auction)
}

/// `<version of the auction>.<version of the item>`, as the API writes it.
pub(super) fn tag(version: RingVersion) -> String {
    format!("{}.{}", version.auction, version.item)
}

/// Reads a tag.
pub(super) fn parse_tag(tag: &str) -> Option<RingVersion> {
    let (auction, item) = tag.split_once('.')?;
    Some(RingVersion { auction: auction.parse().ok()?, item: item.parse().ok()? })
}

fn lot(item: &Item, money: &Money, picture: Option<String>) -> LotView {
    let reserve = item.reserve.map(|reserve| {
        let reserve = reserve.reveal();
        let price = item.price().unwrap_or(0);
        let short = (item.standing.is_some() && price < reserve).then(|| money.amount(reserve - price));
        ReserveView { amount: money.amount(reserve), is_met: price >= reserve, short }
    });
    LotView {
        uuid: item.uuid,
        lot_number: item.lot_number.clone(),
        title: item.title.clone(),
        description: item.description.clone(),
        picture,
        estimate: money.range(item.low_estimate, item.high_estimate),
        opening: (item.opening_bid > 0).then(|| money.text(item.opening_bid)),
        reserve,
    }
}

fn offer(item: &Item, ring: InRing, desk: &Desk, money: &Money) -> OfferView {
    let InRing { asking_price, paused, warnings, lowered: _ } = ring;
    let standing = item.standing.as_ref().map(|standing| StandingView {
        bid: standing.bid,
        bidder: known(&standing.bidder),
        amount: money.amount(standing.amount),
        source: desk.bids.iter().find(|bid| bid.bid == standing.bid).map_or("", |bid| bid.source.as_str()),
    });
    let cancelled = desk.lowered.first().map(|bid| StandingView {
        bid: bid.bid,
        bidder: known(&bid.bidder),
        amount: money.amount(bid.amount),
        source: bid.source.as_str(),
    });
    let unconfirmed_max = money.amount(desk.unconfirmed_price_max.unwrap_or(asking_price));
    let unconfirmed_min = money.amount(desk.unconfirmed_price_min.unwrap_or(asking_price));
    let asking_price = money.amount(asking_price);
    OfferView { asking_price, unconfirmed_max, unconfirmed_min, cancelled, paused, warnings, standing }
}

fn commission(left: &platform_core::ring::Commission, money: &Money) -> CommissionView {
    CommissionView { bidder: left.bidder.clone(), maximum: money.amount(left.maximum.reveal()) }
}

/// The bids of the room, the internet and the book, the latest first. Absentee bids are in the commission book.
fn bids(item: &Item, desk: &Desk, money: &Money) -> Vec<BidView> {
    let reserve = item.reserve.map(platform_rules::Hidden::reveal);
    let shown: Vec<&BidRecord> = desk.bids.iter().filter(|bid| bid.source != BidSource::Absentee).collect();
    let first_at_reserve = reserve.and_then(|reserve| {
        let reaching = shown.iter().filter(|bid| bid.struck.is_none() && bid.amount >= reserve);
        reaching.min_by_key(|bid| bid.number).map(|bid| bid.number)
    });
    let view = |bid: &&BidRecord| BidView {
        bidder: known(&bid.bidder),
        amount: Some(money.amount(bid.amount)),
        source: bid.source.as_str(),
        struck: bid
            .struck
            .map(|struck| struck.strike.as_str())
            .or(item.is_over(bid.number, bid.source).then_some("over")),
        reaches_reserve: first_at_reserve == Some(bid.number),
        at: rfc3339_ms(bid.at),
    };
    shown.iter().map(view).collect()
}

fn next(item: &Item, money: &Money) -> NextView {
    NextView {
        uuid: item.uuid,
        lot_number: item.lot_number.clone(),
        title: item.title.clone(),
        estimate: money.range(item.low_estimate, item.high_estimate),
        waits_again: item.ring == RingStatus::WaitingAgain,
    }
}

/// The end of a sale in words, such as `All done: 5 passed, 1 buyer open, nothing skipped.`
fn end(not_offered: u64, passed: u64, open_buyers: u64) -> EndView {
    let buyers = if open_buyers == 1 { "buyer" } else { "buyers" };
    let parts = [
        (passed > 0).then(|| format!("{passed} passed")),
        (open_buyers > 0).then(|| format!("{open_buyers} {buyers} open")),
        Some(match not_offered {
            0 => "nothing skipped".to_owned(),
            skipped => format!("{skipped} skipped, because they are not live"),
        }),
    ];
    let text = format!("All done: {}.", parts.into_iter().flatten().collect::<Vec<_>>().join(", "));
    EndView { text, passed, open_buyers }
}

/// A lot that is decided; none for one that is on offer again.
fn done(auction: &Auction, announced: &AnnouncedItem, money: &Money) -> Option<DoneView> {
    let AnnouncedItem { row, item } = announced;
    if item.status == ItemStatus::Live {
        return None;
    }
    Some(DoneView { event: Some(row.sequence), at: Some(rfc3339_ms(row.at)), ..DoneView::new(auction, item, money) })
}

fn lots_per_hour(announced: &[AnnouncedItem]) -> Option<u32> {
    let decided = |announced: &&AnnouncedItem| matches!(announced.item.status, ItemStatus::Sold | ItemStatus::Passed);
    let times: Vec<Timestamp> = announced.iter().filter(decided).map(|announced| announced.row.at).collect();
    let (latest, earliest) = (times.first()?, times.last()?);
    let seconds = latest.duration_since(*earliest).as_secs_f64();
    if times.len() < PACE_LOTS_MIN || seconds < 1.0 {
        return None;
    }
    let pace = (times.len() - 1) as f64 * SECONDS_PER_HOUR / seconds;
    // A pace above this is a test, not a sale.
    Some(pace.min(9_999.0).round() as u32)
}
