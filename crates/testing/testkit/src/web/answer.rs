//! A response that was read to its end, and assertions on it.

use std::fmt;
use std::ops::Deref;

use axum::response::Response;
use http::HeaderMap;
use http::header::{CONTENT_TYPE, LOCATION};
use http_body_util::BodyExt as _;
use serde_json::Value;

/// A response with its whole body.
#[derive(Clone, Debug)]
pub struct Answer {
    /// Status code.
    pub status: u16,
    /// Header fields.
    pub headers: HeaderMap,
    /// The `Location` header. In a browser's response, it is shortened by the path of the application.
    pub location: Option<String>,
    /// The body as text. A test that reads it fails if it is not UTF-8.
    pub text: BodyText,
    /// The body.
    pub bytes: Vec<u8>,
}

impl Answer {
    /// A response with this body.
    pub fn new(status: u16, headers: HeaderMap, body: &[u8]) -> Self {
        let location = headers.get(LOCATION).map(|location| location.to_str().unwrap().to_owned());
        Self { status, headers, location, text: BodyText::new(body), bytes: body.to_vec() }
    }

    /// Reads a response. A live stream does not end, so its body is left out.
    pub async fn read(response: Response) -> Self {
        let (head, body) = response.into_parts();
        let is_stream = head.headers.get(CONTENT_TYPE).is_some_and(|kind| kind == "text/event-stream");
        let bytes = if is_stream { Vec::new() } else { body.collect().await.unwrap().to_bytes().to_vec() };
        Self::new(head.status.as_u16(), head.headers, &bytes)
    }

    /// Shortens the location by the path of the application.
    pub(super) fn below(mut self, path: &str) -> Self {
        let below = self.location.as_deref().and_then(|location| location.strip_prefix(path)).map(str::to_owned);
        self.location = below.or(self.location);
        self
    }

    /// The response has this status.
    #[track_caller]
    pub fn is(&self, status: u16) -> &Self {
        assert_eq!(self.status, status, "{:?}\n{}", self.location, self.text);
        self
    }

    /// A redirect after a form.
    #[track_caller]
    pub fn leads_to(&self, location: &str) -> &Self {
        assert_eq!((self.status, self.location.as_deref()), (303, Some(location)), "{}", self.text);
        self
    }

    /// The body contains the text.
    #[track_caller]
    pub fn shows(&self, text: &str) -> &Self {
        assert!(self.text.contains(text), "{text:?} is not in:\n{}", self.text);
        self
    }

    /// The body does not contain the text.
    #[track_caller]
    pub fn hides(&self, text: &str) -> &Self {
        assert!(!self.text.contains(text), "{text:?} is in:\n{}", self.text);
        self
    }

    /// The text between two marks.
    #[track_caller]
    pub fn between(&self, before: &str, after: &str) -> String {
        let (_, rest) = self.text.split_once(before).unwrap_or_else(|| panic!("{before:?} is not in:\n{}", self.text));
        rest.split_once(after).unwrap().0.to_owned()
    }

    /// The text of the element with this id.
    #[track_caller]
    pub fn text_of(&self, id: &str) -> String {
        self.between(&format!("id=\"{id}\">"), "<").replace("&#38;", "&")
    }

    /// The first value of a header field.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(|value| value.to_str().unwrap())
    }

    /// The body, which must be JSON; null when there is none.
    #[track_caller]
    pub fn json(&self) -> Value {
        if self.text.is_empty() { Value::Null } else { serde_json::from_str(&self.text).expect(&self.text) }
    }

    /// A text field of the body.
    #[track_caller]
    pub fn field(&self, name: &str) -> String {
        self.json()[name].as_str().expect(&self.text).to_owned()
    }

    /// The code of an error; empty if the body has none.
    pub fn code(&self) -> String {
        let body: Value = serde_json::from_str(&self.text).unwrap_or_default();
        body["code"].as_str().unwrap_or_default().to_owned()
    }

    /// The response has this status and JSON body.
    #[track_caller]
    pub fn expect(&self, status: u16, body: &Value) -> &Self {
        assert_eq!((self.status, &self.json()), (status, body));
        self
    }

    /// A problem of the platform's API: its code, and the pointer of its first error.
    #[track_caller]
    pub fn refused(&self, status: u16, code: &str, pointer: &str) -> &Self {
        let body = self.json();
        let at = body["errors"][0]["pointer"].as_str().unwrap_or_default();
        assert_eq!((self.status, body["code"].as_str(), at), (status, Some(code), pointer), "{body}");
        assert_eq!(self.header("content-type"), Some("application/problem+json"));
        self
    }
}

/// The text of a body, which may be bytes of another kind, such as an image.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BodyText(Result<String, String>);

impl BodyText {
    fn new(body: &[u8]) -> Self {
        Self(
            String::from_utf8(body.to_vec())
                .map_err(|error| format!("the body of {} bytes is not UTF-8 text: {}", body.len(), error.utf8_error())),
        )
    }

    /// The text; a test fails here if the bytes are no text.
    #[track_caller]
    pub fn as_str(&self) -> &str {
        self
    }
}

impl Deref for BodyText {
    type Target = str;

    #[track_caller]
    fn deref(&self) -> &str {
        self.0.as_deref().unwrap_or_else(|error| panic!("{error}"))
    }
}

impl<T: AsRef<str>> PartialEq<T> for BodyText {
    fn eq(&self, other: &T) -> bool {
        **self == *other.as_ref()
    }
}

/// For the message of a failed test, which names a body that is no text.
impl fmt::Display for BodyText {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.0.as_deref().unwrap_or_else(|error| error))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_that_are_no_text_are_read_as_bytes() {
        let answer = Answer::new(200, HeaderMap::new(), b"\x89PNG");
        assert_eq!(answer.is(200).bytes, b"\x89PNG");
        assert!(answer.text.to_string().starts_with("the body of 4 bytes is not UTF-8 text"));
    }

    #[test]
    #[should_panic(expected = "is not UTF-8 text")]
    fn a_test_fails_that_reads_them_as_text() {
        Answer::new(200, HeaderMap::new(), b"Price: \xa3 5").shows("Price");
    }
}
