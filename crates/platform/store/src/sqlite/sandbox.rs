//! Sandbox auctions, and what ends by their clocks. Their columns are written by statements of their own, so that real sales
//! do not pay for them.

use async_trait::async_trait;
use jiff::Timestamp;
use platform_core::port::{Sandboxes, StoreResult};
use platform_rules::{Auction, Item, SaleMode};
use rusqlite::{Connection, params};
use uuid::Uuid;

use super::SqliteStore;
use super::rows::{self, SqlResult};
use crate::codec::{LIVE, clock_target_ms, ms, sandbox_end_ms};

#[async_trait]
impl Sandboxes for SqliteStore {
    async fn advancing_sandboxes(&self, limit: usize) -> StoreResult<Vec<Auction>> {
        let select = "SELECT state FROM auctions INDEXED BY auctions_advancing \
             WHERE clock_target_ms IS NOT NULL ORDER BY uuid LIMIT ?1";
        self.read(move |db| rows::list(db, select, [rows::limit(limit)], |row| rows::json(row, 0))).await
    }

    async fn due_sandbox_items(&self, auction: Uuid, by: Timestamp, limit: usize) -> StoreResult<Vec<Item>> {
        self.read(move |db| due(db, auction, by, limit)).await
    }
}

fn due(db: &Connection, auction: Uuid, by: Timestamp, limit: usize) -> SqlResult<Vec<Item>> {
    let select = format!(
        "SELECT state FROM items INDEXED BY items_by_sandbox_end \
         WHERE auction = ?1 AND status = {LIVE} AND sandbox_end_ms IS NOT NULL AND sandbox_end_ms <= ?2 \
         ORDER BY sandbox_end_ms, position LIMIT ?3"
    );
    rows::list(db, &select, (auction.as_bytes(), ms(by), rows::limit(limit)), |row| rows::json(row, 0))
}

/// After a sandbox auction was written.
pub(super) fn put_clock(db: &Connection, auction: &Auction) -> SqlResult<()> {
    if auction.sale_mode() == SaleMode::Sandbox {
        let update = "UPDATE auctions SET sandbox = 1, clock_target_ms = ?2 WHERE uuid = ?1";
        rows::execute(db, update, params![auction.uuid.as_bytes(), clock_target_ms(auction)])?;
    }
    Ok(())
}

/// After an item of a sandbox auction was written.
pub(super) fn put_end(db: &Connection, item: &Item) -> SqlResult<()> {
    if item.sale_mode() == SaleMode::Sandbox {
        let update = "UPDATE items SET sandbox_end_ms = ?2 WHERE uuid = ?1";
        rows::execute(db, update, params![item.uuid.as_bytes(), sandbox_end_ms(item)])?;
    }
    Ok(())
}
