//! Background tasks, and the queries for the attempts and messages that they process.

use async_trait::async_trait;
use jiff::Timestamp;
use provider_core::model::counts::EndedDeliveries;
use provider_core::model::{BackgroundTask, Id, Progress, TaskKind, TaskStatus};
use provider_core::ordering::OrderingKey;
use provider_core::port::{
    FailedAttempt, IdempotentAnswer, Page, ReplayCandidate, StoreError, StoreResult, TaskCount, TaskFilter, TaskStep,
    TaskStore,
};
use tokio_postgres::Row;

use super::rows::{self, Client, SqlResult, sql_limit};
use super::{PostgresStore, counts, idempotency, ordering};
use crate::codec::{self, PageQuery};
use crate::task_codec::{
    TaskAdditions, enqueue_condition, kind, kind_number, latest, selection_from_json, selection_to_json, task_status,
    task_status_number,
};

#[async_trait]
impl TaskStore for PostgresStore {
    async fn create_task(
        &self,
        task: BackgroundTask,
        running_max: usize,
        answer: Option<IdempotentAnswer>,
    ) -> StoreResult<()> {
        self.transaction(&(&task, running_max, answer.as_ref()), |db, &(task, max, answer)| {
            Box::pin(create_within_limit(db, task, max, answer))
        })
        .await
    }

    async fn task(&self, account: &str, id: &str) -> StoreResult<Option<BackgroundTask>> {
        let client = self.client().await?;
        let select = format!("SELECT {TASK} FROM background_tasks WHERE account = $1 AND id = $2");
        Ok(rows::one(&client, &select, &[&account, &id], task).await?)
    }

    async fn tasks(&self, account: &str, filter: TaskFilter, page: Page) -> StoreResult<Vec<BackgroundTask>> {
        let client = self.client().await?;
        let status = filter.status.map(|status| format!(" AND status = {}", task_status_number(status)));
        let kind = filter.kind.map(|kind| format!(" AND kind = {}", kind_number(kind)));
        let filters = [status.unwrap_or_default(), kind.unwrap_or_default()].concat();
        let select = format!("SELECT {TASK} FROM background_tasks WHERE account = $1{filters}");
        Ok(rows::list(&client, &select, "id", account, &PageQuery::new(&page), task).await?)
    }

    async fn endpoint_tasks(&self, endpoint: &str, page: Page) -> StoreResult<Vec<BackgroundTask>> {
        let client = self.client().await?;
        let select = format!("SELECT {TASK} FROM background_tasks WHERE endpoint = $1");
        Ok(rows::list(&client, &select, "id", endpoint, &PageQuery::new(&page), task).await?)
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

    async fn lease_tasks(
        &self,
        worker: &str,
        now: Timestamp,
        leased_until: Timestamp,
        limit: usize,
    ) -> StoreResult<Vec<BackgroundTask>> {
        let client = self.client().await?;
        let free = "SELECT id FROM background_tasks WHERE status = 0 AND leased_until <= $1";
        if rows::one(&client, &format!("{free} LIMIT 1"), &[&now], |row| rows::id(row, 0)).await?.is_none() {
            return Ok(Vec::new());
        }
        // SKIP LOCKED skips tasks that another worker is leasing.
        let lease = format!(
            "UPDATE background_tasks SET worker = $2, leased_until = $3 WHERE id IN \
             ({free} ORDER BY leased_until, id LIMIT $4 FOR UPDATE SKIP LOCKED) RETURNING {TASK}"
        );
        Ok(rows::all(&client, &lease, &[&now, &worker, &leased_until, &sql_limit(limit)], task).await?)
    }

    async fn advance_task(&self, step: TaskStep) -> StoreResult<usize> {
        self.transaction(&(&step,), |db, &(step,)| Box::pin(advance(db, step))).await
    }

    async fn stop_task(&self, endpoint: &str, id: &str, error: &str, now: Timestamp) -> StoreResult<bool> {
        let client = self.client().await?;
        let update = "UPDATE background_tasks SET status = $4, error = $3, updated_at = $5 \
             WHERE endpoint = $1 AND id = $2 AND status = 0";
        let failed = task_status_number(TaskStatus::Failed);
        Ok(rows::write(&client, update, &[&endpoint, &id, &error, &failed, &now]).await? > 0)
    }

    async fn due_count(&self, endpoint: &str, messages: &[Id], now: Timestamp) -> StoreResult<usize> {
        let client = self.client().await?;
        let messages: Vec<&str> = messages.iter().map(|message| &**message).collect();
        let select = "SELECT count(*) FROM deliveries WHERE endpoint = $1 AND message = ANY ($2) AND next_at <= $3 \
             AND owner IS DISTINCT FROM 0";
        let due = rows::one(&client, select, &[&endpoint, &messages, &now], |row| rows::get::<i64>(row, 0)).await?;
        Ok(usize::try_from(due.unwrap_or(0)).unwrap_or(0))
    }

    async fn failed_attempts(
        &self,
        application: &str,
        endpoint: &str,
        after: &str,
        before: &str,
        limit: usize,
    ) -> StoreResult<Vec<FailedAttempt>> {
        let client = self.client().await?;
        let params: [&(dyn tokio_postgres::types::ToSql + Sync); 5] =
            [&application, &endpoint, &after, &before, &sql_limit(limit)];
        let failures = rows::all(&client, FAILED_ATTEMPTS, &params, |row| {
            Ok(FailedAttempt {
                attempt: rows::id(row, 0)?,
                recoverable: if rows::get(row, 2)? { Some(rows::id(row, 1)?) } else { None },
                is_under_way: rows::get(row, 3)?,
            })
        });
        Ok(failures.await?)
    }

    async fn replay_candidates(
        &self,
        application: &str,
        endpoint: &str,
        after: &str,
        before: &str,
        limit: usize,
    ) -> StoreResult<Vec<ReplayCandidate>> {
        let client = self.client().await?;
        Ok(rows::all(
            &client,
            REPLAY_CANDIDATES,
            &[&application, &endpoint, &after, &before, &sql_limit(limit)],
            replay_candidate,
        )
        .await?)
    }

    async fn delete_old_tasks(&self, before: Timestamp, limit: usize) -> StoreResult<usize> {
        let client = self.client().await?;
        let delete = "DELETE FROM background_tasks WHERE id IN \
             (SELECT id FROM background_tasks WHERE status <> 0 AND updated_at < $1 LIMIT $2 FOR UPDATE SKIP LOCKED)";
        let deleted = rows::write(&client, delete, &[&before, &sql_limit(limit)]).await?;
        Ok(usize::try_from(deleted).unwrap_or(usize::MAX))
    }
}

async fn create_within_limit(
    db: &impl Client,
    task: &BackgroundTask,
    running_max: usize,
    answer: Option<&IdempotentAnswer>,
) -> SqlResult<()> {
    let lock = "SELECT pg_advisory_xact_lock(hashtextextended($1, 0))";
    rows::write(db, lock, &[&format!("tasks {}", task.account)]).await?;
    create(db, task, answer).await?;
    let count =
        "SELECT count(*) FROM (SELECT FROM background_tasks WHERE account = $1 AND status = 0 LIMIT $2) counted";
    rows::check_limit(db, count, &task.account, running_max).await
}

/// Attempts of a range of ids; for each failed attempt, whether its message has to be sent again; and whether it is due or
/// under way already.
const FAILED_ATTEMPTS: &str = "SELECT a.id, a.message, \
         CASE WHEN a.status <> 2 THEN FALSE ELSE \
             NOT EXISTS (SELECT FROM attempts o WHERE o.message = a.message AND o.endpoint = $2 \
                         AND (o.status = 0 OR (o.status = 2 AND o.id > a.id AND o.id < $4))) \
             AND EXISTS (SELECT FROM messages m WHERE m.application = $1 AND m.id = a.message \
                         AND m.payload IS NOT NULL) END, \
         EXISTS (SELECT FROM deliveries d WHERE d.endpoint = $2 AND d.message = a.message \
                 AND (d.owner IS NOT NULL OR d.attempts = 0)) \
     FROM (SELECT id, message, status FROM attempts WHERE endpoint = $2 AND id > $3 AND id < $4 ORDER BY id LIMIT $5) a \
     ORDER BY a.id";

const REPLAY_CANDIDATES: &str = "SELECT m.id, m.event_type, m.channels, m.tags, m.payload IS NOT NULL, l.status, \
         l.response_status_code, EXISTS (SELECT FROM deliveries d WHERE d.endpoint = $2 AND d.message = m.id) \
     FROM messages m LEFT JOIN LATERAL \
         (SELECT status, response_status_code FROM attempts a WHERE a.message = m.id AND a.endpoint = $2 \
          ORDER BY a.id DESC LIMIT 1) l ON TRUE \
     WHERE m.application = $1 AND m.id > $3 AND m.id < $4 ORDER BY m.id LIMIT $5";

pub(super) const TASK: &str = "id, account, kind, application, endpoint, selection, status, position, found, enqueued, error, \
     created_at, updated_at, delivered, exhausted, skipped, cancelled, taken_over";

pub(super) fn task(row: &Row) -> StoreResult<BackgroundTask> {
    let number = |column| -> StoreResult<u64> { Ok(rows::get::<i64>(row, column)?.unsigned_abs()) };
    Ok(BackgroundTask {
        id: rows::id(row, 0)?,
        account: rows::id(row, 1)?,
        kind: kind(rows::get::<i16>(row, 2)?.into())?,
        application: rows::id(row, 3)?,
        endpoint: rows::id(row, 4)?,
        selection: selection_from_json(rows::get(row, 5)?)?,
        status: task_status(rows::get::<i16>(row, 6)?.into())?,
        progress: Progress {
            position: rows::id(row, 7)?,
            found: number(8)?,
            enqueued: number(9)?,
            ended: EndedDeliveries {
                delivered: number(13)?,
                exhausted: number(14)?,
                skipped: number(15)?,
                cancelled: number(16)?,
            },
            taken_over: number(17)?,
        },
        error: rows::get(row, 10)?,
        created_at: rows::get(row, 11)?,
        updated_at: rows::get(row, 12)?,
    })
}

fn replay_candidate(row: &Row) -> StoreResult<ReplayCandidate> {
    let status: Option<i16> = rows::get(row, 5)?;
    let code: Option<i32> = rows::get(row, 6)?;
    Ok(ReplayCandidate {
        message: rows::id(row, 0)?,
        event_type: rows::get(row, 1)?,
        channels: codec::optional_from_json(rows::get(row, 2)?)?,
        tags: codec::optional_from_json(rows::get(row, 3)?)?,
        payload_kept: rows::get(row, 4)?,
        latest: latest(status.map(i64::from), code.map(i64::from))?,
        waits: rows::get(row, 7)?,
    })
}

pub(super) async fn create(db: &impl Client, new: &BackgroundTask, answer: Option<&IdempotentAnswer>) -> SqlResult<()> {
    idempotency::keep_or_replay(db, answer).await?;
    let insert = "INSERT INTO background_tasks (id, account, kind, application, endpoint, selection, status, position, \
         found, enqueued, error, created_at, updated_at) \
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)";
    rows::write(
        db,
        insert,
        &[
            &&*new.id,
            &&*new.account,
            &kind_number(new.kind),
            &&*new.application,
            &&*new.endpoint,
            &selection_to_json(&new.selection)?,
            &task_status_number(new.status),
            &&*new.progress.position,
            &(new.progress.found as i64),
            &(new.progress.enqueued as i64),
            &new.error,
            &new.created_at,
            &new.updated_at,
        ],
    )
    .await
    .map(drop)
}

/// Locks the application first, as routing does, so that the endpoint can't be deleted meanwhile, and tasks last, as the
/// transactions do that end deliveries. Two steps from one position wait for each other at the endpoint, or at the update
/// of the task, which finds the position of the first one and fails.
async fn advance(db: &impl Client, step: &TaskStep) -> SqlResult<usize> {
    if !step.messages.is_empty() {
        let lock = "SELECT id FROM applications \
             WHERE id = (SELECT application FROM background_tasks WHERE id = $1) FOR SHARE";
        rows::one(db, lock, &[&&*step.task], |row| rows::id(row, 0)).await?;
    }
    let select = "SELECT endpoint, kind FROM background_tasks \
         WHERE id = $1 AND position = $2 AND worker = $3 AND status = 0";
    let found = rows::one(db, select, &[&&*step.task, &&*step.from, &&*step.worker], |row| {
        Ok((rows::id(row, 0)?, kind(rows::get::<i16>(row, 1)?.into())?))
    })
    .await?;
    let (endpoint, kind) = found.ok_or(StoreError::Conflict)?;
    let mut earlier = TaskAdditions::default();
    let enqueued = if step.messages.is_empty() { 0 } else { enqueue(db, &endpoint, kind, step, &mut earlier).await? };
    if !earlier.is_empty() {
        let tasks: Vec<&str> = earlier.rows().map(|(task, _)| task).chain([&*step.task]).collect();
        let lock = "SELECT id FROM background_tasks WHERE id = ANY ($1) ORDER BY id FOR NO KEY UPDATE";
        rows::write(db, lock, &[&tasks]).await?;
    }
    let update = "UPDATE background_tasks SET position = $2, found = found + $3, enqueued = enqueued + $4, status = $5, \
         error = $6, leased_until = $7, updated_at = CASE WHEN $8 THEN $9 ELSE updated_at END \
         WHERE id = $1 AND position = $10 AND worker = $11 AND status = 0";
    let advanced = rows::write(
        db,
        update,
        &[
            &&*step.task,
            &&*step.to,
            &(step.found as i64),
            &(enqueued as i64),
            &task_status_number(step.status),
            &step.error,
            &step.leased_until,
            &step.is_progress(),
            &step.now,
            &&*step.from,
            &&*step.worker,
        ],
    )
    .await?;
    if advanced == 0 {
        return Err(StoreError::Conflict.into());
    }
    counts::add_to_tasks(db, &earlier).await?;
    Ok(usize::try_from(enqueued).unwrap_or(usize::MAX))
}

/// Inserts delivery rows for the messages of a step that still have to be sent, in the order of their ordering key at
/// an endpoint with ordered delivery. A row that waits for its next attempt becomes due, and from then on counts for this
/// task. No row becomes due before the message's `deliverAt`. A lock serialises the tasks of an endpoint, so that each task finds the rows of the others.
async fn enqueue(
    db: &impl Client,
    endpoint: &Id,
    kind: TaskKind,
    step: &TaskStep,
    earlier: &mut TaskAdditions,
) -> SqlResult<u64> {
    rows::write(db, "SELECT pg_advisory_xact_lock(hashtextextended($1, 1))", &[&&**endpoint]).await?;
    let order = "SELECT ordering <> 0 FROM endpoints WHERE id = $1 AND NOT disabled";
    let in_order = rows::one(db, order, &[&&**endpoint], |row| rows::get::<bool>(row, 0)).await?;
    let in_order = in_order.ok_or(StoreError::NotFound)?;
    let mut messages: Vec<&str> = step.messages.iter().map(|message| &**message).collect();
    messages.sort_unstable();
    let retried =
        if kind.makes_retries_due() { make_retries_due(db, endpoint, &messages, step).await? } else { Vec::new() };
    let retried_count = retried.len() as u64;
    retried.into_iter().flatten().for_each(|task| earlier.taken_over(task));
    let ordered = if in_order { enqueue_in_order(db, endpoint, kind, &mut messages, step).await? } else { 0 };
    let insert = format!(
        "INSERT INTO deliveries (endpoint, message, owner, attempts, next_at, manual, task, ended_before) \
         SELECT $1, new.message, NULL, 0, greatest($3, \
             (SELECT m.deliver_at FROM endpoints e JOIN messages m ON m.application = e.application AND m.id = new.message \
              WHERE e.id = $1)), -1, $4, \
             EXISTS (SELECT FROM attempts a WHERE a.message = new.message COLLATE \"C\" AND a.endpoint || '' = $1) \
         FROM unnest($2::text[]) AS new (message) WHERE {} ON CONFLICT DO NOTHING",
        enqueue_condition(kind, "new.message COLLATE \"C\"", "$1")
    );
    let inserted = rows::write(db, &insert, &[&&**endpoint, &messages, &step.now, &&*step.task]).await?;
    Ok(retried_count + ordered + inserted)
}

/// Returns the earlier tasks of the rows. Skips rows that another transaction is claiming, because that transaction sends
/// them.
async fn make_retries_due(
    db: &impl Client,
    endpoint: &Id,
    messages: &[&str],
    step: &TaskStep,
) -> SqlResult<Vec<Option<String>>> {
    let update = "UPDATE deliveries d SET next_at = $3, manual = -1, task = $4 FROM (SELECT message, task FROM deliveries \
             WHERE endpoint = $1 AND message = ANY ($2) AND owner IS NULL AND attempts > 0 AND next_at > $3 \
             ORDER BY message FOR UPDATE SKIP LOCKED) waiting \
         WHERE d.endpoint = $1 AND d.message = waiting.message RETURNING waiting.task";
    let params: [&(dyn tokio_postgres::types::ToSql + Sync); 4] = [&&**endpoint, &messages, &step.now, &&*step.task];
    rows::all(db, update, &params, |row| rows::get(row, 0)).await
}

/// Inserts delivery rows for the messages that have an ordering key and still have to be sent, and removes these
/// messages from `messages`.
async fn enqueue_in_order(
    db: &impl Client,
    endpoint: &Id,
    kind: TaskKind,
    messages: &mut Vec<&str>,
    step: &TaskStep,
) -> SqlResult<u64> {
    let select = format!(
        "SELECT m.id, m.ordering_key, greatest($3, m.deliver_at) FROM endpoints e \
         JOIN messages m ON m.application = e.application AND m.id = ANY ($2) \
         WHERE e.id = $1 AND m.ordering_key IS NOT NULL AND {} ORDER BY m.id",
        enqueue_condition(kind, "m.id", "e.id")
    );
    let keyed: Vec<(Id, OrderingKey, Timestamp)> =
        rows::all(db, &select, &[&&**endpoint, &*messages, &step.now], |row| {
            Ok((rows::id(row, 0)?, OrderingKey::kept(rows::get(row, 1)?), rows::get(row, 2)?))
        })
        .await?;
    let ordered: Vec<_> = keyed
        .iter()
        .map(|(message, key, due)| ordering::OrderedDelivery { endpoint, key, message, due: *due })
        .collect();
    if !ordered.is_empty() {
        ordering::enter(db, &ordered).await?;
        let entered: Vec<&str> = keyed.iter().map(|(message, ..)| &**message).collect();
        let mark = "UPDATE deliveries d SET manual = -1, task = $3, \
             ended_before = EXISTS (SELECT FROM attempts a WHERE a.message = d.message AND a.endpoint || '' = $1) \
             WHERE endpoint = $1 AND message = ANY ($2)";
        rows::write(db, mark, &[&&**endpoint, &entered, &&*step.task]).await?;
    }
    messages.retain(|message| keyed.binary_search_by(|(entered, ..)| (**entered).cmp(message)).is_err());
    Ok(keyed.len() as u64)
}
