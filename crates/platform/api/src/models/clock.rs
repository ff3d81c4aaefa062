//! Clocks of sandbox auctions.

use platform_rules::{Auction, Item, TestClock};
use serde::Serialize;
use utoipa::ToSchema;
use uuid::Uuid;

use super::time;

/// The clock of a sandbox auction. It only moves when a caller advances it.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Clock)]
pub(crate) struct ClockView {
    /// UUID of the auction.
    pub(crate) auction: Uuid,
    /// The time that the clock shows and by which the auction's rules decide.
    #[schema(format = DateTime)]
    pub(crate) now: String,
    /// Every item whose end is before this time has ended. Equals `now` unless the clock is advancing.
    #[schema(format = DateTime)]
    pub(crate) reached: String,
    /// True while items whose end the clock has passed are still ending. Repeat the request until it is false.
    pub(crate) advancing: bool,
    /// Items that this advance has ended so far; when the clock is not advancing, items that the last advance ended.
    pub(crate) ended_count: u64,
    /// The auction's version; the `ETag`.
    pub(crate) version: i64,
}

impl ClockView {
    pub(crate) fn new(auction: &Auction, clock: &TestClock) -> Self {
        Self {
            auction: auction.uuid,
            now: time(clock.now()),
            reached: time(clock.reached),
            advancing: clock.target.is_some(),
            ended_count: clock.ended,
            version: auction.version,
        }
    }
}

/// A clock after an advance, and the items that ended.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = AdvancedClock)]
pub(crate) struct AdvancedView {
    #[serde(flatten)]
    pub(crate) clock: ClockView,
    /// The first 250 items that have ended, in order of their ends. If more become due, `advancing` is true.
    pub(crate) ended: Vec<EndedView>,
}

/// An item that has ended.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = EndedItem)]
pub(crate) struct EndedView {
    /// UUID of the item.
    pub(crate) item: Uuid,
    /// Lot number, as printed.
    pub(crate) lot_number: String,
    /// `SOLD` or `UNSOLD`.
    pub(crate) status: &'static str,
    /// Its effective end, extensions included.
    #[schema(format = DateTime)]
    pub(crate) ended_at: Option<String>,
    /// Amount of the standing bid, in minor units; null without a bid.
    pub(crate) price: Option<i64>,
}

impl From<&Item> for EndedView {
    fn from(item: &Item) -> Self {
        Self {
            item: item.uuid,
            lot_number: item.lot_number.clone(),
            status: item.status.name(),
            ended_at: item.effective_end_time.map(time),
            price: item.price(),
        }
    }
}
