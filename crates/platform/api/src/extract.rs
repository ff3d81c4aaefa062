//! Reading requests: who asks, which page, which version was seen, and the body.

use std::io::{self, Read};
use std::str::FromStr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use axum::body::{Body, Bytes};
use axum::extract::{FromRequest, FromRequestParts, Query, Request};
use futures_util::TryStreamExt as _;
use http::request::Parts;
use http::{HeaderMap, Method, Uri};
use jiff::Timestamp;
use platform_core::ring::{RingState, RingVersion};
use platform_core::{Caller, IdempotentRequest, Platform, PlatformError};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use sha2::{Digest as _, Sha256};
use tokio_util::io::{StreamReader, SyncIoBridge};
use utoipa::IntoParams;
use uuid::Uuid;

use crate::cacheable::version_from_etag;
use crate::errors::ApiError;

/// Entries of a page without a `limit`, and at most.
const LIMIT_DEFAULT: u32 = 50;
const LIMIT_MAX: u32 = 250;
/// What a tag that we never gave stands for: it matches nothing.
const NO_VERSION: i64 = -1;

/// A request without a body: who asks, and the query.
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

/// A request with a JSON body that is no POST: idempotent by itself.
pub(crate) struct PutRequest<B> {
    pub(crate) caller: Caller,
    pub(crate) body: B,
}

impl<B: DeserializeOwned + Send> FromRequest<Platform> for PutRequest<B> {
    type Rejection = ApiError;

    async fn from_request(request: Request, platform: &Platform) -> Result<Self, ApiError> {
        let post = Post::from_request(request, platform).await?;
        Ok(PutRequest { caller: post.caller, body: post.body })
    }
}

/// A POST with a JSON body: with the idempotency key and the version that was seen, when they are given.
pub(crate) struct Post<B> {
    pub(crate) caller: Caller,
    pub(crate) body: B,
    /// From `If-Match`.
    pub(crate) version: Option<i64>,
    ring_tag: Option<RingTag>,
    key: Option<String>,
    request_hash: [u8; 32],
}

impl<B: DeserializeOwned + Send> FromRequest<Platform> for Post<B> {
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
    /// What the platform needs to keep the answer for the caller's idempotency key, if there is one.
    pub(crate) fn answering<'a, T>(
        &'a self,
        status: u16,
        render: &'a (dyn Fn(&T) -> String + Sync),
    ) -> Option<IdempotentRequest<'a, T>> {
        self.answering_tagged(status, render, &|_| None)
    }

    /// The same for an answer with an `ETag`.
    pub(crate) fn answering_tagged<'a, T>(
        &'a self,
        status: u16,
        render: &'a (dyn Fn(&T) -> String + Sync),
        tag: &'a (dyn Fn(&T) -> Option<String> + Sync),
    ) -> Option<IdempotentRequest<'a, T>> {
        let key = self.key.as_deref()?;
        Some(IdempotentRequest { caller: self.caller.id, key, request_hash: self.request_hash, status, render, tag })
    }

    /// The version that the caller saw: 428 without one.
    pub(crate) fn required_version(&self) -> Result<i64, ApiError> {
        self.version.ok_or_else(ApiError::precondition_required)
    }

    /// The ring that the clerk saw: 428 without one.
    pub(crate) fn required_ring_tag(&self) -> Result<RingTag, ApiError> {
        self.ring_tag.ok_or_else(ApiError::precondition_required)
    }

    /// Compares a repeated request by these parts of it, instead of by all of it: the hash of a body with a password is not kept.
    pub(crate) fn with_request_hash_of(self, parts: &[&str]) -> Self {
        let mut hash = Sha256::new();
        for part in parts {
            hash.update((part.len() as u64).to_be_bytes());
            hash.update(part.as_bytes());
        }
        Self { request_hash: hash.finalize().into(), ..self }
    }

    /// Takes the body out to be read further.
    pub(crate) fn map<N>(self, read: impl FnOnce(B) -> Result<N, ApiError>) -> Result<(Post<()>, N), ApiError> {
        let Post { caller, body, version, ring_tag, key, request_hash } = self;
        Ok((Post { caller, body: (), version, ring_tag, key, request_hash }, read(body)?))
    }
}

/// The state of a ring, as its `ETag` says it: versions of the auction and of the item in the ring, 0 for none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RingTag {
    auction: i64,
    item: i64,
}

impl RingTag {
    const NONE: Self = RingTag { auction: NO_VERSION, item: NO_VERSION };

    pub(crate) fn of(ring: &RingState) -> Self {
        let RingVersion { auction, item } = ring.version();
        RingTag { auction, item }
    }

    pub(crate) fn version(self) -> RingVersion {
        RingVersion { auction: self.auction, item: self.item }
    }

    fn parse(tag: &str) -> Option<Self> {
        let (auction, item) = tag.split_once('.')?;
        Some(RingTag { auction: auction.parse().ok()?, item: item.parse().ok()? })
    }
}

impl std::fmt::Display for RingTag {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}.{}", self.auction, self.item)
    }
}

/// A request whose body is a file.
pub(crate) struct Upload<Q> {
    pub(crate) caller: Caller,
    pub(crate) query: Q,
    key: Option<String>,
    /// Of all but the file, which has not been read.
    request_hash: [u8; 32],
}

impl<Q: DeserializeOwned + Default> FromRequestParts<Platform> for Upload<Q> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, platform: &Platform) -> Result<Self, ApiError> {
        let QueryRequest { caller, query } = QueryRequest::from_request_parts(parts, platform).await?;
        let key = idempotency_key(&parts.headers)?;
        let request_hash = request_hash(&parts.method, &parts.uri, None, &[]);
        kit_http::json::check_content_encoding(&parts.headers).map_err(ApiError::from)?;
        let content_type = parts.headers.get(http::header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
        if !is_csv(content_type.unwrap_or_default()) {
            return Err(ApiError::unsupported_media_type("text/csv, in UTF-8"));
        }
        Ok(Upload { caller, query, key, request_hash })
    }
}

impl<Q> Upload<Q> {
    /// What the platform needs to keep the answer for the caller's idempotency key, if there is one; it joins the file's hash.
    pub(crate) fn answering<'a, T>(
        &'a self,
        status: u16,
        render: &'a (dyn Fn(&T) -> String + Sync),
    ) -> Option<IdempotentRequest<'a, T>> {
        let (key, request_hash) = (self.key.as_deref()?, self.request_hash);
        Some(IdempotentRequest { caller: self.caller.id, key, request_hash, status, render, tag: &|_| None })
    }

    /// The body as a file that is read while it arrives, up to `bytes_max`, and what tells if there was more.
    pub(crate) fn read(&self, body: Body, bytes_max: u64) -> (impl Read + Send + 'static, UploadLength) {
        let length = UploadLength { bytes: Arc::default(), bytes_max };
        let counted = length.clone();
        let stream =
            body.into_data_stream().map_err(io::Error::other).inspect_ok(move |bytes: &Bytes| counted.add(bytes.len()));
        let limit = length.clone();
        let stream = stream.and_then(move |bytes| {
            let exceeded = limit.is_exceeded();
            async move {
                if exceeded {
                    Err(io::Error::new(io::ErrorKind::FileTooLarge, "the file is too large"))
                } else {
                    Ok(bytes)
                }
            }
        });
        (SyncIoBridge::new(StreamReader::new(Box::pin(stream))), length)
    }
}

/// How much of an upload has arrived.
#[derive(Clone)]
pub(crate) struct UploadLength {
    bytes: Arc<AtomicU64>,
    bytes_max: u64,
}

impl UploadLength {
    fn add(&self, bytes: usize) {
        self.bytes.fetch_add(bytes as u64, Ordering::Relaxed);
    }

    pub(crate) fn is_exceeded(&self) -> bool {
        self.bytes.load(Ordering::Relaxed) > self.bytes_max
    }
}

/// Which page of a list.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct ListQuery {
    /// `next` of the page before.
    pub(crate) after: Option<String>,
    /// At most this many, 1 to 250; 50 without.
    #[param(minimum = 1, maximum = 250)]
    pub(crate) limit: Option<u32>,
}

/// Which page of a list that may be a customer's.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct CustomerListQuery {
    /// Of this customer only.
    pub(crate) customer: Option<Uuid>,
    /// `next` of the page before.
    pub(crate) after: Option<String>,
    /// At most this many, 1 to 250; 50 without.
    #[param(minimum = 1, maximum = 250)]
    pub(crate) limit: Option<u32>,
}

/// A page that was asked for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PageParams<K> {
    pub(crate) after: Option<K>,
    pub(crate) limit: usize,
}

impl<K: Copy> PageParams<K> {
    /// The page with one entry more, which tells if there is a next one.
    pub(crate) fn with_lookahead(&self) -> platform_core::port::Page<K> {
        platform_core::port::Page { after: self.after, limit: self.limit + 1 }
    }
}

impl ListQuery {
    pub(crate) fn page<K: FromStr>(&self) -> Result<PageParams<K>, ApiError> {
        page(self.after.as_deref(), self.limit)
    }
}

impl CustomerListQuery {
    pub(crate) fn page<K: FromStr>(&self) -> Result<PageParams<K>, ApiError> {
        page(self.after.as_deref(), self.limit)
    }
}

/// The page of a list with a query of its own.
pub(crate) fn page<K: FromStr>(after: Option<&str>, wanted: Option<u32>) -> Result<PageParams<K>, ApiError> {
    let after = match after {
        None => None,
        Some(text) => Some(kit_http::cursor::decode(text).and_then(|key| key.parse().ok()).ok_or_else(|| {
            ApiError::invalid_query("after", "is no cursor; take it from `next` of the page before, or leave it out")
        })?),
    };
    Ok(PageParams { after, limit: limit(wanted)? })
}

/// The number of entries that was asked for.
pub(crate) fn limit(wanted: Option<u32>) -> Result<usize, ApiError> {
    let wanted = wanted.unwrap_or(LIMIT_DEFAULT);
    if (1..=LIMIT_MAX).contains(&wanted) {
        return Ok(wanted as usize);
    }
    Err(ApiError::invalid_query("limit", format!("is {wanted}; it takes 1 to {LIMIT_MAX}")))
}

/// A time of the body, RFC 3339.
pub(crate) fn instant(pointer: &str, text: Option<&str>) -> Result<Option<Timestamp>, ApiError> {
    let Some(text) = text else { return Ok(None) };
    let at: Timestamp = text.parse().map_err(|_| {
        ApiError::invalid(pointer, format!("{text:?} is no time; write it like 2027-03-01T18:00:00.000Z"))
    })?;
    // Milliseconds are what is kept and shown.
    Ok(Some(kit_runtime::clock::from_ms(kit_runtime::clock::to_ms(at))))
}

/// A status of the body, by its name.
pub(crate) fn status<S: FromStr<Err: std::fmt::Display>>(pointer: &str, name: &str) -> Result<S, ApiError> {
    name.parse().map_err(|error: S::Err| ApiError::invalid(pointer, error.to_string()))
}

pub(crate) fn idempotency_key(headers: &HeaderMap) -> Result<Option<String>, ApiError> {
    kit_http::idempotency::key(headers).map_err(|error| ApiError::bad_request("idempotency_key_invalid", error))
}

/// A file that says to be in another character set would be read as something else than what it says.
fn is_csv(content_type: &str) -> bool {
    let mut parts = content_type.split(';').map(str::trim);
    let is_kind = parts.next().is_some_and(|kind| kind.eq_ignore_ascii_case("text/csv"));
    let mut named = parts.filter_map(|part| part.split_once('='));
    let is_other = |(name, value): (&str, &str)| {
        let value = value.trim().trim_matches('"');
        name.trim().eq_ignore_ascii_case("charset")
            && !["utf-8", "us-ascii"].iter().any(|known| value.eq_ignore_ascii_case(known))
    };
    is_kind && !named.any(is_other)
}

/// Whom the gate let in. Nobody, when the operation is not in the list of those that there are.
fn caller(parts: &mut Parts) -> Result<Caller, ApiError> {
    let unlisted = || PlatformError::Internal(format!("{} {} is not listed", parts.method, parts.uri.path()));
    Ok(parts.extensions.remove::<Caller>().ok_or_else(unlisted)?)
}

/// What a body is sent to takes no parameters: whoever adds `?dryRun=true` would be misled.
pub(crate) fn refuse_query(uri: &Uri) -> Result<(), ApiError> {
    let named = |query: &str| query.split(['=', '&']).next().unwrap_or_default().to_owned();
    match uri.query().map(named).filter(|name| !name.is_empty()) {
        None => Ok(()),
        Some(name) => Err(ApiError::invalid_query(&name, "is not known here; this operation takes none")),
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
            let takes_none = reason.starts_with("invalid length");
            let reason = if takes_none { "this operation takes no parameters in its address" } else { reason };
            Err(ApiError::bad_request("query_invalid", reason))
        }
    }
}

fn request_hash(method: &Method, uri: &Uri, tag: Option<&str>, body: &[u8]) -> [u8; 32] {
    let mut hash = Sha256::new();
    for part in [method.as_str().as_bytes(), uri.to_string().as_bytes(), tag.unwrap_or_default().as_bytes(), body] {
        hash.update((part.len() as u64).to_be_bytes());
        hash.update(part);
    }
    hash.finalize().into()
}
