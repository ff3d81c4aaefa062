//! What the figures of the whole installation are made of.

use async_trait::async_trait;
use jiff::Timestamp;
use provider_core::port::supervision::{DueEndpoint, EndpointStates, InstallationStore, TaskCount};
use provider_core::port::{RESEND_DUE, StoreResult};
use tokio_postgres::Row;

use super::PostgresStore;
use super::rows::{self, sql_limit};
use crate::task_codec::{kind, task_status};

/// As `EARLIEST_DUE` of the deliveries, past what was asked for by hand.
const DUE: &str = "WITH RECURSIVE waiting (endpoint) AS ( \
         (SELECT endpoint FROM deliveries WHERE owner IS NULL ORDER BY endpoint, next_at, message LIMIT 1) \
         UNION ALL \
         SELECT next.endpoint FROM waiting CROSS JOIN LATERAL ( \
             SELECT d.endpoint FROM deliveries d WHERE d.owner IS NULL AND d.endpoint > waiting.endpoint \
             ORDER BY d.endpoint, d.next_at, d.message LIMIT 1) next \
     ) \
     SELECT e.id, earliest.since FROM waiting JOIN endpoints e ON e.id = waiting.endpoint \
     CROSS JOIN LATERAL (SELECT d.next_at AS since FROM deliveries d \
         WHERE d.owner IS NULL AND d.endpoint = waiting.endpoint AND d.next_at > $1 \
         ORDER BY d.endpoint, d.next_at, d.message LIMIT 1) earliest \
     WHERE earliest.since <= $2 ORDER BY earliest.since, e.id LIMIT $3";

#[async_trait]
impl InstallationStore for PostgresStore {
    async fn longest_due_endpoints(&self, now: Timestamp, limit: usize) -> StoreResult<Vec<DueEndpoint>> {
        let client = self.client().await?;
        let due = |row: &Row| Ok(DueEndpoint { endpoint: rows::id(row, 0)?, since: rows::get(row, 1)? });
        Ok(rows::all(&client, DUE, &[&RESEND_DUE, &now, &sql_limit(limit)], due).await?)
    }

    async fn endpoint_states(&self) -> StoreResult<EndpointStates> {
        let client = self.client().await?;
        let select = "SELECT (SELECT count(*) FROM endpoints WHERE failing_since IS NOT NULL AND NOT disabled), \
             (SELECT count(*) FROM endpoints WHERE disabled)";
        let states = rows::one(&client, select, &[], |row| {
            Ok(EndpointStates {
                failing: rows::get::<i64>(row, 0)?.unsigned_abs(),
                disabled: rows::get::<i64>(row, 1)?.unsigned_abs(),
            })
        });
        Ok(states.await?.unwrap_or_default())
    }

    async fn task_counts(&self) -> StoreResult<Vec<TaskCount>> {
        let client = self.client().await?;
        let select = "SELECT kind, status, count(*) FROM background_tasks GROUP BY kind, status";
        let counts = rows::all(&client, select, &[], |row| {
            Ok(TaskCount {
                kind: kind(rows::get::<i16>(row, 0)?.into())?,
                status: task_status(rows::get::<i16>(row, 1)?.into())?,
                count: rows::get::<i64>(row, 2)?.unsigned_abs(),
            })
        });
        Ok(counts.await?)
    }
}
