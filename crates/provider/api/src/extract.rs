//! Reading requests. A handler lists its extractors in this order: [`Auth`], [`PathParams`], [`QueryParams`], and the
//! body ([`JsonBody`] or [`read_json_bytes`]). Authentication comes first, so an unauthenticated caller sees no other
//! error.

use axum::extract::rejection::RawPathParamsRejection;
use axum::extract::{FromRequest, FromRequestParts, Query, RawPathParams, Request};
use bytes::Bytes;
use http::request::Parts;
use provider_core::page::{CursorKey, PageQuery, PageRequest};
use provider_core::uid::{NAME_CHARS_MAX, check_name};
use provider_core::{Caller, Idempotency, Provider, ProviderError};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use utoipa::{IntoParams, ToSchema};

use crate::access;
use crate::errors::ApiError;
use crate::schema_types::ListOrder;

/// The authenticated caller: an API key or the token of an application. 401 if the credential is invalid; 403 or 404 if
/// the route or the application is not open to it (see [`access`]).
pub(crate) struct Auth(pub(crate) Caller);

impl FromRequestParts<Provider> for Auth {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, provider: &Provider) -> Result<Self, ApiError> {
        let from = kit_http::client_ip::resolve(parts, &provider.config().trusted_proxies);
        let caller = provider.authenticate_from(Some(kit_http::bearer::token(&parts.headers)?), from).await?;
        access::check(parts, provider, &caller).await?;
        Ok(Auth(caller))
    }
}

/// The `N` ids, uids or names of the path, in order. 422 if one of them can't be an id or a name.
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
        let mut values = Vec::with_capacity(N);
        for (name, value) in &params {
            check_name(value, NAME_CHARS_MAX).map_err(|error| ApiError::at(["path", name], error.to_string()))?;
            values.push(value.to_owned());
        }
        let count = values.len();
        let values = <[String; N]>::try_from(values);
        let mismatch =
            |_| ProviderError::Internal(format!("the handler reads {N} path parameters, and its route has {count}"));
        Ok(PathParams(values.map_err(mismatch)?))
    }
}

/// The query. Unknown parameters are ignored, because official clients send more than this API has.
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

/// A JSON body, and the idempotency key if the request has one.
pub(crate) struct JsonBody<T> {
    pub(crate) body: T,
    pub(crate) idempotency: Option<Idempotency>,
}

impl<T: DeserializeOwned + ToSchema> FromRequest<Provider> for JsonBody<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, _: &Provider) -> Result<Self, ApiError> {
        let (bytes, idempotency) = read_json_bytes(request, kit_http::json::BODY_BYTES_MAX).await?;
        Ok(JsonBody { body: kit_http::json::parse(&bytes)?, idempotency })
    }
}

/// The bytes of a JSON body, not parsed, and the idempotency key if the request has one.
pub(crate) fn read_json_bytes(
    request: Request,
    bytes_max: usize,
) -> impl Future<Output = Result<(Bytes, Option<Idempotency>), ApiError>> + Send {
    let (parts, body) = request.into_parts();
    // An `async fn` would keep the whole request in memory while the body arrives.
    async move {
        // Any media type, or none: the API takes nothing but JSON, and a key in a header rules out forgery by a form.
        kit_http::json::check_content_encoding(&parts.headers)?;
        let key = kit_http::idempotency::key(&parts.headers).map_err(|error| ProviderError::BadRequest {
            code: "invalid_idempotency_key",
            detail: error.to_string(),
        })?;
        let bytes = kit_http::json::read_up_to(body, bytes_max).await?;
        let idempotency = key.map(|key| Idempotency::new(&key, parts.method.as_str(), parts.uri.path(), &bytes));
        Ok((bytes, idempotency.transpose()?))
    }
}

/// The idempotency key of a request without a body, if it has one. A body is ignored.
pub(crate) async fn read_idempotency_key(request: Request) -> Result<Option<Idempotency>, ApiError> {
    let (parts, body) = request.into_parts();
    let key = kit_http::idempotency::key(&parts.headers)
        .map_err(|error| ProviderError::BadRequest { code: "invalid_idempotency_key", detail: error.to_string() })?;
    let bytes = kit_http::json::read_up_to(body, kit_http::json::BODY_BYTES_MAX).await?;
    let idempotency = key.map(|key| Idempotency::new(&key, parts.method.as_str(), parts.uri.path(), &bytes));
    Ok(idempotency.transpose()?)
}

/// The page of a list.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct ListQuery {
    /// Entries on a page: 0 to 250. The default is 50.
    #[param(value_type = Option<u16>, minimum = 0, maximum = 250)]
    limit: Option<String>,
    /// `iterator` or `prevIterator` of another page.
    #[param(min_length = 1)]
    iterator: Option<String>,
    /// Order by creation, or by name for event types: `ascending` or `descending`. The description of the operation has
    /// the default.
    #[param(value_type = Option<ListOrder>)]
    order: Option<String>,
}

impl ListQuery {
    pub(crate) fn page(&self, key: CursorKey) -> Result<PageRequest, ApiError> {
        page(&self.limit, &self.iterator, &self.order, key)
    }
}

/// The requested page of a list whose cursors are keys of this kind.
pub(crate) fn page(
    limit: &Option<String>,
    iterator: &Option<String>,
    order: &Option<String>,
    key: CursorKey,
) -> Result<PageRequest, ApiError> {
    let query = PageQuery { limit: limit.as_deref(), iterator: iterator.as_deref(), order: order.as_deref() };
    Ok(PageRequest::parse(query, key)?)
}

/// Whether the response contains payloads; it does, unless `with_content=false`.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct ContentQuery {
    /// `false` leaves out the payload.
    pub(crate) with_content: Option<bool>,
}
