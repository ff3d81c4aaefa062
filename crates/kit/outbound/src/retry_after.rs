//! The `Retry-After` response header (RFC 9110, section 10.2.3): a delay in seconds, or an HTTP date.
//!
//! The provider's dispatcher and the platform's publisher read it. Both honour it in full up to [`RETRY_AFTER_MAX`].

use std::time::Duration;

use http::{HeaderMap, header};
use jiff::Timestamp;
use jiff::fmt::rfc2822;

/// The longest wait that a response can ask for: a mistaken or hostile header delays a request by no more.
pub const RETRY_AFTER_MAX: Duration = Duration::from_secs(24 * 60 * 60);

/// The wait that the response asks for, counted from `now` and at most [`RETRY_AFTER_MAX`]. None if the header is missing or malformed, or if its date has passed: the sender's clock may be
/// wrong, so the caller's own backoff applies.
///
/// All three forms of an HTTP date (RFC 9110, section 5.6.7) are accepted: IMF-fixdate, RFC 850 and asctime. So is a
/// date with a numeric time zone (RFC 2822), which some receivers send although HTTP does not allow it.
pub fn retry_after(headers: &HeaderMap, now: Timestamp) -> Option<Duration> {
    let value = headers.get(header::RETRY_AFTER)?.to_str().ok()?.trim();
    let wait = if !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit()) {
        // Only a number that is too large for a `u64` does not parse.
        value.parse().map_or(RETRY_AFTER_MAX, Duration::from_secs)
    } else {
        Duration::try_from(http_date(value)?.duration_since(now)).ok()?
    };
    Some(wait.min(RETRY_AFTER_MAX))
}

fn http_date(value: &str) -> Option<Timestamp> {
    match httpdate::parse_http_date(value) {
        // Only the last two days of the year 9999 do not convert.
        Ok(at) => Some(Timestamp::try_from(at).unwrap_or(Timestamp::MAX)),
        Err(_) => rfc2822::parse(value).ok().map(|at| at.timestamp()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_delay_or_an_http_date_in_any_form_is_a_wait() {
        let now: Timestamp = "1994-11-06T08:49:00Z".parse().unwrap();
        let seconds = Duration::from_secs;
        for (value, expected) in [
            ("0", Some(seconds(0))),
            ("120", Some(seconds(120))),
            (" 5 ", Some(seconds(5))),
            ("86400", Some(seconds(86_400))),
            ("86401", Some(seconds(86_400))),
            ("18446744073709551615", Some(seconds(86_400))),
            ("18446744073709551616", Some(seconds(86_400))),
            ("Mon, 07 Nov 1994 08:48:59 GMT", Some(seconds(86_399))),
            ("Monday, 07-Nov-94 08:48:59 GMT", Some(seconds(86_399))),
            ("Mon Nov  7 08:48:59 1994", Some(seconds(86_399))),
            ("Tue, 08 Nov 1994 08:49:00 GMT", Some(seconds(86_400))),
            ("Tuesday, 08-Nov-94 08:49:00 GMT", Some(seconds(86_400))),
            ("Tue Nov  8 08:49:00 1994", Some(seconds(86_400))),
            ("Fri, 31 Dec 9999 23:59:59 GMT", Some(seconds(86_400))),
            ("Sun, 06 Nov 1994 08:49:37 GMT", Some(seconds(37))),
            ("Sunday, 06-Nov-94 08:49:37 GMT", Some(seconds(37))),
            ("Sun Nov  6 08:49:37 1994", Some(seconds(37))),
            ("Sun, 6 Nov 1994 10:49:37 +0200", Some(seconds(37))),
            ("Sun, 06 Nov 1994 08:00:00 GMT", None),
            ("Sunday, 06-Nov-94 08:00:00 GMT", None),
            ("Sun Nov  6 08:00:00 1994", None),
            ("Mon, 06 Nov 1994 08:49:37 GMT", None),
            ("Sun, 06 Nov 1994 08:49:37", None),
            ("", None),
            ("-5", None),
            ("+5", None),
            ("1.5", None),
            ("soon", None),
        ] {
            let headers = HeaderMap::from_iter([(header::RETRY_AFTER, value.parse().unwrap())]);
            assert_eq!(retry_after(&headers, now), expected, "{value:?}");
        }
        assert_eq!(retry_after(&HeaderMap::new(), now), None);
    }
}
