//! Renders server-sent events (WHATWG HTML, section 9.2), once for all listeners.

use std::time::Duration;

use bytes::Bytes;
use jiff::Timestamp;
use kit_runtime::clock::rfc3339_ms;
use platform_rules::{Auction, InRing, Item, PublicBid, PublicItem};
use serde::Serialize;
use uuid::Uuid;

use crate::port::VisitorMessage;

/// Milliseconds after which a client reconnects when the stream has broken.
const RETRY_MS: u32 = 2_000;

/// The place of an event in the stream of a channel: `<epoch>-<number>`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct EventId {
    /// The channel: one of one process.
    pub(super) epoch: Uuid,
    pub(super) number: u64,
}

impl EventId {
    /// Parses an id; none for text that is not an id of this platform. The listener then receives a snapshot.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let (epoch, number) = text.split_once('-')?;
        Some(Self { epoch: Uuid::try_parse(epoch).ok()?, number: number.parse().ok()? })
    }
}

/// Who reads a state: a caller with a key or session, or a visitor of a saleroom.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Audience {
    Callers,
    /// Visitors do not learn whether the price has reached a reserve.
    Visitors,
}

/// The public state of an item.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ItemState {
    pub(super) uuid: Uuid,
    auction: Uuid,
    lot_number: String,
    status: &'static str,
    price: Option<i64>,
    /// The price with premium and taxes.
    price_total: Option<i64>,
    leader: Option<String>,
    minimum_bid: Option<i64>,
    /// The minimum bid with premium and taxes.
    minimum_bid_total: Option<i64>,
    /// None for visitors.
    #[serde(skip_serializing_if = "Option::is_none")]
    reserve_met: Option<Option<bool>>,
    buy_now: Option<i64>,
    bid_count: i64,
    end_time: Option<String>,
    effective_end_time: Option<String>,
    ring: Option<RingState>,
    pub(super) version: i64,
    /// The latest bids, oldest first; for visitors only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) bids: Option<Vec<BidState>>,
}

impl ItemState {
    pub(super) fn of(auction: &Auction, item: &Item, audience: Audience) -> Self {
        let public = PublicItem::of(auction, item);
        let with_charges = |amount: Option<i64>| amount.map(|amount| auction.charges.on(amount).total);
        Self {
            uuid: public.uuid,
            auction: item.auction,
            lot_number: item.lot_number.clone(),
            status: public.status.name(),
            price: public.price,
            price_total: with_charges(public.price),
            leader: public.leader,
            minimum_bid: public.minimum_bid,
            minimum_bid_total: with_charges(public.minimum_bid),
            reserve_met: (audience == Audience::Callers).then_some(public.reserve_met),
            buy_now: public.buy_now,
            bid_count: public.bid_count,
            end_time: public.end_time.map(rfc3339_ms),
            effective_end_time: public.effective_end_time.map(rfc3339_ms),
            ring: public.ring.map(|ring| RingState::of(auction, ring)),
            version: public.version,
            bids: None,
        }
    }

    /// The state for visitors of a saleroom that has lost its link, or has it. Without it, no bids are taken.
    pub(super) fn with_link(mut self, is_lost: bool) -> Self {
        if let Some(ring) = &mut self.ring {
            ring.link_lost = Some(is_lost);
            ring.paused |= is_lost;
        }
        self
    }
}

/// A public bid, for visitors.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct BidState {
    number: i64,
    /// Paddle; empty for a bidder in the room whose paddle the clerk does not know yet.
    bidder: String,
    amount: i64,
    at: String,
    withdrawn: bool,
}

impl BidState {
    pub(super) fn of(bid: PublicBid) -> Self {
        let PublicBid { number, bidder, amount, at, struck, .. } = bid;
        Self { number, bidder, amount, at: rfc3339_ms(at), withdrawn: struck.is_some() }
    }
}

/// The public state of an item in the ring.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
struct RingState {
    asking_price: i64,
    /// The asking price with premium and taxes.
    asking_price_total: i64,
    paused: bool,
    warnings: u32,
    /// The saleroom has lost its link. None for callers.
    #[serde(skip_serializing_if = "Option::is_none")]
    link_lost: Option<bool>,
}

impl RingState {
    fn of(auction: &Auction, ring: InRing) -> Self {
        // `lowered` concerns the clerk only.
        let InRing { asking_price, paused, warnings, lowered: _ } = ring;
        let asking_price_total = auction.charges.on(asking_price).total;
        Self { asking_price, asking_price_total, paused, warnings, link_lost: None }
    }
}

/// The public state of an auction.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct AuctionState {
    uuid: Uuid,
    status: &'static str,
    starts_at: Option<String>,
    ends_at: Option<String>,
    in_ring: Option<Uuid>,
    version: i64,
}

impl AuctionState {
    pub(super) fn of(auction: &Auction) -> Self {
        Self {
            uuid: auction.uuid,
            status: auction.status.name(),
            starts_at: auction.starts_at.map(rfc3339_ms),
            ends_at: auction.ends_at.map(rfc3339_ms),
            in_ring: auction.in_ring,
            version: auction.version,
        }
    }
}

/// A message of the clerk to all visitors.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct MessageState {
    number: i64,
    text: String,
    at: String,
    /// The lot that was in the ring.
    item: Option<Uuid>,
    /// It is the last one, and was not cleared.
    on_stage: bool,
}

impl MessageState {
    pub(super) fn of(message: &VisitorMessage, on_stage: bool) -> Self {
        let VisitorMessage { number, text, at, item, .. } = message;
        Self { number: *number, text: text.clone(), at: rfc3339_ms(*at), item: *item, on_stage }
    }
}

/// The payload of an event.
#[derive(Serialize)]
#[serde(untagged)]
pub(super) enum Body {
    Item {
        item: ItemState,
    },
    Auction {
        auction: AuctionState,
    },
    #[serde(rename_all = "camelCase")]
    Whole {
        auction: AuctionState,
        items: Vec<ItemState>,
        items_complete: bool,
        /// Cursor of the next page of items when these are not all.
        next: Option<String>,
        messages: Vec<MessageState>,
    },
    /// What visitors follow of a sale.
    Sale {
        auction: AuctionState,
        items: Vec<ItemState>,
        messages: Vec<MessageState>,
    },
    /// Messages of the clerk to visitors.
    Messages {
        messages: Vec<MessageState>,
    },
    /// A lot that visitors see no longer.
    Gone {
        gone: Uuid,
    },
    #[serde(rename_all = "camelCase")]
    Beat {
        /// Milliseconds until the next beat, at most.
        next_ms: u64,
    },
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Data<'a> {
    server_time: String,
    #[serde(flatten)]
    body: &'a Body,
}

/// The time that applies in the auction, which its events use for ends: a sandbox auction has its own clock.
pub(super) fn time_in(auction: &Auction, now: Timestamp) -> Timestamp {
    auction.clock.map_or(now, |clock| clock.now())
}

/// One event. JSON has no line breaks in it, so its data is one line.
pub(super) fn event(id: EventId, name: &str, body: &Body, now: Timestamp) -> Bytes {
    let data = serde_json::to_string(&Data { server_time: rfc3339_ms(now), body }).unwrap_or_default();
    format!("id: {}-{}\nevent: {name}\ndata: {data}\n\n", id.epoch.simple(), id.number).into()
}

/// A sign of life for visitors, with the server's time. It is not kept for listeners that reconnect, so it has no id.
pub(super) fn beat(next: Duration, now: Timestamp) -> Bytes {
    let next_ms = u64::try_from(next.as_millis()).unwrap_or(u64::MAX);
    let data = Data { server_time: rfc3339_ms(now), body: &Body::Beat { next_ms } };
    format!("event: beat\ndata: {}\n\n", serde_json::to_string(&data).unwrap_or_default()).into()
}

/// A comment that keeps proxies from closing an idle stream.
pub(super) fn heartbeat() -> Bytes {
    Bytes::from_static(b": here\n\n")
}

/// The reconnection time.
pub(super) fn retry() -> Bytes {
    format!("retry: {RETRY_MS}\n\n").into()
}
