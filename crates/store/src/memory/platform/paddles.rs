//! Who has bid by which paddle.

use ::platform::port::{Paddles, StoreResult};
use async_trait::async_trait;
use uuid::Uuid;

use super::Memory;

#[async_trait]
impl Paddles for Memory {
    async fn has_bid(&self, auction: Uuid, paddle: &str) -> StoreResult<bool> {
        let tables = self.tables();
        let of_auction = |item: &Uuid| tables.sales.items.get(item).is_some_and(|item| item.auction == auction);
        let mut bids = tables.sales.bids.values();
        Ok(tables.bidders.has_stake(auction, paddle) || bids.any(|bid| bid.bidder == paddle && of_auction(&bid.item)))
    }

    async fn has_stake(&self, auction: Uuid, paddle: &str, item: Uuid) -> StoreResult<bool> {
        Ok(self.tables().bidders.has_stake_in(auction, paddle, item))
    }
}
