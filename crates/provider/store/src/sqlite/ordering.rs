//! Delivery rows with an ordering key.

use std::collections::HashSet;

use jiff::Timestamp;
use provider_core::model::counts::DeliveryEnd;
use provider_core::ordering::OrderingKey;
use provider_core::port::{BlockedKeyRow, DroppedDelivery, SkipResult};
use rusqlite::{Connection, Params, params};

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

/// Skips from key to key in the index and reads the first row of each, and counts the rows behind it in the
/// index.
const BLOCKED: &str = "WITH RECURSIVE present (ordering_key) AS ( \
         SELECT min(ordering_key) FROM deliveries INDEXED BY deliveries_by_key \
         WHERE endpoint = ?1 AND ordering_key IS NOT NULL AND ordering_key > ?2 \
         UNION ALL \
         SELECT (SELECT min(d.ordering_key) FROM deliveries d INDEXED BY deliveries_by_key \
                 WHERE d.endpoint = ?1 AND d.ordering_key IS NOT NULL AND d.ordering_key > present.ordering_key) \
         FROM present WHERE present.ordering_key IS NOT NULL \
     ), heads AS ( \
         SELECT d.*, (SELECT count(*) FROM deliveries b INDEXED BY deliveries_by_key \
                          WHERE b.endpoint = ?1 AND b.ordering_key = d.ordering_key AND b.sequence > d.sequence) AS behind \
         FROM present CROSS JOIN deliveries d ON d.endpoint = ?1 AND d.message = \
             (SELECT h.message FROM deliveries h INDEXED BY deliveries_by_key \
              WHERE h.endpoint = ?1 AND h.ordering_key = present.ordering_key ORDER BY h.sequence LIMIT 1) \
         WHERE present.ordering_key IS NOT NULL \
     ) SELECT ordering_key, message, attempts, next_at, owner IS NOT NULL, \
         coalesce(iif(attempts > 0, \
                 (SELECT min(a.began_at) FROM attempts a WHERE a.message = heads.message AND a.endpoint = ?1), NULL), \
             (SELECT m.created_at FROM endpoints e JOIN messages m ON m.application = e.application \
              WHERE e.id = ?1 AND m.id = heads.message)), \
         behind \
     FROM heads WHERE attempts > 0 OR owner IS NULL OR behind > 0 LIMIT ?3";

pub(super) fn blocked(db: &Connection, endpoint: &str, after: &str, limit: usize) -> SqlResult<Vec<BlockedKeyRow>> {
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    let mut statement = db.prepare_cached(BLOCKED)?;
    let mut found = statement.query(params![endpoint, after, limit])?;
    let mut blocked = Vec::new();
    while let Some(row) = found.next()? {
        let Some(key) = rows::ordering_key(row, 0)? else { continue };
        let next_at = rows::time(row, 3)?;
        blocked.push(BlockedKeyRow {
            key,
            message: rows::id(row, 1)?,
            attempts: row.get(2)?,
            next_at,
            claimed: row.get(4)?,
            since: rows::optional_time(row, 5)?.unwrap_or(next_at),
            waiting: row.get::<_, i64>(6)?.unsigned_abs(),
        });
    }
    Ok(blocked)
}

pub(super) fn skip(db: &Connection, head: &DroppedDelivery, key: &str, now: Timestamp) -> SqlResult<SkipResult> {
    let owner = "SELECT owner FROM deliveries WHERE endpoint = ?1 AND message = ?2 AND ordering_key = ?3";
    let owner = rows::one(db, owner, (&*head.endpoint, &*head.message, key), |row| Ok(row.get::<_, Option<i64>>(0)?))?;
    Ok(match owner {
        Some(None) => {
            deliveries::drop_rows(db, std::slice::from_ref(head), DeliveryEnd::Skipped, now)?;
            SkipResult::Skipped
        }
        Some(Some(no)) if no != 0 => SkipResult::UnderWay,
        _ => SkipResult::NotHead,
    })
}
