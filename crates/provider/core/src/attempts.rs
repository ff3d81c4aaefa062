//! Attempts, and the state of messages at endpoints.

pub(crate) mod signed_request;

use std::collections::HashMap;

use jiff::Timestamp;

use crate::caller::Caller;
use crate::error::{ProviderError, ProviderResult};
use crate::ids;
use crate::messages::history::{HistoryRequest, SCANNED_JOINED_ROWS_MAX, SCANNED_ROWS_MAX};
use crate::model::{Attempt, AttemptStatus, Endpoint, Id, Message};
use crate::page::{ListPage, PageRequest};
use crate::port::{
    AttemptFilter, AttemptScope, AttemptedMessage, Destination, MessageFilter, PayloadRead, RESEND_DUE, Resend,
    ScanResult,
};
use crate::provider::Provider;
use crate::steps::idempotency::{self, Idempotency, IdempotentWrite, StoredAnswer};
use crate::steps::written::Created;

/// An endpoint that received attempts of a message or waits for one. A deleted endpoint has only its id and last URL.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AttemptedDestination {
    /// Status of the latest attempt, even if another attempt will follow; pending before the first.
    pub status: AttemptStatus,
    /// Time of the next attempt.
    pub next_attempt: Option<Timestamp>,
    /// The endpoint's id.
    pub id: Id,
    /// URL of the endpoint or, if it was deleted, of the latest attempt.
    pub url: String,
    /// The endpoint; none when it was deleted.
    pub endpoint: Option<Endpoint>,
}

/// Filter for messages with attempts at an endpoint.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct AttemptedFilter {
    /// Status of the message at the endpoint.
    pub status: Option<AttemptStatus>,
    /// Properties of the message.
    pub messages: MessageFilter,
}

impl Provider {
    /// Attempts to deliver one message, newest first. `endpoint` is an id or uid. 404 (message, endpoint).
    pub async fn list_attempts_of_message(
        &self,
        caller: &Caller,
        application: &str,
        message: &str,
        request: impl Into<HistoryRequest>,
    ) -> ProviderResult<ListPage<Attempt>> {
        self.find_attempts_of_message(caller, application, message, None, AttemptFilter::default(), request).await
    }

    /// Attempts to deliver one message that match a filter, newest first, at all endpoints or at one. 404 (message,
    /// endpoint).
    pub async fn find_attempts_of_message(
        &self,
        caller: &Caller,
        application: &str,
        message: &str,
        endpoint: Option<&str>,
        mut filter: AttemptFilter,
        request: impl Into<HistoryRequest>,
    ) -> ProviderResult<ListPage<Attempt>> {
        let request = request.into();
        let message = self.message(caller, application, message).await?;
        if let Some(endpoint) = endpoint {
            let endpoint = self.store().endpoint(&message.application, endpoint).await?;
            filter.endpoint = Some(endpoint.ok_or(ProviderError::NotFound)?.id);
        }
        if !std::mem::take(&mut filter.message).matches_message(&message) {
            return Ok(
                request.slice(ScanResult { rows: Vec::new(), stopped_at: None }, |attempt: &Attempt| &attempt.id)
            );
        }
        let scan = request.scan(ids::ATTEMPT, self.now(), SCANNED_ROWS_MAX);
        let of = AttemptScope::Message(message.id);
        let found = self.store().find_attempts(&message.application, &of, &filter, &scan).await?;
        Ok(request.slice(found, |attempt| &attempt.id))
    }

    /// Attempts at one endpoint, newest first. 404.
    pub async fn list_attempts_at_endpoint(
        &self,
        caller: &Caller,
        application: &str,
        endpoint: &str,
        request: impl Into<HistoryRequest>,
    ) -> ProviderResult<ListPage<Attempt>> {
        self.find_attempts_at_endpoint(caller, application, endpoint, AttemptFilter::default(), request).await
    }

    /// Attempts at one endpoint that match a filter, newest first. 404.
    pub async fn find_attempts_at_endpoint(
        &self,
        caller: &Caller,
        application: &str,
        endpoint: &str,
        filter: AttemptFilter,
        request: impl Into<HistoryRequest>,
    ) -> ProviderResult<ListPage<Attempt>> {
        let request = request.into();
        let endpoint = self.endpoint(caller, application, endpoint).await?;
        let scanned_rows_max = if filter.message.matches_all() { SCANNED_ROWS_MAX } else { SCANNED_JOINED_ROWS_MAX };
        let scan = request.scan(ids::ATTEMPT, self.now(), scanned_rows_max);
        let of = AttemptScope::Endpoint(endpoint.id);
        let found = self.store().find_attempts(&endpoint.application, &of, &filter, &scan).await?;
        Ok(request.slice(found, |attempt| &attempt.id))
    }

    /// The messages of these attempts, by id, without payload.
    pub async fn messages_of(&self, attempts: &[Attempt]) -> ProviderResult<HashMap<Id, Message>> {
        let Some(first) = attempts.first() else { return Ok(HashMap::new()) };
        let mut ids: Vec<Id> = attempts.iter().map(|attempt| attempt.message.clone()).collect();
        ids.sort_unstable();
        ids.dedup();
        let messages = self.store().messages_by_ids(&first.application, &ids).await?;
        Ok(messages.into_iter().map(|message| (message.id.clone(), message)).collect())
    }

    /// One attempt. 404.
    pub async fn attempt(
        &self,
        caller: &Caller,
        application: &str,
        message: &str,
        id: &str,
    ) -> ProviderResult<Attempt> {
        let message = self.message(caller, application, message).await?;
        self.store().attempt(&message.application, &message.id, id).await?.ok_or(ProviderError::NotFound)
    }

    /// Replaces an attempt's response with `EXPUNGED`. 404.
    pub async fn expunge_attempt(
        &self,
        caller: &Caller,
        application: &str,
        message: &str,
        id: &str,
    ) -> ProviderResult<()> {
        let message = self.message(caller, application, message).await?;
        let expunged = self.store().expunge_response(&message.application, &message.id, id).await?;
        expunged.then_some(()).ok_or(ProviderError::NotFound)
    }

    /// Messages with at least one attempt at an endpoint, newest first. 404.
    pub async fn list_attempted_messages(
        &self,
        caller: &Caller,
        application: &str,
        endpoint: &str,
        filter: &AttemptedFilter,
        content: PayloadRead,
        request: impl Into<HistoryRequest>,
    ) -> ProviderResult<ListPage<AttemptedMessage>> {
        let request = request.into();
        let AttemptedFilter { status, messages } = filter;
        let endpoint = self.endpoint(caller, application, endpoint).await?;
        let scan = request.scan(ids::MESSAGE, self.now(), SCANNED_JOINED_ROWS_MAX);
        let find = self.store().find_attempted_messages(
            &endpoint.application,
            &endpoint.id,
            messages,
            *status,
            &scan,
            content,
        );
        let mut found = find.await?;
        let pause = match found.rows.iter().any(|row| row.state.next_at.is_some()) {
            true => self.store().paused_until(&endpoint.id, self.now()).await?,
            false => None,
        };
        for row in &mut found.rows {
            row.state.next_at = row.state.next_at.map(|at| shown_time(at, row.message.created_at, pause));
            self.hide_expired_payload(&mut row.message);
        }
        Ok(request.slice(found, |row| &row.message.id))
    }

    /// Endpoints that received attempts of a message or wait for one, ordered by id. 404.
    pub async fn list_attempted_destinations(
        &self,
        caller: &Caller,
        application: &str,
        message: &str,
        page: &PageRequest,
    ) -> ProviderResult<ListPage<AttemptedDestination>> {
        let message = self.message(caller, application, message).await?;
        let destinations = self.store().destinations(&message.application, &message.id).await?;
        let ListPage { data, iterator, prev_iterator, done } =
            page.slice(page.rows_of_page(destinations, |row| &row.endpoint), |row| &row.endpoint);
        let mut known: HashMap<Id, Endpoint> = HashMap::new();
        if let Some((_, endpoints)) = self.store().snapshot(&message.application).await? {
            known.extend(endpoints.into_iter().map(|endpoint| (endpoint.id.clone(), endpoint)));
        }
        let mut found = Vec::with_capacity(data.len());
        for Destination { endpoint: id, latest, next_at, url } in data {
            let endpoint = known.remove(&id);
            let next_attempt = match next_at {
                Some(at) => {
                    let pause = self.store().paused_until(&id, self.now()).await?;
                    Some(shown_time(at, message.created_at, pause))
                }
                None => None,
            };
            let url = endpoint.as_ref().map(|endpoint| endpoint.url.clone()).or(url).unwrap_or_default();
            let status = latest.unwrap_or(AttemptStatus::Pending);
            found.push(AttemptedDestination { status, next_attempt, id, url, endpoint });
        }
        Ok(ListPage { data: found, iterator, prev_iterator, done })
    }

    /// Delivers a message to an endpoint again, whatever the endpoint subscribes to: one attempt without delay, in
    /// place of a scheduled retry. The resend is durable when this returns. 404, 400 (`missing_payload`,
    /// `endpoint_disabled`).
    pub async fn resend(
        &self,
        caller: &Caller,
        application: &str,
        message: &str,
        endpoint: &str,
        idempotency: Option<&Idempotency>,
        render: impl FnOnce() -> String,
    ) -> ProviderResult<Created<()>> {
        if let Some(answer) = self.stored_answer(caller, idempotency).await? {
            return Ok(Created::Replayed(answer));
        }
        let message = self.message(caller, application, message).await?;
        let endpoint = self.store().endpoint(&message.application, endpoint).await?.ok_or(ProviderError::NotFound)?;
        if message.payload.is_none() {
            let detail = "the message can't be sent again: its payload was removed or has expired".into();
            return Err(ProviderError::BadRequest { code: "missing_payload", detail });
        }
        if endpoint.disabled {
            let detail = "the endpoint is disabled and receives nothing; enable it first".into();
            return Err(ProviderError::BadRequest { code: "endpoint_disabled", detail });
        }
        let resend = Resend { application: message.application, message: message.id, endpoint: endpoint.id.clone() };
        let written = idempotency::write(self.store(), caller, idempotency, self.now(), RESENT, render, |answer| {
            self.store().resend(resend.clone(), answer)
        });
        match written.await? {
            IdempotentWrite::Replayed(answer) => Ok(Created::Replayed(answer)),
            IdempotentWrite::Done => {
                self.dispatcher().wake_lane(&resend.application, &resend.endpoint);
                self.record_resend(caller, &endpoint, &resend.message).await;
                Ok(Created::New(()))
            }
        }
    }

    /// The response to the first request with this idempotency key. It is looked up before any state that may have
    /// changed since.
    async fn stored_answer(
        &self,
        caller: &Caller,
        idempotency: Option<&Idempotency>,
    ) -> ProviderResult<Option<StoredAnswer>> {
        let Some(idempotency) = idempotency else { return Ok(None) };
        match idempotency.look_up(self.store(), caller, self.now()).await? {
            Some(crate::port::Answer::Body { status, body }) => Ok(Some(StoredAnswer { status, body })),
            Some(crate::port::Answer::Message { .. }) => Err(ProviderError::IdempotencyMismatch),
            None => Ok(None),
        }
    }
}

/// Status of the response to a resend.
const RESENT: u16 = 202;

/// The time of the next attempt, for people. A resend has the earliest due time and ignores a pause.
fn shown_time(at: Timestamp, created_at: Timestamp, paused_until: Option<Timestamp>) -> Timestamp {
    if at == RESEND_DUE { created_at } else { paused_until.map_or(at, |until| until.max(at)) }
}
