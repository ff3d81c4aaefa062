//! Background tasks, and the queries for the attempts and messages that they process.

use async_trait::async_trait;
use jiff::Timestamp;
use provider_core::model::counts::EndedDeliveries;
use provider_core::model::{BackgroundTask, Id, Progress, TaskKind, TaskStatus};
use provider_core::port::{
    FailedAttempt, IdempotentAnswer, Page, ReplayCandidate, StoreError, StoreResult, TaskCount, TaskFilter, TaskStep,
    TaskStore,
};
use rusqlite::{Connection, Row, params};

use super::rows::{self, SqlResult, ms};
use super::{SqliteStore, counts, idempotency, ordering};
use crate::codec::{self, PageQuery};
use crate::task_codec::{
    TaskAdditions, enqueue_condition, kind, kind_number, latest, selection_from_json, selection_to_json, task_status,
    task_status_number,
};

#[async_trait]
impl TaskStore for SqliteStore {
    async fn create_task(
        &self,
        task: BackgroundTask,
        running_max: usize,
        answer: Option<IdempotentAnswer>,
    ) -> StoreResult<()> {
        self.write(move |db| {
            create(db, &task, answer.as_ref())?;
            let count =
                "SELECT count(*) FROM (SELECT 1 FROM background_tasks WHERE account = ?1 AND status = 0 LIMIT ?2)";
            rows::check_limit(db, count, &task.account, running_max)
        })
        .await
    }

    async fn task(&self, account: &str, id: &str) -> StoreResult<Option<BackgroundTask>> {
        let (account, id) = (account.to_owned(), id.to_owned());
        let select = format!("{TASK} WHERE account = ?1 AND id = ?2");
        self.read(move |db| rows::one(db, &select, (account, id), task)).await
    }

    async fn tasks(&self, account: &str, filter: TaskFilter, page: Page) -> StoreResult<Vec<BackgroundTask>> {
        let account = account.to_owned();
        self.read(move |db| {
            let status = filter.status.map(|status| format!(" AND status = {}", task_status_number(status)));
            let kind = filter.kind.map(|kind| format!(" AND kind = {}", kind_number(kind)));
            let filters = [status.unwrap_or_default(), kind.unwrap_or_default()].concat();
            let select = format!("{TASK} WHERE account = $1{filters}");
            rows::list(db, &select, "id", &account, &PageQuery::new(&page), task)
        })
        .await
    }

    async fn endpoint_tasks(&self, endpoint: &str, page: Page) -> StoreResult<Vec<BackgroundTask>> {
        let endpoint = endpoint.to_owned();
        let select = format!("{TASK} WHERE endpoint = $1");
        self.read(move |db| rows::list(db, &select, "id", &endpoint, &PageQuery::new(&page), task)).await
    }

    async fn task_counts(&self) -> StoreResult<Vec<TaskCount>> {
        self.read(task_counts).await
    }

    async fn lease_tasks(
        &self,
        worker: &str,
        now: Timestamp,
        leased_until: Timestamp,
        limit: usize,
    ) -> StoreResult<Vec<BackgroundTask>> {
        if self.read(move |db| free(db, now, 1)).await?.is_empty() {
            return Ok(Vec::new());
        }
        let worker = worker.to_owned();
        self.write(move |db| lease(db, &worker, now, leased_until, limit)).await
    }

    async fn advance_task(&self, step: TaskStep) -> StoreResult<usize> {
        self.write(move |db| advance(db, &step)).await
    }

    async fn stop_task(&self, endpoint: &str, id: &str, error: &str, now: Timestamp) -> StoreResult<bool> {
        let [endpoint, id, error] = [endpoint, id, error].map(str::to_owned);
        self.write(move |db| {
            let update = "UPDATE background_tasks SET status = ?4, error = ?3, updated_at = ?5 \
                 WHERE endpoint = ?1 AND id = ?2 AND status = 0";
            let failed = task_status_number(TaskStatus::Failed);
            Ok(db.prepare_cached(update)?.execute(params![endpoint, id, error, failed, ms(now)])? > 0)
        })
        .await
    }

    async fn due_count(&self, endpoint: &str, messages: &[Id], now: Timestamp) -> StoreResult<usize> {
        let endpoint = endpoint.to_owned();
        let messages = messages.to_vec();
        self.read(move |db| {
            let select =
                "SELECT 1 FROM deliveries WHERE endpoint = ?1 AND message = ?2 AND next_at <= ?3 AND owner IS NOT 0";
            let mut look = db.prepare_cached(select)?;
            messages
                .iter()
                .try_fold(0, |due, message| Ok(due + usize::from(look.exists((&endpoint, &**message, ms(now)))?)))
        })
        .await
    }

    async fn failed_attempts(
        &self,
        application: &str,
        endpoint: &str,
        after: &str,
        before: &str,
        limit: usize,
    ) -> StoreResult<Vec<FailedAttempt>> {
        let [application, endpoint, after, before] = [application, endpoint, after, before].map(str::to_owned);
        self.read(move |db| {
            let mut statement = db.prepare_cached(FAILED_ATTEMPTS)?;
            let mut found = statement.query(params![application, endpoint, after, before, rows::sql_limit(limit)])?;
            let mut failures = Vec::new();
            while let Some(row) = found.next()? {
                failures.push(FailedAttempt {
                    attempt: rows::id(row, 0)?,
                    recoverable: if row.get(2)? { Some(rows::id(row, 1)?) } else { None },
                    is_under_way: row.get(3)?,
                });
            }
            Ok(failures)
        })
        .await
    }

    async fn replay_candidates(
        &self,
        application: &str,
        endpoint: &str,
        after: &str,
        before: &str,
        limit: usize,
    ) -> StoreResult<Vec<ReplayCandidate>> {
        let [application, endpoint, after, before] = [application, endpoint, after, before].map(str::to_owned);
        self.read(move |db| {
            let mut statement = db.prepare_cached(REPLAY_CANDIDATES)?;
            let mut found = statement.query(params![application, endpoint, after, before, rows::sql_limit(limit)])?;
            let mut candidates = Vec::new();
            while let Some(row) = found.next()? {
                candidates.push(replay_candidate(row)?);
            }
            Ok(candidates)
        })
        .await
    }

    async fn delete_old_tasks(&self, before: Timestamp, limit: usize) -> StoreResult<usize> {
        let old = "SELECT id FROM background_tasks WHERE status <> 0 AND updated_at < ?1 LIMIT ?2";
        let bounds = (ms(before), rows::sql_limit(limit));
        if self.read(move |db| rows::one(db, old, bounds, |row| rows::id(row, 0))).await?.is_none() {
            return Ok(0);
        }
        let delete = format!("DELETE FROM background_tasks WHERE id IN ({old})");
        self.write(move |db| Ok(db.execute(&delete, bounds)?)).await
    }
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

/// Attempts of a range of ids; for each failed attempt, whether its message has to be sent again; and whether it is due or
/// under way already. The `+` makes SQLite
/// find the attempts of a message by the primary key, and not among all attempts at the endpoint, which may be a
/// million.
const FAILED_ATTEMPTS: &str = "SELECT a.id, a.message, \
         CASE WHEN a.status <> 2 THEN 0 ELSE \
             NOT EXISTS (SELECT 1 FROM attempts o WHERE o.message = a.message AND +o.endpoint = ?2 \
                         AND (o.status = 0 OR (o.status = 2 AND o.id > a.id AND o.id < ?4))) \
             AND EXISTS (SELECT 1 FROM messages m WHERE m.application = ?1 AND m.id = a.message \
                         AND m.payload IS NOT NULL) END, \
         EXISTS (SELECT 1 FROM deliveries d WHERE d.endpoint = ?2 AND d.message = a.message \
                 AND (d.owner IS NOT NULL OR d.attempts = 0)) \
     FROM (SELECT id, message, status FROM attempts WHERE endpoint = ?2 AND id > ?3 AND id < ?4 ORDER BY id LIMIT ?5) a \
     ORDER BY a.id";

const REPLAY_CANDIDATES: &str = "SELECT m.id, m.event_type, m.channels, m.tags, m.payload IS NOT NULL, a.status, \
         a.response_status_code, \
         EXISTS (SELECT 1 FROM deliveries d WHERE d.endpoint = ?2 AND d.message = m.id) \
     FROM messages m LEFT JOIN attempts a ON a.message = m.id AND a.id = \
         (SELECT max(l.id) FROM attempts l WHERE l.message = m.id AND +l.endpoint = ?2) \
     WHERE m.application = ?1 AND m.id > ?3 AND m.id < ?4 ORDER BY m.id LIMIT ?5";

pub(super) const TASK: &str = "SELECT id, account, kind, application, endpoint, selection, status, position, found, enqueued, error, \
     created_at, updated_at, delivered, exhausted, skipped, cancelled, taken_over FROM background_tasks";

pub(super) fn task(row: &Row<'_>) -> SqlResult<BackgroundTask> {
    let number = |column| -> SqlResult<u64> { Ok(row.get::<_, i64>(column)?.unsigned_abs()) };
    Ok(BackgroundTask {
        id: rows::id(row, 0)?,
        account: rows::id(row, 1)?,
        kind: kind(row.get(2)?)?,
        application: rows::id(row, 3)?,
        endpoint: rows::id(row, 4)?,
        selection: selection_from_json(&row.get::<_, String>(5)?)?,
        status: task_status(row.get(6)?)?,
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
        error: row.get(10)?,
        created_at: rows::time(row, 11)?,
        updated_at: rows::time(row, 12)?,
    })
}

fn replay_candidate(row: &Row<'_>) -> SqlResult<ReplayCandidate> {
    let words = |column| -> SqlResult<Option<Vec<String>>> {
        Ok(codec::optional_from_json(row.get::<_, Option<String>>(column)?.as_deref())?)
    };
    Ok(ReplayCandidate {
        message: rows::id(row, 0)?,
        event_type: row.get(1)?,
        channels: words(2)?,
        tags: words(3)?,
        payload_kept: row.get(4)?,
        latest: latest(row.get(5)?, row.get(6)?)?,
        waits: row.get(7)?,
    })
}

pub(super) fn create(db: &Connection, new: &BackgroundTask, answer: Option<&IdempotentAnswer>) -> SqlResult<()> {
    idempotency::keep_or_replay(db, answer)?;
    let insert = "INSERT INTO background_tasks (id, account, kind, application, endpoint, selection, status, position, \
         found, enqueued, error, created_at, updated_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)";
    db.prepare_cached(insert)?.execute(params![
        &*new.id,
        &*new.account,
        kind_number(new.kind),
        &*new.application,
        &*new.endpoint,
        selection_to_json(&new.selection)?,
        task_status_number(new.status),
        &*new.progress.position,
        new.progress.found as i64,
        new.progress.enqueued as i64,
        new.error,
        ms(new.created_at),
        ms(new.updated_at)
    ])?;
    Ok(())
}

/// Running tasks without a valid lease, ordered by waiting time.
fn free(db: &Connection, now: Timestamp, limit: usize) -> SqlResult<Vec<BackgroundTask>> {
    let select = format!("{TASK} WHERE status = 0 AND leased_until <= ?1 ORDER BY leased_until, id LIMIT ?2");
    let mut statement = db.prepare_cached(&select)?;
    let mut found = statement.query((ms(now), rows::sql_limit(limit)))?;
    let mut free = Vec::new();
    while let Some(row) = found.next()? {
        free.push(task(row)?);
    }
    Ok(free)
}

fn lease(
    db: &Connection,
    worker: &str,
    now: Timestamp,
    leased_until: Timestamp,
    limit: usize,
) -> SqlResult<Vec<BackgroundTask>> {
    let free = free(db, now, limit)?;
    let mut set_lease =
        db.prepare_cached("UPDATE background_tasks SET worker = ?2, leased_until = ?3 WHERE id = ?1")?;
    for task in &free {
        set_lease.execute((&*task.id, worker, ms(leased_until)))?;
    }
    Ok(free)
}

fn advance(db: &Connection, step: &TaskStep) -> SqlResult<usize> {
    let select =
        "SELECT endpoint, kind FROM background_tasks WHERE id = ?1 AND position = ?2 AND worker = ?3 AND status = 0";
    let found = rows::one(db, select, (&*step.task, &*step.from, &*step.worker), |row| {
        Ok((rows::id(row, 0)?, kind(row.get(1)?)?))
    })?;
    let (endpoint, kind) = found.ok_or(StoreError::Conflict)?;
    let enqueued = if step.messages.is_empty() { 0 } else { enqueue(db, &endpoint, kind, step)? };
    let update = "UPDATE background_tasks SET position = ?2, found = found + ?3, enqueued = enqueued + ?4, status = ?5, \
         error = ?6, leased_until = ?7, updated_at = CASE WHEN ?8 THEN ?9 ELSE updated_at END WHERE id = ?1";
    db.prepare_cached(update)?.execute(params![
        &*step.task,
        &*step.to,
        step.found as i64,
        enqueued as i64,
        task_status_number(step.status),
        step.error,
        ms(step.leased_until),
        step.is_progress(),
        ms(step.now)
    ])?;
    Ok(enqueued)
}

/// Inserts delivery rows for the messages of a step that still have to be sent, in the order of their ordering key at
/// an endpoint with ordered delivery. A row that waits for its next attempt becomes due, and from then on counts for this
/// task. No row becomes due before the message's `deliverAt`.
fn enqueue(db: &Connection, endpoint: &Id, kind: TaskKind, step: &TaskStep) -> SqlResult<usize> {
    let order = "SELECT ordering <> 0 FROM endpoints WHERE id = ?1 AND NOT disabled";
    let in_order =
        rows::one(db, order, [&**endpoint], |row| Ok(row.get::<_, bool>(0)?))?.ok_or(StoreError::NotFound)?;
    let must_send = enqueue_condition(kind, "?2", "?1");
    let insert = format!(
        "INSERT INTO deliveries (endpoint, message, owner, attempts, next_at, manual, task, ended_before) \
         SELECT ?1, ?2, NULL, 0, max(?3, coalesce(\
             (SELECT m.deliver_at FROM endpoints e JOIN messages m ON m.application = e.application AND m.id = ?2 \
              WHERE e.id = ?1), ?3)), -1, ?4, EXISTS (SELECT 1 FROM attempts WHERE message = ?2 AND +endpoint = ?1) \
         WHERE {must_send}"
    );
    let key = format!(
        "SELECT m.ordering_key, m.deliver_at FROM endpoints e JOIN messages m ON m.application = e.application AND m.id = ?2 \
         WHERE e.id = ?1 AND m.ordering_key IS NOT NULL AND {must_send}"
    );
    let retried = "SELECT task FROM deliveries \
         WHERE endpoint = ?1 AND message = ?2 AND owner IS NULL AND attempts > 0 AND next_at > ?3";
    let make_due = "UPDATE deliveries SET next_at = ?3, manual = -1, task = ?4 WHERE endpoint = ?1 AND message = ?2";
    let mut make_due = db.prepare_cached(make_due)?;
    let mut insert = db.prepare_cached(&insert)?;
    let mut messages: Vec<&Id> = step.messages.iter().collect();
    messages.sort_unstable();
    let mut enqueued = 0;
    let mut earlier = TaskAdditions::default();
    for message in messages {
        let retried = match kind.makes_retries_due() {
            true => rows::one(db, retried, (&**endpoint, &**message, ms(step.now)), |row| Ok(row.get(0)?))?,
            false => None,
        };
        if let Some(task) = retried {
            make_due.execute((&**endpoint, &**message, ms(step.now), &*step.task))?;
            if let Some(task) = task {
                earlier.taken_over(task);
            }
            enqueued += 1;
            continue;
        }
        let key = match in_order {
            true => rows::one(db, &key, (&**endpoint, &**message), |row| {
                Ok(rows::ordering_key(row, 0)?.zip(Some(rows::optional_time(row, 1)?)))
            })?,
            false => None,
        };
        enqueued += match key.flatten() {
            Some((key, deliver_at)) => {
                let due = deliver_at.map_or(step.now, |at| at.max(step.now));
                ordering::reenqueue(db, endpoint, message, &key, due, &step.task).map(|()| 1)?
            }
            None => insert.execute((&**endpoint, &**message, ms(step.now), &*step.task))?,
        };
    }
    counts::add_to_tasks(db, &earlier)?;
    Ok(enqueued)
}
