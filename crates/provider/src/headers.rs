//! Headers that an endpoint asks to be sent with every delivery (provider.md, "Delivery").

use std::collections::BTreeMap;

use http::{HeaderMap, HeaderName, HeaderValue};

use crate::error::Invalid;

/// Bytes of a value at most.
pub const VALUE_BYTES_MAX: usize = 4_096;
/// Headers of an endpoint at most.
pub const HEADERS_MAX: usize = 64;

/// Names that the official server refuses, and after them those that frame a request.
const FORBIDDEN: [&str; 23] = [
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
];

/// Beginnings of names that belong to us or to what stands between us and the receiver.
const FORBIDDEN_PREFIXES: [&str; 10] =
    ["svix-", "x-svix-", "webhook-", "x-amz-", "x-amzn-", "x-goog-", "x-google", "x-gfe", "x-azure-", "x-fd-"];

/// Names whose values are not shown again.
const SENSITIVE: [&str; 5] =
    ["authorization", "proxy-authenticate", "proxy-authorization", "www-authenticate", "x-auth-token"];

/// Checks headers and gives them with lower-case names; everything that is wrong with them otherwise.
pub fn check(headers: &BTreeMap<String, String>) -> Result<BTreeMap<String, String>, Vec<Invalid>> {
    let mut faults = Vec::new();
    let mut checked = BTreeMap::new();
    if headers.len() > HEADERS_MAX {
        faults.push(Invalid::in_body(["headers".into()], format!("must have at most {HEADERS_MAX} entries")));
    }
    for (name, value) in headers.iter().take(HEADERS_MAX) {
        let lower = name.to_ascii_lowercase();
        match fault(&lower, value) {
            Some(msg) => faults.push(Invalid::in_body(["headers".into(), name.clone().into()], msg)),
            None => {
                if checked.insert(lower, value.clone()).is_some() {
                    faults.push(Invalid::in_body(["headers".into(), name.clone().into()], "is given twice"));
                }
            }
        }
    }
    if faults.is_empty() { Ok(checked) } else { Err(faults) }
}

/// True when the value of this header (lower-case name) is redacted when it is read.
pub fn is_sensitive(name: &str) -> bool {
    SENSITIVE.contains(&name)
}

/// The header map of checked headers. What can't be a header any more is left out: it was checked when it was stored.
pub(crate) fn to_map(headers: &BTreeMap<String, String>) -> HeaderMap {
    headers
        .iter()
        .filter_map(|(name, value)| {
            let mut value = HeaderValue::from_str(value).ok()?;
            value.set_sensitive(is_sensitive(name));
            Some((HeaderName::try_from(name.as_str()).ok()?, value))
        })
        .collect()
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
        for name in ["Svix-Id", "webhook-signature", "X-Svix-Anything", "x-google-1", "x-amzn-trace-id"] {
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
}
