//! API keys of the platform.

use axum::extract::{Path, State};
use axum::response::{IntoResponse as _, Response};
use http::StatusCode;
use platform_core::Platform;
use platform_core::access::{CreatedApiKey, NewApiKey};
use platform_core::{Scope, Scopes};
use serde::Deserialize;
use utoipa::ToSchema;
use uuid::Uuid;

use crate::body_fields::instant;
use crate::errors::{ApiError, Problem};
use crate::extract::{Post, QueryRequest};
use crate::models::{ApiKeyCreated, ApiKeyView, List};
use crate::pagination::CustomerListQuery;
use crate::response;

/// A new API key.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct ApiKeyIn {
    /// Name for people; 1 to 100 characters.
    name: String,
    /// Scopes, such as `events:read`; only scopes that the caller has.
    scopes: Vec<String>,
    /// UUID of the customer that the key is limited to. Default: the caller's own.
    customer: Option<Uuid>,
    /// When the key expires. Default: never.
    #[schema(format = DateTime)]
    expires_at: Option<String>,
}

/// Create an API key
///
/// The response shows the key this once; only a repeated request with the same `Idempotency-Key` shows it again. A
/// key can grant no scope that the caller lacks (403 `forbidden`). Scope `keys:write`.
#[utoipa::path(
    post, path = "/api-keys", tag = "access", request_body = ApiKeyIn,
    responses(
        (status = 201, description = "The new key, with its secret.", body = ApiKeyCreated),
        (status = 403, body = Problem), (status = 422, body = Problem),
    ),
)]
pub(crate) async fn create_key(State(platform): State<Platform>, post: Post<ApiKeyIn>) -> Result<Response, ApiError> {
    let (post, body) = post.map(Ok)?;
    let ApiKeyIn { name, scopes, customer, expires_at } = body;
    let scopes = parse_scopes(&scopes)?;
    let new = NewApiKey {
        name,
        customer: customer.or(post.caller.customer),
        scopes,
        expires_at: instant("/expiresAt", expires_at.as_deref())?,
    };
    let render = |created: &CreatedApiKey| response::body(&ApiKeyCreated::from(created));
    let outcome = platform.create_api_key_once(&post.caller, &new, post.idempotent(201, &render)).await?;
    Ok(response::outcome(outcome, 201, render, |_| None))
}

/// List API keys
///
/// In order of creation, without their secrets. The list contains revoked and expired keys. Scope `keys:read` or
/// `keys:write`.
#[utoipa::path(
    get, path = "/api-keys", tag = "access",
    params(CustomerListQuery),
    responses(
        (status = 200, description = "A page of keys in order of creation.", body = List<ApiKeyView>),
        (status = 404, body = Problem),
    ),
)]
pub(crate) async fn list_keys(
    State(platform): State<Platform>,
    request: QueryRequest<CustomerListQuery>,
) -> Result<Response, ApiError> {
    let page = request.query.page::<Uuid>()?;
    let keys = platform.api_keys(&request.caller, request.query.customer, page.with_lookahead()).await?;
    Ok(response::list(keys, page, |key| key.uuid, |row| ApiKeyView::from(row)))
}

/// Get an API key
///
/// Without its secret. Scope `keys:read` or `keys:write`.
#[utoipa::path(
    get, path = "/api-keys/{uuid}", tag = "access",
    params(("uuid" = Uuid, Path)),
    responses(
        (status = 200, description = "The key, without its secret.", body = ApiKeyView),
        (status = 404, body = Problem),
    ),
)]
pub(crate) async fn get_key(
    State(platform): State<Platform>,
    Path(uuid): Path<Uuid>,
    request: QueryRequest<()>,
) -> Result<Response, ApiError> {
    Ok(response::ok(&ApiKeyView::from(&platform.api_key(&request.caller, uuid).await?)))
}

/// Revoke an API key
///
/// Permanently. The node that handles this request rejects the key from then on, other nodes within 5 seconds. An
/// open live stream continues to its end. A caller with the scope `keys:write` may revoke every key that it can see,
/// also its own.
#[utoipa::path(
    delete, path = "/api-keys/{uuid}", tag = "access",
    params(("uuid" = Uuid, Path)),
    responses((status = 204, description = "No content. The key is revoked."), (status = 404, body = Problem)),
)]
pub(crate) async fn revoke_key(
    State(platform): State<Platform>,
    Path(uuid): Path<Uuid>,
    request: QueryRequest<()>,
) -> Result<Response, ApiError> {
    platform.revoke_api_key(&request.caller, uuid).await?;
    Ok(StatusCode::NO_CONTENT.into_response())
}

fn parse_scopes(names: &[String]) -> Result<Scopes, ApiError> {
    let parse = |(index, name): (usize, &String)| {
        Scope::parse(name).ok_or_else(|| {
            let known = Scope::ALL.map(Scope::name).join(", ");
            ApiError::invalid(format!("/scopes/{index}"), format!("{name:?} is not a scope; send one of {known}"))
        })
    };
    names.iter().enumerate().map(parse).collect()
}
