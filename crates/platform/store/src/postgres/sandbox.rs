//! Sandbox auctions, and what ends by their clocks. Their columns are written by statements of their own, so that real sales
//! do not pay for them.

use async_trait::async_trait;
use deadpool_postgres::Transaction;
use jiff::Timestamp;
use platform_core::port::{Sandboxes, StoreResult};
use platform_rules::{Auction, Item, SaleMode};
use uuid::Uuid;

use super::PostgresStore;
use super::rows::{self, SqlResult};
use crate::codec::{LIVE, clock_target_ms, ms, sandbox_end_ms};

#[async_trait]
impl Sandboxes for PostgresStore {
    async fn advancing_sandboxes(&self, limit: usize) -> StoreResult<Vec<Auction>> {
        let select = "SELECT state FROM auctions WHERE clock_target_ms IS NOT NULL ORDER BY uuid LIMIT $1";
        Ok(rows::list(&self.client().await?, select, &[&rows::limit(limit)], |row| rows::json(row, 0)).await?)
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

/// After auctions were written.
pub(super) async fn put_clocks(db: &Transaction<'_>, auctions: impl Iterator<Item = &Auction>) -> SqlResult<()> {
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

/// After items were written.
pub(super) async fn put_ends(db: &Transaction<'_>, items: impl Iterator<Item = &Item>) -> SqlResult<()> {
    let sandboxes = items.filter(|item| item.sale_mode() == SaleMode::Sandbox);
    let (uuids, ends): (Vec<Uuid>, Vec<Option<i64>>) = sandboxes.map(|item| (item.uuid, sandbox_end_ms(item))).unzip();
    if uuids.is_empty() {
        return Ok(());
    }
    let update = "UPDATE items i SET sandbox_end_ms = n.end_ms \
         FROM unnest($1::uuid[], $2::bigint[]) AS n (uuid, end_ms) WHERE i.uuid = n.uuid";
    rows::execute(db, update, &[&uuids, &ends]).await.map(drop)
}
