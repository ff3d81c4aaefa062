//! What there is among the items of auctions.

use async_trait::async_trait;
use contract::ItemStatus;
use platform_core::port::{ItemPresence, StoreResult};
use platform_rules::ItemCounts;
use rusqlite::Connection;
use uuid::Uuid;

use super::SqliteStore;
use super::rows::{self, SqlResult};
use crate::codec::{LIVE, SUSPENDED};

#[async_trait]
impl ItemPresence for SqliteStore {
    async fn item_presence(&self, auctions: &[Uuid]) -> StoreResult<Vec<ItemCounts>> {
        let auctions = auctions.to_vec();
        self.read(move |db| auctions.iter().map(|auction| item_presence(db, *auction)).collect()).await
    }
}

fn item_presence(db: &Connection, auction: Uuid) -> SqlResult<ItemCounts> {
    // Each of these is a place in the index; with `has_bids` alone it would be gone through.
    let some = "EXISTS (SELECT 1 FROM items INDEXED BY items_by_status WHERE auction = ?1 AND status";
    let every = ItemStatus::ALL.iter().map(|status| status.code().to_string()).collect::<Vec<_>>().join(", ");
    let select = format!("SELECT {some} = {LIVE}), {some} = {SUSPENDED}), {some} IN ({every}) AND has_bids = 1)");
    let found = rows::one(db, &select, [auction.as_bytes()], |row| {
        let (live, suspended, with_bids) = (row.get::<_, bool>(0)?, row.get::<_, bool>(1)?, row.get::<_, bool>(2)?);
        let (live, suspended, with_bids) = (u64::from(live), u64::from(suspended), u64::from(with_bids));
        Ok(ItemCounts { live, suspended, with_bids, ..ItemCounts::default() })
    })?;
    Ok(found.unwrap_or_default())
}
