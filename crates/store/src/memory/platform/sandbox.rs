//! Sandbox auctions, and what ends by their clocks.

use ::platform::port::{Sandboxes, StoreResult};
use async_trait::async_trait;
use auction::{Auction, Item};
use jiff::Timestamp;
use uuid::Uuid;

use super::Memory;

#[async_trait]
impl Sandboxes for Memory {
    async fn advancing(&self, limit: usize) -> StoreResult<Vec<Auction>> {
        let tables = self.tables();
        let has_target = |auction: &&Auction| auction.clock.is_some_and(|clock| clock.target.is_some());
        Ok(tables.sales.auctions.values().filter(has_target).take(limit).cloned().collect())
    }

    async fn due_in_sandbox(&self, auction: Uuid, by: Timestamp, limit: usize) -> StoreResult<Vec<Item>> {
        Ok(self.tables().sales.due_in_sandbox(auction, by, limit))
    }
}
