//! Keys of this API.

use axum::extract::{Path, State};
use axum::response::Response;
use platform::Platform;
use platform::access::NewApiKey;
use platform::port::ApiKey;
use platform::{Scope, Scopes};
use serde::Deserialize;
use utoipa::ToSchema;
use uuid::Uuid;

use super::customers::once;
use super::ring::NothingIn;
use crate::answer;
use crate::ask::{Asked, CustomerListQuery, Post, instant};
use crate::errors::{ApiError, Problem};
use crate::models::{ApiKeyCreated, ApiKeyView, List, time};

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

/// Creates a key; it is shown this once. Scope `keys:write`. An `Idempotency-Key` is refused here: a stored answer would
/// hold the key.
#[utoipa::path(post, path = "/api-keys", tag = "access", request_body = ApiKeyIn,
    responses((status = 201, body = ApiKeyCreated), (status = 403, body = Problem), (status = 422, body = Problem)))]
pub(crate) async fn create_key(State(platform): State<Platform>, post: Post<ApiKeyIn>) -> Result<Response, ApiError> {
    post.refuse_idempotency_key()?;
    let ApiKeyIn { name, scopes, customer, expires_at } = post.body;
    let scopes = parse_scopes(&scopes)?;
    let new = NewApiKey {
        name,
        customer: customer.or(post.caller.customer),
        scopes,
        expires_at: instant("/expiresAt", expires_at.as_deref())?,
    };
    let created = platform.create_api_key(&post.caller, &new).await?;
    let record = created.record;
    Ok(answer::created(&ApiKeyCreated {
        uuid: record.uuid,
        name: record.name,
        scopes: record.scopes,
        customer: record.customer,
        key: created.key.expose_str().unwrap_or_default().to_owned(),
        created_at: time(record.created_at),
        expires_at: record.expires_at.map(time),
    }))
}

/// Lists keys in order of creation, those that work no more among them; never the keys themselves. Scope `keys:write`.
#[utoipa::path(get, path = "/api-keys", tag = "access", params(CustomerListQuery),
    responses((status = 200, body = List<ApiKeyView>), (status = 404, body = Problem)))]
pub(crate) async fn list_keys(
    State(platform): State<Platform>,
    asked: Asked<CustomerListQuery>,
) -> Result<Response, ApiError> {
    let (page, customer) = (asked.query.page()?, asked.query.customer);
    let keys = platform.api_keys(&asked.caller, customer, page.more()).await?;
    Ok(answer::list(keys, page, |key| key.uuid, |key| ApiKeyView::from(key)))
}

/// Takes a key away, by its UUID: it works no more, on other nodes within five seconds. It stays in the list, with its
/// `expiresAt`. A key can't take itself away. Scope `keys:write`.
#[utoipa::path(post, path = "/api-keys/{uuid}/revoke", tag = "access", params(("uuid" = Uuid, Path)),
    responses((status = 200, body = ApiKeyView), (status = 404, body = Problem)))]
pub(crate) async fn revoke_key(
    State(platform): State<Platform>,
    Path(uuid): Path<Uuid>,
    post: Post<NothingIn>,
) -> Result<Response, ApiError> {
    let render = |key: &ApiKey| answer::body(&ApiKeyView::from(key));
    let revoking = platform.revoke_api_key(&post.caller, uuid);
    once(&platform, post.answering(200, &render), &render, revoking).await
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
