//! Who has bid by which paddle.

use async_trait::async_trait;
use platform_core::port::{Paddles, StoreResult};
use uuid::Uuid;

use super::{Shared, rows};

#[async_trait]
impl Paddles for Shared {
    async fn has_bid(&self, auction: Uuid, paddle: &str) -> StoreResult<bool> {
        if paddle.contains('\0') {
            return Ok(false);
        }
        let select = "SELECT 1 WHERE EXISTS (SELECT 1 FROM stakes WHERE auction = $1 AND paddle = $2) \
             OR EXISTS (SELECT 1 FROM items i JOIN bids b ON b.item = i.uuid WHERE i.auction = $1 AND b.bidder = $2)";
        Ok(rows::one(&self.client().await?, select, &[&auction, &paddle], |_| Ok(())).await?.is_some())
    }

    async fn has_stake(&self, auction: Uuid, paddle: &str, item: Uuid) -> StoreResult<bool> {
        if paddle.contains('\0') {
            return Ok(false);
        }
        let select = "SELECT 1 FROM stakes WHERE auction = $1 AND paddle = $2 AND item = $3";
        Ok(rows::one(&self.client().await?, select, &[&auction, &paddle, &item], |_| Ok(())).await?.is_some())
    }
}
