//! A text that messages are searched for. A text that was copied from an indented payload finds the payload as it was sent:
//! white space between the tokens of JSON does not count.

use jiff::Timestamp;

use crate::model::stored_payload::StoredPayload;

/// A text to search for, whatever the case of its ASCII letters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SearchText {
    /// The text in lower case.
    lower: Vec<u8>,
    /// Its tokens in lower case: if it begins between the strings of JSON, and if it begins within one. A text without
    /// punctuation between strings has none.
    tokens: Vec<Vec<u8>>,
    /// A payload that expired before this time counts as removed.
    now: Timestamp,
}

impl SearchText {
    /// The text, searched for at this time.
    pub fn new(text: &str, now: Timestamp) -> Self {
        let lower = text.to_ascii_lowercase().into_bytes();
        let tokens = [false, true].map(|is_in_string| tokens_of(&lower, is_in_string));
        let has_punctuation = |tokens: &Vec<u8>| tokens.iter().any(|byte| *byte <= PUNCTUATION.len() as u8);
        Self { tokens: tokens.into_iter().filter(has_punctuation).collect(), lower, now }
    }

    /// Whether a message with this id, event id and stored payload contains the text.
    pub fn matches(&self, id: &str, event_id: Option<&str>, payload: Option<&[u8]>, expires_at: Timestamp) -> bool {
        let has = |bytes: &[u8]| contains_ignoring_case(bytes, &self.lower);
        has(id.as_bytes())
            || event_id.is_some_and(|event_id| has(event_id.as_bytes()))
            || (expires_at > self.now
                && payload.is_some_and(|stored| has(StoredPayload::text_of(stored)) || self.has_tokens(stored)))
    }

    /// Whether a stored payload of JSON contains the tokens of the text.
    fn has_tokens(&self, stored: &[u8]) -> bool {
        let Some(json) = StoredPayload::json_of(stored).filter(|_| !self.tokens.is_empty()) else { return false };
        let json = tokens_of(json, false);
        self.tokens.iter().any(|tokens| contains_ignoring_case(&json, tokens))
    }
}

/// Quotes, and the punctuation between strings. In [`tokens_of`], the place of each, counted from 1, stands for it.
const PUNCTUATION: &[u8; 7] = b"\"{}[]:,";

/// JSON without the white space between its tokens. Each quote and each sign between strings becomes a control character, which
/// no string of JSON contains, so that it differs from the same sign within a string.
fn tokens_of(json: &[u8], mut is_in_string: bool) -> Vec<u8> {
    let mut tokens = Vec::with_capacity(json.len());
    let mut is_escaped = false;
    for &byte in json {
        let sign = PUNCTUATION.iter().zip(1..).find(|(sign, _)| **sign == byte).map(|(_, place)| place);
        match (is_in_string, byte, sign) {
            _ if is_escaped => {
                tokens.push(byte);
                is_escaped = false;
            }
            (_, b'"', Some(quote)) => {
                tokens.push(quote);
                is_in_string = !is_in_string;
            }
            (true, ..) => {
                tokens.push(byte);
                is_escaped = byte == b'\\';
            }
            (false, b' ' | b'\t' | b'\n' | b'\r', _) => {}
            (false, _, sign) => tokens.push(sign.unwrap_or(byte)),
        }
    }
    tokens
}

/// Whether the bytes contain a text in lower case, whatever the case of their ASCII letters.
fn contains_ignoring_case(bytes: &[u8], lower: &[u8]) -> bool {
    let Some((first, rest)) = lower.split_first() else { return true };
    let upper = first.to_ascii_uppercase();
    let last_start = bytes.len().saturating_sub(rest.len());
    bytes[..last_start].iter().enumerate().any(|(at, byte)| {
        (*byte == *first || *byte == upper) && bytes[at + 1..at + 1 + rest.len()].eq_ignore_ascii_case(rest)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::payload::Payload;
    use crate::payload::media_type::MediaType;

    #[test]
    fn a_text_is_found_whatever_its_case_and_place() {
        for (bytes, lower, found) in [
            ("", "", true),
            ("", "a", false),
            ("a", "a", true),
            ("A", "a", true),
            ("xxAB", "ab", true),
            ("xxAB", "abc", false),
            ("aab", "ab", true),
            ("LOT/7 größe", "größe", true),
            ("lot/8", "lot/7", false),
        ] {
            assert_eq!(contains_ignoring_case(bytes.as_bytes(), lower.as_bytes()), found, "{bytes} {lower}");
        }
    }

    fn finds(text: &str, payload: StoredPayload) -> bool {
        SearchText::new(text, Timestamp::UNIX_EPOCH).matches("", None, Some(payload.as_stored()), Timestamp::MAX)
    }

    #[test]
    fn white_space_between_the_tokens_of_json_does_not_count_and_within_a_string_it_does() {
        let compact = r#"{"lot":7,"title":"Oil, on \"panel\": 3","bids":[{"amount":1e3},{"amount":20}],"sold":true}"#;
        let loose = "{ \"lot\" :\t7,\r\n \"title\":\"Oil, on \\\"panel\\\": 3\",\"bids\":[ {\"amount\":1e3 }\n,{\"amount\":20}] ,\"sold\": true}";
        for (text, found) in [
            ("\"lot\": 7,\n  \"title\": \"oil, on", true),
            ("\"lot\": 7,  \"title\"", true),
            ("\"lot\":7,\"title\"", true),
            ("panel\\\": 3\",\n  \"bids\": [\n    {\n      \"amount\": 1e3\n    },", true),
            ("7, \"title\" : ", true),
            ("20\n    }\n  ],\n  \"sold\": true\n}", true),
            ("{\n  \"lot\"", true),
            // White space within a string, and signs that look like those between strings.
            ("Oil,on", false),
            ("\"Oil,on", false),
            ("Oil,  on", false),
            ("lot: 7", false),
            ("panel: 3", false),
            ("1e3, 20", false),
            ("\"amount\": 2\"", false),
            ("\"lot\": 71", false),
        ] {
            for payload in [compact, loose] {
                assert_eq!(finds(text, payload.to_owned().into()), found, "{text} in {payload}");
            }
        }
    }

    #[test]
    fn a_text_of_another_media_type_is_searched_as_it_is() {
        let written = |media_type| -> StoredPayload {
            let payload = Payload::from_text("{\"a\":1}".to_owned()).unwrap();
            payload.with_media_type(MediaType::parse(media_type).unwrap()).into()
        };
        assert!(finds("{ \"a\": 1 }", written("application/json")));
        assert!(!finds("{ \"a\": 1 }", written("text/plain")) && finds("\"a\":1", written("text/plain")));
    }
}
