//! Who has bid by which paddle.

use async_trait::async_trait;
use platform_core::port::{PaddleUse, StoreResult};
use uuid::Uuid;

use super::{SqliteStore, rows};

#[async_trait]
impl PaddleUse for SqliteStore {
    async fn has_bid(&self, auction: Uuid, paddle: &str) -> StoreResult<bool> {
        let paddle = paddle.to_owned();
        let staked = "SELECT 1 FROM bidder_items WHERE auction = ?1 AND paddle = ?2 LIMIT 1";
        let bid =
            "SELECT 1 FROM items i CROSS JOIN bids b ON b.item = i.uuid WHERE i.auction = ?1 AND b.bidder = ?2 LIMIT 1";
        self.read(move |db| {
            let found = |select: &str| rows::one(db, select, (auction.as_bytes(), &paddle), |_| Ok(()));
            Ok(found(staked)?.is_some() || found(bid)?.is_some())
        })
        .await
    }

    async fn has_bidder_item(&self, auction: Uuid, paddle: &str, item: Uuid) -> StoreResult<bool> {
        let paddle = paddle.to_owned();
        let select = "SELECT 1 FROM bidder_items WHERE auction = ?1 AND paddle = ?2 AND item = ?3";
        self.read(move |db| {
            Ok(rows::one(db, select, (auction.as_bytes(), &paddle, item.as_bytes()), |_| Ok(()))?.is_some())
        })
        .await
    }
}
