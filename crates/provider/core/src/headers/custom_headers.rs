//! Headers that an endpoint adds to each delivery: the names that are allowed, and their changes by a patch.

use std::collections::{BTreeMap, HashSet};

use http::{HeaderName, HeaderValue};
use kit_outbound::Headers;

use crate::error::FieldError;

/// Maximum size of a value in bytes.
pub const VALUE_BYTES_MAX: usize = 4_096;
/// Maximum number of headers of an endpoint.
pub const HEADERS_MAX: usize = 64;

/// Header names that an endpoint may not set: those that the official Svix server rejects, those that frame a request,
/// and `accept-encoding`, because attempts show responses without decompressing them.
const FORBIDDEN: [&str; 24] = [
    "user-agent",
    "keep-alive",
    "proxy-authenticate",
    "proxy-authorization",
    "te",
    "trailers",
    "transfer-encoding",
    "upgrade",
    "age",
    "cache-control",
    "clear-site-data",
    "expires",
    "pragma",
    "warning",
    "content-length",
    "content-type",
    "content-encoding",
    "content-language",
    "content-location",
    "host",
    "connection",
    "trailer",
    "expect",
    "accept-encoding",
];

/// Prefixes of names that belong to the provider, or to proxies between the provider and the receiver.
const FORBIDDEN_PREFIXES: [&str; 12] = [
    "lotwire-",
    "x-lotwire-",
    "svix-",
    "x-svix-",
    "webhook-",
    "x-amz-",
    "x-amzn-",
    "x-goog-",
    "x-google",
    "x-gfe",
    "x-azure-",
    "x-fd-",
];

/// Headers with values that are not shown again.
const SENSITIVE: [&str; 6] =
    ["authorization", "proxy-authenticate", "proxy-authorization", "www-authenticate", "x-api-key", "x-auth-token"];

/// Checks headers, and returns them with unchanged names. The error lists all faults.
pub fn check(headers: &BTreeMap<String, String>) -> Result<BTreeMap<String, String>, Vec<FieldError>> {
    let mut faults = Vec::new();
    let mut seen = HashSet::new();
    if headers.len() > HEADERS_MAX {
        faults.push(FieldError::in_body(["headers".into()], format!("must have at most {HEADERS_MAX} entries")));
    }
    for (name, value) in headers.iter().take(HEADERS_MAX) {
        let lower = name.to_ascii_lowercase();
        let msg = fault(&lower, value).or_else(|| (!seen.insert(lower)).then(|| "is given twice".into()));
        if let Some(msg) = msg {
            faults.push(FieldError::in_body(["headers".into(), name.clone().into()], msg));
        }
    }
    if faults.is_empty() { Ok(headers.clone()) } else { Err(faults) }
}

/// Sets these headers in `current`, and removes those without a value. Names are compared without case. The error lists
/// all faults.
pub fn patch(
    current: &BTreeMap<String, String>,
    changes: &BTreeMap<String, Option<String>>,
) -> Result<BTreeMap<String, String>, Vec<FieldError>> {
    let mut patched = current.clone();
    patched.retain(|name, _| !changes.keys().any(|changed| changed.eq_ignore_ascii_case(name)));
    let set = changes.iter().filter_map(|(name, value)| Some((name.clone(), value.clone()?)));
    patched.extend(set);
    check(&patched)
}

/// Whether the value of this header is redacted in responses.
pub fn is_sensitive(name: &str) -> bool {
    SENSITIVE.iter().any(|sensitive| sensitive.eq_ignore_ascii_case(name))
}

/// Adds headers to a request. They were checked when they were stored; invalid headers of an older version are omitted.
pub(crate) fn add_to(request: &mut Headers, headers: &BTreeMap<String, String>) {
    for (name, value) in headers {
        if fault(name, value).is_none()
            && let Ok(name) = HeaderName::try_from(name.as_str())
        {
            request.add(&name, value.as_bytes());
        }
    }
}

fn fault(name: &str, value: &str) -> Option<String> {
    if HeaderName::try_from(name).is_err() {
        return Some("this is not a header name".into());
    }
    if FORBIDDEN.contains(&name) || FORBIDDEN_PREFIXES.iter().any(|prefix| name.starts_with(prefix)) {
        return Some("this header can't be set".into());
    }
    if value.len() > VALUE_BYTES_MAX {
        return Some(format!("the value must have at most {VALUE_BYTES_MAX} bytes"));
    }
    if HeaderValue::from_str(value).is_err() {
        return Some("the value holds a character that a header can't hold".into());
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(name: &str, value: &str) -> bool {
        check(&BTreeMap::from([(name.to_owned(), value.to_owned())])).is_err()
    }

    #[test]
    fn names_of_the_protocol_and_of_the_provider_are_refused() {
        for name in FORBIDDEN {
            assert!(refused(name, "x"), "{name}");
            assert!(refused(&name.to_uppercase(), "x"), "{name}");
        }
        for name in
            ["Lotwire-Ordering-Key", "Svix-Id", "webhook-signature", "X-Svix-Anything", "x-google-1", "x-amzn-trace-id"]
        {
            assert!(refused(name, "x"), "{name}");
        }
        for name in ["", "two words", "colon:", "line\r\nbreak", "größe", "x-invalid???("] {
            assert!(refused(name, "x"), "{name:?}");
        }
        for name in ["authorization", "x-customer", "accept", "X-Forwarded-For"] {
            assert!(!refused(name, "x"), "{name}");
        }
    }

    #[test]
    fn a_value_is_one_line_of_at_most_4096_bytes() {
        for (value, expected) in [
            (String::new(), false),
            ("a".repeat(4_096), false),
            ("a".repeat(4_097), true),
            ("line\r\nbreak: yes".into(), true),
            ("nul\0".into(), true),
            ("tab\tis fine".into(), false),
        ] {
            assert_eq!(refused("x-customer", &value), expected, "{value:.20?}");
        }
    }

    #[test]
    fn one_header_in_two_spellings_is_refused() {
        let both = [("X-One", "1"), ("x-one", "2")].map(|(name, value)| (name.to_owned(), value.to_owned()));
        assert!(check(&BTreeMap::from(both)).is_err());
    }

    #[test]
    fn a_patch_sets_and_removes_headers_whatever_their_case() {
        let text = |pairs: &[(&str, &str)]| -> BTreeMap<String, String> {
            pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
        };
        let current = text(&[("X-One", "1"), ("x-two", "2"), ("x-three", "3")]);
        let changes = [("x-one", Some("new")), ("X-Two", None), ("x-none", None)];
        let changes = changes.map(|(name, value)| (name.to_owned(), value.map(str::to_owned))).into();
        assert_eq!(patch(&current, &changes), Ok(text(&[("x-one", "new"), ("x-three", "3")])));
        for (name, value) in [("x-one", "line\nbreak"), ("host", "x"), ("svix-id", "x")] {
            assert!(patch(&current, &[(name.to_owned(), Some(value.to_owned()))].into()).is_err(), "{name}");
        }
        let many = (0..HEADERS_MAX).map(|number| (format!("x-{number}"), Some("1".to_owned()))).collect();
        assert!(patch(&current, &many).is_err(), "three too many");
    }

    #[test]
    fn sensitive_names_are_known_in_any_case() {
        for name in ["Authorization", "X-API-Key", "x-auth-token"] {
            assert!(is_sensitive(name), "{name}");
        }
        assert!(!is_sensitive("x-customer"));
    }
}
