//! Entry points for the fuzz targets (`fuzz/`) to code of this crate that parses outside input. No shipped build has them.

use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, StatusCode};
use jiff::Timestamp;
use serde_json::Value;

use crate::error::ProviderResult;
use crate::event_types::{self, example, schema};
use crate::messages::payload_check;
use crate::page::{ListPage, PageRequest};

/// What a receiver's answer asks to wait, and the text of it that is kept.
pub fn parse_response(
    status: StatusCode,
    headers: &HeaderMap,
    body: &[u8],
    now: Timestamp,
) -> (Option<Duration>, String) {
    crate::dispatcher::parse_response(status, headers, Bytes::copy_from_slice(body), now)
}

/// The page of a store's rows.
pub fn page_of(page: &PageRequest, rows: Vec<String>) -> ListPage<String> {
    page.slice(rows, |row| row)
}

/// Whether the webhooks of an OpenAPI document can be imported, each checked as an event type.
pub fn event_types(document: &Value) -> ProviderResult<()> {
    event_types::check_import(document)
}

/// Uses schemas that are taken: checks a payload and makes an example, which may not match.
pub fn check_payload(schemas: Value, payload: &Value) {
    if schema::faults(&schemas).is_empty() {
        let _ = example::of_schemas(Some(&schemas), None);
        payload_check::try_schemas(schemas, payload);
    }
}
