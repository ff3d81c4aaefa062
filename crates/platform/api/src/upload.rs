//! Requests whose body is a CSV file. The body is stored while it arrives and read when it is complete, so that a slow
//! client holds neither memory nor a thread.

use std::io::Read;

use axum::body::Body;
use axum::extract::FromRequestParts;
use futures_util::StreamExt as _;
use http::request::Parts;
use kit_http::json::JsonError;
use platform_core::catalogue::CatalogueUpload;
use platform_core::{Caller, IdempotentRequest, Platform};
use serde::de::DeserializeOwned;
use uuid::Uuid;

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

    /// Stores the body as a file for the auction, at most as long as a catalogue may be.
    pub(crate) async fn receive(&self, platform: &Platform, auction: Uuid, body: Body) -> Result<StoredFile, ApiError> {
        let bytes_max = platform.config().catalogue.file_bytes_max;
        let mut writer = platform.begin_catalogue_upload(&self.caller, auction, "").await?;
        let (mut body, mut bytes) = (body.into_data_stream(), 0);
        let error = loop {
            let part = match body.next().await {
                Some(Ok(part)) => part,
                Some(Err(_)) => break ApiError::from(JsonError::Incomplete),
                None => return Ok(StoredFile { platform: platform.clone(), upload: writer.finish().await? }),
            };
            bytes += part.len() as u64;
            if bytes > bytes_max {
                break ApiError::too_large(bytes_max);
            }
            if let Err(error) = writer.write(&part).await {
                break error.into();
            }
        };
        writer.abandon().await?;
        Err(error)
    }
}

/// A file that has arrived.
pub(crate) struct StoredFile {
    platform: Platform,
    upload: CatalogueUpload,
}

impl StoredFile {
    /// Its content.
    pub(crate) fn read(&self) -> impl Read + Send + 'static {
        self.platform.read_catalogue_upload(&self.upload)
    }

    /// Deletes it after use. If the process ends before, it expires.
    pub(crate) async fn remove(self) -> Result<(), ApiError> {
        Ok(self.platform.remove_catalogue_upload(&self.upload).await?)
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
