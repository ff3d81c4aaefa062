//! Judges a provider's response to the message of one event. Pure.

use std::time::Duration;

use http::{HeaderMap, StatusCode};
use jiff::Timestamp;
use kit_outbound::retry_after;

use crate::provider_access::answer_text::{answer_text, error_code};

/// How the publisher continues with an event after a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// The provider has it, from this request or an earlier one.
    Published,
    /// The provider or the network fails; a retry may succeed.
    Retry {
        /// Text for support.
        error: String,
        /// The pause that the provider requested.
        retry_after: Option<Duration>,
    },
    /// The connection is wrong: no event of this customer succeeds until support corrects it.
    Park {
        /// Text for support.
        reason: String,
    },
    /// The provider refuses this event permanently; other events may succeed.
    Quarantine {
        /// Text for support.
        error: String,
    },
}

/// The error code with which the embedded provider refuses an idempotency key that it knows with another body.
const IDEMPOTENCY_KEY_REUSED: &str = "idempotency_key_reused";

/// Judges a response; none when the provider has a message under this event id, which has to be compared with the event.
/// `now` turns a `Retry-After` date into a pause.
pub(crate) fn judge(status: StatusCode, headers: &HeaderMap, body: &[u8], now: Timestamp) -> Option<Verdict> {
    let text = || answer_text(status, body);
    Some(match status.as_u16() {
        200..=299 => Verdict::Published,
        409 => return None,
        422 if error_code(body).is_some_and(|code| code == IDEMPOTENCY_KEY_REUSED) => return None,
        408 | 429 | 500..=599 => Verdict::Retry { error: text(), retry_after: retry_after(headers, now) },
        401 | 403 | 404 => Verdict::Park { reason: text() },
        400..=499 => Verdict::Quarantine { error: text() },
        // A redirect is not followed: it means that the entered address is not that of a provider's API.
        _ => Verdict::Park { reason: text() },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(status: u16, body: &str) -> &'static str {
        let status = StatusCode::from_u16(status).unwrap();
        match judge(status, &HeaderMap::new(), body.as_bytes(), Timestamp::UNIX_EPOCH) {
            None => "compare",
            Some(Verdict::Published) => "published",
            Some(Verdict::Retry { .. }) => "retry",
            Some(Verdict::Park { .. }) => "park",
            Some(Verdict::Quarantine { .. }) => "quarantine",
        }
    }

    #[test]
    fn each_status_has_its_verdict() {
        for (status, expected) in [
            (200, "published"),
            (202, "published"),
            (204, "published"),
            (299, "published"),
            (301, "park"),
            (307, "park"),
            (400, "quarantine"),
            (401, "park"),
            (402, "quarantine"),
            (403, "park"),
            (404, "park"),
            (408, "retry"),
            (409, "compare"),
            (413, "quarantine"),
            (422, "quarantine"),
            (429, "retry"),
            (499, "quarantine"),
            (500, "retry"),
            (502, "retry"),
            (503, "retry"),
            (504, "retry"),
            (599, "retry"),
        ] {
            assert_eq!(judged(status, ""), expected, "{status}");
        }
        assert_eq!(judged(422, r#"{"code":"idempotency_key_reused","detail":"x"}"#), "compare");
        assert_eq!(judged(422, r#"{"code":"validation","detail":"x"}"#), "quarantine");
    }

    #[test]
    fn a_retry_has_the_requested_pause_and_no_text_of_the_provider() {
        let mut headers = HeaderMap::new();
        headers.insert(http::header::RETRY_AFTER, "7200".parse().unwrap());
        let verdict =
            judge(StatusCode::TOO_MANY_REQUESTS, &headers, b"{\n \"detail\": \"slow down\"}", Timestamp::UNIX_EPOCH);
        let Some(Verdict::Retry { error, retry_after }) = verdict else { panic!("a 429 was not retried") };
        assert_eq!(retry_after, Some(Duration::from_secs(7200)));
        assert!(error.starts_with("the provider answered 429: it limits"), "{error}");
        assert!(!error.contains("slow down"), "{error}");
    }

    #[test]
    fn retry_after_is_honoured_in_all_forms_in_full_up_to_a_day() {
        let now: Timestamp = "2023-11-14T22:13:20Z".parse().unwrap();
        for (text, seconds) in [
            ("120", Some(120)),
            ("86399", Some(86_399)),
            ("86401", Some(86_400)),
            ("99999999999999999999999999", Some(86_400)),
            ("Wed, 15 Nov 2023 22:13:19 GMT", Some(86_399)),
            ("Wednesday, 15-Nov-23 22:13:19 GMT", Some(86_399)),
            ("Wed Nov 15 22:13:19 2023", Some(86_399)),
            ("Thu, 16 Nov 2023 22:13:20 GMT", Some(86_400)),
            ("Thursday, 16-Nov-23 22:13:20 GMT", Some(86_400)),
            ("Thu Nov 16 22:13:20 2023", Some(86_400)),
            ("Tue, 14 Nov 2023 22:13:19 GMT", None),
            ("tomorrow", None),
        ] {
            let headers = HeaderMap::from_iter([(http::header::RETRY_AFTER, text.parse().unwrap())]);
            for status in [408, 429, 500, 503] {
                let verdict = judge(StatusCode::from_u16(status).unwrap(), &headers, b"", now);
                let Some(Verdict::Retry { retry_after, .. }) = verdict else { panic!("{status} is retried") };
                assert_eq!(retry_after, seconds.map(Duration::from_secs), "{status} {text:?}");
            }
        }
    }
}
