//! Claims, releases, resends and deletes delivery rows.

use std::collections::HashMap;

use async_trait::async_trait;
use jiff::Timestamp;
use provider_core::model::counts::{DeliveryEnd, Hour};
use provider_core::model::{Attempt, AttemptTrigger, Id};
use provider_core::port::{
    AttemptRecord, BlockedKeyRow, BlockedKeysTotal, ClaimLimit, Delivery, DeliveryKind, DeliveryStore, DroppedDelivery,
    HeadResult, IdempotentAnswer, NodeId, RESEND_DUE, Resend, StoreError, StoreResult,
};
use tokio_postgres::Row;

use super::rows::{self, Client, MESSAGE, MESSAGE_COLUMNS, SqlResult, sql_limit};
use super::{PostgresStore, attempts, counts, idempotency, nodes, ordering};
use crate::counts_codec::EndpointAdditions;
use crate::task_codec::TaskAdditions;

#[async_trait]
impl DeliveryStore for PostgresStore {
    async fn endpoints_with_due(&self, now: Timestamp, limit: usize) -> StoreResult<Vec<(Id, Id)>> {
        let client = self.client().await?;
        Ok(endpoints_with_due(&client, now, limit).await?)
    }

    async fn claim(
        &self,
        node: &NodeId,
        endpoint: &str,
        kind: DeliveryKind,
        now: Timestamp,
        room: ClaimLimit,
    ) -> StoreResult<Vec<Delivery>> {
        self.transaction(&(node, endpoint, kind, now, room), |db, &(node, endpoint, kind, now, room)| {
            Box::pin(claim(db, node, endpoint, kind, now, room))
        })
        .await
    }

    async fn next_due(&self) -> StoreResult<Option<Timestamp>> {
        let client = self.client().await?;
        Ok(next_due(&client).await?)
    }

    async fn release(&self, node: &NodeId, rows: Vec<(Id, Id)>, now: Timestamp) -> StoreResult<()> {
        let outcome = self
            .transaction(&(node, &rows, now), |db, &(node, rows, now)| Box::pin(release(db, node, rows, now)))
            .await?;
        self.engine.notify().await;
        Ok(outcome)
    }

    async fn drop_deliveries(&self, dropped: Vec<DroppedDelivery>, now: Timestamp) -> StoreResult<()> {
        self.transaction(&(&dropped, now), |db, &(dropped, now)| Box::pin(drop_rows(db, dropped, now))).await
    }

    async fn resend(&self, resend: Resend, answer: Option<IdempotentAnswer>) -> StoreResult<()> {
        self.transaction(&(&resend, &answer), |db, &(resend, answer)| {
            Box::pin(mark_for_resend(db, resend, answer.as_ref()))
        })
        .await?;
        self.engine.notify().await;
        Ok(())
    }

    async fn make_retries_due(&self, endpoint: &str, now: Timestamp, limit: usize) -> StoreResult<usize> {
        let client = self.client().await?;
        // The statement skips rows that another transaction is claiming.
        let update = "UPDATE deliveries d SET next_at = $2 FROM (SELECT message FROM deliveries \
                 WHERE endpoint = $1 AND owner IS NULL AND attempts > 0 AND next_at > $2 \
                 ORDER BY next_at, message LIMIT $3 FOR UPDATE SKIP LOCKED) waiting \
             WHERE d.endpoint = $1 AND d.message = waiting.message";
        let changed = rows::write(&client, update, &[&endpoint, &now, &sql_limit(limit)]).await?;
        drop(client);
        if changed > 0 {
            self.engine.notify().await;
        }
        Ok(usize::try_from(changed).unwrap_or(usize::MAX))
    }

    async fn cancel_deliveries(&self, endpoint: &str, attempts: Vec<Attempt>) -> StoreResult<usize> {
        let ended = self
            .transaction(&(endpoint, &attempts), |db, &(endpoint, attempts)| {
                Box::pin(end_deliveries(db, endpoint, attempts, DeliveryEnd::Cancelled))
            })
            .await?;
        self.engine.notify().await;
        Ok(ended)
    }

    async fn blocked_keys(&self, endpoint: &str, after: Option<&str>, limit: usize) -> StoreResult<Vec<BlockedKeyRow>> {
        let client = self.client().await?;
        Ok(ordering::blocked(&client, endpoint, after.unwrap_or_default(), limit).await?)
    }

    async fn blocked_key(&self, endpoint: &str, key: &str) -> StoreResult<Option<BlockedKeyRow>> {
        let client = self.client().await?;
        Ok(ordering::blocked_key(&client, endpoint, key).await?)
    }

    async fn blocked_keys_total(&self, endpoint: &str, now: Timestamp) -> StoreResult<Option<BlockedKeysTotal>> {
        let client = self.client().await?;
        Ok(ordering::blocked_total(&client, endpoint, now).await?)
    }

    async fn skip_head(&self, attempt: Attempt, key: &str) -> StoreResult<HeadResult> {
        let skipped = self
            .transaction(&(&attempt, key), |db, &(attempt, key)| Box::pin(ordering::skip(db, attempt, key)))
            .await?;
        if skipped == HeadResult::Done {
            self.engine.notify().await;
        }
        Ok(skipped)
    }

    async fn retry_head(&self, endpoint: &str, message: &str, key: &str, now: Timestamp) -> StoreResult<HeadResult> {
        let retried = self
            .transaction(&(endpoint, message, key, now), |db, &(endpoint, message, key, now)| {
                Box::pin(ordering::retry(db, endpoint, message, key, now))
            })
            .await?;
        if retried == HeadResult::Done {
            self.engine.notify().await;
        }
        Ok(retried)
    }
}

/// Endpoints that have rows without an owner, each with its earliest due time. The query skips from endpoint to
/// endpoint in the index, so that the cost does not depend on the number of rows. It omits rows of deleted endpoints.
const EARLIEST_DUE: &str = "WITH RECURSIVE earliest (endpoint, next_at) AS ( \
         (SELECT endpoint, next_at FROM deliveries WHERE owner IS NULL ORDER BY endpoint, next_at, message LIMIT 1) \
         UNION ALL \
         SELECT next.endpoint, next.next_at FROM earliest CROSS JOIN LATERAL ( \
             SELECT d.endpoint, d.next_at FROM deliveries d WHERE d.owner IS NULL AND d.endpoint > earliest.endpoint \
             ORDER BY d.endpoint, d.next_at, d.message LIMIT 1) next \
     )";

/// In the order of their due time.
pub(super) async fn endpoints_with_due(db: &impl Client, now: Timestamp, limit: usize) -> SqlResult<Vec<(Id, Id)>> {
    let select = format!(
        "{EARLIEST_DUE} SELECT e.application, e.id FROM earliest JOIN endpoints e ON e.id = earliest.endpoint \
         WHERE earliest.next_at <= $1 ORDER BY earliest.next_at, e.id LIMIT $2"
    );
    rows::all(db, &select, &[&now, &sql_limit(limit)], |row| Ok((rows::id(row, 0)?, rows::id(row, 1)?))).await
}

pub(super) async fn next_due(db: &impl Client) -> SqlResult<Option<Timestamp>> {
    let select = format!(
        "{EARLIEST_DUE} SELECT earliest.next_at FROM earliest JOIN endpoints e ON e.id = earliest.endpoint \
         ORDER BY earliest.next_at LIMIT 1"
    );
    rows::one(db, &select, &[], |row| rows::get(row, 0)).await
}

/// Skips rows that another node is claiming.
pub(super) async fn claim(
    db: &impl Client,
    node: &NodeId,
    endpoint: &str,
    kind: DeliveryKind,
    now: Timestamp,
    room: ClaimLimit,
) -> SqlResult<Vec<Delivery>> {
    let application = "SELECT application FROM endpoints WHERE id = $1";
    let Some(application) = rows::one(db, application, &[&endpoint], |row| rows::id(row, 0)).await? else {
        return Ok(Vec::new());
    };
    let owner = nodes::node_number(db, node, now).await?;
    let of_kind = match kind {
        DeliveryKind::Manual => "manual > 0",
        DeliveryKind::First => "attempts = 0",
        DeliveryKind::Retry => "attempts > 0",
    };
    let select = format!(
        "WITH locked AS ( \
             SELECT message, attempts, next_at, manual, ordering_key FROM deliveries \
             WHERE endpoint = $2 AND owner IS NULL AND {of_kind} AND next_at <= $3 \
             ORDER BY next_at, message LIMIT $4 FOR UPDATE SKIP LOCKED \
         ), weighed AS ( \
             SELECT locked.*, sum(coalesce(octet_length(m.payload), 0)) \
                 OVER (ORDER BY next_at, message ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS bytes_before \
             FROM locked LEFT JOIN messages m ON m.application = $5 AND m.id = locked.message \
         ), due AS ( \
             SELECT * FROM weighed WHERE bytes_before IS NULL OR bytes_before < $6 \
         ), given AS ( \
             UPDATE deliveries d SET owner = $1, manual = least(d.manual, 1) FROM due WHERE d.endpoint = $2 AND d.message = due.message \
         ) \
         SELECT {MESSAGE}, due.attempts, due.manual, due.ordering_key FROM due JOIN messages m ON m.application = $5 AND m.id = due.message \
         ORDER BY due.next_at, due.message"
    );
    let endpoint: Id = endpoint.into();
    let (limit, payload_bytes) = (sql_limit(room.rows), sql_limit(room.payload_bytes));
    rows::all(db, &select, &[&owner, &&*endpoint, &now, &limit, &&*application, &payload_bytes], |row| {
        let manual = rows::get::<i16>(row, MESSAGE_COLUMNS + 1)?;
        Ok(Delivery {
            message: rows::message(row)?,
            endpoint: endpoint.clone(),
            attempts: rows::attempts(row, MESSAGE_COLUMNS)?,
            trigger: if manual > 0 { AttemptTrigger::Manual } else { AttemptTrigger::Scheduled },
            replayed: manual < 0,
            ordering_key: rows::ordering_key(row, MESSAGE_COLUMNS + 2)?,
        })
    })
    .await
}

/// The endpoints and the messages of delivery rows, in the order in which the rows are locked.
pub(super) fn columns<'rows>(rows: impl Iterator<Item = (&'rows Id, &'rows Id)>) -> (Vec<&'rows str>, Vec<&'rows str>) {
    let mut rows: Vec<(&str, &str)> = rows.map(|(message, endpoint)| (&**endpoint, &**message)).collect();
    rows.sort_unstable();
    rows.into_iter().unzip()
}

pub(super) async fn release(db: &impl Client, node: &NodeId, rows: &[(Id, Id)], now: Timestamp) -> SqlResult<()> {
    let (endpoints, messages) = columns(rows.iter().map(|(message, endpoint)| (message, endpoint)));
    let release = "UPDATE deliveries d SET owner = NULL, next_at = CASE WHEN d.manual > 0 THEN d.next_at ELSE $3 END \
         FROM unnest($1::text[], $2::text[]) AS given (endpoint, message) \
         WHERE d.endpoint = given.endpoint AND d.message = given.message \
         AND d.owner = (SELECT no FROM nodes WHERE id = $4)";
    rows::write(db, release, &[&endpoints, &messages, &now, &&*node.0]).await.map(drop)
}

/// Deletes rows of any owner. If a row has an ordering key, the next row of the key becomes due.
async fn drop_rows(db: &impl Client, dropped: &[DroppedDelivery], now: Timestamp) -> SqlResult<()> {
    let (endpoints, messages) = columns(dropped.iter().map(|dropped| (&dropped.message, &dropped.endpoint)));
    let delete = "DELETE FROM deliveries d USING unnest($1::text[], $2::text[]) AS done (endpoint, message) \
         WHERE d.endpoint = done.endpoint AND d.message = done.message RETURNING d.endpoint, d.ordering_key, d.ended_before, d.task";
    let row = |row: &Row| {
        let (key, task) = (rows::get::<Option<String>>(row, 1)?, rows::get::<Option<String>>(row, 3)?);
        Ok((rows::get::<String>(row, 0)?, key, rows::get::<bool>(row, 2)?, task))
    };
    let deleted = rows::all(db, delete, &[&endpoints, &messages], row).await?;
    let applications: HashMap<&str, &str> =
        dropped.iter().map(|dropped| (&*dropped.endpoint, &*dropped.application)).collect();
    let mut additions = EndpointAdditions::default();
    let mut tasks = TaskAdditions::default();
    let mut ordered = Vec::new();
    for (endpoint, key, ended_before, task) in deleted {
        if let Some((endpoint, application)) = applications.get_key_value(endpoint.as_str()) {
            let ended = u64::from(!ended_before);
            additions.ended_in(endpoint, application, Hour::of(now), DeliveryEnd::Cancelled, ended);
        }
        tasks.ended(task, DeliveryEnd::Cancelled);
        ordered.extend(key.map(|key| (endpoint, key)));
    }
    ordering::make_next_due(db, ordered).await?;
    counts::add_to_endpoints(db, &additions).await?;
    counts::add_to_tasks(db, &tasks).await
}

pub(super) async fn drop_rows_of(db: &impl Client, endpoints: &[Id]) -> SqlResult<()> {
    let endpoints: Vec<&str> = endpoints.iter().map(|endpoint| &**endpoint).collect();
    let delete = "WITH gone AS (DELETE FROM deliveries WHERE endpoint = ANY ($1) RETURNING task) \
         SELECT task, count(*) FROM gone WHERE task IS NOT NULL GROUP BY task";
    let mut tasks = TaskAdditions::default();
    let of_task = |row: &Row| Ok((rows::get::<String>(row, 0)?, rows::get::<i64>(row, 1)?.unsigned_abs()));
    for (task, count) in rows::all(db, delete, &[&endpoints], of_task).await? {
        tasks.ended_count(task, DeliveryEnd::Cancelled, count);
    }
    counts::add_to_tasks(db, &tasks).await
}

/// All endpoints with rows. The query skips from endpoint to endpoint in the index.
const ENDPOINTS_WITH_ROWS: &str = "WITH RECURSIVE present (endpoint) AS ( \
         (SELECT endpoint FROM deliveries ORDER BY endpoint LIMIT 1) \
         UNION ALL \
         SELECT next.endpoint FROM present CROSS JOIN LATERAL ( \
             SELECT d.endpoint FROM deliveries d WHERE d.endpoint > present.endpoint ORDER BY d.endpoint LIMIT 1) next \
     )";

/// Deletes the rows of messages with smaller ids.
pub(super) async fn drop_rows_before(db: &impl Client, message: &str) -> SqlResult<()> {
    let delete = format!(
        "{ENDPOINTS_WITH_ROWS}, gone AS ( \
             DELETE FROM deliveries d USING present WHERE d.endpoint = present.endpoint AND d.message < $1 \
             RETURNING d.endpoint, d.ordering_key, d.task \
         ) SELECT endpoint, ordering_key, task, count(*) FROM gone \
         WHERE ordering_key IS NOT NULL OR task IS NOT NULL GROUP BY endpoint, ordering_key, task"
    );
    let row = |row: &Row| {
        let (key, task) = (rows::get::<Option<String>>(row, 1)?, rows::get::<Option<String>>(row, 2)?);
        Ok((rows::get::<String>(row, 0)?, key, task, rows::get::<i64>(row, 3)?.unsigned_abs()))
    };
    let mut tasks = TaskAdditions::default();
    let mut ordered = Vec::new();
    for (endpoint, key, task, count) in rows::all(db, &delete, &[&message], row).await? {
        ordered.extend(key.map(|key| (endpoint, key)));
        if let Some(task) = task {
            tasks.ended_count(task, DeliveryEnd::Cancelled, count);
        }
    }
    ordering::make_next_due(db, ordered).await?;
    counts::add_to_tasks(db, &tasks).await
}

/// Deleted endpoints that still have rows, because the process ended before it had deleted the rows.
pub(super) async fn deleted_endpoints_with_rows(db: &impl Client) -> SqlResult<Vec<Id>> {
    let select = format!(
        "{ENDPOINTS_WITH_ROWS} SELECT endpoint FROM present WHERE NOT EXISTS (SELECT FROM endpoints e WHERE e.id = present.endpoint)"
    );
    rows::all(db, &select, &[], |row| rows::id(row, 0)).await
}

/// Inserts a row for a manual attempt. If a node owns an existing row, the row is marked; see [`return_for_manual`].
/// The endpoint and the message stay locked until the transaction ends, so that a transaction that deletes them finds
/// the row.
async fn mark_for_resend(db: &impl Client, resend: &Resend, answer: Option<&IdempotentAnswer>) -> SqlResult<()> {
    let Resend { application, message, endpoint } = resend;
    idempotency::keep_or_replay(db, answer).await?;
    for (table, id) in [("endpoints", endpoint), ("messages", message)] {
        let lock = format!("SELECT id FROM {table} WHERE id = $1 AND application = $2 FOR KEY SHARE");
        if rows::one(db, &lock, &[&&**id, &&**application], |row| rows::id(row, 0)).await?.is_none() {
            return Err(StoreError::NotFound.into());
        }
    }
    enter_manual(db, endpoint, message).await
}

/// Inserts or marks the delivery row of a manual attempt.
pub(super) async fn enter_manual(db: &impl Client, endpoint: &str, message: &str) -> SqlResult<()> {
    let enter = "INSERT INTO deliveries AS d (endpoint, message, owner, attempts, next_at, manual, ended_before) \
         VALUES ($1, $2, NULL, 0, $3, 1, \
             EXISTS (SELECT FROM attempts a WHERE a.message = $2 AND a.endpoint || '' = $1)) ON CONFLICT (endpoint, message) DO UPDATE SET \
             manual = CASE WHEN d.owner IS NULL THEN 1 ELSE 2 END, \
             next_at = CASE WHEN d.owner IS NULL THEN excluded.next_at ELSE d.next_at END";
    rows::write(db, enter, &[&endpoint, &message, &RESEND_DUE]).await.map(drop)
}

/// Makes rows due again if a caller requested a manual attempt while their owner made another attempt.
pub(super) async fn return_for_manual(db: &impl Client, endpoints: &[&str], messages: &[&str]) -> SqlResult<()> {
    let return_for_manual = "UPDATE deliveries d SET owner = NULL, next_at = $3, manual = 1 \
         FROM unnest($1::text[], $2::text[]) AS asked (endpoint, message) \
         WHERE d.endpoint = asked.endpoint AND d.message = asked.message AND d.manual = 2";
    rows::write(db, return_for_manual, &[&endpoints, &messages, &RESEND_DUE]).await.map(drop)
}

/// As [`return_for_manual`], after attempts that ended their deliveries. Returns those attempts, each with whether its
/// delivery had ended before, and the background task that sent the message: the requested attempt is none of this task.
pub(super) async fn end_for_manual<'a>(
    db: &impl Client,
    records: &[&'a AttemptRecord],
) -> SqlResult<Vec<(&'a AttemptRecord, bool, Option<String>)>> {
    if records.is_empty() {
        return Ok(Vec::new());
    }
    let endpoints: Vec<&str> = records.iter().map(|record| &*record.attempt.endpoint).collect();
    let messages: Vec<&str> = records.iter().map(|record| &*record.attempt.message).collect();
    let end = "UPDATE deliveries d SET ended_before = TRUE, task = NULL \
         FROM (SELECT o.endpoint, o.message, o.ended_before, o.task, ended.place \
               FROM unnest($1::text[], $2::text[]) WITH ORDINALITY AS ended (endpoint, message, place) \
               JOIN deliveries o ON o.endpoint = ended.endpoint AND o.message = ended.message AND o.manual = 2 \
               ORDER BY ended.place FOR UPDATE OF o) asked \
         WHERE d.endpoint = asked.endpoint AND d.message = asked.message \
         RETURNING asked.place, asked.ended_before, asked.task";
    let ended = rows::all(db, end, &[&endpoints, &messages], |row| {
        let place = usize::try_from(rows::get::<i64>(row, 0)? - 1).unwrap_or(usize::MAX);
        Ok((place, rows::get::<bool>(row, 1)?, rows::get::<Option<String>>(row, 2)?))
    })
    .await?;
    return_for_manual(db, &endpoints, &messages).await?;
    let ended = ended.into_iter();
    Ok(ended.filter_map(|(place, before, task)| Some((*records.get(place)?, before, task))).collect())
}

/// Skips rows that another transaction is claiming. If a head of line is deleted, the next row of its key becomes due.
/// Deletes the rows of these cancelled attempts, which a node has not claimed if they have an ordering key, and records the
/// attempts. Returns the number of rows.
pub(super) async fn end_deliveries(
    db: &impl Client,
    endpoint: &str,
    given_up: &[Attempt],
    end: DeliveryEnd,
) -> SqlResult<usize> {
    let messages: Vec<&str> = given_up.iter().map(|attempt| &*attempt.message).collect();
    let delete = "DELETE FROM deliveries d USING (SELECT message FROM deliveries \
             WHERE endpoint = $1 AND message = ANY ($2) AND NOT (ordering_key IS NOT NULL AND owner IS NOT NULL AND owner <> 0) \
             ORDER BY message FOR UPDATE SKIP LOCKED) waiting \
         WHERE d.endpoint = $1 AND d.message = waiting.message RETURNING d.message, d.ordering_key, d.ended_before, d.task";
    let row = |row: &Row| {
        let (key, task) = (rows::get::<Option<String>>(row, 1)?, rows::get::<Option<String>>(row, 3)?);
        Ok((rows::id(row, 0)?, (key, rows::get::<bool>(row, 2)?, task)))
    };
    let deleted = rows::all(db, delete, &[&endpoint, &messages], row).await?;
    let mut deleted: HashMap<Id, (Option<String>, bool, Option<String>)> = deleted.into_iter().collect();
    let mut additions = EndpointAdditions::default();
    let mut tasks = TaskAdditions::default();
    let mut cancelled = Vec::new();
    for attempt in given_up {
        let Some((_, ended_before, task)) = deleted.get_mut(&attempt.message) else { continue };
        additions.attempt(attempt);
        additions.ended(attempt, end, u64::from(!*ended_before));
        tasks.ended(task.take(), end);
        cancelled.push(attempt);
    }
    attempts::insert(db, cancelled).await?;
    let count = deleted.len();
    let keys = deleted.into_values().filter_map(|(key, ..)| Some((endpoint.to_owned(), key?)));
    ordering::make_next_due(db, keys.collect()).await?;
    counts::add_to_endpoints(db, &additions).await?;
    counts::add_to_tasks(db, &tasks).await?;
    Ok(count)
}
