//! Who has bid by which paddle.

use async_trait::async_trait;
use platform_core::port::{PaddleUse, StoreResult};
use uuid::Uuid;

use super::{PostgresStore, rows};

#[async_trait]
impl PaddleUse for PostgresStore {
    async fn has_bid(&self, auction: Uuid, paddle: &str) -> StoreResult<bool> {
        if paddle.contains('\0') {
            return Ok(false);
        }
        let select = "SELECT 1 WHERE EXISTS (SELECT 1 FROM bidder_items WHERE auction = $1 AND paddle = $2) \
             OR EXISTS (SELECT 1 FROM items i JOIN bids b ON b.item = i.uuid WHERE i.auction = $1 AND b.bidder = $2)";
        Ok(rows::one(&self.client().await?, select, &[&auction, &paddle], |_| Ok(())).await?.is_some())
    }

    async fn has_bidder_item(&self, auction: Uuid, paddle: &str, item: Uuid) -> StoreResult<bool> {
        if paddle.contains('\0') {
            return Ok(false);
        }
        let select = "SELECT 1 FROM bidder_items WHERE auction = $1 AND paddle = $2 AND item = $3";
        Ok(rows::one(&self.client().await?, select, &[&auction, &paddle, &item], |_| Ok(())).await?.is_some())
    }
}
