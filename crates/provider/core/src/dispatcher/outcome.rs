//! Evaluates the response or the transport error of an attempt, for the attempt, the delivery, the endpoint and its
//! lane.

use std::time::Duration;

use http::header::{CONTENT_ENCODING, LOCATION, SERVER, WWW_AUTHENTICATE};
use http::{HeaderName, StatusCode};
use jiff::Timestamp;
use kit_outbound::{Response, TransportError, retry_after};

use super::response_headers;
use super::response_text::response_text;
use crate::config::retry_schedule::spread;
use crate::model::cause::{Cause, FailureDetail, changes_the_page};
use crate::model::{AttemptStatus, AttemptTimes};

const HEADER_CHARS_MAX: usize = 500;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Outcome {
    pub(super) status: AttemptStatus,
    /// 0 when there was no response.
    pub(super) code: u16,
    /// Body, or the text of the transport error.
    pub(super) response: String,
    /// What explains a failure beside the status code and the response.
    pub(super) detail: Option<FailureDetail>,
    /// Headers of the response.
    pub(super) headers: String,
    /// How the time was spent; none when nothing was sent.
    pub(super) times: Option<AttemptTimes>,
    /// The wait that the receiver asked for.
    pub(super) retry_after: Option<Duration>,
    pub(super) gone: bool,
    pub(super) signal: ConcurrencySignal,
}

/// How the attempt changes the lane's concurrency limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ConcurrencySignal {
    /// The endpoint responded with success.
    Increase,
    /// The attempt says nothing about the endpoint's load.
    Keep,
    /// The endpoint is overloaded, or did not respond in time.
    Decrease,
    /// The endpoint asked for a pause.
    Pause(Duration),
}

impl ConcurrencySignal {
    /// Lengthens a pause at random, so that lanes that were asked to pause until the same time do not continue
    /// together.
    pub(super) fn spread(self, unit: impl FnOnce() -> f64) -> Self {
        match self {
            Self::Pause(asked) => Self::Pause(spread(asked, unit())),
            other => other,
        }
    }
}

impl Outcome {
    /// The outcome of a request to `url`. 2xx with its whole body is a success; any other status, including redirects,
    /// is a failure.
    pub(super) fn of(result: Result<Response, TransportError>, url: &str, now: impl FnOnce() -> Timestamp) -> Self {
        match result {
            Ok(response) => Self::of_response(&response, now),
            Err(error) => {
                let cause = Cause::of_transport_error(&error, url);
                let slow = error.is_timeout();
                let signal = if slow { ConcurrencySignal::Decrease } else { ConcurrencySignal::Keep };
                match error {
                    TransportError::Incomplete { response, .. } => {
                        Self::of_response(&response, now).cut_off(cause, signal)
                    }
                    _ => Self {
                        signal,
                        detail: Some(FailureDetail::Transport(cause)),
                        ..Self::failed(error.to_string())
                    },
                }
            }
        }
    }

    /// The outcome of a response whose body is not complete. A status of failure keeps its own meaning.
    fn cut_off(self, cause: Cause, signal: ConcurrencySignal) -> Self {
        match (self.status, self.signal) {
            (AttemptStatus::Success, _) => {
                Self { status: AttemptStatus::Fail, signal, detail: Some(FailureDetail::Transport(cause)), ..self }
            }
            (_, ConcurrencySignal::Keep) => Self { signal, ..self },
            _ => self,
        }
    }

    /// The outcome of an attempt without a response.
    pub(super) fn failed(reason: String) -> Self {
        Self {
            status: AttemptStatus::Fail,
            code: 0,
            response: reason,
            detail: None,
            headers: String::new(),
            times: None,
            retry_after: None,
            gone: false,
            signal: ConcurrencySignal::Keep,
        }
    }

    fn of_response(response: &Response, now: impl FnOnce() -> Timestamp) -> Self {
        let (succeeded, now) = (response.status.is_success(), now());
        let retry_after = if succeeded { None } else { retry_after(&response.headers, now) };
        let signal = match (response.status, retry_after) {
            (StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE, Some(pause)) => {
                ConcurrencySignal::Pause(pause)
            }
            (StatusCode::TOO_MANY_REQUESTS | StatusCode::BAD_GATEWAY | StatusCode::GATEWAY_TIMEOUT, _) => {
                ConcurrencySignal::Decrease
            }
            _ if succeeded => ConcurrencySignal::Increase,
            _ => ConcurrencySignal::Keep,
        };
        let (text, is_text) = response_text(&response.body);
        let header = explaining_header(response, retry_after.and_then(|wait| now.checked_add(wait).ok()));
        let not_text = (!is_text && !succeeded).then(|| FailureDetail::NotText {
            encoding: header_text(response, CONTENT_ENCODING),
            bytes: response.body.len() as u64,
        });
        Self {
            status: if succeeded { AttemptStatus::Success } else { AttemptStatus::Fail },
            code: response.status.as_u16(),
            response: text,
            detail: header.map(FailureDetail::Header).or(not_text),
            headers: response_headers::text(&response.headers),
            times: None,
            retry_after,
            gone: response.status == StatusCode::GONE,
            signal,
        }
    }
}

/// The header that explains a failed response better than its status code.
fn explaining_header(response: &Response, retry_at: Option<Timestamp>) -> Option<String> {
    let name = match response.status.as_u16() {
        300..=399 => LOCATION,
        401 => WWW_AUTHENTICATE,
        // The time is stored, because the header may be a number of seconds.
        429 | 503 if retry_at.is_some() => return retry_at.map(|at| at.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()),
        502..=504 | 520..=529 => SERVER,
        _ => return None,
    };
    header_text(response, name)
}

fn header_text(response: &Response, name: HeaderName) -> Option<String> {
    let value = String::from_utf8_lossy(response.headers.get(name)?.as_bytes());
    let value = value.chars().map(|char| if changes_the_page(char) { ' ' } else { char });
    Some(value.take(HEADER_CHARS_MAX).collect::<String>()).filter(|value| !value.trim().is_empty())
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use http::header;
    use kit_outbound::BodyFault;
    use kit_runtime::clock::from_ms;

    use super::*;

    const URL: &str = "https://hooks.example.com/in";

    fn now() -> Timestamp {
        from_ms(1_700_000_000_000)
    }

    fn respond(code: u16, retry_after: Option<&str>, body: &[u8]) -> Outcome {
        let headers = retry_after.map(|text| (header::RETRY_AFTER, text.parse().unwrap())).into_iter().collect();
        let body = Bytes::copy_from_slice(body);
        let status = StatusCode::from_u16(code).unwrap();
        Outcome::of(Ok(Response { status, headers, body, truncated: false }), URL, now)
    }

    #[test]
    fn a_response_decides_about_the_attempt_and_the_lane() {
        use AttemptStatus::{Fail, Success};
        let hour = Duration::from_secs(3_600);
        for (code, retry_after, status, signal) in [
            (200, None, Success, ConcurrencySignal::Increase),
            (204, Some("3600"), Success, ConcurrencySignal::Increase),
            (299, None, Success, ConcurrencySignal::Increase),
            (301, None, Fail, ConcurrencySignal::Keep),
            (304, None, Fail, ConcurrencySignal::Keep),
            (400, None, Fail, ConcurrencySignal::Keep),
            (410, None, Fail, ConcurrencySignal::Keep),
            (429, None, Fail, ConcurrencySignal::Decrease),
            (429, Some("3600"), Fail, ConcurrencySignal::Pause(hour)),
            (429, Some("soon"), Fail, ConcurrencySignal::Decrease),
            (500, Some("3600"), Fail, ConcurrencySignal::Keep),
            (502, Some("3600"), Fail, ConcurrencySignal::Decrease),
            (503, None, Fail, ConcurrencySignal::Keep),
            (503, Some("3600"), Fail, ConcurrencySignal::Pause(hour)),
            (504, None, Fail, ConcurrencySignal::Decrease),
        ] {
            let outcome = respond(code, retry_after, b"");
            assert_eq!(
                (outcome.status, outcome.signal, outcome.code),
                (status, signal, code),
                "{code} {retry_after:?}"
            );
            assert_eq!(outcome.gone, code == 410);
        }
    }

    #[test]
    fn a_requested_pause_is_never_shortened_and_is_lengthened_at_random() {
        let hour = Duration::from_secs(3_600);
        let ends = [0.0, 0.3, 1.0].map(|unit| ConcurrencySignal::Pause(hour).spread(|| unit));
        assert_eq!(ends, [0, 3, 10].map(|seconds| ConcurrencySignal::Pause(hour + Duration::from_secs(seconds))));
        assert_eq!(
            ConcurrencySignal::Decrease.spread(|| unreachable!("the receiver asked for no pause")),
            ConcurrencySignal::Decrease
        );
    }

    #[test]
    fn retry_after_is_seconds_or_a_time_to_a_day() {
        for (text, seconds) in [
            ("0", Some(0)),
            ("120", Some(120)),
            (" 120 ", Some(120)),
            ("86400", Some(86_400)),
            ("86401", Some(86_400)),
            ("99999999999999999999999999", Some(86_400)),
            ("Tue, 14 Nov 2023 22:14:20 GMT", Some(60)),
            ("Tuesday, 14-Nov-23 22:14:20 GMT", Some(60)),
            ("Tue Nov 14 22:14:20 2023", Some(60)),
            ("Wed, 15 Nov 2023 22:13:19 GMT", Some(86_399)),
            ("Wednesday, 15-Nov-23 22:13:19 GMT", Some(86_399)),
            ("Wed Nov 15 22:13:19 2023", Some(86_399)),
            ("Thu, 16 Nov 2023 22:14:20 GMT", Some(86_400)),
            ("Thursday, 16-Nov-23 22:14:20 GMT", Some(86_400)),
            ("Thu Nov 16 22:14:20 2023", Some(86_400)),
            ("Tue, 14 Nov 2023 22:12:20 GMT", None),
            ("-1", None),
            ("", None),
            ("tomorrow", None),
        ] {
            assert_eq!(respond(500, Some(text), b"").retry_after, seconds.map(Duration::from_secs), "{text:?}");
        }
    }

    #[test]
    fn a_transport_error_has_code_0_its_text_and_its_cause() {
        let outcome = Outcome::of(Err(TransportError::Closed), URL, now);
        assert_eq!((outcome.code, outcome.status), (0, AttemptStatus::Fail));
        assert_eq!(outcome.response, TransportError::Closed.to_string());
        assert_eq!(outcome.detail, Some(FailureDetail::Transport(Cause::Reset { is_plain: false })));
        let timeout = TransportError::Timeout { limit_ms: 5 };
        assert_eq!(Outcome::of(Err(timeout), URL, now).signal, ConcurrencySignal::Decrease);
    }

    #[test]
    fn a_response_without_its_whole_body_keeps_its_status() {
        let outcome = |code, fault| {
            let status = StatusCode::from_u16(code).unwrap();
            let (headers, body) = (http::HeaderMap::new(), Bytes::from_static(b"bo"));
            let response = Box::new(Response { status, headers, body, truncated: false });
            let outcome = Outcome::of(Err(TransportError::Incomplete { response, fault }), URL, now);
            let cause = Cause::from_parts(code, &outcome.response, outcome.detail.as_ref(), URL);
            assert_eq!((outcome.status, outcome.code, &*outcome.response), (AttemptStatus::Fail, code, "bo"));
            (cause.sentence(), outcome.signal)
        };
        let broken = || BodyFault::ClosedEarly { received_bytes: 2, expected_bytes: Some(9) };
        let late = || BodyFault::Timeout { limit_ms: 6_000 };
        let say = |text: &str, signal| (text.to_owned(), signal);
        let (keep, decrease) = (ConcurrencySignal::Keep, ConcurrencySignal::Decrease);
        assert_eq!(outcome(200, broken()), say("200: The answer broke off: 2 of 9 bytes came.", keep));
        assert_eq!(outcome(200, late()), say("200: The answer began, but did not end in 6 s.", decrease));
        assert_eq!(outcome(500, broken()), say("500: The receiver's own code failed: bo", keep));
        assert_eq!(outcome(500, late()), say("500: The receiver's own code failed: bo", decrease));
    }

    #[test]
    fn a_failed_response_that_is_no_text_says_so() {
        let headers = [(CONTENT_ENCODING, http::HeaderValue::from_static("br"))].into_iter().collect();
        let body = Bytes::from_static(b"\xff\xfe\x00");
        let status = StatusCode::INTERNAL_SERVER_ERROR;
        let outcome = Outcome::of(Ok(Response { status, headers, body, truncated: false }), URL, now);
        let cause = Cause::from_parts(500, &outcome.response, outcome.detail.as_ref(), URL);
        assert_eq!(cause.sentence(), "500: The receiver's own code failed.");
        let note = crate::note_on(&outcome.response, outcome.detail.as_ref());
        assert_eq!(note, "The answer is 3 bytes compressed with br, kept as base64.");
    }

    #[test]
    fn the_header_that_explains_a_failure_is_kept_by_its_status() {
        let headers = [(LOCATION, "/new"), (WWW_AUTHENTICATE, "Basic realm=\"staff\""), (SERVER, "nginx")];
        let headers = headers.map(|(name, value)| (name, http::HeaderValue::from_static(value)));
        for (code, kept) in
            [(200, None), (301, Some("/new")), (401, Some("Basic realm=\"staff\"")), (403, None), (502, Some("nginx"))]
        {
            let response = Response {
                status: StatusCode::from_u16(code).unwrap(),
                headers: headers.iter().cloned().collect(),
                body: Bytes::new(),
                truncated: false,
            };
            assert_eq!(explaining_header(&response, None).as_deref(), kept, "{code}");
        }
    }
}
