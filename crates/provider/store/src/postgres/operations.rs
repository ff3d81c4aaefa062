//! What those who run the provider ask.

use async_trait::async_trait;
use jiff::Timestamp;
use provider_core::port::operations::{BACKLOG_COUNT_MAX, NodeStore};
use provider_core::port::{Backlog, NodeId, StoreResult};

use super::PostgresStore;
use super::rows::{self, Client, SqlResult, sql_limit};

#[async_trait]
impl NodeStore for PostgresStore {
    async fn total_backlog(&self) -> StoreResult<Backlog> {
        let client = self.client().await?;
        Ok(total_backlog(&client).await?)
    }

    async fn release_node(&self, node: &NodeId, now: Timestamp) -> StoreResult<()> {
        self.transaction(&(node, now), |db, &(node, now)| Box::pin(release_node(db, node, now))).await?;
        self.engine.notify().await;
        Ok(())
    }

    async fn live_node_count(&self, alive_since: Timestamp) -> StoreResult<usize> {
        let client = self.client().await?;
        let count = "SELECT count(*) FROM nodes WHERE heartbeat_at >= $1";
        let count = rows::one(&client, count, &[&alive_since], |row| rows::get::<i64>(row, 0)).await?;
        Ok(usize::try_from(count.unwrap_or(0)).unwrap_or(0))
    }
}

/// The oldest is the smallest id among the first of each endpoint, found by skipping from endpoint to endpoint.
async fn total_backlog(db: &impl Client) -> SqlResult<Backlog> {
    let oldest = "WITH RECURSIVE present (endpoint, message) AS ( \
             (SELECT endpoint, message FROM deliveries ORDER BY endpoint, message LIMIT 1) \
             UNION ALL \
             SELECT next.endpoint, next.message FROM present CROSS JOIN LATERAL ( \
                 SELECT d.endpoint, d.message FROM deliveries d WHERE d.endpoint > present.endpoint \
                 ORDER BY d.endpoint, d.message LIMIT 1) next \
         ) \
         SELECT m.created_at FROM present JOIN endpoints e ON e.id = present.endpoint \
         JOIN messages m ON m.application = e.application AND m.id = present.message ORDER BY present.message LIMIT 1";
    let count = "SELECT count(*) FROM (SELECT FROM deliveries LIMIT $1) counted";
    let deliveries = rows::one(db, count, &[&sql_limit(BACKLOG_COUNT_MAX)], |row| rows::get::<i64>(row, 0)).await?;
    Ok(Backlog {
        oldest_at: rows::one(db, oldest, &[], |row| rows::get(row, 0)).await?,
        deliveries: deliveries.unwrap_or(0).unsigned_abs(),
    })
}

async fn release_node(db: &impl Client, node: &NodeId, now: Timestamp) -> SqlResult<()> {
    let end = "WITH ended AS (DELETE FROM nodes WHERE id = $1 RETURNING no) \
         UPDATE deliveries SET owner = NULL, next_at = $2 WHERE owner IN (SELECT no FROM ended)";
    rows::write(db, end, &[&&*node.0, &now]).await.map(drop)
}
