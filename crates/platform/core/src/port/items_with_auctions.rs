//! What a bid begins with.

use async_trait::async_trait;
use platform_rules::{Auction, Item};
use uuid::Uuid;

use super::StoreResult;

/// The part of the port for an item and its auction, read in one call.
#[async_trait]
pub trait ItemsWithAuctions: Send + Sync {
    /// An item with its auction, which is of the same moment or a later one: a change of the auction that touches its items
    /// can't slip between the two. `Corrupt` when the item has no auction.
    async fn item_with_auction(&self, item: Uuid) -> StoreResult<Option<(Item, Auction)>>;
}
