//! An item with its auction, of one moment.

use async_trait::async_trait;
use platform_core::port::{Lots, StoreResult};
use platform_rules::{Auction, Item};
use uuid::Uuid;

use super::{Sqlite, sales};
use crate::codec::corrupt;

#[async_trait]
impl Lots for Sqlite {
    async fn lot(&self, item: Uuid) -> StoreResult<Option<(Item, Auction)>> {
        self.read(move |db| {
            let Some(item) = sales::item(db, item)? else { return Ok(None) };
            let auction = sales::auction(db, item.auction)?.ok_or_else(|| corrupt("an item has no auction"))?;
            Ok(Some((item, auction)))
        })
        .await
    }
}
