//! A message's payload: a JSON object, or a text in its place, kept as the sender wrote it, byte for byte.

use bytes::Bytes;
use serde_json::value::RawValue;

use crate::error::ProviderError;

/// Bytes of a payload at most.
pub const PAYLOAD_BYTES_MAX: usize = 2 * 1_024 * 1_024;

/// A JSON object as text, as a rule. The text is the body of every delivery.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Payload(Bytes);

impl Payload {
    /// Takes a JSON value that a parser has passed over. 422 when it is not an object, 413 when it is too large.
    pub fn from_raw(raw: Box<RawValue>) -> Result<Self, ProviderError> {
        check(raw.get())?;
        Ok(Self(Bytes::from(Box::<str>::from(raw).into_string())))
    }

    /// The same without a copy, when the value was parsed out of `body`, which it then keeps in memory.
    pub fn within(body: &Bytes, raw: &RawValue) -> Result<Self, ProviderError> {
        check(raw.get())?;
        let (whole, part) = (body.as_ptr_range(), raw.get().as_bytes().as_ptr_range());
        let inside = whole.start <= part.start && part.end <= whole.end;
        let bytes =
            if inside { body.slice_ref(raw.get().as_bytes()) } else { Bytes::copy_from_slice(raw.get().as_bytes()) };
        Ok(Self(bytes))
    }

    /// Any text: what a sender asks to be delivered in place of an object. 413 when it is too large.
    pub fn from_text(text: String) -> Result<Self, ProviderError> {
        if text.len() > PAYLOAD_BYTES_MAX {
            return Err(ProviderError::TooLarge);
        }
        Ok(Self(Bytes::from(text)))
    }

    /// The text.
    pub fn as_bytes(&self) -> &Bytes {
        &self.0
    }

    pub(crate) fn into_bytes(self) -> Bytes {
        self.0
    }
}

fn check(text: &str) -> Result<(), ProviderError> {
    if !text.starts_with('{') {
        return Err(ProviderError::invalid("payload", "must be an object"));
    }
    if text.len() > PAYLOAD_BYTES_MAX {
        return Err(ProviderError::TooLarge);
    }
    Ok(())
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
}
