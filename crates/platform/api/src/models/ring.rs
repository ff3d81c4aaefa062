//! The ring of a webcast: its public state, and apart from it the clerk's desk.

use jiff::Timestamp;
use platform_core::ring::{ClerkCommandResult, Desk, InternetBidResult, InternetBidState, RingState, WaitingBid};
use platform_rules::ring::{Commission, RingAction};
use platform_rules::{
    Auction, AuctionKind, BidRecord, BidSource, InRing, InternetBids, Item, PendingBid, StandingBid, WebcastPhase,
    known_paddle,
};
use serde::Serialize;
use utoipa::ToSchema;
use uuid::Uuid;

use super::{BidView, ItemView, time};

/// The ring of a webcast: the live lot, and the lot that just left it.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Ring)]
pub(crate) struct RingView {
    /// UUID of the auction.
    pub(crate) auction: Uuid,
    /// Phase: `pre_bidding` or `live`; null for a timed auction, which has no ring.
    pub(crate) phase: Option<&'static str>,
    /// How the webcast handles internet bids: `wait_for_clerk` or `accepted_at_once`.
    pub(crate) internet_bids: Option<&'static str>,
    /// The item in the ring; null if the ring is empty.
    pub(crate) item: Option<ItemView>,
    /// How the item in the ring is offered; null if the ring is empty.
    pub(crate) offer: Option<OfferView>,
    /// The subject of the command if it is not in the ring now: sold, passed, removed or offered again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) last: Option<ItemView>,
    /// The clerk's desk: for the clerks of the webcast, and for other callers with the scope `ring:write`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) desk: Option<DeskView>,
    /// The server's clock; for a sandbox auction, the auction's clock.
    #[schema(format = DateTime)]
    pub(crate) server_time: String,
}

impl RingView {
    pub(crate) fn new(ring: &RingState, now: Timestamp) -> Self {
        let (auction, item) = (&ring.auction, ring.item.as_ref());
        RingView {
            auction: auction.uuid,
            phase: phase(auction),
            internet_bids: internet_bids(auction),
            item: item.map(|item| ItemView::new(item, auction, now)),
            offer: item.and_then(|item| Some(OfferView::new(item, item.in_ring()?))),
            last: None,
            desk: ring.desk.as_ref().map(|desk| DeskView::new(desk, item)),
            server_time: time(auction.clock_or(now)),
        }
    }

    pub(crate) fn after(done: &ClerkCommandResult, now: Timestamp) -> Self {
        let about = done.about.as_ref().filter(|about| done.ring.auction.in_ring != Some(about.uuid));
        let last = about.map(|item| ItemView::new(item, &done.ring.auction, now));
        RingView { last, ..Self::new(&done.ring, now) }
    }
}

/// How the item in the ring is offered.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = RingOffer)]
pub(crate) struct OfferView {
    /// Lowest amount of the next bid, in minor units.
    asking_price: i64,
    /// True while the clerk has paused bidding.
    paused: bool,
    /// Number of fair warnings since the last bid or asking price.
    warnings: u32,
    /// The bid that wins if no other follows; null without one.
    standing: Option<StandingView>,
}

impl OfferView {
    fn new(item: &Item, ring: InRing) -> Self {
        let InRing { asking_price, paused, warnings, lowered: _ } = ring;
        let standing = item.standing.as_ref().map(|standing| StandingView::new(item, standing));
        OfferView { asking_price, paused, warnings, standing }
    }
}

/// A standing bid.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = StandingBid)]
pub(crate) struct StandingView {
    /// UUID of the bid.
    uuid: Uuid,
    /// Its number in the list of bids.
    number: i64,
    /// Paddle of the bidder; null for a bidder in the room whose paddle the clerk does not know yet.
    bidder: Option<String>,
    /// Amount, in minor units.
    amount: i64,
}

impl StandingView {
    fn new(item: &Item, bid: &StandingBid) -> Self {
        // An absentee bid never stands, so a standing bid has a public number.
        let number = item.shown_number(bid.number).unwrap_or_default();
        Self { uuid: bid.bid, number, bidder: bid.known_bidder().map(str::to_owned), amount: bid.amount }
    }
}

/// The clerk's desk: what only the clerk sees.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ClerksDesk)]
pub(crate) struct DeskView {
    /// Possible commands, by the last part of their paths.
    commands: Vec<&'static str>,
    /// Reserve of the item in the ring, in minor units; null without one. `sell` below it needs `belowReserve`.
    reserve: Option<i64>,
    /// Internet bids that wait for the clerk, in order of their arrival.
    pending: Vec<PendingView>,
    /// The highest internet or commission bid that waits above the standing bid; null without one. `sell` and `pass`
    /// then need `overWaitingBid`.
    waiting: Option<WaitingView>,
    /// The highest price, in minor units, that `bid` and `asking-price` take without `largeJump`: ten increments above the
    /// asking price, and not above five times the high estimate, unless the asking price has passed that already; null if
    /// the ring is empty.
    unconfirmed_price_max: Option<i64>,
    /// The lowest price, in minor units, that `asking-price` takes without `largeJump`, unless it cancels bids: a fifth of the
    /// asking price; null if the ring is empty.
    unconfirmed_price_min: Option<i64>,
    /// What `commission-bid` would bid: paddle and amount; null if no absentee bid is above the standing bid, or its
    /// bidder leads.
    next_commission: Option<NextCommissionView>,
    /// Absentee bids on the item in the ring, the highest first, among equal ones the earlier first. Only the clerk
    /// bids with them.
    commissions: Vec<CommissionView>,
    /// The last 20 bids on the item in the ring, the latest first.
    bids: Vec<BidView>,
    /// The item that `reopen` would bring back; null if it can't.
    last: Option<NextItemView>,
    /// The next 5 items, in the order in which `send` sends them.
    next: Vec<NextItemView>,
}

impl DeskView {
    fn new(desk: &Desk, in_ring: Option<&Item>) -> Self {
        DeskView {
            commands: desk.legal.iter().map(|action| action.as_str()).collect(),
            reserve: in_ring.and_then(|item| item.reserve).map(|reserve| reserve.reveal()),
            pending: in_ring.iter().flat_map(|item| &item.pending).map(PendingView::from).collect(),
            waiting: desk.waiting.as_ref().map(WaitingView::from),
            unconfirmed_price_max: desk.unconfirmed_price_max,
            unconfirmed_price_min: desk.unconfirmed_price_min,
            next_commission: desk
                .next_commission
                .as_ref()
                .map(|(next, amount)| NextCommissionView { bidder: next.bidder.clone(), amount: *amount }),
            commissions: desk.commissions.iter().map(CommissionView::from).collect(),
            bids: in_ring.iter().flat_map(|item| desk.bids.iter().map(|bid| BidView::of(item, bid))).collect(),
            last: desk.last.as_ref().filter(|_| desk.legal.contains(&RingAction::Reopen)).map(NextItemView::from),
            next: desk.next.iter().map(NextItemView::from).collect(),
        }
    }
}

/// An internet bid that waits for the clerk.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = PendingBid)]
pub(crate) struct PendingView {
    /// UUID of the bid.
    uuid: Uuid,
    /// Paddle of the bidder.
    bidder: String,
    /// Amount, in minor units.
    amount: i64,
    /// When the bid arrived.
    #[schema(format = DateTime)]
    at: String,
}

impl From<&PendingBid> for PendingView {
    fn from(pending: &PendingBid) -> Self {
        let PendingBid { bid, bidder, amount, at } = pending;
        Self { uuid: *bid, bidder: bidder.clone(), amount: *amount, at: time(*at) }
    }
}

/// The highest bid that waits above the standing bid.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = WaitingBid)]
pub(crate) struct WaitingView {
    /// `internet` or `commission`.
    source: &'static str,
    /// UUID of the internet bid or of the absentee bid.
    uuid: Uuid,
    /// Paddle of the bidder.
    bidder: String,
    /// Amount of the internet bid, or maximum of the absentee bid, in minor units.
    amount: i64,
}

impl From<&WaitingBid> for WaitingView {
    fn from(waiting: &WaitingBid) -> Self {
        let WaitingBid { source, bid, bidder, amount } = waiting;
        Self { source: source.as_str(), uuid: *bid, bidder: bidder.clone(), amount: *amount }
    }
}

/// The next bid for an absentee.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = NextCommission)]
pub(crate) struct NextCommissionView {
    /// Paddle of the absentee bidder.
    bidder: String,
    /// Amount of the bid, in minor units.
    amount: i64,
}

/// An absentee bid, with which the clerk can bid.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Commission)]
pub(crate) struct CommissionView {
    /// UUID of the absentee bid.
    uuid: Uuid,
    /// Number among the absentee bids on the item, in order of their arrival.
    number: i64,
    /// Paddle of the absentee bidder.
    bidder: String,
    /// Maximum, in minor units.
    maximum: i64,
}

impl From<&Commission> for CommissionView {
    fn from(left: &Commission) -> Self {
        Self { uuid: left.bid, number: left.number, bidder: left.bidder.clone(), maximum: left.maximum.reveal() }
    }
}

/// An item in short form.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = NextItem)]
pub(crate) struct NextItemView {
    /// UUID of the item.
    uuid: Uuid,
    /// Lot number, as printed.
    lot_number: String,
    /// Title.
    title: String,
    /// Address of the main image; null without one.
    image_url: Option<String>,
    /// Low estimate, in minor units.
    low_estimate: Option<i64>,
    /// High estimate, in minor units.
    high_estimate: Option<i64>,
    /// Status name.
    status: &'static str,
}

impl From<&Item> for NextItemView {
    fn from(item: &Item) -> Self {
        Self {
            uuid: item.uuid,
            lot_number: item.lot_number.clone(),
            title: item.title.clone(),
            image_url: item.image_url.clone(),
            low_estimate: item.low_estimate,
            high_estimate: item.high_estimate,
            status: item.status.name(),
        }
    }
}

impl BidView {
    /// A bid at the clerk's desk, with its public number.
    fn of(item: &Item, bid: &BidRecord) -> Self {
        Self {
            uuid: bid.bid,
            number: item.shown_number(bid.number),
            bidder: known_paddle(&bid.bidder).map(str::to_owned),
            amount: (bid.source != BidSource::Absentee).then_some(bid.amount),
            source: bid.source.as_str(),
            struck: bid
                .struck
                .map(|struck| struck.strike.as_str())
                .or(item.is_over(bid.number, bid.source).then_some("lapsed")),
            at: time(bid.at),
        }
    }
}

/// An internet bid: waiting, accepted or lost.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = InternetBid)]
pub(crate) struct InternetBidView {
    /// UUID of the bid.
    uuid: Uuid,
    /// `waiting` for the clerk, `accepted`, or `lost`: the bid waited and was not accepted.
    state: &'static str,
    /// Why the bid was lost: `bid_taken` (another bid raised the asking price above it), `sold_in_ring`,
    /// `passed_in_ring`, `removed_from_ring`, `asking_price_set`, `bid_undone`, `bid_retracted` or `bid_offered` (the
    /// bidder replaced it). Null unless it was lost.
    reason: Option<&'static str>,
    /// The bid if it was accepted; null otherwise.
    bid: Option<BidView>,
    /// The item after the bid.
    item: ItemView,
}

impl InternetBidView {
    pub(crate) fn new(taken: &InternetBidResult, now: Timestamp) -> Self {
        let (state, reason, bid) = match &taken.state {
            InternetBidState::Waiting => ("waiting", None, None),
            InternetBidState::Accepted(bid) => ("accepted", None, Some(BidView::new(&taken.item, bid))),
            InternetBidState::Lost(cause) => ("lost", Some(cause.as_str()), None),
        };
        Self { uuid: taken.uuid, state, reason, bid, item: ItemView::new(&taken.item, &taken.auction, now) }
    }
}

/// Name of a webcast's phase; `None` for a timed auction.
pub(super) fn phase(auction: &Auction) -> Option<&'static str> {
    (auction.kind == AuctionKind::Webcast).then_some(match auction.phase {
        WebcastPhase::PreBidding => "pre_bidding",
        WebcastPhase::Live => "live",
    })
}

/// How a webcast handles internet bids; `None` for a timed auction.
pub(super) fn internet_bids(auction: &Auction) -> Option<&'static str> {
    (auction.kind == AuctionKind::Webcast).then_some(match auction.internet_bids {
        InternetBids::WaitForClerk => "wait_for_clerk",
        InternetBids::AcceptedAtOnce => "accepted_at_once",
    })
}
