//! What those who run the provider ask.

use async_trait::async_trait;
use jiff::Timestamp;
use provider_core::port::operations::{BACKLOG_COUNT_MAX, NodeStore};
use provider_core::port::{Backlog, NodeId, StoreResult};
use rusqlite::Connection;

use super::SqliteStore;
use super::rows::{self, SqlResult, ms};

#[async_trait]
impl NodeStore for SqliteStore {
    async fn total_backlog(&self) -> StoreResult<Backlog> {
        self.read(total_backlog).await
    }

    async fn release_node(&self, node: &NodeId, now: Timestamp) -> StoreResult<()> {
        let node = node.clone();
        self.write(move |db| release_node(db, &node, now)).await
    }

    async fn live_node_count(&self, alive_since: Timestamp) -> StoreResult<usize> {
        let count = "SELECT count(*) FROM nodes WHERE heartbeat_at >= ?1";
        let count =
            self.read(move |db| rows::one(db, count, [ms(alive_since)], |row| Ok(row.get::<_, i64>(0)?))).await?;
        Ok(usize::try_from(count.unwrap_or(0)).unwrap_or(0))
    }
}

/// The oldest is the smallest id among the first of each endpoint, found by skipping from endpoint to endpoint.
fn total_backlog(db: &Connection) -> SqlResult<Backlog> {
    let oldest = "WITH RECURSIVE present (endpoint) AS ( \
             SELECT min(endpoint) FROM deliveries \
             UNION ALL \
             SELECT (SELECT min(d.endpoint) FROM deliveries d WHERE d.endpoint > present.endpoint) \
             FROM present WHERE present.endpoint IS NOT NULL \
         ), first (endpoint, message) AS ( \
             SELECT endpoint, (SELECT min(f.message) FROM deliveries f WHERE f.endpoint = present.endpoint) \
             FROM present WHERE endpoint IS NOT NULL \
         ) \
         SELECT m.created_at FROM first JOIN endpoints e ON e.id = first.endpoint \
         JOIN messages m ON m.application = e.application AND m.id = first.message ORDER BY first.message LIMIT 1";
    let count = "SELECT count(*) FROM (SELECT 1 FROM deliveries LIMIT ?1)";
    Ok(Backlog {
        oldest_at: rows::one(db, oldest, (), |row| rows::time(row, 0))?,
        deliveries: rows::one(db, count, [BACKLOG_COUNT_MAX as i64], |row| Ok(row.get::<_, i64>(0)?))?
            .unwrap_or(0)
            .unsigned_abs(),
    })
}

fn release_node(db: &Connection, node: &NodeId, now: Timestamp) -> SqlResult<()> {
    let give_back =
        "UPDATE deliveries SET owner = NULL, next_at = ?2 WHERE owner = (SELECT no FROM nodes WHERE id = ?1)";
    db.execute(give_back, (&*node.0, ms(now)))?;
    db.execute("DELETE FROM nodes WHERE id = ?1", [&*node.0])?;
    Ok(())
}
