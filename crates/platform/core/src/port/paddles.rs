//! Who has bid by which paddle.

use async_trait::async_trait;
use uuid::Uuid;

use super::StoreResult;

/// The part of the port for paddles that are to change.
#[async_trait]
pub trait PaddleUse: Send + Sync {
    /// If a bid of this paddle was accepted in the auction, one that does not count any more included. Looks through the
    /// auction's bids where no stake says so: for what an administrator does now and then.
    async fn has_bid(&self, auction: Uuid, paddle: &str) -> StoreResult<bool>;
    /// If a stake of this paddle in the item is noted: without one, what it binds of a spending limit is not counted.
    async fn has_bidder_item(&self, auction: Uuid, paddle: &str, item: Uuid) -> StoreResult<bool>;
}
