//! Statistics of deliveries for the App Portal.

use std::collections::BTreeMap;

use async_trait::async_trait;
use provider_core::model::{AttemptStatus, Id};
use provider_core::port::{
    AttemptTally, EndpointWaiting, FAILURE_BYTES_MAX, HealthStore, MessageProgress, StoreResult,
};
use rusqlite::Connection;

use super::rows::{self, SqlResult, sql_limit};
use super::{SqliteStore, backlog};
use crate::codec;

#[async_trait]
impl HealthStore for SqliteStore {
    async fn attempt_tallies(&self, endpoint: &str, bounds: &[Id], rows_max: usize) -> StoreResult<Vec<AttemptTally>> {
        let endpoint = endpoint.to_owned();
        let bounds = bounds.to_vec();
        self.read(move |db| bounds.windows(2).map(|range| tally(db, &endpoint, range, rows_max)).collect()).await
    }

    async fn latest_durations(&self, endpoint: &str, after: &str, limit: usize) -> StoreResult<Vec<i64>> {
        let endpoint = endpoint.to_owned();
        let after = after.to_owned();
        self.read(move |db| {
            let select = "SELECT response_duration_ms FROM attempts WHERE endpoint = ?1 AND id > ?2 \
                 ORDER BY id DESC LIMIT ?3";
            let mut statement = db.prepare_cached(select)?;
            let mut found = statement.query((endpoint, after, sql_limit(limit)))?;
            let mut durations = Vec::new();
            while let Some(row) = found.next()? {
                durations.push(row.get(0)?);
            }
            Ok(durations)
        })
        .await
    }

    async fn endpoint_waiting(&self, endpoint: &str, count_max: usize) -> StoreResult<EndpointWaiting> {
        let endpoint = endpoint.to_owned();
        self.read(move |db| {
            let count = "SELECT count(*) FROM (SELECT 1 FROM deliveries WHERE endpoint = ?1 LIMIT ?2)";
            let deliveries = rows::one(db, count, (&endpoint, sql_limit(count_max)), |row| rows::count(row, 0))?;
            Ok(EndpointWaiting { deliveries: deliveries.unwrap_or(0), next_at: backlog::earliest_due(db, &endpoint)? })
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

fn tally(db: &Connection, endpoint: &str, range: &[Id], rows_max: usize) -> SqlResult<AttemptTally> {
    let count = "SELECT count(*) FILTER (WHERE status = 0), count(*) FILTER (WHERE status = 2), count(*) \
         FROM (SELECT status FROM attempts WHERE endpoint = ?1 AND id >= ?2 AND id < ?3 LIMIT ?4)";
    let params = (endpoint, &*range[0], &*range[1], sql_limit(rows_max));
    let counted = rows::one(db, count, params, |row| {
        Ok(AttemptTally {
            success: row.get::<_, i64>(0)?.unsigned_abs(),
            fail: row.get::<_, i64>(1)?.unsigned_abs(),
            is_capped: rows::count(row, 2)? >= rows_max,
        })
    })?;
    Ok(counted.unwrap_or_default())
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
