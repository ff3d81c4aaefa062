//! Heartbeats of nodes, and releasing the delivery rows of dead nodes.

use async_trait::async_trait;
use jiff::Timestamp;
use kit_runtime::database_figures::DatabaseFigures;
use kit_runtime::signal::Signal;
use provider_core::port::{NodeId, NodeStore, StoreResult};
use rusqlite::Connection;

use super::SqliteStore;
use super::rows::{self, SqlError, SqlResult, ms};

#[async_trait]
impl NodeStore for SqliteStore {
    async fn database_time(&self) -> StoreResult<Option<Timestamp>> {
        Ok(None)
    }

    async fn database_figures(&self) -> StoreResult<DatabaseFigures> {
        Ok(self.database.figures().await.map_err(SqlError::from)?)
    }

    async fn heartbeat(&self, node: &NodeId, now: Timestamp, dead_before: Timestamp) -> StoreResult<()> {
        let node = node.clone();
        self.write(move |db| heartbeat(db, &node, now, dead_before)).await
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

    async fn set_node_address(&self, node: &NodeId, address: &str) -> StoreResult<()> {
        let (node, address) = (node.clone(), address.to_owned());
        let update = "UPDATE nodes SET address = ?2 WHERE id = ?1 AND address IS NOT ?2";
        self.write(move |db| Ok(db.prepare_cached(update)?.execute((&*node.0, &address)).map(drop)?)).await
    }

    async fn node_addresses(&self, alive_since: Timestamp, limit: usize) -> StoreResult<Vec<String>> {
        let select = "SELECT address FROM nodes WHERE heartbeat_at >= ?1 AND address IS NOT NULL \
             ORDER BY heartbeat_at DESC, no LIMIT ?2";
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        self.read(move |db| {
            let mut select = db.prepare_cached(select)?;
            let rows = select.query_map((ms(alive_since), limit), |row| row.get(0))?;
            Ok(rows.collect::<Result<Vec<String>, _>>()?)
        })
        .await
    }

    fn remote_changes(&self) -> Signal {
        self.database.remote_changes()
    }

    async fn ping(&self) -> StoreResult<()> {
        self.database.check_intact().map_err(SqlError::from)?;
        self.write(|db| Ok(db.execute("UPDATE pings SET count = count + 1", ()).map(|_| ())?)).await?;
        self.read(|db| Ok(db.query_row("SELECT count FROM pings", (), |row| row.get::<_, i64>(0)).map(|_| ())?)).await
    }
}

/// The number of a node in delivery rows, read in the transaction that uses it. A node that was declared dead gets a
/// new number, so that each assigned row has an owner whose heartbeat the other nodes check.
pub(super) fn node_number(db: &Connection, node: &NodeId, now: Timestamp) -> SqlResult<i64> {
    let found = rows::one(db, "SELECT no FROM nodes WHERE id = ?1", [&*node.0], |row| Ok(row.get(0)?))?;
    match found {
        Some(no) => Ok(no),
        None => {
            db.execute("INSERT INTO nodes (id, heartbeat_at) VALUES (?1, ?2)", (&*node.0, ms(now)))?;
            Ok(db.last_insert_rowid())
        }
    }
}

/// Records a heartbeat of `node` and releases the rows of nodes whose last heartbeat is before `dead_before`. After a
/// node died, the call reads all unfinished deliveries, because an index by owner would make every delivery more
/// expensive.
pub(super) fn heartbeat(db: &Connection, node: &NodeId, now: Timestamp, dead_before: Timestamp) -> SqlResult<()> {
    let hear = "INSERT INTO nodes (id, heartbeat_at) VALUES (?1, ?2) \
         ON CONFLICT (id) DO UPDATE SET heartbeat_at = excluded.heartbeat_at";
    db.prepare_cached(hear)?.execute((&*node.0, ms(now)))?;
    let dead = db.prepare_cached("SELECT 1 FROM nodes WHERE heartbeat_at < ?1")?.exists([ms(dead_before)])?;
    if dead {
        let give_back = "UPDATE deliveries SET owner = NULL, next_at = ?2 \
             WHERE owner IN (SELECT no FROM nodes WHERE heartbeat_at < ?1)";
        db.execute(give_back, (ms(dead_before), ms(now)))?;
        db.execute("DELETE FROM nodes WHERE heartbeat_at < ?1", [ms(dead_before)])?;
    }
    Ok(())
}

fn release_node(db: &Connection, node: &NodeId, now: Timestamp) -> SqlResult<()> {
    let give_back =
        "UPDATE deliveries SET owner = NULL, next_at = ?2 WHERE owner = (SELECT no FROM nodes WHERE id = ?1)";
    db.execute(give_back, (&*node.0, ms(now)))?;
    db.execute("DELETE FROM nodes WHERE id = ?1", [&*node.0])?;
    Ok(())
}
