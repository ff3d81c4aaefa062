//! Extractors: what a handler reads of a request. The caller, the query, the JSON body, the version in `If-Match`, and
//! the idempotency key.

use axum::extract::{FromRequest, FromRequestParts, Query, Request};
use http::request::Parts;
use http::{HeaderMap, Method, Uri};
use platform_core::{Caller, IdempotentRequest, Platform, PlatformError};
use serde::de::DeserializeOwned;
use sha2::{Digest as _, Sha256};
use utoipa::ToSchema;

use crate::errors::ApiError;
use crate::etag::{NO_VERSION, RingTag, version_from_etag};

/// A request without a body.
pub(crate) struct QueryRequest<Q> {
    pub(crate) caller: Caller,
    pub(crate) query: Q,
}

impl<Q: DeserializeOwned + Default> FromRequestParts<Platform> for QueryRequest<Q> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &Platform) -> Result<Self, ApiError> {
        let caller = caller(parts)?;
        Ok(QueryRequest { caller, query: query(&parts.uri)? })
    }
}

/// A PUT with a JSON body. PUT is idempotent, so there is no idempotency key.
pub(crate) struct PutRequest<B> {
    pub(crate) caller: Caller,
    pub(crate) body: B,
}

impl<B: DeserializeOwned + ToSchema + Send> FromRequest<Platform> for PutRequest<B> {
    type Rejection = ApiError;

    async fn from_request(request: Request, platform: &Platform) -> Result<Self, ApiError> {
        let post = Post::from_request(request, platform).await?;
        Ok(PutRequest { caller: post.caller, body: post.body })
    }
}

/// A POST or PATCH with a JSON body, the idempotency key, and the version in `If-Match`.
pub(crate) struct Post<B> {
    pub(crate) caller: Caller,
    pub(crate) body: B,
    /// The version in `If-Match`, which the caller read.
    pub(crate) version: Option<i64>,
    ring_tag: Option<RingTag>,
    key: Option<String>,
    request_hash: [u8; 32],
}

impl<B: DeserializeOwned + ToSchema + Send> FromRequest<Platform> for Post<B> {
    type Rejection = ApiError;

    async fn from_request(request: Request, _: &Platform) -> Result<Self, ApiError> {
        let (mut parts, body) = request.into_parts();
        let caller = caller(&mut parts)?;
        refuse_query(&parts.uri)?;
        let key = idempotency_key(&parts.headers)?;
        let tag = kit_http::etag::if_match(&parts.headers)
            .map_err(|error| ApiError::bad_request("if_match_invalid", error))?;
        kit_http::json::check_content_type(&parts.headers).map_err(ApiError::from)?;
        let bytes = kit_http::json::read(body).await.map_err(ApiError::from)?;
        let body = kit_http::json::parse(&bytes).map_err(ApiError::from)?;
        Ok(Post {
            caller,
            body,
            version: tag.as_deref().map(|tag| version_from_etag(tag).unwrap_or(NO_VERSION)),
            ring_tag: tag.as_deref().map(|tag| RingTag::parse(tag).unwrap_or(RingTag::NONE)),
            request_hash: request_hash(&parts.method, &parts.uri, tag.as_deref(), &bytes),
            key,
        })
    }
}

impl<B> Post<B> {
    /// What the platform needs to store the response for the caller's idempotency key, if there is one.
    pub(crate) fn idempotent<'a, T>(
        &'a self,
        status: u16,
        render: &'a (dyn Fn(&T) -> String + Sync),
    ) -> Option<IdempotentRequest<'a, T>> {
        self.idempotent_tagged(status, render, &|_| None)
    }

    /// [`Post::idempotent`] for a response with an `ETag`, which is stored with the response.
    pub(crate) fn idempotent_tagged<'a, T>(
        &'a self,
        status: u16,
        render: &'a (dyn Fn(&T) -> String + Sync),
        tag: &'a (dyn Fn(&T) -> Option<String> + Sync),
    ) -> Option<IdempotentRequest<'a, T>> {
        let key = self.key.as_deref()?;
        Some(IdempotentRequest { caller: self.caller.id, key, request_hash: self.request_hash, status, render, tag })
    }

    /// The version that the caller read; 428 without `If-Match`.
    pub(crate) fn required_version(&self) -> Result<i64, ApiError> {
        self.version.ok_or_else(ApiError::precondition_required)
    }

    /// The state of the ring that the clerk read; 428 without `If-Match`.
    pub(crate) fn required_ring_tag(&self) -> Result<RingTag, ApiError> {
        self.ring_tag.ok_or_else(ApiError::precondition_required)
    }

    /// Recognises a repeated request by these parts instead of the whole request: the hash of a body with a password
    /// must not be stored.
    pub(crate) fn with_request_hash_of(self, parts: &[&str]) -> Self {
        let mut hash = Sha256::new();
        for part in parts {
            hash.update((part.len() as u64).to_be_bytes());
            hash.update(part.as_bytes());
        }
        Self { request_hash: hash.finalize().into(), ..self }
    }

    /// Separates the body and reads it.
    pub(crate) fn map<N>(self, read: impl FnOnce(B) -> Result<N, ApiError>) -> Result<(Post<()>, N), ApiError> {
        let Post { caller, body, version, ring_tag, key, request_hash } = self;
        Ok((Post { caller, body: (), version, ring_tag, key, request_hash }, read(body)?))
    }
}

pub(crate) fn idempotency_key(headers: &HeaderMap) -> Result<Option<String>, ApiError> {
    kit_http::idempotency::key(headers).map_err(|error| ApiError::bad_request("idempotency_key_invalid", error))
}

/// The caller that the [request guard](crate::request_guard) authenticated. Without one, the operation is missing from
/// [`crate::operations`].
fn caller(parts: &mut Parts) -> Result<Caller, ApiError> {
    let unlisted =
        || PlatformError::Internal(format!("{} {} is not in the list of operations", parts.method, parts.uri.path()));
    Ok(parts.extensions.remove::<Caller>().ok_or_else(unlisted)?)
}

/// Rejects query parameters of an operation with a body. A caller who adds `?dryRun=true` must not believe that it
/// works.
pub(crate) fn refuse_query(uri: &Uri) -> Result<(), ApiError> {
    let first_name = |query: &str| query.split(['=', '&']).next().unwrap_or_default().to_owned();
    match uri.query().map(first_name).filter(|name| !name.is_empty()) {
        None => Ok(()),
        Some(name) => Err(ApiError::invalid_query(&name, "is unknown: this operation takes no query parameters")),
    }
}

fn query<Q: DeserializeOwned + Default>(uri: &Uri) -> Result<Q, ApiError> {
    if uri.query().is_none_or(str::is_empty) {
        return Ok(Q::default());
    }
    match Query::try_from_uri(uri) {
        Ok(Query(query)) => Ok(query),
        Err(error) => {
            let text = error.body_text();
            let reason = text.rsplit_once("query string: ").map_or(text.as_str(), |(_, reason)| reason);
            let has_no_parameters = reason.starts_with("invalid length");
            let reason = if has_no_parameters { "this operation takes no query parameters" } else { reason };
            Err(ApiError::bad_request("query_invalid", reason))
        }
    }
}

pub(crate) fn request_hash(method: &Method, uri: &Uri, tag: Option<&str>, body: &[u8]) -> [u8; 32] {
    let mut hash = Sha256::new();
    for part in [method.as_str().as_bytes(), uri.to_string().as_bytes(), tag.unwrap_or_default().as_bytes(), body] {
        hash.update((part.len() as u64).to_be_bytes());
        hash.update(part);
    }
    hash.finalize().into()
}
