//! One attempt: sign, send, judge, record.

use std::sync::Arc;

use http::Method;
use jiff::{SignedDuration, Timestamp};
use outbound::Request;

use super::Shared;
use super::lane::Lane;
use super::lane_state::Work;
use super::notice::notice;
use super::outcome::{Outcome, Pace, RESPONSE_BYTES_MAX};
use super::recorder::Entry;
use crate::ids;
use crate::model::{Attempt, AttemptStatus, AttemptTrigger};
use crate::port::{AttemptRecord, EndpointEffect, Next, StoreResult};
use crate::target::Target;

/// What became of a row that a lane gave out.
pub(super) enum Attempted {
    /// It is with its recorder.
    Done(Pace),
    /// The store could not be asked about the endpoint.
    NotBegun(Work),
}

pub(super) async fn attempt(shared: &Arc<Shared>, lane: &Lane, work: Work) -> Attempted {
    let target = match target(shared, lane, &work).await {
        Ok(Some(target)) => target,
        Ok(None) => {
            let entry = Entry::Drop { message: work.message, endpoint: lane.endpoint.clone(), _holder: work.holder };
            shared.recorders.record(entry).await;
            return Attempted::Done(Pace::Same);
        }
        Err(error) => {
            tracing::warn!(endpoint = %lane.endpoint, %error, "a delivery waits: its endpoint can't be looked up");
            return Attempted::NotBegun(work);
        }
    };
    let context = &shared.context;
    let (at, started) = (context.clock.now(), context.clock.monotonic());
    let outcome = send(shared, &target, &work, at).await;
    let duration = context.clock.monotonic().saturating_duration_since(started);
    let attempts = work.attempts.saturating_add(1);
    let (pace, next, endpoint) = (outcome.pace, next(shared, &outcome, attempts), effect(shared, &outcome, &target));
    let record = AttemptRecord {
        notice: notice(outcome.status, attempts, next),
        attempt: Attempt {
            id: context.ids.make(ids::ATTEMPT),
            message: work.message,
            endpoint: lane.endpoint.clone(),
            application: lane.application.clone(),
            url: target.url.clone(),
            status: outcome.status,
            response_status_code: outcome.code,
            response: outcome.response,
            response_duration_ms: i64::try_from(duration.as_millis()).unwrap_or(i64::MAX),
            trigger: AttemptTrigger::Scheduled,
            at,
        },
        next,
        endpoint,
    };
    shared.recorders.record(Entry::Attempt { record, holder: work.holder }).await;
    Attempted::Done(pace)
}

/// The endpoint as it is; none when it is disabled or gone, by what was read after the row was made.
async fn target(shared: &Shared, lane: &Lane, work: &Work) -> StoreResult<Option<Arc<Target>>> {
    let snapshots = &shared.context.snapshots;
    for since in [None, Some(work.since)] {
        let snapshot = match since {
            None => snapshots.get(&lane.application).await?,
            Some(since) => snapshots.get_since(&lane.application, since).await?,
        };
        let Some(snapshot) = snapshot else { return Ok(None) };
        let target = snapshot.targets.get(&lane.endpoint).filter(|target| !target.disabled);
        if target.is_some() || snapshot.loaded_at >= work.since {
            return Ok(target.cloned());
        }
    }
    Ok(None)
}

async fn send(shared: &Shared, target: &Target, work: &Work, now: Timestamp) -> Outcome {
    let way = match &target.way {
        Ok(way) => way,
        Err(reason) => return Outcome::failed(reason.clone()),
    };
    let mut headers = way.headers.clone();
    way.signer.sign_headers(&mut headers, &work.message, &work.payload, now);
    let request = Request {
        method: Method::POST,
        uri: way.uri.clone(),
        headers,
        body: work.payload.clone(),
        deadline: shared.context.config.request_timeout,
        response_bytes_max: RESPONSE_BYTES_MAX,
    };
    let result = shared.context.transport.send(request).await;
    Outcome::of(result, shared.context.clock.now())
}

fn next(shared: &Shared, outcome: &Outcome, attempts: u32) -> Next {
    if outcome.status == AttemptStatus::Success || outcome.gone {
        return Next::Done;
    }
    let schedule = &shared.context.config.retry_schedule;
    match schedule.pause(attempts, shared.context.random.unit_f64(), outcome.retry_after) {
        Some(pause) => Next::Retry { at: shared.context.clock.now() + pause, attempts },
        None => Next::Done,
    }
}

fn effect(shared: &Shared, outcome: &Outcome, target: &Target) -> EndpointEffect {
    if outcome.status == AttemptStatus::Success {
        return if target.failing_since.is_some() { EndpointEffect::Working } else { EndpointEffect::None };
    }
    let disable_after = SignedDuration::try_from(shared.context.config.disable_after).unwrap_or(SignedDuration::MAX);
    match target.failing_since {
        _ if outcome.gone => EndpointEffect::Disable,
        Some(since) if shared.context.clock.now().duration_since(since) >= disable_after => EndpointEffect::Disable,
        Some(_) => EndpointEffect::None,
        None => EndpointEffect::Failing,
    }
}
