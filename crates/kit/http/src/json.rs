//! JSON bodies: those of answers, and reading those of requests: size, time, kind, and where a mistake is.

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

use crate::body_memory::{BODY_MEMORY, BodyMemory};

/// Bytes of a JSON body.
pub const BODY_BYTES_MAX: usize = 1024 * 1024;
/// Room for an answer's text at first: most take less.
const TEXT_BYTES: usize = 1024;
/// How long a body may take to arrive, so that a slow sender holds a connection for so long at most.
const BODY_TIME_MAX: Duration = Duration::from_secs(30);

/// A view as JSON text. Our own views have no keys or numbers that JSON can't hold.
pub fn text(view: &impl Serialize) -> String {
    let mut text = Vec::with_capacity(TEXT_BYTES);
    if serde_json::to_writer(&mut text, view).is_err() {
        text.clear();
    }
    String::from_utf8(text).unwrap_or_default()
}

/// An answer with this JSON text.
pub fn response(status: StatusCode, text: impl Into<Body>) -> Response {
    let mut response = Response::new(text.into());
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}

/// Why a body can't be used.
#[derive(Debug, thiserror::Error)]
pub enum JsonError {
    /// It is no JSON at all.
    #[error("the body is no valid JSON: {0}")]
    Syntax(String),
    /// It is JSON of another shape.
    #[error("{message}")]
    Shape {
        /// JSON pointer of the place.
        pointer: String,
        /// What is wrong there.
        message: String,
    },
    /// It is too large.
    #[error("the body is larger than {bytes_max} bytes")]
    TooLarge {
        /// The limit.
        bytes_max: usize,
    },
    /// It did not arrive whole.
    #[error("the body did not arrive whole")]
    Incomplete,
    /// It did not arrive in time.
    #[error("the body did not arrive within {} seconds", BODY_TIME_MAX.as_secs())]
    TimedOut,
    /// Too much of other bodies is in memory at the moment.
    #[error("too many large requests are under way at the moment; try again")]
    BodyMemoryFull,
    /// It is not said to be JSON.
    #[error("send the body as Content-Type: application/json")]
    ContentType,
    /// It is compressed.
    #[error("send the body as it is, without Content-Encoding")]
    ContentEncoding,
}

impl JsonError {
    /// Stable word.
    pub fn code(&self) -> &'static str {
        match self {
            JsonError::Syntax(_) => "json_invalid",
            JsonError::Shape { .. } => "invalid",
            JsonError::TooLarge { .. } => "payload_too_large",
            JsonError::Incomplete => "body_broken",
            JsonError::TimedOut => "request_timeout",
            JsonError::BodyMemoryFull => "too_many_bodies",
            JsonError::ContentType | JsonError::ContentEncoding => "unsupported_media_type",
        }
    }

    /// Status code to answer with.
    pub fn status(&self) -> StatusCode {
        match self {
            JsonError::Syntax(_) | JsonError::Incomplete => StatusCode::BAD_REQUEST,
            JsonError::TimedOut => StatusCode::REQUEST_TIMEOUT,
            JsonError::BodyMemoryFull => StatusCode::SERVICE_UNAVAILABLE,
            JsonError::Shape { .. } => StatusCode::UNPROCESSABLE_ENTITY,
            JsonError::TooLarge { .. } => StatusCode::PAYLOAD_TOO_LARGE,
            JsonError::ContentType | JsonError::ContentEncoding => StatusCode::UNSUPPORTED_MEDIA_TYPE,
        }
    }

    /// JSON pointer of the mistake, when it has a place.
    pub fn pointer(&self) -> Option<&str> {
        match self {
            JsonError::Shape { pointer, .. } => Some(pointer),
            _ => None,
        }
    }
}

/// `application/json`, `application/…+json`, or nothing said; and as it is.
pub fn check_content_type(headers: &HeaderMap) -> Result<(), JsonError> {
    check_content_encoding(headers)?;
    let Some(value) = headers.get(CONTENT_TYPE) else { return Ok(()) };
    // As nearly all clients write it.
    if value == "application/json" {
        return Ok(());
    }
    let kind = value.to_str().unwrap_or_default().split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    let is_json = kind == "application/json" || kind.starts_with("application/") && kind.ends_with("+json");
    is_json.then_some(()).ok_or(JsonError::ContentType)
}

/// Nothing here is compressed; `identity`, or nothing said.
pub fn check_content_encoding(headers: &HeaderMap) -> Result<(), JsonError> {
    let is_plain = |value: &HeaderValue| value.as_bytes().trim_ascii().eq_ignore_ascii_case(b"identity");
    headers.get_all(CONTENT_ENCODING).iter().all(is_plain).then_some(()).ok_or(JsonError::ContentEncoding)
}

/// The whole body, up to [`BODY_BYTES_MAX`].
pub async fn read(body: Body) -> Result<Bytes, JsonError> {
    read_up_to(body, BODY_BYTES_MAX).await
}

/// The whole body, up to a limit; `BodyMemoryFull` when the bodies in memory leave no room for it. It counts as one of them until it is dropped.
pub async fn read_up_to(body: Body, bytes_max: usize) -> Result<Bytes, JsonError> {
    match tokio::time::timeout(BODY_TIME_MAX, read_within(&BODY_MEMORY, body, bytes_max)).await {
        Ok(read) => read,
        Err(_) => Err(JsonError::TimedOut),
    }
}

async fn read_within(bodies: &'static BodyMemory, mut body: Body, bytes_max: usize) -> Result<Bytes, JsonError> {
    // A length that is declared too large is refused before anything is read.
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
        // Most bodies come in one piece, which is not copied.
        if bytes == data.len() {
            first = data;
        } else {
            read.extend_from_slice(&std::mem::take(&mut first));
            read.extend_from_slice(&data);
        }
    }
    Ok(part.attach_to(if read.is_empty() { first } else { read.freeze() }))
}

/// Parses a body, which is an object; an empty one counts as `{}`. What it gives may borrow from the body.
pub fn parse<'de, T: Deserialize<'de>>(bytes: &'de [u8]) -> Result<T, JsonError> {
    let bytes = if bytes.is_empty() { b"{}" } else { bytes };
    // A list would be taken for the values of an object's fields, in their order.
    if bytes.trim_ascii_start().first() == Some(&b'[') {
        return Err(JsonError::Shape { pointer: String::new(), message: "must be an object, not a list".to_owned() });
    }
    // Keeping track of the place costs more than the parsing, so it is looked for only when there is a mistake.
    serde_json::from_slice(bytes).or_else(|_| parse_with_pointer(bytes))
}

fn parse_with_pointer<'de, T: Deserialize<'de>>(bytes: &'de [u8]) -> Result<T, JsonError> {
    let mut deserializer = serde_json::Deserializer::from_slice(bytes);
    let value = serde_path_to_error::deserialize(&mut deserializer).map_err(|error| {
        let path = error.path().clone();
        let source = error.into_inner();
        let message = source.to_string();
        // A word out of a list that is no text counts as a fault of the syntax there, and is none.
        let is_no_word = message.starts_with("expected value") && serde_json::from_slice::<IgnoredAny>(bytes).is_ok();
        if is_no_word {
            return JsonError::Shape { pointer: pointer(&path), message: "invalid type: expected a string".to_owned() };
        }
        if source.is_data() {
            // serde_json adds where in the text it was; the pointer says it better.
            let message = message.rsplit_once(" at line ").map_or(message.as_str(), |(message, _)| message).to_owned();
            let pointer = format!("{}{}", pointer(&path), missing_field_pointer(&message));
            // What was expected has a name that is nobody's business.
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

/// A field that is not there has no place of its own in what was read: below its object, where it belongs.
fn missing_field_pointer(message: &str) -> String {
    let field = message.strip_prefix("missing field `").and_then(|rest| rest.strip_suffix('`'));
    field.map(|field| format!("/{field}")).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Order {
        #[expect(dead_code, reason = "read to be checked")]
        lines: Vec<Line>,
    }

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Line {
        #[expect(dead_code, reason = "read to be checked")]
        amount: i64,
        #[expect(dead_code, reason = "read to be checked")]
        kind: Option<Kind>,
    }

    #[derive(Debug, Deserialize)]
    enum Kind {
        Fee,
    }

    #[test]
    fn a_mistake_is_named_with_its_place() {
        let check = |text: &str, code: &str, pointer: Option<&str>| {
            let error = parse::<Order>(text.as_bytes()).unwrap_err();
            assert_eq!((error.code(), error.pointer()), (code, pointer), "{text}: {error}");
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
    fn only_what_is_said_to_be_json_is_read() {
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

    /// Bodies that stop before their end keep others from being read beyond the limit, and no small one; when they are given up
    /// there is room again.
    #[tokio::test]
    async fn large_bodies_in_memory_are_bounded_together_and_small_ones_go_on() {
        use std::sync::atomic::AtomicUsize;
        use std::task::Poll;

        static SENT: AtomicUsize = AtomicUsize::new(0);
        static FEW: BodyMemory = BodyMemory::new(3 * LARGE);
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
            "what has come is there until it is answered"
        );
        drop(read);
        assert!(read_within(&FEW, large(), BODY_BYTES_MAX).await.is_ok());
    }

    #[tokio::test]
    async fn a_body_over_the_limit_is_refused() {
        let error = read_up_to(Body::from("12345"), 4).await.unwrap_err();
        assert_eq!(error.code(), "payload_too_large");
        assert_eq!(read_up_to(Body::from("1234"), 4).await.unwrap(), "1234");
    }

    #[tokio::test(start_paused = true)]
    async fn a_body_that_does_not_arrive_is_not_waited_for() {
        let (_sender, body) = http_body_util::channel::Channel::<Bytes>::new(1);
        assert_eq!(read(Body::new(body)).await.unwrap_err().code(), "request_timeout");
    }
}
