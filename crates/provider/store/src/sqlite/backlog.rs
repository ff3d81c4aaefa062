//! The backlog of unfinished deliveries, for operators, metrics and the App Portal.

use async_trait::async_trait;
use jiff::Timestamp;
use provider_core::model::{AttemptStatus, Id};
use provider_core::port::{
    BACKLOG_COUNT_MAX, Backlog, BacklogStore, DueEndpoint, EndpointBacklog, RESEND_DUE, StoreResult, WaitingCounts,
};
use rusqlite::Connection;

use super::rows::{self, SqlResult, ms, sql_limit};
use super::{SqliteStore, endpoints};

#[async_trait]
impl BacklogStore for SqliteStore {
    async fn backlog(&self, endpoint: &str) -> StoreResult<Backlog> {
        let endpoint = endpoint.to_owned();
        self.read(move |db| backlog(db, &endpoint)).await
    }

    async fn total_backlog(&self) -> StoreResult<Backlog> {
        self.read(total_backlog).await
    }

    async fn due_deliveries(&self, now: Timestamp) -> StoreResult<u64> {
        self.read(move |db| due_deliveries(db, now)).await
    }

    async fn endpoint_backlogs(&self, after: Option<&str>, limit: usize) -> StoreResult<Vec<EndpointBacklog>> {
        let after = after.unwrap_or_default().to_owned();
        self.read(move |db| {
            let mut found = Vec::new();
            for endpoint in endpoints_with_rows(db, &after, limit)? {
                found.extend(endpoint_backlogs(db, &endpoint)?);
            }
            Ok(found)
        })
        .await
    }

    async fn waiting_counts(&self, endpoint: &str, now: Timestamp) -> StoreResult<WaitingCounts> {
        let endpoint = endpoint.to_owned();
        self.read(move |db| waiting_counts(db, &endpoint, now)).await
    }

    async fn waiting_messages(&self, endpoint: &str, before: &str, limit: usize) -> StoreResult<Vec<Id>> {
        let endpoint = endpoint.to_owned();
        let before = before.to_owned();
        self.read(move |db| waiting_messages(db, &endpoint, &before, limit)).await
    }

    async fn ended_failures(&self, endpoint: &str, first_attempt: &str) -> StoreResult<u64> {
        let (endpoint, first_attempt) = (endpoint.to_owned(), first_attempt.to_owned());
        self.read(move |db| {
            let select = "SELECT count(DISTINCT a.message) FROM attempts a \
                 WHERE a.endpoint = ?1 AND a.id >= ?2 AND a.status = ?3 AND NOT EXISTS \
                 (SELECT 1 FROM deliveries d WHERE d.endpoint = a.endpoint AND d.message = a.message)";
            let values = (&endpoint, &first_attempt, AttemptStatus::Fail as i64);
            Ok(rows::one(db, select, values, |row| rows::count(row, 0))?.unwrap_or_default() as u64)
        })
        .await
    }

    async fn longest_due_endpoints(&self, now: Timestamp, limit: usize) -> StoreResult<Vec<DueEndpoint>> {
        self.read(move |db| longest_due_endpoints(db, now, limit)).await
    }
}

pub(super) fn earliest_due(db: &Connection, endpoint: &str) -> SqlResult<Option<Timestamp>> {
    let select = "SELECT min((SELECT min(d.next_at) FROM deliveries d INDEXED BY deliveries_waiting \
         WHERE d.owner IS NULL AND d.endpoint = ?1 AND d.has_attempts = kinds.column1)) FROM (VALUES (0), (1)) kinds";
    Ok(rows::one(db, select, [endpoint], |row| rows::optional_time(row, 0))?.flatten())
}

/// The smallest message id is the oldest, because message ids ascend with time.
pub(super) fn oldest_at(db: &Connection, endpoint: &str) -> SqlResult<Option<Timestamp>> {
    let oldest = "SELECT m.created_at FROM endpoints e JOIN deliveries d ON d.endpoint = e.id \
         JOIN messages m ON m.application = e.application AND m.id = d.message \
         WHERE e.id = ?1 ORDER BY d.message LIMIT 1";
    rows::one(db, oldest, [endpoint], |row| rows::time(row, 0))
}

pub(super) fn backlog(db: &Connection, endpoint: &str) -> SqlResult<Backlog> {
    let count = "SELECT count(*) FROM deliveries WHERE endpoint = (SELECT id FROM endpoints WHERE id = ?1)";
    Ok(Backlog {
        oldest_at: oldest_at(db, endpoint)?,
        deliveries: rows::one(db, count, [endpoint], |row| Ok(row.get::<_, i64>(0)?))?.unwrap_or(0).unsigned_abs(),
    })
}

/// The oldest message is the smallest among the first ids of all endpoints. The query skips from endpoint to endpoint
/// in the index.
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

/// Skips from endpoint to endpoint in the index.
fn due_deliveries(db: &Connection, now: Timestamp) -> SqlResult<u64> {
    let count = "WITH RECURSIVE waiting (endpoint) AS ( \
             SELECT min(endpoint) FROM deliveries INDEXED BY deliveries_waiting WHERE owner IS NULL \
             UNION ALL \
             SELECT (SELECT min(d.endpoint) FROM deliveries d INDEXED BY deliveries_waiting \
                     WHERE d.owner IS NULL AND d.endpoint > waiting.endpoint) \
             FROM waiting WHERE waiting.endpoint IS NOT NULL \
         ) \
         SELECT count(*) FROM (SELECT 1 FROM waiting CROSS JOIN (VALUES (0), (1)) kinds \
             CROSS JOIN deliveries d INDEXED BY deliveries_waiting ON d.owner IS NULL AND d.endpoint = waiting.endpoint \
                 AND d.has_attempts = kinds.column1 AND d.next_at <= ?1 LIMIT ?2)";
    Ok(rows::one(db, count, (ms(now), sql_limit(BACKLOG_COUNT_MAX)), |row| rows::count(row, 0))?.unwrap_or(0) as u64)
}

/// As `EARLIEST_DUE`, without the deliveries that a caller requested manually.
const LONGEST_DUE: &str = "WITH RECURSIVE waiting (endpoint) AS ( \
         SELECT min(endpoint) FROM deliveries INDEXED BY deliveries_waiting WHERE owner IS NULL \
         UNION ALL \
         SELECT (SELECT min(d.endpoint) FROM deliveries d INDEXED BY deliveries_waiting \
                 WHERE d.owner IS NULL AND d.endpoint > waiting.endpoint) \
         FROM waiting WHERE waiting.endpoint IS NOT NULL \
     ), earliest (endpoint, since) AS ( \
         SELECT endpoint, min((SELECT min(d.next_at) FROM deliveries d INDEXED BY deliveries_waiting \
                               WHERE d.owner IS NULL AND d.endpoint = waiting.endpoint AND d.has_attempts = kinds.column1 AND d.next_at > ?1)) \
         FROM waiting CROSS JOIN (VALUES (0), (1)) kinds WHERE endpoint IS NOT NULL GROUP BY endpoint \
     ) \
     SELECT e.id, earliest.since FROM earliest JOIN endpoints e ON e.id = earliest.endpoint \
     WHERE earliest.since <= ?2 ORDER BY earliest.since, e.id LIMIT ?3";

fn longest_due_endpoints(db: &Connection, now: Timestamp, limit: usize) -> SqlResult<Vec<DueEndpoint>> {
    let mut statement = db.prepare_cached(LONGEST_DUE)?;
    let mut found = statement.query((ms(RESEND_DUE), ms(now), i64::try_from(limit).unwrap_or(i64::MAX)))?;
    let mut due = Vec::new();
    while let Some(row) = found.next()? {
        due.push(DueEndpoint { endpoint: rows::id(row, 0)?, since: rows::time(row, 1)? });
    }
    Ok(due)
}

/// Endpoints with rows, up to the requested number. The query skips from endpoint to endpoint in the index.
const ENDPOINTS_WITH_ROWS: &str = "WITH RECURSIVE present (endpoint) AS ( \
         SELECT min(endpoint) FROM deliveries WHERE endpoint > ?1 \
         UNION ALL \
         SELECT (SELECT min(d.endpoint) FROM deliveries d WHERE d.endpoint > present.endpoint) \
         FROM present WHERE present.endpoint IS NOT NULL \
     ) \
     SELECT e.id FROM present JOIN endpoints e ON e.id = present.endpoint LIMIT ?2";

fn endpoints_with_rows(db: &Connection, after: &str, limit: usize) -> SqlResult<Vec<Id>> {
    let mut statement = db.prepare_cached(ENDPOINTS_WITH_ROWS)?;
    let mut rows = statement.query((after, i64::try_from(limit).unwrap_or(i64::MAX)))?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        found.push(rows::id(row, 0)?);
    }
    Ok(found)
}

fn endpoint_backlogs(db: &Connection, endpoint: &str) -> SqlResult<Option<EndpointBacklog>> {
    let Some((account, endpoint)) = endpoints::by_id(db, endpoint)? else { return Ok(None) };
    let count = "SELECT count(*) FROM deliveries WHERE endpoint = ?1";
    Ok(Some(EndpointBacklog {
        account,
        deliveries: rows::one(db, count, [&*endpoint.id], |row| rows::count(row, 0))?.unwrap_or(0),
        oldest_at: oldest_at(db, &endpoint.id)?,
        next_at: earliest_due(db, &endpoint.id)?,
        endpoint,
    }))
}

fn waiting_counts(db: &Connection, endpoint: &str, now: Timestamp) -> SqlResult<WaitingCounts> {
    let count = "SELECT total(owner <> 0), total(owner = 0), total(owner IS NULL AND next_at <= ?2), \
             total(owner IS NULL AND next_at > ?2 AND attempts > 0), \
             total(owner IS NULL AND next_at > ?2 AND attempts = 0) \
         FROM deliveries WHERE endpoint = ?1";
    let counted = rows::one(db, count, (endpoint, ms(now)), |row| {
        let number = |column| -> SqlResult<u64> { Ok(row.get::<_, f64>(column)? as u64) };
        Ok(WaitingCounts {
            claimed: number(0)?,
            key: number(1)?,
            due: number(2)?,
            retry: number(3)?,
            later: number(4)?,
        })
    })?;
    Ok(counted.unwrap_or_default())
}

fn waiting_messages(db: &Connection, endpoint: &str, before: &str, limit: usize) -> SqlResult<Vec<Id>> {
    let select = "SELECT message FROM deliveries WHERE endpoint = ?1 AND message < ?2 \
         AND NOT (ordering_key IS NOT NULL AND owner IS NOT NULL AND owner <> 0) ORDER BY message DESC LIMIT ?3";
    let mut statement = db.prepare_cached(select)?;
    let mut found = statement.query((endpoint, before, sql_limit(limit)))?;
    let mut messages = Vec::new();
    while let Some(row) = found.next()? {
        messages.push(rows::id(row, 0)?);
    }
    Ok(messages)
}
