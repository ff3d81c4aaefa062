//! Searching what happened. Two steps: which rows are wanted, read without payloads and responses, and then those rows.

use std::collections::HashMap;

use async_trait::async_trait;
use provider_core::model::{Attempt, AttemptStatus, Id, Message};
use provider_core::port::{
    AttemptFilter, AttemptScope, AttemptedMessage, DeliveryState, Destination, HistoryStore, MessageFilter, Order,
    PayloadRead, Scan, ScanResult, StoreResult,
};
use tokio_postgres::Row;
use tokio_postgres::types::ToSql;

use super::rows::{self, ATTEMPT, Client, MESSAGE, SqlResult, sql_limit};
use super::{PostgresStore, applications};
use crate::codec;
use crate::scan::{self as scans, ScanFlow, ScanProgress};

/// What [`Looked`] reads.
const LOOKED: &str = "m.id, m.event_type, m.channels, m.tags, octet_length(m.payload)";

#[async_trait]
impl HistoryStore for PostgresStore {
    async fn find_messages(
        &self,
        application: &str,
        filter: &MessageFilter,
        scan: &Scan,
        content: PayloadRead,
    ) -> StoreResult<ScanResult<Message>> {
        let client = self.client().await?;
        if !applications::is_there(&client, application).await? {
            return Ok(ScanProgress::new(scan).found(Vec::new()));
        }
        let rows_max = if filter.matches_all() { scans::wanted_max(scan) } else { scan.scanned_rows_max };
        let select = format!("SELECT {LOOKED} FROM messages m WHERE m.application = $1{}", scans::sql(scan, "m.id"));
        let params: &[&(dyn ToSql + Sync)] = &[&application, &scan.above, &scan.below, &sql_limit(rows_max)];
        let looked = rows::all(&client, &select, params, Looked::of).await?;
        let (mut watch, mut wanted) = (ScanProgress::new(scan), Vec::new());
        for row in looked {
            let admitted = row.is_admitted(filter)?;
            if admitted {
                wanted.push(row.id.clone());
            }
            if watch.record(&row.id, admitted.then(|| row.bytes(content))) == ScanFlow::Stop {
                break;
            }
        }
        Ok(watch.found(messages(&client, application, &wanted, content).await?))
    }

    async fn messages_by_ids(&self, application: &str, ids: &[Id]) -> StoreResult<Vec<Message>> {
        let client = self.client().await?;
        Ok(messages(&client, application, ids, PayloadRead::Skip).await?)
    }

    async fn find_attempts(
        &self,
        application: &str,
        of: &AttemptScope,
        filter: &AttemptFilter,
        scan: &Scan,
    ) -> StoreResult<ScanResult<Attempt>> {
        let client = self.client().await?;
        Ok(find_attempts(&client, application, of, filter, scan).await?)
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
        let client = self.client().await?;
        let select = format!(
            "SELECT {LOOKED}, a.latest, a.succeeded, d.next_at FROM ( \
                 SELECT * FROM messages m WHERE m.application = $1{} \
             ) m CROSS JOIN LATERAL ( \
                 SELECT (array_agg(status ORDER BY id DESC))[1] AS latest, coalesce(bool_or(status = 0), FALSE) AS succeeded \
                 FROM attempts WHERE message = m.id AND endpoint = $5 \
             ) a LEFT JOIN deliveries d ON d.endpoint = $5 AND d.message = m.id ORDER BY m.id",
            scans::sql(scan, "m.id")
        );
        let params: &[&(dyn ToSql + Sync)] =
            &[&application, &scan.above, &scan.below, &sql_limit(scan.scanned_rows_max), &endpoint];
        let mut looked = rows::all(&client, &select, params, |row| {
            let latest = rows::get::<Option<i16>>(row, 5)?.map(|status| codec::status(status.into())).transpose()?;
            let state = DeliveryState { latest, succeeded: rows::get(row, 6)?, next_at: rows::get(row, 7)? };
            Ok((Looked::of(row)?, state))
        })
        .await?;
        if scan.direction == Order::Descending {
            looked.reverse();
        }
        let (mut watch, mut wanted, mut standings) = (ScanProgress::new(scan), Vec::new(), HashMap::new());
        for (row, state) in looked {
            let counts = state.latest.is_some() && status.is_none_or(|status| state.matches_status(status));
            let admitted = counts && row.is_admitted(filter)?;
            if admitted {
                wanted.push(row.id.clone());
                standings.insert(row.id.clone(), state);
            }
            if watch.record(&row.id, admitted.then(|| row.bytes(content))) == ScanFlow::Stop {
                break;
            }
        }
        let messages = messages(&client, application, &wanted, content).await?;
        let attempted = messages.into_iter().map(|message| {
            let state = standings.remove(&message.id).unwrap_or_default();
            AttemptedMessage { message, state }
        });
        Ok(watch.found(attempted.collect()))
    }

    async fn destinations(&self, application: &str, message: &str) -> StoreResult<Vec<Destination>> {
        let client = self.client().await?;
        let select = "SELECT coalesce(a.endpoint, w.endpoint) AS endpoint, a.status, a.url, coalesce(w.next_at, d.next_at) FROM ( \
                 SELECT DISTINCT ON (endpoint) endpoint, status, url FROM attempts \
                 WHERE message = $2 AND EXISTS (SELECT FROM messages WHERE application = $1 AND id = $2) \
                 ORDER BY endpoint, id DESC \
             ) a FULL JOIN ( \
                 SELECT d.endpoint, d.next_at FROM endpoints e JOIN deliveries d ON d.endpoint = e.id AND d.message = $2 \
                 WHERE e.application = $1 \
             ) w ON w.endpoint = a.endpoint \
             LEFT JOIN deliveries d ON d.endpoint = a.endpoint AND d.message = $2 ORDER BY 1";
        let params: &[&(dyn ToSql + Sync)] = &[&application, &message];
        let found = rows::all(&client, select, params, |row| {
            Ok(Destination {
                endpoint: rows::id(row, 0)?,
                latest: rows::get::<Option<i16>>(row, 1)?.map(|status| codec::status(status.into())).transpose()?,
                next_at: rows::get(row, 3)?,
                url: rows::get(row, 2)?,
            })
        });
        Ok(found.await?)
    }
}

/// What is known of a message that a scan looks at.
struct Looked {
    id: Id,
    event_type: String,
    channels: Option<String>,
    tags: Option<String>,
    payload_bytes: usize,
}

impl Looked {
    fn of(row: &Row) -> StoreResult<Self> {
        let payload_bytes: Option<i32> = rows::get(row, 4)?;
        Ok(Self {
            id: rows::id(row, 0)?,
            event_type: rows::get(row, 1)?,
            channels: rows::get(row, 2)?,
            tags: rows::get(row, 3)?,
            payload_bytes: usize::try_from(payload_bytes.unwrap_or(0)).unwrap_or(0),
        })
    }

    fn is_admitted(&self, filter: &MessageFilter) -> StoreResult<bool> {
        if filter.matches_all() {
            return Ok(true);
        }
        let channels: Option<Vec<String>> = codec::optional_from_json(self.channels.as_deref())?;
        let tags: Option<Vec<String>> = codec::optional_from_json(self.tags.as_deref())?;
        Ok(filter.matches(&self.event_type, channels.as_deref(), tags.as_deref()))
    }

    fn bytes(&self, content: PayloadRead) -> usize {
        match content {
            PayloadRead::Skip => 0,
            PayloadRead::Include => self.payload_bytes,
        }
    }
}

/// The messages of these ids, in their order.
async fn messages(db: &impl Client, application: &str, ids: &[Id], content: PayloadRead) -> SqlResult<Vec<Message>> {
    let columns = match content {
        PayloadRead::Include => MESSAGE.to_owned(),
        PayloadRead::Skip => MESSAGE.replace("m.payload,", "NULL::bytea,"),
    };
    let select = format!(
        "SELECT {columns} FROM unnest($2::text[]) WITH ORDINALITY AS wanted (id, no) \
         JOIN messages m ON m.application = $1 AND m.id = wanted.id ORDER BY wanted.no"
    );
    let ids: Vec<&str> = ids.iter().map(|id| &**id).collect();
    rows::all(db, &select, &[&application, &ids], rows::message).await
}

async fn find_attempts(
    db: &impl Client,
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
    let keys = format!(
        "SELECT a.message, a.id, a.status, a.response_status_code, a.endpoint FROM attempts a WHERE {column} = $1{}",
        scans::sql(scan, "a.id")
    );
    let params: &[&(dyn ToSql + Sync)] = &[&&**owner, &scan.above, &scan.below, &sql_limit(rows_max)];
    let looked = rows::all(db, &keys, params, |row| {
        let status = codec::status(rows::get::<i16>(row, 2)?.into())?;
        let admitted = filter.matches(status, rows::unsigned(row, 3)?, rows::get(row, 4)?);
        Ok((rows::id(row, 0)?, rows::id(row, 1)?, admitted))
    })
    .await?;
    let mut admitted_messages: HashMap<Id, bool> = HashMap::new();
    if !of_messages.matches_all() {
        let wanted = looked.iter().filter(|(_, _, admitted)| *admitted).map(|(message, _, _)| message.clone());
        let wanted: Vec<Id> = wanted.collect();
        for message in messages(db, application, &wanted, PayloadRead::Skip).await? {
            let admitted = of_messages.matches_message(&message);
            admitted_messages.insert(message.id, admitted);
        }
    }
    let (mut watch, mut wanted) = (ScanProgress::new(scan), (Vec::new(), Vec::new()));
    for (message, id, admitted) in &looked {
        let by_message = of_messages.matches_all() || admitted_messages.get(message).copied().unwrap_or(false);
        let admitted = *admitted && by_message;
        if admitted {
            wanted.0.push(&**message);
            wanted.1.push(&**id);
        }
        if watch.record(id, admitted.then_some(0)) == ScanFlow::Stop {
            break;
        }
    }
    let select = format!(
        "SELECT {ATTEMPT} FROM unnest($1::text[], $2::text[]) WITH ORDINALITY AS wanted (message, id, no) \
         JOIN attempts a ON a.message = wanted.message AND a.id = wanted.id ORDER BY wanted.no"
    );
    let found = rows::all(db, &select, &[&wanted.0, &wanted.1], |row| rows::attempt(row, application)).await?;
    Ok(watch.found(found))
}
