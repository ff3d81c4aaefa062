//! Messages of a consumer application. The API checks that a payload is a JSON object, and passes its bytes on
//! unchanged without building a tree of it.

use std::borrow::Cow;
use std::collections::BTreeMap;

use axum::extract::{Request, State};
use axum::response::Response;
use bytes::Bytes;
use http::{HeaderMap, HeaderName, StatusCode};
use jiff::Timestamp;
use provider_core::model::Message;
use provider_core::payload::PAYLOAD_BYTES_MAX;
use provider_core::payload::media_type::MediaType;
use provider_core::port::PayloadRead;
use provider_core::{DiskUse, MessageInput, OrderingKey, Payload, PrecheckResult, Provider, ProviderError, ids};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use utoipa::ToSchema;

use super::applications::ApplicationIn;
use crate::errors::{ApiError, HttpErrorOut};
use crate::extract::{self, Auth, ContentQuery, JsonBody, PathParams, QueryParams};
use crate::history_query::{FilterParams, HistoryParams, MessagesQuery, content};
use crate::response::{self, ListResponse};
use crate::schema_types::Channel;

/// Bytes of a request with a message: the payload, and 64 KiB for the other fields.
const BODY_BYTES_MAX: usize = PAYLOAD_BYTES_MAX + 64 * 1024;
/// Stands in for a payload when the caller sends `with_content=false`.
const OMITTED_CONTENT: &str = "{}";
/// Stands in for a payload whose retention period is over, or that was expunged.
const EXPIRED: &str = r#"{"expired":true}"#;

/// A message to send.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct MessageIn<'a> {
    /// Name of the event type, which need not exist.
    #[schema(min_length = 1, max_length = 256, pattern = "^[a-zA-Z0-9._-]+$")]
    event_type: String,
    /// The payload, at most 2 MiB. Endpoints receive it unchanged, byte for byte.
    #[serde(borrow, alias = "data")]
    #[schema(value_type = Object)]
    payload: &'a RawValue,
    /// The caller's own id for the message, unique in the application: 1 to 256 of `a-zA-Z0-9-_.`, not starting with
    /// `msg_`.
    #[schema(min_length = 1, max_length = 256, pattern = "^[a-zA-Z0-9._-]+$")]
    event_id: Option<String>,
    /// Channels of the message, at most five different ones. An endpoint with channels receives it only if they share one.
    #[schema(value_type = Option<Vec<Channel>>, min_items = 1)]
    channels: Option<Vec<String>>,
    /// Tags to search messages by.
    #[schema(value_type = Option<Vec<Channel>>, min_items = 1, max_items = 8)]
    tags: Option<Vec<String>>,
    /// Retention period of the payload in days. The default and the maximum are the server's, usually 90.
    #[schema(minimum = 5, maximum = 90)]
    payload_retention_period: Option<i64>,
    /// Retention period of the payload in hours, instead of `payloadRetentionPeriod`.
    #[schema(minimum = 1, maximum = 2160)]
    payload_retention_hours: Option<i64>,
    /// Time of delivery, 1 minute to 24 hours ahead. Without this field the message is delivered immediately.
    #[schema(format = DateTime)]
    deliver_at: Option<String>,
    /// A raw payload and its media type. The provider has no transformations and ignores the other fields.
    transformations_params: Option<TransformationsParams>,
    /// Creates the application if none has the uid of the path. Its `uid` must be the one in the path.
    application: Option<ApplicationIn>,
}

/// A message.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct MessageOut<'a> {
    /// The caller's own id.
    event_id: Option<&'a str>,
    /// Name of the event type.
    event_type: &'a str,
    /// The payload as it was sent; `{"expired": true}` when its retention period is over; `{"rawPayload": "…"}` when it
    /// was sent as a text that is not a JSON object.
    #[schema(value_type = Object)]
    payload: Cow<'a, RawValue>,
    /// Media type of the payload, which deliveries carry as `Content-Type`. Absent for `application/json`, and with
    /// `with_content=false`.
    #[serde(skip_serializing_if = "Option::is_none")]
    content_type: Option<&'a str>,
    /// Channels of the message.
    channels: Option<&'a [String]>,
    /// Tags of the message.
    tags: Option<&'a [String]>,
    /// `msg_…`
    id: &'a str,
    /// Time when the provider accepted the message.
    #[schema(value_type = String, format = DateTime)]
    timestamp: String,
    /// Time of delivery; null when the message is delivered immediately.
    #[schema(value_type = Option<String>, format = DateTime)]
    deliver_at: Option<String>,
}

/// A raw payload and its media type.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct TransformationsParams {
    /// Text that endpoints receive instead of `payload`.
    raw_payload: Option<String>,
    /// `content-type`: the media type of the payload with its parameters, at most 255 ASCII characters. The default is
    /// `application/json`. Another header is refused with 422: an endpoint's custom headers are sent with every
    /// delivery.
    headers: Option<BTreeMap<String, String>>,
}

impl MessageIn<'_> {
    fn into_input(
        self,
        bytes: &Bytes,
        ordering_key: Option<OrderingKey>,
        disk: DiskUse,
    ) -> Result<MessageInput, ApiError> {
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
            disk,
        })
    }
}

impl TransformationsParams {
    /// The payload that endpoints receive.
    fn shape(self, object: Payload) -> Result<Payload, ApiError> {
        let media_type = media_type(self.headers.unwrap_or_default())?;
        let payload = self.raw_payload.map_or(Ok(object), Payload::from_text)?;
        Ok(match media_type {
            Some(media_type) => payload.with_media_type(media_type),
            None => payload,
        })
    }
}

/// The media type: `content-type` is the only header that a message may set.
fn media_type(headers: BTreeMap<String, String>) -> Result<Option<MediaType>, ApiError> {
    let mut given = None;
    for (name, value) in headers {
        let refused = |msg: &str| Err(ApiError::at(["body", "transformationsParams", "headers", &name], msg));
        if !name.eq_ignore_ascii_case("content-type") {
            return refused(
                "can't be set by a message, only content-type can; set the endpoint's custom headers instead",
            );
        }
        match MediaType::parse(&value) {
            Err(error) => return refused(&error.to_string()),
            Ok(_) if given.is_some() => return refused("occurs twice with different case; send it once"),
            Ok(media_type) => given = Some(media_type),
        }
    }
    Ok(given)
}

/// The header with the ordering key. It is a header because another provider ignores an unknown header, and might
/// refuse an unknown field.
const ORDERING_KEY: HeaderName = HeaderName::from_static("lotwire-ordering-key");

fn ordering_key(headers: &HeaderMap) -> Result<Option<OrderingKey>, ApiError> {
    let invalid = |msg: String| ApiError::at(["header", ORDERING_KEY.as_str()], msg);
    let mut values = headers.get_all(&ORDERING_KEY).iter();
    let Some(value) = values.next() else { return Ok(None) };
    if values.next().is_some() {
        return Err(invalid("occurs more than once; send it once".to_owned()));
    }
    OrderingKey::parse(value.to_str().unwrap_or_default()).map(Some).map_err(|error| invalid(error.to_string()))
}

/// The header of a message that reports what has happened already, and so may use the disk reserve.
const USE_DISK_RESERVE: HeaderName = HeaderName::from_static("lotwire-use-disk-reserve");

fn disk_use(headers: &HeaderMap) -> Result<DiskUse, ApiError> {
    match headers.get(&USE_DISK_RESERVE).map(|value| value.as_bytes()) {
        None | Some(b"false") => Ok(DiskUse::BeyondReserve),
        Some(b"true") => Ok(DiskUse::Reserve),
        Some(_) => Err(ApiError::at(["header", USE_DISK_RESERVE.as_str()], "must be true or false")),
    }
}

/// The response for a message, with or without its payload.
pub(crate) fn view(message: &Message, content: PayloadRead) -> Result<MessageOut<'_>, ApiError> {
    view_as_sent(message, content, None)
}

/// The response for a message whose payload the request has just parsed (`sent`), so that it is not parsed again.
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

/// A 200 response with a message and its payload.
pub(super) fn ok_with_payload(message: &Message) -> Result<Response, ApiError> {
    Ok(response::ok(&view(message, PayloadRead::Include)?))
}

/// A payload as a JSON object: unchanged if it is one, otherwise as `{"rawPayload": "…"}`.
fn payload_object<'a>(id: &str, payload: &'a [u8], sent: Option<&'a RawValue>) -> Result<Cow<'a, RawValue>, ApiError> {
    let parsed = sent.filter(|sent| sent.get().as_bytes() == payload);
    if let Some(object) = parsed.or_else(|| serde_json::from_slice(payload).ok())
        && object.get().starts_with('{')
    {
        return Ok(Cow::Borrowed(object));
    }
    let text = serde_json::json!({"rawPayload": String::from_utf8_lossy(payload)}).to_string();
    let corrupt = |error| ProviderError::Internal(format!("the payload of {id} can't be written as JSON: {error}"));
    Ok(Cow::Owned(RawValue::from_string(text).map_err(corrupt)?))
}

/// Sends a message to the application's endpoints. When the response is sent, the message and its deliveries are stored
/// durably.
#[utoipa::path(post, path = "/app/{app_id}/msg", operation_id = "v1.message.create", tag = "Message",
    params(
        ("app_id" = String, Path, description = "Id or uid"), ContentQuery,
        ("lotwire-ordering-key" = Option<String>, Header,
            description = "Ordering key: endpoints with `ordering` `key` receive the messages with the same key one \
                after the other. 1 to 256 visible ASCII characters"),
        ("lotwire-use-disk-reserve" = Option<bool>, Header,
            description = "`true`: accept the message also while new messages are refused with `disk_full`. For messages \
                about what has happened already, such as a sale. An account may use an eighth of the reserve in this way"),
    ),
    request_body = MessageIn<'_>,
    responses(
        (status = 202, description = "The accepted message.", body = MessageOut<'_>),
        (status = 404, body = HttpErrorOut<'_>),
        (status = 409, body = HttpErrorOut<'_>,
            description = "The application has a message with this `eventId` (`conflict`)."),
        (status = 413, body = HttpErrorOut<'_>),
    ))]
pub(crate) fn create(
    State(provider): State<Provider>,
    Auth(caller): Auth,
    PathParams([application]): PathParams<1>,
    QueryParams(query): QueryParams<ContentQuery>,
    request: Request,
) -> impl Future<Output = Result<Response, ApiError>> + Send {
    // Boxed, so that the memory of this part is free while the message waits for its transaction.
    let receiving = Box::pin(async move {
        let (ordering_key, disk) = (ordering_key(request.headers())?, disk_use(request.headers())?);
        let (bytes, idempotency) = extract::read_json_bytes(request, BODY_BYTES_MAX).await?;
        Ok::<_, ApiError>((ordering_key, disk, bytes, idempotency))
    });
    async move {
        let (ordering_key, disk, bytes, idempotency) = receiving.await?;
        let idempotency = match &ordering_key {
            Some(key) => idempotency.map(|idempotency| idempotency.with(key.as_str())),
            None => idempotency,
        };
        let body: MessageIn<'_> = kit_http::json::parse(&bytes)?;
        let sent = body.payload;
        let input = body.into_input(&bytes, ordering_key, disk)?;
        let message = provider.create_message(&caller, &application, input, idempotency.as_ref()).await?;
        Ok(response::json(StatusCode::ACCEPTED, &view_as_sent(&message, content(query.with_content), Some(sent))?))
    }
}

/// Lists an application's messages, newest first.
#[utoipa::path(get, path = "/app/{app_id}/msg", operation_id = "v1.message.list", tag = "Message",
    params(("app_id" = String, Path, description = "Id or uid"), HistoryParams, MessagesQuery),
    responses(
        (status = 200, description = "A page of messages.", body = ListResponse<MessageOut<'_>>),
        (status = 404, body = HttpErrorOut<'_>),
    ))]
pub(crate) async fn list(
    State(provider): State<Provider>,
    Auth(caller): Auth,
    PathParams([application]): PathParams<1>,
    FilterParams(query): FilterParams<MessagesQuery>,
) -> Result<Response, ApiError> {
    let (part, content) = (query.history.request(ids::MESSAGE)?, content(query.with_content));
    let messages = provider.find_messages(&caller, &application, &query.history.messages()?, content, part).await?;
    response::try_list(&messages, |message| view(message, content))
}

/// Returns a message.
#[utoipa::path(get, path = "/app/{app_id}/msg/{msg_id}", operation_id = "v1.message.get", tag = "Message",
    params(
        ("app_id" = String, Path, description = "Id or uid"), ("msg_id" = String, Path, description = "Id or event id"),
        ContentQuery,
    ),
    responses(
        (status = 200, description = "The message.", body = MessageOut<'_>),
        (status = 404, body = HttpErrorOut<'_>),
    ))]
pub(crate) async fn get(
    State(provider): State<Provider>,
    Auth(caller): Auth,
    PathParams([application, message]): PathParams<2>,
    QueryParams(query): QueryParams<ContentQuery>,
) -> Result<Response, ApiError> {
    let message = provider.message(&caller, &application, &message).await?;
    Ok(response::ok(&view(&message, content(query.with_content))?))
}

/// Expunges the payload of a message. It is `{"expired": true}` from then on, and the message can't be resent.
#[utoipa::path(delete, path = "/app/{app_id}/msg/{msg_id}/content", operation_id = "v1.message.expunge-content",
    tag = "Message",
    params(
        ("app_id" = String, Path, description = "Id or uid"), ("msg_id" = String, Path, description = "Id or event id"),
    ),
    responses(
        (status = 204, description = "No content."),
        (status = 404, body = HttpErrorOut<'_>),
    ))]
pub(crate) async fn expunge(
    State(provider): State<Provider>,
    Auth(caller): Auth,
    PathParams([application, message]): PathParams<2>,
) -> Result<Response, ApiError> {
    provider.expunge_message(&caller, &application, &message).await?;
    Ok(response::no_content())
}

/// Event type and channels of a message to check.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct MessagePrecheckIn {
    /// Name of the event type.
    #[schema(min_length = 1, max_length = 256, pattern = "^[a-zA-Z0-9._-]+$")]
    event_type: String,
    /// Channels of the message, at most five different ones.
    #[schema(value_type = Option<Vec<Channel>>, min_items = 1)]
    channels: Option<Vec<String>>,
}

/// Whether an endpoint would receive the message.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct MessagePrecheckOut {
    /// `true` if at least one enabled endpoint would receive the message.
    active: bool,
}

/// Checks whether an endpoint would currently receive a message with this event type and these channels.
#[utoipa::path(post, path = "/app/{app_id}/msg/precheck/active", operation_id = "v1.message.precheck", tag = "Message",
    params(("app_id" = String, Path, description = "Id or uid")), request_body = MessagePrecheckIn,
    responses(
        (status = 200, description = "Whether an endpoint would receive the message.", body = MessagePrecheckOut),
        (status = 404, body = HttpErrorOut<'_>),
    ))]
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
