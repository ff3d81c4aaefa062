//! The ring of a webcast: what anybody may follow, and apart from it what lies on the clerk's desk.

use jiff::Timestamp;
use platform_core::ring::{ClerkCommandResult, Desk, InternetBidResult, RingState};
use platform_rules::ring::{Commission, RingAction};
use platform_rules::{
    Auction, AuctionKind, BidRecord, BidSource, InRing, InternetBids, Item, Pending, StandingBid, WebcastPhase,
};
use serde::Serialize;
use utoipa::ToSchema;
use uuid::Uuid;

use super::{BidView, ItemView, time};

/// What is in the ring of a webcast, and what just left it.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Ring)]
pub(crate) struct RingView {
    pub(crate) auction: Uuid,
    /// `pre_bidding` or `live`; null in a timed auction, which has no ring.
    pub(crate) phase: Option<&'static str>,
    /// `wait_for_clerk` or `accepted_at_once`.
    pub(crate) internet_bids: Option<&'static str>,
    /// The item in the ring; null when it is empty.
    pub(crate) item: Option<ItemView>,
    /// How the item in the ring is offered; null when it is empty.
    pub(crate) offer: Option<OfferView>,
    /// The item that the command was about, when it is not in the ring now: sold, passed, removed or offered again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) last: Option<ItemView>,
    /// The clerk's desk, for the webcast's clerks, and for others with the scope `ring:write`; nobody else is shown it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) desk: Option<DeskView>,
    /// The server's clock; in a sandbox auction that auction's own.
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
            server_time: time(auction.clock.map_or(now, |clock| clock.now())),
        }
    }

    pub(crate) fn after(done: &ClerkCommandResult, now: Timestamp) -> Self {
        let about = done.about.as_ref().filter(|about| done.ring.auction.in_ring != Some(about.uuid));
        let last = about.map(|item| ItemView::new(item, &done.ring.auction, now));
        RingView { last, ..Self::new(&done.ring, now) }
    }
}

/// How the item in the ring is being offered.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = RingOffer)]
pub(crate) struct OfferView {
    /// What the next bid has to reach, minor units.
    asking_price: i64,
    /// No bid is taken for the moment.
    paused: bool,
    /// Fair warnings since the last bid or price.
    warnings: u32,
    /// The bid that wins if nothing else happens.
    standing: Option<StandingView>,
}

impl OfferView {
    fn new(item: &Item, ring: InRing) -> Self {
        let InRing { asking_price, paused, warnings, lowered: _ } = ring;
        let standing = item.standing.as_ref().map(|standing| StandingView::new(item, standing));
        OfferView { asking_price, paused, warnings, standing }
    }
}

/// A bid that stands.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = StandingBid)]
pub(crate) struct StandingView {
    uuid: Uuid,
    /// Its number in the list of bids.
    number: i64,
    bidder: String,
    /// Minor units.
    amount: i64,
}

impl StandingView {
    fn new(item: &Item, bid: &StandingBid) -> Self {
        // What an absentee left stands nowhere, so that it has one.
        let number = item.shown_number(bid.number).unwrap_or_default();
        Self { uuid: bid.bid, number, bidder: bid.bidder.clone(), amount: bid.amount }
    }
}

/// What the clerk has before them, and nobody else.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ClerksDesk)]
pub(crate) struct DeskView {
    /// Commands that are possible now, by the last part of their address.
    commands: Vec<&'static str>,
    /// Internet bids that wait to be accepted, by the time at which they came.
    pending: Vec<PendingView>,
    /// What absentees left on the item in the ring: the highest first, the earlier first among equals. It is bid with by
    /// the clerk, never by itself.
    commissions: Vec<CommissionView>,
    /// The last bids on the item in the ring, the latest first; at most 20.
    bids: Vec<BidView>,
    /// The item that can be reopened.
    last: Option<NextItemView>,
    /// The items that come next; at most 5.
    next: Vec<NextItemView>,
}

impl DeskView {
    fn new(desk: &Desk, in_ring: Option<&Item>) -> Self {
        DeskView {
            commands: desk.legal.iter().map(|action| action.as_str()).collect(),
            pending: in_ring.iter().flat_map(|item| &item.pending).map(PendingView::from).collect(),
            commissions: desk.commissions.iter().map(CommissionView::from).collect(),
            bids: in_ring.iter().flat_map(|item| desk.bids.iter().map(|bid| BidView::of(item, bid))).collect(),
            last: desk.last.as_ref().filter(|_| desk.legal.contains(&RingAction::Reopen)).map(NextItemView::from),
            next: desk.next.iter().map(NextItemView::from).collect(),
        }
    }
}

/// An internet bid that waits.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = PendingBid)]
pub(crate) struct PendingView {
    uuid: Uuid,
    bidder: String,
    /// Minor units.
    amount: i64,
    #[schema(format = DateTime)]
    at: String,
}

impl From<&Pending> for PendingView {
    fn from(pending: &Pending) -> Self {
        let Pending { bid, bidder, amount, at } = pending;
        Self { uuid: *bid, bidder: bidder.clone(), amount: *amount, at: time(*at) }
    }
}

/// What an absentee left for the clerk.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Commission)]
pub(crate) struct CommissionView {
    /// The bid that it was left as.
    uuid: Uuid,
    /// Among those that absentees left on the item, in the order in which they came.
    number: i64,
    bidder: String,
    /// How far the clerk may go, minor units.
    maximum: i64,
}

impl From<&Commission> for CommissionView {
    fn from(left: &Commission) -> Self {
        Self { uuid: left.bid, number: left.number, bidder: left.bidder.clone(), maximum: left.maximum.reveal() }
    }
}

/// An item in a word.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = NextItem)]
pub(crate) struct NextItemView {
    uuid: Uuid,
    lot_number: String,
    title: String,
    image_url: Option<String>,
    /// Minor units.
    low_estimate: Option<i64>,
    /// Minor units.
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
    /// At the clerk's desk, with the numbers that others see.
    fn of(item: &Item, bid: &BidRecord) -> Self {
        Self {
            uuid: bid.bid,
            number: item.shown_number(bid.number),
            bidder: bid.bidder.clone(),
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

/// What became of a bid on the item in the ring.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = InternetBid)]
pub(crate) struct InternetBidView {
    /// UUID of the bid.
    uuid: Uuid,
    /// `waiting` for the clerk, or `accepted`.
    state: &'static str,
    /// The bid, when it was accepted.
    bid: Option<BidView>,
    item: ItemView,
}

impl InternetBidView {
    pub(crate) fn new(taken: &InternetBidResult, now: Timestamp) -> Self {
        Self {
            uuid: taken.uuid,
            state: if taken.bid.is_some() { "accepted" } else { "waiting" },
            bid: taken.bid.as_ref().map(|bid| BidView::new(&taken.item, bid)),
            item: ItemView::new(&taken.item, &taken.auction, now),
        }
    }
}

/// The word of a webcast's phase.
pub(super) fn phase(auction: &Auction) -> Option<&'static str> {
    (auction.kind == AuctionKind::Webcast).then_some(match auction.phase {
        WebcastPhase::PreBidding => "pre_bidding",
        WebcastPhase::Live => "live",
    })
}

/// The word for what becomes of internet bids in a webcast.
pub(super) fn internet_bids(auction: &Auction) -> Option<&'static str> {
    (auction.kind == AuctionKind::Webcast).then_some(match auction.internet_bids {
        InternetBids::WaitForClerk => "wait_for_clerk",
        InternetBids::AcceptedAtOnce => "accepted_at_once",
    })
}
