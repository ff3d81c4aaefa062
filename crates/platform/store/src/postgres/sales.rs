//! Auctions, items and bids as they are read.

use std::collections::HashMap;
use std::sync::Arc;

use deadpool_postgres::GenericClient;
use jiff::Timestamp;
use platform_core::bid::Bid;
use platform_core::port::{ItemCounts, Page};
use platform_rules::{Auction, Hidden, Item};
use uuid::Uuid;

use super::customers::{OF_CUSTOMER, after};
use super::rows::{self, SqlResult};
use crate::codec::{self as codec, LIVE, PASSED, SUSPENDED, ms};

pub(super) async fn auction(db: &impl GenericClient, uuid: Uuid) -> SqlResult<Option<Auction>> {
    rows::one(db, "SELECT state FROM auctions WHERE uuid = $1", &[&uuid], |row| rows::json(row, 0)).await
}

pub(super) async fn auctions(
    db: &impl GenericClient,
    customer: Option<Uuid>,
    page: Page<Uuid>,
) -> SqlResult<Vec<Auction>> {
    let (after, limit) = (after(page), rows::limit(page.limit));
    match customer {
        None => {
            let select = "SELECT state FROM auctions WHERE uuid > $1 ORDER BY uuid LIMIT $2";
            rows::list(db, select, &[&after, &limit], |row| rows::json(row, 0)).await
        }
        Some(customer) => {
            let select = format!("SELECT state FROM auctions {OF_CUSTOMER}");
            rows::list(db, &select, &[&customer, &after, &limit], |row| rows::json(row, 0)).await
        }
    }
}

pub(super) async fn item(db: &impl GenericClient, uuid: Uuid) -> SqlResult<Option<Item>> {
    rows::one(db, "SELECT state FROM items WHERE uuid = $1", &[&uuid], |row| rows::json(row, 0)).await
}

pub(super) async fn items(db: &impl GenericClient, auction: Uuid, page: Page<i64>) -> SqlResult<Vec<Item>> {
    let select = "SELECT state FROM items WHERE auction = $1 AND position > $2 ORDER BY position LIMIT $3";
    let after = page.after.unwrap_or(i64::MIN);
    rows::list(db, select, &[&auction, &after, &rows::limit(page.limit)], |row| rows::json(row, 0)).await
}

pub(super) async fn item_counts(db: &impl GenericClient, auction: Uuid) -> SqlResult<ItemCounts> {
    let select = "SELECT status, has_bids, count(*) FROM items WHERE auction = $1 GROUP BY status, has_bids";
    let groups = rows::list(db, select, &[&auction], |row| {
        Ok((rows::get::<i32>(row, 0)?, rows::get::<bool>(row, 1)?, rows::count(row, 2)?))
    })
    .await?;
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

pub(super) async fn bids(db: &impl GenericClient, item: Uuid, page: Page<i64>) -> SqlResult<Vec<Bid>> {
    let select = "SELECT number, uuid, bidder, amount, source, actor, at_ms, maximum, before, asked, struck, struck_after, \
         struck_reason, struck_actor, struck_at_ms FROM bids \
         WHERE item = $1 AND number > $2 ORDER BY number LIMIT $3";
    let after = page.after.unwrap_or(i64::MIN);
    rows::list(db, select, &[&item, &after, &rows::limit(page.limit)], |row| {
        Ok(Bid {
            number: rows::get(row, 0)?,
            uuid: rows::get(row, 1)?,
            item,
            bidder: rows::get(row, 2)?,
            amount: rows::get(row, 3)?,
            source: codec::source(rows::get(row, 4)?)?,
            actor: rows::get(row, 5)?,
            at: rows::time(row, 6)?,
            maximum: Hidden::new(rows::get(row, 7)?),
            before: rows::get(row, 8)?,
            asked: rows::get(row, 9)?,
            struck: codec::struck((
                rows::get(row, 10)?,
                rows::get(row, 11)?,
                rows::get(row, 12)?,
                rows::get(row, 13)?,
                rows::get(row, 14)?,
            ))?,
        })
    })
    .await
}

/// Due items are mostly of few auctions: each is read once. The auctions are of a moment later than the items; a change
/// decided on them is compared with the item's version when it is committed.
pub(super) async fn due_items(
    db: &impl GenericClient,
    now: Timestamp,
    limit: usize,
) -> SqlResult<Vec<(Item, Arc<Auction>)>> {
    let select = format!(
        "SELECT state FROM items WHERE status = {LIVE} AND effective_end_ms IS NOT NULL AND effective_end_ms <= $1 \
         ORDER BY effective_end_ms LIMIT $2"
    );
    let due = rows::list(db, &select, &[&ms(now), &rows::limit(limit)], |row| rows::json::<Item>(row, 0)).await?;
    let mut wanted: Vec<Uuid> = due.iter().map(|item| item.auction).collect();
    wanted.sort_unstable();
    wanted.dedup();
    let select = "SELECT state FROM auctions WHERE uuid = ANY($1)";
    let auctions = rows::list(db, select, &[&wanted], |row| rows::json::<Auction>(row, 0)).await?;
    let auctions: HashMap<Uuid, Arc<Auction>> =
        auctions.into_iter().map(|auction| (auction.uuid, Arc::new(auction))).collect();
    let with_auction = due.into_iter().map(|item| {
        let found = auctions.get(&item.auction).cloned();
        let auction = found.ok_or_else(|| codec::corrupt(format_args!("item {} has no auction", item.uuid)))?;
        Ok((item, auction))
    });
    with_auction.collect()
}

pub(super) async fn next_end(db: &impl GenericClient) -> SqlResult<Option<Timestamp>> {
    let select = format!(
        "SELECT effective_end_ms FROM items WHERE status = {LIVE} AND effective_end_ms IS NOT NULL \
         ORDER BY effective_end_ms LIMIT 1"
    );
    rows::one(db, &select, &[], |row| rows::time(row, 0)).await
}
