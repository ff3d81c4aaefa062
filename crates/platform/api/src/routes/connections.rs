//! Connections: how the publisher reaches each customer's consumer application at a delivery provider.

use axum::extract::{Path, State};
use axum::response::Response;
use kit_runtime::vault::Secret;
use platform_core::Outcome;
use platform_core::Platform;
use platform_core::customers::connections::{
    ConnectConsumer, ConsumerState, EventTypeRegistration, ExistingTexts, ProviderChoice,
};
use platform_core::port::StartFrom;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use uuid::Uuid;

use crate::body_fields::or_null;
use crate::errors::{ApiError, Problem};
use crate::extract::{Post, PutRequest, QueryRequest};
use crate::models::ConsumerView;
use crate::response;
use crate::routes::ring::NothingIn;

/// A connection. An absent field stays.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct ConsumerIn {
    /// Base URL of the provider's API, or `embedded` for the provider of this installation. Null restores the
    /// configured provider, which is also the initial one: `platform.provider_url`, or the embedded one without it.
    #[serde(default, deserialize_with = "or_null")]
    #[schema(value_type = Option<String>)]
    provider_url: Option<Option<String>>,
    /// Id of the consumer application (`app_…`). Null is rejected.
    #[serde(default, deserialize_with = "or_null")]
    #[schema(value_type = Option<String>)]
    application_id: Option<Option<String>>,
    /// API key of the customer's account at the provider. Stored encrypted, never shown. Null is rejected.
    #[serde(default, deserialize_with = "or_null")]
    #[schema(value_type = Option<String>)]
    api_key: Option<Option<String>>,
    /// Cursor of the event feed: also publish the events after it. Default: publish only later events.
    start_from: Option<i64>,
}

/// Connect a customer to its provider
///
/// Stores the consumer application and the API key with which the platform publishes the customer's events. The
/// platform publishes nothing without both. With both, it asks the provider for the application, for up to 15
/// seconds, and reports the result in `test`. It stores the connection whatever the result is; to test again, use
/// `POST …/consumer/resume`. Scope `customers:write`. Errors: 422 `cursor_beyond_end` if the feed has not reached
/// `startFrom`; 422 `api_key_required` if the provider changes and the call has no `apiKey`, because the stored key is
/// never sent to another provider; 422 `invalid` if the platform does not send to the address, or if the call has several
/// of these problems.
#[utoipa::path(
    put, path = "/customers/{uuid}/consumer", tag = "customers", request_body = ConsumerIn,
    params(("uuid" = Uuid, Path)),
    responses(
        (status = 200, description = "The connection as stored, with the result of the test.", body = ConsumerView),
        (status = 404, body = Problem), (status = 422, body = Problem),
    ),
)]
pub(crate) async fn connect(
    State(platform): State<Platform>,
    Path(uuid): Path<Uuid>,
    write: PutRequest<ConsumerIn>,
) -> Result<Response, ApiError> {
    let ConsumerIn { provider_url, application_id, api_key, start_from } = write.body;
    let application_id = kept_or_given("/applicationId", application_id)?;
    let api_key = kept_or_given("/apiKey", api_key)?.map(|key| Secret::new(key.into_bytes()));
    let start = start_from.map_or(StartFrom::Now, StartFrom::Cursor);
    let provider = match provider_url {
        None => ProviderChoice::Kept,
        Some(None) => ProviderChoice::Configured,
        Some(Some(text)) => ProviderChoice::entered(text),
    };
    let connect = ConnectConsumer { provider, application_id, api_key, start };
    let consumer = platform.connect_consumer(&write.caller, uuid, &connect).await?;
    Ok(response::ok(&ConsumerView::from(&consumer)))
}

/// An absent field stays. Null is rejected, because it would look as if it deleted the value.
fn kept_or_given<T>(pointer: &str, given: Option<Option<T>>) -> Result<Option<T>, ApiError> {
    match given {
        Some(None) => Err(ApiError::invalid(
            pointer,
            "is null, which deletes nothing: leave the field out to keep its value, or delete the connection with DELETE",
        )),
        given => Ok(given.flatten()),
    }
}

/// Get a customer's connection
///
/// With the number of events that wait, and the reason. Scope `customers:read`. Errors: 404 `not_found` also if the
/// customer is not connected.
#[utoipa::path(
    get, path = "/customers/{uuid}/consumer", tag = "customers",
    params(("uuid" = Uuid, Path)),
    responses(
        (status = 200, description = "The connection and its queue.", body = ConsumerView),
        (status = 404, body = Problem),
    ),
)]
pub(crate) async fn connection(
    State(platform): State<Platform>,
    Path(uuid): Path<Uuid>,
    request: QueryRequest<()>,
) -> Result<Response, ApiError> {
    Ok(response::ok(&ConsumerView::from(&platform.consumer(&request.caller, uuid).await?)))
}

/// Event types that the provider has now.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Registered {
    /// Names of the event types.
    registered: Vec<&'static str>,
}

/// How to register the event types.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct RegisterIn {
    /// True replaces the descriptions and titles of existing event types. Default: they stay, because the customer may
    /// have changed them.
    #[serde(default)]
    replace_texts: bool,
}

/// Register the event types with the provider
///
/// Creates both event types in the customer's provider account, or updates their schemas. Texts of existing event types
/// stay. Scope `customers:write`. Errors: 422 `invalid` if a credential is missing, 502 `provider_refused`.
#[utoipa::path(
    post, path = "/customers/{uuid}/consumer/event-types", tag = "customers",
    request_body = RegisterIn,
    params(("uuid" = Uuid, Path)),
    responses(
        (status = 200, description = "The names of the event types that the provider has now.", body = Registered),
        (status = 404, body = Problem), (status = 502, body = Problem),
    ),
)]
pub(crate) async fn register_event_types(
    State(platform): State<Platform>,
    Path(uuid): Path<Uuid>,
    post: Post<RegisterIn>,
) -> Result<Response, ApiError> {
    let render = |registered: &Vec<EventTypeRegistration>| {
        let registered = registered.iter().map(|registered| registered.event_type.name()).collect();
        response::body(&Registered { registered })
    };
    let idempotent = post.idempotent(200, &render);
    if let Some(replayed) = platform.replay(idempotent.as_ref()).await? {
        return Ok(response::replayed(replayed));
    }
    // The effect is at the provider and idempotent, so the response can only be stored after it.
    let texts = if post.body.replace_texts { ExistingTexts::Replace } else { ExistingTexts::Keep };
    let registered = platform.register_event_types(&post.caller, uuid, texts).await?;
    platform.keep_answer(idempotent.as_ref(), &registered).await?;
    Ok(response::outcome(Outcome::Fresh(registered), 200, render, |_| None))
}

/// Resume publishing
///
/// Tests the credentials and, if the provider accepts them, publishes the waiting events without further delay: a
/// parked queue, or events that wait for a retry. Scope `customers:write`. Errors: 409 `not_connected`, 502
/// `provider_refused`.
#[utoipa::path(
    post, path = "/customers/{uuid}/consumer/resume", tag = "customers",
    params(("uuid" = Uuid, Path)),
    responses(
        (status = 200, description = "The connection after the test.", body = ConsumerView),
        (status = 404, body = Problem), (status = 502, body = Problem),
    ),
)]
pub(crate) async fn resume(
    State(platform): State<Platform>,
    Path(uuid): Path<Uuid>,
    post: Post<NothingIn>,
) -> Result<Response, ApiError> {
    let render = |consumer: &ConsumerState| response::body(&ConsumerView::from(consumer));
    let outcome = platform.resume_consumer(&post.caller, uuid, post.idempotent(200, &render)).await?;
    Ok(response::outcome(outcome, 200, render, |_| None))
}

/// A deleted connection.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Disconnected {
    /// Number of waiting events that are not published. They stay in the event feed; `startFrom` of a new connection
    /// publishes them.
    discarded: u64,
    /// True if the provider still accepts an API key that the platform had made, because another process runs the embedded
    /// provider. Revoke it in the provider's dashboard, or with `lotwire provider key revoke`.
    made_key_remains: bool,
}

/// Disconnect a customer
///
/// Deletes the connection and its API key, and revokes the key at the provider if the platform had made it. The platform
/// publishes neither the waiting events nor later ones. The events stay in the feed, and a new connection can start from a
/// cursor (`startFrom`). Scope `customers:write`.
#[utoipa::path(
    delete, path = "/customers/{uuid}/consumer", tag = "customers",
    params(("uuid" = Uuid, Path)),
    responses(
        (status = 200, description = "The number of waiting events that are not published.", body = Disconnected),
        (status = 404, body = Problem),
    ),
)]
pub(crate) async fn disconnect(
    State(platform): State<Platform>,
    Path(uuid): Path<Uuid>,
    request: QueryRequest<()>,
) -> Result<Response, ApiError> {
    let ended = platform.disconnect_consumer(&request.caller, uuid).await?;
    Ok(response::ok(&Disconnected { discarded: ended.waited, made_key_remains: ended.made_key_remains }))
}
