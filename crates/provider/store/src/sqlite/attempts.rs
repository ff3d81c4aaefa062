//! Records attempts (a hot path), and lists, searches and counts them.
//!
//! A search has two steps: it finds the matching rows without payloads and responses, and then reads those rows.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use provider_core::model::{Attempt, AttemptStatus, Id};
use provider_core::port::{
    AttemptFilter, AttemptRecord, AttemptScope, AttemptStore, AttemptedMessage, DeliveryOutcome, DeliveryState,
    Destination, EndpointEffect, MessageFilter, Page, PayloadRead, Scan, ScanResult, StoreResult,
};
use rusqlite::Connection;

use super::deliveries::DeliveryDeleter;
use super::insert::{Insert, Sql, Values};
use super::rows::{self, ATTEMPT, SqlError, SqlResult, ms, sql_limit};
use super::{SqliteStore, applications, counts, deliveries, messages, operational_events};
use crate::codec::{self, PageQuery, newest_first, optional_to_json};
use crate::counts_codec::EndpointAdditions;
use crate::scan::{self as scans, ScanFlow, ScanProgress};
use crate::task_codec::TaskAdditions;

#[async_trait]
impl AttemptStore for SqliteStore {
    async fn record_attempts(&self, records: Arc<[AttemptRecord]>, within: Duration) -> StoreResult<()> {
        let batch = Arc::clone(&records);
        match self.database.write_within(within, move |db| record(db, &batch, Recorded::None)).await {
            Err(SqlError::RecordedBefore) => self.write(move |db| record(db, &records, Recorded::Some)).await,
            result => Ok(result?),
        }
    }

    async fn attempt(&self, application: &str, message: &str, id: &str) -> StoreResult<Option<Attempt>> {
        let (application, message, id) = (application.to_owned(), message.to_owned(), id.to_owned());
        self.read(move |db| find(db, &application, &message, &id)).await
    }

    async fn attempts_at_endpoint(&self, application: &str, endpoint: &str, page: Page) -> StoreResult<Vec<Attempt>> {
        let (application, endpoint) = (application.to_owned(), endpoint.to_owned());
        self.read(move |db| at_endpoint(db, &application, &endpoint, page)).await
    }

    async fn find_attempts(
        &self,
        application: &str,
        of: &AttemptScope,
        filter: &AttemptFilter,
        scan: &Scan,
    ) -> StoreResult<ScanResult<Attempt>> {
        let application = application.to_owned();
        let of = of.clone();
        let filter = filter.clone();
        let scan = scan.clone();
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
        let filter = filter.clone();
        let scan = scan.clone();
        self.read(move |db| {
            let mut progress = ScanProgress::new(&scan);
            let mut found = Vec::new();
            messages::each_message(db, &application, &scan, scan.scanned_rows_max, |row| {
                let id = rows::text(row, 1)?;
                let state = if messages::matches(&filter, row, 2)? {
                    state(db, &endpoint, id)?
                } else {
                    DeliveryState::default()
                };
                let admitted = state.latest.is_some() && status.is_none_or(|status| state.matches_status(status));
                let bytes = if admitted { Some(messages::payload_bytes(row, content)?) } else { None };
                if admitted {
                    found.push(AttemptedMessage { message: messages::read_message(db, row.get(0)?, content)?, state });
                }
                Ok(progress.record(id, bytes))
            })?;
            Ok(progress.found(found))
        })
        .await
    }

    async fn destinations(&self, application: &str, message: &str) -> StoreResult<Vec<Destination>> {
        let (application, message) = (application.to_owned(), message.to_owned());
        self.read(move |db| destinations(db, &application, &message)).await
    }
}

/// Skips an attempt that was recorded before.
const INSERT: Sql = Sql {
    head: "INSERT OR FAIL INTO attempts (message, id, endpoint, url, status, response_status_code, response, response_duration_ms, \
         trigger, began_at, failure_detail, response_headers, times)",
    values: "(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
    tail: "ON CONFLICT DO NOTHING",
};

const RETRY: &str = "UPDATE deliveries SET owner = NULL, next_at = ?4, attempts = ?5, manual = 0 \
     WHERE endpoint = ?1 AND message = ?2 AND manual <= ?3";

/// What is known about a batch of attempts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Recorded {
    /// None of them was recorded before, as nearly always.
    None,
    /// Some of them may have been, or are in the batch twice.
    Some,
}

/// Records attempts. `RecordedBefore` when attempts were recorded before and `recorded` says otherwise.
fn record(db: &Connection, records: &[AttemptRecord], recorded: Recorded) -> SqlResult<()> {
    let new: Vec<&AttemptRecord> = match recorded {
        Recorded::None => records.iter().collect(),
        Recorded::Some => without_recorded(db, records)?,
    };
    if Insert::prepare(db, &INSERT)?.rows(&new, |values, record| bind(values, &record.attempt))? != new.len() {
        return Err(SqlError::RecordedBefore);
    }
    let mut additions = EndpointAdditions::default();
    let mut tasks = TaskAdditions::default();
    let mut finish = DeliveryDeleter::prepare(db)?;
    let mut retry = db.prepare_cached(RETRY)?;
    // The last effect on each endpoint. Applying it again would change nothing.
    let mut last_effects: HashMap<&Id, EndpointEffect> = HashMap::new();
    for record in new {
        let attempt = &record.attempt;
        additions.attempt(attempt);
        // A scheduled attempt does not end a delivery that a caller requested manually.
        let trigger = attempt.trigger as i64;
        let (endpoint, message) = (&*attempt.endpoint, &*attempt.message);
        match record.outcome {
            DeliveryOutcome::Done => {
                let mut rows = finish.row(endpoint, message, trigger)?;
                if rows.deleted == 0 {
                    rows = deliveries::end_for_manual(db, endpoint, message)?;
                }
                additions.ended(attempt, record.end(), rows.ended as u64);
                tasks.ended(rows.tasks, record.end());
            }
            DeliveryOutcome::Retry { at, attempts } => {
                if retry.execute((endpoint, message, trigger, ms(at), attempts))? == 0 {
                    deliveries::return_for_manual(db, endpoint, message)?;
                }
            }
        }
        if record.endpoint != EndpointEffect::None
            && last_effects.insert(&attempt.endpoint, record.endpoint) != Some(record.endpoint)
        {
            apply_endpoint_effect(db, attempt, record.endpoint)?;
        }
        operational_events::insert_notice_event(db, record)?;
    }
    counts::add_to_endpoints(db, &additions)?;
    counts::add_to_tasks(db, &tasks)
}

/// The records of attempts that are not recorded, each once.
fn without_recorded<'a>(db: &Connection, records: &'a [AttemptRecord]) -> SqlResult<Vec<&'a AttemptRecord>> {
    let mut recorded = db.prepare_cached("SELECT 1 FROM attempts WHERE message = ?1 AND id = ?2")?;
    let (mut new, mut ids) = (Vec::new(), HashSet::new());
    for record in records {
        if ids.insert(&record.attempt.id) && !recorded.exists((&*record.attempt.message, &*record.attempt.id))? {
            new.push(record);
        }
    }
    Ok(new)
}

pub(super) fn insert(db: &Connection, attempt: &Attempt) -> SqlResult<()> {
    Insert::prepare(db, &INSERT)?.rows(std::slice::from_ref(attempt), bind)?;
    Ok(())
}

fn bind(values: &mut Values<'_, '_>, attempt: &Attempt) -> SqlResult<()> {
    values.bind(&*attempt.message)?;
    values.bind(&*attempt.id)?;
    values.bind(&*attempt.endpoint)?;
    values.bind(&attempt.url)?;
    values.bind(attempt.status as u8)?;
    values.bind(attempt.response_status_code)?;
    values.bind(&attempt.response)?;
    values.bind(attempt.response_duration_ms)?;
    values.bind(attempt.trigger as u8)?;
    values.bind(ms(attempt.at))?;
    values.bind(optional_to_json(attempt.failure_detail.as_ref())?)?;
    values.bind((!attempt.response_headers.is_empty()).then_some(&attempt.response_headers))?;
    values.bind(optional_to_json(attempt.times.as_ref())?)
}

/// Updates the endpoint only if a column changes. A success of a working endpoint costs one read.
fn apply_endpoint_effect(db: &Connection, attempt: &Attempt, effect: EndpointEffect) -> SqlResult<()> {
    let endpoint = &*attempt.endpoint;
    let application = &*attempt.application;
    match effect {
        EndpointEffect::None => {}
        EndpointEffect::Working => {
            let works = "UPDATE endpoints SET failing_since = NULL \
                 WHERE id = ?1 AND application = ?2 AND failing_since IS NOT NULL";
            db.prepare_cached(works)?.execute((endpoint, application))?;
        }
        EndpointEffect::Failing => {
            let fails = "UPDATE endpoints SET failing_since = ?3 \
                 WHERE id = ?1 AND application = ?2 AND failing_since IS NULL";
            db.prepare_cached(fails)?.execute((endpoint, application, ms(attempt.at)))?;
        }
        EndpointEffect::Disable => {
            let disable = "UPDATE endpoints SET disabled = 1, given_up_at = ?3, disabled_at = ?3, updated_at = max(?4, updated_at + 1) \
                 WHERE id = ?1 AND application = ?2 AND disabled = 0 RETURNING coalesce(failing_since, ?3)";
            let values = (endpoint, application, ms(attempt.at), ms(attempt.ended_at()));
            let disabled = rows::one(db, disable, values, |row| rows::time(row, 0))?;
            if disabled.is_some() {
                applications::raise_version(db, application)?;
                operational_events::insert_disabled_event(db, application, endpoint, disabled)?;
            }
        }
    }
    Ok(())
}

pub(super) fn at_endpoint(db: &Connection, application: &str, endpoint: &str, page: Page) -> SqlResult<Vec<Attempt>> {
    let exists = "SELECT 1 FROM endpoints WHERE id = ?1 AND application = ?2";
    if db.prepare_cached(exists)?.exists((endpoint, application))? {
        let select = format!("SELECT {ATTEMPT} FROM attempts a WHERE a.endpoint = $1");
        let page_query = PageQuery::new(&newest_first(page));
        return rows::list(db, &select, "a.id", endpoint, &page_query, |row| rows::attempt(row, application));
    }
    Ok(Vec::new())
}

pub(super) fn find(db: &Connection, application: &str, message: &str, id: &str) -> SqlResult<Option<Attempt>> {
    if messages::exists(db, application, message)? {
        let select = format!("SELECT {ATTEMPT} FROM attempts a WHERE a.message = ?1 AND a.id = ?2");
        return rows::one(db, &select, (message, id), |row| rows::attempt(row, application));
    }
    Ok(None)
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
    let mut progress = ScanProgress::new(scan);
    let mut found = Vec::new();
    let mut statement = db.prepare_cached(&select)?;
    let mut rows = statement.query((&**owner, &scan.above, &scan.below, sql_limit(rows_max)))?;
    while let Some(row) = rows.next()? {
        let (message, id) = (rows::text(row, 0)?, rows::text(row, 1)?);
        let mut admitted = filter.matches(codec::status(row.get(2)?)?, row.get(3)?, rows::text(row, 4)?);
        if admitted && !of_messages.matches_all() {
            let delivers =
                rows::one(db, of_message, (application, message), |row| messages::matches(of_messages, row, 0))?;
            admitted = delivers.unwrap_or(false);
        }
        if admitted {
            found.extend(rows::one(db, &whole, (message, id), |row| rows::attempt(row, application))?);
        }
        if progress.record(id, admitted.then_some(0)) == ScanFlow::Stop {
            break;
        }
    }
    Ok(progress.found(found))
}

/// The state of a message at an endpoint. The endpoint need not have received the message.
fn state(db: &Connection, endpoint: &str, message: &str) -> SqlResult<DeliveryState> {
    let attempts = "SELECT status FROM attempts WHERE message = ?1 AND +endpoint = ?2 ORDER BY id DESC";
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

/// The endpoints with an attempt of the message, and those of the application with an unfinished delivery.
fn destinations(db: &Connection, application: &str, message: &str) -> SqlResult<Vec<Destination>> {
    // SQLite reads the other columns from the row with the `max`.
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
