//! Clocks of sandbox auctions.

use platform_rules::{Auction, Item, TestClock};
use serde::Serialize;
use utoipa::ToSchema;
use uuid::Uuid;

use super::time;

/// The clock of a sandbox auction. It stands still until it is advanced.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Clock)]
pub(crate) struct ClockView {
    pub(crate) auction: Uuid,
    /// What it shows: the time that decides in the auction.
    #[schema(format = DateTime)]
    pub(crate) now: String,
    /// Every item whose end is before this has ended. The same as `now`, unless it is advancing.
    #[schema(format = DateTime)]
    pub(crate) reached: String,
    /// True while items that it has passed are still ending: ask again until it is false.
    pub(crate) advancing: bool,
    /// Items that this advance has ended so far, or the last one did.
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

/// A clock that was advanced, and what ended by it.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = AdvancedClock)]
pub(crate) struct AdvancedView {
    #[serde(flatten)]
    pub(crate) clock: ClockView,
    /// Items that have ended by now, in the order of their ends; the first 250. When there are more, `advancing` is true.
    pub(crate) ended: Vec<EndedView>,
}

/// An item that has ended.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = EndedItem)]
pub(crate) struct EndedView {
    pub(crate) item: Uuid,
    pub(crate) lot_number: String,
    /// `SOLD` or `UNSOLD`.
    pub(crate) status: &'static str,
    /// Its effective end, extensions included.
    #[schema(format = DateTime)]
    pub(crate) ended_at: Option<String>,
    /// Amount of the standing bid.
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
