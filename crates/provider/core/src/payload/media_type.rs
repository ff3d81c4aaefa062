//! The media type of a payload: the `Content-Type` of its deliveries (RFC 9110, section 8.3.1).

/// Longest media type in characters: the stored payload has its length in one byte.
pub const MEDIA_TYPE_CHARS_MAX: usize = 255;

/// The media type of a payload when the caller gives none.
pub const JSON: &str = "application/json";

/// A media type with its parameters, such as `text/xml; charset=utf-8`, as the sender wrote it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MediaType(String);

/// The text is not a media type.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "must be a media type such as text/xml, with or without parameters, of at most {MEDIA_TYPE_CHARS_MAX} ASCII characters"
)]
pub struct InvalidMediaType;

impl MediaType {
    /// Parses a media type.
    pub fn parse(text: &str) -> Result<Self, InvalidMediaType> {
        if text.len() > MEDIA_TYPE_CHARS_MAX {
            return Err(InvalidMediaType);
        }
        let essence_end = text.find(';').unwrap_or(text.len());
        let (essence, parameters) = text.split_at(essence_end);
        let is_essence = essence
            .trim_end_matches(BLANK)
            .split_once('/')
            .is_some_and(|(kind, name)| is_token(kind) && is_token(name));
        if is_essence && are_parameters(parameters) { Ok(Self(text.to_owned())) } else { Err(InvalidMediaType) }
    }

    /// Its text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether this is `application/json`, the default.
    pub(crate) fn is_json(&self) -> bool {
        self.0.eq_ignore_ascii_case(JSON)
    }
}

const BLANK: [char; 2] = [' ', '\t'];

/// Whether the text is `; name=value` any number of times. Each value is a token or a quoted string.
fn are_parameters(mut rest: &str) -> bool {
    loop {
        rest = rest.trim_start_matches(BLANK);
        let Some(parameter) = rest.strip_prefix(';') else { return rest.is_empty() };
        let Some((name, value)) = parameter.trim_start_matches(BLANK).split_once('=') else { return false };
        let length = if value.starts_with('"') { quoted_length(value) } else { token_length(value) };
        if !is_token(name) || length == 0 {
            return false;
        }
        rest = &value[length..];
    }
}

/// Length in bytes of the quoted string at the beginning, with its quotes. 0 when it does not end, or contains a
/// character that a header can't contain.
fn quoted_length(text: &str) -> usize {
    let mut escaped = false;
    for (index, byte) in text.bytes().enumerate().skip(1) {
        match byte {
            b' '..=b'~' | b'\t' if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => return index + 1,
            b' '..=b'~' | b'\t' => {}
            _ => return 0,
        }
    }
    0
}

fn token_length(text: &str) -> usize {
    text.bytes().position(|byte| !is_token_byte(byte)).unwrap_or(text.len())
}

fn is_token(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(is_token_byte)
}

fn is_token_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_media_type_is_two_tokens_and_its_parameters() {
        for text in [
            "text/xml",
            "TEXT/Plain",
            "application/cloudevents+json; charset=UTF-8",
            "text/plain;charset=utf-8;format=flowed",
            "multipart/mixed ; boundary=\"a; \\\"b\\\" \"\t; x=y",
            &format!("text/{}", "x".repeat(MEDIA_TYPE_CHARS_MAX - 5)),
        ] {
            assert_eq!(MediaType::parse(text).as_ref().map(MediaType::as_str), Ok(text));
        }
    }

    #[test]
    fn an_invalid_media_type_is_rejected() {
        for text in [
            "",
            "text",
            "text/",
            "/xml",
            "text/xml/more",
            " text/xml",
            "text /xml",
            "text/xml;",
            "text/xml; charset",
            "text/xml; charset=",
            "text/xml; charset=\"utf-8",
            "text/xml; charset=utf-8 and more",
            "text/xml, text/html",
            "text/xml\r\nx-other: 1",
            "text/xml; a=\"\r\n\"",
            "text/größe",
            &format!("text/{}", "x".repeat(MEDIA_TYPE_CHARS_MAX - 4)),
        ] {
            assert_eq!(MediaType::parse(text), Err(InvalidMediaType), "{text:?}");
        }
    }
}
