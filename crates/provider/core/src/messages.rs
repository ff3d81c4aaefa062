//! Messages: accepting, reading, listing and checking them. The API and the App Portal call these methods of
//! [`Provider`].
//!
//! Guarantee: a message is acknowledged after its rows are durable; see [`crate::port::MessageStore::accept`].

pub(crate) mod by_hand;
mod event_type_check;
pub mod failure_search;
pub(crate) mod history;
mod payload_check;
mod payload_expiry;
pub(crate) mod retention;
pub mod search;

use jiff::{SignedDuration, Timestamp};
use kit_runtime::trace;

use crate::applications::ApplicationInput;
use crate::caller::Caller;
use crate::config::retention::RetentionConfig;
use crate::error::{ProviderError, ProviderResult};
use crate::ids;
use crate::messages::history::{HistoryRequest, SCANNED_ROWS_MAX};
use crate::model::ordering::OrderingKey;
use crate::model::{Id, Message};
use crate::page::ListPage;
use crate::payload::Payload;
use crate::port::{Answer, MessageFilter, PayloadRead, StoreError};
use crate::provider::Provider;
use crate::steps::idempotency::{self, Idempotency};
use crate::validation::{self, FieldErrors};

/// The tag of messages that were sent to one endpoint, to test its receiver. Senders can't use it.
pub const TEST_TAG: &str = "lotwire.test";

const CHANNELS_MAX: usize = 5;
const TAGS_MAX: usize = 8;
const DELIVER_AHEAD_MIN: SignedDuration = SignedDuration::from_mins(1);
const DELIVER_AHEAD_MAX: SignedDuration = SignedDuration::from_hours(24);
/// Number of attempts to accept a message while its application changes.
const TRIES_MAX: usize = 10;
/// Bytes of a message on the disk beside its payload: its row and those of a few deliveries.
const ROW_BYTES: u64 = 2_048;

/// A message to send.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MessageInput {
    /// Event type name; it need not exist.
    pub event_type: String,
    /// The payload, delivered byte for byte.
    pub payload: Payload,
    /// The sender's id for the message, unique in the application.
    pub event_id: Option<String>,
    /// 1 to 5 channels.
    pub channels: Option<Vec<String>>,
    /// Tags, for searching.
    pub tags: Option<Vec<String>>,
    /// Retention of the payload in days: 5 to 90; that of the configuration when none.
    pub payload_retention_days: Option<i64>,
    /// Retention of the payload in hours, 1 to 2,160, in place of days.
    pub payload_retention_hours: Option<i64>,
    /// When to deliver the message, one minute to 24 hours ahead; at once when none.
    pub deliver_at: Option<Timestamp>,
    /// Creates the application when no application has the uid in the path.
    pub application: Option<ApplicationInput>,
    /// Ordering key, for endpoints with ordering.
    pub ordering_key: Option<OrderingKey>,
    /// Whether the message may use the disk reserve.
    pub disk: DiskUse,
}

/// Whether a message is accepted while the disk has less free room than the reserve.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum DiskUse {
    /// It is refused with `disk_full`: its sender can send it later.
    #[default]
    BeyondReserve,
    /// It is accepted, up to the account's share of the reserve: its sender reports what has happened already, such as a hammer
    /// fall.
    Reserve,
}

/// A message that the provider accepted.
pub(crate) enum Accepted {
    /// The message of this request.
    Now(Message),
    /// The message of the first request with the same idempotency key.
    Before(Message),
}

impl Provider {
    /// Accepts a message. When this returns, the message is durable together with a delivery for each endpoint that
    /// subscribes to it, and the deliveries begin without delay.
    ///
    /// A repeated request with the same idempotency key returns the same message. 404 (application), 400 (`unknown_event_type`), 409
    /// (the event id was accepted before), 422, 503 (`disk_full`).
    pub fn create_message(
        &self,
        caller: &Caller,
        application: &str,
        input: MessageInput,
        idempotency: Option<&Idempotency>,
    ) -> impl Future<Output = ProviderResult<Message>> + Send {
        let accepting = self.accept_message(caller, application, input, idempotency);
        async move {
            accepting.await.map(|accepted| match accepted {
                Accepted::Now(message) | Accepted::Before(message) => message,
            })
        }
    }

    /// See [`Provider::create_message`].
    pub(crate) fn accept_message(
        &self,
        caller: &Caller,
        application: &str,
        input: MessageInput,
        idempotency: Option<&Idempotency>,
    ) -> impl Future<Output = ProviderResult<Accepted>> + Send {
        let now = self.now();
        // Each message that waits for its transaction holds this future, so the future is kept small: the input and
        // rare steps are boxed.
        let mut input = Box::new(input);
        validation::dedup(input.channels.as_mut());
        async move {
            // A repeated request is looked up first, because its `deliverAt` may be in the past now.
            if input.deliver_at.is_some()
                && let Some(message) = Box::pin(self.replayed_message(caller, idempotency)).await?
            {
                return Ok(Accepted::Before(message));
            }
            input.check(application, now)?;
            match input.disk {
                DiskUse::BeyondReserve => self.config().disk_reserve.check()?,
                DiskUse::Reserve => {
                    let bytes = input.payload.as_bytes().len() as u64 + ROW_BYTES;
                    self.config().disk_reserve.take(&caller.account, bytes)?;
                }
            }
            let has_unknown_type = self.check_event_type(caller, &input.event_type).await?;
            self.check_payload(caller, &input.event_type, &input.payload).await?;
            let (mut message, ordering_key, mut new_application) =
                input.into_message(self.ids().make(ids::MESSAGE), now, &self.config().retention);
            message.sent_by = caller.user.as_ref().map(|_| caller.key.clone());
            message.trace_parent = trace::current_position();
            for _ in 0..TRIES_MAX {
                let Some(snapshot) = self.snapshots().of_caller(&caller.account, application).await? else {
                    let new_application = new_application.take().ok_or(ProviderError::NotFound)?;
                    Box::pin(self.create_inline(caller, *new_application)).await?;
                    continue;
                };
                message.application = snapshot.application.id.clone();
                let answer = idempotency.map(|idempotency| {
                    let answer =
                        Answer::Message { application: message.application.clone(), message: message.id.clone() };
                    idempotency.answer(caller, answer, now)
                });
                match self.dispatcher().accept(&snapshot, message.clone(), ordering_key.as_ref(), answer).await {
                    Ok(()) => {
                        log_accepted(&message);
                        if has_unknown_type {
                            self.unknown_types().add(caller, &message.event_type, now);
                        }
                        if let Some(at) = message.deliver_at {
                            self.dispatcher().due_at(at);
                        }
                        return Ok(Accepted::Now(message));
                    }
                    Err(StoreError::Conflict | StoreError::NotFound) => {
                        self.snapshots().invalidate(&message.application)
                    }
                    Err(StoreError::Replayed) => {
                        if let Some(message) = Box::pin(self.replayed_message(caller, idempotency)).await? {
                            return Ok(Accepted::Before(message));
                        }
                    }
                    Err(StoreError::Taken(_)) => {
                        return Err(ProviderError::Conflict {
                            code: "conflict",
                            detail: "a message with this eventId was accepted before".into(),
                        });
                    }
                    Err(error) => return Err(error.into()),
                }
            }
            Err(StoreError::Conflict.into())
        }
    }

    /// A message by id or event id. 404.
    pub async fn message(&self, caller: &Caller, application: &str, id_or_event_id: &str) -> ProviderResult<Message> {
        let application = self.application(caller, application).await?;
        let found = self.store().message(&application.id, id_or_event_id).await?;
        let mut message = found.ok_or(ProviderError::NotFound)?;
        self.hide_expired_payload(&mut message);
        Ok(message)
    }

    /// The application's messages, newest first.
    pub async fn list_messages(
        &self,
        caller: &Caller,
        application: &str,
        request: impl Into<HistoryRequest>,
    ) -> ProviderResult<ListPage<Message>> {
        self.find_messages(caller, application, &MessageFilter::default(), PayloadRead::Include, request).await
    }

    /// The application's messages that match a filter, newest first.
    pub async fn find_messages(
        &self,
        caller: &Caller,
        application: &str,
        filter: &MessageFilter,
        content: PayloadRead,
        request: impl Into<HistoryRequest>,
    ) -> ProviderResult<ListPage<Message>> {
        let request = request.into();
        let application = self.application(caller, application).await?;
        let scan = request.scan(ids::MESSAGE, self.now(), SCANNED_ROWS_MAX);
        let mut found = self.store().find_messages(&application.id, filter, &scan, content).await?;
        found.rows.iter_mut().for_each(|message| self.hide_expired_payload(message));
        Ok(request.slice(found, |message| &message.id))
    }

    /// Removes a message's payload. The message can't be sent again. 404.
    pub async fn expunge_message(&self, caller: &Caller, application: &str, message: &str) -> ProviderResult<()> {
        let message = self.message(caller, application, message).await?;
        if !self.store().expunge_payload(&message.application, &message.id, self.now()).await? {
            return Err(ProviderError::NotFound);
        }
        self.payloads_removed(&message.application);
        Ok(())
    }

    /// Applies the removal of payloads of the application's messages: the dispatcher reads the payloads of waiting
    /// deliveries again, and deletes the deliveries without a payload.
    pub(crate) fn payloads_removed(&self, application: &str) {
        self.snapshots().invalidate(application);
        self.dispatcher().request_sweep();
    }

    /// Whether an endpoint would receive a message of this type with these channels now. 404, 422.
    pub async fn precheck_message(
        &self,
        caller: &Caller,
        application: &str,
        event_type: &str,
        mut channels: Option<Vec<String>>,
    ) -> ProviderResult<PrecheckResult> {
        validation::dedup(channels.as_mut());
        let mut errors = FieldErrors::default();
        errors.name("eventType", event_type);
        errors.channels(channels.as_deref(), CHANNELS_MAX);
        errors.finish()?;
        let snapshot = self.snapshots().of_caller(&caller.account, application).await?;
        let snapshot = snapshot.ok_or(ProviderError::NotFound)?;
        let is_wanted = snapshot.targets.values().any(|target| target.is_enabled_for(event_type, channels.as_deref()));
        Ok(if is_wanted { PrecheckResult::Wanted } else { PrecheckResult::Unwanted })
    }

    /// The message of the first request with this idempotency key. None when the stored response has expired.
    pub(crate) async fn replayed_message(
        &self,
        caller: &Caller,
        idempotency: Option<&Idempotency>,
    ) -> ProviderResult<Option<Message>> {
        let Some(idempotency) = idempotency else { return Ok(None) };
        match idempotency.look_up(self.store(), caller, self.now()).await? {
            Some(Answer::Message { application, message }) => {
                self.store().message(&application, &message).await?.map(Some).ok_or(ProviderError::NotFound)
            }
            // The request hash covers the path, so a response of another kind belongs to another request.
            Some(Answer::Body { .. }) => Err(ProviderError::IdempotencyMismatch),
            None => Ok(None),
        }
    }

    /// Deletes expired responses of idempotency keys. A worker calls it every minute.
    pub(crate) async fn delete_expired_answers(&self) -> ProviderResult<()> {
        loop {
            let deleted = self
                .store()
                .delete_expired_answers(self.now() - idempotency::ANSWER_RETENTION, idempotency::DELETE_MAX);
            if deleted.await? < idempotency::DELETE_MAX {
                return Ok(());
            }
        }
    }
}

/// Millions of messages a day would fill a log, so a message is logged at `debug`.
fn log_accepted(message: &Message) {
    tracing::debug!(
        target: trace::STORY,
        message_id = &*message.id,
        event_id = message.event_id,
        application_id = &*message.application,
        event_type = &*message.event_type,
        "message accepted"
    );
}

/// Whether any endpoint would receive a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PrecheckResult {
    /// At least one endpoint would receive it.
    Wanted,
    /// No endpoint would receive it.
    Unwanted,
}

impl MessageInput {
    /// The message without its application, the ordering key, and the application to create if it does not exist.
    fn into_message(
        self: Box<Self>,
        id: Id,
        now: Timestamp,
        retention: &RetentionConfig,
    ) -> (Message, Option<OrderingKey>, Option<Box<ApplicationInput>>) {
        let message = Message {
            id,
            application: "".into(),
            payload_expires_at: now + retention.of_payload(self.payload_retention()),
            event_type: self.event_type.into(),
            event_id: self.event_id,
            payload: Some(self.payload.into()),
            channels: self.channels,
            tags: self.tags,
            created_at: now,
            deliver_at: self.deliver_at,
            sent_by: None,
            trace_parent: None,
        };
        (message, self.ordering_key, self.application.map(Box::new))
    }

    /// Checks the input. `path` is the application's id or uid in the path.
    fn check(&self, path: &str, now: Timestamp) -> ProviderResult<()> {
        let mut errors = FieldErrors::default();
        errors.name("eventType", &self.event_type);
        errors.uid("eventId", self.event_id.as_deref(), ids::MESSAGE);
        errors.channels(self.channels.as_deref(), CHANNELS_MAX);
        errors.names("tags", self.tags.as_deref(), TAGS_MAX, 128);
        if self.tags.iter().flatten().any(|tag| tag == TEST_TAG) {
            errors.fault("tags", format!("must not contain {TEST_TAG}, which marks examples that this server sends"));
        }
        self.check_payload_retention(&mut errors);
        let ahead = self.deliver_at.map(|at| at.duration_since(now));
        if ahead.is_some_and(|ahead| !(DELIVER_AHEAD_MIN..=DELIVER_AHEAD_MAX).contains(&ahead)) {
            errors.fault("deliverAt", "must be 1 minute to 24 hours in the future");
        }
        errors.finish()?;
        self.application.as_ref().map_or(Ok(()), |inline| inline.check_inline(path))
    }
}
