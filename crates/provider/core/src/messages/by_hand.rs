//! Messages that a user sends by hand on the dashboard. They are checked and delivered as the messages of a program. Each
//! names its user, and so does the activity log.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest as _, Sha256};

use super::{Accepted, DiskUse, MessageInput};
use crate::caller::Caller;
use crate::error::{ProviderError, ProviderResult};
use crate::model::{Message, PayloadCheck, Role};
use crate::payload::{PAYLOAD_BYTES_MAX, Payload};
use crate::provider::Provider;
use crate::steps::idempotency::Idempotency;
use crate::validation::FieldErrors;

/// A message as a user typed it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TypedMessage {
    /// Event type name.
    pub event_type: String,
    /// Text of the payload, which should be a JSON object.
    pub payload: String,
    /// The user's own id for the message, unique in the application.
    pub event_id: Option<String>,
    /// 1 to 5 channels.
    pub channels: Option<Vec<String>>,
}

impl Provider {
    /// A random key for one form of [`Provider::send_by_hand`].
    pub fn new_form_key(&self) -> String {
        self.new_secret("form_")
    }

    /// Sends a message that a user typed. All faults of the input are returned together, also what
    /// [`Provider::create_message`] refuses with 400. If a form with the same key and content was sent before, the message
    /// of that form is returned. 403, 404; 409 (the event id was accepted before), 422.
    pub async fn send_by_hand(
        &self,
        caller: &Caller,
        application: &str,
        typed: TypedMessage,
        form_key: &str,
    ) -> ProviderResult<Message> {
        caller.require_role(Role::Member)?;
        caller.require_user()?;
        let application = self.application(caller, application).await?;
        let idempotency = typed.idempotency(caller, &application.id, form_key)?;
        let input = self.check_typed(caller, &application.id, typed).await?;
        match self.accept_message(caller, &application.id, input, Some(&idempotency)).await? {
            Accepted::Now(message) => {
                self.record_message(caller, &application, &message).await;
                Ok(message)
            }
            Accepted::Before(message) => Ok(message),
        }
    }

    /// The message to send. 422 with all faults.
    async fn check_typed(
        &self,
        caller: &Caller,
        application: &str,
        typed: TypedMessage,
    ) -> ProviderResult<MessageInput> {
        let mut errors = FieldErrors::default();
        let payload = errors.take(Payload::parse(&typed.payload))?;
        let has_payload = payload.is_some();
        let input = MessageInput {
            event_type: typed.event_type,
            payload: payload.map_or_else(|| Payload::parse("{}"), Ok)?,
            event_id: typed.event_id,
            channels: typed.channels,
            tags: None,
            payload_retention_days: None,
            payload_retention_hours: None,
            deliver_at: None,
            application: None,
            ordering_key: None,
            disk: DiskUse::default(),
        };
        if errors.take(input.check(application, self.now()))?.is_some() {
            errors.take(self.check_event_type(caller, &input.event_type).await)?;
            // Other payloads are counted when the message is accepted.
            if has_payload && caller.settings.payload_check == PayloadCheck::Reject {
                errors.take(self.check_payload(caller, &input.event_type, &input.payload).await)?;
            }
        }
        errors.finish()?;
        Ok(input)
    }
}

impl TypedMessage {
    /// The key covers the content, so that a form that was changed after it was sent sends another message.
    fn idempotency(&self, caller: &Caller, application: &str, form_key: &str) -> ProviderResult<Idempotency> {
        let mut hash = Sha256::new();
        let optional = |text: &Option<String>| text.clone().unwrap_or_default();
        let channels = self.channels.as_deref().unwrap_or_default().join(" ");
        for part in [form_key, &*caller.key, application, &self.event_type, &optional(&self.event_id), &channels] {
            hash.update((part.len() as u64).to_be_bytes());
            hash.update(part);
        }
        hash.update(&self.payload);
        let key = format!("form-{}", STANDARD.encode(hash.finalize()));
        Idempotency::new(&key, "POST", application, self.payload.as_bytes())
    }
}

impl FieldErrors {
    /// The result of a check; none when it found faults, which are kept.
    fn take<T>(&mut self, result: ProviderResult<T>) -> ProviderResult<Option<T>> {
        match result {
            Ok(value) => return Ok(Some(value)),
            Err(ProviderError::Validation(faults)) => self.add(faults),
            Err(ProviderError::BadRequest { code: "unknown_event_type", detail }) => self.fault("eventType", detail),
            Err(ProviderError::TooLarge) => {
                self.fault("payload", format!("has more than {} MiB: shorten it", PAYLOAD_BYTES_MAX >> 20));
            }
            Err(error) => return Err(error),
        }
        Ok(None)
    }
}
