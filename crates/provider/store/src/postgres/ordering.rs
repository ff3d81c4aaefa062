//! Delivery rows with an ordering key.
//!
//! A transaction that inserts or deletes a row of a key first locks the key until the transaction ends. Otherwise a row
//! could wait behind a head of line that another transaction is deleting. All transactions lock keys in the same order,
//! so that they can't deadlock.

use std::sync::LazyLock;

use jiff::Timestamp;
use provider_core::model::counts::DeliveryEnd;
use provider_core::model::{Attempt, Id};
use provider_core::ordering::OrderingKey;
use provider_core::port::{BlockedKeyRow, BlockedKeysTotal, HeadResult, StoreResult};
use tokio_postgres::Row;

use super::deliveries;
use super::rows::{self, Client, SqlResult, sql_limit};

/// A delivery with an ordering key.
pub(super) struct OrderedDelivery<'a> {
    pub(super) endpoint: &'a Id,
    pub(super) key: &'a OrderingKey,
    pub(super) message: &'a Id,
    pub(super) due: Timestamp,
}

/// Inserts rows, in the given order, behind the existing rows of their keys.
pub(super) async fn enter(db: &impl Client, ordered: &[OrderedDelivery<'_>]) -> SqlResult<()> {
    lock(db, ordered.iter().map(|delivery| (&**delivery.endpoint, delivery.key.as_str()))).await?;
    let endpoints: Vec<&str> = ordered.iter().map(|delivery| &**delivery.endpoint).collect();
    let keys: Vec<&str> = ordered.iter().map(|delivery| delivery.key.as_str()).collect();
    let messages: Vec<&str> = ordered.iter().map(|delivery| &**delivery.message).collect();
    let due: Vec<Timestamp> = ordered.iter().map(|delivery| delivery.due).collect();
    let insert = "INSERT INTO deliveries (endpoint, message, owner, attempts, next_at, ordering_key, sequence) \
         SELECT new.endpoint, new.message, CASE WHEN last.sequence IS NULL AND new.place = 1 THEN NULL ELSE 0 END, 0, new.due, \
             new.ordering_key, coalesce(last.sequence, 0) + new.place \
         FROM (SELECT *, row_number() OVER (PARTITION BY endpoint, ordering_key ORDER BY given) AS place \
               FROM unnest($1::text[], $2::text[], $3::text[], $4::timestamptz[]) \
                   WITH ORDINALITY AS row (endpoint, ordering_key, message, due, given)) new \
         LEFT JOIN LATERAL (SELECT max(d.sequence) AS sequence FROM deliveries d \
               WHERE d.endpoint = new.endpoint COLLATE \"C\" AND d.ordering_key = new.ordering_key COLLATE \"C\") last ON TRUE";
    rows::write(db, insert, &[&endpoints, &keys, &messages, &due]).await.map(drop)
}

/// Called after rows of these endpoints and keys were deleted: the first remaining row of each key becomes due.
pub(super) async fn make_next_due(db: &impl Client, places: Vec<(String, String)>) -> SqlResult<()> {
    if places.is_empty() {
        return Ok(());
    }
    lock(db, places.iter().map(|(endpoint, key)| (endpoint.as_str(), key.as_str()))).await?;
    let (endpoints, keys): (Vec<&str>, Vec<&str>) =
        places.iter().map(|(endpoint, key)| (endpoint.as_str(), key.as_str())).unzip();
    let update = "UPDATE deliveries d SET owner = NULL \
         FROM unnest($1::text[], $2::text[]) AS freed (endpoint, ordering_key) \
         CROSS JOIN LATERAL (SELECT n.message FROM deliveries n \
             WHERE n.endpoint = freed.endpoint COLLATE \"C\" AND n.ordering_key = freed.ordering_key COLLATE \"C\" ORDER BY n.sequence LIMIT 1) next \
         WHERE d.endpoint = freed.endpoint AND d.message = next.message AND d.owner = 0";
    rows::write(db, update, &[&endpoints, &keys]).await.map(drop)
}

/// Locks keys until the transaction ends. If two keys have the same hash, their transactions wait for each other
/// unnecessarily.
async fn lock<'key>(db: &impl Client, places: impl Iterator<Item = (&'key str, &'key str)>) -> SqlResult<()> {
    let places: Vec<String> = places.map(|(endpoint, key)| format!("{endpoint} {key}")).collect();
    let select = "SELECT pg_advisory_xact_lock(number) FROM ( \
             SELECT DISTINCT hashtextextended(place, 0) AS number FROM unnest($1::text[]) AS place ORDER BY 1 OFFSET 0) places";
    rows::write(db, select, &[&places]).await.map(drop)
}

/// The keys after `$2`, which the query finds by skipping from key to key in the index.
const KEYS_AFTER: &str = "(SELECT ordering_key FROM deliveries WHERE endpoint = $1 AND ordering_key > $2 \
         ORDER BY ordering_key LIMIT 1) \
     UNION ALL \
     SELECT next.ordering_key FROM present CROSS JOIN LATERAL (SELECT d.ordering_key FROM deliveries d \
         WHERE d.endpoint = $1 AND d.ordering_key > present.ordering_key ORDER BY d.ordering_key LIMIT 1) next";

/// Reads the head of each of these keys of the endpoint `$1`, and counts the rows behind it in the index.
fn heads(keys: &str) -> String {
    format!(
        "WITH RECURSIVE present (ordering_key) AS ({keys}) \
         SELECT head.ordering_key, head.message, head.attempts, head.next_at, head.owner IS NOT NULL AS claimed, \
             coalesce(CASE WHEN head.attempts > 0 THEN \
                     (SELECT min(a.began_at) FROM attempts a WHERE a.message = head.message AND a.endpoint = $1) END, \
                 (SELECT m.created_at FROM endpoints e JOIN messages m ON m.application = e.application \
                  WHERE e.id = $1 AND m.id = head.message), head.next_at) AS since, \
             behind.count AS behind \
         FROM present \
         CROSS JOIN LATERAL (SELECT h.* FROM deliveries h \
             WHERE h.endpoint = $1 AND h.ordering_key = present.ordering_key ORDER BY h.sequence LIMIT 1) head \
         CROSS JOIN LATERAL (SELECT count(*) FROM deliveries b \
             WHERE b.endpoint = $1 AND b.ordering_key = head.ordering_key AND b.sequence > head.sequence) behind"
    )
}

static BLOCKED: LazyLock<String> = LazyLock::new(|| {
    format!("{} WHERE head.attempts > 0 OR head.owner IS NULL OR behind.count > 0 LIMIT $3", heads(KEYS_AFTER))
});

static BLOCKED_KEY: LazyLock<String> = LazyLock::new(|| heads("SELECT $2::text COLLATE \"C\""));

static BLOCKED_TOTAL: LazyLock<String> = LazyLock::new(|| {
    format!(
        "SELECT *, count(*) OVER (), CAST(sum(behind) OVER () AS bigint) FROM ({}) blocked \
         WHERE attempts > 0 OR (next_at > $3 AND behind > 0) ORDER BY since, ordering_key LIMIT 1",
        heads(KEYS_AFTER)
    )
});

pub(super) async fn blocked(
    db: &impl Client,
    endpoint: &str,
    after: &str,
    limit: usize,
) -> SqlResult<Vec<BlockedKeyRow>> {
    rows::all(db, &BLOCKED, &[&endpoint, &after, &sql_limit(limit)], head).await
}

pub(super) async fn blocked_key(db: &impl Client, endpoint: &str, key: &str) -> SqlResult<Option<BlockedKeyRow>> {
    rows::one(db, &BLOCKED_KEY, &[&endpoint, &key], head).await
}

pub(super) async fn blocked_total(
    db: &impl Client,
    endpoint: &str,
    now: Timestamp,
) -> SqlResult<Option<BlockedKeysTotal>> {
    let total = |row: &Row| {
        let number = |column| StoreResult::Ok(rows::get::<i64>(row, column)?.unsigned_abs());
        Ok(BlockedKeysTotal { keys: number(7)?, waiting: number(8)?, longest: head(row)? })
    };
    rows::one(db, &BLOCKED_TOTAL, &[&endpoint, &"", &now], total).await
}

fn head(row: &Row) -> StoreResult<BlockedKeyRow> {
    Ok(BlockedKeyRow {
        key: OrderingKey::kept(rows::get(row, 0)?),
        message: rows::id(row, 1)?,
        attempts: rows::attempts(row, 2)?,
        next_at: rows::get(row, 3)?,
        claimed: rows::get(row, 4)?,
        since: rows::get(row, 5)?,
        waiting: rows::get::<i64>(row, 6)?.unsigned_abs(),
    })
}

/// Whether this message is the head of the key, and no node has claimed it. Locks the row.
async fn is_free_head(db: &impl Client, endpoint: &str, message: &str, key: &str) -> SqlResult<HeadResult> {
    lock(db, std::iter::once((endpoint, key))).await?;
    let select = "SELECT owner FROM deliveries WHERE endpoint = $1 AND message = $2 AND ordering_key = $3 FOR UPDATE";
    let owner = rows::one(db, select, &[&endpoint, &message, &key], |row| rows::get::<Option<i64>>(row, 0)).await?;
    Ok(match owner {
        Some(None) => HeadResult::Done,
        Some(Some(no)) if no != 0 => HeadResult::UnderWay,
        _ => HeadResult::NotHead,
    })
}

pub(super) async fn skip(db: &impl Client, attempt: &Attempt, key: &str) -> SqlResult<HeadResult> {
    let result = is_free_head(db, &attempt.endpoint, &attempt.message, key).await?;
    if result == HeadResult::Done {
        let attempts = std::slice::from_ref(attempt);
        deliveries::end_deliveries(db, &attempt.endpoint, attempts, DeliveryEnd::Skipped).await?;
    }
    Ok(result)
}

pub(super) async fn retry(
    db: &impl Client,
    endpoint: &str,
    message: &str,
    key: &str,
    now: Timestamp,
) -> SqlResult<HeadResult> {
    let result = is_free_head(db, endpoint, message, key).await?;
    if result == HeadResult::Done {
        let update = "UPDATE deliveries SET next_at = least(next_at, $3) \
             WHERE endpoint = $1 AND message = $2 AND attempts > 0";
        rows::write(db, update, &[&endpoint, &message, &now]).await?;
    }
    Ok(result)
}
