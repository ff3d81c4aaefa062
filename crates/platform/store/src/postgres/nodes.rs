//! Heartbeats and health of nodes, notifications between nodes, and downtimes.

use async_trait::async_trait;
use jiff::Timestamp;
use kit_engine::postgres::{Connection, Transaction};
use kit_runtime::database_figures::DatabaseFigures;
use kit_runtime::signal::Signal;
use platform_core::port::{Downtime, NodeId, NodeStore, Notifications, StoreResult};
use uuid::Uuid;

use super::rows::{self, SqlError, SqlResult};
use super::{PostgresStore, locks};
use crate::codec::ms;

#[async_trait]
impl NodeStore for PostgresStore {
    async fn database_time(&self) -> StoreResult<Option<Timestamp>> {
        let select = "SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint";
        Ok(rows::one(&self.client().await?, select, &[], |row| rows::time(row, 0)).await?)
    }

    async fn database_figures(&self) -> StoreResult<DatabaseFigures> {
        Ok(self.postgres.figures().await.map_err(SqlError::from)?)
    }

    async fn heartbeat(&self, node: NodeId, now: Timestamp, dead_before: Timestamp) -> StoreResult<()> {
        self.postgres.require_compatible().await.map_err(SqlError::from)?;
        let client = self.client().await?;
        record_heartbeat(&client, node, now).await?;
        let has_dead_nodes = has_dead_nodes(&client, dead_before).await?;
        drop(client);
        if has_dead_nodes {
            self.write(&dead_before, |db, dead_before| Box::pin(remove_dead_nodes(db, *dead_before))).await?;
        }
        Ok(())
    }

    fn remote_changes(&self) -> Signal {
        self.postgres.remote_changes()
    }

    async fn ping(&self) -> StoreResult<()> {
        self.postgres.require_compatible().await.map_err(SqlError::from)?;
        let ping = "UPDATE pings SET count = count + 1 RETURNING count";
        let pinged = rows::one(&self.client().await?, ping, &[], |_| Ok(())).await;
        if let Err(SqlError::Statement(error)) = &pinged {
            self.postgres.on_write_error(error);
        }
        Ok(pinged.map(drop)?)
    }

    async fn broadcast(&self, notice: &str) -> StoreResult<()> {
        Ok(self.postgres.broadcast(notice).await.map_err(SqlError::from)?)
    }

    fn notifications(&self) -> Option<Notifications> {
        Some(Notifications::new(self.postgres.notifications()))
    }

    async fn detect_downtime(&self, now: Timestamp, gap_ms_max: i64) -> StoreResult<Option<Downtime>> {
        // The expressions of an UPDATE read the old values.
        let note = "INSERT INTO downtime AS r (no, last_alive_at_ms) VALUES (1, $1) ON CONFLICT (no) DO UPDATE SET \
             down_since_ms = CASE WHEN $1 - r.last_alive_at_ms > $2 THEN coalesce(r.down_since_ms, r.last_alive_at_ms) \
             ELSE r.down_since_ms END, \
             down_until_ms = CASE WHEN $1 - r.last_alive_at_ms > $2 THEN $1 ELSE r.down_until_ms END, \
             last_alive_at_ms = greatest(r.last_alive_at_ms, $1) \
             RETURNING down_since_ms, down_until_ms";
        let kept = rows::one(&self.client().await?, note, &[&ms(now), &gap_ms_max], |row| {
            Ok((rows::optional_time(row, 0)?, rows::optional_time(row, 1)?))
        })
        .await?;
        Ok(kept.and_then(|(since, until)| Some(Downtime { since: since?, until: until? })))
    }

    async fn clear_downtime(&self, downtime: Downtime) -> StoreResult<()> {
        let end = "UPDATE downtime SET down_since_ms = NULL, down_until_ms = NULL WHERE down_until_ms = $1";
        Ok(rows::execute(&self.client().await?, end, &[&ms(downtime.until)]).await.map(drop)?)
    }
}

pub(super) async fn record_heartbeat(db: &impl Connection, node: NodeId, now: Timestamp) -> SqlResult<()> {
    let hear = "INSERT INTO nodes (uuid, heartbeat_at_ms) VALUES ($1, $2) \
         ON CONFLICT (uuid) DO UPDATE SET heartbeat_at_ms = excluded.heartbeat_at_ms";
    rows::execute(db, hear, &[&node.0, &ms(now)]).await.map(drop)
}

pub(super) async fn has_dead_nodes(db: &impl Connection, dead_before: Timestamp) -> SqlResult<bool> {
    let select = "SELECT 1 FROM nodes WHERE heartbeat_at_ms < $1 LIMIT 1";
    Ok(rows::one(db, select, &[&ms(dead_before)], |_| Ok(())).await?.is_some())
}

/// Releases the rows of nodes whose last heartbeat is before `dead_before`. After a node died, it reads the whole
/// outbox, because an index by owner would make every event more expensive.
pub(super) async fn remove_dead_nodes(db: &Transaction<'_>, dead_before: Timestamp) -> SqlResult<()> {
    locks::nodes_exclusive(db).await?;
    let delete = "DELETE FROM nodes WHERE heartbeat_at_ms < $1 RETURNING uuid";
    let dead: Vec<Uuid> = rows::list(db, delete, &[&ms(dead_before)], |row| rows::get(row, 0)).await?;
    rows::execute(db, "UPDATE outbox SET owner = NULL WHERE owner = ANY($1)", &[&dead]).await.map(drop)
}

/// Inserts `node` into the table `nodes` if it is missing, before this transaction assigns rows to it. A node without a
/// heartbeat, or a node that was declared dead, counts as dead until its next heartbeat, so that its rows are released.
pub(super) async fn register_node(db: &impl Connection, node: NodeId) -> SqlResult<()> {
    locks::nodes_shared(db).await?;
    let insert = "INSERT INTO nodes (uuid, heartbeat_at_ms) VALUES ($1, $2) ON CONFLICT (uuid) DO NOTHING";
    rows::execute(db, insert, &[&node.0, &i64::MIN]).await.map(drop)
}
