//! The `Idempotency-Key` header.

use http::{HeaderMap, HeaderName};

/// The header.
pub const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");
const CHARS_MAX: usize = 255;

/// The header is malformed or repeated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("send Idempotency-Key once, with 1 to 255 visible ASCII characters")]
pub struct InvalidKey;

/// The key, if the header is present.
pub fn key(headers: &HeaderMap) -> Result<Option<String>, InvalidKey> {
    let mut values = headers.get_all(&IDEMPOTENCY_KEY).iter();
    let Some(first) = values.next() else { return Ok(None) };
    let text = first.to_str().map_err(|_| InvalidKey)?;
    let is_valid = (1..=CHARS_MAX).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_graphic());
    if !is_valid || values.next().is_some() {
        return Err(InvalidKey);
    }
    Ok(Some(text.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_short_visible_and_unique() {
        let read = |values: &[&str]| {
            let mut headers = HeaderMap::new();
            for value in values {
                headers.append(&IDEMPOTENCY_KEY, value.parse().unwrap());
            }
            key(&headers)
        };
        assert_eq!(read(&[]), Ok(None));
        assert_eq!(read(&["auto_1-2"]), Ok(Some("auto_1-2".to_owned())));
        for values in [&[""][..], &["a b"], &[&"x".repeat(256)], &["a", "b"]] {
            assert_eq!(read(values), Err(InvalidKey), "{values:?}");
        }
    }
}
