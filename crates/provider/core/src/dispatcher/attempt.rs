//! One attempt: sign, send, evaluate the response, record.

use std::sync::Arc;
use std::time::{Duration, Instant};

use http::Method;
use jiff::Timestamp;
use kit_outbound::{Exchange, Request, TransportError};
use kit_runtime::trace::TraceParent;

use super::Shared;
use super::attempt_event::attempt_event;
use super::disable_endpoint::endpoint_effect;
use super::lane::Lane;
use super::lane_state::QueuedDelivery;
use super::origin::AttemptTrace;
use super::outcome::{ConcurrencySignal, Outcome};
use super::recorder::DeliveryRecord;
use crate::dispatcher::target::Target;
use crate::ids;
use crate::model::cause::{Cause, FailureDetail, LOOP, RESPONSE_BYTES_MAX};
use crate::model::{Attempt, AttemptStatus, AttemptTimes, AttemptTrigger, Id};
use crate::payload::StoredPayload;
use crate::port::{AttemptEvent, AttemptRecord, DeliveryOutcome, EndpointEffect, StoreResult};

/// The result of a delivery that a lane started.
pub(super) enum AttemptResult {
    /// The attempt was passed to its recorder. `changed_at` is the time of the endpoint's latest change before the
    /// attempt.
    Done { signal: ConcurrencySignal, changed_at: Timestamp },
    /// The endpoint or the message could not be read from the store.
    NotStarted(Box<QueuedDelivery>),
}

/// Makes one attempt: looks up the endpoint, signs, sends, and passes the result to the recorder.
pub(super) async fn attempt(shared: &Arc<Shared>, lane: &Lane, mut delivery: QueuedDelivery) -> AttemptResult {
    let target = match target_of(shared, lane, &delivery).await {
        Ok(Some(target)) => target,
        Ok(None) => {
            shared.recorders.record(lane.dropped_record(delivery.message, delivery.key, delivery.lease)).await;
            return AttemptResult::Done { signal: ConcurrencySignal::Keep, changed_at: shared.context.clock.now() };
        }
        Err(error) => {
            tracing::warn!(endpoint_id = %lane.endpoint, message_id = %delivery.message, %error, "a delivery waits, because its endpoint or message can't be read");
            return AttemptResult::NotStarted(Box::new(delivery));
        }
    };
    lane.set_limits(shared, &target);
    let context = &shared.context;
    let (at, started) = (context.clock.now(), context.clock.monotonic());
    // The request owns the payload and drops it after writing it, so a request without a response holds no payload in
    // memory.
    let payload = std::mem::take(&mut delivery.payload);
    let attempts = delivery.attempts.saturating_add(1);
    let origin = delivery.origin.take();
    let trace = AttemptTrace::begin(&context.config.tracer, origin, &delivery.message, &lane.endpoint, attempts);
    let sending = Sending { message: &delivery.message, position: trace.position(), at, started };
    let outcome = send(shared, lane, &target, payload, sending).await;
    let duration = context.clock.monotonic().saturating_duration_since(started);
    shared.metrics.attempted(outcome.status, started.saturating_duration_since(delivery.since), duration);
    if let Some(requested_at) = delivery.first_requested_at().filter(|_| outcome.status == AttemptStatus::Success) {
        let waited = Duration::try_from(at.duration_since(requested_at)).unwrap_or_default();
        shared.metrics.delivered_first(waited.saturating_add(duration));
    }
    let mut next = next_step(shared, &outcome, attempts);
    let signal = outcome.signal.spread(|| context.random.unit_f64());
    let mut endpoint = endpoint_effect(shared, lane, &outcome, &target).await;
    let mut notice = attempt_event(outcome.status, attempts, next);
    if delivery.trigger == AttemptTrigger::Manual {
        // A resend is attempted once and replaces the scheduled attempt. Its failure does not count against the
        // endpoint and causes no operational event: only the caller who asked for it sees the result.
        next = DeliveryOutcome::Done;
        if outcome.status != AttemptStatus::Success {
            notice = AttemptEvent::None;
        }
        if endpoint == EndpointEffect::Failing || (endpoint == EndpointEffect::Disable && !outcome.gone) {
            endpoint = EndpointEffect::None;
        }
    }
    trace.end(&outcome, next, duration);
    let trigger = delivery.recorded_trigger();
    let record = AttemptRecord {
        notice,
        attempt: Attempt {
            id: context.ids.make(ids::ATTEMPT),
            message: delivery.message,
            endpoint: lane.endpoint.clone(),
            application: lane.application.clone(),
            url: target.url.clone(),
            status: outcome.status,
            response_status_code: outcome.code,
            response: outcome.response,
            failure_detail: outcome.detail,
            response_headers: outcome.headers,
            response_duration_ms: i64::try_from(duration.as_millis()).unwrap_or(i64::MAX),
            times: outcome.times,
            trigger,
            at,
        },
        outcome: next,
        endpoint,
    };
    shared.recorders.record(DeliveryRecord::Attempt { record, key: delivery.key, lease: delivery.lease }).await;
    AttemptResult::Done { signal, changed_at: target.changed_at }
}

/// The target of a delivery. None when the endpoint is disabled or deleted, or when the payload was removed.
async fn target_of(shared: &Shared, lane: &Lane, delivery: &QueuedDelivery) -> StoreResult<Option<Arc<Target>>> {
    let Some(target) = target(shared, lane, delivery).await? else { return Ok(None) };
    if target.purges != delivery.purges && payload_of(shared, lane, &delivery.message).await?.is_none() {
        return Ok(None);
    }
    Ok(Some(target))
}

/// The current endpoint; none when it is disabled or deleted according to a snapshot that is newer than the delivery.
async fn target(shared: &Shared, lane: &Lane, delivery: &QueuedDelivery) -> StoreResult<Option<Arc<Target>>> {
    let snapshots = &shared.context.snapshots;
    for since in [None, Some(delivery.since)] {
        let snapshot = match since {
            None => snapshots.get(&lane.application).await?,
            Some(since) => snapshots.get_since(&lane.application, since).await?,
        };
        let Some(snapshot) = snapshot else { return Ok(None) };
        let target = snapshot.targets.get(&lane.endpoint).filter(|target| !target.disabled);
        if target.is_some() || snapshot.loaded_at >= delivery.since {
            return Ok(target.cloned());
        }
    }
    Ok(None)
}

/// What an attempt sends.
struct Sending<'a> {
    message: &'a Id,
    position: Option<TraceParent>,
    at: Timestamp,
    started: Instant,
}

/// Signs the message and sends it to the endpoint.
async fn send(
    shared: &Shared,
    lane: &Lane,
    target: &Target,
    payload: StoredPayload,
    Sending { message, position, at, started }: Sending<'_>,
) -> Outcome {
    let request_template = match &target.request_template {
        Ok(request_template) => request_template,
        Err(reason) => return Outcome::failed(reason.clone()),
    };
    if let Err(reason) = shared.context.config.address_policy.check_scheme(request_template.destination.uri()) {
        return Outcome::failed(reason);
    }
    if shared.context.config.is_own_address(request_template.destination.uri()) {
        let detail = Some(FailureDetail::Transport(Cause::Loop));
        return Outcome { detail, ..Outcome::failed(LOOP.to_owned()) };
    }
    let deadline = shared.context.config.request_timeout;
    let request = |payload: StoredPayload| {
        let (media_type, body) = payload.into_parts();
        let mut headers = request_template.request_headers(media_type, position);
        request_template.signer.sign_headers(&mut headers, message, &body, at);
        Request {
            method: Method::POST,
            to: request_template.destination.clone(),
            headers,
            body,
            deadline,
            response_bytes_max: RESPONSE_BYTES_MAX,
        }
    };
    let (transport, clock) = (&shared.context.transport, &shared.context.clock);
    let outcome_of = |exchange: Exchange, sent_twice| {
        let times = Some(AttemptTimes::new(exchange.times, sent_twice));
        Outcome { times, ..Outcome::of(exchange.outcome, &target.url, || clock.now()) }
    };
    let first = transport.send(request(payload)).await;
    if !matches!(first.outcome, Err(TransportError::Stale)) {
        return outcome_of(first, false);
    }
    // The receiver closed a kept-alive connection at the moment of its reuse, which is not a failure of the endpoint.
    // If the receiver processed the message, it recognises the copy by its id.
    Box::pin(async {
        let Some(payload) = reload_payload(shared, lane, message).await else {
            return outcome_of(first, false);
        };
        let spent = clock.monotonic().saturating_duration_since(started);
        outcome_of(transport.send_fresh(request(payload), spent).await, true)
    })
    .await
}

/// Reads the payload of a message again. Few messages are sent twice, so the payload is not kept in memory.
async fn reload_payload(shared: &Shared, lane: &Lane, message: &Id) -> Option<StoredPayload> {
    payload_of(shared, lane, message).await.unwrap_or_else(|error| {
        tracing::warn!(message_id = %message, %error, "the payload of a message could not be read again");
        None
    })
}

async fn payload_of(shared: &Shared, lane: &Lane, message: &Id) -> StoreResult<Option<StoredPayload>> {
    Ok(shared.context.store.message(&lane.application, message).await?.and_then(|message| message.payload))
}

fn next_step(shared: &Shared, outcome: &Outcome, attempts: u32) -> DeliveryOutcome {
    if outcome.status == AttemptStatus::Success || outcome.gone {
        return DeliveryOutcome::Done;
    }
    let schedule = &shared.context.config.retry_schedule;
    match schedule.pause(attempts, shared.context.random.unit_f64(), outcome.retry_after) {
        Some(pause) => DeliveryOutcome::Retry { at: shared.context.clock.now() + pause, attempts },
        None => DeliveryOutcome::Done,
    }
}
