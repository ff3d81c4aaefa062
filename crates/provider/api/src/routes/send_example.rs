//! Sending an example of an event type to an endpoint.

use axum::extract::State;
use axum::response::Response;
use provider_core::Provider;
use serde::Deserialize;
use serde::de::IgnoredAny;
use utoipa::ToSchema;

use super::messages::{self, MessageOut};
use crate::errors::{ApiError, HttpErrorOut};
use crate::extract::{Auth, JsonBody, PathParams};

/// The example to send.
/// An unknown field is refused with 422.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct EventExampleIn {
    /// Name of the event type. `svix.ping` always has an example.
    #[schema(min_length = 1, max_length = 256, pattern = "^[a-zA-Z0-9._-]+$")]
    event_type: String,
    /// Index into the examples of the event type's schema; the default is 0. If the schema has no examples, the
    /// provider generates a value from it.
    example_index: Option<usize>,
    // A field of Svix's hosted service, which this API refuses.
    #[schema(ignore)]
    payload: Option<IgnoredAny>,
}

impl EventExampleIn {
    fn refuse_payload(&self) -> Result<(), ApiError> {
        match self.payload {
            None => Ok(()),
            Some(_) => Err(ApiError::at(
                ["body", "payload"],
                "can't be set: the provider sends an example of the event type's schema; use POST …/msg to send it",
            )),
        }
    }
}

/// Sends an example of an event type to this endpoint only: one immediate attempt, which ignores a pause that the
/// endpoint asked for.
#[utoipa::path(post, path = "/app/{app_id}/endpoint/{endpoint_id}/send-example",
    operation_id = "v1.endpoint.send-example", tag = "Endpoint", request_body = EventExampleIn,
    params(
        ("app_id" = String, Path, description = "Id or uid"), ("endpoint_id" = String, Path, description = "Id or uid"),
    ),
    responses(
        (status = 200, description = "The message with the example.", body = MessageOut<'_>),
        (status = 400, body = HttpErrorOut<'_>,
            description = "The event type has no schema to make an example of (`invalid_scheme`), the endpoint is \
                disabled (`endpoint_disabled`), or the idempotency key is invalid (`invalid_idempotency_key`)."),
        (status = 404, body = HttpErrorOut<'_>),
    ))]
pub(crate) async fn send_example(
    State(provider): State<Provider>,
    Auth(caller): Auth,
    PathParams([application, endpoint]): PathParams<2>,
    sent: JsonBody<EventExampleIn>,
) -> Result<Response, ApiError> {
    sent.body.refuse_payload()?;
    let EventExampleIn { event_type, example_index, .. } = sent.body;
    let idempotency = sent.idempotency.as_ref();
    let sent = provider.send_example(&caller, &application, &endpoint, &event_type, example_index, idempotency);
    messages::ok_with_payload(&sent.await?)
}
