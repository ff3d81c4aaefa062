//! Delivery rows: what waits, who gets it, what comes back.

use jiff::Timestamp;
use provider_core::model::{AttemptTrigger, Id};
use provider_core::port::{Backlog, ClaimLimit, Delivery, DeliveryKind, NodeId};
use rusqlite::{CachedStatement, Connection};

use super::rows::{self, MESSAGE, MESSAGE_COLUMNS, SqlResult, ms};
use super::{nodes, ordering};

/// Endpoints with rows that are nobody's, each with its earliest time. It skips from endpoint to endpoint in the index, so that
/// an endpoint costs the same with one row as with a million. Rows of an endpoint that went are out of reach.
pub(super) const EARLIEST_DUE: &str = "WITH RECURSIVE waiting (endpoint) AS ( \
         SELECT min(endpoint) FROM deliveries INDEXED BY deliveries_waiting WHERE owner IS NULL \
         UNION ALL \
         SELECT (SELECT min(d.endpoint) FROM deliveries d INDEXED BY deliveries_waiting \
                 WHERE d.owner IS NULL AND d.endpoint > waiting.endpoint) \
         FROM waiting WHERE waiting.endpoint IS NOT NULL \
     ), earliest (endpoint, next_at) AS ( \
         SELECT endpoint, min((SELECT min(d.next_at) FROM deliveries d INDEXED BY deliveries_waiting \
                               WHERE d.owner IS NULL AND d.endpoint = waiting.endpoint AND d.tried = tries.column1)) \
         FROM waiting CROSS JOIN (VALUES (0), (1)) tries WHERE endpoint IS NOT NULL GROUP BY endpoint \
     )";

/// The longest due first.
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
        DeliveryKind::First => ("deliveries_waiting", "d.tried = 0"),
        DeliveryKind::Retry => ("deliveries_waiting", "d.tried = 1"),
    };
    let select = format!(
        "SELECT {MESSAGE}, d.attempts, d.manual, d.key FROM deliveries d INDEXED BY {index} \
         JOIN messages m ON m.application = ?1 AND m.id = d.message \
         WHERE d.endpoint = ?2 AND d.owner IS NULL AND {of_kind} AND d.next_at <= ?3 \
         ORDER BY d.next_at, d.message LIMIT ?4"
    );
    let limit = i64::try_from(room.rows).unwrap_or(i64::MAX);
    let (mut claimed, mut payload_bytes) = (Vec::new(), 0);
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

pub(super) fn drop_rows(db: &Connection, rows: &[(Id, Id)]) -> SqlResult<()> {
    let mut finish = DeliveryDeleter::prepare(db)?;
    for (message, endpoint) in rows {
        finish.row(endpoint, message, i64::MAX)?;
    }
    Ok(())
}

/// Deletes rows that came to their end, one by one. Most have no key, and go without a `RETURNING`, for which SQLite would
/// collect them first.
pub(super) struct DeliveryDeleter<'db> {
    db: &'db Connection,
    without_key: CachedStatement<'db>,
}

impl<'db> DeliveryDeleter<'db> {
    pub(super) fn prepare(db: &'db Connection) -> SqlResult<Self> {
        let without_key =
            "DELETE FROM deliveries WHERE endpoint = ?1 AND message = ?2 AND manual <= ?3 AND key IS NULL";
        Ok(Self { db, without_key: db.prepare_cached(without_key)? })
    }

    /// False when there is none whose `manual` is at most this.
    pub(super) fn row(&mut self, endpoint: &str, message: &str, manual_max: i64) -> SqlResult<bool> {
        let of_key = "DELETE FROM deliveries \
             WHERE endpoint = ?1 AND message = ?2 AND manual <= ?3 AND key IS NOT NULL RETURNING key";
        let row = (endpoint, message, manual_max);
        Ok(self.without_key.execute(row)? == 1 || ordering::delete(self.db, endpoint, of_key, row)? == 1)
    }
}

/// Drops at most `limit` rows of an endpoint that went; true when there may be more. Nothing of it is due any more, and so no next
/// of a key either.
pub(super) fn drop_rows_batch(db: &Connection, endpoint: &str, limit: usize) -> SqlResult<bool> {
    let delete = "DELETE FROM deliveries WHERE endpoint = ?1 AND message IN \
         (SELECT message FROM deliveries WHERE endpoint = ?1 ORDER BY message LIMIT ?2)";
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    let dropped = db.prepare_cached(delete)?.execute((endpoint, limit))?;
    Ok(i64::try_from(dropped).unwrap_or(i64::MAX) == limit)
}

/// Every endpoint with rows, skipping from one to the next.
const ENDPOINTS_WITH_ROWS: &str = "WITH RECURSIVE present (endpoint) AS ( \
         SELECT min(endpoint) FROM deliveries \
         UNION ALL \
         SELECT (SELECT min(d.endpoint) FROM deliveries d WHERE d.endpoint > present.endpoint) \
         FROM present WHERE present.endpoint IS NOT NULL \
     )";

pub(super) fn endpoints_with_rows(db: &Connection) -> SqlResult<Vec<Id>> {
    endpoints(db, &format!("{ENDPOINTS_WITH_ROWS} SELECT endpoint FROM present WHERE endpoint IS NOT NULL"))
}

/// Endpoints that have rows though they went: the process ended between their deletion and that of their rows.
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

/// When something is due of what waits for an endpoint.
pub(super) fn earliest_of(db: &Connection, endpoint: &str) -> SqlResult<Option<Timestamp>> {
    let select = "SELECT min((SELECT min(d.next_at) FROM deliveries d INDEXED BY deliveries_waiting \
         WHERE d.owner IS NULL AND d.endpoint = ?1 AND d.tried = tries.column1)) FROM (VALUES (0), (1)) tries";
    Ok(rows::one(db, select, [endpoint], |row| rows::optional_time(row, 0))?.flatten())
}

/// Message ids grow with time: the first is the oldest.
pub(super) fn oldest_at(db: &Connection, endpoint: &str) -> SqlResult<Option<Timestamp>> {
    let oldest = "SELECT m.created_at FROM endpoints e JOIN deliveries d ON d.endpoint = e.id \
         JOIN messages m ON m.application = e.application AND m.id = d.message \
         WHERE e.id = ?1 ORDER BY d.message LIMIT 1";
    rows::one(db, oldest, [endpoint], |row| rows::time(row, 0))
}

pub(super) fn backlog(db: &Connection, endpoint: &str) -> SqlResult<Backlog> {
    let count = "SELECT count(*) FROM deliveries WHERE endpoint = (SELECT id FROM endpoints WHERE id = ?1)";
    Ok(Backlog {
        oldest_at: oldest_at(db, endpoint)?,
        deliveries: rows::one(db, count, [endpoint], |row| Ok(row.get::<_, i64>(0)?))?.unwrap_or(0).unsigned_abs(),
    })
}
