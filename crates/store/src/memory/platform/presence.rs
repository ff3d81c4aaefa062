//! What there is among the items of auctions.

use ::platform::port::{Presence, StoreResult};
use async_trait::async_trait;
use auction::ItemCounts;
use uuid::Uuid;

use super::Memory;

#[async_trait]
impl Presence for Memory {
    async fn present(&self, auctions: &[Uuid]) -> StoreResult<Vec<ItemCounts>> {
        let tables = self.tables();
        let of = |auction: &Uuid| {
            let ItemCounts { live, suspended, with_bids, .. } = tables.sales.item_counts(*auction);
            let (live, suspended, with_bids) = (live.min(1), suspended.min(1), with_bids.min(1));
            ItemCounts { live, suspended, with_bids, ..ItemCounts::default() }
        };
        Ok(auctions.iter().map(of).collect())
    }
}
