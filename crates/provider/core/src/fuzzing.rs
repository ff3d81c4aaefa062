//! Entry points for the fuzz targets (`fuzz/`) to code of this crate that parses outside input. No shipped build has
//! them.

use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, StatusCode};
use jiff::Timestamp;
use serde_json::Value;

use crate::error::ProviderResult;
use crate::event_types::{self, example};
use crate::page::{ListPage, PageRequest};
use crate::payload_schemas;
use crate::schema;

/// The wait that a receiver's response asks for, and the text of the response that is stored.
pub fn parse_response(
    status: StatusCode,
    headers: &HeaderMap,
    body: &[u8],
    now: Timestamp,
) -> (Option<Duration>, String) {
    crate::dispatcher::parse_response(status, headers, Bytes::copy_from_slice(body), now)
}

/// Makes a list page of the rows that a store returned.
pub fn page_of(page: &PageRequest, rows: Vec<String>) -> ListPage<String> {
    page.slice(rows, |row| row)
}

/// Checks whether the webhooks of an OpenAPI document can be imported as event types.
pub fn event_types(document: &Value) -> ProviderResult<()> {
    event_types::check_import(document)
}

/// Checks a payload against schemas, if they are valid, and generates an example from them. The example may not match.
pub fn check_payload(schemas: Value, payload: &Value) {
    if schema::faults(&schemas).is_empty() {
        let _ = example::of_schemas(Some(&schemas), None);
        payload_schemas::try_schemas(schemas, payload);
    }
}
