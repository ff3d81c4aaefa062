//! Sandbox auctions, whose items end by a clock of their own. `Store::due_items` and `Store::next_end`, which the timer of
//! real sales asks, never see those items.

use async_trait::async_trait;
use jiff::Timestamp;
use platform_rules::{Auction, Item};
use uuid::Uuid;

use super::StoreResult;

/// The part of the port for sandbox auctions.
#[async_trait]
pub trait Sandboxes: Send + Sync {
    /// Sandbox auctions whose clock has a target that it has not reached, at most `limit`.
    async fn advancing_sandboxes(&self, limit: usize) -> StoreResult<Vec<Auction>>;

    /// LIVE items of a sandbox auction with `effective_end_time <= by`, the earliest first, then in running order.
    async fn due_sandbox_items(&self, auction: Uuid, by: Timestamp, limit: usize) -> StoreResult<Vec<Item>>;
}
