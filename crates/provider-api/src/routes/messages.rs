//! Messages of a consumer application (provider.md, "Messages"). The payload is passed through as bytes: it is checked to
//! be a JSON object, and never built as one.

use axum::extract::{Request, State};
use axum::response::Response;
use http::{HeaderMap, StatusCode};
use provider::model::Message;
use provider::page::ListKey;
use provider::payload::PAYLOAD_BYTES_MAX;
use provider::{MessageInput, OrderingKey, Payload, Provider, ProviderError, ids};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use utoipa::ToSchema;

use super::applications::ApplicationIn;
use crate::answer::{self, ListResponse};
use crate::ask::{self, Asked, At, Auth, ContentQuery, HistoryQuery};
use crate::errors::{ApiError, HttpErrorOut, ValidationErrorOut};

/// Bytes of a request with a message: the payload and room for the rest.
const BODY_BYTES_MAX: usize = PAYLOAD_BYTES_MAX + 64 * 1024;
/// What is shown in place of a payload that was not asked for, and of one whose retention is over.
const NOT_SHOWN: &str = "{}";
const EXPIRED: &str = r#"{"expired":true}"#;

/// A message to send.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct MessageIn<'a> {
    /// Event type name; it need not exist.
    event_type: String,
    /// What endpoints receive, byte for byte.
    #[serde(borrow)]
    #[schema(value_type = Object)]
    payload: &'a RawValue,
    /// Your own id for it, unique in the application: 1 to 256 of `a-zA-Z0-9-_.`, not beginning with `msg_`.
    event_id: Option<String>,
    /// Endpoints that listen to other channels only don't receive it.
    #[schema(min_items = 1, max_items = 5)]
    channels: Option<Vec<String>>,
    /// Tags, for searching.
    tags: Option<Vec<String>>,
    /// Days that the payload is kept; 90 without.
    #[schema(minimum = 5, maximum = 90)]
    payload_retention_period: Option<i64>,
    /// Makes the application when there is none of the path's uid.
    application: Option<ApplicationIn>,
}

/// A message.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct MessageOut<'a> {
    /// Your own id for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    event_id: Option<&'a str>,
    /// Event type name.
    event_type: &'a str,
    /// The payload as it was sent; `{"expired": true}` when its retention is over.
    #[schema(value_type = Object)]
    payload: &'a RawValue,
    /// Channels that it was sent to.
    #[serde(skip_serializing_if = "Option::is_none")]
    channels: Option<&'a [String]>,
    /// Tags.
    #[serde(skip_serializing_if = "Option::is_none")]
    tags: Option<&'a [String]>,
    /// `msg_…`
    id: &'a str,
    /// When it was accepted.
    #[schema(value_type = String, format = DateTime)]
    timestamp: String,
}

/// Whether a view has the payload.
#[derive(Debug, Clone, Copy)]
enum Content {
    Shown,
    Left,
}

impl Content {
    fn of(with_content: Option<bool>) -> Self {
        if with_content == Some(false) { Content::Left } else { Content::Shown }
    }
}

impl MessageIn<'_> {
    fn into_input(self, payload: Payload, ordering_key: Option<OrderingKey>) -> MessageInput {
        MessageInput {
            event_type: self.event_type,
            payload,
            event_id: self.event_id,
            channels: self.channels,
            tags: self.tags,
            payload_retention_days: self.payload_retention_period,
            application: self.application.map(Into::into),
            ordering_key,
        }
    }
}

/// The header that says what a message stays in order with. A header, because a provider that does not know it passes over
/// it, where an unknown field of the body might be refused.
const ORDERING_KEY: &str = "lotwire-ordering-key";

fn ordering_key(headers: &HeaderMap) -> Result<Option<OrderingKey>, ApiError> {
    let invalid = |msg: String| ApiError::at(["header", ORDERING_KEY], msg);
    let mut values = headers.get_all(ORDERING_KEY).iter();
    let Some(value) = values.next() else { return Ok(None) };
    if values.next().is_some() {
        return Err(invalid("is given more than once".to_owned()));
    }
    OrderingKey::parse(value.to_str().unwrap_or_default()).map(Some).map_err(|error| invalid(error.to_string()))
}

fn view(message: &Message, content: Content) -> Result<MessageOut<'_>, ApiError> {
    let payload = match (content, &message.payload) {
        (Content::Left, _) => NOT_SHOWN.as_bytes(),
        (Content::Shown, None) => EXPIRED.as_bytes(),
        (Content::Shown, Some(payload)) => payload,
    };
    let corrupt = |error| ProviderError::Internal(format!("the payload of {} is not JSON: {error}", message.id));
    Ok(MessageOut {
        event_id: message.event_id.as_deref(),
        event_type: &message.event_type,
        payload: serde_json::from_slice(payload).map_err(corrupt)?,
        channels: message.channels.as_deref(),
        tags: message.tags.as_deref(),
        id: &message.id,
        timestamp: answer::time(message.created_at),
    })
}

/// Sends a message. It is on disk, with a delivery for each endpoint that wants it, when this is answered.
#[utoipa::path(post, path = "/app/{app_id}/msg", operation_id = "v1.message.create", tag = "Message",
    params(("app_id" = String, Path, description = "Id or uid"), ContentQuery,
        ("lotwire-ordering-key" = Option<String>, Header, description = "What the message stays in order with, at endpoints \
            with `ordering` `key`: 1 to 256 visible ASCII characters")), request_body = MessageIn<'_>,
    responses((status = 202, body = MessageOut<'_>), (status = 401, body = HttpErrorOut<'_>),
        (status = 404, body = HttpErrorOut<'_>), (status = 409, body = HttpErrorOut<'_>),
        (status = 413, body = HttpErrorOut<'_>), (status = 422, body = ValidationErrorOut)))]
pub(crate) async fn create(
    State(provider): State<Provider>,
    Auth(caller): Auth,
    At([application]): At<1>,
    Asked(query): Asked<ContentQuery>,
    request: Request,
) -> Result<Response, ApiError> {
    let ordering_key = ordering_key(request.headers())?;
    let (bytes, idempotency) = ask::receive(request, BODY_BYTES_MAX).await?;
    let body: MessageIn<'_> = http_kit::json::parse(&bytes)?;
    let payload = Payload::within(&bytes, body.payload)?;
    let input = body.into_input(payload, ordering_key);
    let message = provider.create_message(&caller, &application, input, idempotency.as_ref()).await?;
    Ok(answer::json(StatusCode::ACCEPTED, &view(&message, Content::of(query.with_content))?))
}

/// Lists an application's messages, newest first.
#[utoipa::path(get, path = "/app/{app_id}/msg", operation_id = "v1.message.list", tag = "Message",
    params(("app_id" = String, Path, description = "Id or uid"), HistoryQuery),
    responses((status = 200, body = ListResponse<MessageOut<'_>>), (status = 401, body = HttpErrorOut<'_>),
        (status = 404, body = HttpErrorOut<'_>), (status = 422, body = ValidationErrorOut)))]
pub(crate) async fn list(
    State(provider): State<Provider>,
    Auth(caller): Auth,
    At([application]): At<1>,
    Asked(query): Asked<HistoryQuery>,
) -> Result<Response, ApiError> {
    let page = query.page(ListKey::Id(ids::MESSAGE))?;
    let messages = provider.list_messages(&caller, &application, &page).await?;
    answer::try_list(&messages, |message| view(message, Content::of(query.with_content)))
}

/// Gives a message.
#[utoipa::path(get, path = "/app/{app_id}/msg/{msg_id}", operation_id = "v1.message.get", tag = "Message",
    params(("app_id" = String, Path, description = "Id or uid"), ("msg_id" = String, Path, description = "Id or event id"),
        ContentQuery),
    responses((status = 200, body = MessageOut<'_>), (status = 401, body = HttpErrorOut<'_>),
        (status = 404, body = HttpErrorOut<'_>)))]
pub(crate) async fn get(
    State(provider): State<Provider>,
    Auth(caller): Auth,
    At([application, message]): At<2>,
    Asked(query): Asked<ContentQuery>,
) -> Result<Response, ApiError> {
    let message = provider.message(&caller, &application, &message).await?;
    Ok(answer::ok(&view(&message, Content::of(query.with_content))?))
}
