//! Requests whose body is a CSV file. The body is read while it arrives.

use std::io::{self, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use axum::body::{Body, Bytes};
use axum::extract::FromRequestParts;
use futures_util::TryStreamExt as _;
use http::request::Parts;
use platform_core::{Caller, IdempotentRequest, Platform};
use serde::de::DeserializeOwned;
use tokio_util::io::{StreamReader, SyncIoBridge};

use crate::errors::ApiError;
use crate::extract::{QueryRequest, idempotency_key, request_hash};

/// A request whose body is a file: its caller, its query and its idempotency key.
pub(crate) struct Upload<Q> {
    pub(crate) caller: Caller,
    pub(crate) query: Q,
    key: Option<String>,
    /// Hash of everything but the file, which has not been read yet.
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
    /// What the platform needs to store the response for the caller's idempotency key, if there is one. The platform adds
    /// the file's hash to the request's.
    pub(crate) fn idempotent<'a, T>(
        &'a self,
        status: u16,
        render: &'a (dyn Fn(&T) -> String + Sync),
    ) -> Option<IdempotentRequest<'a, T>> {
        let (key, request_hash) = (self.key.as_deref()?, self.request_hash);
        Some(IdempotentRequest { caller: self.caller.id, key, request_hash, status, render, tag: &|_| None })
    }

    /// The body as a file of at most `bytes_max` bytes, and a counter that shows whether the body was longer.
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

/// Counts the bytes of an upload that have arrived.
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

/// `text/csv` in UTF-8 or ASCII. A file in another character set would be misread.
fn is_csv(content_type: &str) -> bool {
    let mut parts = content_type.split(';').map(str::trim);
    let is_text_csv = parts.next().is_some_and(|kind| kind.eq_ignore_ascii_case("text/csv"));
    let mut parameters = parts.filter_map(|part| part.split_once('='));
    let is_other_charset = |(name, value): (&str, &str)| {
        let value = value.trim().trim_matches('"');
        name.trim().eq_ignore_ascii_case("charset")
            && !["utf-8", "us-ascii"].iter().any(|known| value.eq_ignore_ascii_case(known))
    };
    is_text_csv && !parameters.any(is_other_charset)
}
