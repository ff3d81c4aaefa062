//! Sends an example message to one endpoint, to test a receiver.

use bytes::Bytes;
use kit_runtime::trace;

use crate::caller::Caller;
use crate::error::{ProviderError, ProviderResult};
use crate::event_types::example::{self, NoExample};
use crate::ids;
use crate::messages::TEST_TAG;
use crate::model::{Endpoint, Message};
use crate::payload::{Payload, StoredPayload};
use crate::port::{Answer, StoreError};
use crate::provider::Provider;
use crate::steps::idempotency::Idempotency;
use crate::steps::written::CHANGE_TRIES_MAX;
use crate::uid::{NAME_CHARS_MAX, check_name};

/// An event type with a built-in example. It need not exist in the account.
const PING: &str = "svix.ping";
const PING_PAYLOAD: &[u8] = br#"{"success":true}"#;

/// A message for one endpoint.
struct Example<'a> {
    event_type: &'a str,
    payload: StoredPayload,
}

impl Provider {
    /// Sends an example of an event type to one endpoint only, as a message with the tag [`TEST_TAG`], whatever event types and channels it subscribes to. The
    /// payload is `examples[index]` (the first when none) of the schema of version 1, or a value that is generated from
    /// the schema. As for a resend, there is one attempt without delay, also during a pause.
    ///
    /// 404 (application, endpoint, event type); 400 `invalid_scheme` when no example can be made, `endpoint_disabled`;
    /// 422.
    pub async fn send_example(
        &self,
        caller: &Caller,
        application: &str,
        id_or_uid: &str,
        event_type: &str,
        index: Option<usize>,
        idempotency: Option<&Idempotency>,
    ) -> ProviderResult<Message> {
        check_name(event_type, NAME_CHARS_MAX)
            .map_err(|error| ProviderError::invalid("eventType", error.to_string()))?;
        let endpoint = self.endpoint(caller, application, id_or_uid).await?;
        let payload = self.example(caller, event_type, index).await?;
        let example = Example { event_type, payload: payload.into() };
        self.send_to_one(caller, &endpoint, example, idempotency).await
    }

    /// Sends a payload of the caller to one endpoint only. 404 (application,
    /// endpoint, event type); 400 `endpoint_disabled`; 422.
    pub async fn send_test(
        &self,
        caller: &Caller,
        application: &str,
        id_or_uid: &str,
        event_type: &str,
        payload: Payload,
    ) -> ProviderResult<Message> {
        check_name(event_type, NAME_CHARS_MAX)
            .map_err(|error| ProviderError::invalid("eventType", error.to_string()))?;
        let endpoint = self.endpoint(caller, application, id_or_uid).await?;
        if event_type != PING {
            self.event_type(caller, event_type).await?;
        }
        let example = Example { event_type, payload: payload.into() };
        self.send_to_one(caller, &endpoint, example, None).await
    }

    async fn send_to_one(
        &self,
        caller: &Caller,
        endpoint: &Endpoint,
        Example { event_type, payload }: Example<'_>,
        idempotency: Option<&Idempotency>,
    ) -> ProviderResult<Message> {
        self.config().disk_reserve.check()?;
        let now = self.now();
        let message = Message {
            id: self.ids().make(ids::MESSAGE),
            application: endpoint.application.clone(),
            event_type: event_type.into(),
            event_id: None,
            payload: Some(payload),
            channels: None,
            tags: Some(vec![TEST_TAG.to_owned()]),
            created_at: now,
            payload_expires_at: now + self.config().retention.of_payload(None),
            deliver_at: None,
            sent_by: None,
            trace_parent: trace::current_position(),
        };
        for _ in 0..CHANGE_TRIES_MAX {
            let snapshot = self.snapshots().get(&endpoint.application).await?.ok_or(ProviderError::NotFound)?;
            let target = snapshot.targets.get(&endpoint.id).ok_or(ProviderError::NotFound)?;
            if target.disabled {
                return Err(ProviderError::BadRequest {
                    code: "endpoint_disabled",
                    detail: "the endpoint is disabled and receives nothing; enable it first".into(),
                });
            }
            let answer = idempotency.map(|idempotency| {
                let answer = Answer::Message { application: message.application.clone(), message: message.id.clone() };
                idempotency.answer(caller, answer, now)
            });
            match self.dispatcher().accept_for(&snapshot, &endpoint.id, message.clone(), answer).await {
                Ok(()) => return Ok(message),
                Err(StoreError::Conflict | StoreError::NotFound) => self.snapshots().invalidate(&endpoint.application),
                Err(StoreError::Replayed) => {
                    if let Some(message) = self.replayed_message(caller, idempotency).await? {
                        return Ok(message);
                    }
                }
                Err(error) => return Err(error.into()),
            }
        }
        Err(StoreError::Conflict.into())
    }

    /// The payload that [`Provider::send_example`] sends. 404; 400 `invalid_scheme` when no example can be made.
    pub async fn event_example(&self, caller: &Caller, event_type: &str) -> ProviderResult<Bytes> {
        self.example(caller, event_type, None).await
    }

    async fn example(&self, caller: &Caller, event_type: &str, index: Option<usize>) -> ProviderResult<Bytes> {
        if event_type == PING {
            return Ok(Bytes::from_static(PING_PAYLOAD));
        }
        let event_type = self.event_type(caller, event_type).await?;
        match example::of_schemas(event_type.schemas.as_ref(), index) {
            Ok(example) => Ok(example.to_string().into()),
            Err(NoExample::Index { count }) => {
                Err(ProviderError::invalid("exampleIndex", format!("the event type has {count} examples, from 0")))
            }
            Err(NoExample::Schema) => Err(ProviderError::BadRequest {
                code: "invalid_scheme",
                detail: "the event type has no schema of version \"1\" of an object; give it one".into(),
            }),
        }
    }
}
