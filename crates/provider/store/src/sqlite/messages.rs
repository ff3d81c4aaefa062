//! Reads and searches messages. Messages of a deleted application stay stored until their retention ends, but are not
//! returned.

use async_trait::async_trait;
use jiff::Timestamp;
use provider_core::model::{Id, Message};
use provider_core::port::{MessageFilter, MessageStore, NewMessage, PayloadRead, Scan, ScanResult, StoreResult};
use rusqlite::{Connection, Row};

use super::rows::{self, MESSAGE, SqlResult, sql_limit};
use super::{SqliteStore, accept, applications};
use crate::codec::{self, fingerprint};
use crate::scan::{self as scans, ScanFlow, ScanProgress};

#[async_trait]
impl MessageStore for SqliteStore {
    async fn accept(&self, messages: Vec<NewMessage>, now: Timestamp) -> StoreResult<Vec<StoreResult<()>>> {
        self.write(move |db| accept::accept(db, &messages, now)).await
    }

    async fn message(&self, application: &str, id_or_event_id: &str) -> StoreResult<Option<Message>> {
        let (application, id_or_event_id) = (application.to_owned(), id_or_event_id.to_owned());
        self.read(move |db| find(db, &application, &id_or_event_id)).await
    }

    async fn messages_by_ids(&self, application: &str, ids: &[Id]) -> StoreResult<Vec<Message>> {
        let application = application.to_owned();
        let ids = ids.to_vec();
        self.read(move |db| {
            let select = "SELECT no FROM messages WHERE application = ?1 AND id = ?2";
            let mut found = Vec::with_capacity(ids.len());
            for id in &ids {
                if let Some(no) = rows::one(db, select, (&application, &**id), |row| Ok(row.get(0)?))? {
                    found.push(read_message(db, no, PayloadRead::Skip)?);
                }
            }
            Ok(found)
        })
        .await
    }

    async fn find_messages(
        &self,
        application: &str,
        filter: &MessageFilter,
        scan: &Scan,
        content: PayloadRead,
    ) -> StoreResult<ScanResult<Message>> {
        let application = application.to_owned();
        let filter = filter.clone();
        let scan = scan.clone();
        self.read(move |db| {
            let rows_max = if filter.matches_all() { scans::wanted_max(&scan) } else { scan.scanned_rows_max };
            let mut progress = ScanProgress::new(&scan);
            let mut found = Vec::new();
            each_message(db, &application, &scan, rows_max, |row| {
                let admitted = matches(&filter, row, 2)?;
                let bytes = if admitted { Some(payload_bytes(row, content)?) } else { None };
                if admitted {
                    found.push(read_message(db, row.get(0)?, content)?);
                }
                Ok(progress.record(rows::text(row, 1)?, bytes))
            })?;
            Ok(progress.found(found))
        })
        .await
    }
}

/// Reads the messages of a scan: columns `no, id, event_type, channels, tags, length(payload)`.
pub(super) fn each_message(
    db: &Connection,
    application: &str,
    scan: &Scan,
    rows_max: usize,
    mut look: impl FnMut(&Row<'_>) -> SqlResult<ScanFlow>,
) -> SqlResult<()> {
    if !applications::exists(db, application)? {
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

/// Reads the columns `event_type, channels, tags`, which begin at `column`.
pub(super) fn matches(filter: &MessageFilter, row: &Row<'_>, column: usize) -> SqlResult<bool> {
    if filter.matches_all() {
        return Ok(true);
    }
    let channels: Option<Vec<String>> = codec::optional_from_json(rows::optional_text(row, column + 1)?)?;
    let tags: Option<Vec<String>> = codec::optional_from_json(rows::optional_text(row, column + 2)?)?;
    Ok(filter.matches(rows::text(row, column)?, channels.as_deref(), tags.as_deref()))
}

pub(super) fn payload_bytes(row: &Row<'_>, content: PayloadRead) -> SqlResult<usize> {
    match content {
        PayloadRead::Skip => Ok(0),
        PayloadRead::Include => Ok(row.get::<_, Option<u32>>(5)?.unwrap_or(0) as usize),
    }
}

pub(super) fn read_message(db: &Connection, no: i64, content: PayloadRead) -> SqlResult<Message> {
    let columns = match content {
        PayloadRead::Include => MESSAGE.to_owned(),
        PayloadRead::Skip => rows::without_payload(),
    };
    let select = format!("SELECT {columns} FROM messages m WHERE m.no = ?1");
    rows::one(db, &select, [no], rows::message)?.ok_or_else(|| codec::corrupt("a listed message does not exist").into())
}

pub(super) fn find(db: &Connection, application: &str, id_or_event_id: &str) -> SqlResult<Option<Message>> {
    if !applications::exists(db, application)? {
        return Ok(None);
    }
    let by_id = format!("SELECT {MESSAGE} FROM messages m WHERE m.application = ?1 AND m.id = ?2");
    let found = rows::one(db, &by_id, (application, id_or_event_id), rows::message)?;
    if found.is_some() {
        return Ok(found);
    }
    let by_event_id = format!("SELECT {MESSAGE} FROM messages m WHERE m.event_fingerprint = ?1");
    rows::one(db, &by_event_id, [fingerprint(application, id_or_event_id)], rows::message)
}

pub(super) fn exists(db: &Connection, application: &str, id: &str) -> SqlResult<bool> {
    let select = "SELECT 1 FROM messages m JOIN applications a ON a.id = m.application \
         WHERE m.application = ?1 AND m.id = ?2";
    Ok(db.prepare_cached(select)?.exists((application, id))?)
}
