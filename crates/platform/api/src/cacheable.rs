//! Answers that callers policy: a strong `ETag` from what they say, how long they are good, and 304 to who has them.

use axum::body::Bytes;
use axum::response::{IntoResponse as _, Response};
use http::header::{CACHE_CONTROL, ETAG, VARY};
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use jiff::Timestamp;
use platform_core::port::BulkChange;
use platform_rules::lifecycle::ItemCounts;
use platform_rules::{Auction, Item};
use serde::Serialize;
use sha2::{Digest as _, Sha256};

use crate::models::{AuctionView, ItemView};
use crate::response;

/// Bytes of the hash that make a tag: enough that no two answers share one.
const TAG_BYTES: usize = 12;

/// Who may policy an answer, and how long.
#[derive(Debug, Clone, Copy)]
pub(crate) enum CachePolicy {
    /// The same for every key, and new at most with a new version of the platform: the caller, for a day. A cache that
    /// many share would give it to those without a key.
    Day,
    /// For the caller's eyes, and it may change: the caller, who asks each time if it is still so.
    Caller,
}

/// An answer with its tag.
pub(crate) struct CacheableResponse {
    body: Bytes,
    tag: String,
    policy: CachePolicy,
}

impl CacheableResponse {
    pub(crate) fn new(view: &impl Serialize, policy: CachePolicy) -> Self {
        let body = response::body(view);
        let tag = hash(&body);
        Self { body: body.into(), tag, policy }
    }

    /// With a tag of its own, such as [`item_etag`].
    pub(crate) fn tagged(view: &impl Serialize, tag: String) -> Self {
        Self { body: response::body(view).into(), tag, policy: CachePolicy::Caller }
    }

    /// 200, or 304 when the caller has it.
    pub(crate) fn answer(&self, asked: &HeaderMap) -> Response {
        let mut response = if kit_http::if_none_match::matches(asked, &self.tag) {
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

/// The tag of an item, in whatever answer: for all that is said of it but the clock's time.
pub(crate) fn item_etag(item: &Item, auction: &Auction, now: Timestamp) -> String {
    let view = ItemView { server_time: String::new(), ..ItemView::new(item, auction, now) };
    versioned_etag(item.version, &view)
}

/// The tag of an auction, in whatever answer: for all that is said of it when it is asked for.
pub(crate) fn auction_etag(
    auction: &Auction,
    items: &ItemCounts,
    bulk_change: Option<&BulkChange>,
    now: Timestamp,
) -> String {
    versioned_etag(auction.version, &AuctionView::whole(auction, items, bulk_change, now))
}

/// `<version>-<hash>`: the version for `If-Match`, and what the view says besides, which may change while the version stays.
fn versioned_etag(version: i64, view: &impl Serialize) -> String {
    format!("{version}-{}", hash(&response::body(view)))
}

/// The version in a tag, which may be one of [`versioned_etag`].
pub(crate) fn version_from_etag(tag: &str) -> Option<i64> {
    let version = match tag.split_once('-') {
        Some((version, hash)) if hash.len() == 2 * TAG_BYTES && hash.bytes().all(|byte| byte.is_ascii_hexdigit()) => {
            version
        }
        Some(_) => return None,
        None => tag,
    };
    version.parse().ok()
}

fn hash(body: &str) -> String {
    Sha256::digest(body.as_bytes()).iter().take(TAG_BYTES).map(|byte| format!("{byte:02x}")).collect()
}

impl CachePolicy {
    fn headers(self) -> &'static [(HeaderName, &'static str)] {
        match self {
            Self::Day => &[(CACHE_CONTROL, "private, max-age=86400")],
            Self::Caller => &[(CACHE_CONTROL, "private, no-cache"), (VARY, "authorization")],
        }
    }
}
