//! Attempts: the hot way out, and their lists.

use std::collections::BTreeMap;

use jiff::Timestamp;
use provider_core::model::{Attempt, Id};
use provider_core::operational::events::{DisabledBy, OperationalEventKind};
use provider_core::port::{AttemptRecord, DeliveryOutcome, EndpointEffect, Page};
use tokio_postgres::Row;
use tokio_postgres::types::ToSql;

use super::rows::{self, ATTEMPT, Client, SqlResult};
use super::{applications, messages, operational, ordering, resend};
use crate::codec::{PageQuery, newest_first};

/// Whether endpoints changed in a way that others have to know of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RoutingChange {
    /// They are as they were.
    Unchanged,
    /// An endpoint was disabled.
    Changed,
}

pub(super) async fn record(db: &impl Client, records: &[AttemptRecord]) -> SqlResult<RoutingChange> {
    let endpoint_summaries = endpoint_summaries(records);
    // Applications are locked before anything else.
    let routes = disable(db, &endpoint_summaries).await?;
    insert(db, records.iter().map(|record| &record.attempt).collect()).await?;
    move_on(db, records).await?;
    note_failing(db, &endpoint_summaries).await?;
    operational::insert_notice_events(db, records).await?;
    Ok(routes)
}

/// An attempt that was recorded before is left as it is.
pub(super) async fn insert(db: &impl Client, mut attempts: Vec<&Attempt>) -> SqlResult<()> {
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
    let times: Vec<Timestamp> = attempts.iter().map(|attempt| attempt.at).collect();
    let insert = "INSERT INTO attempts (message, id, endpoint, url, status, response_status_code, response, \
             response_duration_ms, trigger, at) \
         SELECT message, id, endpoint, url, status::smallint, code::integer, response, duration, trigger::smallint, at \
         FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::bigint[], $6::bigint[], $7::bytea[], $8::bigint[], \
             $9::bigint[], $10::timestamptz[]) \
             AS new (message, id, endpoint, url, status, code, response, duration, trigger, at) \
         ON CONFLICT DO NOTHING";
    rows::write(
        db,
        insert,
        &[&messages, &ids, &endpoints, &urls, &statuses, &codes, &responses, &durations, &triggers, &times],
    )
    .await
    .map(drop)
}

/// Deletes the delivery rows that are done, and lets the others wait. Of two records of one row the last counts, but what is
/// done stays done. What was asked for by hand is not finished by an attempt of the schedule.
async fn move_on(db: &impl Client, records: &[AttemptRecord]) -> SqlResult<()> {
    let mut rows: BTreeMap<(&Id, &Id), (DeliveryOutcome, i64)> = BTreeMap::new();
    for record in records {
        let attempt = &record.attempt;
        let row = rows.entry((&attempt.endpoint, &attempt.message)).or_insert((record.outcome, 0));
        if row.0 != DeliveryOutcome::Done {
            row.0 = record.outcome;
        }
        row.1 = row.1.max(attempt.trigger as i64);
    }
    let (mut done, mut retried) = (Rows::default(), Rows::default());
    let (mut times, mut counts) = (Vec::new(), Vec::new());
    for ((endpoint, message), (next, trigger)) in rows {
        match next {
            DeliveryOutcome::Done => done.push(endpoint, message, trigger),
            DeliveryOutcome::Retry { at, attempts } => {
                retried.push(endpoint, message, trigger);
                times.push(at);
                counts.push(i64::from(attempts));
            }
        }
    }
    if !done.endpoints.is_empty() {
        let delete = "WITH gone AS ( \
                 DELETE FROM deliveries d \
                 USING unnest($1::text[], $2::text[], $3::bigint[]) AS done (endpoint, message, trigger) \
                 WHERE d.endpoint = done.endpoint AND d.message = done.message AND d.manual <= done.trigger \
                 RETURNING d.endpoint, d.key \
             ) SELECT endpoint, key FROM gone WHERE key IS NOT NULL \
             UNION ALL SELECT NULL, count(*)::text FROM gone";
        let place = |row: &Row| Ok((rows::get::<Option<String>>(row, 0)?, rows::get::<String>(row, 1)?));
        let (mut deleted, mut ordered) = (0, Vec::new());
        for (endpoint, word) in rows::all(db, delete, &[&done.endpoints, &done.messages, &done.triggers], place).await?
        {
            match endpoint {
                Some(endpoint) => ordered.push((endpoint, word)),
                None => deleted = word.parse().unwrap_or(0),
            }
        }
        ordering::make_next_due(db, ordered).await?;
        done.return_rest_for_manual(deleted, db).await?;
    }
    if !retried.endpoints.is_empty() {
        let update = "UPDATE deliveries d SET owner = NULL, next_at = retry.at, attempts = retry.attempts \
             FROM unnest($1::text[], $2::text[], $3::bigint[], $4::timestamptz[], $5::bigint[]) \
                 AS retry (endpoint, message, trigger, at, attempts) \
             WHERE d.endpoint = retry.endpoint AND d.message = retry.message AND d.manual <= retry.trigger";
        let params: &[&(dyn ToSql + Sync)] =
            &[&retried.endpoints, &retried.messages, &retried.triggers, &times, &counts];
        let updated = rows::write(db, update, params).await?;
        retried.return_rest_for_manual(updated, db).await?;
    }
    Ok(())
}

/// Delivery rows as columns, in the order in which they are locked.
#[derive(Default)]
struct Rows<'records> {
    endpoints: Vec<&'records str>,
    messages: Vec<&'records str>,
    triggers: Vec<i64>,
}

impl<'records> Rows<'records> {
    fn push(&mut self, endpoint: &'records Id, message: &'records Id, trigger: i64) {
        self.endpoints.push(endpoint);
        self.messages.push(message);
        self.triggers.push(trigger);
    }

    /// Where not all of them moved on, those may remain that were asked for while their owner was at another attempt.
    async fn return_rest_for_manual(&self, moved_on: u64, db: &impl Client) -> SqlResult<()> {
        match usize::try_from(moved_on) {
            Ok(moved_on) if moved_on >= self.endpoints.len() => Ok(()),
            _ => resend::return_for_manual(db, &self.endpoints, &self.messages).await,
        }
    }
}

/// What the attempts of a batch say of one endpoint, taken together.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
struct EndpointSummary {
    /// It worked at least once.
    worked: bool,
    /// When the attempt that disables it began and ended.
    disabled_at: Option<(Timestamp, Timestamp)>,
    /// When it failed first since it worked last.
    failing_since: Option<Timestamp>,
}

/// By application and endpoint.
fn endpoint_summaries(records: &[AttemptRecord]) -> BTreeMap<(&Id, &Id), EndpointSummary> {
    let mut endpoint_summaries: BTreeMap<(&Id, &Id), EndpointSummary> = BTreeMap::new();
    for record in records {
        let attempt = &record.attempt;
        if record.endpoint == EndpointEffect::None {
            continue;
        }
        let verdict = endpoint_summaries.entry((&attempt.application, &attempt.endpoint)).or_default();
        match record.endpoint {
            EndpointEffect::None => {}
            EndpointEffect::Working => *verdict = EndpointSummary { worked: true, failing_since: None, ..*verdict },
            EndpointEffect::Failing => verdict.failing_since = verdict.failing_since.or(Some(attempt.at)),
            EndpointEffect::Disable => {
                verdict.disabled_at = verdict.disabled_at.or(Some((attempt.at, attempt.ended_at())));
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
    for ((application, endpoint), verdict) in endpoint_summaries.iter() {
        let Some((began_at, ended_at)) = verdict.disabled_at else { continue };
        applications::lock(db, application).await?;
        let disable = "UPDATE endpoints SET disabled = TRUE, updated_at = greatest($4, updated_at + interval '1 millisecond') \
             WHERE id = $1 AND application = $2 AND NOT disabled RETURNING uid, coalesce(failing_since, $3)";
        let disabled = rows::one(db, disable, &[&&***endpoint, &&***application, &began_at, &ended_at], |row| {
            Ok((rows::get::<Option<String>>(row, 0)?, rows::get(row, 1)?))
        })
        .await?;
        if let Some((uid, fail_since)) = disabled {
            applications::raise_version(db, application).await?;
            let disabled = OperationalEventKind::Disabled { fail_since, by: DisabledBy::Failures };
            operational::insert_event(db, application, endpoint, uid.as_deref(), disabled).await?;
            routes = RoutingChange::Changed;
        }
    }
    Ok(routes)
}

/// Writes only what changes: successes of working endpoints are one look.
async fn note_failing(db: &impl Client, endpoint_summaries: &BTreeMap<(&Id, &Id), EndpointSummary>) -> SqlResult<()> {
    let said = endpoint_summaries.iter().filter(|(_, verdict)| verdict.worked || verdict.failing_since.is_some());
    let (mut applications, mut endpoints, mut worked, mut since) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for ((application, endpoint), verdict) in said {
        applications.push(&***application);
        endpoints.push(&***endpoint);
        worked.push(verdict.worked);
        since.push(verdict.failing_since);
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

pub(super) async fn of_message(
    db: &impl Client,
    application: &str,
    message: &str,
    page: Page,
) -> SqlResult<Vec<Attempt>> {
    if messages::is_there(db, application, message).await? {
        let select = format!("SELECT {ATTEMPT} FROM attempts a WHERE a.message = $1");
        let slice = PageQuery::new(&newest_first(page));
        return rows::list(db, &select, "a.id", message, &slice, |row| rows::attempt(row, application)).await;
    }
    Ok(Vec::new())
}

pub(super) async fn at_endpoint(
    db: &impl Client,
    application: &str,
    endpoint: &str,
    page: Page,
) -> SqlResult<Vec<Attempt>> {
    let there = "SELECT id FROM endpoints WHERE id = $1 AND application = $2";
    if rows::one(db, there, &[&endpoint, &application], |row| rows::id(row, 0)).await?.is_some() {
        let select = format!("SELECT {ATTEMPT} FROM attempts a WHERE a.endpoint = $1");
        let slice = PageQuery::new(&newest_first(page));
        return rows::list(db, &select, "a.id", endpoint, &slice, |row| rows::attempt(row, application)).await;
    }
    Ok(Vec::new())
}

pub(super) async fn find(db: &impl Client, application: &str, message: &str, id: &str) -> SqlResult<Option<Attempt>> {
    if messages::is_there(db, application, message).await? {
        let select = format!("SELECT {ATTEMPT} FROM attempts a WHERE a.message = $1 AND a.id = $2");
        return rows::one(db, &select, &[&message, &id], |row| rows::attempt(row, application)).await;
    }
    Ok(None)
}
