//! Items.

use contract::models::UrlAttachmentApiModel;
use jiff::Timestamp;
use platform_rules::{Auction, AuctionKind, Item, PublicItem, RingStatus};
use serde::Serialize;
use utoipa::ToSchema;
use uuid::Uuid;

use super::{UrlAttachmentSchema, time};

/// One lot of an auction. Amounts are minor units of its currency. The reserve never leaves the platform.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Item)]
pub(crate) struct ItemView {
    pub(crate) uuid: Uuid,
    pub(crate) auction: Uuid,
    pub(crate) lot_number: String,
    /// Place in the running order, from 0.
    pub(crate) position: i64,
    pub(crate) title: String,
    pub(crate) description: String,
    pub(crate) image_url: Option<String>,
    /// Images, documents and videos beside it.
    #[schema(value_type = Vec<UrlAttachmentSchema>)]
    pub(crate) attachments: Vec<UrlAttachmentApiModel>,
    pub(crate) low_estimate: Option<i64>,
    pub(crate) high_estimate: Option<i64>,
    /// 0 means the first increment.
    pub(crate) opening_bid: i64,
    /// ISO 4217.
    pub(crate) currency: String,
    /// Status name; see the reference data.
    pub(crate) status: &'static str,
    /// Statuses that an administrator may change it to. The moment, such as an end that is over, can still refuse one, and so can
    /// what absentees left, which is not looked at here.
    pub(crate) legal_next_statuses: Vec<&'static str>,
    /// Planned end in a timed auction.
    #[schema(format = DateTime)]
    pub(crate) end_time: Option<String>,
    /// Real end in a timed auction: the one that counts.
    #[schema(format = DateTime)]
    pub(crate) effective_end_time: Option<String>,
    /// Amount of the standing bid.
    pub(crate) price: Option<i64>,
    /// Paddle of whoever leads, or bought it.
    pub(crate) leader: Option<String>,
    /// Price at which it can be bought at once; null when it can't be, or not any more.
    pub(crate) buy_now: Option<i64>,
    /// Least amount that the next bid may have; null when it is sold, unsold or withdrawn.
    pub(crate) minimum_bid: Option<i64>,
    /// If the price has reached the reserve; null without a reserve.
    pub(crate) reserve_met: Option<bool>,
    /// Bids accepted. What absentees left is not among them.
    pub(crate) bid_count: i64,
    /// Place in a webcast's ring: `waiting`, `in_ring`, `done`; null in a timed auction.
    pub(crate) ring: Option<&'static str>,
    /// Increment at any price, instead of the auction's table.
    pub(crate) fixed_increment: Option<i64>,
    /// The unsold item of an earlier auction that this one offers again.
    pub(crate) relisted_from: Option<Uuid>,
    /// The item of another auction that offers this one again.
    pub(crate) relisted_as: Option<Uuid>,
    /// Rises with each change; the `ETag` begins with it.
    pub(crate) version: i64,
    /// The server's clock, which decides; in a sandbox auction that auction's own.
    #[schema(format = DateTime)]
    pub(crate) server_time: String,
}

impl ItemView {
    /// Of the sale, what the rules say may be seen ([`PublicItem`]); of the lot, what the catalogue prints.
    pub(crate) fn new(item: &Item, auction: &Auction, now: Timestamp) -> Self {
        let sale = PublicItem::of(auction, item);
        let now = auction.clock.map_or(now, |clock| clock.now());
        Self {
            uuid: sale.uuid,
            auction: item.auction,
            lot_number: item.lot_number.clone(),
            position: item.position,
            title: item.title.clone(),
            description: item.description.clone(),
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
                RingStatus::Waiting => "waiting",
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
