//! Messages of a consumer application (provider.md, "Messages"). The payload is passed through as bytes: it is checked to
//! be a JSON object, and never built as one.

use std::borrow::Cow;
use std::collections::BTreeMap;

use axum::extract::{Request, State};
use axum::response::Response;
use bytes::Bytes;
use http::{HeaderMap, HeaderName, StatusCode};
use jiff::Timestamp;
use provider_core::media_type::MediaType;
use provider_core::model::Message;
use provider_core::payload::PAYLOAD_BYTES_MAX;
use provider_core::port::PayloadRead;
use provider_core::{MessageInput, OrderingKey, Payload, PrecheckResult, Provider, ProviderError, ids};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use utoipa::ToSchema;

use super::applications::ApplicationIn;
use crate::errors::{ApiError, HttpErrorOut, ValidationErrorOut};
use crate::extract::{self, Auth, ContentQuery, JsonBody, PathParams, QueryParams};
use crate::history_query::{FilterParams, MessagesQuery, content};
use crate::response::{self, ListResponse};
use crate::schema_types::Channel;

/// Bytes of a request with a message: the payload and room for the rest.
const BODY_BYTES_MAX: usize = PAYLOAD_BYTES_MAX + 64 * 1024;
/// What is shown in place of a payload that was not asked for, and of one whose retention is over.
const OMITTED_CONTENT: &str = "{}";
const EXPIRED: &str = r#"{"expired":true}"#;

/// A message to send.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct MessageIn<'a> {
    /// Event type name; it need not exist.
    #[schema(min_length = 1, max_length = 256, pattern = "^[a-zA-Z0-9._-]+$")]
    event_type: String,
    /// What endpoints receive, byte for byte.
    #[serde(borrow, alias = "data")]
    #[schema(value_type = Object)]
    payload: &'a RawValue,
    /// Your own id for it, unique in the application: 1 to 256 of `a-zA-Z0-9-_.`, not beginning with `msg_`.
    #[schema(min_length = 1, max_length = 256, pattern = "^[a-zA-Z0-9._-]+$")]
    event_id: Option<String>,
    /// Endpoints that listen to other channels only don't receive it.
    #[schema(value_type = Option<Vec<Channel>>, min_items = 1, max_items = 5)]
    channels: Option<Vec<String>>,
    /// Tags, for searching.
    #[schema(value_type = Option<Vec<Channel>>, min_items = 1, max_items = 8)]
    tags: Option<Vec<String>>,
    /// Days that the payload is kept; 90 without.
    #[schema(minimum = 5, maximum = 90)]
    payload_retention_period: Option<i64>,
    /// The same in hours, in place of days.
    #[schema(minimum = 1, maximum = 2160)]
    payload_retention_hours: Option<i64>,
    /// When it is to be delivered: 1 minute to 24 hours ahead; at once without.
    #[schema(format = DateTime)]
    deliver_at: Option<String>,
    /// What is delivered in place of `payload`, and as what; there are no transformations, so the rest has no effect.
    transformations_params: Option<TransformationsParams>,
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
    /// The payload as it was sent; `{"expired": true}` when its retention is over; `{"rawPayload": "…"}` when it was sent
    /// as a text that is no object.
    #[schema(value_type = Object)]
    payload: Cow<'a, RawValue>,
    /// The media type that its deliveries have as `Content-Type`; absent when it is `application/json`, and without content.
    #[serde(skip_serializing_if = "Option::is_none")]
    content_type: Option<&'a str>,
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
    /// When it is delivered, if that is not at once.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = DateTime)]
    deliver_at: Option<String>,
}

/// What a client says beside the payload for what shapes it on the way.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct TransformationsParams {
    /// The text that endpoints receive in place of `payload`.
    raw_payload: Option<String>,
    /// `content-type`: the media type that endpoints receive it as, with its parameters, 255 ASCII characters at most;
    /// `application/json` without. No other header can be given: an endpoint has those that are sent with every delivery.
    headers: Option<BTreeMap<String, String>>,
}

impl MessageIn<'_> {
    fn into_input(self, bytes: &Bytes, ordering_key: Option<OrderingKey>) -> Result<MessageInput, ApiError> {
        let object = Payload::within(bytes, self.payload)?;
        let payload = match self.transformations_params {
            None => object,
            Some(params) => params.shape(object)?,
        };
        let deliver_at = self.deliver_at.map(|text| text.parse::<Timestamp>()).transpose();
        let deliver_at = deliver_at.map_err(|error| ApiError::at(["body", "deliverAt"], error.to_string()))?;
        Ok(MessageInput {
            event_type: self.event_type,
            payload,
            payload_retention_hours: self.payload_retention_hours,
            deliver_at,
            event_id: self.event_id,
            channels: self.channels,
            tags: self.tags,
            payload_retention_days: self.payload_retention_period,
            application: self.application.map(ApplicationIn::inline).transpose()?,
            ordering_key,
        })
    }
}

impl TransformationsParams {
    /// What becomes of a payload that came with these.
    fn shape(self, object: Payload) -> Result<Payload, ApiError> {
        let media_type = media_type(self.headers.unwrap_or_default())?;
        let payload = self.raw_payload.map_or(Ok(object), Payload::from_text)?;
        Ok(match media_type {
            Some(media_type) => payload.with_media_type(media_type),
            None => payload,
        })
    }
}

/// The only header that a message may bring along.
fn media_type(headers: BTreeMap<String, String>) -> Result<Option<MediaType>, ApiError> {
    let mut given = None;
    for (name, value) in headers {
        let refused = |msg: &str| Err(ApiError::at(["body", "transformationsParams", "headers", &name], msg));
        if !name.eq_ignore_ascii_case("content-type") {
            return refused(
                "can't be given with a message, only content-type can; an endpoint's own headers are sent with every delivery",
            );
        }
        match MediaType::parse(&value) {
            Err(error) => return refused(&error.to_string()),
            Ok(_) if given.is_some() => return refused("is given twice"),
            Ok(media_type) => given = Some(media_type),
        }
    }
    Ok(given)
}

/// The header that says what a message stays in order with. A header, because a provider that does not know it passes over
/// it, where an unknown field of the body might be refused.
const ORDERING_KEY: HeaderName = HeaderName::from_static("lotwire-ordering-key");

fn ordering_key(headers: &HeaderMap) -> Result<Option<OrderingKey>, ApiError> {
    let invalid = |msg: String| ApiError::at(["header", ORDERING_KEY.as_str()], msg);
    let mut values = headers.get_all(&ORDERING_KEY).iter();
    let Some(value) = values.next() else { return Ok(None) };
    if values.next().is_some() {
        return Err(invalid("is given more than once".to_owned()));
    }
    OrderingKey::parse(value.to_str().unwrap_or_default()).map(Some).map_err(|error| invalid(error.to_string()))
}

/// A message, its payload shown or not.
pub(crate) fn view(message: &Message, content: PayloadRead) -> Result<MessageOut<'_>, ApiError> {
    view_as_sent(message, content, None)
}

/// The same for one whose payload was just parsed: it is not parsed again, where it is this.
fn view_as_sent<'a>(
    message: &'a Message,
    content: PayloadRead,
    sent: Option<&'a RawValue>,
) -> Result<MessageOut<'a>, ApiError> {
    let (payload, content_type) = match (content, &message.payload) {
        (PayloadRead::Skip, _) => (OMITTED_CONTENT.as_bytes(), None),
        (PayloadRead::Include, None) => (EXPIRED.as_bytes(), None),
        (PayloadRead::Include, Some(payload)) => (payload.text(), payload.media_type()),
    };
    Ok(MessageOut {
        event_id: message.event_id.as_deref(),
        event_type: &message.event_type,
        payload: payload_object(&message.id, payload, sent)?,
        content_type,
        channels: message.channels.as_deref(),
        tags: message.tags.as_deref(),
        id: &message.id,
        timestamp: response::time(message.created_at),
        deliver_at: message.deliver_at.map(response::time),
    })
}

/// 200 with a message and its payload.
pub(super) fn ok_with_payload(message: &Message) -> Result<Response, ApiError> {
    Ok(response::ok(&view(message, PayloadRead::Include)?))
}

/// A payload as an object: as it is when it is one, else under the name that it was sent by.
fn payload_object<'a>(id: &str, payload: &'a [u8], sent: Option<&'a RawValue>) -> Result<Cow<'a, RawValue>, ApiError> {
    let parsed = sent.filter(|sent| sent.get().as_bytes() == payload);
    if let Some(object) = parsed.or_else(|| serde_json::from_slice(payload).ok())
        && object.get().starts_with('{')
    {
        return Ok(Cow::Borrowed(object));
    }
    let text = serde_json::json!({"rawPayload": String::from_utf8_lossy(payload)}).to_string();
    let corrupt = |error| ProviderError::Internal(format!("the payload of {id} can't be shown: {error}"));
    Ok(Cow::Owned(RawValue::from_string(text).map_err(corrupt)?))
}

/// Sends a message. It is on disk, with a delivery for each endpoint that wants it, when this is answered.
#[utoipa::path(post, path = "/app/{app_id}/msg", operation_id = "v1.message.create", tag = "Message",
    params(("app_id" = String, Path, description = "Id or uid"), ContentQuery,
        ("lotwire-ordering-key" = Option<String>, Header, description = "What the message stays in order with, at endpoints \
            with `ordering` `key`: 1 to 256 visible ASCII characters")), request_body = MessageIn<'_>,
    responses((status = 202, body = MessageOut<'_>), (status = 401, body = HttpErrorOut<'_>),
        (status = 404, body = HttpErrorOut<'_>), (status = 409, body = HttpErrorOut<'_>),
        (status = 413, body = HttpErrorOut<'_>), (status = 422, body = ValidationErrorOut)))]
pub(crate) fn create(
    State(provider): State<Provider>,
    Auth(caller): Auth,
    PathParams([application]): PathParams<1>,
    QueryParams(query): QueryParams<ContentQuery>,
    request: Request,
) -> impl Future<Output = Result<Response, ApiError>> + Send {
    // In a box, which has gone when the message waits for its transaction.
    let receiving = Box::pin(async move {
        let ordering_key = ordering_key(request.headers())?;
        let (bytes, idempotency) = extract::read_json_bytes(request, BODY_BYTES_MAX).await?;
        Ok::<_, ApiError>((ordering_key, bytes, idempotency))
    });
    async move {
        let (ordering_key, bytes, idempotency) = receiving.await?;
        let idempotency = match &ordering_key {
            Some(key) => idempotency.map(|idempotency| idempotency.with(key.as_str())),
            None => idempotency,
        };
        let body: MessageIn<'_> = kit_http::json::parse(&bytes)?;
        let sent = body.payload;
        let input = body.into_input(&bytes, ordering_key)?;
        let message = provider.create_message(&caller, &application, input, idempotency.as_ref()).await?;
        Ok(response::json(StatusCode::ACCEPTED, &view_as_sent(&message, content(query.with_content), Some(sent))?))
    }
}

/// Lists an application's messages, newest first.
#[utoipa::path(get, path = "/app/{app_id}/msg", operation_id = "v1.message.list", tag = "Message",
    params(("app_id" = String, Path, description = "Id or uid"), MessagesQuery),
    responses((status = 200, body = ListResponse<MessageOut<'_>>), (status = 401, body = HttpErrorOut<'_>),
        (status = 404, body = HttpErrorOut<'_>), (status = 422, body = ValidationErrorOut)))]
pub(crate) async fn list(
    State(provider): State<Provider>,
    Auth(caller): Auth,
    PathParams([application]): PathParams<1>,
    FilterParams(query): FilterParams<MessagesQuery>,
) -> Result<Response, ApiError> {
    let (part, content) = (query.history_request(ids::MESSAGE)?, query.content());
    let messages = provider.find_messages(&caller, &application, &query.messages()?, content, part).await?;
    response::try_list(&messages, |message| view(message, content))
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
    PathParams([application, message]): PathParams<2>,
    QueryParams(query): QueryParams<ContentQuery>,
) -> Result<Response, ApiError> {
    let message = provider.message(&caller, &application, &message).await?;
    Ok(response::ok(&view(&message, content(query.with_content))?))
}

/// Removes a message's payload. It reads back as `{"expired": true}` and can't be sent again.
#[utoipa::path(delete, path = "/app/{app_id}/msg/{msg_id}/content", operation_id = "v1.message.expunge-content",
    tag = "Message",
    params(("app_id" = String, Path, description = "Id or uid"), ("msg_id" = String, Path, description = "Id or event id")),
    responses((status = 204), (status = 401, body = HttpErrorOut<'_>), (status = 404, body = HttpErrorOut<'_>)))]
pub(crate) async fn expunge(
    State(provider): State<Provider>,
    Auth(caller): Auth,
    PathParams([application, message]): PathParams<2>,
) -> Result<Response, ApiError> {
    provider.expunge_message(&caller, &application, &message).await?;
    Ok(response::no_content())
}

/// A message that might be sent.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct MessagePrecheckIn {
    /// Event type name.
    #[schema(min_length = 1, max_length = 256, pattern = "^[a-zA-Z0-9._-]+$")]
    event_type: String,
    /// Channels.
    #[schema(value_type = Option<Vec<Channel>>, min_items = 1, max_items = 5)]
    channels: Option<Vec<String>>,
}

/// Whether anybody would get it.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct MessagePrecheckOut {
    /// An endpoint that is not disabled listens to it.
    active: bool,
}

/// Says whether an endpoint would receive such a message now.
#[utoipa::path(post, path = "/app/{app_id}/msg/precheck/active", operation_id = "v1.message.precheck", tag = "Message",
    params(("app_id" = String, Path, description = "Id or uid")), request_body = MessagePrecheckIn,
    responses((status = 200, body = MessagePrecheckOut), (status = 401, body = HttpErrorOut<'_>),
        (status = 404, body = HttpErrorOut<'_>), (status = 422, body = ValidationErrorOut)))]
pub(crate) async fn precheck(
    State(provider): State<Provider>,
    Auth(caller): Auth,
    PathParams([application]): PathParams<1>,
    sent: JsonBody<MessagePrecheckIn>,
) -> Result<Response, ApiError> {
    let MessagePrecheckIn { event_type, channels } = sent.body;
    let reception = provider.precheck_message(&caller, &application, &event_type, channels).await?;
    Ok(response::ok(&MessagePrecheckOut { active: reception == PrecheckResult::Wanted }))
}
