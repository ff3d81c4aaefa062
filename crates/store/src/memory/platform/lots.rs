//! An item with its auction.

use ::platform::port::{Lots, StoreError, StoreResult};
use async_trait::async_trait;
use auction::{Auction, Item};
use uuid::Uuid;

use super::Memory;

#[async_trait]
impl Lots for Memory {
    async fn lot(&self, item: Uuid) -> StoreResult<Option<(Item, Auction)>> {
        let tables = self.tables();
        let Some(item) = tables.sales.items.get(&item) else { return Ok(None) };
        let auction = tables.sales.auctions.get(&item.auction);
        let auction = auction.ok_or_else(|| StoreError::Corrupt("an item has no auction".to_owned()))?;
        Ok(Some((item.clone(), auction.clone())))
    }
}
