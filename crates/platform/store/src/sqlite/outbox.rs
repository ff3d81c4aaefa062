//! The outbox and the quarantine.

use std::collections::BTreeMap;

use async_trait::async_trait;
use jiff::Timestamp;
use platform_core::port::{
    Backlog, CUSTOMER_EVENTS_COUNTED_MAX, Cursor, CustomerBacklog, Failing, IdempotentAnswer, NodeId, OutboxEvent,
    OutboxSettlement, OutboxStore, OvertakenPolicy, Page, PublishResult, QuarantinedEvent, StoreError, StoreResult,
};
use rusqlite::{Connection, Row};
use uuid::Uuid;

use super::consumers::{self, ConnectionState};
use super::rows::{self, SqlResult};
use super::{SqliteStore, idempotency, nodes};
use crate::codec::{self, ms};

/// Condition on a row `o`: it is unassigned, due at `?1`, and the earliest of its subject.
const CLAIMABLE: &str = "o.owner IS NULL AND (o.next_at_ms IS NULL OR o.next_at_ms <= ?1) AND NOT EXISTS \
     (SELECT 1 FROM outbox e INDEXED BY outbox_of_subject WHERE e.subject = o.subject AND e.cursor < o.cursor)";

/// The number of the restore in the event id of a journal row `j`.
const RESTORE_NUMBER: &str = "(SELECT a.restore_number FROM announced_again a WHERE a.cursor = j.cursor)";

/// Columns of a quarantined event: of the quarantine `q` and the journal `j`.
const QUARANTINED: &str = "q.cursor, q.customer, j.subject, q.attempts, j.sequence, j.kind, j.body, j.at_ms, \
     (SELECT a.restore_number FROM announced_again a WHERE a.cursor = j.cursor), q.traceparent, q.error, q.at_ms";

#[async_trait]
impl OutboxStore for SqliteStore {
    async fn customers_with_outbox(&self, now: Timestamp) -> StoreResult<Vec<Uuid>> {
        self.read(move |db| customers_with_work(db, now)).await
    }

    async fn claim_outbox(
        &self,
        node: NodeId,
        customer: Uuid,
        now: Timestamp,
        limit: usize,
    ) -> StoreResult<Vec<OutboxEvent>> {
        self.write(move |db| claim(db, node, customer, now, limit)).await
    }

    async fn next_outbox_attempt(&self, customer: Uuid) -> StoreResult<Option<Timestamp>> {
        self.read(move |db| next_attempt(db, customer)).await
    }

    async fn record_outbox_outcomes(&self, outcomes: Vec<OutboxSettlement>, now: Timestamp) -> StoreResult<()> {
        self.write(move |db| settle(db, &outcomes, now)).await
    }

    async fn backlog(&self, customer: Uuid) -> StoreResult<Backlog> {
        self.read(move |db| backlog(db, customer)).await
    }

    async fn customer_backlogs(&self) -> StoreResult<Vec<CustomerBacklog>> {
        self.read(customer_backlogs).await
    }

    async fn quarantined(&self, customer: Uuid, page: Page<Cursor>) -> StoreResult<Vec<QuarantinedEvent>> {
        self.read(move |db| quarantined(db, customer, page)).await
    }

    async fn quarantined_of(&self, subject: Uuid) -> StoreResult<Vec<QuarantinedEvent>> {
        self.read(move |db| quarantined_of(db, subject)).await
    }

    async fn overtaken(&self, customer: Uuid, cursors: Vec<Cursor>) -> StoreResult<Vec<Cursor>> {
        self.read(move |db| {
            let mut passed = Vec::new();
            for cursor in cursors {
                if is_overtaken(db, customer, cursor)? {
                    passed.push(cursor);
                }
            }
            Ok(passed)
        })
        .await
    }

    async fn requeue_quarantined(
        &self,
        customer: Uuid,
        cursors: Vec<Cursor>,
        after_later: OvertakenPolicy,
        answer: Option<IdempotentAnswer>,
    ) -> StoreResult<()> {
        self.write(move |db| {
            idempotency::keep_or_replay(db, answer.as_ref())?;
            if consumers::connected(db, customer)? == ConnectionState::Incomplete {
                return Err(StoreError::Conflict.into());
            }
            for cursor in cursors {
                if after_later == OvertakenPolicy::Refuse && is_overtaken(db, customer, cursor)? {
                    return Err(StoreError::Conflict.into());
                }
                let enter = "INSERT INTO outbox (cursor, customer, subject, attempts, traceparent) \
                     SELECT q.cursor, q.customer, j.subject, 0, q.traceparent \
                     FROM quarantine q CROSS JOIN journal j ON j.cursor = q.cursor \
                     WHERE q.customer = ?1 AND q.cursor = ?2 ON CONFLICT (cursor) DO NOTHING";
                rows::execute(db, enter, (customer.as_bytes(), cursor))?;
                let number = "INSERT INTO announced_again (cursor, restore_number) \
                     SELECT ?1, restores FROM installation WHERE restores > 0 \
                     ON CONFLICT (cursor) DO UPDATE SET restore_number = excluded.restore_number";
                rows::execute(db, number, [cursor])?;
                take_out(db, customer, cursor)?;
            }
            Ok(())
        })
        .await
    }

    async fn drop_quarantined(
        &self,
        customer: Uuid,
        cursors: Vec<Cursor>,
        answer: Option<IdempotentAnswer>,
    ) -> StoreResult<()> {
        self.write(move |db| {
            idempotency::keep_or_replay(db, answer.as_ref())?;
            cursors.into_iter().try_for_each(|cursor| take_out(db, customer, cursor))
        })
        .await
    }
}

/// Inserts the announced events after a cursor that are not in the outbox.
pub(super) fn reenqueue(db: &Connection, customer: Uuid, after: Cursor) -> SqlResult<()> {
    let insert = "INSERT INTO outbox (cursor, customer, subject, attempts) \
         SELECT cursor, customer, subject, 0 FROM journal INDEXED BY journal_announced \
         WHERE customer = ?1 AND cursor > ?2 AND body IS NOT NULL ORDER BY cursor ON CONFLICT (cursor) DO NOTHING";
    rows::execute(db, insert, (customer.as_bytes(), after)).map(drop)
}

/// Makes rows that wait after a failure due immediately, and resets their failures.
pub(super) fn reset_failures(db: &Connection, customer: Uuid) -> SqlResult<()> {
    let anew = "UPDATE outbox INDEXED BY outbox_failed SET next_at_ms = NULL, error = NULL, error_at_ms = NULL \
         WHERE customer = ?1 AND error_at_ms IS NOT NULL";
    rows::execute(db, anew, [customer.as_bytes()]).map(drop)
}

pub(super) fn customers_with_work(db: &Connection, now: Timestamp) -> SqlResult<Vec<Uuid>> {
    let select = format!(
        "SELECT c.customer FROM consumers c \
         WHERE c.application_id IS NOT NULL AND c.api_key IS NOT NULL AND c.parked_at_ms IS NULL AND EXISTS \
             (SELECT 1 FROM outbox o INDEXED BY outbox_of_customer WHERE o.customer = c.customer AND {CLAIMABLE}) \
         ORDER BY c.customer"
    );
    rows::list(db, &select, [ms(now)], |row| rows::uuid(row, 0))
}

pub(super) fn claim(
    db: &Connection,
    node: NodeId,
    customer: Uuid,
    now: Timestamp,
    limit: usize,
) -> SqlResult<Vec<OutboxEvent>> {
    if !matches!(consumers::connected(db, customer)?, ConnectionState::Open(_)) {
        return Ok(Vec::new());
    }
    let select = format!(
        "SELECT o.cursor, o.customer, o.subject, o.attempts, j.sequence, j.kind, j.body, j.at_ms, {RESTORE_NUMBER}, o.traceparent \
         FROM outbox o INDEXED BY outbox_of_customer CROSS JOIN journal j ON j.cursor = o.cursor \
         WHERE o.customer = ?2 AND {CLAIMABLE} ORDER BY o.cursor LIMIT ?3"
    );
    let claimed = rows::list(db, &select, (ms(now), customer.as_bytes(), rows::limit(limit)), event)?;
    if !claimed.is_empty() {
        let owner = nodes::node_number(db, node)?;
        let mut give = db.prepare_cached("UPDATE outbox SET owner = ?2, next_at_ms = NULL WHERE cursor = ?1")?;
        for event in &claimed {
            give.execute((event.cursor, owner))?;
        }
    }
    Ok(claimed)
}

/// Columns `cursor, customer, subject, attempts` of the outbox or quarantine, `sequence, kind, body, at_ms` of the journal,
/// [`RESTORE_NUMBER`], and `traceparent` of the outbox or quarantine.
fn event(row: &Row<'_>) -> SqlResult<OutboxEvent> {
    Ok(OutboxEvent {
        cursor: row.get(0)?,
        customer: rows::uuid(row, 1)?,
        subject: rows::uuid(row, 2)?,
        attempts: row.get(3)?,
        sequence: row.get(4)?,
        event_type: codec::event_type(codec::kind(row.get(5)?)?),
        body: row.get(6)?,
        at: rows::time(row, 7)?,
        restore_number: row.get(8)?,
        trace_parent: codec::trace_parent(rows::optional_text(row, 9)?),
    })
}

pub(super) fn next_attempt(db: &Connection, customer: Uuid) -> SqlResult<Option<Timestamp>> {
    let select = "SELECT o.next_at_ms FROM outbox o INDEXED BY outbox_by_time \
         WHERE o.customer = ?1 AND o.next_at_ms IS NOT NULL AND o.owner IS NULL AND NOT EXISTS \
             (SELECT 1 FROM outbox e INDEXED BY outbox_of_subject WHERE e.subject = o.subject AND e.cursor < o.cursor) \
         ORDER BY o.next_at_ms LIMIT 1";
    rows::one(db, select, [customer.as_bytes()], |row| rows::time(row, 0))
}

pub(super) fn settle(db: &Connection, outcomes: &[OutboxSettlement], now: Timestamp) -> SqlResult<()> {
    let mut finish = db.prepare_cached("DELETE FROM outbox WHERE cursor = ?1")?;
    for outcome in outcomes {
        let cursor = outcome.cursor;
        match &outcome.result {
            PublishResult::Published => {
                finish.execute([cursor])?;
            }
            PublishResult::Retry { at, error } => {
                let retry = "UPDATE outbox SET owner = NULL, next_at_ms = ?2, attempts = attempts + 1, error = ?3, \
                     error_at_ms = ?4 WHERE cursor = ?1";
                rows::execute(db, retry, (cursor, ms(*at), error, ms(now)))?;
            }
            PublishResult::Quarantined { error } => {
                let aside = "INSERT OR REPLACE INTO quarantine (customer, cursor, attempts, error, at_ms, traceparent) \
                     SELECT customer, cursor, attempts, ?2, ?3, traceparent FROM outbox WHERE cursor = ?1";
                rows::execute(db, aside, (cursor, error, ms(now)))?;
                finish.execute([cursor])?;
            }
            PublishResult::Released => {
                rows::execute(db, "UPDATE outbox SET owner = NULL WHERE cursor = ?1", [cursor])?;
            }
        }
    }
    Ok(())
}

/// The first row is the oldest, because cursors ascend in commit order.
pub(super) fn backlog(db: &Connection, customer: Uuid) -> SqlResult<Backlog> {
    let count = |sql: &str| {
        let count = rows::one(db, sql, [customer.as_bytes()], |row| Ok(row.get::<_, i64>(0)?))?;
        Ok::<_, rows::SqlError>(count.unwrap_or(0).unsigned_abs())
    };
    let oldest = "SELECT j.at_ms FROM outbox o INDEXED BY outbox_of_customer CROSS JOIN journal j ON j.cursor = o.cursor \
         WHERE o.customer = ?1 ORDER BY o.cursor LIMIT 1";
    Ok(Backlog {
        pending: count("SELECT count(*) FROM outbox WHERE customer = ?1")?,
        oldest_at: rows::one(db, oldest, [customer.as_bytes()], |row| rows::time(row, 0))?,
        quarantined: count("SELECT count(*) FROM quarantine WHERE customer = ?1")?,
        failing: failing(db, customer)?,
    })
}

/// Steps from customer to customer in the indexes.
fn customer_backlogs(db: &Connection) -> SqlResult<Vec<CustomerBacklog>> {
    let mut found = BTreeMap::<Uuid, CustomerBacklog>::new();
    let mut of = |customer: Uuid, set: &dyn Fn(&mut CustomerBacklog)| {
        set(found.entry(customer).or_insert(CustomerBacklog { customer, ..CustomerBacklog::default() }));
    };
    let counted_max = rows::limit(CUSTOMER_EVENTS_COUNTED_MAX);
    let next = "SELECT o.customer, j.at_ms, (SELECT count(*) FROM (SELECT 1 FROM outbox c INDEXED BY outbox_of_customer \
             WHERE c.customer = o.customer LIMIT ?2)) \
         FROM (SELECT customer, cursor FROM outbox INDEXED BY outbox_of_customer WHERE customer > ?1 \
             ORDER BY customer, cursor LIMIT 1) o CROSS JOIN journal j ON j.cursor = o.cursor";
    let mut after = Vec::new();
    while let Some((customer, oldest_at, count)) = rows::one(db, next, (&after, counted_max), |row| {
        Ok((rows::uuid(row, 0)?, rows::time(row, 1)?, row.get::<_, i64>(2)?))
    })? {
        after = customer.as_bytes().to_vec();
        of(customer, &|backlog| (backlog.pending, backlog.oldest_at) = (count.unsigned_abs(), Some(oldest_at)));
    }
    let next = "SELECT q.customer, (SELECT count(*) FROM (SELECT 1 FROM quarantine c WHERE c.customer = q.customer LIMIT ?2)) \
         FROM (SELECT customer FROM quarantine WHERE customer > ?1 ORDER BY customer LIMIT 1) q";
    after.clear();
    while let Some((customer, count)) =
        rows::one(db, next, (&after, counted_max), |row| Ok((rows::uuid(row, 0)?, row.get::<_, i64>(1)?)))?
    {
        after = customer.as_bytes().to_vec();
        of(customer, &|backlog| backlog.quarantined = count.unsigned_abs());
    }
    let parked =
        "SELECT customer, parked_at_ms FROM consumers INDEXED BY consumers_parked WHERE parked_at_ms IS NOT NULL";
    for (customer, at) in rows::list(db, parked, (), |row| Ok((rows::uuid(row, 0)?, rows::time(row, 1)?)))? {
        of(customer, &|backlog| backlog.parked_at = Some(at));
    }
    Ok(found.into_values().collect())
}

fn failing(db: &Connection, customer: Uuid) -> SqlResult<Option<Failing>> {
    let latest = "SELECT error, error_at_ms FROM outbox INDEXED BY outbox_failed \
         WHERE customer = ?1 AND error_at_ms IS NOT NULL ORDER BY error_at_ms DESC LIMIT 1";
    let latest = rows::one(db, latest, [customer.as_bytes()], |row| Ok((row.get(0)?, rows::time(row, 1)?)))?;
    let Some((error, at)) = latest else { return Ok(None) };
    Ok(Some(Failing { error, at, next_attempt_at: next_attempt(db, customer)? }))
}

pub(super) fn quarantined(db: &Connection, customer: Uuid, page: Page<Cursor>) -> SqlResult<Vec<QuarantinedEvent>> {
    let select = format!(
        "SELECT {QUARANTINED} FROM quarantine q CROSS JOIN journal j ON j.cursor = q.cursor \
         WHERE q.customer = ?1 AND q.cursor > ?2 ORDER BY q.cursor LIMIT ?3"
    );
    let after = page.after.unwrap_or(0);
    rows::list(db, &select, (customer.as_bytes(), after, rows::limit(page.limit)), quarantined_event)
}

fn quarantined_of(db: &Connection, subject: Uuid) -> SqlResult<Vec<QuarantinedEvent>> {
    let select = format!(
        "SELECT {QUARANTINED} FROM journal j INDEXED BY journal_of_subject \
             CROSS JOIN quarantine q ON q.customer = j.customer AND q.cursor = j.cursor \
         WHERE j.subject = ?1 ORDER BY j.sequence"
    );
    rows::list(db, &select, [subject.as_bytes()], quarantined_event)
}

/// The columns of [`QUARANTINED`].
fn quarantined_event(row: &Row<'_>) -> SqlResult<QuarantinedEvent> {
    Ok(QuarantinedEvent { event: event(row)?, error: row.get(10)?, at: rows::time(row, 11)? })
}

fn take_out(db: &Connection, customer: Uuid, cursor: Cursor) -> SqlResult<()> {
    let delete = "DELETE FROM quarantine WHERE customer = ?1 AND cursor = ?2";
    match rows::execute(db, delete, (customer.as_bytes(), cursor))? {
        0 => Err(StoreError::Conflict.into()),
        _ => Ok(()),
    }
}

fn is_overtaken(db: &Connection, customer: Uuid, cursor: Cursor) -> SqlResult<bool> {
    let select = "SELECT 1 FROM journal j CROSS JOIN journal l INDEXED BY journal_of_subject \
             ON l.subject = j.subject AND l.sequence > j.sequence \
         WHERE j.cursor = ?2 AND j.customer = ?1 AND l.body IS NOT NULL \
         AND NOT EXISTS (SELECT 1 FROM outbox o WHERE o.cursor = l.cursor AND o.owner IS NULL) \
         AND NOT EXISTS (SELECT 1 FROM quarantine q WHERE q.customer = ?1 AND q.cursor = l.cursor) LIMIT 1";
    Ok(rows::one(db, select, (customer.as_bytes(), cursor), |_| Ok(()))?.is_some())
}
