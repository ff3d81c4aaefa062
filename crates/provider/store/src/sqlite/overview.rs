//! What the figures of the whole installation are made of.

use async_trait::async_trait;
use jiff::Timestamp;
use provider_core::port::supervision::{DueEndpoint, EndpointStates, InstallationStore, TaskCount};
use provider_core::port::{RESEND_DUE, StoreResult};
use rusqlite::Connection;

use super::SqliteStore;
use super::rows::{self, SqlResult, ms};
use crate::task_codec::{kind, task_status};

/// As `EARLIEST_DUE` of the deliveries, past what was asked for by hand.
const DUE: &str = "WITH RECURSIVE waiting (endpoint) AS ( \
         SELECT min(endpoint) FROM deliveries INDEXED BY deliveries_waiting WHERE owner IS NULL \
         UNION ALL \
         SELECT (SELECT min(d.endpoint) FROM deliveries d INDEXED BY deliveries_waiting \
                 WHERE d.owner IS NULL AND d.endpoint > waiting.endpoint) \
         FROM waiting WHERE waiting.endpoint IS NOT NULL \
     ), earliest (endpoint, since) AS ( \
         SELECT endpoint, min((SELECT min(d.next_at) FROM deliveries d INDEXED BY deliveries_waiting \
                               WHERE d.owner IS NULL AND d.endpoint = waiting.endpoint AND d.tried = tries.column1 AND d.next_at > ?1)) \
         FROM waiting CROSS JOIN (VALUES (0), (1)) tries WHERE endpoint IS NOT NULL GROUP BY endpoint \
     ) \
     SELECT e.id, earliest.since FROM earliest JOIN endpoints e ON e.id = earliest.endpoint \
     WHERE earliest.since <= ?2 ORDER BY earliest.since, e.id LIMIT ?3";

#[async_trait]
impl InstallationStore for SqliteStore {
    async fn longest_due_endpoints(&self, now: Timestamp, limit: usize) -> StoreResult<Vec<DueEndpoint>> {
        self.read(move |db| longest_due_endpoints(db, now, limit)).await
    }

    async fn endpoint_states(&self) -> StoreResult<EndpointStates> {
        self.read(endpoint_states).await
    }

    async fn task_counts(&self) -> StoreResult<Vec<TaskCount>> {
        self.read(task_counts).await
    }
}

fn longest_due_endpoints(db: &Connection, now: Timestamp, limit: usize) -> SqlResult<Vec<DueEndpoint>> {
    let mut statement = db.prepare_cached(DUE)?;
    let mut found = statement.query((ms(RESEND_DUE), ms(now), i64::try_from(limit).unwrap_or(i64::MAX)))?;
    let mut due = Vec::new();
    while let Some(row) = found.next()? {
        due.push(DueEndpoint { endpoint: rows::id(row, 0)?, since: rows::time(row, 1)? });
    }
    Ok(due)
}

fn endpoint_states(db: &Connection) -> SqlResult<EndpointStates> {
    let count = |select| -> SqlResult<u64> {
        Ok(rows::one(db, select, (), |row| Ok(row.get::<_, i64>(0)?))?.unwrap_or(0).unsigned_abs())
    };
    Ok(EndpointStates {
        failing: count(
            "SELECT count(*) FROM endpoints INDEXED BY endpoints_failing WHERE failing_since IS NOT NULL AND disabled = 0",
        )?,
        disabled: count("SELECT count(*) FROM endpoints INDEXED BY endpoints_disabled WHERE disabled = 1")?,
    })
}

fn task_counts(db: &Connection) -> SqlResult<Vec<TaskCount>> {
    let mut statement =
        db.prepare_cached("SELECT kind, status, count(*) FROM background_tasks GROUP BY kind, status")?;
    let mut found = statement.query(())?;
    let mut counts = Vec::new();
    while let Some(row) = found.next()? {
        let count = row.get::<_, i64>(2)?.unsigned_abs();
        counts.push(TaskCount { kind: kind(row.get(0)?)?, status: task_status(row.get(1)?)?, count });
    }
    Ok(counts)
}
