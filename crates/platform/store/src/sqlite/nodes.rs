//! Heartbeats and health of nodes, notifications between nodes, and downtimes.

use async_trait::async_trait;
use jiff::Timestamp;
use kit_runtime::database_figures::DatabaseFigures;
use kit_runtime::signal::Signal;
use platform_core::port::{Downtime, NodeId, NodeStore, Notifications, StoreResult};
use rusqlite::Connection;

use super::SqliteStore;
use super::rows::{self, SqlError, SqlResult};
use crate::codec::ms;

#[async_trait]
impl NodeStore for SqliteStore {
    async fn database_time(&self) -> StoreResult<Option<Timestamp>> {
        Ok(None)
    }

    async fn database_figures(&self) -> StoreResult<DatabaseFigures> {
        Ok(self.database.figures().await.map_err(SqlError::from)?)
    }

    async fn heartbeat(&self, node: NodeId, now: Timestamp, dead_before: Timestamp) -> StoreResult<()> {
        self.write(move |db| heartbeat(db, node, now, dead_before)).await
    }

    fn remote_changes(&self) -> Signal {
        self.database.remote_changes()
    }

    async fn ping(&self) -> StoreResult<()> {
        self.database.check_intact().map_err(SqlError::from)?;
        self.write(|db| rows::execute(db, "UPDATE pings SET count = count + 1", []).map(drop)).await?;
        self.read(|db| rows::one(db, "SELECT count FROM pings", [], |_| Ok(())).map(drop)).await
    }

    async fn broadcast(&self, _: &str) -> StoreResult<()> {
        Ok(())
    }

    fn notifications(&self) -> Option<Notifications> {
        None
    }

    async fn detect_downtime(&self, now: Timestamp, gap_ms_max: i64) -> StoreResult<Option<Downtime>> {
        // The expressions of an UPDATE read the old values.
        let note = "INSERT INTO downtime (no, last_alive_at_ms) VALUES (1, ?1) ON CONFLICT (no) DO UPDATE SET \
             down_since_ms = CASE WHEN ?1 - last_alive_at_ms > ?2 THEN coalesce(down_since_ms, last_alive_at_ms) ELSE down_since_ms END, \
             down_until_ms = CASE WHEN ?1 - last_alive_at_ms > ?2 THEN ?1 ELSE down_until_ms END, \
             last_alive_at_ms = max(last_alive_at_ms, ?1) \
             RETURNING down_since_ms, down_until_ms";
        self.write(move |db| {
            let kept = rows::one(db, note, (ms(now), gap_ms_max), |row| {
                Ok((rows::optional_time(row, 0)?, rows::optional_time(row, 1)?))
            })?;
            Ok(kept.and_then(|(since, until)| Some(Downtime { since: since?, until: until? })))
        })
        .await
    }

    async fn clear_downtime(&self, downtime: Downtime) -> StoreResult<()> {
        let end = "UPDATE downtime SET down_since_ms = NULL, down_until_ms = NULL WHERE down_until_ms = ?1";
        self.write(move |db| rows::execute(db, end, [ms(downtime.until)]).map(drop)).await
    }
}

/// Records a heartbeat and releases the rows of nodes whose last heartbeat is before `dead_before`. After a node died,
/// it reads the whole outbox, because an index by owner would make every event more expensive.
pub(super) fn heartbeat(db: &Connection, node: NodeId, now: Timestamp, dead_before: Timestamp) -> SqlResult<()> {
    let hear = "INSERT INTO nodes (uuid, heartbeat_at_ms) VALUES (?1, ?2) \
         ON CONFLICT (uuid) DO UPDATE SET heartbeat_at_ms = excluded.heartbeat_at_ms";
    rows::execute(db, hear, (node.0.as_bytes(), ms(now)))?;
    let dead = "SELECT no FROM nodes WHERE heartbeat_at_ms < ?1";
    if rows::one(db, dead, [ms(dead_before)], |_| Ok(()))?.is_some() {
        let give_back = format!("UPDATE outbox SET owner = NULL WHERE owner IN ({dead})");
        rows::execute(db, &give_back, [ms(dead_before)])?;
        rows::execute(db, "DELETE FROM nodes WHERE heartbeat_at_ms < ?1", [ms(dead_before)])?;
    }
    Ok(())
}

/// The number of a node in outbox rows, read in the transaction that uses it. A node that was declared dead gets a new
/// number, so that each assigned row has an owner whose heartbeat the other nodes check. A node without a heartbeat
/// counts as dead.
pub(super) fn node_number(db: &Connection, node: NodeId) -> SqlResult<i64> {
    let found = rows::one(db, "SELECT no FROM nodes WHERE uuid = ?1", [node.0.as_bytes()], |row| Ok(row.get(0)?))?;
    match found {
        Some(no) => Ok(no),
        None => {
            let insert = "INSERT INTO nodes (uuid, heartbeat_at_ms) VALUES (?1, ?2)";
            rows::execute(db, insert, (node.0.as_bytes(), i64::MIN))?;
            Ok(db.last_insert_rowid())
        }
    }
}
