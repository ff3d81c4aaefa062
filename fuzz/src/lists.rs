//! Targets for the query parameters of lists and the custom headers of endpoints.

use std::collections::BTreeMap;

use http::{HeaderName, HeaderValue};
use provider_core::page::{CursorKey, PageQuery};
use provider_core::{PageRequest, ids};

/// Parses `limit`, `iterator` and `order`, one a line. A page that is accepted can be cut out of any list.
pub fn page(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let mut lines = text.split('\n');
    let query = PageQuery { limit: lines.next(), iterator: lines.next(), order: lines.next() };
    for key in [CursorKey::Id(ids::MESSAGE), CursorKey::Name] {
        let Ok(page) = PageRequest::parse(query, key) else { continue };
        let rows: Vec<String> = (0..300).map(|number| format!("{number:03}")).collect();
        let slice = provider_core::fuzzing::page_of(&page, rows);
        assert!(slice.data.len() <= 250);
        assert_eq!(slice.iterator.is_some(), !slice.data.is_empty());
    }
    let _ = kit_http::cursor::decode(text).map(|key| kit_http::cursor::encode(&key));
    if let Some(at) = ids::timestamp_of(text, ids::MESSAGE) {
        assert!(ids::is_id(text, ids::MESSAGE) && *ids::lowest_id_at(ids::MESSAGE, at) <= *text, "{text}");
    }
}

/// Checks `name: value` lines as an endpoint's headers. Every accepted header can be sent.
pub fn headers(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    // A seed writes a line break in a value as `\n`, and a NUL byte as `\0`.
    let pairs = text.split('\n').filter_map(|line| line.split_once(": "));
    let headers: BTreeMap<String, String> =
        pairs.map(|(name, value)| (name.to_owned(), value.replace("\\n", "\n").replace("\\0", "\0"))).collect();
    let Ok(accepted) = provider_core::headers::custom_headers::check(&headers) else { return };
    for (name, value) in &accepted {
        assert!(HeaderName::try_from(name).is_ok() && HeaderValue::try_from(value).is_ok(), "{name}: {value:?}");
        assert!(value.len() <= 4_096);
        let lower = name.to_ascii_lowercase();
        assert!(!lower.starts_with("svix-") && !lower.starts_with("webhook-") && lower != "host", "{name}");
    }
}
