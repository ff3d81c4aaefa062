//! Items that end by the clock, in real auctions and in sandbox auctions.

use std::sync::Arc;

use async_trait::async_trait;
use jiff::Timestamp;
use platform_rules::{Auction, Item};
use uuid::Uuid;

use super::StoreResult;

/// Lots of an auction that are not LIVE yet and end at a time or earlier.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LotsEndingBy {
    /// Number of these lots.
    pub count: u64,
    /// Lot numbers of the first of them, in running order.
    pub first: Vec<String>,
}

/// Items that are due. [`ItemEndStore::due_items`] and [`ItemEndStore::next_end`] never return items of sandbox
/// auctions, whose items end by the clock of their auction.
#[async_trait]
pub trait ItemEndStore: Send + Sync {
    /// Items of real timed auctions that are LIVE with `effective_end_time <= now`, the earliest first, with their
    /// auctions.
    async fn due_items(&self, now: Timestamp, limit: usize) -> StoreResult<Vec<(Item, Arc<Auction>)>>;
    /// The earliest `effective_end_time` of a LIVE item of a real timed auction.
    async fn next_end(&self) -> StoreResult<Option<Timestamp>>;
    /// Sandbox auctions whose clock has a target that it has not reached, at most `limit`.
    async fn advancing_sandboxes(&self, limit: usize) -> StoreResult<Vec<Auction>>;
    /// DRAFT and PREVIEW items of an auction with `effective_end_time <= by`, which is rounded up to the millisecond:
    /// their number, and the lot numbers of the first `limit` of them in running order. Real and sandbox auctions.
    async fn lots_ending_by(&self, auction: Uuid, by: Timestamp, limit: usize) -> StoreResult<LotsEndingBy>;
    /// LIVE items of a sandbox auction with `effective_end_time <= by`, the earliest first, then in running order.
    async fn due_sandbox_items(&self, auction: Uuid, by: Timestamp, limit: usize) -> StoreResult<Vec<Item>>;
}
