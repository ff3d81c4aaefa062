//! What everyone reads of sales and lots, in the names and values of the live streams.

use contract::ItemStatus;
use jiff::Timestamp;
use kit_runtime::clock::rfc3339_ms;
use platform_core::images::ImageVariant;
use platform_core::saleroom::{SaleroomLot, SaleroomMessage, SaleroomSale};
use platform_rules::{Auction, InRing, PublicBid, PublicItem};
use serde::Serialize;
use utoipa::ToSchema;
use uuid::Uuid;

use super::requests::AtHouse;

/// A page of a list.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct List<T> {
    /// The entries.
    pub(super) data: Vec<T>,
    /// Cursor of the next page, for `after`; null on the last page.
    pub(super) next: Option<String>,
}

impl<T> List<T> {
    /// All entries there are.
    pub(super) fn whole(data: Vec<T>) -> Self {
        Self { data, next: None }
    }
}

pub(super) fn time(at: Timestamp) -> String {
    rfc3339_ms(at)
}

/// A sale on view.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Sale)]
pub(super) struct SaleView {
    /// UUID of the sale.
    uuid: Uuid,
    /// `timed` or `webcast`.
    #[schema(example = "timed")]
    kind: &'static str,
    /// Title.
    #[schema(example = "Clocks and watches")]
    title: String,
    /// `PREVIEW` before it begins, `LIVE` while it takes bids, `RECONCILIATION` or `ARCHIVED` after it.
    #[schema(example = "LIVE")]
    status: &'static str,
    /// ISO 4217 code. Every amount of the sale is in its minor units.
    #[schema(example = "GBP")]
    currency: String,
    /// IANA time zone of the sale.
    #[schema(example = "Europe/London")]
    time_zone: String,
    /// When bidding or the webcast begins.
    #[schema(format = DateTime)]
    starts_at: Option<String>,
    /// When the first lots of a timed sale are planned to end, or the webcast.
    #[schema(format = DateTime)]
    ends_at: Option<String>,
    /// The lot in the ring of a webcast.
    in_ring: Option<Uuid>,
    /// Lines of text; may be empty.
    description: String,
    /// When and how the lots can be viewed; lines of text, may be empty.
    viewing: String,
    /// The version of the conditions of sale that a bidder accepts to register; null for a sale without.
    conditions: Option<u32>,
    /// Premium and taxes.
    charges: ChargesView,
    /// Number of lots on view.
    lots: u64,
    /// Of these, the number that can still be sold.
    lots_open: u64,
    /// The film of a webcast that is live; null without one.
    film: Option<FilmView>,
    /// The latest messages of the auctioneer while a webcast is live, the oldest first; at most 20.
    messages: Vec<MessageView>,
    /// Its page in the saleroom.
    #[schema(example = "https://bid.example.com/hartley-sons/sales/01980000-0000-7000-8000-000000000001")]
    url: String,
    /// Rises with every change.
    version: i64,
}

/// The live picture of a webcast.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Film)]
pub(super) struct FilmView {
    /// Its https address.
    #[schema(example = "https://live.example.com/clocks.m3u8")]
    address: String,
    /// A file or stream for an element `video`; false for a page, which needs a frame.
    is_video: bool,
    /// How late the picture is; null if the house has not said it.
    delay_seconds: Option<u32>,
}

/// A message of the auctioneer to all visitors.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Message)]
pub(super) struct MessageView {
    /// Its number in the sale, from 1.
    number: i64,
    /// One line of text, in the auctioneer's own words.
    #[schema(example = "We go on at 14:30.")]
    text: String,
    /// When it was written.
    #[schema(format = DateTime)]
    at: String,
    /// UUID of the lot that was in the ring.
    item: Option<Uuid>,
    /// It is the last one, and was not cleared: show it.
    on_stage: bool,
}

impl MessageView {
    fn of(message: &SaleroomMessage) -> Self {
        let SaleroomMessage { number, text, at, item, on_stage } = message.clone();
        Self { number, text, at: time(at), item, on_stage }
    }
}

/// Premium and taxes on a hammer price, in basis points (1/100 of a percent).
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Charges)]
pub(super) struct ChargesView {
    /// Buyer's premium.
    #[schema(example = 2_500)]
    premium_basis_points: u32,
    /// Tax on the hammer price.
    hammer_tax_basis_points: u32,
    /// Tax on the premium.
    #[schema(example = 2_000)]
    premium_tax_basis_points: u32,
}

impl SaleView {
    pub(super) fn of<const N: usize>(at: &AtHouse<N>, sale: &SaleroomSale) -> Self {
        let (auction, facts) = (&sale.auction, sale.facts.as_ref());
        let charges = auction.charges;
        Self {
            uuid: auction.uuid,
            kind: auction.kind.as_str(),
            title: auction.shown_title().to_owned(),
            status: auction.status.name(),
            currency: auction.currency.clone(),
            time_zone: auction.time_zone.clone(),
            starts_at: auction.starts_at.map(time),
            ends_at: auction.ends_at.map(time),
            in_ring: auction.in_ring,
            description: facts.map(|facts| facts.description.clone()).unwrap_or_default(),
            viewing: facts.map(|facts| facts.viewing.clone()).unwrap_or_default(),
            conditions: facts.and_then(|facts| facts.conditions),
            charges: ChargesView {
                premium_basis_points: charges.premium_basis_points,
                hammer_tax_basis_points: charges.hammer_tax_basis_points,
                premium_tax_basis_points: charges.premium_tax_basis_points,
            },
            lots: sale.lots,
            lots_open: sale.lots_open,
            film: sale.film.clone().map(|film| FilmView {
                address: film.address,
                is_video: film.is_video,
                delay_seconds: film.delay_seconds,
            }),
            messages: sale.messages.iter().rev().map(MessageView::of).collect(),
            url: at.address(&format!("/sales/{}", auction.uuid)),
            version: auction.version,
        }
    }
}

/// Conditions of sale.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Conditions)]
pub(super) struct ConditionsView {
    /// Number of the version.
    #[schema(example = 3)]
    pub(super) number: u32,
    /// Lines of text.
    pub(super) text: String,
}

/// A lot on view.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Lot)]
pub(super) struct LotView {
    /// UUID of the lot.
    uuid: Uuid,
    /// UUID of its sale.
    auction: Uuid,
    /// Number as printed.
    #[schema(example = "12A")]
    lot_number: String,
    /// Title.
    #[schema(example = "A longcase clock")]
    title: String,
    /// Lines of text; may be empty.
    description: String,
    /// Category under which the house offers it; null without one.
    #[schema(example = "Clocks")]
    category: Option<String>,
    /// Low estimate, minor units.
    low_estimate: Option<i64>,
    /// High estimate, minor units.
    high_estimate: Option<i64>,
    /// Its pictures, in order.
    images: Vec<ImageView>,
    /// `PREVIEW`, `LIVE`, `SUSPENDED`, `SOLD`, `SOLD_BUY_NOW`, `PASSED` or `UNSOLD`.
    #[schema(example = "LIVE")]
    status: &'static str,
    /// The price, minor units; the hammer price of a lot that is sold. Null before the first bid.
    price: Option<i64>,
    /// The price with premium and taxes.
    price_total: Option<i64>,
    /// Paddle of the leading bidder, or of the buyer.
    #[schema(example = "214")]
    leader: Option<String>,
    /// The least next bid, minor units; null when no bid is possible any more.
    minimum_bid: Option<i64>,
    /// The least next bid with premium and taxes.
    minimum_bid_total: Option<i64>,
    /// Price at which the lot can be bought at once, minor units; null when it can't.
    buy_now: Option<i64>,
    /// Number of public bids.
    bid_count: i64,
    /// Planned end in a timed sale.
    #[schema(format = DateTime)]
    end_time: Option<String>,
    /// The end that counts in a timed sale: bids extend it.
    #[schema(format = DateTime)]
    effective_end_time: Option<String>,
    /// The lot in the ring of a webcast; null outside of the ring.
    ring: Option<RingView>,
    /// Its page in the saleroom.
    url: String,
    /// Rises with every change.
    version: i64,
}

/// A picture of a lot. Its addresses need no token.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Image)]
pub(super) struct ImageView {
    /// Address of the picture, at most 320 pixels wide.
    small: String,
    /// Address of the picture, at most 1,280 pixels wide.
    large: String,
    /// Width of the uploaded picture, in pixels.
    width: u32,
    /// Height of the uploaded picture, in pixels.
    height: u32,
}

/// The state of a lot in the ring.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Ring)]
pub(super) struct RingView {
    /// The asking price, minor units: the amount of the next bid.
    asking_price: i64,
    /// The asking price with premium and taxes.
    asking_price_total: i64,
    /// No bids are taken for the moment.
    paused: bool,
    /// The saleroom has lost its link to the auctioneer. No bids are taken until it is back.
    link_lost: bool,
    /// Fair warnings that the auctioneer gave.
    warnings: u32,
}

/// A lot with its latest bids.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = LotWithBids)]
pub(super) struct LotWithBidsView {
    /// The lot.
    #[serde(flatten)]
    pub(super) lot: LotView,
    /// Its latest bids, the oldest first; at most 20.
    pub(super) bids: Vec<BidView>,
}

/// A bid that everyone sees.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Bid)]
pub(super) struct BidView {
    /// Number among the public bids of the lot.
    number: i64,
    /// Paddle; empty for a bidder in the room whose paddle is not known yet.
    #[schema(example = "214")]
    bidder: String,
    /// Public amount, minor units; never the maximum of a leading bidder.
    amount: i64,
    /// When it was accepted.
    #[schema(format = DateTime)]
    at: String,
    /// It does not count any more.
    withdrawn: bool,
}

impl BidView {
    pub(super) fn of(bid: PublicBid) -> Self {
        let PublicBid { number, bidder, amount, at, struck, .. } = bid;
        Self { number, bidder, amount, at: time(at), withdrawn: struck.is_some() }
    }
}

impl LotView {
    pub(super) fn of<const N: usize>(
        at: &AtHouse<N>,
        (auction, is_link_lost): (&Auction, bool),
        lot: &SaleroomLot,
    ) -> Self {
        let PublicItem { uuid, status, price, leader, minimum_bid, buy_now, bid_count, .. } = lot.sale.clone();
        let with_charges = |amount: Option<i64>| amount.map(|amount| auction.charges.on(amount).total);
        let image = |image: &platform_core::port::ItemImage| {
            let address =
                |variant: ImageVariant| at.address(&format!("/api/v1/images/{}/{}", image.uuid, variant.as_str()));
            let (small, large) = (address(ImageVariant::Small), address(ImageVariant::Large));
            ImageView { small, large, width: image.width, height: image.height }
        };
        Self {
            uuid,
            auction: auction.uuid,
            lot_number: lot.lot_number.clone(),
            title: lot.title.clone(),
            description: lot.description.clone(),
            category: lot.category.clone(),
            low_estimate: lot.estimate.0,
            high_estimate: lot.estimate.1,
            images: lot.images.iter().map(image).collect(),
            status: status.name(),
            price,
            price_total: with_charges(price),
            leader,
            minimum_bid,
            minimum_bid_total: with_charges(minimum_bid),
            buy_now,
            bid_count,
            end_time: lot.sale.end_time.map(time),
            effective_end_time: lot.sale.effective_end_time.map(time),
            ring: lot.sale.ring.map(|ring| RingView::of(auction, ring, is_link_lost)),
            url: at.address(&format!("/sales/{}/lots/{uuid}", auction.uuid)),
            version: lot.sale.version,
        }
    }
}

impl RingView {
    fn of(auction: &Auction, ring: InRing, link_lost: bool) -> Self {
        // `lowered` concerns the clerk only.
        let InRing { asking_price, paused, warnings, lowered: _ } = ring;
        let asking_price_total = auction.charges.on(asking_price).total;
        Self { asking_price, asking_price_total, paused: paused || link_lost, link_lost, warnings }
    }
}

/// The statuses of lots with this name in a query: `open`, `sold` or `unsold`.
pub(super) fn statuses(name: &str) -> Option<&'static [ItemStatus]> {
    match name {
        "open" => Some(&[ItemStatus::Preview, ItemStatus::Live, ItemStatus::Suspended]),
        "sold" => Some(&[ItemStatus::Sold, ItemStatus::SoldBuyNow]),
        "unsold" => Some(&[ItemStatus::Unsold, ItemStatus::Passed]),
        _ => None,
    }
}
