//! Delivery rows: what waits, who gets it, what comes back.

use jiff::Timestamp;
use provider_core::model::{AttemptTrigger, Id};
use provider_core::port::{Backlog, ClaimLimit, Delivery, DeliveryKind, NodeId};

use super::nodes;
use super::ordering;
use super::rows::{self, Client, MESSAGE, MESSAGE_COLUMNS, SqlResult, sql_limit};

/// Endpoints with rows that are nobody's, each with its earliest time. It skips from endpoint to endpoint in the index, so that
/// an endpoint costs the same with one row as with a million. Rows of an endpoint that went are out of reach.
const EARLIEST_DUE: &str = "WITH RECURSIVE earliest (endpoint, next_at) AS ( \
         (SELECT endpoint, next_at FROM deliveries WHERE owner IS NULL ORDER BY endpoint, next_at, message LIMIT 1) \
         UNION ALL \
         SELECT next.endpoint, next.next_at FROM earliest CROSS JOIN LATERAL ( \
             SELECT d.endpoint, d.next_at FROM deliveries d WHERE d.owner IS NULL AND d.endpoint > earliest.endpoint \
             ORDER BY d.endpoint, d.next_at, d.message LIMIT 1) next \
     )";

/// The longest due first.
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

/// Rows that another node is claiming are passed over.
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
             SELECT message, attempts, next_at, manual, key FROM deliveries \
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
         SELECT {MESSAGE}, due.attempts, due.manual, due.key FROM due JOIN messages m ON m.application = $5 AND m.id = due.message \
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

/// Delivery rows in the order in which they are locked, as two columns: endpoints, and messages.
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

/// Drops rows, whoever has them; of those that stay in order, the next of the key is due then.
pub(super) async fn drop_rows<'rows>(
    db: &impl Client,
    rows: impl Iterator<Item = (&'rows Id, &'rows Id)>,
) -> SqlResult<()> {
    let (endpoints, messages) = columns(rows);
    let delete = "WITH gone AS ( \
             DELETE FROM deliveries d USING unnest($1::text[], $2::text[]) AS done (endpoint, message) \
             WHERE d.endpoint = done.endpoint AND d.message = done.message RETURNING d.endpoint, d.key \
         ) SELECT endpoint, key FROM gone WHERE key IS NOT NULL";
    let ordered = rows::all(db, delete, &[&endpoints, &messages], ordering::endpoint_and_key).await?;
    ordering::make_next_due(db, ordered).await
}

/// Drops the rows of endpoints that went.
pub(super) async fn drop_rows_of(db: &impl Client, endpoints: &[Id]) -> SqlResult<()> {
    let endpoints: Vec<&str> = endpoints.iter().map(|endpoint| &**endpoint).collect();
    rows::write(db, "DELETE FROM deliveries WHERE endpoint = ANY ($1)", &[&endpoints]).await.map(drop)
}

/// Every endpoint with rows, skipping from one to the next.
const ENDPOINTS_WITH_ROWS: &str = "WITH RECURSIVE present (endpoint) AS ( \
         (SELECT endpoint FROM deliveries ORDER BY endpoint LIMIT 1) \
         UNION ALL \
         SELECT next.endpoint FROM present CROSS JOIN LATERAL ( \
             SELECT d.endpoint FROM deliveries d WHERE d.endpoint > present.endpoint ORDER BY d.endpoint LIMIT 1) next \
     )";

/// Drops what waits of messages with ids before this one.
pub(super) async fn drop_rows_before(db: &impl Client, message: &str) -> SqlResult<()> {
    let delete = format!(
        "{ENDPOINTS_WITH_ROWS}, gone AS ( \
             DELETE FROM deliveries d USING present WHERE d.endpoint = present.endpoint AND d.message < $1 \
             RETURNING d.endpoint, d.key \
         ) SELECT DISTINCT endpoint, key FROM gone WHERE key IS NOT NULL"
    );
    let ordered = rows::all(db, &delete, &[&message], ordering::endpoint_and_key).await?;
    ordering::make_next_due(db, ordered).await
}

/// Endpoints that have rows though they went: the process ended between their deletion and that of their rows.
pub(super) async fn deleted_endpoints_with_rows(db: &impl Client) -> SqlResult<Vec<Id>> {
    let select = format!(
        "{ENDPOINTS_WITH_ROWS} SELECT endpoint FROM present WHERE NOT EXISTS (SELECT FROM endpoints e WHERE e.id = present.endpoint)"
    );
    rows::all(db, &select, &[], |row| rows::id(row, 0)).await
}

/// Message ids grow with time: the first is the oldest.
pub(super) async fn backlog(db: &impl Client, endpoint: &str) -> SqlResult<Backlog> {
    let oldest = "SELECT m.created_at FROM endpoints e \
         CROSS JOIN LATERAL (SELECT message FROM deliveries WHERE endpoint = e.id ORDER BY message LIMIT 1) d \
         JOIN messages m ON m.application = e.application AND m.id = d.message WHERE e.id = $1";
    let count = "SELECT count(*) FROM deliveries WHERE endpoint = (SELECT id FROM endpoints WHERE id = $1)";
    let deliveries = rows::one(db, count, &[&endpoint], |row| rows::get::<i64>(row, 0)).await?;
    Ok(Backlog {
        oldest_at: rows::one(db, oldest, &[&endpoint], |row| rows::get(row, 0)).await?,
        deliveries: deliveries.unwrap_or(0).unsigned_abs(),
    })
}
