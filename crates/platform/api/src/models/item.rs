//! Items.

use contract::models::UrlAttachmentApiModel;
use jiff::Timestamp;
use platform_rules::{Auction, AuctionKind, Item, PublicItem, RingStatus};
use serde::Serialize;
use utoipa::ToSchema;
use uuid::Uuid;

use super::{UrlAttachmentSchema, time};

/// An item (lot) of an auction. Amounts are in minor units of its currency. The reserve is never shown.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Item)]
pub(crate) struct ItemView {
    /// UUID of the item.
    pub(crate) uuid: Uuid,
    /// UUID of the auction.
    pub(crate) auction: Uuid,
    /// Lot number, as printed, such as `12A`; unique in the auction.
    pub(crate) lot_number: String,
    /// Place in the running order, from 0.
    pub(crate) position: i64,
    /// Title.
    pub(crate) title: String,
    /// Description; may be empty.
    pub(crate) description: String,
    /// Category under which the house offers it, such as `Furniture`; null without one.
    pub(crate) category: Option<String>,
    /// Address of the main image; null without one.
    pub(crate) image_url: Option<String>,
    /// Further images, documents and videos.
    #[schema(value_type = Vec<UrlAttachmentSchema>)]
    pub(crate) attachments: Vec<UrlAttachmentApiModel>,
    /// Low estimate, in minor units.
    pub(crate) low_estimate: Option<i64>,
    /// High estimate, in minor units.
    pub(crate) high_estimate: Option<i64>,
    /// Opening bid, in minor units; 0 means the first increment.
    pub(crate) opening_bid: i64,
    /// ISO 4217.
    pub(crate) currency: String,
    /// Status name; see the reference data.
    pub(crate) status: &'static str,
    /// Statuses to which an administrator may change the item. The time, such as an end in the past, and absentee bids,
    /// which this list does not consider, can still forbid one.
    pub(crate) legal_next_statuses: Vec<&'static str>,
    /// Planned end in a timed auction, before extensions.
    #[schema(format = DateTime)]
    pub(crate) end_time: Option<String>,
    /// End in a timed auction, with all extensions. This end decides.
    #[schema(format = DateTime)]
    pub(crate) effective_end_time: Option<String>,
    /// Amount of the standing bid, in minor units; null without a bid.
    pub(crate) price: Option<i64>,
    /// Paddle of the leading bidder or the buyer; null without a bid.
    pub(crate) leader: Option<String>,
    /// Buy-now price, in minor units; null if the item has none or can't be bought at it any more.
    pub(crate) buy_now: Option<i64>,
    /// Lowest amount of the next bid, in minor units; null if the item is sold, unsold or withdrawn.
    pub(crate) minimum_bid: Option<i64>,
    /// True if the price has reached the reserve; null without a reserve.
    pub(crate) reserve_met: Option<bool>,
    /// Number of accepted bids, without absentee bids.
    pub(crate) bid_count: i64,
    /// Place in a webcast's ring: `waiting`, `in_ring`, `done`; null in a timed auction.
    pub(crate) ring: Option<&'static str>,
    /// Increment at every price, in minor units, instead of the auction's table; null to use the table.
    pub(crate) fixed_increment: Option<i64>,
    /// UUID of the unsold item of an earlier auction that this item offers again.
    pub(crate) relisted_from: Option<Uuid>,
    /// UUID of the item of a later auction that offers this one again.
    pub(crate) relisted_as: Option<Uuid>,
    /// Increases with each change; the `ETag` begins with it.
    pub(crate) version: i64,
    /// The server's clock, which decides; for a sandbox auction, the auction's clock.
    #[schema(format = DateTime)]
    pub(crate) server_time: String,
}

impl ItemView {
    /// The public state of the sale ([`PublicItem`]), and what the catalogue prints.
    pub(crate) fn new(item: &Item, auction: &Auction, now: Timestamp) -> Self {
        let sale = PublicItem::of(auction, item);
        let now = auction.clock_or(now);
        Self {
            uuid: sale.uuid,
            auction: item.auction,
            lot_number: item.lot_number.clone(),
            position: item.position,
            title: item.title.clone(),
            description: item.description.clone(),
            category: item.category.clone(),
            image_url: item.image_url.clone(),
            attachments: item.attachments.clone(),
            low_estimate: item.low_estimate,
            high_estimate: item.high_estimate,
            opening_bid: item.opening_bid,
            currency: auction.currency.clone(),
            status: sale.status.name(),
            legal_next_statuses: item.legal_next(auction, now).into_iter().map(|status| status.name()).collect(),
            end_time: sale.end_time.map(time),
            effective_end_time: sale.effective_end_time.map(time),
            price: sale.price,
            leader: sale.leader,
            buy_now: sale.buy_now,
            minimum_bid: sale.minimum_bid,
            reserve_met: sale.reserve_met,
            bid_count: sale.bid_count,
            ring: (auction.kind == AuctionKind::Webcast).then_some(match item.ring {
                RingStatus::Waiting | RingStatus::WaitingAgain => "waiting",
                RingStatus::InRing(_) => "in_ring",
                RingStatus::Done => "done",
            }),
            fixed_increment: item.fixed_increment,
            relisted_from: item.relisted_from,
            relisted_as: item.relisted_as,
            version: sale.version,
            server_time: time(now),
        }
    }
}
