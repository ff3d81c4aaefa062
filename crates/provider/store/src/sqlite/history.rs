//! Searching what happened. Two steps: which rows are wanted, read without payloads and responses, and then those rows.

use async_trait::async_trait;
use provider_core::model::{Attempt, AttemptStatus, Id, Message};
use provider_core::port::{
    AttemptFilter, AttemptScope, AttemptedMessage, DeliveryState, Destination, HistoryStore, MessageFilter,
    PayloadRead, Scan, ScanResult, StoreResult,
};
use rusqlite::{Connection, Row};

use super::rows::{self, ATTEMPT, MESSAGE, SqlResult};
use super::{SqliteStore, applications};
use crate::codec;
use crate::scan::{self as scans, ScanFlow, ScanProgress};

#[async_trait]
impl HistoryStore for SqliteStore {
    async fn find_messages(
        &self,
        application: &str,
        filter: &MessageFilter,
        scan: &Scan,
        content: PayloadRead,
    ) -> StoreResult<ScanResult<Message>> {
        let (application, filter, scan) = (application.to_owned(), filter.clone(), scan.clone());
        self.read(move |db| {
            let rows_max = if filter.matches_all() { scans::wanted_max(&scan) } else { scan.scanned_rows_max };
            let (mut watch, mut found) = (ScanProgress::new(&scan), Vec::new());
            each_message(db, &application, &scan, rows_max, |row| {
                let admitted = matches(&filter, row, 2)?;
                let bytes = if admitted { Some(payload_bytes(row, content)?) } else { None };
                if admitted {
                    found.push(message(db, row.get(0)?, content)?);
                }
                Ok(watch.record(rows::text(row, 1)?, bytes))
            })?;
            Ok(watch.found(found))
        })
        .await
    }

    async fn messages_by_ids(&self, application: &str, ids: &[Id]) -> StoreResult<Vec<Message>> {
        let (application, ids) = (application.to_owned(), ids.to_vec());
        self.read(move |db| {
            let select = "SELECT no FROM messages WHERE application = ?1 AND id = ?2";
            let mut found = Vec::with_capacity(ids.len());
            for id in &ids {
                if let Some(no) = rows::one(db, select, (&application, &**id), |row| Ok(row.get(0)?))? {
                    found.push(message(db, no, PayloadRead::Skip)?);
                }
            }
            Ok(found)
        })
        .await
    }

    async fn find_attempts(
        &self,
        application: &str,
        of: &AttemptScope,
        filter: &AttemptFilter,
        scan: &Scan,
    ) -> StoreResult<ScanResult<Attempt>> {
        let (application, of, filter, scan) = (application.to_owned(), of.clone(), filter.clone(), scan.clone());
        self.read(move |db| find_attempts(db, &application, &of, &filter, &scan)).await
    }

    async fn find_attempted_messages(
        &self,
        application: &str,
        endpoint: &str,
        filter: &MessageFilter,
        status: Option<AttemptStatus>,
        scan: &Scan,
        content: PayloadRead,
    ) -> StoreResult<ScanResult<AttemptedMessage>> {
        let (application, endpoint) = (application.to_owned(), endpoint.to_owned());
        let (filter, scan) = (filter.clone(), scan.clone());
        self.read(move |db| {
            let (mut watch, mut found) = (ScanProgress::new(&scan), Vec::new());
            each_message(db, &application, &scan, scan.scanned_rows_max, |row| {
                let id = rows::text(row, 1)?;
                let state =
                    if matches(&filter, row, 2)? { state(db, &endpoint, id)? } else { DeliveryState::default() };
                let wanted = state.latest.is_some() && status.is_none_or(|status| state.matches_status(status));
                let bytes = if wanted { Some(payload_bytes(row, content)?) } else { None };
                if wanted {
                    found.push(AttemptedMessage { message: message(db, row.get(0)?, content)?, state });
                }
                Ok(watch.record(id, bytes))
            })?;
            Ok(watch.found(found))
        })
        .await
    }

    async fn destinations(&self, application: &str, message: &str) -> StoreResult<Vec<Destination>> {
        let (application, message) = (application.to_owned(), message.to_owned());
        self.read(move |db| destinations(db, &application, &message)).await
    }
}

/// Looks at the messages of a scan, as `no, id, event_type, channels, tags, length(payload)`.
fn each_message(
    db: &Connection,
    application: &str,
    scan: &Scan,
    rows_max: usize,
    mut look: impl FnMut(&Row<'_>) -> SqlResult<ScanFlow>,
) -> SqlResult<()> {
    if !applications::is_there(db, application)? {
        return Ok(());
    }
    let select = format!(
        "SELECT m.no, m.id, m.event_type, m.channels, m.tags, length(m.payload) FROM messages m WHERE m.application = $1{}",
        scans::sql(scan, "m.id")
    );
    let mut statement = db.prepare_cached(&select)?;
    let mut rows = statement.query((application, &scan.above, &scan.below, sql_limit(rows_max)))?;
    while let Some(row) = rows.next()? {
        if look(row)? == ScanFlow::Stop {
            break;
        }
    }
    Ok(())
}

/// Columns `event_type, channels, tags` from `column` on.
fn matches(filter: &MessageFilter, row: &Row<'_>, column: usize) -> SqlResult<bool> {
    if filter.matches_all() {
        return Ok(true);
    }
    let channels: Option<Vec<String>> = codec::optional_from_json(rows::optional_text(row, column + 1)?)?;
    let tags: Option<Vec<String>> = codec::optional_from_json(rows::optional_text(row, column + 2)?)?;
    Ok(filter.matches(rows::text(row, column)?, channels.as_deref(), tags.as_deref()))
}

fn payload_bytes(row: &Row<'_>, content: PayloadRead) -> SqlResult<usize> {
    match content {
        PayloadRead::Skip => Ok(0),
        PayloadRead::Include => Ok(row.get::<_, Option<u32>>(5)?.unwrap_or(0) as usize),
    }
}

fn message(db: &Connection, no: i64, content: PayloadRead) -> SqlResult<Message> {
    let columns = match content {
        PayloadRead::Include => MESSAGE.to_owned(),
        PayloadRead::Skip => MESSAGE.replace("m.payload,", "NULL,"),
    };
    let select = format!("SELECT {columns} FROM messages m WHERE m.no = ?1");
    rows::one(db, &select, [no], rows::message)?
        .ok_or_else(|| codec::corrupt("a message is listed and not there").into())
}

fn find_attempts(
    db: &Connection,
    application: &str,
    of: &AttemptScope,
    filter: &AttemptFilter,
    scan: &Scan,
) -> SqlResult<ScanResult<Attempt>> {
    let by_message = MessageFilter::default();
    let (column, owner, of_messages) = match of {
        AttemptScope::Message(id) => ("a.message", id, &by_message),
        AttemptScope::Endpoint(id) => ("a.endpoint", id, &filter.message),
    };
    let rows_max = if filter.matches_all() { scans::wanted_max(scan) } else { scan.scanned_rows_max };
    let select = format!(
        "SELECT a.message, a.id, a.status, a.response_status_code, a.endpoint FROM attempts a WHERE {column} = $1{}",
        scans::sql(scan, "a.id")
    );
    let of_message = "SELECT m.event_type, m.channels, m.tags FROM messages m WHERE m.application = ?1 AND m.id = ?2";
    let whole = format!("SELECT {ATTEMPT} FROM attempts a WHERE a.message = ?1 AND a.id = ?2");
    let (mut watch, mut found) = (ScanProgress::new(scan), Vec::new());
    let mut statement = db.prepare_cached(&select)?;
    let mut rows = statement.query((&**owner, &scan.above, &scan.below, sql_limit(rows_max)))?;
    while let Some(row) = rows.next()? {
        let (message, id) = (rows::text(row, 0)?, rows::text(row, 1)?);
        let mut admitted = filter.matches(codec::status(row.get(2)?)?, row.get(3)?, rows::text(row, 4)?);
        if admitted && !of_messages.matches_all() {
            let delivers = rows::one(db, of_message, (application, message), |row| matches(of_messages, row, 0))?;
            admitted = delivers.unwrap_or(false);
        }
        if admitted {
            found.extend(rows::one(db, &whole, (message, id), |row| rows::attempt(row, application))?);
        }
        if watch.record(id, admitted.then_some(0)) == ScanFlow::Stop {
            break;
        }
    }
    Ok(watch.found(found))
}

/// How a message stands at an endpoint, which it need not have been sent to.
fn state(db: &Connection, endpoint: &str, message: &str) -> SqlResult<DeliveryState> {
    let attempts = "SELECT status FROM attempts WHERE message = ?1 AND endpoint = ?2 ORDER BY id DESC";
    let mut state = DeliveryState::default();
    let mut statement = db.prepare_cached(attempts)?;
    let mut rows = statement.query((message, endpoint))?;
    while let Some(row) = rows.next()? {
        let status = codec::status(row.get(0)?)?;
        state.latest = state.latest.or(Some(status));
        state.succeeded |= status == AttemptStatus::Success;
    }
    if state.latest.is_some() {
        let next = "SELECT next_at FROM deliveries WHERE endpoint = ?1 AND message = ?2";
        state.next_at = rows::one(db, next, (endpoint, message), |row| rows::time(row, 0))?;
    }
    Ok(state)
}

/// Those that it was tried at, and those of the application's endpoints that it waits for.
fn destinations(db: &Connection, application: &str, message: &str) -> SqlResult<Vec<Destination>> {
    // Beside a `max` the other columns are those of the row that has it.
    let tried = "SELECT a.endpoint, max(a.id), a.status, a.url, d.next_at FROM attempts a \
         LEFT JOIN deliveries d ON d.endpoint = a.endpoint AND d.message = a.message \
         WHERE a.message = ?2 AND EXISTS (SELECT 1 FROM messages WHERE application = ?1 AND id = ?2) GROUP BY a.endpoint";
    let waiting = "SELECT e.id, NULL, NULL, NULL, d.next_at FROM endpoints e \
         CROSS JOIN deliveries d ON d.endpoint = e.id AND d.message = ?2 WHERE e.application = ?1";
    let mut found = std::collections::BTreeMap::new();
    for select in [waiting, tried] {
        let mut statement = db.prepare_cached(select)?;
        let mut rows = statement.query((application, message))?;
        while let Some(row) = rows.next()? {
            let endpoint = rows::id(row, 0)?;
            let latest = row.get::<_, Option<i64>>(2)?.map(codec::status).transpose()?;
            let next_at = rows::optional_time(row, 4)?;
            found.insert(endpoint.clone(), Destination { endpoint, latest, next_at, url: row.get(3)? });
        }
    }
    Ok(found.into_values().collect())
}

fn sql_limit(rows: usize) -> i64 {
    i64::try_from(rows).unwrap_or(i64::MAX)
}
