//! Targets for HTTP responses of other servers: webhook receivers and delivery providers.

use std::time::Duration;

use http::header::{HeaderName, HeaderValue};
use http::{HeaderMap, StatusCode};
use jiff::Timestamp;

const NOW_S: i64 = 1_795_242_483;
const DAY: Duration = Duration::from_secs(86_400);

/// Reads the response to a delivery. A pause is at most a day, and the stored text is bounded and has no NUL byte.
pub fn receiver_answer(data: &[u8]) {
    let Some((status, headers, body)) = response(data) else { return };
    let (retry_after, stored) = provider_core::fuzzing::parse_response(status, &headers, body, now());
    assert!(retry_after.is_none_or(|pause| pause <= DAY), "{retry_after:?}");
    assert!(stored.len() <= 27_000 && !stored.contains('\0'), "{} bytes are stored", stored.len());
    assert!(!(status.is_success() && retry_after.is_some()));
}

/// Judges the provider's response to a published event. The error text is one line of less than 400 characters.
pub fn provider_answer(data: &[u8]) {
    let Some((status, headers, body)) = response(data) else { return };
    let text = platform_core::fuzzing::judge(status, &headers, body, now()).unwrap_or_default();
    assert!(text.chars().count() < 400 && !text.contains('\n'), "{text:?}");
}

fn now() -> Timestamp {
    Timestamp::from_second(NOW_S).unwrap()
}

/// Splits an input: the first line is the status, the second `Retry-After`, and the rest the body.
fn response(data: &[u8]) -> Option<(StatusCode, HeaderMap, &[u8])> {
    let mut parts = data.splitn(3, |byte| *byte == b'\n');
    let status = StatusCode::from_bytes(parts.next()?).ok()?;
    let retry_after = HeaderValue::from_bytes(parts.next()?).ok()?;
    let headers = HeaderMap::from_iter([(HeaderName::from_static("retry-after"), retry_after)]);
    Some((status, headers, parts.next().unwrap_or_default()))
}
