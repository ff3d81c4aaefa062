//! What there is among the items of auctions.

use async_trait::async_trait;
use platform_rules::ItemCounts;
use uuid::Uuid;

use super::StoreResult;

/// The part of the port that tells what keeps an auction from a change of status, without counting.
#[async_trait]
pub trait ItemPresence: Send + Sync {
    /// What there is among the items of each of these auctions, in their order: `live`, `suspended` and `with_bids` are 1 where there
    /// are some, however many; `total` and `passed` are not told. It costs the same for ten items and for a hundred thousand.
    async fn item_presence(&self, auctions: &[Uuid]) -> StoreResult<Vec<ItemCounts>>;
}
