//! Nodes: heartbeats, and returning the delivery rows of nodes that died.

use async_trait::async_trait;
use jiff::Timestamp;
use kit_runtime::signal::Signal;
use provider_core::port::{NodeId, NodeStore, StoreResult};
use rusqlite::Connection;

use super::SqliteStore;
use super::rows::{self, SqlError, SqlResult, ms};

#[async_trait]
impl NodeStore for SqliteStore {
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

    fn remote_changes(&self) -> Signal {
        self.database.remote_changes()
    }

    async fn ping(&self) -> StoreResult<()> {
        self.database.check_intact().map_err(SqlError::from)?;
        self.write(|db| Ok(db.execute("UPDATE pings SET count = count + 1", ()).map(|_| ())?)).await?;
        self.read(|db| Ok(db.query_row("SELECT count FROM pings", (), |row| row.get::<_, i64>(0)).map(|_| ())?)).await
    }
}

/// The number that stands for a node in delivery rows. It is looked up in the transaction that uses it: a node that was
/// declared dead meanwhile gets a new one, so that each row's owner has a heartbeat that the other nodes check.
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

/// Says that `node` lives, and gives back what nodes had that were last heard of before `dead_before`. There is no index by
/// owner, which every delivery would pay for: the unfinished work is gone through once for nodes that died.
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
