//! Heartbeats of nodes, and releasing the delivery rows of dead nodes.

use async_trait::async_trait;
use jiff::Timestamp;
use kit_runtime::database_figures::DatabaseFigures;
use kit_runtime::signal::Signal;
use provider_core::port::{NodeId, NodeStore, StoreError, StoreResult};

use super::PostgresStore;
use super::rows::{self, Client, SqlError, SqlResult};

#[async_trait]
impl NodeStore for PostgresStore {
    async fn database_time(&self) -> StoreResult<Option<Timestamp>> {
        let select = "SELECT date_trunc('milliseconds', clock_timestamp())";
        Ok(rows::one(&self.client().await?, select, &[], |row| rows::get(row, 0)).await?)
    }

    async fn database_figures(&self) -> StoreResult<DatabaseFigures> {
        Ok(self.engine.figures().await.map_err(SqlError::from)?)
    }

    async fn heartbeat(&self, node: &NodeId, now: Timestamp, dead_before: Timestamp) -> StoreResult<()> {
        self.engine.require_compatible().await.map_err(SqlError::from)?;
        if self
            .transaction(&(node, now, dead_before), |db, &(node, now, dead_before)| {
                Box::pin(heartbeat(db, node, now, dead_before))
            })
            .await?
        {
            self.engine.notify().await;
        }
        Ok(())
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

    async fn set_node_address(&self, node: &NodeId, address: &str) -> StoreResult<()> {
        let update = "UPDATE nodes SET address = $2 WHERE id = $1 AND address IS DISTINCT FROM $2";
        Ok(rows::write(&self.client().await?, update, &[&&*node.0, &address]).await.map(drop)?)
    }

    async fn node_addresses(&self, alive_since: Timestamp, limit: usize) -> StoreResult<Vec<String>> {
        let select = "SELECT address FROM nodes WHERE heartbeat_at >= $1 AND address IS NOT NULL \
             ORDER BY heartbeat_at DESC, no LIMIT $2";
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        Ok(rows::all(&self.client().await?, select, &[&alive_since, &limit], |row| rows::get(row, 0)).await?)
    }

    fn remote_changes(&self) -> Signal {
        self.engine.remote_changes()
    }

    async fn ping(&self) -> StoreResult<()> {
        self.engine.require_compatible().await.map_err(SqlError::from)?;
        let client = self.client().await?;
        let written = rows::write(&client, "UPDATE pings SET count = count + 1", &[]).await;
        drop(client);
        if let Err(SqlError::Statement(error)) = &written {
            self.engine.on_write_error(error);
        }
        let written = written?;
        if written == 1 { Ok(()) } else { Err(StoreError::Corrupt("the row of pings is missing".to_owned())) }
    }
}

/// The number of a node in delivery rows. Its row stays locked until the transaction ends: a transaction that declares
/// the node dead waits and then releases the new delivery rows, too. A node that was declared dead gets a new number,
/// so that each assigned row has an owner whose heartbeat the other nodes check.
pub(super) async fn node_number(db: &impl Client, node: &NodeId, now: Timestamp) -> SqlResult<i64> {
    let select = "SELECT no FROM nodes WHERE id = $1 FOR KEY SHARE";
    let insert = "INSERT INTO nodes (id, heartbeat_at) VALUES ($1, $2) ON CONFLICT (id) DO UPDATE SET id = excluded.id RETURNING no";
    let id = &*node.0;
    if let Some(no) = rows::one(db, select, &[&id], |row| rows::get(row, 0)).await? {
        return Ok(no);
    }
    let numbers = rows::all(db, insert, &[&id, &now], |row| rows::get(row, 0)).await?;
    numbers.first().copied().ok_or_else(|| crate::codec::corrupt("a node without a number").into())
}

/// Records a heartbeat of `node` and releases the rows of nodes whose last heartbeat is before `dead_before`. True when
/// such a node existed. After a node died, the call reads all unfinished deliveries, because an index by owner would
/// make every delivery more expensive.
pub(super) async fn heartbeat(
    db: &impl Client,
    node: &NodeId,
    now: Timestamp,
    dead_before: Timestamp,
) -> SqlResult<bool> {
    let hear = "INSERT INTO nodes (id, heartbeat_at) VALUES ($1, $2) \
         ON CONFLICT (id) DO UPDATE SET heartbeat_at = excluded.heartbeat_at";
    rows::write(db, hear, &[&&*node.0, &now]).await?;
    // SKIP LOCKED: if another node is deleting a row here, that node also releases its delivery rows.
    let remove_dead_nodes = "DELETE FROM nodes WHERE no IN (SELECT no FROM nodes WHERE heartbeat_at < $1 ORDER BY no FOR UPDATE) RETURNING no";
    let dead: Vec<i64> = rows::all(db, remove_dead_nodes, &[&dead_before], |row| rows::get(row, 0)).await?;
    if dead.is_empty() {
        return Ok(false);
    }
    let give_back = "UPDATE deliveries SET owner = NULL, next_at = $2 WHERE owner = ANY ($1)";
    rows::write(db, give_back, &[&dead, &now]).await?;
    Ok(true)
}

async fn release_node(db: &impl Client, node: &NodeId, now: Timestamp) -> SqlResult<()> {
    let end = "WITH ended AS (DELETE FROM nodes WHERE id = $1 RETURNING no) \
         UPDATE deliveries SET owner = NULL, next_at = $2 WHERE owner IN (SELECT no FROM ended)";
    rows::write(db, end, &[&&*node.0, &now]).await.map(drop)
}
