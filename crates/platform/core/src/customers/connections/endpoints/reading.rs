//! One reading of a customer's endpoints: what each does, then which events it received and its statistics.

use std::collections::HashMap;
use std::time::Duration;

use http::{Method, StatusCode};
use jiff::Timestamp;
use kit_outbound::retry_after;
use kit_runtime::clock::rfc3339_ms;
use serde::de::DeserializeOwned;

use super::answers::{AttemptBody, DestinationBody, EndpointBody, MessageBody, StatsBody, at_destinations, deliveries};
use crate::Platform;
use crate::config::EndpointReadingConfig;
use crate::customers::connections::provider_api::{CallLimits, ListBody, Provider, accepted};
use crate::error::PlatformError;
use crate::port::{
    DeliveryState, EndpointCondition, EndpointReading, EndpointRecord, EventDelivery, ReadingClaim, ReadingEnd,
    ReadingOutcome, StoreError,
};
use crate::provider_access::answer_text::answer_text;

/// Attempts of an endpoint that are read: the latest.
const ATTEMPTS_MAX: usize = 50;
/// Endpoints of one message that are read.
const DESTINATIONS_MAX: usize = 250;
/// The time that the statistics cover.
const FIGURES_OF: Duration = Duration::from_secs(24 * 3_600);
/// Undelivered events that the provider accepted longer ago are not read again.
const UNDELIVERED_FOR: Duration = Duration::from_secs(14 * 24 * 3_600);
/// Longest wait that a provider's `Retry-After` causes.
const RETRY_AFTER_MAX: Duration = Duration::from_secs(3_600);
/// The end of a claim after the last request may have begun, to record its response.
const RECORDING: Duration = Duration::from_secs(5);

/// Why a reading ends before its end.
enum Stop {
    /// The provider does not let the API key read; its answer.
    NoRight(String),
    /// The provider or the connection failed.
    Failed { text: String, retry_after: Option<Duration> },
    /// The time of the reading is over.
    TimeUp,
    /// Another node may read this customer, or the connection has changed.
    ClaimLost,
    /// The store or the vault failed.
    Platform(PlatformError),
}

impl From<PlatformError> for Stop {
    fn from(error: PlatformError) -> Self {
        match error {
            PlatformError::Provider { text, .. } => Self::Failed { text, retry_after: None },
            error => Self::Platform(error),
        }
    }
}

impl From<StoreError> for Stop {
    fn from(error: StoreError) -> Self {
        Self::Platform(error.into())
    }
}

/// What a reading has found so far.
#[derive(Default)]
struct Found {
    /// The endpoints are recorded.
    has_endpoints: bool,
    /// An endpoint fails, or an event waits for a further attempt.
    is_busy: bool,
}

/// A reading under way.
struct Reading<'a> {
    platform: &'a Platform,
    claim: ReadingClaim,
    provider: Provider,
    /// The next request begins no earlier.
    next_request_at: Timestamp,
    /// No request begins later.
    last_request_at: Timestamp,
    found: Found,
}

impl Platform {
    /// Reads the endpoints of a claimed customer and records the outcome.
    ///
    /// Errors: those of the store and of the vault; the next reading is due when the claim ends.
    pub(super) async fn read_endpoints(&self, claim: ReadingClaim) -> Result<(), PlatformError> {
        let before = self.store().endpoint_readings(vec![claim.customer]).await?.pop();
        let provider = match self.provider(claim.customer).await {
            // The customer was disconnected meanwhile.
            Err(PlatformError::NotFound(_) | PlatformError::Invalid(_)) => return Ok(()),
            provider => provider?,
        };
        let config = &self.config().endpoint_readings;
        let mut reading = Reading {
            platform: self,
            claim,
            provider,
            next_request_at: self.now(),
            last_request_at: claim.until - config.request_timeout - RECORDING,
            found: Found::default(),
        };
        let stopped = reading.run(before.as_ref()).await;
        let Found { has_endpoints, is_busy } = reading.found;
        let (outcome, detail, wait) = match stopped {
            Ok(()) => (ReadingOutcome::Read, None, None),
            Err(Stop::TimeUp) if has_endpoints => (ReadingOutcome::Read, None, None),
            Err(Stop::TimeUp) => {
                let text = "the provider answers too slowly: not every endpoint could be read".to_owned();
                (ReadingOutcome::Failed, Some(text), None)
            }
            Err(Stop::NoRight(text)) => (ReadingOutcome::NoRight, Some(text), Some(config.idle_every)),
            Err(Stop::Failed { text, retry_after }) => (ReadingOutcome::Failed, Some(text), retry_after),
            Err(Stop::ClaimLost) => return Ok(()),
            Err(Stop::Platform(error)) => return Err(error),
        };
        self.note_outcome(&claim, before.as_ref(), outcome, detail.as_deref());
        let end = self.reading_end(claim, outcome, detail, is_busy, wait);
        Ok(self.store().end_endpoint_reading(end).await?)
    }

    fn reading_end(
        &self,
        claim: ReadingClaim,
        outcome: ReadingOutcome,
        detail: Option<String>,
        is_busy: bool,
        wait: Option<Duration>,
    ) -> ReadingEnd {
        let (config, at) = (&self.config().endpoint_readings, self.now());
        let is_published = claim.published_at.is_some_and(|published| published + config.busy_for > at);
        let every = if is_busy || is_published { config.busy_every } else { config.idle_every };
        let wait = wait.unwrap_or_default().min(RETRY_AFTER_MAX);
        let (next_at, soon_at) = (at + every.max(wait), at + config.busy_every.max(wait));
        ReadingEnd { claim, outcome, detail, at, next_at, soon_at: soon_at.min(next_at) }
    }

    /// Logs an outcome once, and counts a failed reading.
    fn note_outcome(
        &self,
        claim: &ReadingClaim,
        before: Option<&EndpointReading>,
        outcome: ReadingOutcome,
        detail: Option<&str>,
    ) {
        let customer = claim.customer;
        self.metrics().endpoints_read(outcome == ReadingOutcome::Failed);
        if before.is_some_and(|before| before.outcome == outcome) {
            return;
        }
        match outcome {
            ReadingOutcome::NoRight => {
                tracing::info!(customer_id = %customer, detail, "the API key of a customer may not read its endpoints");
            }
            ReadingOutcome::Failed => {
                tracing::warn!(customer_id = %customer, detail, "the endpoints of a customer could not be read");
            }
            ReadingOutcome::Read | ReadingOutcome::Never => {}
        }
    }
}

impl Reading<'_> {
    async fn run(&mut self, before: Option<&EndpointReading>) -> Result<(), Stop> {
        let began_at = self.platform.now();
        let mut endpoints = self.endpoints(before).await?;
        // Those whose details were read longest ago come first, so that each has its turn.
        endpoints.sort_by_key(|endpoint| endpoint.details_read_at);
        for endpoint in endpoints.into_iter().take(self.config().details_max) {
            self.details(endpoint).await?;
        }
        self.undelivered(began_at).await
    }

    /// Reads what each endpoint does, and records it.
    async fn endpoints(&mut self, before: Option<&EndpointReading>) -> Result<Vec<EndpointRecord>, Stop> {
        let max = self.config().endpoints_max;
        let path = format!("{}/endpoint/?limit={}", self.application(), max + 1);
        let Some(listed) = self.get::<ListBody<EndpointBody>>(&path).await? else {
            let text = answer_text(StatusCode::NOT_FOUND, br#"{"code":"not_found"}"#);
            return Err(Stop::Failed { text, retry_after: None });
        };
        let has_more = listed.data.len() > max || !listed.done;
        let known: HashMap<&str, &EndpointRecord> = before
            .map(|before| before.endpoints.iter().map(|endpoint| (endpoint.id.as_str(), endpoint)).collect())
            .unwrap_or_default();
        let mut endpoints: Vec<EndpointRecord> = Vec::new();
        for body in listed.data.iter().take(max) {
            if !body.is_usable() || endpoints.iter().any(|endpoint| endpoint.id == body.id) {
                continue;
            }
            let path = format!(
                "{}/attempt/endpoint/{}/?limit={ATTEMPTS_MAX}&with_content=false&expanded_statuses=true",
                self.application(),
                body.id
            );
            // An endpoint that was just deleted has no attempts to read.
            let Some(attempts) = self.get::<ListBody<AttemptBody>>(&path).await? else { continue };
            let before = known.get(body.id.as_str()).copied();
            endpoints.push(body.record(&attempts.data, attempts.done, before, self.platform.now()));
        }
        self.found.is_busy = endpoints.iter().any(|endpoint| endpoint.condition == EndpointCondition::Failing);
        let (store, now) = (self.platform.store(), self.platform.now());
        if !store.record_endpoints(self.claim, endpoints.clone(), has_more, now).await? {
            return Err(Stop::ClaimLost);
        }
        self.found.has_endpoints = true;
        Ok(endpoints)
    }

    /// Reads which events an endpoint received, and its statistics.
    async fn details(&mut self, mut endpoint: EndpointRecord) -> Result<(), Stop> {
        let of_endpoint = format!("{}/endpoint/{}", self.application(), endpoint.id);
        let limit = self.config().events_max;
        let path = format!("{of_endpoint}/msg/?limit={limit}&with_content=false&expanded_statuses=true");
        let messages = self.get::<ListBody<MessageBody>>(&path).await?.map(|list| list.data).unwrap_or_default();
        let found = deliveries(&endpoint.id, &messages, self.platform.now());
        let since = self.platform.now() - FIGURES_OF;
        let stats = self.get::<StatsBody>(&format!("{of_endpoint}/stats/?since={}", rfc3339_ms(since))).await?;
        let now = self.platform.now();
        endpoint.figures = stats.map(|stats| stats.figures(since, now));
        endpoint.details_read_at = Some(now);
        self.found.is_busy |= endpoint.figures.is_some_and(|figures| figures.waiting > 0);
        self.record(Some(endpoint), found).await
    }

    /// Reads events again that were not delivered when they were last read, and that are not among the latest.
    async fn undelivered(&mut self, began_at: Timestamp) -> Result<(), Stop> {
        let (max, customer) = (self.config().undelivered_max, self.claim.customer);
        // An event has a row for each endpoint that lacks it.
        let limit = max.saturating_mul(self.config().endpoints_max);
        let after = began_at - UNDELIVERED_FOR;
        let waiting = self.platform.store().undelivered_events(customer, after, limit).await?;
        let mut events: Vec<EventDelivery> = Vec::new();
        for event in waiting.into_iter().filter(|event| event.read_at < began_at) {
            if !events.iter().any(|other| (other.subject, other.sequence) == (event.subject, event.sequence)) {
                events.push(event);
            }
        }
        for event in events.into_iter().take(max) {
            let path = format!("{}/msg/{}/endpoint/?limit={DESTINATIONS_MAX}", self.application(), event.event_id);
            let now = self.platform.now();
            let found = match self.get::<ListBody<DestinationBody>>(&path).await? {
                Some(destinations) => at_destinations(&event, &destinations.data, now),
                // The provider has deleted the message after its retention: nothing sends it any more.
                None => vec![EventDelivery { state: DeliveryState::Failed, read_at: now, ..event }],
            };
            self.found.is_busy |= found.iter().any(|delivery| delivery.state == DeliveryState::Waiting);
            self.record(None, found).await?;
        }
        Ok(())
    }

    async fn record(&self, endpoint: Option<EndpointRecord>, found: Vec<EventDelivery>) -> Result<(), Stop> {
        match self.platform.store().record_event_deliveries(self.claim, endpoint, found).await? {
            true => Ok(()),
            false => Err(Stop::ClaimLost),
        }
    }

    /// A document of the provider; none when it answers 404. Waits until a further request is allowed.
    async fn get<T: DeserializeOwned>(&mut self, path: &str) -> Result<Option<T>, Stop> {
        let clock = self.platform.clock();
        if self.next_request_at > self.last_request_at {
            return Err(Stop::TimeUp);
        }
        clock.sleep_until(self.next_request_at).await;
        let now = clock.now();
        if now > self.last_request_at {
            return Err(Stop::TimeUp);
        }
        let config = self.config();
        let limits = CallLimits { deadline: config.request_timeout, response_bytes_max: config.response_bytes_max };
        self.next_request_at = now + config.request_every;
        let answer = self.platform.call_within(&self.provider, Method::GET, path, String::new(), limits).await?;
        match answer.status {
            StatusCode::NOT_FOUND => return Ok(None),
            StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => {
                return Err(Stop::NoRight(answer_text(answer.status, &answer.body)));
            }
            _ => {}
        }
        if let Err(error) = accepted(&answer) {
            let PlatformError::Provider { text, .. } = error else { return Err(error.into()) };
            return Err(Stop::Failed { text, retry_after: retry_after(&answer.headers, clock.now()) });
        }
        let failed = |text: String| Stop::Failed { text, retry_after: None };
        if answer.truncated {
            return Err(failed(format!("the provider's list has more than {} bytes", limits.response_bytes_max)));
        }
        let body = serde_json::from_slice(&answer.body);
        body.map(Some).map_err(|_| failed("the provider did not answer as its API does. Check its address".to_owned()))
    }

    fn config(&self) -> &EndpointReadingConfig {
        &self.platform.config().endpoint_readings
    }

    fn application(&self) -> String {
        format!("/api/v1/app/{}", self.provider.application_id())
    }
}
