//! Messages and their attempts (provider.md, "Messages").

use jiff::SignedDuration;

use crate::accounts::Caller;
use crate::applications::ApplicationInput;
use crate::error::{ProviderError, ProviderResult};
use crate::idempotency::{self, Idempotency};
use crate::ids;
use crate::model::{Attempt, Message};
use crate::ordering::OrderingKey;
use crate::page::{PageRequest, Slice};
use crate::payload::Payload;
use crate::port::{Answer, Order, StoreError};
use crate::provider::Provider;
use crate::validation::Checks;

/// Channels of a message at most.
const CHANNELS_MAX: usize = 5;
/// Tags of a message at most.
const TAGS_MAX: usize = 8;
const RETENTION_DAYS_DEFAULT: i64 = 90;
const RETENTION_DAYS_MIN: i64 = 5;
/// Tries to accept a message of an application that keeps changing.
const TRIES_MAX: usize = 10;

/// A message to send.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MessageInput {
    /// Event type name; it need not exist.
    pub event_type: String,
    /// The payload, delivered byte for byte.
    pub payload: Payload,
    /// The sender's id for it, unique in the application.
    pub event_id: Option<String>,
    /// 1 to 5 channels.
    pub channels: Option<Vec<String>>,
    /// Tags, for searching.
    pub tags: Option<Vec<String>>,
    /// Days that the payload is kept: 5 to 90; 90 when none.
    pub payload_retention_days: Option<i64>,
    /// Makes the application when there is none of the path's uid.
    pub application: Option<ApplicationInput>,
    /// What it stays in order with, at endpoints that ask for that.
    pub ordering_key: Option<OrderingKey>,
}

impl Provider {
    /// Accepts a message: when this returns, it is on disk together with a delivery for each endpoint that wants it, and
    /// those deliveries begin at once.
    ///
    /// The same idempotency key and request give the same message again. 404 (application), 409 (the event id was
    /// accepted before), 422.
    pub async fn create_message(
        &self,
        caller: &Caller,
        application: &str,
        input: MessageInput,
        idempotency: Option<&Idempotency>,
    ) -> ProviderResult<Message> {
        input.check()?;
        let now = self.now();
        let MessageInput { event_type, payload, event_id, channels, tags, payload_retention_days, .. } = input;
        let (mut inline, key) = (input.application, input.ordering_key);
        let retention_days = payload_retention_days.unwrap_or(RETENTION_DAYS_DEFAULT);
        let mut message = Message {
            id: self.ids().make(ids::MESSAGE),
            application: "".into(),
            event_type: event_type.into(),
            event_id,
            payload: Some(payload.into_bytes()),
            channels,
            tags,
            created_at: now,
            payload_expires_at: now + SignedDuration::from_hours(24 * retention_days),
        };
        for _ in 0..TRIES_MAX {
            let Some(snapshot) = self.snapshots().of_caller(&caller.account, application).await? else {
                let inline = inline.take().ok_or(ProviderError::NotFound)?;
                self.create_inline(caller, application, inline).await?;
                continue;
            };
            message.application = snapshot.application.id.clone();
            let answer = idempotency.map(|idempotency| {
                let answer = Answer::Message { application: message.application.clone(), message: message.id.clone() };
                idempotency.answer(caller, answer, now)
            });
            match self.dispatcher().accept(&snapshot, message.clone(), key.as_ref(), answer).await {
                Ok(()) => return Ok(message),
                Err(StoreError::Stale | StoreError::NotFound) => self.snapshots().forget(&message.application),
                Err(StoreError::Replayed) => {
                    if let Some(before) = self.message_before(caller, idempotency).await? {
                        return Ok(before);
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
        Err(StoreError::Stale.into())
    }

    /// A message by id or event id. 404.
    pub async fn message(&self, caller: &Caller, application: &str, id_or_event_id: &str) -> ProviderResult<Message> {
        let application = self.application(caller, application).await?;
        self.store().message(&application.id, id_or_event_id).await?.ok_or(ProviderError::NotFound)
    }

    /// The application's messages, newest first.
    pub async fn list_messages(
        &self,
        caller: &Caller,
        application: &str,
        page: &PageRequest,
    ) -> ProviderResult<Slice<Message>> {
        let application = self.application(caller, application).await?;
        let rows = self.store().messages(&application.id, page.to_store(Order::Descending)).await?;
        Ok(page.slice(rows, |message| &message.id))
    }

    /// Attempts to deliver one message, newest first. 404.
    pub async fn list_attempts_of_message(
        &self,
        caller: &Caller,
        application: &str,
        message: &str,
        page: &PageRequest,
    ) -> ProviderResult<Slice<Attempt>> {
        let message = self.message(caller, application, message).await?;
        let ask = page.to_store(Order::Descending);
        let rows = self.store().attempts_of_message(&message.application, &message.id, ask).await?;
        Ok(page.slice(rows, |attempt| &attempt.id))
    }

    /// Attempts at one endpoint, newest first. 404.
    pub async fn list_attempts_at_endpoint(
        &self,
        caller: &Caller,
        application: &str,
        endpoint: &str,
        page: &PageRequest,
    ) -> ProviderResult<Slice<Attempt>> {
        let endpoint = self.endpoint(caller, application, endpoint).await?;
        let ask = page.to_store(Order::Descending);
        let rows = self.store().attempts_at_endpoint(&endpoint.application, &endpoint.id, ask).await?;
        Ok(page.slice(rows, |attempt| &attempt.id))
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

    /// The message that the key's first request was answered with; none when the answer is forgotten by now.
    async fn message_before(
        &self,
        caller: &Caller,
        idempotency: Option<&Idempotency>,
    ) -> ProviderResult<Option<Message>> {
        let Some(idempotency) = idempotency else { return Ok(None) };
        match idempotency.look_up(self.store(), caller, self.now()).await? {
            Some(Answer::Message { application, message }) => {
                self.store().message(&application, &message).await?.map(Some).ok_or(ProviderError::NotFound)
            }
            // The hash covers the path, so an answer of another kind is another request's.
            Some(Answer::Body { .. }) => Err(ProviderError::IdempotencyMismatch),
            None => Ok(None),
        }
    }

    /// Forgets idempotent answers that are over their time. Called every so often by a worker.
    pub(crate) async fn forget_answers(&self) -> ProviderResult<()> {
        loop {
            let forgotten = self.store().forget_answers(self.now() - idempotency::KEPT_FOR, idempotency::FORGET_MAX);
            if forgotten.await? < idempotency::FORGET_MAX {
                return Ok(());
            }
        }
    }
}

impl MessageInput {
    fn check(&self) -> ProviderResult<()> {
        let mut checks = Checks::default();
        checks.name("eventType", &self.event_type);
        checks.uid("eventId", self.event_id.as_deref(), ids::MESSAGE);
        checks.channels(self.channels.as_deref(), CHANNELS_MAX);
        checks.names("tags", self.tags.as_deref(), TAGS_MAX, 128);
        let retention = RETENTION_DAYS_MIN..=RETENTION_DAYS_DEFAULT;
        if self.payload_retention_days.is_some_and(|days| !retention.contains(&days)) {
            checks.fault("payloadRetentionPeriod", format!("must be {RETENTION_DAYS_MIN} to {RETENTION_DAYS_DEFAULT}"));
        }
        checks.finish()
    }
}
