//! Responses that callers may cache: each has a strong `ETag` and `Cache-Control`, and the response is 304 if the
//! caller's copy is current.

use axum::body::Bytes;
use axum::response::{IntoResponse as _, Response};
use http::header::{CACHE_CONTROL, ETAG, VARY};
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use serde::Serialize;

use crate::etag::content_hash;

/// Who may cache a response, and for how long.
#[derive(Debug, Clone, Copy)]
pub(crate) enum CachePolicy {
    /// The caller, for a day: the response is the same for every key and changes only with a release of the platform. A
    /// shared cache is excluded, because it would serve requests without a key.
    Day,
    /// The caller, who revalidates each time: the response is private and may change.
    Caller,
    /// Every cache, which revalidates each time: the response needs no key and changes only with a release.
    Public,
}

/// A response with its tag.
#[derive(Clone)]
pub(crate) struct CacheableResponse {
    body: Bytes,
    tag: String,
    policy: CachePolicy,
}

impl CacheableResponse {
    /// A response whose tag is the hash of its body.
    pub(crate) fn new(view: &impl Serialize, policy: CachePolicy) -> Self {
        let body = kit_http::json::text(view);
        let tag = content_hash(&body);
        Self { body: body.into(), tag, policy }
    }

    /// A response with a tag of its own, such as [`item_etag`](crate::etag::item_etag).
    pub(crate) fn tagged(view: &impl Serialize, tag: String) -> Self {
        Self { body: kit_http::json::text(view).into(), tag, policy: CachePolicy::Caller }
    }

    /// 200, or 304 if `If-None-Match` names the tag.
    pub(crate) fn respond(&self, request_headers: &HeaderMap) -> Response {
        let mut response = if kit_http::if_none_match::matches(request_headers, &self.tag) {
            StatusCode::NOT_MODIFIED.into_response()
        } else {
            kit_http::json::response(StatusCode::OK, self.body.clone())
        };
        let headers = response.headers_mut();
        if let Ok(tag) = HeaderValue::try_from(format!("\"{}\"", self.tag)) {
            headers.insert(ETAG, tag);
        }
        for (name, value) in self.policy.headers() {
            headers.insert(name, HeaderValue::from_static(value));
        }
        response
    }
}

impl CachePolicy {
    fn headers(self) -> &'static [(HeaderName, &'static str)] {
        match self {
            Self::Day => &[(CACHE_CONTROL, "private, max-age=86400")],
            Self::Caller => &[(CACHE_CONTROL, "private, no-cache"), (VARY, "authorization")],
            Self::Public => &[(CACHE_CONTROL, "no-cache")],
        }
    }
}
