//! Searching what happened. Two steps: which rows are wanted, read without payloads and responses, and then those rows.

use async_trait::async_trait;
use provider_core::model::{Attempt, AttemptStatus, Id, Message};
use provider_core::port::{
    AttemptFilter, Attempted, AttemptsOf, Content, Destination, Found, History, MessageFilter, Scan, Standing,
    StoreResult,
};
use rusqlite::{Connection, Row};

use super::rows::{self, ATTEMPT, MESSAGE, Outcome};
use super::{Sqlite, applications};
use crate::codec;
use crate::scan::{self as scans, Go, Watch};

#[async_trait]
impl History for Sqlite {
    async fn find_messages(
        &self,
        application: &str,
        filter: &MessageFilter,
        scan: &Scan,
        content: Content,
    ) -> StoreResult<Found<Message>> {
        let (application, filter, scan) = (application.to_owned(), filter.clone(), scan.clone());
        self.read(move |db| {
            let rows_max = if filter.is_open() { scans::wanted_max(&scan) } else { scan.looked_max };
            let (mut watch, mut found) = (Watch::new(&scan), Vec::new());
            each_message(db, &application, &scan, rows_max, |row| {
                let admitted = admits(&filter, row, 2)?;
                let bytes = if admitted { Some(payload_bytes(row, content)?) } else { None };
                if admitted {
                    found.push(message(db, row.get(0)?, content)?);
                }
                Ok(watch.looked_at(rows::text(row, 1)?, bytes))
            })?;
            Ok(watch.found(found))
        })
        .await
    }

    async fn messages_of_ids(&self, application: &str, ids: &[Id]) -> StoreResult<Vec<Message>> {
        let (application, ids) = (application.to_owned(), ids.to_vec());
        self.read(move |db| {
            let select = "SELECT no FROM messages WHERE application = ?1 AND id = ?2";
            let mut found = Vec::with_capacity(ids.len());
            for id in &ids {
                if let Some(no) = rows::one(db, select, (&application, &**id), |row| Ok(row.get(0)?))? {
                    found.push(message(db, no, Content::Left)?);
                }
            }
            Ok(found)
        })
        .await
    }

    async fn find_attempts(
        &self,
        application: &str,
        of: &AttemptsOf,
        filter: &AttemptFilter,
        scan: &Scan,
    ) -> StoreResult<Found<Attempt>> {
        let (application, of, filter, scan) = (application.to_owned(), of.clone(), filter.clone(), scan.clone());
        self.read(move |db| find_attempts(db, &application, &of, &filter, &scan)).await
    }

    async fn find_attempted(
        &self,
        application: &str,
        endpoint: &str,
        filter: &MessageFilter,
        status: Option<AttemptStatus>,
        scan: &Scan,
        content: Content,
    ) -> StoreResult<Found<Attempted>> {
        let (application, endpoint) = (application.to_owned(), endpoint.to_owned());
        let (filter, scan) = (filter.clone(), scan.clone());
        self.read(move |db| {
            let (mut watch, mut found) = (Watch::new(&scan), Vec::new());
            each_message(db, &application, &scan, scan.looked_max, |row| {
                let id = rows::text(row, 1)?;
                let standing =
                    if admits(&filter, row, 2)? { standing(db, &endpoint, id)? } else { Standing::default() };
                let wanted = standing.latest.is_some() && status.is_none_or(|status| standing.counts_as(status));
                let bytes = if wanted { Some(payload_bytes(row, content)?) } else { None };
                if wanted {
                    found.push(Attempted { message: message(db, row.get(0)?, content)?, standing });
                }
                Ok(watch.looked_at(id, bytes))
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
    mut look: impl FnMut(&Row<'_>) -> Outcome<Go>,
) -> Outcome<()> {
    if !applications::is_there(db, application)? {
        return Ok(());
    }
    let select = format!(
        "SELECT m.no, m.id, m.event_type, m.channels, m.tags, length(m.payload) FROM messages m WHERE m.application = $1{}",
        scans::sql(scan, "m.id")
    );
    let mut statement = db.prepare_cached(&select)?;
    let mut rows = statement.query((application, &scan.above, &scan.below, most(rows_max)))?;
    while let Some(row) = rows.next()? {
        if look(row)? == Go::Home {
            break;
        }
    }
    Ok(())
}

/// Columns `event_type, channels, tags` from `column` on.
fn admits(filter: &MessageFilter, row: &Row<'_>, column: usize) -> Outcome<bool> {
    if filter.is_open() {
        return Ok(true);
    }
    let channels: Option<Vec<String>> = codec::optional_from_json(rows::optional_text(row, column + 1)?)?;
    let tags: Option<Vec<String>> = codec::optional_from_json(rows::optional_text(row, column + 2)?)?;
    Ok(filter.admits(rows::text(row, column)?, channels.as_deref(), tags.as_deref()))
}

fn payload_bytes(row: &Row<'_>, content: Content) -> Outcome<usize> {
    match content {
        Content::Left => Ok(0),
        Content::Read => Ok(row.get::<_, Option<u32>>(5)?.unwrap_or(0) as usize),
    }
}

fn message(db: &Connection, no: i64, content: Content) -> Outcome<Message> {
    let columns = match content {
        Content::Read => MESSAGE.to_owned(),
        Content::Left => MESSAGE.replace("m.payload,", "NULL,"),
    };
    let select = format!("SELECT {columns} FROM messages m WHERE m.no = ?1");
    rows::one(db, &select, [no], rows::message)?
        .ok_or_else(|| codec::corrupt("a message is listed and not there").into())
}

fn find_attempts(
    db: &Connection,
    application: &str,
    of: &AttemptsOf,
    filter: &AttemptFilter,
    scan: &Scan,
) -> Outcome<Found<Attempt>> {
    let by_message = MessageFilter::default();
    let (column, owner, of_messages) = match of {
        AttemptsOf::Message(id) => ("a.message", id, &by_message),
        AttemptsOf::Endpoint(id) => ("a.endpoint", id, &filter.message),
    };
    let rows_max = if filter.is_open() { scans::wanted_max(scan) } else { scan.looked_max };
    let select = format!(
        "SELECT a.message, a.id, a.status, a.response_status_code, a.endpoint FROM attempts a WHERE {column} = $1{}",
        scans::sql(scan, "a.id")
    );
    let of_message = "SELECT m.event_type, m.channels, m.tags FROM messages m WHERE m.application = ?1 AND m.id = ?2";
    let whole = format!("SELECT {ATTEMPT} FROM attempts a WHERE a.message = ?1 AND a.id = ?2");
    let (mut watch, mut found) = (Watch::new(scan), Vec::new());
    let mut statement = db.prepare_cached(&select)?;
    let mut rows = statement.query((&**owner, &scan.above, &scan.below, most(rows_max)))?;
    while let Some(row) = rows.next()? {
        let (message, id) = (rows::text(row, 0)?, rows::text(row, 1)?);
        let mut admitted = filter.admits(codec::status(row.get(2)?)?, row.get(3)?, rows::text(row, 4)?);
        if admitted && !of_messages.is_open() {
            let delivers = rows::one(db, of_message, (application, message), |row| admits(of_messages, row, 0))?;
            admitted = delivers.unwrap_or(false);
        }
        if admitted {
            found.extend(rows::one(db, &whole, (message, id), |row| rows::attempt(row, application))?);
        }
        if watch.looked_at(id, admitted.then_some(0)) == Go::Home {
            break;
        }
    }
    Ok(watch.found(found))
}

/// How a message stands at an endpoint, which it need not have been sent to.
fn standing(db: &Connection, endpoint: &str, message: &str) -> Outcome<Standing> {
    let attempts = "SELECT status FROM attempts WHERE message = ?1 AND endpoint = ?2 ORDER BY id DESC";
    let mut standing = Standing::default();
    let mut statement = db.prepare_cached(attempts)?;
    let mut rows = statement.query((message, endpoint))?;
    while let Some(row) = rows.next()? {
        let status = codec::status(row.get(0)?)?;
        standing.latest = standing.latest.or(Some(status));
        standing.succeeded |= status == AttemptStatus::Success;
    }
    if standing.latest.is_some() {
        let next = "SELECT next_at FROM deliveries WHERE endpoint = ?1 AND message = ?2";
        standing.next_at = rows::one(db, next, (endpoint, message), |row| rows::time(row, 0))?;
    }
    Ok(standing)
}

/// Those that it was tried at, and those of the application's endpoints that it waits for.
fn destinations(db: &Connection, application: &str, message: &str) -> Outcome<Vec<Destination>> {
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

fn most(rows: usize) -> i64 {
    i64::try_from(rows).unwrap_or(i64::MAX)
}
