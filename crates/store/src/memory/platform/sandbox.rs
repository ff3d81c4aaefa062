//! Sandbox auctions, and what ends by their clocks.

use ::platform::port::{Page, Sandboxes, StoreResult};
use async_trait::async_trait;
use auction::{Auction, Item, Realm};
use jiff::Timestamp;
use uuid::Uuid;

use super::{Memory, slice};

#[async_trait]
impl Sandboxes for Memory {
    async fn auctions_of_realm(
        &self,
        customer: Option<Uuid>,
        realm: Realm,
        page: Page<Uuid>,
    ) -> StoreResult<Vec<Auction>> {
        let tables = self.tables();
        let theirs = |auction: &Auction| customer.is_none_or(|customer| auction.customer == customer);
        let rows = tables.sales.auctions.iter().filter(|(_, auction)| theirs(auction) && auction.realm() == realm);
        Ok(slice(rows.map(|(uuid, auction)| (*uuid, auction)), page))
    }

    async fn advancing(&self, limit: usize) -> StoreResult<Vec<Auction>> {
        let tables = self.tables();
        let has_target = |auction: &&Auction| auction.clock.is_some_and(|clock| clock.target.is_some());
        Ok(tables.sales.auctions.values().filter(has_target).take(limit).cloned().collect())
    }

    async fn due_in_sandbox(&self, auction: Uuid, by: Timestamp, limit: usize) -> StoreResult<Vec<Item>> {
        Ok(self.tables().sales.due_in_sandbox(auction, by, limit))
    }
}
