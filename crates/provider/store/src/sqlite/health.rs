//! Statistics of deliveries for the App Portal.

use std::collections::BTreeMap;
use std::ops::Range;

use async_trait::async_trait;
use provider_core::model::{AttemptStatus, Id};
use provider_core::port::{EndpointWaiting, FAILURE_BYTES_MAX, HealthStore, MessageProgress, StoreResult};
use rusqlite::{Connection, Row};

use super::rows::{self, SqlResult, sql_limit};
use super::{SqliteStore, backlog};
use crate::codec;

#[async_trait]
impl HealthStore for SqliteStore {
    async fn endpoint_waiting(&self, endpoint: &str, messages: Option<Range<Id>>) -> StoreResult<EndpointWaiting> {
        let endpoint = endpoint.to_owned();
        self.read(move |db| {
            let count = "SELECT count(*) FILTER (WHERE attempts = 0), count(*) FILTER (WHERE attempts > 0) FROM deliveries \
                 WHERE endpoint = ?1 AND (?2 IS NULL OR message >= ?2) AND (?3 IS NULL OR message < ?3)";
            let (from, to) = (messages.as_ref().map(|range| &*range.start), messages.as_ref().map(|range| &*range.end));
            let number = |row: &Row<'_>, column| -> SqlResult<u64> { Ok(row.get::<_, i64>(column)?.unsigned_abs()) };
            let counted = rows::one(db, count, (&endpoint, from, to), |row| Ok((number(row, 0)?, number(row, 1)?)))?;
            let (first, retries) = counted.unwrap_or_default();
            Ok(EndpointWaiting { first, retries, next_at: backlog::earliest_due(db, &endpoint)? })
        })
        .await
    }

    async fn message_progress(
        &self,
        application: &str,
        messages: &[Id],
        endpoint: Option<&str>,
    ) -> StoreResult<Vec<MessageProgress>> {
        let application = application.to_owned();
        let messages = messages.to_vec();
        let endpoint = endpoint.map(str::to_owned);
        let read = move |db: &Connection| {
            let of_one = |message| progress(db, &application, message, endpoint.as_deref());
            messages.iter().map(of_one).collect()
        };
        self.read(read).await
    }
}

fn progress(db: &Connection, application: &str, message: &Id, endpoint: Option<&str>) -> SqlResult<MessageProgress> {
    let attempts = "SELECT endpoint, status, response_status_code, CASE WHEN status = 2 THEN substr(response, 1, ?2) END, \
         CASE WHEN status = 2 THEN url END, failure_detail FROM attempts WHERE message = ?1 AND (?3 IS NULL OR endpoint = ?3) ORDER BY id DESC";
    let waiting = "SELECT e.id, d.next_at FROM endpoints e \
         CROSS JOIN deliveries d ON d.endpoint = e.id AND d.message = ?2 \
         WHERE e.application = ?1 AND (?3 IS NULL OR e.id = ?3)";
    let mut found = MessageProgress {
        message: message.clone(),
        endpoints: 0,
        succeeded: 0,
        waiting: 0,
        next_at: None,
        attempts: 0,
        latest: None,
        url: String::new(),
        detail: None,
        failure: String::new(),
    };
    // For each endpoint, whether it has a successful attempt.
    let mut endpoints: BTreeMap<Id, bool> = BTreeMap::new();
    let mut statement = db.prepare_cached(attempts)?;
    let mut attempts_of_message = statement.query((&**message, sql_limit(FAILURE_BYTES_MAX), endpoint))?;
    while let Some(row) = attempts_of_message.next()? {
        let status = codec::status(row.get(1)?)?;
        if found.latest.is_none() {
            found.latest = Some((status, row.get(2)?));
            found.failure = rows::optional_text(row, 3)?.unwrap_or_default().to_owned();
            found.url = rows::optional_text(row, 4)?.unwrap_or_default().to_owned();
            found.detail = codec::optional_from_json(rows::optional_text(row, 5)?)?;
        }
        found.attempts += 1;
        *endpoints.entry(rows::id(row, 0)?).or_default() |= status == AttemptStatus::Success;
    }
    let mut statement = db.prepare_cached(waiting)?;
    let mut rows_waiting = statement.query((application, &**message, endpoint))?;
    while let Some(row) = rows_waiting.next()? {
        let next_at = rows::time(row, 1)?;
        endpoints.entry(rows::id(row, 0)?).or_default();
        found.waiting += 1;
        found.next_at = Some(found.next_at.map_or(next_at, |earlier| earlier.min(next_at)));
    }
    found.endpoints = endpoints.len() as u64;
    found.succeeded = endpoints.values().filter(|succeeded| **succeeded).count() as u64;
    Ok(found)
}
