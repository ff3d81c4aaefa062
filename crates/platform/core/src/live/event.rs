//! Renders server-sent events (WHATWG HTML, section 9.2), once for all listeners.

use bytes::Bytes;
use jiff::Timestamp;
use kit_runtime::clock::rfc3339_ms;
use platform_rules::{Auction, InRing, Item, PublicItem};
use serde::Serialize;
use uuid::Uuid;

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

/// The public state of an item.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ItemState {
    uuid: Uuid,
    auction: Uuid,
    lot_number: String,
    status: &'static str,
    price: Option<i64>,
    leader: Option<String>,
    minimum_bid: Option<i64>,
    reserve_met: Option<bool>,
    buy_now: Option<i64>,
    bid_count: i64,
    end_time: Option<String>,
    effective_end_time: Option<String>,
    ring: Option<RingState>,
    version: i64,
}

impl ItemState {
    pub(super) fn of(auction: &Auction, item: &Item) -> Self {
        let public = PublicItem::of(auction, item);
        Self {
            uuid: public.uuid,
            auction: item.auction,
            lot_number: item.lot_number.clone(),
            status: public.status.name(),
            price: public.price,
            leader: public.leader,
            minimum_bid: public.minimum_bid,
            reserve_met: public.reserve_met,
            buy_now: public.buy_now,
            bid_count: public.bid_count,
            end_time: public.end_time.map(rfc3339_ms),
            effective_end_time: public.effective_end_time.map(rfc3339_ms),
            ring: public.ring.map(RingState::of),
            version: public.version,
        }
    }
}

/// The public state of an item in the ring.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct RingState {
    asking_price: i64,
    paused: bool,
    warnings: u32,
}

impl RingState {
    fn of(ring: InRing) -> Self {
        // `lowered` concerns the clerk only.
        let InRing { asking_price, paused, warnings, lowered: _ } = ring;
        Self { asking_price, paused, warnings }
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

/// A comment that keeps proxies from closing an idle stream.
pub(super) fn heartbeat() -> Bytes {
    Bytes::from_static(b": here\n\n")
}

/// The reconnection time.
pub(super) fn retry() -> Bytes {
    format!("retry: {RETRY_MS}\n\n").into()
}
