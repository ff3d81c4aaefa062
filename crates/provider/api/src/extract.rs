//! Reading requests. A handler names its extractors in this order, so that a stranger learns nothing: [`Auth`], [`PathParams`],
//! [`QueryParams`], and the body ([`JsonBody`] or [`read_json_bytes`]).

use axum::extract::rejection::RawPathParamsRejection;
use axum::extract::{FromRequest, FromRequestParts, Query, RawPathParams, Request};
use bytes::Bytes;
use http::request::Parts;
use provider_core::page::{CursorKey, PageQuery, PageRequest};
use provider_core::uid::{NAME_CHARS_MAX, check_name};
use provider_core::{Caller, Idempotency, Provider, ProviderError};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use utoipa::IntoParams;

use crate::access;
use crate::errors::ApiError;
use crate::schema_types::ListOrder;

/// Who asks, by the API key or the token of an application: 401 when it is not good, and 403 or 404 when this route, or this
/// application, is not for it (see [`access`]).
pub(crate) struct Auth(pub(crate) Caller);

impl FromRequestParts<Provider> for Auth {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, provider: &Provider) -> Result<Self, ApiError> {
        let from = kit_http::client_ip::resolve(parts, &provider.config().trusted_proxies);
        let caller = provider.authenticate_from(kit_http::bearer::token(&parts.headers), from).await?;
        access::check(parts, provider, &caller).await?;
        Ok(Auth(caller))
    }
}

/// The `N` ids, uids or names of the path, in its order. 422 for what none of them can be.
pub(crate) struct PathParams<const N: usize>(pub(crate) [String; N]);

impl<const N: usize> FromRequestParts<Provider> for PathParams<N> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, provider: &Provider) -> Result<Self, ApiError> {
        let params = match RawPathParams::from_request_parts(parts, provider).await {
            Ok(params) => params,
            Err(RawPathParamsRejection::InvalidUtf8InPathParam(error)) => {
                return Err(ApiError::at(["path"], error.body_text()));
            }
            Err(error) => return Err(ProviderError::Internal(error.to_string()).into()),
        };
        let mut words = Vec::with_capacity(N);
        for (name, word) in &params {
            check_name(word, NAME_CHARS_MAX).map_err(|error| ApiError::at(["path", name], error.to_string()))?;
            words.push(word.to_owned());
        }
        let count = words.len();
        let words = <[String; N]>::try_from(words);
        let wrong = |_| ProviderError::Internal(format!("a handler of {N} path parameters is at a path of {count}"));
        Ok(PathParams(words.map_err(wrong)?))
    }
}

/// The query. Parameters that are not known are passed over, as clients send more than we have.
pub(crate) struct QueryParams<Q>(pub(crate) Q);

impl<Q: DeserializeOwned> FromRequestParts<Provider> for QueryParams<Q> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &Provider) -> Result<Self, ApiError> {
        match Query::try_from_uri(&parts.uri) {
            Ok(Query(query)) => Ok(QueryParams(query)),
            Err(error) => Err(ApiError::at(["query"], error.body_text())),
        }
    }
}

/// A JSON body, and the idempotency key if there is one.
pub(crate) struct JsonBody<T> {
    pub(crate) body: T,
    pub(crate) idempotency: Option<Idempotency>,
}

impl<T: DeserializeOwned> FromRequest<Provider> for JsonBody<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, _: &Provider) -> Result<Self, ApiError> {
        let (bytes, idempotency) = read_json_bytes(request, kit_http::json::BODY_BYTES_MAX).await?;
        Ok(JsonBody { body: kit_http::json::parse(&bytes)?, idempotency })
    }
}

/// The bytes of a JSON body, not parsed yet, and the idempotency key if there is one.
pub(crate) fn read_json_bytes(
    request: Request,
    bytes_max: usize,
) -> impl Future<Output = Result<(Bytes, Option<Idempotency>), ApiError>> + Send {
    let (parts, body) = request.into_parts();
    // An `async fn` would hold the request and its parts.
    async move {
        kit_http::json::check_content_type(&parts.headers)?;
        let key = kit_http::idempotency::key(&parts.headers).map_err(|error| ProviderError::BadRequest {
            code: "invalid_idempotency_key",
            detail: error.to_string(),
        })?;
        let bytes = kit_http::json::read_up_to(body, bytes_max).await?;
        let idempotency = key.map(|key| Idempotency::new(&key, parts.method.as_str(), parts.uri.path(), &bytes));
        Ok((bytes, idempotency.transpose()?))
    }
}

/// The idempotency key of a request without a body, if there is one. A body is passed over.
pub(crate) async fn read_idempotency_key(request: Request) -> Result<Option<Idempotency>, ApiError> {
    let (parts, body) = request.into_parts();
    let key = kit_http::idempotency::key(&parts.headers)
        .map_err(|error| ProviderError::BadRequest { code: "invalid_idempotency_key", detail: error.to_string() })?;
    let bytes = kit_http::json::read_up_to(body, kit_http::json::BODY_BYTES_MAX).await?;
    let idempotency = key.map(|key| Idempotency::new(&key, parts.method.as_str(), parts.uri.path(), &bytes));
    Ok(idempotency.transpose()?)
}

/// A slice of a list of what is configured.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct ListQuery {
    /// At most this many, 0 to 250; 50 without.
    #[param(value_type = Option<u16>, minimum = 0, maximum = 250)]
    limit: Option<String>,
    /// `iterator` or `prevIterator` of a page before.
    #[param(min_length = 1)]
    iterator: Option<String>,
    /// `ascending` or `descending`.
    #[param(value_type = Option<ListOrder>)]
    order: Option<String>,
}

impl ListQuery {
    pub(crate) fn page(&self, key: CursorKey) -> Result<PageRequest, ApiError> {
        page(&self.limit, &self.iterator, &self.order, key)
    }
}

/// A page of a list with keys of this kind.
pub(crate) fn page(
    limit: &Option<String>,
    iterator: &Option<String>,
    order: &Option<String>,
    key: CursorKey,
) -> Result<PageRequest, ApiError> {
    let query = PageQuery { limit: limit.as_deref(), iterator: iterator.as_deref(), order: order.as_deref() };
    Ok(PageRequest::parse(query, key)?)
}

/// Whether content is shown; it is, unless `with_content=false`.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct ContentQuery {
    /// `false` leaves the payload out.
    pub(crate) with_content: Option<bool>,
}
