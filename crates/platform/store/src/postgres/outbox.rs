//! The outbox and the quarantine.

use std::borrow::Cow;
use std::collections::BTreeMap;

use async_trait::async_trait;
use jiff::Timestamp;
use kit_engine::postgres::{Connection, Transaction};
use platform_core::port::{
    Backlog, CUSTOMER_EVENTS_COUNTED_MAX, Cursor, CustomerBacklog, Failing, IdempotentAnswer, NodeId, OutboxEvent,
    OutboxSettlement, OutboxStore, OvertakenPolicy, Page, PublishResult, QuarantinedEvent, StoreError, StoreResult,
};
use tokio_postgres::Row;
use uuid::Uuid;

use super::rows::{self, SqlResult};
use super::{PostgresStore, idempotency, locks, nodes};
use crate::codec::{self, corrupt, ms};

/// Condition on a row `o`: it is the earliest row of its subject. NOT EXISTS could become a join that reads the whole
/// queue to find its first rows.
const FIRST: &str = "o.cursor = (SELECT min(e.cursor) FROM outbox e WHERE e.subject = o.subject)";

/// Condition on a row `o`: it is unassigned and due at `$1`.
const FREE: &str = "o.owner IS NULL AND (o.next_at_ms IS NULL OR o.next_at_ms <= $1)";

/// Condition on a consumer `c`: its queue is running.
const OPEN: &str = "c.application_id IS NOT NULL AND c.api_key IS NOT NULL AND c.parked_at_ms IS NULL";

/// Selects the page first and then its journal rows. A join might read the journal from its beginning.
pub(super) const QUARANTINED: &str = "SELECT q.cursor, q.customer, j.subject, q.attempts, j.sequence, j.kind, j.body, j.at_ms, \
         (SELECT a.restore_number FROM announced_again a WHERE a.cursor = q.cursor), q.traceparent, q.error, q.at_ms \
     FROM (SELECT cursor, customer, attempts, error, at_ms, traceparent FROM quarantine \
         WHERE customer = $1 AND cursor > $2 ORDER BY cursor LIMIT $3) AS q \
     CROSS JOIN LATERAL (SELECT subject, sequence, kind, body, at_ms FROM journal WHERE cursor = q.cursor LIMIT 1) AS j \
     ORDER BY q.cursor";

/// Selects the journal rows of the subject first, for the same reason.
pub(super) const QUARANTINED_OF: &str = "SELECT q.cursor, q.customer, j.subject, q.attempts, j.sequence, j.kind, j.body, j.at_ms, \
         (SELECT a.restore_number FROM announced_again a WHERE a.cursor = q.cursor), q.traceparent, q.error, q.at_ms \
     FROM (SELECT cursor, customer, subject, sequence, kind, body, at_ms FROM journal WHERE subject = $1 OFFSET 0) AS j \
     CROSS JOIN LATERAL (SELECT cursor, customer, attempts, error, at_ms, traceparent FROM quarantine \
         WHERE customer = j.customer AND cursor = j.cursor LIMIT 1) AS q \
     ORDER BY q.cursor";

/// Steps from customer to customer in the indexes.
const CUSTOMER_BACKLOGS: &str = "WITH RECURSIVE waiting (customer) AS ( \
         (SELECT customer FROM outbox ORDER BY customer LIMIT 1) \
         UNION ALL \
         SELECT next.customer FROM waiting CROSS JOIN LATERAL ( \
             SELECT o.customer FROM outbox o WHERE o.customer > waiting.customer ORDER BY o.customer LIMIT 1) next \
     ), refused (customer) AS ( \
         (SELECT customer FROM quarantine ORDER BY customer LIMIT 1) \
         UNION ALL \
         SELECT next.customer FROM refused CROSS JOIN LATERAL ( \
             SELECT q.customer FROM quarantine q WHERE q.customer > refused.customer ORDER BY q.customer LIMIT 1) next \
     ), parked AS (SELECT customer, parked_at_ms FROM consumers WHERE parked_at_ms IS NOT NULL) \
     SELECT f.customer, (SELECT count(*) FROM (SELECT FROM outbox o WHERE o.customer = f.customer LIMIT $1) counted), \
         (SELECT j.at_ms FROM (SELECT o.cursor FROM outbox o WHERE o.customer = f.customer ORDER BY o.cursor LIMIT 1) first \
             JOIN journal j ON j.cursor = first.cursor), \
         (SELECT count(*) FROM (SELECT FROM quarantine q WHERE q.customer = f.customer LIMIT $1) counted), \
         (SELECT p.parked_at_ms FROM parked p WHERE p.customer = f.customer) \
     FROM (SELECT customer FROM waiting UNION SELECT customer FROM refused UNION SELECT customer FROM parked) f \
     ORDER BY f.customer";

#[async_trait]
impl OutboxStore for PostgresStore {
    async fn customers_with_outbox(&self, now: Timestamp) -> StoreResult<Vec<Uuid>> {
        Ok(customers_with_work(&self.client().await?, now).await?)
    }

    async fn claim_outbox(
        &self,
        node: NodeId,
        customer: Uuid,
        now: Timestamp,
        limit: usize,
    ) -> StoreResult<Vec<OutboxEvent>> {
        self.write(&(node, customer, now, limit), |db, &(node, customer, now, limit)| {
            Box::pin(claim(db, node, customer, now, limit))
        })
        .await
    }

    async fn next_outbox_attempt(&self, customer: Uuid) -> StoreResult<Option<Timestamp>> {
        Ok(next_attempt(&self.client().await?, customer).await?)
    }

    async fn record_outbox_outcomes(&self, outcomes: Vec<OutboxSettlement>, now: Timestamp) -> StoreResult<()> {
        self.write(&(outcomes, now), |db, (outcomes, now)| Box::pin(settle(db, outcomes, *now))).await
    }

    async fn backlog(&self, customer: Uuid) -> StoreResult<Backlog> {
        Ok(backlog(&self.client().await?, customer).await?)
    }

    async fn customer_backlogs(&self) -> StoreResult<Vec<CustomerBacklog>> {
        let counted_max = rows::limit(CUSTOMER_EVENTS_COUNTED_MAX);
        let client = self.client().await?;
        let found = rows::list(&client, CUSTOMER_BACKLOGS, &[&counted_max], |row| {
            Ok(CustomerBacklog {
                customer: rows::get(row, 0)?,
                pending: rows::count(row, 1)?,
                oldest_at: rows::optional_time(row, 2)?,
                quarantined: rows::count(row, 3)?,
                parked_at: rows::optional_time(row, 4)?,
            })
        })
        .await?;
        Ok(found)
    }

    async fn quarantined(&self, customer: Uuid, page: Page<Cursor>) -> StoreResult<Vec<QuarantinedEvent>> {
        Ok(quarantined(&self.client().await?, customer, page).await?)
    }

    async fn quarantined_of(&self, subject: Uuid) -> StoreResult<Vec<QuarantinedEvent>> {
        Ok(rows::list(&self.client().await?, QUARANTINED_OF, &[&subject], quarantined_event).await?)
    }

    async fn overtaken(&self, customer: Uuid, cursors: Vec<Cursor>) -> StoreResult<Vec<Cursor>> {
        Ok(overtaken(&self.client().await?, customer, &cursors).await?)
    }

    async fn requeue_quarantined(
        &self,
        customer: Uuid,
        cursors: Vec<Cursor>,
        after_later: OvertakenPolicy,
        answer: Option<IdempotentAnswer>,
    ) -> StoreResult<()> {
        self.write(&(customer, cursors, after_later, answer), |db, (customer, cursors, after_later, answer)| {
            Box::pin(async move {
                idempotency::keep_or_replay(db, answer.as_ref()).await?;
                requeue_quarantined(db, *customer, cursors, *after_later).await
            })
        })
        .await?;
        self.postgres.notify().await;
        Ok(())
    }

    async fn drop_quarantined(
        &self,
        customer: Uuid,
        cursors: Vec<Cursor>,
        answer: Option<IdempotentAnswer>,
    ) -> StoreResult<()> {
        self.write(&(customer, cursors, answer), |db, (customer, cursors, answer)| {
            Box::pin(async move {
                idempotency::keep_or_replay(db, answer.as_ref()).await?;
                take_out(db, *customer, cursors).await
            })
        })
        .await
    }
}

/// Inserts the announced events after a cursor that are not in the outbox.
pub(super) async fn reenqueue(db: &impl Connection, customer: Uuid, after: Cursor) -> SqlResult<()> {
    let insert = "INSERT INTO outbox (cursor, customer, subject, attempts) \
         SELECT cursor, customer, subject, 0 FROM journal \
         WHERE customer = $1 AND cursor > $2 AND body IS NOT NULL ORDER BY cursor ON CONFLICT (customer, cursor) DO NOTHING";
    rows::execute(db, insert, &[&customer, &after]).await.map(drop)
}

/// Makes rows that wait after a failure due immediately, and resets their failures.
pub(super) async fn reset_failures(db: &impl Connection, customer: Uuid) -> SqlResult<()> {
    let anew = "UPDATE outbox SET next_at_ms = NULL, error = NULL, error_at_ms = NULL \
         WHERE customer = $1 AND error_at_ms IS NOT NULL";
    rows::execute(db, anew, &[&customer]).await.map(drop)
}

pub(super) async fn customers_with_work(db: &impl Connection, now: Timestamp) -> SqlResult<Vec<Uuid>> {
    let select = format!(
        "SELECT c.customer FROM consumers c CROSS JOIN LATERAL \
             (SELECT 1 FROM outbox o WHERE o.customer = c.customer AND {FREE} AND {FIRST} ORDER BY o.cursor LIMIT 1) o \
         WHERE {OPEN} ORDER BY c.customer"
    );
    rows::list(db, &select, &[&ms(now)], |row| rows::get(row, 0)).await
}

/// Skips rows that another node is claiming. PostgreSQL evaluates the condition again before it locks a row that was
/// changed meanwhile.
pub(super) async fn claim(
    db: &Transaction<'_>,
    node: NodeId,
    customer: Uuid,
    now: Timestamp,
    limit: usize,
) -> SqlResult<Vec<OutboxEvent>> {
    let pick = format!(
        "SELECT o.cursor FROM outbox o WHERE o.customer = $2 AND {FREE} AND {FIRST} \
             AND EXISTS (SELECT 1 FROM consumers c WHERE c.customer = $2 AND {OPEN}) \
         ORDER BY o.cursor LIMIT $3 FOR UPDATE OF o SKIP LOCKED"
    );
    let values: rows::Values<'_> = &[&ms(now), &customer, &rows::limit(limit)];
    let cursors: Vec<Cursor> = rows::list(db, &pick, values, |row| rows::get(row, 0)).await?;
    if cursors.is_empty() {
        return Ok(Vec::new());
    }
    nodes::register_node(db, node).await?;
    let give = "WITH given AS (UPDATE outbox SET owner = $3, next_at_ms = NULL WHERE customer = $2 AND cursor = ANY($1) \
             RETURNING cursor, customer, subject, attempts, traceparent) \
         SELECT g.cursor, g.customer, g.subject, g.attempts, j.sequence, j.kind, j.body, j.at_ms, \
             (SELECT a.restore_number FROM announced_again a WHERE a.cursor = g.cursor), g.traceparent \
         FROM given g JOIN journal j ON j.cursor = g.cursor ORDER BY g.cursor";
    rows::list(db, give, &[&cursors, &customer, &node.0], event).await
}

/// Columns `cursor, customer, subject, attempts` of the outbox or quarantine, `sequence, kind, body, at_ms` of the journal,
/// the number of the restore in the event id, and `traceparent` of the outbox or quarantine.
fn event(row: &Row) -> SqlResult<OutboxEvent> {
    Ok(OutboxEvent {
        cursor: rows::get(row, 0)?,
        customer: rows::get(row, 1)?,
        subject: rows::get(row, 2)?,
        attempts: u32::try_from(rows::get::<i32>(row, 3)?).map_err(corrupt)?,
        sequence: rows::get(row, 4)?,
        event_type: codec::event_type(codec::kind(rows::get(row, 5)?)?),
        body: rows::get(row, 6)?,
        at: rows::time(row, 7)?,
        restore_number: rows::optional_u32(row, 8)?,
        trace_parent: codec::trace_parent(rows::get(row, 9)?),
    })
}

pub(super) async fn next_attempt(db: &impl Connection, customer: Uuid) -> SqlResult<Option<Timestamp>> {
    let select = format!(
        "SELECT o.next_at_ms FROM outbox o \
         WHERE o.customer = $1 AND o.next_at_ms IS NOT NULL AND o.owner IS NULL AND {FIRST} \
         ORDER BY o.next_at_ms LIMIT 1"
    );
    rows::one(db, &select, &[&customer], |row| rows::time(row, 0)).await
}

/// Locks the rows in the order of queue and cursor, so that two nodes can't deadlock. Each statement names its rows by
/// their whole key: a join that was planned for a short queue would read the whole of a long queue.
pub(super) async fn settle(db: &Transaction<'_>, outcomes: &[OutboxSettlement], now: Timestamp) -> SqlResult<()> {
    let mut queues: BTreeMap<Uuid, Vec<&OutboxSettlement>> = BTreeMap::new();
    for outcome in outcomes {
        queues.entry(outcome.customer).or_default().push(outcome);
    }
    for (customer, mut outcomes) in queues {
        outcomes.sort_unstable_by_key(|outcome| outcome.cursor);
        settle_queue(db, customer, &outcomes, now).await?;
    }
    Ok(())
}

/// Runs one statement for each kind of outcome.
async fn settle_queue(
    db: &Transaction<'_>,
    customer: Uuid,
    outcomes: &[&OutboxSettlement],
    now: Timestamp,
) -> SqlResult<()> {
    let mut finished: Vec<Cursor> = Vec::new();
    let mut released: Vec<Cursor> = Vec::new();
    let mut retried: Vec<Cursor> = Vec::new();
    let mut retry_times: Vec<i64> = Vec::new();
    let mut retry_errors: Vec<Cow<'_, str>> = Vec::new();
    let mut quarantined: Vec<Cursor> = Vec::new();
    let mut quarantine_errors: Vec<Cow<'_, str>> = Vec::new();
    for OutboxSettlement { cursor, result, .. } in outcomes {
        match result {
            PublishResult::Published => finished.push(*cursor),
            PublishResult::Released => released.push(*cursor),
            PublishResult::Retry { at, error } => {
                retried.push(*cursor);
                retry_times.push(ms(*at));
                retry_errors.push(rows::foreign_text(error));
            }
            PublishResult::Quarantined { error } => {
                finished.push(*cursor);
                quarantined.push(*cursor);
                quarantine_errors.push(rows::foreign_text(error));
            }
        }
    }
    if !retried.is_empty() {
        let retry = "UPDATE outbox o SET owner = NULL, next_at_ms = n.at_ms, attempts = attempts + 1, error = n.error, \
             error_at_ms = $5 FROM unnest($2::bigint[], $3::bigint[], $4::text[]) AS n (cursor, at_ms, error) \
             WHERE o.customer = $1 AND o.cursor = ANY($2) AND o.cursor = n.cursor";
        rows::execute(db, retry, &[&customer, &retried, &retry_times, &retry_errors, &ms(now)]).await?;
    }
    if !quarantined.is_empty() {
        let quarantine = "INSERT INTO quarantine (customer, cursor, attempts, error, at_ms, traceparent) \
             SELECT o.customer, o.cursor, o.attempts, n.error, $4, o.traceparent \
             FROM outbox o JOIN unnest($2::bigint[], $3::text[]) AS n (cursor, error) ON o.cursor = n.cursor \
             WHERE o.customer = $1 AND o.cursor = ANY($2) ON CONFLICT (customer, cursor) DO UPDATE SET \
             attempts = excluded.attempts, error = excluded.error, at_ms = excluded.at_ms, \
             traceparent = excluded.traceparent";
        rows::execute(db, quarantine, &[&customer, &quarantined, &quarantine_errors, &ms(now)]).await?;
    }
    if !finished.is_empty() {
        let finish = "DELETE FROM outbox WHERE customer = $1 AND cursor = ANY($2)";
        rows::execute(db, finish, &[&customer, &finished]).await?;
    }
    if !released.is_empty() {
        let release = "UPDATE outbox SET owner = NULL WHERE customer = $1 AND cursor = ANY($2)";
        rows::execute(db, release, &[&customer, &released]).await?;
    }
    Ok(())
}

/// The first row is the oldest, because cursors ascend in commit order.
pub(super) async fn backlog(db: &impl Connection, customer: Uuid) -> SqlResult<Backlog> {
    let select = "SELECT (SELECT count(*) FROM outbox WHERE customer = $1), \
         (SELECT j.at_ms FROM outbox o JOIN journal j ON j.cursor = o.cursor WHERE o.customer = $1 \
             ORDER BY o.cursor LIMIT 1), \
         (SELECT count(*) FROM quarantine WHERE customer = $1)";
    let backlog = rows::one(db, select, &[&customer], |row| {
        Ok(Backlog {
            pending: rows::count(row, 0)?,
            oldest_at: rows::optional_time(row, 1)?,
            quarantined: rows::count(row, 2)?,
            failing: None,
        })
    })
    .await?;
    Ok(Backlog { failing: failing(db, customer).await?, ..backlog.unwrap_or_default() })
}

async fn failing(db: &impl Connection, customer: Uuid) -> SqlResult<Option<Failing>> {
    let latest = "SELECT error, error_at_ms FROM outbox WHERE customer = $1 AND error_at_ms IS NOT NULL \
         ORDER BY error_at_ms DESC LIMIT 1";
    let latest = rows::one(db, latest, &[&customer], |row| Ok((rows::get(row, 0)?, rows::time(row, 1)?))).await?;
    let Some((error, at)) = latest else { return Ok(None) };
    Ok(Some(Failing { error, at, next_attempt_at: next_attempt(db, customer).await? }))
}

pub(super) async fn quarantined(
    db: &impl Connection,
    customer: Uuid,
    page: Page<Cursor>,
) -> SqlResult<Vec<QuarantinedEvent>> {
    let after = page.after.unwrap_or(0);
    rows::list(db, QUARANTINED, &[&customer, &after, &rows::limit(page.limit)], quarantined_event).await
}

/// The columns of [`QUARANTINED`].
fn quarantined_event(row: &Row) -> SqlResult<QuarantinedEvent> {
    Ok(QuarantinedEvent { event: event(row)?, error: rows::get(row, 10)?, at: rows::time(row, 11)? })
}

async fn requeue_quarantined(
    db: &Transaction<'_>,
    customer: Uuid,
    cursors: &[Cursor],
    after_later: OvertakenPolicy,
) -> SqlResult<()> {
    // Until the commit, no later event of these subjects can be inserted or claimed.
    locks::journal(db).await?;
    let later = "SELECT o.cursor FROM outbox o \
         WHERE o.subject IN (SELECT subject FROM journal WHERE cursor = ANY($1)) ORDER BY o.cursor FOR UPDATE";
    rows::list(db, later, &[&cursors], |_| Ok(())).await?;
    let connected = "SELECT 1 FROM consumers \
         WHERE customer = $1 AND application_id IS NOT NULL AND api_key IS NOT NULL FOR UPDATE";
    if rows::one(db, connected, &[&customer], |_| Ok(())).await?.is_none() {
        return Err(StoreError::Conflict.into());
    }
    if after_later == OvertakenPolicy::Refuse && !overtaken(db, customer, cursors).await?.is_empty() {
        return Err(StoreError::Conflict.into());
    }
    let enter = "INSERT INTO outbox (cursor, customer, subject, attempts, traceparent) \
         SELECT q.cursor, q.customer, j.subject, 0, q.traceparent FROM quarantine q JOIN journal j ON j.cursor = q.cursor \
         WHERE q.customer = $1 AND q.cursor = ANY($2) ORDER BY q.cursor ON CONFLICT (customer, cursor) DO NOTHING";
    rows::execute(db, enter, &[&customer, &cursors]).await?;
    let number = "INSERT INTO announced_again (cursor, restore_number) \
         SELECT q.cursor, i.restores FROM quarantine q CROSS JOIN installation i \
         WHERE q.customer = $1 AND q.cursor = ANY($2) AND i.restores > 0 \
         ON CONFLICT (cursor) DO UPDATE SET restore_number = excluded.restore_number";
    rows::execute(db, number, &[&customer, &cursors]).await?;
    take_out(db, customer, cursors).await
}

async fn take_out(db: &Transaction<'_>, customer: Uuid, cursors: &[Cursor]) -> SqlResult<()> {
    let delete = "DELETE FROM quarantine WHERE customer = $1 AND cursor = ANY($2)";
    let count = rows::execute(db, delete, &[&customer, &cursors]).await?;
    if count == cursors.len() as u64 { Ok(()) } else { Err(StoreError::Conflict.into()) }
}

async fn overtaken(db: &impl Connection, customer: Uuid, cursors: &[Cursor]) -> SqlResult<Vec<Cursor>> {
    let select = "SELECT j.cursor FROM journal j WHERE j.cursor = ANY($2) AND j.customer = $1 AND EXISTS \
         (SELECT 1 FROM journal l WHERE l.subject = j.subject AND l.sequence > j.sequence AND l.body IS NOT NULL \
             AND NOT EXISTS (SELECT 1 FROM outbox o WHERE o.customer = $1 AND o.cursor = l.cursor AND o.owner IS NULL) \
             AND NOT EXISTS (SELECT 1 FROM quarantine q WHERE q.customer = $1 AND q.cursor = l.cursor)) \
         ORDER BY j.cursor";
    rows::list(db, select, &[&customer, &cursors], |row| rows::get(row, 0)).await
}
