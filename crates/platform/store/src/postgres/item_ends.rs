//! Items whose end is due by the clock, in real sales and in sandboxes.

use std::collections::HashMap;
use std::sync::Arc;

use async_trait::async_trait;
use jiff::Timestamp;
use kit_engine::postgres::{Connection, Transaction};
use platform_core::port::{ItemEndStore, LotsEndingBy, StoreResult};
use platform_rules::{Auction, Item, SaleMode};
use uuid::Uuid;

use super::PostgresStore;
use super::rows::{self, SqlResult};
use crate::codec::{self, DRAFT, LIVE, PREVIEW, clock_target_ms, ms, ms_rounded_up, sandbox_end_ms};

#[async_trait]
impl ItemEndStore for PostgresStore {
    async fn due_items(&self, now: Timestamp, limit: usize) -> StoreResult<Vec<(Item, Arc<Auction>)>> {
        Ok(due_items(&self.client().await?, now, limit).await?)
    }

    async fn next_end(&self) -> StoreResult<Option<Timestamp>> {
        Ok(next_end(&self.client().await?).await?)
    }

    async fn advancing_sandboxes(&self, limit: usize) -> StoreResult<Vec<Auction>> {
        let select = "SELECT state FROM auctions WHERE clock_target_ms IS NOT NULL ORDER BY uuid LIMIT $1";
        Ok(rows::list(&self.client().await?, select, &[&rows::limit(limit)], |row| rows::json(row, 0)).await?)
    }

    async fn lots_ending_by(&self, auction: Uuid, by: Timestamp, limit: usize) -> StoreResult<LotsEndingBy> {
        // The end of an item is in one of the two columns.
        let lots = format!(
            "FROM items WHERE auction = $1 AND status IN ({DRAFT}, {PREVIEW}) \
             AND coalesce(effective_end_ms, sandbox_end_ms) <= $2"
        );
        let client = self.client().await?;
        let by_ms = ms_rounded_up(by);
        let count: Option<i64> =
            rows::one(&client, &format!("SELECT count(*) {lots}"), &[&auction, &by_ms], |row| rows::get(row, 0))
                .await?;
        let count = count.unwrap_or_default().unsigned_abs();
        if count == 0 {
            return Ok(LotsEndingBy::default());
        }
        let select = format!("SELECT lot_number {lots} ORDER BY position LIMIT $3");
        let values: rows::Values<'_> = &[&auction, &by_ms, &rows::limit(limit)];
        let first = rows::list(&client, &select, values, |row| rows::get(row, 0)).await?;
        Ok(LotsEndingBy { count, first })
    }

    async fn due_sandbox_items(&self, auction: Uuid, by: Timestamp, limit: usize) -> StoreResult<Vec<Item>> {
        let select = format!(
            "SELECT state FROM items \
             WHERE auction = $1 AND status = {LIVE} AND sandbox_end_ms IS NOT NULL AND sandbox_end_ms <= $2 \
             ORDER BY sandbox_end_ms, position LIMIT $3"
        );
        let values: rows::Values<'_> = &[&auction, &ms(by), &rows::limit(limit)];
        Ok(rows::list(&self.client().await?, &select, values, |row| rows::json(row, 0)).await?)
    }
}

/// Reads each auction once, because most due items belong to few auctions. The auctions may be newer than the items:
/// the commit of a change compares the version of the item.
pub(super) async fn due_items(
    db: &impl Connection,
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

pub(super) async fn next_end(db: &impl Connection) -> SqlResult<Option<Timestamp>> {
    let select = format!(
        "SELECT effective_end_ms FROM items WHERE status = {LIVE} AND effective_end_ms IS NOT NULL \
         ORDER BY effective_end_ms LIMIT 1"
    );
    rows::one(db, &select, &[], |row| rows::time(row, 0)).await
}

/// Sets the columns of sandbox auctions. Called after the auctions were written.
pub(super) async fn put_sandbox_clocks(
    db: &Transaction<'_>,
    auctions: impl Iterator<Item = &Auction>,
) -> SqlResult<()> {
    let sandboxes = auctions.filter(|auction| auction.sale_mode() == SaleMode::Sandbox);
    let (uuids, targets): (Vec<Uuid>, Vec<Option<i64>>) =
        sandboxes.map(|auction| (auction.uuid, clock_target_ms(auction))).unzip();
    if uuids.is_empty() {
        return Ok(());
    }
    let update = "UPDATE auctions a SET sandbox = true, clock_target_ms = n.target \
         FROM unnest($1::uuid[], $2::bigint[]) AS n (uuid, target) WHERE a.uuid = n.uuid";
    rows::execute(db, update, &[&uuids, &targets]).await.map(drop)
}

/// Sets the column `sandbox_end_ms`. Called after the items were written.
pub(super) async fn put_sandbox_ends(db: &Transaction<'_>, items: impl Iterator<Item = &Item>) -> SqlResult<()> {
    let sandboxes = items.filter(|item| item.sale_mode() == SaleMode::Sandbox);
    let (uuids, ends): (Vec<Uuid>, Vec<Option<i64>>) = sandboxes.map(|item| (item.uuid, sandbox_end_ms(item))).unzip();
    if uuids.is_empty() {
        return Ok(());
    }
    let update = "UPDATE items i SET sandbox_end_ms = n.end_ms \
         FROM unnest($1::uuid[], $2::bigint[]) AS n (uuid, end_ms) WHERE i.uuid = n.uuid";
    rows::execute(db, update, &[&uuids, &ends]).await.map(drop)
}
