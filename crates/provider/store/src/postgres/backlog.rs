//! The backlog of unfinished deliveries, for operators, metrics and the App Portal.

use async_trait::async_trait;
use jiff::Timestamp;
use provider_core::model::{AttemptStatus, Id};
use provider_core::port::{
    BACKLOG_COUNT_MAX, Backlog, BacklogStore, DueEndpoint, EndpointBacklog, RESEND_DUE, StoreResult, WaitingCounts,
};
use tokio_postgres::Row;
use tokio_postgres::types::ToSql;

use super::PostgresStore;
use super::rows::{self, Client, ENDPOINT, SqlResult, sql_limit};

#[async_trait]
impl BacklogStore for PostgresStore {
    async fn backlog(&self, endpoint: &str) -> StoreResult<Backlog> {
        let client = self.client().await?;
        Ok(backlog(&client, endpoint).await?)
    }

    async fn total_backlog(&self) -> StoreResult<Backlog> {
        let client = self.client().await?;
        Ok(total_backlog(&client).await?)
    }

    async fn due_deliveries(&self, now: Timestamp) -> StoreResult<u64> {
        // Skips from endpoint to endpoint in the index.
        let count = "WITH RECURSIVE waiting (endpoint) AS ( \
                 (SELECT endpoint FROM deliveries WHERE owner IS NULL ORDER BY endpoint, next_at, message LIMIT 1) \
                 UNION ALL \
                 SELECT next.endpoint FROM waiting CROSS JOIN LATERAL ( \
                     SELECT d.endpoint FROM deliveries d WHERE d.owner IS NULL AND d.endpoint > waiting.endpoint \
                     ORDER BY d.endpoint, d.next_at, d.message LIMIT 1) next \
             ) \
             SELECT count(*) FROM (SELECT FROM waiting JOIN deliveries d \
                 ON d.owner IS NULL AND d.endpoint = waiting.endpoint AND d.next_at <= $1 LIMIT $2) counted";
        let client = self.client().await?;
        let values: [&(dyn ToSql + Sync); 2] = [&now, &sql_limit(BACKLOG_COUNT_MAX)];
        let counted = rows::one(&client, count, &values, |row| rows::get::<i64>(row, 0)).await?;
        Ok(counted.unwrap_or(0).unsigned_abs())
    }

    async fn endpoint_backlogs(&self, after: Option<&str>, limit: usize) -> StoreResult<Vec<EndpointBacklog>> {
        let client = self.client().await?;
        Ok(endpoint_backlogs(&client, after.unwrap_or_default(), limit).await?)
    }

    async fn waiting_counts(&self, endpoint: &str, now: Timestamp) -> StoreResult<WaitingCounts> {
        let client = self.client().await?;
        let count = "SELECT count(*) FILTER (WHERE owner <> 0), count(*) FILTER (WHERE owner = 0), \
                 count(*) FILTER (WHERE owner IS NULL AND next_at <= $2), \
                 count(*) FILTER (WHERE owner IS NULL AND next_at > $2 AND attempts > 0), \
                 count(*) FILTER (WHERE owner IS NULL AND next_at > $2 AND attempts = 0) \
             FROM deliveries WHERE endpoint = $1";
        let waiting = |row: &Row| {
            let number = |column| -> StoreResult<u64> { Ok(rows::get::<i64>(row, column)?.unsigned_abs()) };
            Ok(WaitingCounts {
                claimed: number(0)?,
                key: number(1)?,
                due: number(2)?,
                retry: number(3)?,
                later: number(4)?,
            })
        };
        let counted = rows::one(&client, count, &[&endpoint, &now], waiting).await?;
        Ok(counted.unwrap_or_default())
    }

    async fn waiting_messages(&self, endpoint: &str, before: &str, limit: usize) -> StoreResult<Vec<Id>> {
        let client = self.client().await?;
        let select = "SELECT message FROM deliveries WHERE endpoint = $1 AND message < $2 \
             AND NOT (ordering_key IS NOT NULL AND owner IS NOT NULL AND owner <> 0) ORDER BY message DESC LIMIT $3";
        Ok(rows::all(&client, select, &[&endpoint, &before, &sql_limit(limit)], |row| rows::id(row, 0)).await?)
    }

    async fn ended_failures(&self, endpoint: &str, first_attempt: &str) -> StoreResult<u64> {
        let client = self.client().await?;
        let select = "SELECT count(DISTINCT a.message) FROM attempts a \
             WHERE a.endpoint = $1 AND a.id >= $2 AND a.status = $3 AND NOT EXISTS \
             (SELECT 1 FROM deliveries d WHERE d.endpoint = a.endpoint AND d.message = a.message)";
        let values: [&(dyn ToSql + Sync); 3] = [&endpoint, &first_attempt, &(AttemptStatus::Fail as i16)];
        let ended = rows::one(&client, select, &values, |row| rows::get::<i64>(row, 0)).await?;
        Ok(u64::try_from(ended.unwrap_or_default()).unwrap_or_default())
    }

    async fn longest_due_endpoints(&self, now: Timestamp, limit: usize) -> StoreResult<Vec<DueEndpoint>> {
        let client = self.client().await?;
        let due = |row: &Row| Ok(DueEndpoint { endpoint: rows::id(row, 0)?, since: rows::get(row, 1)? });
        Ok(rows::all(&client, LONGEST_DUE, &[&RESEND_DUE, &now, &sql_limit(limit)], due).await?)
    }
}

/// The smallest message id is the oldest, because message ids ascend with time.
pub(super) async fn backlog(db: &impl Client, endpoint: &str) -> SqlResult<Backlog> {
    let oldest = "SELECT m.created_at FROM endpoints e \
         CROSS JOIN LATERAL (SELECT message FROM deliveries WHERE endpoint = e.id ORDER BY message LIMIT 1) d \
         JOIN messages m ON m.application = e.application AND m.id = d.message WHERE e.id = $1";
    let count = "SELECT count(*) FROM deliveries WHERE endpoint = (SELECT id FROM endpoints WHERE id = $1)";
    let deliveries = rows::one(db, count, &[&endpoint], |row| rows::get::<i64>(row, 0)).await?;
    Ok(Backlog {
        oldest_at: rows::one(db, oldest, &[&endpoint], |row| rows::get(row, 0)).await?,
        deliveries: deliveries.unwrap_or(0).unsigned_abs(),
    })
}

/// The oldest message is the smallest among the first ids of all endpoints. The query skips from endpoint to endpoint
/// in the index.
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

/// As `EARLIEST_DUE`, without the deliveries that a caller requested manually.
const LONGEST_DUE: &str = "WITH RECURSIVE waiting (endpoint) AS ( \
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

/// Endpoints with rows, up to the requested number. The query skips from endpoint to endpoint in the index.
const ENDPOINTS_WITH_ROWS: &str = "WITH RECURSIVE present (endpoint) AS ( \
         (SELECT endpoint FROM deliveries WHERE endpoint > $1 ORDER BY endpoint LIMIT 1) \
         UNION ALL \
         SELECT next.endpoint FROM present CROSS JOIN LATERAL ( \
             SELECT d.endpoint FROM deliveries d WHERE d.endpoint > present.endpoint ORDER BY d.endpoint LIMIT 1) next \
     )";

async fn endpoint_backlogs(db: &impl Client, after: &str, limit: usize) -> SqlResult<Vec<EndpointBacklog>> {
    let select = format!(
        "{ENDPOINTS_WITH_ROWS} SELECT a.account, counted.deliveries, oldest.created_at, due.next_at, {ENDPOINT} \
         FROM (SELECT e.id FROM present JOIN endpoints e ON e.id = present.endpoint LIMIT $2) found \
         JOIN endpoints e ON e.id = found.id JOIN applications a ON a.id = e.application \
         CROSS JOIN LATERAL (SELECT count(*) AS deliveries FROM deliveries d WHERE d.endpoint = e.id) counted \
         LEFT JOIN LATERAL (SELECT m.created_at FROM \
             (SELECT d.message FROM deliveries d WHERE d.endpoint = e.id ORDER BY d.message LIMIT 1) first \
             JOIN messages m ON m.application = e.application AND m.id = first.message) oldest ON TRUE \
         LEFT JOIN LATERAL (SELECT min(d.next_at) AS next_at FROM deliveries d \
             WHERE d.owner IS NULL AND d.endpoint = e.id) due ON TRUE \
         ORDER BY e.id"
    );
    rows::all(db, &select, &[&after, &sql_limit(limit)], |row| {
        Ok(EndpointBacklog {
            account: rows::id(row, 0)?,
            deliveries: usize::try_from(rows::get::<i64>(row, 1)?).unwrap_or(0),
            oldest_at: rows::get(row, 2)?,
            next_at: rows::get(row, 3)?,
            endpoint: rows::endpoint(row, 4)?,
        })
    })
    .await
}
