//! What other servers answer: receivers of webhooks, and customers' providers.

use std::time::Duration;

use http::header::{HeaderName, HeaderValue};
use http::{HeaderMap, Method, StatusCode};
use jiff::Timestamp;

const NOW_S: i64 = 1_795_242_483;
/// Of a body, in [`http_answer`].
const KEPT_BYTES_MAX: usize = 64;
const DAY: Duration = Duration::from_secs(86_400);

/// An answer to a delivery: a pause is never over a day, and what is kept is bounded and fit for any database.
pub fn receiver_answer(data: &[u8]) {
    let Some((status, headers, body)) = answer(data) else { return };
    let (retry_after, response) = provider_core::fuzzing::parse_response(status, &headers, body, now());
    assert!(retry_after.is_none_or(|pause| pause <= DAY), "{retry_after:?}");
    assert!(response.len() <= 27_000 && !response.contains('\0'), "{} bytes are kept", response.len());
    assert!(!(status.is_success() && retry_after.is_some()));
}

/// An answer byte for byte: it reads the same however it is cut into pieces, and no more of it is kept than is wanted. The first byte
/// says how it is cut and to what it answers.
pub fn http_answer(data: &[u8]) {
    let Some((first, bytes)) = data.split_first() else { return };
    let method = if first & 1 == 0 { Method::POST } else { Method::HEAD };
    let piece = usize::from(first >> 1) + 1;
    let [whole, cut] = [bytes.len(), piece].map(|piece| {
        let response = kit_outbound::fuzzing::parse_response(&method, bytes, piece, KEPT_BYTES_MAX).ok().flatten();
        response.map(|kit_outbound::Response { status, headers, body, truncated }| (status, headers, body, truncated))
    });
    assert_eq!(whole, cut, "in pieces of {piece}");
    if let Some((status, _, body, truncated)) = whole {
        assert!(!status.is_informational() || status == StatusCode::SWITCHING_PROTOCOLS, "{status}");
        assert!(body.len() <= KEPT_BYTES_MAX && (!truncated || body.len() == KEPT_BYTES_MAX), "{} bytes", body.len());
        assert!(method == Method::POST || body.is_empty());
    }
}

/// An answer to the publisher: it has a meaning, and the text for support is one short line.
pub fn provider_answer(data: &[u8]) {
    let Some((status, headers, body)) = answer(data) else { return };
    let text = platform_core::fuzzing::judge(status, &headers, body, now()).unwrap_or_default();
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
