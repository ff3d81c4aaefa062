//! Items whose end is due by the clock, in real sales and in sandboxes.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;

use async_trait::async_trait;
use jiff::Timestamp;
use platform_core::port::{ItemEndStore, LotsEndingBy, StoreResult};
use platform_rules::{Auction, Item, SaleMode};
use rusqlite::{Connection, params};
use uuid::Uuid;

use super::rows::{self, SqlResult};
use super::{SqliteStore, auctions};
use crate::codec::{self, DRAFT, LIVE, PREVIEW, clock_target_ms, ms, ms_rounded_up, sandbox_end_ms};

#[async_trait]
impl ItemEndStore for SqliteStore {
    async fn due_items(&self, now: Timestamp, limit: usize) -> StoreResult<Vec<(Item, Arc<Auction>)>> {
        self.read(move |db| due_items(db, now, limit)).await
    }

    async fn next_end(&self) -> StoreResult<Option<Timestamp>> {
        self.read(next_end).await
    }

    async fn advancing_sandboxes(&self, limit: usize) -> StoreResult<Vec<Auction>> {
        let select = "SELECT state FROM auctions INDEXED BY auctions_advancing \
             WHERE clock_target_ms IS NOT NULL ORDER BY uuid LIMIT ?1";
        self.read(move |db| rows::list(db, select, [rows::limit(limit)], |row| rows::json(row, 0))).await
    }

    async fn lots_ending_by(&self, auction: Uuid, by: Timestamp, limit: usize) -> StoreResult<LotsEndingBy> {
        self.read(move |db| lots_ending_by(db, auction, by, limit)).await
    }

    async fn due_sandbox_items(&self, auction: Uuid, by: Timestamp, limit: usize) -> StoreResult<Vec<Item>> {
        self.read(move |db| due_sandbox_items(db, auction, by, limit)).await
    }
}

/// Reads each auction once, because most due items belong to few auctions.
pub(super) fn due_items(db: &Connection, now: Timestamp, limit: usize) -> SqlResult<Vec<(Item, Arc<Auction>)>> {
    let select = format!(
        "SELECT state FROM items INDEXED BY items_by_end \
         WHERE status = {LIVE} AND effective_end_ms IS NOT NULL AND effective_end_ms <= ?1 \
         ORDER BY effective_end_ms LIMIT ?2"
    );
    let items: Vec<Item> = rows::list(db, &select, (ms(now), rows::limit(limit)), |row| rows::json(row, 0))?;
    let mut auctions: HashMap<Uuid, Arc<Auction>> = HashMap::new();
    let mut due = Vec::with_capacity(items.len());
    for item in items {
        let auction = match auctions.entry(item.auction) {
            Entry::Occupied(known) => Arc::clone(known.get()),
            Entry::Vacant(unknown) => {
                let found = auctions::auction(db, item.auction)?;
                let found = found.ok_or_else(|| codec::corrupt(format_args!("item {} has no auction", item.uuid)))?;
                Arc::clone(unknown.insert(Arc::new(found)))
            }
        };
        due.push((item, auction));
    }
    Ok(due)
}

pub(super) fn next_end(db: &Connection) -> SqlResult<Option<Timestamp>> {
    let select = format!(
        "SELECT effective_end_ms FROM items INDEXED BY items_by_end \
         WHERE status = {LIVE} AND effective_end_ms IS NOT NULL ORDER BY effective_end_ms LIMIT 1"
    );
    rows::one(db, &select, [], |row| rows::time(row, 0))
}

fn lots_ending_by(db: &Connection, auction: Uuid, by: Timestamp, limit: usize) -> SqlResult<LotsEndingBy> {
    // The end of an item is in one of the two columns.
    let lots = format!(
        "FROM items INDEXED BY items_by_status WHERE auction = ?1 AND status IN ({DRAFT}, {PREVIEW}) \
         AND coalesce(effective_end_ms, sandbox_end_ms) <= ?2"
    );
    let by_ms = ms_rounded_up(by);
    let count: Option<i64> =
        rows::one(db, &format!("SELECT count(*) {lots}"), (auction.as_bytes(), by_ms), |row| Ok(row.get(0)?))?;
    let count = count.unwrap_or_default().unsigned_abs();
    if count == 0 {
        return Ok(LotsEndingBy::default());
    }
    let select = format!("SELECT lot_number {lots} ORDER BY position LIMIT ?3");
    let first = rows::list(db, &select, (auction.as_bytes(), by_ms, rows::limit(limit)), |row| Ok(row.get(0)?))?;
    Ok(LotsEndingBy { count, first })
}

fn due_sandbox_items(db: &Connection, auction: Uuid, by: Timestamp, limit: usize) -> SqlResult<Vec<Item>> {
    let select = format!(
        "SELECT state FROM items INDEXED BY items_by_sandbox_end \
         WHERE auction = ?1 AND status = {LIVE} AND sandbox_end_ms IS NOT NULL AND sandbox_end_ms <= ?2 \
         ORDER BY sandbox_end_ms, position LIMIT ?3"
    );
    rows::list(db, &select, (auction.as_bytes(), ms(by), rows::limit(limit)), |row| rows::json(row, 0))
}

/// Sets the columns of a sandbox auction. Called after the auction was written.
pub(super) fn put_sandbox_clock(db: &Connection, auction: &Auction) -> SqlResult<()> {
    if auction.sale_mode() == SaleMode::Sandbox {
        let update = "UPDATE auctions SET sandbox = 1, clock_target_ms = ?2 WHERE uuid = ?1";
        rows::execute(db, update, params![auction.uuid.as_bytes(), clock_target_ms(auction)])?;
    }
    Ok(())
}

/// Sets the column `sandbox_end_ms`. Called after the item was written.
pub(super) fn put_sandbox_end(db: &Connection, item: &Item) -> SqlResult<()> {
    if item.sale_mode() == SaleMode::Sandbox {
        let update = "UPDATE items SET sandbox_end_ms = ?2 WHERE uuid = ?1";
        rows::execute(db, update, params![item.uuid.as_bytes(), sandbox_end_ms(item)])?;
    }
    Ok(())
}
