//! Keys of this API.

use axum::extract::{Path, State};
use axum::response::{IntoResponse as _, Response};
use http::StatusCode;
use platform_core::Platform;
use platform_core::access::{CreatedApiKey, NewApiKey};
use platform_core::{Scope, Scopes};
use serde::Deserialize;
use utoipa::ToSchema;
use uuid::Uuid;

use crate::errors::{ApiError, Problem};
use crate::extract::{CustomerListQuery, Post, QueryRequest, instant};
use crate::models::{ApiKeyCreated, ApiKeyView, List};
use crate::response;

/// A key to be.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct ApiKeyIn {
    /// For people; 1 to 100 characters.
    name: String,
    /// What it may do, such as `events:read`; not more than the key that asks.
    scopes: Vec<String>,
    /// The customer that it is confined to; the caller's own without one.
    customer: Option<Uuid>,
    /// When it stops working.
    #[schema(format = DateTime)]
    expires_at: Option<String>,
}

/// Creates a key; it is shown this once, and again only to the same `Idempotency-Key`. Scope `keys:write`.
#[utoipa::path(post, path = "/api-keys", tag = "access", request_body = ApiKeyIn,
    responses((status = 201, body = ApiKeyCreated), (status = 403, body = Problem), (status = 422, body = Problem)))]
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
    let outcome = platform.create_api_key_once(&post.caller, &new, post.answering(201, &render)).await?;
    Ok(response::outcome(outcome, 201, render, |_| None))
}

/// Lists keys in order of creation, without the keys themselves; those that were revoked or have expired, too. Scope `keys:read`
/// or `keys:write`.
#[utoipa::path(get, path = "/api-keys", tag = "access", params(CustomerListQuery),
    responses((status = 200, body = List<ApiKeyView>), (status = 404, body = Problem)))]
pub(crate) async fn list_keys(
    State(platform): State<Platform>,
    request: QueryRequest<CustomerListQuery>,
) -> Result<Response, ApiError> {
    let page = request.query.page::<Uuid>()?;
    let keys = platform.api_keys(&request.caller, request.query.customer, page.with_lookahead()).await?;
    Ok(response::list(keys, page, |key| key.uuid, |row| ApiKeyView::from(row)))
}

/// Gives a key, without the key itself. Scope `keys:read` or `keys:write`.
#[utoipa::path(get, path = "/api-keys/{uuid}", tag = "access", params(("uuid" = Uuid, Path)),
    responses((status = 200, body = ApiKeyView), (status = 404, body = Problem)))]
pub(crate) async fn get_key(
    State(platform): State<Platform>,
    Path(uuid): Path<Uuid>,
    request: QueryRequest<()>,
) -> Result<Response, ApiError> {
    Ok(response::ok(&ApiKeyView::from(&platform.api_key(&request.caller, uuid).await?)))
}

/// Revokes a key, for good: the node that is asked refuses it from this answer on, others within five seconds. A live stream that
/// it has opened goes on to its end. Any key with the scope `keys:write` may revoke the keys that it sees, itself too.
#[utoipa::path(delete, path = "/api-keys/{uuid}", tag = "access", params(("uuid" = Uuid, Path)),
    responses((status = 204, description = "It gives no access."), (status = 404, body = Problem)))]
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
            ApiError::invalid(format!("/scopes/{index}"), format!("there is no scope {name:?}; there are {known}"))
        })
    };
    names.iter().enumerate().map(parse).collect()
}
