//! JSON bodies: writing responses, and reading requests with limits on size and time, and with error positions.

mod missing_fields;

use std::time::Duration;

use axum::body::{Body, HttpBody as _};
use axum::response::Response;
use bytes::{Bytes, BytesMut};
use http::header::{CONTENT_ENCODING, CONTENT_TYPE};
use http::{HeaderMap, HeaderValue, StatusCode};
use http_body_util::BodyExt as _;
use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};
use serde_path_to_error::Segment;
use utoipa::ToSchema;

use crate::body_memory::{BODY_MEMORY, BodyMemory};

/// Maximum bytes of a JSON body.
pub const BODY_BYTES_MAX: usize = 1024 * 1024;
/// Initial capacity of a response's text; most are smaller.
const TEXT_BYTES: usize = 1024;
/// Time in which a body has to arrive.
const BODY_TIME_MAX: Duration = Duration::from_secs(30);

/// Serializes a response model. The models contain no keys and numbers that JSON can't represent.
pub fn text(view: &impl Serialize) -> String {
    let mut text = Vec::with_capacity(TEXT_BYTES);
    if serde_json::to_writer(&mut text, view).is_err() {
        text.clear();
    }
    String::from_utf8(text).unwrap_or_default()
}

/// A response with this JSON text.
pub fn response(status: StatusCode, text: impl Into<Body>) -> Response {
    let mut response = Response::new(text.into());
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}

/// Why a request body is rejected.
#[derive(Debug, thiserror::Error)]
pub enum JsonError {
    /// The body is not JSON.
    #[error("the body is not valid JSON: {0}")]
    Syntax(String),
    /// The body is JSON, but does not match the schema.
    #[error("{message}")]
    Shape {
        /// JSON pointer (RFC 6901) to the wrong value.
        pointer: String,
        /// What is wrong.
        message: String,
    },
    /// Required fields of one object are absent: all of them.
    #[error("{}", missing_text(pointers))]
    MissingFields {
        /// JSON pointers (RFC 6901) to the absent fields.
        pointers: Vec<String>,
    },
    /// The body is too large.
    #[error("the body is larger than {bytes_max} bytes")]
    TooLarge {
        /// The limit.
        bytes_max: usize,
    },
    /// The connection ended before the end of the body.
    #[error("the connection ended before the end of the body")]
    Incomplete,
    /// The body did not arrive in time.
    #[error("the body did not arrive within {} seconds", BODY_TIME_MAX.as_secs())]
    TimedOut,
    /// The memory limit of request bodies is reached.
    #[error("too many large requests are in progress; try again later")]
    BodyMemoryFull,
    /// The `Content-Type` is not JSON.
    #[error("send the body as Content-Type: application/json")]
    ContentType,
    /// The body is compressed.
    #[error("send the body uncompressed, without Content-Encoding")]
    ContentEncoding,
}

impl JsonError {
    /// The stable error code.
    pub fn code(&self) -> &'static str {
        match self {
            JsonError::Syntax(_) => "json_invalid",
            JsonError::Shape { .. } | JsonError::MissingFields { .. } => "invalid",
            JsonError::TooLarge { .. } => "payload_too_large",
            JsonError::Incomplete => "body_broken",
            JsonError::TimedOut => "request_timeout",
            JsonError::BodyMemoryFull => "too_many_bodies",
            JsonError::ContentType | JsonError::ContentEncoding => "unsupported_media_type",
        }
    }

    /// The status code of the response.
    pub fn status(&self) -> StatusCode {
        match self {
            JsonError::Syntax(_) | JsonError::Incomplete => StatusCode::BAD_REQUEST,
            JsonError::TimedOut => StatusCode::REQUEST_TIMEOUT,
            JsonError::BodyMemoryFull => StatusCode::SERVICE_UNAVAILABLE,
            JsonError::Shape { .. } | JsonError::MissingFields { .. } => StatusCode::UNPROCESSABLE_ENTITY,
            JsonError::TooLarge { .. } => StatusCode::PAYLOAD_TOO_LARGE,
            JsonError::ContentType | JsonError::ContentEncoding => StatusCode::UNSUPPORTED_MEDIA_TYPE,
        }
    }

    /// The wrong values and absent fields, each as its JSON pointer and what is wrong with it.
    pub fn positions(&self) -> Vec<(&str, String)> {
        match self {
            JsonError::Shape { pointer, message } => vec![(pointer, message.clone())],
            JsonError::MissingFields { pointers } => pointers
                .iter()
                .map(|pointer| (pointer.as_str(), format!("{} is missing", field_name(pointer))))
                .collect(),
            _ => Vec::new(),
        }
    }
}

/// The name of the field at a pointer, without the objects around it.
fn field_name(pointer: &str) -> String {
    pointer.rsplit('/').next().unwrap_or_default().replace("~1", "/").replace("~0", "~")
}

fn missing_text(pointers: &[String]) -> String {
    let names: Vec<_> = pointers.iter().map(|pointer| field_name(pointer)).collect();
    format!("{} {} missing", names.join(", "), if names.len() == 1 { "is" } else { "are" })
}

/// Accepts `application/json`, `application/…+json` or no content type, and no compression.
pub fn check_content_type(headers: &HeaderMap) -> Result<(), JsonError> {
    check_content_encoding(headers)?;
    let Some(value) = headers.get(CONTENT_TYPE) else { return Ok(()) };
    // The value that nearly all clients send.
    if value == "application/json" {
        return Ok(());
    }
    let kind = value.to_str().unwrap_or_default().split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    let is_json = kind == "application/json" || kind.starts_with("application/") && kind.ends_with("+json");
    is_json.then_some(()).ok_or(JsonError::ContentType)
}

/// Accepts `identity` or no content encoding.
pub fn check_content_encoding(headers: &HeaderMap) -> Result<(), JsonError> {
    let is_plain = |value: &HeaderValue| value.as_bytes().trim_ascii().eq_ignore_ascii_case(b"identity");
    headers.get_all(CONTENT_ENCODING).iter().all(is_plain).then_some(()).ok_or(JsonError::ContentEncoding)
}

/// Reads the whole body, up to [`BODY_BYTES_MAX`].
pub async fn read(body: Body) -> Result<Bytes, JsonError> {
    read_up_to(body, BODY_BYTES_MAX).await
}

/// Reads the whole body, up to a limit. `BodyMemoryFull` when [`crate::body_memory`] has no room for it; it counts
/// there until it is dropped.
pub async fn read_up_to(body: Body, bytes_max: usize) -> Result<Bytes, JsonError> {
    within_time(read_within(&BODY_MEMORY, body, bytes_max)).await
}

/// The result of reading a body, which has to arrive within 30 seconds.
pub(crate) async fn within_time(reading: impl Future<Output = Result<Bytes, JsonError>>) -> Result<Bytes, JsonError> {
    tokio::time::timeout(BODY_TIME_MAX, reading).await.unwrap_or(Err(JsonError::TimedOut))
}

pub(crate) async fn read_within(
    bodies: &'static BodyMemory,
    mut body: Body,
    bytes_max: usize,
) -> Result<Bytes, JsonError> {
    // Reject a body with a too large declared length before reading it.
    if body.size_hint().lower() > bytes_max as u64 {
        return Err(JsonError::TooLarge { bytes_max });
    }
    let (mut part, mut first, mut read) = (bodies.reserve(), Bytes::new(), BytesMut::new());
    while !body.is_end_stream()
        && let Some(frame) = body.frame().await
    {
        let Ok(data) = frame.map_err(|_| JsonError::Incomplete)?.into_data() else { continue };
        let bytes = first.len() + read.len() + data.len();
        if bytes > bytes_max {
            return Err(JsonError::TooLarge { bytes_max });
        }
        part.grow_to(bytes).map_err(|_| JsonError::BodyMemoryFull)?;
        // Most bodies arrive in one frame, which is not copied.
        if bytes == data.len() {
            first = data;
        } else {
            read.extend_from_slice(&std::mem::take(&mut first));
            read.extend_from_slice(&data);
        }
    }
    Ok(part.attach_to(if read.is_empty() { first } else { read.freeze() }))
}

/// Parses a body, which must be an object; an empty body counts as `{}`. The result may borrow from the body.
pub fn parse<'de, T: Deserialize<'de> + ToSchema>(bytes: &'de [u8]) -> Result<T, JsonError> {
    let bytes = if bytes.is_empty() { b"{}" } else { bytes };
    // serde would accept an array as the fields of an object in their order.
    if bytes.trim_ascii_start().first() == Some(&b'[') {
        return Err(JsonError::Shape { pointer: String::new(), message: "must be an object, not a list".to_owned() });
    }
    // Tracking the position costs more than parsing, so the position is determined only after an error.
    serde_json::from_slice(bytes).or_else(|_| parse_with_pointer(bytes))
}

fn parse_with_pointer<'de, T: Deserialize<'de> + ToSchema>(bytes: &'de [u8]) -> Result<T, JsonError> {
    let mut deserializer = serde_json::Deserializer::from_slice(bytes);
    let value = serde_path_to_error::deserialize(&mut deserializer).map_err(|error| {
        let path = error.path().clone();
        let source = error.into_inner();
        let message = source.to_string();
        // serde_json reports a value that is not a string, in place of an enum variant, as a syntax error.
        let is_wrong_variant =
            message.starts_with("expected value") && serde_json::from_slice::<IgnoredAny>(bytes).is_ok();
        if is_wrong_variant {
            return JsonError::Shape { pointer: pointer(&path), message: "invalid type: expected a string".to_owned() };
        }
        if source.is_data() {
            // Remove the line and column, because the pointer gives the position.
            let message = message.rsplit_once(" at line ").map_or(message.as_str(), |(message, _)| message).to_owned();
            let pointer = pointer(&path);
            if let Some(field) = missing_field(&message) {
                return JsonError::MissingFields { pointers: missing_fields::all::<T>(bytes, &pointer, field) };
            }
            // Don't show the name of the Rust type that was expected.
            let is_no_object = pointer.is_empty() && message.starts_with("invalid type");
            JsonError::Shape { message: if is_no_object { "must be an object".to_owned() } else { message }, pointer }
        } else {
            JsonError::Syntax(message)
        }
    })?;
    deserializer.end().map_err(|error| JsonError::Syntax(error.to_string()))?;
    Ok(value)
}

fn pointer(path: &serde_path_to_error::Path) -> String {
    let mut pointer = String::new();
    for segment in path {
        pointer.push('/');
        match segment {
            Segment::Seq { index } => pointer.push_str(&index.to_string()),
            Segment::Map { key } => pointer.push_str(&key.replace('~', "~0").replace('/', "~1")),
            Segment::Enum { variant } => pointer.push_str(variant),
            Segment::Unknown => pointer.push('?'),
        }
    }
    pointer
}

/// The field that serde found to be absent.
fn missing_field(message: &str) -> Option<&str> {
    message.strip_prefix("missing field `").and_then(|rest| rest.strip_suffix('`'))
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;

    #[derive(Debug, Deserialize, ToSchema)]
    #[serde(deny_unknown_fields)]
    struct Order {
        #[expect(dead_code, reason = "read to be checked")]
        lines: Vec<Line>,
    }

    #[derive(Debug, Deserialize, ToSchema)]
    #[serde(deny_unknown_fields)]
    struct Line {
        #[expect(dead_code, reason = "read to be checked")]
        amount: i64,
        #[expect(dead_code, reason = "read to be checked")]
        kind: Option<Kind>,
    }

    #[derive(Debug, Deserialize, ToSchema)]
    enum Kind {
        Fee,
    }

    #[test]
    fn an_error_has_a_code_and_a_pointer() {
        let check = |text: &str, code: &str, pointer: Option<&str>| {
            let error = parse::<Order>(text.as_bytes()).unwrap_err();
            let positions = error.positions();
            assert_eq!(
                (error.code(), positions.first().map(|(pointer, _)| *pointer)),
                (code, pointer),
                "{text}: {error}"
            );
        };
        check(r#"{"lines":[{"amount":1},{"amount":1.5}]}"#, "invalid", Some("/lines/1/amount"));
        check(r#"{"lines":[{"amount":1,"tip":2}]}"#, "invalid", Some("/lines/0/tip"));
        for kind in ["5", "false", "[]", "[\"Fee\"]", "\"Tip\""] {
            check(&format!(r#"{{"lines":[{{"amount":1,"kind":{kind}}}]}}"#), "invalid", Some("/lines/0/kind"));
        }
        check(r#"{"lines":[{"amount":1,"kind":}]}"#, "json_invalid", None);
        check(r#"{}"#, "invalid", Some("/lines"));
        check(r#"{"lines":[{"amount":1},{}]}"#, "invalid", Some("/lines/1/amount"));
        check(" [[]]", "invalid", Some(""));
        for (text, words) in
            [("[]", "must be an object, not a list"), ("\"x\"", "must be an object"), ("7", "must be an object")]
        {
            let error = parse::<Order>(text.as_bytes()).unwrap_err();
            assert!(error.to_string().ends_with(words), "{text}: {error}");
        }
        check("", "invalid", Some("/lines"));
        check(r#"{"lines":["#, "json_invalid", None);
        check(r#"{"lines":[]} {}"#, "json_invalid", None);
        let deep = format!("{{\"lines\":{}{}}}", "[".repeat(500), "]".repeat(500));
        assert!(parse::<Order>(deep.as_bytes()).is_err());
        assert!(parse::<Order>(br#"{"lines":[{"amount":1}]}"#).is_ok());
    }

    #[test]
    fn only_json_content_types_are_accepted() {
        let check =
            |kind: &str| check_content_type(&HeaderMap::from_iter([(CONTENT_TYPE, kind.parse().unwrap())])).is_ok();
        assert!(check_content_type(&HeaderMap::new()).is_ok());
        for (kind, is_json) in [
            ("application/json", true),
            ("Application/JSON; charset=utf-8", true),
            ("application/merge-patch+json", true),
            ("text/json", false),
            ("text/csv", false),
        ] {
            assert_eq!(check(kind), is_json, "{kind}");
        }
    }

    /// Incomplete bodies count against the limit and block other large bodies, but not small ones. When they are
    /// dropped, there is room again.
    #[tokio::test]
    async fn the_memory_of_large_bodies_is_limited_and_small_bodies_still_succeed() {
        use std::sync::atomic::AtomicUsize;
        use std::task::Poll;

        static SENT: AtomicUsize = AtomicUsize::new(0);
        static FEW: BodyMemory = BodyMemory::new(3 * LARGE, crate::body_memory::UNCOUNTED_BYTES);
        const LARGE: usize = 100 * 1024;
        let stopped = |sent: &'static AtomicUsize| {
            let mut data = Some(Bytes::from(vec![b' '; LARGE]));
            Body::from_stream(futures_util::stream::poll_fn(move |_| match data.take() {
                Some(data) => Poll::Ready(Some(Ok::<_, std::io::Error>(data))),
                None => {
                    sent.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
                    Poll::Pending
                }
            }))
        };
        let waiting: Vec<_> = (0..3).map(|_| tokio::spawn(read_within(&FEW, stopped(&SENT), BODY_BYTES_MAX))).collect();
        while SENT.load(std::sync::atomic::Ordering::SeqCst) < 3 {
            tokio::task::yield_now().await;
        }
        let large = || Body::from(vec![b' '; LARGE]);
        let error = read_within(&FEW, large(), BODY_BYTES_MAX).await.unwrap_err();
        assert_eq!((error.code(), error.status()), ("too_many_bodies", StatusCode::SERVICE_UNAVAILABLE));
        assert_eq!(read_within(&FEW, Body::from("{}"), BODY_BYTES_MAX).await.unwrap(), "{}");
        for reading in waiting {
            reading.abort();
            assert!(reading.await.unwrap_err().is_cancelled());
        }
        let read: Vec<_> =
            futures_util::future::join_all((0..3).map(|_| read_within(&FEW, large(), BODY_BYTES_MAX))).await;
        assert!(read.iter().all(|body| body.as_ref().is_ok_and(|body| body.len() == LARGE)));
        assert!(
            read_within(&FEW, large(), BODY_BYTES_MAX).await.is_err(),
            "a complete body counts until it is dropped"
        );
        drop(read);
        assert!(read_within(&FEW, large(), BODY_BYTES_MAX).await.is_ok());
    }

    #[tokio::test]
    async fn a_body_over_the_limit_is_rejected() {
        let error = read_up_to(Body::from("12345"), 4).await.unwrap_err();
        assert_eq!(error.code(), "payload_too_large");
        assert_eq!(read_up_to(Body::from("1234"), 4).await.unwrap(), "1234");
    }

    #[tokio::test(start_paused = true)]
    async fn reading_a_body_that_does_not_arrive_times_out() {
        let (_sender, body) = http_body_util::channel::Channel::<Bytes>::new(1);
        assert_eq!(read(Body::new(body)).await.unwrap_err().code(), "request_timeout");
    }
}
