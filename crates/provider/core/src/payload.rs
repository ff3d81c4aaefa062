//! A message's payload: a JSON object or another text, stored as the sender wrote it, byte for byte.

pub mod media_type;

use bytes::Bytes;
use serde_json::value::RawValue;

use crate::error::ProviderError;
use crate::model::stored_payload::PART_BYTES_MIN;
use crate::payload::media_type::MediaType;

pub use crate::model::stored_payload::StoredPayload;

/// Maximum size of a payload in bytes.
pub const PAYLOAD_BYTES_MAX: usize = 2 * 1_024 * 1_024;
/// Maximum nesting depth of a payload. Common parsers stop at 128 levels, and a list of messages adds several levels.
pub const PAYLOAD_DEPTH_MAX: usize = 120;

/// A payload: usually the text of a JSON object. The text is the body of every delivery.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Payload {
    text: Bytes,
    /// None for `application/json`.
    media_type: Option<MediaType>,
}

impl Payload {
    /// Takes the raw text of a JSON value. 422 when it is not an object or too deeply nested, 413 when it is too large.
    pub fn from_raw(raw: Box<RawValue>) -> Result<Self, ProviderError> {
        check(raw.get())?;
        Ok(Self::of(Bytes::from(Box::<str>::from(raw).into_string())))
    }

    /// Parses a JSON object that a person entered. 422 when it is not a JSON object, 413 when it is too large.
    pub fn parse(text: &str) -> Result<Self, ProviderError> {
        let raw = serde_json::from_str::<Box<RawValue>>(text);
        Self::from_raw(raw.map_err(|error| ProviderError::invalid("payload", format!("must be JSON: {error}")))?)
    }

    /// Takes the raw text of a JSON value in `body`. A large value that is most of the body is not copied.
    pub fn within(body: &Bytes, raw: &RawValue) -> Result<Self, ProviderError> {
        check(raw.get())?;
        let text = raw.get().as_bytes();
        let (whole, part) = (body.as_ptr_range(), text.as_ptr_range());
        let is_inside = whole.start <= part.start && part.end <= whole.end;
        let is_most = text.len() >= PART_BYTES_MIN.max(body.len() / 2);
        Ok(Self::of(if is_inside && is_most { body.slice_ref(text) } else { Bytes::copy_from_slice(text) }))
    }

    /// Takes any text, for a sender who does not send a JSON object. 413 when it is too large.
    pub fn from_text(text: String) -> Result<Self, ProviderError> {
        if text.len() > PAYLOAD_BYTES_MAX {
            return Err(ProviderError::TooLarge);
        }
        Ok(Self::of(Bytes::from(text)))
    }

    /// Sets the media type of the deliveries.
    #[must_use]
    pub fn with_media_type(self, media_type: MediaType) -> Self {
        Self { media_type: Some(media_type).filter(|media_type| !media_type.is_json()), ..self }
    }

    /// The text.
    pub fn as_bytes(&self) -> &Bytes {
        &self.text
    }

    fn of(text: Bytes) -> Self {
        Self { text, media_type: None }
    }
}

impl From<Payload> for StoredPayload {
    fn from(Payload { text, media_type }: Payload) -> Self {
        match media_type {
            Some(media_type) => Self::with_media_type(media_type.as_str(), &text),
            None => Self::from(text),
        }
    }
}

fn check(text: &str) -> Result<(), ProviderError> {
    if !text.starts_with('{') {
        return Err(ProviderError::invalid("payload", "must be an object"));
    }
    if text.len() > PAYLOAD_BYTES_MAX {
        return Err(ProviderError::TooLarge);
    }
    if is_deeper_than(text.as_bytes(), PAYLOAD_DEPTH_MAX) {
        let msg = format!("must not have more than {PAYLOAD_DEPTH_MAX} objects and lists within each other");
        return Err(ProviderError::invalid("payload", msg));
    }
    Ok(())
}

/// Whether valid JSON is nested deeper than `depth_max` objects and arrays.
fn is_deeper_than(json: &[u8], depth_max: usize) -> bool {
    // Most payloads have at most `depth_max` opening brackets in total, and counting those is fast.
    let openings = |part: &[u8]| part.iter().map(|byte| u8::from(matches!(byte, b'{' | b'['))).sum::<u8>();
    if json.chunks(255).map(|part| usize::from(openings(part))).sum::<usize>() <= depth_max {
        return false;
    }
    let (mut depth, mut in_text, mut escaped) = (0_usize, false, false);
    for byte in json {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = in_text,
            b'"' => in_text = !in_text,
            b'{' | b'[' if !in_text => depth += 1,
            b'}' | b']' if !in_text => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth > depth_max {
            return true;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_object_is_kept_as_it_was_written() {
        let written = "{ \"b\" : 1.0, \"a\":\"\\u00e9\",\n\"b\":2}";
        let raw = serde_json::from_str::<Box<RawValue>>(written).unwrap();
        assert_eq!(Payload::from_raw(raw).unwrap().as_bytes(), written);
        let body = Bytes::from(format!("{{\"payload\": {written}}}"));
        #[derive(serde::Deserialize)]
        struct Body<'a> {
            #[serde(borrow)]
            payload: &'a RawValue,
        }
        let parsed: Body<'_> = serde_json::from_slice(&body).unwrap();
        assert_eq!(Payload::within(&body, parsed.payload).unwrap().as_bytes(), written);
    }

    #[test]
    fn a_small_payload_does_not_keep_its_request_in_memory() {
        for (bytes, beside, is_part) in [
            (500, 0, false),
            (500, 1_000_000, false),
            (PART_BYTES_MIN, 0, true),
            (PART_BYTES_MIN, PART_BYTES_MIN + 100, false),
            (PAYLOAD_BYTES_MAX - 10, 60_000, true),
        ] {
            let written = format!("{{\"a\":\"{}\"}}", "x".repeat(bytes));
            let body = Bytes::from(format!("{written}{}", " ".repeat(beside)));
            let raw: &RawValue = serde_json::from_slice(&body).unwrap();
            let payload = Payload::within(&body, raw).unwrap();
            assert_eq!(payload.as_bytes(), &written);
            assert_eq!(body.as_ptr_range().contains(&payload.as_bytes().as_ptr()), is_part, "{bytes} of {beside} more");
        }
    }

    #[test]
    fn anything_but_an_object_is_refused() {
        for written in ["1", "null", "[{}]", "\"{}\"", "true"] {
            let raw = serde_json::from_str::<Box<RawValue>>(written).unwrap();
            assert!(matches!(Payload::from_raw(raw), Err(ProviderError::Validation(_))), "{written}");
        }
    }

    #[test]
    fn a_payload_over_the_limit_is_too_large() {
        let written = format!("{{\"a\":\"{}\"}}", "x".repeat(PAYLOAD_BYTES_MAX));
        let raw = serde_json::from_str::<Box<RawValue>>(&written).unwrap();
        assert!(matches!(Payload::from_raw(raw), Err(ProviderError::TooLarge)));
    }

    #[test]
    fn a_payload_nested_deeper_than_parsers_read_is_rejected() {
        let nested = |depth: usize| ["{\"a\":".repeat(depth - 1), "{}".into(), "}".repeat(depth - 1)].concat();
        let take = |text: String| Payload::from_raw(serde_json::from_str::<Box<RawValue>>(&text).unwrap());
        take(nested(PAYLOAD_DEPTH_MAX)).unwrap();
        for text in [nested(PAYLOAD_DEPTH_MAX + 1), format!("{{\"a\":{}{}}}", "[".repeat(100_000), "]".repeat(100_000))]
        {
            assert!(matches!(take(text), Err(ProviderError::Validation(_))));
        }
        // Many brackets side by side, and brackets in strings.
        for text in [
            format!("{{\"a\":[{}{{}}]}}", "{\"b\":[]},".repeat(1_000)),
            format!("{{\"a\":\"{}\"}}", "[{".repeat(1_000)),
            format!("{{\"a\":\"\\\"{}\\\\\"}}", "[".repeat(1_000)),
        ] {
            take(text).unwrap();
        }
    }
}
