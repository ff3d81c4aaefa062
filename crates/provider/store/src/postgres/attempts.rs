//! Records attempts (a hot path), and lists, searches and counts them.
//!
//! A search has two steps: it finds the matching rows without payloads and responses, and then reads those rows.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use jiff::Timestamp;
use provider_core::model::{Attempt, AttemptStatus, Id};
use provider_core::operational::events::{DisabledBy, OperationalEventKind};
use provider_core::port::{
    AttemptFilter, AttemptRecord, AttemptScope, AttemptStore, AttemptedMessage, DeliveryOutcome, DeliveryState,
    Destination, EndpointEffect, MessageFilter, Order, Page, PayloadRead, Scan, ScanResult, StoreResult,
};
use tokio_postgres::types::ToSql;

use super::messages::{SCANNED, ScannedMessage, read_messages};
use super::rows::{self, ATTEMPT, Client, SqlError, SqlResult, sql_limit};
use super::{PostgresStore, applications, counts, deliveries, messages, operational_events, ordering};
use crate::codec::{self, PageQuery, newest_first, optional_to_json};
use crate::counts_codec::EndpointAdditions;
use crate::scan::{self as scans, ScanFlow, ScanProgress};
use crate::task_codec::TaskAdditions;

#[async_trait]
impl AttemptStore for PostgresStore {
    async fn record_attempts(&self, records: Arc<[AttemptRecord]>, _within: Duration) -> StoreResult<()> {
        let mut recorded = Recorded::None;
        let routes = loop {
            let batch = (&*records, recorded);
            let job =
                self.engine.transaction(&batch, |db, &(records, recorded)| Box::pin(record(db, records, recorded)));
            match job.await {
                // Each repetition means that another transaction recorded one of the attempts meanwhile.
                Err(SqlError::RecordedBefore) => recorded = Recorded::Some,
                routes => break routes?,
            }
        };
        if routes == RoutingChange::Changed {
            self.engine.notify().await;
        }
        Ok(())
    }

    async fn attempt(&self, application: &str, message: &str, id: &str) -> StoreResult<Option<Attempt>> {
        let client = self.client().await?;
        Ok(find(&client, application, message, id).await?)
    }

    async fn attempts_at_endpoint(&self, application: &str, endpoint: &str, page: Page) -> StoreResult<Vec<Attempt>> {
        let client = self.client().await?;
        Ok(at_endpoint(&client, application, endpoint, page).await?)
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
            "SELECT {SCANNED}, a.latest, a.succeeded, d.next_at FROM ( \
                 SELECT * FROM messages m WHERE m.application = $1{} \
             ) m CROSS JOIN LATERAL ( \
                 SELECT (array_agg(status ORDER BY id DESC))[1] AS latest, coalesce(bool_or(status = 0), FALSE) AS succeeded \
                 FROM attempts WHERE message = m.id AND endpoint = $5 \
             ) a LEFT JOIN deliveries d ON d.endpoint = $5 AND d.message = m.id ORDER BY m.id",
            scans::sql(scan, "m.id")
        );
        let params: &[&(dyn ToSql + Sync)] =
            &[&application, &scan.above, &scan.below, &sql_limit(scan.scanned_rows_max), &endpoint];
        let mut scanned = rows::all(&client, &select, params, |row| {
            let latest = rows::get::<Option<i16>>(row, 5)?.map(|status| codec::status(status.into())).transpose()?;
            let state = DeliveryState { latest, succeeded: rows::get(row, 6)?, next_at: rows::get(row, 7)? };
            Ok((ScannedMessage::of(row)?, state))
        })
        .await?;
        if scan.direction == Order::Descending {
            scanned.reverse();
        }
        let mut progress = ScanProgress::new(scan);
        let mut wanted = Vec::new();
        let mut states = HashMap::new();
        for (row, state) in scanned {
            let counts = state.latest.is_some() && status.is_none_or(|status| state.matches_status(status));
            let admitted = counts && row.is_admitted(filter)?;
            if admitted {
                wanted.push(row.id.clone());
                states.insert(row.id.clone(), state);
            }
            if progress.record(&row.id, admitted.then(|| row.bytes(content))) == ScanFlow::Stop {
                break;
            }
        }
        let messages = read_messages(&client, application, &wanted, content).await?;
        let attempted = messages.into_iter().map(|message| {
            let state = states.remove(&message.id).unwrap_or_default();
            AttemptedMessage { message, state }
        });
        Ok(progress.found(attempted.collect()))
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

/// Whether other nodes have to be notified of changed endpoints.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RoutingChange {
    Unchanged,
    Changed,
}

/// What is known about a batch of attempts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Recorded {
    /// None of them was recorded before, as nearly always.
    None,
    /// Some of them may have been, or are in the batch twice.
    Some,
}

/// Records attempts. `RecordedBefore` when attempts were recorded before and `recorded` says otherwise.
async fn record(db: &impl Client, records: &[AttemptRecord], recorded: Recorded) -> SqlResult<RoutingChange> {
    let records: Vec<&AttemptRecord> = match recorded {
        Recorded::None => records.iter().collect(),
        Recorded::Some => without_recorded(db, records).await?,
    };
    let endpoint_summaries = endpoint_summaries(&records);
    // Every transaction locks applications first, to prevent deadlocks.
    let routes = disable(db, &endpoint_summaries).await?;
    if insert(db, records.iter().map(|record| &record.attempt).collect()).await? != records.len() as u64 {
        return Err(SqlError::RecordedBefore);
    }
    let mut additions = EndpointAdditions::default();
    for record in &records {
        additions.attempt(&record.attempt);
    }
    let mut tasks = TaskAdditions::default();
    apply_outcomes(db, &records, &mut additions, &mut tasks).await?;
    note_failing(db, &endpoint_summaries).await?;
    operational_events::insert_notice_events(db, &records).await?;
    counts::add_to_endpoints(db, &additions).await?;
    counts::add_to_tasks(db, &tasks).await?;
    Ok(routes)
}

/// The records of attempts that are not recorded, each once.
async fn without_recorded<'a>(db: &impl Client, records: &'a [AttemptRecord]) -> SqlResult<Vec<&'a AttemptRecord>> {
    let messages: Vec<&str> = records.iter().map(|record| &*record.attempt.message).collect();
    let ids: Vec<&str> = records.iter().map(|record| &*record.attempt.id).collect();
    let select = "SELECT a.id FROM unnest($1::text[], $2::text[]) AS given (message, id) \
         JOIN attempts a ON a.message = given.message COLLATE \"C\" AND a.id = given.id COLLATE \"C\"";
    let recorded = rows::all(db, select, &[&messages, &ids], |row| rows::id(row, 0)).await?;
    let mut recorded: HashSet<Id> = recorded.into_iter().collect();
    Ok(records.iter().filter(|record| recorded.insert(record.attempt.id.clone())).collect())
}

/// Inserts attempts, except those that were recorded before, and returns the number of inserted ones.
pub(super) async fn insert(db: &impl Client, mut attempts: Vec<&Attempt>) -> SqlResult<u64> {
    attempts.sort_by_key(|attempt| (&attempt.message, &attempt.id));
    let texts = |of: fn(&Attempt) -> &str| attempts.iter().map(|attempt| of(attempt)).collect::<Vec<_>>();
    let numbers = |of: fn(&Attempt) -> i64| attempts.iter().map(|attempt| of(attempt)).collect::<Vec<_>>();
    let messages = texts(|attempt| &attempt.message);
    let ids = texts(|attempt| &attempt.id);
    let endpoints = texts(|attempt| &attempt.endpoint);
    let urls = texts(|attempt| &attempt.url);
    let statuses = numbers(|attempt| attempt.status as i64);
    let codes = numbers(|attempt| attempt.response_status_code.into());
    let responses: Vec<&[u8]> = attempts.iter().map(|attempt| attempt.response.as_bytes()).collect();
    let durations = numbers(|attempt| attempt.response_duration_ms);
    let triggers = numbers(|attempt| attempt.trigger as i64);
    let detail = |attempt: &&Attempt| optional_to_json(attempt.failure_detail.as_ref());
    let details: Vec<Option<String>> = attempts.iter().map(detail).collect::<StoreResult<_>>()?;
    let headers = |attempt: &&Attempt| Some(attempt.response_headers.clone()).filter(|headers| !headers.is_empty());
    let headers: Vec<Option<String>> = attempts.iter().map(headers).collect();
    let phases = |attempt: &&Attempt| optional_to_json(attempt.times.as_ref());
    let phases: Vec<Option<String>> = attempts.iter().map(phases).collect::<StoreResult<_>>()?;
    let times: Vec<Timestamp> = attempts.iter().map(|attempt| attempt.at).collect();
    let insert = "INSERT INTO attempts (message, id, endpoint, url, status, response_status_code, response, \
             response_duration_ms, trigger, began_at, failure_detail, response_headers, times) \
         SELECT message, id, endpoint, url, status::smallint, code::integer, response, duration, trigger::smallint, began_at, \
             detail, headers, phases \
         FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::bigint[], $6::bigint[], $7::bytea[], $8::bigint[], \
             $9::bigint[], $10::timestamptz[], $11::text[], $12::text[], $13::text[]) \
             AS new (message, id, endpoint, url, status, code, response, duration, trigger, began_at, detail, headers, phases) \
         ON CONFLICT DO NOTHING";
    rows::write(
        db,
        insert,
        &[
            &messages, &ids, &endpoints, &urls, &statuses, &codes, &responses, &durations, &triggers, &times, &details,
            &headers, &phases,
        ],
    )
    .await
}

/// Deletes finished delivery rows and sets the time of the next attempt of the others. If a batch has several records
/// for a row, the last record counts, but a finished row stays finished. A scheduled attempt does not end a delivery
/// that a caller requested manually.
async fn apply_outcomes<'a>(
    db: &impl Client,
    records: &[&'a AttemptRecord],
    additions: &mut EndpointAdditions<'a>,
    tasks: &mut TaskAdditions,
) -> SqlResult<()> {
    let mut rows: BTreeMap<(&Id, &Id), (&AttemptRecord, i64)> = BTreeMap::new();
    for record in records {
        let attempt = &record.attempt;
        let row = rows.entry((&attempt.endpoint, &attempt.message)).or_insert((record, 0));
        if row.0.outcome != DeliveryOutcome::Done {
            row.0 = record;
        }
        row.1 = row.1.max(attempt.trigger as i64);
    }
    let (mut done, mut retried) = (Rows::default(), Rows::default());
    let (mut times, mut counts) = (Vec::new(), Vec::new());
    for (record, trigger) in rows.into_values() {
        match record.outcome {
            DeliveryOutcome::Done => done.push(record, trigger),
            DeliveryOutcome::Retry { at, attempts } => {
                retried.push(record, trigger);
                times.push(at);
                counts.push(i64::from(attempts));
            }
        }
    }
    if !done.records.is_empty() {
        let (endpoints, messages, triggers) = done.columns();
        let delete = "DELETE FROM deliveries d \
             USING unnest($1::text[], $2::text[], $3::bigint[]) WITH ORDINALITY AS done (endpoint, message, trigger, place) \
             WHERE d.endpoint = done.endpoint AND d.message = done.message AND d.manual <= done.trigger \
             RETURNING done.place, d.ordering_key, d.ended_before, d.task";
        let deleted = rows::all(db, delete, &[&endpoints, &messages, &triggers], |row| {
            let place = usize::try_from(rows::get::<i64>(row, 0)?).unwrap_or_default();
            let (key, task) = (rows::get::<Option<String>>(row, 1)?, rows::get::<Option<String>>(row, 3)?);
            Ok((place, key, rows::get::<bool>(row, 2)?, task))
        })
        .await?;
        let mut ordered = Vec::new();
        let mut is_deleted = vec![false; done.records.len()];
        for (place, key, ended_before, task) in deleted {
            let place = place.saturating_sub(1);
            let Some(record) = done.records.get(place) else { continue };
            is_deleted[place] = true;
            ordered.extend(key.map(|key| (record.attempt.endpoint.to_string(), key)));
            additions.ended(&record.attempt, record.end(), u64::from(!ended_before));
            tasks.ended(task, record.end());
        }
        ordering::make_next_due(db, ordered).await?;
        // A caller may have requested a manual attempt while the owner made this one.
        let kept = done.records.iter().zip(is_deleted).filter(|(_, is_deleted)| !is_deleted);
        let kept: Vec<&AttemptRecord> = kept.map(|(record, _)| *record).collect();
        for (record, ended_before, task) in deliveries::end_for_manual(db, &kept).await? {
            additions.ended(&record.attempt, record.end(), u64::from(!ended_before));
            tasks.ended(task, record.end());
        }
    }
    if !retried.records.is_empty() {
        let (endpoints, messages, triggers) = retried.columns();
        let update = "UPDATE deliveries d SET owner = NULL, next_at = retry.at, attempts = retry.attempts, manual = 0 \
             FROM unnest($1::text[], $2::text[], $3::bigint[], $4::timestamptz[], $5::bigint[]) \
                 AS retry (endpoint, message, trigger, at, attempts) \
             WHERE d.endpoint = retry.endpoint AND d.message = retry.message AND d.manual <= retry.trigger";
        let params: &[&(dyn ToSql + Sync)] = &[&endpoints, &messages, &triggers, &times, &counts];
        let updated = rows::write(db, update, params).await?;
        // If the number is too small, a caller may have requested manual attempts of the other rows while their owner made
        // an attempt.
        if updated < retried.records.len() as u64 {
            deliveries::return_for_manual(db, &endpoints, &messages).await?;
        }
    }
    Ok(())
}

/// Delivery rows with their records, in the order in which the rows are locked.
#[derive(Default)]
struct Rows<'records> {
    records: Vec<&'records AttemptRecord>,
    triggers: Vec<i64>,
}

impl<'records> Rows<'records> {
    fn push(&mut self, record: &'records AttemptRecord, trigger: i64) {
        self.records.push(record);
        self.triggers.push(trigger);
    }

    /// Endpoints, messages and triggers.
    fn columns(&self) -> (Vec<&'records str>, Vec<&'records str>, &[i64]) {
        let endpoints = self.records.iter().map(|record| &*record.attempt.endpoint).collect();
        let messages = self.records.iter().map(|record| &*record.attempt.message).collect();
        (endpoints, messages, &self.triggers)
    }
}

/// The combined result of a batch's attempts at one endpoint.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
struct EndpointSummary {
    /// At least one attempt succeeded.
    worked: bool,
    /// Begin and end of the attempt that disables the endpoint.
    disabled_at: Option<(Timestamp, Timestamp)>,
    /// Time of the first failure after the last success.
    failing_since: Option<Timestamp>,
}

/// Keyed by application and endpoint.
fn endpoint_summaries<'a>(records: &[&'a AttemptRecord]) -> BTreeMap<(&'a Id, &'a Id), EndpointSummary> {
    let mut endpoint_summaries: BTreeMap<(&Id, &Id), EndpointSummary> = BTreeMap::new();
    for record in records {
        let attempt = &record.attempt;
        if record.endpoint == EndpointEffect::None {
            continue;
        }
        let summary = endpoint_summaries.entry((&attempt.application, &attempt.endpoint)).or_default();
        match record.endpoint {
            EndpointEffect::None => {}
            EndpointEffect::Working => *summary = EndpointSummary { worked: true, failing_since: None, ..*summary },
            EndpointEffect::Failing => summary.failing_since = summary.failing_since.or(Some(attempt.at)),
            EndpointEffect::Disable => {
                summary.disabled_at = summary.disabled_at.or(Some((attempt.at, attempt.ended_at())));
            }
        }
    }
    endpoint_summaries
}

async fn disable(
    db: &impl Client,
    endpoint_summaries: &BTreeMap<(&Id, &Id), EndpointSummary>,
) -> SqlResult<RoutingChange> {
    let mut routes = RoutingChange::Unchanged;
    for ((application, endpoint), summary) in endpoint_summaries.iter() {
        let Some((began_at, ended_at)) = summary.disabled_at else { continue };
        applications::lock(db, application).await?;
        let disable = "UPDATE endpoints SET disabled = TRUE, given_up_at = $3, disabled_at = $3, updated_at = greatest($4, updated_at + interval '1 millisecond') \
             WHERE id = $1 AND application = $2 AND NOT disabled RETURNING uid, coalesce(failing_since, $3)";
        let disabled = rows::one(db, disable, &[&&***endpoint, &&***application, &began_at, &ended_at], |row| {
            Ok((rows::get::<Option<String>>(row, 0)?, rows::get(row, 1)?))
        })
        .await?;
        if let Some((uid, fail_since)) = disabled {
            applications::raise_version(db, application).await?;
            let disabled = OperationalEventKind::Disabled { fail_since, by: DisabledBy::Failures };
            operational_events::insert_event(db, application, endpoint, uid.as_deref(), disabled).await?;
            routes = RoutingChange::Changed;
        }
    }
    Ok(routes)
}

/// Updates `failing_since` only where it changes. Successes of a working endpoint cost one read.
async fn note_failing(db: &impl Client, endpoint_summaries: &BTreeMap<(&Id, &Id), EndpointSummary>) -> SqlResult<()> {
    let with_effect =
        endpoint_summaries.iter().filter(|(_, summary)| summary.worked || summary.failing_since.is_some());
    let (mut applications, mut endpoints, mut worked, mut since) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for ((application, endpoint), summary) in with_effect {
        applications.push(&***application);
        endpoints.push(&***endpoint);
        worked.push(summary.worked);
        since.push(summary.failing_since);
    }
    if endpoints.is_empty() {
        return Ok(());
    }
    let update = "UPDATE endpoints e SET failing_since = said.since \
         FROM unnest($1::text[], $2::text[], $3::boolean[], $4::timestamptz[]) AS said (application, id, worked, since) \
         WHERE e.id = said.id AND e.application = said.application \
         AND (said.worked OR e.failing_since IS NULL) AND e.failing_since IS DISTINCT FROM said.since";
    rows::write(db, update, &[&applications, &endpoints, &worked, &since]).await.map(drop)
}

pub(super) async fn at_endpoint(
    db: &impl Client,
    application: &str,
    endpoint: &str,
    page: Page,
) -> SqlResult<Vec<Attempt>> {
    let exists = "SELECT id FROM endpoints WHERE id = $1 AND application = $2";
    if rows::one(db, exists, &[&endpoint, &application], |row| rows::id(row, 0)).await?.is_some() {
        let select = format!("SELECT {ATTEMPT} FROM attempts a WHERE a.endpoint = $1");
        let page_query = PageQuery::new(&newest_first(page));
        return rows::list(db, &select, "a.id", endpoint, &page_query, |row| rows::attempt(row, application)).await;
    }
    Ok(Vec::new())
}

pub(super) async fn find(db: &impl Client, application: &str, message: &str, id: &str) -> SqlResult<Option<Attempt>> {
    if messages::exists(db, application, message).await? {
        let select = format!("SELECT {ATTEMPT} FROM attempts a WHERE a.message = $1 AND a.id = $2");
        return rows::one(db, &select, &[&message, &id], |row| rows::attempt(row, application)).await;
    }
    Ok(None)
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
    let scanned = rows::all(db, &keys, params, |row| {
        let status = codec::status(rows::get::<i16>(row, 2)?.into())?;
        let admitted = filter.matches(status, rows::unsigned(row, 3)?, rows::get(row, 4)?);
        Ok((rows::id(row, 0)?, rows::id(row, 1)?, admitted))
    })
    .await?;
    let mut admitted_messages: HashMap<Id, bool> = HashMap::new();
    if !of_messages.matches_all() {
        let wanted = scanned.iter().filter(|(_, _, admitted)| *admitted).map(|(message, _, _)| message.clone());
        let wanted: Vec<Id> = wanted.collect();
        for message in read_messages(db, application, &wanted, PayloadRead::Skip).await? {
            let admitted = of_messages.matches_message(&message);
            admitted_messages.insert(message.id, admitted);
        }
    }
    let mut progress = ScanProgress::new(scan);
    let (mut found_messages, mut found_ids) = (Vec::new(), Vec::new());
    for (message, id, admitted) in &scanned {
        let by_message = of_messages.matches_all() || admitted_messages.get(message).copied().unwrap_or(false);
        let admitted = *admitted && by_message;
        if admitted {
            found_messages.push(&**message);
            found_ids.push(&**id);
        }
        if progress.record(id, admitted.then_some(0)) == ScanFlow::Stop {
            break;
        }
    }
    let select = format!(
        "SELECT {ATTEMPT} FROM unnest($1::text[], $2::text[]) WITH ORDINALITY AS wanted (message, id, no) \
         JOIN attempts a ON a.message = wanted.message AND a.id = wanted.id ORDER BY wanted.no"
    );
    let found = rows::all(db, &select, &[&found_messages, &found_ids], |row| rows::attempt(row, application)).await?;
    Ok(progress.found(found))
}
