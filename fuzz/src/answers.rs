//! What other servers answer: receivers of webhooks, and customers' providers.

use std::time::Duration;

use http::header::{HeaderName, HeaderValue};
use http::{HeaderMap, StatusCode};
use jiff::Timestamp;

const NOW_S: i64 = 1_795_242_483;
const DAY: Duration = Duration::from_secs(86_400);

/// An answer to a delivery: a pause is never over a day, and what is kept is bounded and fit for any database.
pub fn receiver_answer(data: &[u8]) {
    let Some((status, headers, body)) = answer(data) else { return };
    let (retry_after, response) = provider::fuzzing::judge(status, &headers, body, now());
    assert!(retry_after.is_none_or(|pause| pause <= DAY), "{retry_after:?}");
    assert!(response.len() <= 27_000 && !response.contains('\0'), "{} bytes are kept", response.len());
    assert!(!(status.is_success() && retry_after.is_some()));
}

/// An answer to the publisher: it has a meaning, and the text for support is one short line.
pub fn provider_answer(data: &[u8]) {
    let Some((status, headers, body)) = answer(data) else { return };
    let text = platform::fuzzing::judge(status, &headers, body, now()).unwrap_or_default();
    assert!(text.chars().count() < 400 && !text.contains('\n'), "{text:?}");
}

fn now() -> Timestamp {
    Timestamp::from_second(NOW_S).unwrap()
}

/// The first line is the status, the second `Retry-After`, the rest the body.
fn answer(data: &[u8]) -> Option<(StatusCode, HeaderMap, &[u8])> {
    let mut parts = data.splitn(3, |byte| *byte == b'\n');
    let status = StatusCode::from_bytes(parts.next()?).ok()?;
    let retry_after = HeaderValue::from_bytes(parts.next()?).ok()?;
    let headers = HeaderMap::from_iter([(HeaderName::from_static("retry-after"), retry_after)]);
    Some((status, headers, parts.next().unwrap_or_default()))
}
