//! The `Retry-After` header (RFC 9110, section 10.2.3): seconds, or an HTTP date in one of its three forms. Pure.

use std::time::Duration;

use http::HeaderMap;
use http::header::RETRY_AFTER;
use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;

/// The forms of an HTTP date: today's, RFC 850's with two digits of the year, and asctime's.
const DATE_FORMS: [&str; 3] = ["%a, %d %b %Y %H:%M:%S GMT", "%A, %d-%b-%y %H:%M:%S GMT", "%a %b %e %H:%M:%S %Y"];

/// How long the answer asks us to stay away; none when it doesn't say, or not readably. A date in the past is zero.
pub(crate) fn read(headers: &HeaderMap, now: Timestamp) -> Option<Duration> {
    let value = headers.get(RETRY_AFTER)?.to_str().ok()?.trim();
    if !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit()) {
        // More digits than a number of seconds can have still mean "a very long time".
        return Some(Duration::from_secs(value.parse::<u32>().unwrap_or(u32::MAX).into()));
    }
    let at = DATE_FORMS.iter().find_map(|form| date(form, value))?;
    Some(Duration::try_from(at.duration_since(now)).unwrap_or(Duration::ZERO))
}

fn date(form: &str, value: &str) -> Option<Timestamp> {
    let civil = DateTime::strptime(form, value).ok()?;
    Some(civil.to_zoned(TimeZone::UTC).ok()?.timestamp())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_and_dates_are_read_and_nonsense_is_not() {
        let now: Timestamp = "1994-11-06T08:49:00Z".parse().unwrap();
        for (value, expected) in [
            ("0", Some(0)),
            ("120", Some(120)),
            (" 5 ", Some(5)),
            ("99999999999999999999", Some(u64::from(u32::MAX))),
            ("Sun, 06 Nov 1994 08:49:37 GMT", Some(37)),
            ("Sunday, 06-Nov-94 08:49:37 GMT", Some(37)),
            ("Sun Nov  6 08:49:37 1994", Some(37)),
            ("Sun, 06 Nov 1994 08:00:00 GMT", Some(0)),
            ("", None),
            ("-5", None),
            ("1.5", None),
            ("soon", None),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(RETRY_AFTER, value.parse().unwrap());
            assert_eq!(read(&headers, now), expected.map(Duration::from_secs), "{value:?}");
        }
        assert_eq!(read(&HeaderMap::new(), now), None);
    }
}
