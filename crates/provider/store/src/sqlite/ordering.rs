//! Delivery rows with an ordering key.

use std::collections::HashSet;
use std::sync::LazyLock;

use jiff::Timestamp;
use provider_core::model::Attempt;
use provider_core::model::counts::DeliveryEnd;
use provider_core::ordering::OrderingKey;
use provider_core::port::{BlockedKeyRow, BlockedKeysTotal, HeadResult};
use rusqlite::{Connection, Params, Row, params};

use super::deliveries::{self, EndedRows};
use super::rows::{self, SqlResult, ms};

/// Inserts a row behind the existing rows of its ordering key. The first row of a key is due.
pub(super) fn enter(
    db: &Connection,
    endpoint: &str,
    message: &str,
    key: &OrderingKey,
    now: Timestamp,
) -> SqlResult<()> {
    let insert = "INSERT INTO deliveries (endpoint, message, owner, attempts, next_at, ordering_key, sequence) \
         SELECT ?1, ?2, CASE WHEN last.sequence IS NULL THEN NULL ELSE 0 END, 0, ?3, ?4, coalesce(last.sequence, 0) + 1 \
         FROM (SELECT max(sequence) AS sequence FROM deliveries INDEXED BY deliveries_by_key WHERE endpoint = ?1 AND ordering_key = ?4) last";
    db.prepare_cached(insert)?.execute(params![endpoint, message, ms(now), key.as_str()])?;
    Ok(())
}

/// As [`enter`], for a message that a background task sends again.
pub(super) fn reenqueue(
    db: &Connection,
    endpoint: &str,
    message: &str,
    key: &OrderingKey,
    now: Timestamp,
    task: &str,
) -> SqlResult<()> {
    enter(db, endpoint, message, key, now)?;
    let mark = "UPDATE deliveries SET manual = -1, task = ?3, \
         ended_before = EXISTS (SELECT 1 FROM attempts a WHERE a.message = ?2 AND +a.endpoint = ?1) \
         WHERE endpoint = ?1 AND message = ?2";
    db.prepare_cached(mark)?.execute((endpoint, message, task))?;
    Ok(())
}

/// Deletes rows of an endpoint with a statement that returns their keys, `ended_before` and tasks. The first remaining
/// row of each key becomes due.
pub(super) fn delete(db: &Connection, endpoint: &str, delete: &str, params: impl Params) -> SqlResult<EndedRows> {
    let mut ended = EndedRows::default();
    let mut keys = HashSet::new();
    let mut statement = db.prepare_cached(delete)?;
    let mut rows = statement.query(params)?;
    while let Some(row) = rows.next()? {
        ended.deleted += 1;
        ended.ended += usize::from(!row.get::<_, bool>(1)?);
        ended.tasks.extend(row.get::<_, Option<String>>(2)?);
        if let Some(key) = rows::optional_text(row, 0)?
            && !keys.contains(key)
        {
            keys.insert(key.to_owned());
        }
    }
    let make_due = "UPDATE deliveries SET owner = NULL WHERE endpoint = ?1 AND owner = 0 AND message = \
         (SELECT message FROM deliveries INDEXED BY deliveries_by_key WHERE endpoint = ?1 AND ordering_key = ?2 ORDER BY sequence LIMIT 1)";
    for key in keys {
        db.prepare_cached(make_due)?.execute((endpoint, key))?;
    }
    Ok(ended)
}

/// The keys after `?2`, which the query finds by skipping from key to key in the index.
const KEYS_AFTER: &str = "SELECT min(ordering_key) FROM deliveries INDEXED BY deliveries_by_key \
         WHERE endpoint = ?1 AND ordering_key IS NOT NULL AND ordering_key > ?2 \
     UNION ALL \
     SELECT (SELECT min(d.ordering_key) FROM deliveries d INDEXED BY deliveries_by_key \
             WHERE d.endpoint = ?1 AND d.ordering_key IS NOT NULL AND d.ordering_key > present.ordering_key) \
     FROM present WHERE present.ordering_key IS NOT NULL";

/// Reads the head of each of these keys of the endpoint `?1`, and counts the rows behind it in the index.
fn heads(keys: &str) -> String {
    format!(
        "WITH RECURSIVE present (ordering_key) AS ({keys}), heads AS ( \
             SELECT d.*, (SELECT count(*) FROM deliveries b INDEXED BY deliveries_by_key \
                          WHERE b.endpoint = ?1 AND b.ordering_key = d.ordering_key AND b.sequence > d.sequence) AS behind \
             FROM present CROSS JOIN deliveries d ON d.endpoint = ?1 AND d.message = \
                 (SELECT h.message FROM deliveries h INDEXED BY deliveries_by_key \
                  WHERE h.endpoint = ?1 AND h.ordering_key = present.ordering_key ORDER BY h.sequence LIMIT 1) \
             WHERE present.ordering_key IS NOT NULL \
         ) SELECT ordering_key, message, attempts, next_at, owner IS NOT NULL AS claimed, \
             coalesce(iif(attempts > 0, \
                     (SELECT min(a.began_at) FROM attempts a WHERE a.message = heads.message AND a.endpoint = ?1), NULL), \
                 (SELECT m.created_at FROM endpoints e JOIN messages m ON m.application = e.application \
                  WHERE e.id = ?1 AND m.id = heads.message), next_at) AS since, \
             behind FROM heads"
    )
}

static BLOCKED: LazyLock<String> =
    LazyLock::new(|| format!("{} WHERE attempts > 0 OR owner IS NULL OR behind > 0 LIMIT ?3", heads(KEYS_AFTER)));

static BLOCKED_KEY: LazyLock<String> = LazyLock::new(|| heads("SELECT ?2"));

static BLOCKED_TOTAL: LazyLock<String> = LazyLock::new(|| {
    format!(
        "SELECT *, count(*) OVER (), sum(behind) OVER () FROM ({}) \
         WHERE attempts > 0 OR (next_at > ?3 AND behind > 0) ORDER BY since, ordering_key LIMIT 1",
        heads(KEYS_AFTER)
    )
});

pub(super) fn blocked(db: &Connection, endpoint: &str, after: &str, limit: usize) -> SqlResult<Vec<BlockedKeyRow>> {
    let mut statement = db.prepare_cached(&BLOCKED)?;
    statement.query_and_then(params![endpoint, after, rows::sql_limit(limit)], head)?.collect()
}

pub(super) fn blocked_key(db: &Connection, endpoint: &str, key: &str) -> SqlResult<Option<BlockedKeyRow>> {
    rows::one(db, &BLOCKED_KEY, (endpoint, key), head)
}

pub(super) fn blocked_total(db: &Connection, endpoint: &str, now: Timestamp) -> SqlResult<Option<BlockedKeysTotal>> {
    rows::one(db, &BLOCKED_TOTAL, (endpoint, "", ms(now)), |row| {
        let number = |column| -> SqlResult<u64> { Ok(row.get::<_, i64>(column)?.unsigned_abs()) };
        Ok(BlockedKeysTotal { keys: number(7)?, waiting: number(8)?, longest: head(row)? })
    })
}

fn head(row: &Row<'_>) -> SqlResult<BlockedKeyRow> {
    Ok(BlockedKeyRow {
        key: OrderingKey::kept(rows::text(row, 0)?),
        message: rows::id(row, 1)?,
        attempts: row.get(2)?,
        next_at: rows::time(row, 3)?,
        claimed: row.get(4)?,
        since: rows::time(row, 5)?,
        waiting: row.get::<_, i64>(6)?.unsigned_abs(),
    })
}

/// Whether this message is the head of the key, and no node has claimed it.
fn is_free_head(db: &Connection, endpoint: &str, message: &str, key: &str) -> SqlResult<HeadResult> {
    let owner = "SELECT owner FROM deliveries WHERE endpoint = ?1 AND message = ?2 AND ordering_key = ?3";
    let owner = rows::one(db, owner, (endpoint, message, key), |row| Ok(row.get::<_, Option<i64>>(0)?))?;
    Ok(match owner {
        Some(None) => HeadResult::Done,
        Some(Some(no)) if no != 0 => HeadResult::UnderWay,
        _ => HeadResult::NotHead,
    })
}

pub(super) fn skip(db: &Connection, attempt: &Attempt, key: &str) -> SqlResult<HeadResult> {
    let result = is_free_head(db, &attempt.endpoint, &attempt.message, key)?;
    if result == HeadResult::Done {
        deliveries::end_deliveries(db, &attempt.endpoint, std::slice::from_ref(attempt), DeliveryEnd::Skipped)?;
    }
    Ok(result)
}

pub(super) fn retry(
    db: &Connection,
    endpoint: &str,
    message: &str,
    key: &str,
    now: Timestamp,
) -> SqlResult<HeadResult> {
    let result = is_free_head(db, endpoint, message, key)?;
    if result == HeadResult::Done {
        let update = "UPDATE deliveries SET next_at = min(next_at, ?3) \
             WHERE endpoint = ?1 AND message = ?2 AND attempts > 0";
        db.prepare_cached(update)?.execute((endpoint, message, ms(now)))?;
    }
    Ok(result)
}
