//! The form of a payload in the store and in memory: its text. If the sender set a media type, a mark, the length of
//! the media type and the media type precede the text.
//!
//! Few messages have a media type; for the others, the check costs one comparison. UTF-8 text can't begin with the
//! mark.

use bytes::{BufMut as _, Bytes, BytesMut};
use http::HeaderValue;

/// A payload of at least this size and of half its request shares the memory of the request until the response. Smaller
/// payloads are copied, because the request may be many times larger.
pub(crate) const PART_BYTES_MIN: usize = 64 * 1_024;
/// First byte of a payload with a media type. This byte does not occur in UTF-8.
const MARK: u8 = 0xFF;

/// A payload in its stored form. Cheap to clone.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct StoredPayload(Bytes);

impl StoredPayload {
    /// A text with the media type that the sender set.
    pub(crate) fn with_media_type(media_type: &str, text: &[u8]) -> Self {
        let mut stored = BytesMut::with_capacity(2 + media_type.len() + text.len());
        stored.put_u8(MARK);
        // A media type has at most 255 characters.
        stored.put_u8(u8::try_from(media_type.len()).unwrap_or(u8::MAX));
        stored.put(media_type.as_bytes());
        stored.put(text);
        Self(stored.freeze())
    }

    /// The stored bytes.
    pub fn as_stored(&self) -> &[u8] {
        &self.0
    }

    /// Number of stored bytes.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether both text and media type are empty.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The body of the deliveries.
    pub fn text(&self) -> &[u8] {
        Self::text_of(&self.0)
    }

    /// The body of the deliveries, of a payload in these stored bytes.
    pub fn text_of(stored: &[u8]) -> &[u8] {
        split(stored).map_or(stored, |(_, text)| text)
    }

    /// The JSON in these stored bytes; none for a text of another media type.
    pub fn json_of(stored: &[u8]) -> Option<&[u8]> {
        split(stored).is_none().then_some(stored)
    }

    /// The media type that the sender set; none for `application/json`.
    pub fn media_type(&self) -> Option<&str> {
        split(&self.0).and_then(|(media_type, _)| std::str::from_utf8(media_type).ok())
    }

    /// Copies a large payload into separate memory. Otherwise it may keep its whole request in memory.
    pub(crate) fn detach(self) -> Self {
        if self.len() < PART_BYTES_MIN { self } else { Self(Bytes::copy_from_slice(&self.0)) }
    }

    /// The `Content-Type` of the deliveries (none for the default) and their body.
    pub(crate) fn into_parts(self) -> (Option<HeaderValue>, Bytes) {
        let Some((media_type, text)) = split(&self.0) else { return (None, self.0) };
        (HeaderValue::from_bytes(media_type).ok(), self.0.slice_ref(text))
    }
}

/// The media type and the text of stored bytes; none without a media type.
fn split(stored: &[u8]) -> Option<(&[u8], &[u8])> {
    match stored.first() {
        Some(&MARK) => {
            let (length, rest) = stored[1..].split_first()?;
            rest.split_at_checked(usize::from(*length))
        }
        _ => None,
    }
}

/// Reads stored bytes, or a text without a media type.
impl<T: Into<Bytes>> From<T> for StoredPayload {
    fn from(stored: T) -> Self {
        Self(stored.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::payload::Payload;
    use crate::payload::media_type::{MEDIA_TYPE_CHARS_MAX, MediaType};

    fn stored(text: &str, media_type: &str) -> StoredPayload {
        Payload::from_text(text.to_owned()).unwrap().with_media_type(MediaType::parse(media_type).unwrap()).into()
    }

    #[test]
    fn a_text_is_stored_unchanged_and_a_media_type_is_read_back() {
        let plain = stored("{\"a\":1}", "Application/JSON");
        assert_eq!((plain.as_stored(), plain.media_type()), (&b"{\"a\":1}"[..], None));
        for media_type in
            ["text/xml", "text/plain; charset=\"utf-8\"", &format!("a/{}", "b".repeat(MEDIA_TYPE_CHARS_MAX - 2))]
        {
            for text in ["", "<größe/>", "{}"] {
                let kept = StoredPayload::from(stored(text, media_type).as_stored().to_vec());
                assert_eq!((kept.media_type(), kept.text()), (Some(media_type), text.as_bytes()));
                let (header, body) = kept.into_parts();
                assert_eq!((header.unwrap().to_str().unwrap(), &*body), (media_type, text.as_bytes()));
            }
        }
    }

    #[test]
    fn a_large_payload_is_copied_out_of_its_request() {
        let request = Bytes::from(vec![b'x'; PART_BYTES_MIN + 10]);
        let payload = StoredPayload::from(request.slice(10..));
        let apart = payload.clone().detach();
        assert_eq!(apart, payload);
        assert!(!request.as_ptr_range().contains(&apart.as_stored().as_ptr()));
    }

    #[test]
    fn truncated_stored_bytes_are_a_text() {
        for bytes in [&[MARK][..], &[MARK, 3, b'a', b'/'], &[MARK, MARK]] {
            let kept = StoredPayload::from(bytes.to_vec());
            assert_eq!((kept.media_type(), kept.text()), (None, bytes));
            assert_eq!(kept.into_parts(), (None, Bytes::copy_from_slice(bytes)));
        }
    }
}
