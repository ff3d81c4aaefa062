//! Reads and searches messages. Messages of a deleted application stay stored until their retention ends, but are not
//! returned.

use async_trait::async_trait;
use jiff::Timestamp;
use provider_core::model::{Id, Message};
use provider_core::port::{MessageFilter, MessageStore, NewMessage, PayloadRead, Scan, ScanResult, StoreResult};
use tokio_postgres::Row;
use tokio_postgres::types::ToSql;

use super::rows::{self, Client, MESSAGE, SqlResult, sql_limit};
use super::{PostgresStore, accept, applications};
use crate::codec::{self, fingerprint};
use crate::scan::{self as scans, ScanFlow, ScanProgress};

#[async_trait]
impl MessageStore for PostgresStore {
    async fn accept(&self, messages: Vec<NewMessage>, now: Timestamp) -> StoreResult<Vec<StoreResult<()>>> {
        let results = self
            .transaction(&(&messages, now), |db, &(messages, now)| Box::pin(accept::accept(db, messages, now)))
            .await?;
        let accepted = messages.iter().zip(&results).filter(|(_, result)| result.is_ok());
        if accepted.flat_map(|(new, _)| &new.deliveries).any(|delivery| delivery.owner.is_none()) {
            self.engine.notify().await;
        }
        Ok(results)
    }

    async fn message(&self, application: &str, id_or_event_id: &str) -> StoreResult<Option<Message>> {
        let client = self.client().await?;
        Ok(find(&client, application, id_or_event_id).await?)
    }

    async fn messages_by_ids(&self, application: &str, ids: &[Id]) -> StoreResult<Vec<Message>> {
        let client = self.client().await?;
        Ok(read_messages(&client, application, ids, PayloadRead::Skip).await?)
    }

    async fn find_messages(
        &self,
        application: &str,
        filter: &MessageFilter,
        scan: &Scan,
        content: PayloadRead,
    ) -> StoreResult<ScanResult<Message>> {
        let client = self.client().await?;
        if !applications::exists(&client, application).await? {
            return Ok(ScanProgress::new(scan).found(Vec::new()));
        }
        let rows_max = if filter.matches_all() { scans::wanted_max(scan) } else { scan.scanned_rows_max };
        let select = format!("SELECT {SCANNED} FROM messages m WHERE m.application = $1{}", scans::sql(scan, "m.id"));
        let params: &[&(dyn ToSql + Sync)] = &[&application, &scan.above, &scan.below, &sql_limit(rows_max)];
        let scanned_rows = rows::all(&client, &select, params, ScannedMessage::of).await?;
        let mut progress = ScanProgress::new(scan);
        let mut wanted = Vec::new();
        for row in scanned_rows {
            let admitted = row.is_admitted(filter)?;
            if admitted {
                wanted.push(row.id.clone());
            }
            if progress.record(&row.id, admitted.then(|| row.bytes(content))) == ScanFlow::Stop {
                break;
            }
        }
        Ok(progress.found(read_messages(&client, application, &wanted, content).await?))
    }
}

/// Columns that [`ScannedMessage::of`] reads.
pub(super) const SCANNED: &str = "m.id, m.event_type, m.channels, m.tags, octet_length(m.payload)";

/// A scanned message, without its payload.
pub(super) struct ScannedMessage {
    pub(super) id: Id,
    event_type: String,
    channels: Option<String>,
    tags: Option<String>,
    payload_bytes: usize,
}

impl ScannedMessage {
    pub(super) fn of(row: &Row) -> StoreResult<Self> {
        let payload_bytes: Option<i32> = rows::get(row, 4)?;
        Ok(Self {
            id: rows::id(row, 0)?,
            event_type: rows::get(row, 1)?,
            channels: rows::get(row, 2)?,
            tags: rows::get(row, 3)?,
            payload_bytes: usize::try_from(payload_bytes.unwrap_or(0)).unwrap_or(0),
        })
    }

    pub(super) fn is_admitted(&self, filter: &MessageFilter) -> StoreResult<bool> {
        if filter.matches_all() {
            return Ok(true);
        }
        let channels: Option<Vec<String>> = codec::optional_from_json(self.channels.as_deref())?;
        let tags: Option<Vec<String>> = codec::optional_from_json(self.tags.as_deref())?;
        Ok(filter.matches(&self.event_type, channels.as_deref(), tags.as_deref()))
    }

    pub(super) fn bytes(&self, content: PayloadRead) -> usize {
        match content {
            PayloadRead::Skip => 0,
            PayloadRead::Include => self.payload_bytes,
        }
    }
}

/// Reads the messages with these ids, in the same order.
pub(super) async fn read_messages(
    db: &impl Client,
    application: &str,
    ids: &[Id],
    content: PayloadRead,
) -> SqlResult<Vec<Message>> {
    let columns = match content {
        PayloadRead::Include => MESSAGE.to_owned(),
        PayloadRead::Skip => rows::without_payload(),
    };
    let select = format!(
        "SELECT {columns} FROM unnest($2::text[]) WITH ORDINALITY AS wanted (id, no) \
         JOIN messages m ON m.application = $1 AND m.id = wanted.id ORDER BY wanted.no"
    );
    let ids: Vec<&str> = ids.iter().map(|id| &**id).collect();
    rows::all(db, &select, &[&application, &ids], rows::message).await
}

pub(super) async fn find(db: &impl Client, application: &str, id_or_event_id: &str) -> SqlResult<Option<Message>> {
    if !applications::exists(db, application).await? {
        return Ok(None);
    }
    let by_id = format!("SELECT {MESSAGE} FROM messages m WHERE m.application = $1 AND m.id = $2");
    let found = rows::one(db, &by_id, &[&application, &id_or_event_id], rows::message).await?;
    if found.is_some() {
        return Ok(found);
    }
    let by_event_id = format!("SELECT {MESSAGE} FROM messages m WHERE m.event_fingerprint = $1");
    let key = fingerprint(application, id_or_event_id);
    rows::one(db, &by_event_id, &[&key.as_slice()], rows::message).await
}

pub(super) async fn exists(db: &impl Client, application: &str, id: &str) -> SqlResult<bool> {
    let select = "SELECT m.id FROM messages m JOIN applications a ON a.id = m.application \
         WHERE m.application = $1 AND m.id = $2";
    Ok(rows::one(db, select, &[&application, &id], |row| rows::id(row, 0)).await?.is_some())
}
