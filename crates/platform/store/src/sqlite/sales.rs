//! Auctions, items and bids as they are read.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;

use jiff::Timestamp;
use platform_core::bid::Bid;
use platform_core::port::{ItemCounts, Page};
use platform_rules::{Auction, Hidden, Item};
use rusqlite::Connection;
use uuid::Uuid;

use super::customers::after;
use super::rows::{self, SqlResult};
use crate::codec::{self as codec, LIVE, PASSED, SUSPENDED, ms};

pub(super) fn auction(db: &Connection, uuid: Uuid) -> SqlResult<Option<Auction>> {
    rows::one(db, "SELECT state FROM auctions WHERE uuid = ?1", [uuid.as_bytes()], |row| rows::json(row, 0))
}

pub(super) fn auctions(db: &Connection, customer: Option<Uuid>, page: Page<Uuid>) -> SqlResult<Vec<Auction>> {
    let (after, limit) = (after(page), rows::limit(page.limit));
    match customer {
        None => {
            let select = "SELECT state FROM auctions WHERE uuid > ?1 ORDER BY uuid LIMIT ?2";
            rows::list(db, select, (after.as_bytes(), limit), |row| rows::json(row, 0))
        }
        Some(customer) => {
            let select = "SELECT state FROM auctions WHERE customer = ?1 AND uuid > ?2 ORDER BY uuid LIMIT ?3";
            rows::list(db, select, (customer.as_bytes(), after.as_bytes(), limit), |row| rows::json(row, 0))
        }
    }
}

pub(super) fn item(db: &Connection, uuid: Uuid) -> SqlResult<Option<Item>> {
    rows::one(db, "SELECT state FROM items WHERE uuid = ?1", [uuid.as_bytes()], |row| rows::json(row, 0))
}

pub(super) fn items(db: &Connection, auction: Uuid, page: Page<i64>) -> SqlResult<Vec<Item>> {
    let select = "SELECT state FROM items WHERE auction = ?1 AND position > ?2 ORDER BY position LIMIT ?3";
    let after = page.after.unwrap_or(i64::MIN);
    rows::list(db, select, (auction.as_bytes(), after, rows::limit(page.limit)), |row| rows::json(row, 0))
}

pub(super) fn item_counts(db: &Connection, auction: Uuid) -> SqlResult<ItemCounts> {
    let select = "SELECT status, has_bids, count(*) FROM items INDEXED BY items_by_status \
         WHERE auction = ?1 GROUP BY status, has_bids";
    let groups = rows::list(db, select, [auction.as_bytes()], |row| {
        Ok((row.get::<_, i32>(0)?, row.get::<_, bool>(1)?, row.get::<_, i64>(2)?.unsigned_abs()))
    })?;
    let mut counts = ItemCounts::default();
    for (status, has_bids, count) in groups {
        counts.total += count;
        match status {
            LIVE => counts.live += count,
            SUSPENDED => counts.suspended += count,
            PASSED => counts.passed += count,
            _ => {}
        }
        if has_bids {
            counts.with_bids += count;
        }
    }
    Ok(counts)
}

pub(super) fn bids(db: &Connection, item: Uuid, page: Page<i64>) -> SqlResult<Vec<Bid>> {
    let select = "SELECT number, uuid, bidder, amount, source, actor, at_ms, maximum, before, asked, struck, struck_after, \
         struck_reason, struck_actor, struck_at_ms FROM bids \
         WHERE item = ?1 AND number > ?2 ORDER BY number LIMIT ?3";
    let after = page.after.unwrap_or(i64::MIN);
    rows::list(db, select, (item.as_bytes(), after, rows::limit(page.limit)), |row| {
        Ok(Bid {
            number: row.get(0)?,
            uuid: rows::uuid(row, 1)?,
            item,
            bidder: row.get(2)?,
            amount: row.get(3)?,
            source: codec::source(row.get(4)?)?,
            actor: row.get(5)?,
            at: rows::time(row, 6)?,
            maximum: Hidden::new(row.get(7)?),
            before: row.get(8)?,
            asked: row.get(9)?,
            struck: codec::struck((row.get(10)?, row.get(11)?, row.get(12)?, row.get(13)?, row.get(14)?))?,
        })
    })
}

/// Due items are mostly of few auctions: each is read once.
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
                let found = auction(db, item.auction)?;
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
