//! Attempts: the hot way out, and their lists.

use std::collections::HashMap;

use provider_core::model::{Attempt, Id};
use provider_core::port::{AttemptRecord, DeliveryOutcome, EndpointEffect, Page};
use rusqlite::Connection;

use super::deliveries::DeliveryDeleter;
use super::insert::{Insert, Sql, Values};
use super::rows::{self, ATTEMPT, SqlResult, ms};
use super::{applications, messages, operational, resend};
use crate::codec::{PageQuery, newest_first};

/// An attempt that was recorded before is left as it is.
const INSERT: Sql = Sql {
    head: "INSERT OR FAIL INTO attempts (message, id, endpoint, url, status, response_status_code, response, response_duration_ms, \
         trigger, at)",
    values: "(?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
    tail: "ON CONFLICT DO NOTHING",
};
const RETRY: &str = "UPDATE deliveries SET owner = NULL, next_at = ?4, attempts = ?5 \
     WHERE endpoint = ?1 AND message = ?2 AND manual <= ?3";

pub(super) fn record(db: &Connection, records: &[AttemptRecord]) -> SqlResult<()> {
    Insert::prepare(db, &INSERT)?.rows(records, |values, record| bind(values, &record.attempt))?;
    let mut finish = DeliveryDeleter::prepare(db)?;
    let mut retry = db.prepare_cached(RETRY)?;
    // What was said of an endpoint last; saying it again changes nothing.
    let mut said: HashMap<&Id, EndpointEffect> = HashMap::new();
    for record in records {
        let attempt = &record.attempt;
        // What was asked for by hand is not finished by an attempt of the schedule.
        let (endpoint, message, trigger) = (&*attempt.endpoint, &*attempt.message, attempt.trigger as i64);
        let moved_on = match record.outcome {
            DeliveryOutcome::Done => finish.row(endpoint, message, trigger)?,
            DeliveryOutcome::Retry { at, attempts } => {
                retry.execute((endpoint, message, trigger, ms(at), attempts))? == 1
            }
        };
        if !moved_on {
            resend::return_for_manual(db, endpoint, message)?;
        }
        if record.endpoint != EndpointEffect::None
            && said.insert(&attempt.endpoint, record.endpoint) != Some(record.endpoint)
        {
            apply_endpoint_effect(db, attempt, record.endpoint)?;
        }
        operational::insert_notice_event(db, record)?;
    }
    Ok(())
}

/// Enters an attempt by itself.
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
    values.bind(ms(attempt.at))
}

/// Writes only when something changes: a success of a working endpoint is one look.
fn apply_endpoint_effect(db: &Connection, attempt: &Attempt, effect: EndpointEffect) -> SqlResult<()> {
    let whose = (&*attempt.endpoint, &*attempt.application);
    match effect {
        EndpointEffect::None => {}
        EndpointEffect::Working => {
            let works = "UPDATE endpoints SET failing_since = NULL \
                 WHERE id = ?1 AND application = ?2 AND failing_since IS NOT NULL";
            db.prepare_cached(works)?.execute(whose)?;
        }
        EndpointEffect::Failing => {
            let fails = "UPDATE endpoints SET failing_since = ?3 \
                 WHERE id = ?1 AND application = ?2 AND failing_since IS NULL";
            db.prepare_cached(fails)?.execute((whose.0, whose.1, ms(attempt.at)))?;
        }
        EndpointEffect::Disable => {
            let disable = "UPDATE endpoints SET disabled = 1, updated_at = max(?4, updated_at + 1) \
                 WHERE id = ?1 AND application = ?2 AND disabled = 0 RETURNING coalesce(failing_since, ?3)";
            let values = (whose.0, whose.1, ms(attempt.at), ms(attempt.ended_at()));
            let disabled = rows::one(db, disable, values, |row| rows::time(row, 0))?;
            if disabled.is_some() {
                applications::raise_version(db, &attempt.application)?;
                operational::insert_disabled_event(db, &attempt.application, &attempt.endpoint, disabled)?;
            }
        }
    }
    Ok(())
}

pub(super) fn of_message(db: &Connection, application: &str, message: &str, page: Page) -> SqlResult<Vec<Attempt>> {
    if messages::is_there(db, application, message)? {
        let select = format!("SELECT {ATTEMPT} FROM attempts a WHERE a.message = $1");
        let slice = PageQuery::new(&newest_first(page));
        return rows::list(db, &select, "a.id", message, &slice, |row| rows::attempt(row, application));
    }
    Ok(Vec::new())
}

pub(super) fn at_endpoint(db: &Connection, application: &str, endpoint: &str, page: Page) -> SqlResult<Vec<Attempt>> {
    let there = "SELECT 1 FROM endpoints WHERE id = ?1 AND application = ?2";
    if db.prepare_cached(there)?.exists((endpoint, application))? {
        let select = format!("SELECT {ATTEMPT} FROM attempts a WHERE a.endpoint = $1");
        let slice = PageQuery::new(&newest_first(page));
        return rows::list(db, &select, "a.id", endpoint, &slice, |row| rows::attempt(row, application));
    }
    Ok(Vec::new())
}

pub(super) fn find(db: &Connection, application: &str, message: &str, id: &str) -> SqlResult<Option<Attempt>> {
    if messages::is_there(db, application, message)? {
        let select = format!("SELECT {ATTEMPT} FROM attempts a WHERE a.message = ?1 AND a.id = ?2");
        return rows::one(db, &select, (message, id), |row| rows::attempt(row, application));
    }
    Ok(None)
}
