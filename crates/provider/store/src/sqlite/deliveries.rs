//! Claims, releases, resends and deletes delivery rows.

use async_trait::async_trait;
use jiff::Timestamp;
use provider_core::model::counts::{DeliveryEnd, Hour};
use provider_core::model::{Attempt, AttemptTrigger, Id};
use provider_core::port::{
    BlockedKeyRow, BlockedKeysTotal, ClaimLimit, Delivery, DeliveryKind, DeliveryStore, DroppedDelivery, HeadResult,
    IdempotentAnswer, NodeId, RESEND_DUE, Resend, StoreError, StoreResult,
};
use rusqlite::{CachedStatement, Connection};

use super::rows::{self, MESSAGE, MESSAGE_COLUMNS, SqlResult, ms, sql_limit};
use super::{SqliteStore, attempts, counts, idempotency, nodes, ordering};
use crate::counts_codec::EndpointAdditions;
use crate::task_codec::TaskAdditions;

#[async_trait]
impl DeliveryStore for SqliteStore {
    async fn endpoints_with_due(&self, now: Timestamp, limit: usize) -> StoreResult<Vec<(Id, Id)>> {
        self.read(move |db| endpoints_with_due(db, now, limit)).await
    }

    async fn claim(
        &self,
        node: &NodeId,
        endpoint: &str,
        kind: DeliveryKind,
        now: Timestamp,
        room: ClaimLimit,
    ) -> StoreResult<Vec<Delivery>> {
        let node = node.clone();
        let endpoint = endpoint.to_owned();
        self.write(move |db| claim(db, &node, &endpoint, kind, now, room)).await
    }

    async fn next_due(&self) -> StoreResult<Option<Timestamp>> {
        self.read(next_due).await
    }

    async fn release(&self, node: &NodeId, rows: Vec<(Id, Id)>, now: Timestamp) -> StoreResult<()> {
        let node = node.clone();
        self.write(move |db| release(db, &node, &rows, now)).await
    }

    async fn drop_deliveries(&self, dropped: Vec<DroppedDelivery>, now: Timestamp) -> StoreResult<()> {
        self.write(move |db| drop_rows(db, &dropped, now)).await
    }

    async fn resend(&self, resend: Resend, answer: Option<IdempotentAnswer>) -> StoreResult<()> {
        self.write(move |db| mark_for_resend(db, &resend, answer.as_ref())).await
    }

    async fn make_retries_due(&self, endpoint: &str, now: Timestamp, limit: usize) -> StoreResult<usize> {
        let endpoint = endpoint.to_owned();
        self.write(move |db| {
            let update = "UPDATE deliveries SET next_at = ?2 WHERE endpoint = ?1 AND message IN \
                 (SELECT message FROM deliveries INDEXED BY deliveries_waiting \
                  WHERE endpoint = ?1 AND owner IS NULL AND has_attempts = 1 AND next_at > ?2 LIMIT ?3)";
            Ok(db.prepare_cached(update)?.execute((&endpoint, ms(now), sql_limit(limit)))?)
        })
        .await
    }

    async fn cancel_deliveries(&self, endpoint: &str, attempts: Vec<Attempt>) -> StoreResult<usize> {
        let endpoint = endpoint.to_owned();
        self.write(move |db| end_deliveries(db, &endpoint, &attempts, DeliveryEnd::Cancelled)).await
    }

    async fn blocked_keys(&self, endpoint: &str, after: Option<&str>, limit: usize) -> StoreResult<Vec<BlockedKeyRow>> {
        let endpoint = endpoint.to_owned();
        let after = after.unwrap_or_default().to_owned();
        self.read(move |db| ordering::blocked(db, &endpoint, &after, limit)).await
    }

    async fn blocked_key(&self, endpoint: &str, key: &str) -> StoreResult<Option<BlockedKeyRow>> {
        let (endpoint, key) = (endpoint.to_owned(), key.to_owned());
        self.read(move |db| ordering::blocked_key(db, &endpoint, &key)).await
    }

    async fn blocked_keys_total(&self, endpoint: &str, now: Timestamp) -> StoreResult<Option<BlockedKeysTotal>> {
        let endpoint = endpoint.to_owned();
        self.read(move |db| ordering::blocked_total(db, &endpoint, now)).await
    }

    async fn skip_head(&self, attempt: Attempt, key: &str) -> StoreResult<HeadResult> {
        let key = key.to_owned();
        self.write(move |db| ordering::skip(db, &attempt, &key)).await
    }

    async fn retry_head(&self, endpoint: &str, message: &str, key: &str, now: Timestamp) -> StoreResult<HeadResult> {
        let (endpoint, message, key) = (endpoint.to_owned(), message.to_owned(), key.to_owned());
        self.write(move |db| ordering::retry(db, &endpoint, &message, &key, now)).await
    }
}

/// Endpoints that have rows without an owner, each with its earliest due time. The query skips from endpoint to
/// endpoint in the index, so that the cost does not depend on the number of rows. It omits rows of deleted endpoints.
pub(super) const EARLIEST_DUE: &str = "WITH RECURSIVE waiting (endpoint) AS ( \
         SELECT min(endpoint) FROM deliveries INDEXED BY deliveries_waiting WHERE owner IS NULL \
         UNION ALL \
         SELECT (SELECT min(d.endpoint) FROM deliveries d INDEXED BY deliveries_waiting \
                 WHERE d.owner IS NULL AND d.endpoint > waiting.endpoint) \
         FROM waiting WHERE waiting.endpoint IS NOT NULL \
     ), earliest (endpoint, next_at) AS ( \
         SELECT endpoint, min((SELECT min(d.next_at) FROM deliveries d INDEXED BY deliveries_waiting \
                               WHERE d.owner IS NULL AND d.endpoint = waiting.endpoint AND d.has_attempts = kinds.column1)) \
         FROM waiting CROSS JOIN (VALUES (0), (1)) kinds WHERE endpoint IS NOT NULL GROUP BY endpoint \
     )";

/// In the order of their due time.
pub(super) fn endpoints_with_due(db: &Connection, now: Timestamp, limit: usize) -> SqlResult<Vec<(Id, Id)>> {
    let select = format!(
        "{EARLIEST_DUE} SELECT e.application, e.id FROM earliest JOIN endpoints e ON e.id = earliest.endpoint \
         WHERE earliest.next_at <= ?1 ORDER BY earliest.next_at, e.id LIMIT ?2"
    );
    let mut statement = db.prepare_cached(&select)?;
    let mut rows = statement.query((ms(now), i64::try_from(limit).unwrap_or(i64::MAX)))?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        found.push((rows::id(row, 0)?, rows::id(row, 1)?));
    }
    Ok(found)
}

pub(super) fn next_due(db: &Connection) -> SqlResult<Option<Timestamp>> {
    let select = format!(
        "{EARLIEST_DUE} SELECT earliest.next_at FROM earliest JOIN endpoints e ON e.id = earliest.endpoint \
         ORDER BY earliest.next_at LIMIT 1"
    );
    rows::one(db, &select, [], |row| rows::time(row, 0))
}

pub(super) fn claim(
    db: &Connection,
    node: &NodeId,
    endpoint: &str,
    kind: DeliveryKind,
    now: Timestamp,
    room: ClaimLimit,
) -> SqlResult<Vec<Delivery>> {
    let application = "SELECT application FROM endpoints WHERE id = ?1";
    let Some(application) = rows::one(db, application, [endpoint], |row| rows::id(row, 0))? else {
        return Ok(Vec::new());
    };
    let endpoint = Id::from(endpoint);
    let (index, of_kind) = match kind {
        DeliveryKind::Manual => ("deliveries_manual", "d.manual > 0"),
        DeliveryKind::First => ("deliveries_waiting", "d.has_attempts = 0"),
        DeliveryKind::Retry => ("deliveries_waiting", "d.has_attempts = 1"),
    };
    let select = format!(
        "SELECT {MESSAGE}, d.attempts, d.manual, d.ordering_key FROM deliveries d INDEXED BY {index} \
         JOIN messages m ON m.application = ?1 AND m.id = d.message \
         WHERE d.endpoint = ?2 AND d.owner IS NULL AND {of_kind} AND d.next_at <= ?3 \
         ORDER BY d.next_at, d.message LIMIT ?4"
    );
    let limit = i64::try_from(room.rows).unwrap_or(i64::MAX);
    let mut claimed = Vec::new();
    let mut payload_bytes = 0;
    let mut statement = db.prepare_cached(&select)?;
    let mut rows = statement.query((&*application, &*endpoint, ms(now), limit))?;
    while payload_bytes < room.payload_bytes.max(1)
        && let Some(row) = rows.next()?
    {
        let manual: i64 = row.get(MESSAGE_COLUMNS + 1)?;
        let message = rows::message(row)?;
        payload_bytes += message.payload.as_ref().map_or(0, |payload| payload.len());
        claimed.push(Delivery {
            message,
            endpoint: endpoint.clone(),
            attempts: row.get(MESSAGE_COLUMNS)?,
            ordering_key: rows::ordering_key(row, MESSAGE_COLUMNS + 2)?,
            trigger: if manual > 0 { AttemptTrigger::Manual } else { AttemptTrigger::Scheduled },
            replayed: manual < 0,
        });
    }
    if !claimed.is_empty() {
        let owner = nodes::node_number(db, node, now)?;
        let give = "UPDATE deliveries SET owner = ?3, manual = min(manual, 1) WHERE endpoint = ?1 AND message = ?2";
        let mut give = db.prepare_cached(give)?;
        for delivery in &claimed {
            give.execute((&*endpoint, &*delivery.message.id, owner))?;
        }
    }
    Ok(claimed)
}

pub(super) fn release(db: &Connection, node: &NodeId, rows: &[(Id, Id)], now: Timestamp) -> SqlResult<()> {
    let release = "UPDATE deliveries SET owner = NULL, next_at = iif(manual > 0, next_at, ?3) \
         WHERE endpoint = ?1 AND message = ?2 AND owner = (SELECT no FROM nodes WHERE id = ?4)";
    let mut release = db.prepare_cached(release)?;
    for (message, endpoint) in rows {
        release.execute((&**endpoint, &**message, ms(now), &*node.0))?;
    }
    Ok(())
}

fn drop_rows(db: &Connection, dropped: &[DroppedDelivery], now: Timestamp) -> SqlResult<()> {
    let mut finish = DeliveryDeleter::prepare(db)?;
    let mut additions = EndpointAdditions::default();
    let mut tasks = TaskAdditions::default();
    for DroppedDelivery { application, endpoint, message } in dropped {
        let rows = finish.row(endpoint, message, i64::MAX)?;
        additions.ended_in(endpoint, application, Hour::of(now), DeliveryEnd::Cancelled, rows.ended as u64);
        tasks.ended(rows.tasks, DeliveryEnd::Cancelled);
    }
    counts::add_to_endpoints(db, &additions)?;
    counts::add_to_tasks(db, &tasks)
}

/// Rows that a statement ended.
#[derive(Debug, PartialEq, Eq, Default)]
pub(super) struct EndedRows {
    /// Deleted rows.
    pub(super) deleted: usize,
    /// Rows whose delivery had not ended before.
    pub(super) ended: usize,
    /// The background tasks of the rows, for each row that has one.
    pub(super) tasks: Vec<String>,
}

/// Deletes finished rows one by one. A row without an ordering key and without a background task whose delivery had not
/// ended, which is the usual case, needs no `RETURNING`, for which SQLite would collect the rows first.
pub(super) struct DeliveryDeleter<'db> {
    db: &'db Connection,
    usual: CachedStatement<'db>,
}

impl<'db> DeliveryDeleter<'db> {
    pub(super) fn prepare(db: &'db Connection) -> SqlResult<Self> {
        let usual = "DELETE FROM deliveries WHERE endpoint = ?1 AND message = ?2 AND manual <= ?3 \
             AND ordering_key IS NULL AND ended_before = 0 AND task IS NULL";
        Ok(Self { db, usual: db.prepare_cached(usual)? })
    }

    /// Deletes a row whose `manual` is at most `manual_max`, if there is one.
    pub(super) fn row(&mut self, endpoint: &str, message: &str, manual_max: i64) -> SqlResult<EndedRows> {
        let other = "DELETE FROM deliveries WHERE endpoint = ?1 AND message = ?2 AND manual <= ?3 \
             AND (ordering_key IS NOT NULL OR ended_before = 1 OR task IS NOT NULL) RETURNING ordering_key, ended_before, task";
        let row = (endpoint, message, manual_max);
        match self.usual.execute(row)? {
            0 => ordering::delete(self.db, endpoint, other, row),
            deleted => Ok(EndedRows { deleted, ended: deleted, tasks: Vec::new() }),
        }
    }
}

/// Deletes at most `limit` rows of a deleted endpoint. True when more may exist. The next rows of ordering keys need
/// not become due, because the dispatcher ignores rows of deleted endpoints.
pub(super) fn drop_rows_batch(db: &Connection, endpoint: &str, limit: usize) -> SqlResult<bool> {
    let first = "SELECT message, task FROM deliveries WHERE endpoint = ?1 ORDER BY message LIMIT ?2";
    let by_task = format!("SELECT task, count(*) FROM ({first}) WHERE task IS NOT NULL GROUP BY task");
    let delete = format!("DELETE FROM deliveries WHERE endpoint = ?1 AND message IN (SELECT message FROM ({first}))");
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    let mut tasks = TaskAdditions::default();
    let mut statement = db.prepare_cached(&by_task)?;
    let mut rows = statement.query((endpoint, limit))?;
    while let Some(row) = rows.next()? {
        tasks.ended_count(row.get(0)?, DeliveryEnd::Cancelled, row.get::<_, i64>(1)?.unsigned_abs());
    }
    counts::add_to_tasks(db, &tasks)?;
    let dropped = db.prepare_cached(&delete)?.execute((endpoint, limit))?;
    Ok(i64::try_from(dropped).unwrap_or(i64::MAX) == limit)
}

/// All endpoints with rows. The query skips from endpoint to endpoint in the index.
const ENDPOINTS_WITH_ROWS: &str = "WITH RECURSIVE present (endpoint) AS ( \
         SELECT min(endpoint) FROM deliveries \
         UNION ALL \
         SELECT (SELECT min(d.endpoint) FROM deliveries d WHERE d.endpoint > present.endpoint) \
         FROM present WHERE present.endpoint IS NOT NULL \
     )";

pub(super) fn endpoints_with_rows(db: &Connection) -> SqlResult<Vec<Id>> {
    endpoints(db, &format!("{ENDPOINTS_WITH_ROWS} SELECT endpoint FROM present WHERE endpoint IS NOT NULL"))
}

/// Deleted endpoints that still have rows, because the process ended before it had deleted the rows.
pub(super) fn deleted_endpoints_with_rows(db: &Connection) -> SqlResult<Vec<Id>> {
    let went = "endpoint IS NOT NULL AND endpoint NOT IN (SELECT id FROM endpoints)";
    endpoints(db, &format!("{ENDPOINTS_WITH_ROWS} SELECT endpoint FROM present WHERE {went}"))
}

fn endpoints(db: &Connection, select: &str) -> SqlResult<Vec<Id>> {
    let mut statement = db.prepare_cached(select)?;
    let mut rows = statement.query([])?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        found.push(rows::id(row, 0)?);
    }
    Ok(found)
}

/// Inserts a row for a manual attempt. If a node owns an existing row, the row is marked; see [`return_for_manual`].
fn mark_for_resend(db: &Connection, resend: &Resend, answer: Option<&IdempotentAnswer>) -> SqlResult<()> {
    let Resend { application, message, endpoint } = resend;
    idempotency::keep_or_replay(db, answer)?;
    let exists = "SELECT 1 FROM endpoints e JOIN messages m ON m.application = e.application \
         WHERE e.id = ?1 AND e.application = ?2 AND m.id = ?3";
    if !db.prepare_cached(exists)?.exists((&**endpoint, &**application, &**message))? {
        return Err(StoreError::NotFound.into());
    }
    enter_manual(db, endpoint, message)
}

/// Inserts or marks the delivery row of a manual attempt.
pub(super) fn enter_manual(db: &Connection, endpoint: &str, message: &str) -> SqlResult<()> {
    let enter = "INSERT INTO deliveries (endpoint, message, owner, attempts, next_at, manual, ended_before) \
         VALUES (?1, ?2, NULL, 0, ?3, 1, EXISTS (SELECT 1 FROM attempts WHERE message = ?2 AND +endpoint = ?1)) \
         ON CONFLICT (endpoint, message) DO UPDATE SET \
             manual = iif(owner IS NULL, 1, 2), next_at = iif(owner IS NULL, excluded.next_at, next_at)";
    db.prepare_cached(enter)?.execute((endpoint, message, ms(RESEND_DUE)))?;
    Ok(())
}

/// Makes a row due again if a caller requested a manual attempt while its owner made another attempt.
pub(super) fn return_for_manual(db: &Connection, endpoint: &str, message: &str) -> SqlResult<()> {
    let return_for_manual = "UPDATE deliveries SET owner = NULL, next_at = ?3, manual = 1 \
         WHERE endpoint = ?1 AND message = ?2 AND manual = 2";
    db.prepare_cached(return_for_manual)?.execute((endpoint, message, ms(RESEND_DUE)))?;
    Ok(())
}

/// As [`return_for_manual`], after an attempt that ended the delivery. The requested attempt is none of the background
/// task that sent the message.
pub(super) fn end_for_manual(db: &Connection, endpoint: &str, message: &str) -> SqlResult<EndedRows> {
    let asked = "SELECT ended_before, task FROM deliveries WHERE endpoint = ?1 AND message = ?2 AND manual = 2";
    let found = rows::one(db, asked, (endpoint, message), |row| Ok((row.get::<_, bool>(0)?, row.get(1)?)))?;
    let Some((ended_before, task)) = found else { return Ok(EndedRows::default()) };
    let end = "UPDATE deliveries SET ended_before = 1, task = NULL WHERE endpoint = ?1 AND message = ?2";
    db.prepare_cached(end)?.execute((endpoint, message))?;
    return_for_manual(db, endpoint, message)?;
    let task: Option<String> = task;
    Ok(EndedRows { deleted: 0, ended: usize::from(!ended_before), tasks: task.into_iter().collect() })
}

/// Deletes the rows of these cancelled attempts, which a node has not claimed if they have an ordering key, and records the
/// attempts. Returns the number of rows.
pub(super) fn end_deliveries(
    db: &Connection,
    endpoint: &str,
    given_up: &[Attempt],
    end: DeliveryEnd,
) -> SqlResult<usize> {
    let delete = "DELETE FROM deliveries WHERE endpoint = ?1 AND message = ?2 \
         AND NOT (ordering_key IS NOT NULL AND owner IS NOT NULL AND owner <> 0) RETURNING ordering_key, ended_before, task";
    let mut additions = EndpointAdditions::default();
    let mut tasks = TaskAdditions::default();
    let mut cancelled = 0;
    for attempt in given_up {
        let rows = ordering::delete(db, endpoint, delete, (endpoint, &*attempt.message))?;
        if rows.deleted == 1 {
            attempts::insert(db, attempt)?;
            additions.attempt(attempt);
            additions.ended(attempt, end, rows.ended as u64);
            tasks.ended(rows.tasks, end);
            cancelled += 1;
        }
    }
    counts::add_to_endpoints(db, &additions)?;
    counts::add_to_tasks(db, &tasks)?;
    Ok(cancelled)
}
