//! The outbox: who has which rows, what may go, and what became of it.

use jiff::Timestamp;
use platform_core::port::{
    Backlog, Cursor, Failing, NodeId, OutboxEvent, OutboxSettlement, Page, PublishResult, QuarantinedEvent,
};
use rusqlite::{Connection, Row};
use uuid::Uuid;

use super::consumers::{self, ConnectionState};
use super::rows::{self, SqlResult};
use crate::codec::{self as codec, ms};

/// Says that `node` lives, and makes nobody's what nodes had that were last heard of before `dead_before`. There is no index
/// by owner, which every event would pay for: the outbox is gone through once for nodes that died.
pub(super) fn heartbeat(db: &Connection, node: NodeId, now: Timestamp, dead_before: Timestamp) -> SqlResult<()> {
    let hear = "INSERT INTO nodes (uuid, heartbeat_at_ms) VALUES (?1, ?2) \
         ON CONFLICT (uuid) DO UPDATE SET heartbeat_at_ms = excluded.heartbeat_at_ms";
    rows::execute(db, hear, (node.0.as_bytes(), ms(now)))?;
    let dead = "SELECT no FROM nodes WHERE heartbeat_at_ms < ?1";
    if rows::one(db, dead, [ms(dead_before)], |_| Ok(()))?.is_some() {
        let give_back = format!("UPDATE outbox SET owner = NULL WHERE owner IN ({dead})");
        rows::execute(db, &give_back, [ms(dead_before)])?;
        rows::execute(db, "DELETE FROM nodes WHERE heartbeat_at_ms < ?1", [ms(dead_before)])?;
    }
    Ok(())
}

/// The number that stands for a node in outbox rows. It is looked up in the transaction that uses it: a node that was taken
/// for dead meanwhile gets a new one, so that no row belongs to a number that nobody watches. A node that was never heard of
/// is dead until it is.
pub(super) fn node_number(db: &Connection, node: NodeId) -> SqlResult<i64> {
    let found = rows::one(db, "SELECT no FROM nodes WHERE uuid = ?1", [node.0.as_bytes()], |row| Ok(row.get(0)?))?;
    match found {
        Some(no) => Ok(no),
        None => {
            let insert = "INSERT INTO nodes (uuid, heartbeat_at_ms) VALUES (?1, ?2)";
            rows::execute(db, insert, (node.0.as_bytes(), i64::MIN))?;
            Ok(db.last_insert_rowid())
        }
    }
}

/// Announced events after a cursor that are not in the outbox enter it.
pub(super) fn reenqueue(db: &Connection, customer: Uuid, after: Cursor) -> SqlResult<()> {
    let insert = "INSERT INTO outbox (cursor, customer, subject, attempts) \
         SELECT cursor, customer, subject, 0 FROM journal INDEXED BY journal_announced \
         WHERE customer = ?1 AND cursor > ?2 AND body IS NOT NULL ORDER BY cursor ON CONFLICT (cursor) DO NOTHING";
    rows::execute(db, insert, (customer.as_bytes(), after)).map(drop)
}

/// What waits for its time after a failure is due at once, and the failure forgotten.
pub(super) fn reset_failures(db: &Connection, customer: Uuid) -> SqlResult<()> {
    let anew = "UPDATE outbox INDEXED BY outbox_failed SET next_at_ms = NULL, error = NULL, error_at_ms = NULL \
         WHERE customer = ?1 AND error_at_ms IS NOT NULL";
    rows::execute(db, anew, [customer.as_bytes()]).map(drop)
}

/// Condition on a row `o`: nobody has it, its time has come (`?1`), and no earlier one of its subject is left.
const CLAIMABLE: &str = "o.owner IS NULL AND (o.next_at_ms IS NULL OR o.next_at_ms <= ?1) AND NOT EXISTS \
     (SELECT 1 FROM outbox e INDEXED BY outbox_of_subject WHERE e.subject = o.subject AND e.cursor < o.cursor)";

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
    if consumers::connected(db, customer)? != ConnectionState::Open {
        return Ok(Vec::new());
    }
    let select = format!(
        "SELECT o.cursor, o.customer, o.subject, o.attempts, j.sequence, j.kind, j.body, j.at_ms \
         FROM outbox o INDEXED BY outbox_of_customer CROSS JOIN journal j ON j.cursor = o.cursor \
         WHERE o.customer = ?2 AND {CLAIMABLE} ORDER BY o.cursor LIMIT ?3"
    );
    let claimed = rows::list(db, &select, (ms(now), customer.as_bytes(), rows::limit(limit)), event)?;
    if !claimed.is_empty() {
        let owner = node_number(db, node)?;
        let mut give = db.prepare_cached("UPDATE outbox SET owner = ?2, next_at_ms = NULL WHERE cursor = ?1")?;
        for event in &claimed {
            give.execute((event.cursor, owner))?;
        }
    }
    Ok(claimed)
}

/// Columns `cursor, customer, subject, attempts` of the outbox or quarantine and `sequence, kind, body, at_ms` of the journal.
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
                let aside = "INSERT OR REPLACE INTO quarantine (customer, cursor, attempts, error, at_ms) \
                     SELECT customer, cursor, attempts, ?2, ?3 FROM outbox WHERE cursor = ?1";
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

/// Cursors are in the order of the commits: the first row is the oldest.
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

fn failing(db: &Connection, customer: Uuid) -> SqlResult<Option<Failing>> {
    let latest = "SELECT error, error_at_ms FROM outbox INDEXED BY outbox_failed \
         WHERE customer = ?1 AND error_at_ms IS NOT NULL ORDER BY error_at_ms DESC LIMIT 1";
    let latest = rows::one(db, latest, [customer.as_bytes()], |row| Ok((row.get(0)?, rows::time(row, 1)?)))?;
    let Some((error, at)) = latest else { return Ok(None) };
    Ok(Some(Failing { error, at, next_attempt_at: next_attempt(db, customer)? }))
}

pub(super) fn quarantined(db: &Connection, customer: Uuid, page: Page<Cursor>) -> SqlResult<Vec<QuarantinedEvent>> {
    let select = "SELECT q.cursor, q.customer, j.subject, q.attempts, j.sequence, j.kind, j.body, j.at_ms, q.error, q.at_ms \
         FROM quarantine q CROSS JOIN journal j ON j.cursor = q.cursor \
         WHERE q.customer = ?1 AND q.cursor > ?2 ORDER BY q.cursor LIMIT ?3";
    let after = page.after.unwrap_or(0);
    rows::list(db, select, (customer.as_bytes(), after, rows::limit(page.limit)), |row| {
        Ok(QuarantinedEvent { event: event(row)?, error: row.get(8)?, at: rows::time(row, 9)? })
    })
}
