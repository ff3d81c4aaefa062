//! A provider's error responses in the platform's own words.
//!
//! Support enters the provider's address, so the body of a response can be a text of any server in the operator's
//! network. The platform shows none of it: it shows the status, a known error code, and what to do.

use http::StatusCode;
use serde::Deserialize;

/// Error codes of the provider's API that change the advice, with the advice.
const CODES: &[(&str, &str)] = &[
    ("authentication_failed", "it does not accept the API key. Enter a valid key of the application's account"),
    ("insufficient_access", "the API key may not do this. Enter a key of the application's account with this right"),
    ("not_found", "it has no such application. Check the application id, and that the key is of the same account"),
    ("validation", "it does not accept the fields of the request. Check the event type and its schema at the provider"),
    ("limit_reached", "a limit of the account is reached. Ask the provider to raise it"),
    ("payload_too_large", "the event is too large for it"),
    ("too_many_requests", "it limits the requests of the account. The platform tries again later"),
    ("disk_full", "its disk is nearly full. The platform tries again later"),
    ("unavailable", "its database is not available. The platform tries again"),
];

/// The fields of an error response that the platform reads.
#[derive(Deserialize)]
struct ErrorBody {
    #[serde(default)]
    code: Option<String>,
}

/// `the provider answered 401 (authentication_failed): …`.
pub(crate) fn answer_text(status: StatusCode, body: &[u8]) -> String {
    let known = error_code(body).and_then(|code| CODES.iter().find(|(known, _)| *known == code));
    match known {
        Some((code, advice)) => format!("the provider answered {} ({code}): {advice}", status.as_u16()),
        None => format!("the provider answered {}: {}", status.as_u16(), advice(status)),
    }
}

/// The error code of a response; none if it has no such field.
pub(crate) fn error_code(body: &[u8]) -> Option<String> {
    serde_json::from_slice::<ErrorBody>(body).ok().and_then(|body| body.code)
}

fn advice(status: StatusCode) -> &'static str {
    match status.as_u16() {
        300..=399 => "it redirects elsewhere. Enter the base address of the provider's API",
        401 => "it does not accept the API key. Enter a valid key of the application's account",
        402 => "the plan of the account does not allow this. Ask the provider",
        403 => "the API key may not do this. Enter a key of the application's account with this right",
        404 => "it has no such application. Check the application id and the provider's address",
        405 => "it has no such operation. Check the provider's address",
        400 | 422 => "it does not accept the request. Check the event type and its schema at the provider",
        408 => "it did not receive the request in time. The platform tries again",
        413 => "the event is too large for it",
        429 => "it limits the requests of the account. The platform tries again later",
        500..=599 => "it is out of order. The platform tries again",
        _ => "it refuses the request. Check the provider's address",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_of_a_body_is_shown_except_a_known_code() {
        let text = |status: u16, body: &str| answer_text(StatusCode::from_u16(status).unwrap(), body.as_bytes());
        for body in ["root:x:0:0", r#"{"code":"AKIA0123","detail":"secret"}"#, r#"{"code":{"a":"secret"}}"#, "\u{0}"] {
            let shown = text(401, body);
            assert!(shown.starts_with("the provider answered 401: it does not accept the API key"), "{shown}");
            assert!(!shown.contains("AKIA") && !shown.contains("secret") && !shown.contains("root"), "{shown}");
        }
        let coded = text(404, r#"{"code":"not_found","detail":"secret"}"#);
        assert!(coded.starts_with("the provider answered 404 (not_found): it has no such application"), "{coded}");
        assert!(!coded.contains("secret"), "{coded}");
        assert!(text(503, "").contains("out of order"));
    }
}
