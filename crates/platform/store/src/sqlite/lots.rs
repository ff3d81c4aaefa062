//! An item with its auction, of one moment.

use async_trait::async_trait;
use platform_core::port::{ItemsWithAuctions, StoreResult};
use platform_rules::{Auction, Item};
use uuid::Uuid;

use super::{SqliteStore, sales};
use crate::codec::corrupt;

#[async_trait]
impl ItemsWithAuctions for SqliteStore {
    async fn item_with_auction(&self, item: Uuid) -> StoreResult<Option<(Item, Auction)>> {
        self.read(move |db| {
            let Some(item) = sales::item(db, item)? else { return Ok(None) };
            let auction = sales::auction(db, item.auction)?.ok_or_else(|| corrupt("an item has no auction"))?;
            Ok(Some((item, auction)))
        })
        .await
    }
}
