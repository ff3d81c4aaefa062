//! Opaque cursors of paged lists. The key is encoded so that clients do not depend on its form.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

const CHARS_MAX: usize = 256;

/// Encodes a key as a cursor.
pub fn encode(key: &str) -> String {
    URL_SAFE_NO_PAD.encode(key)
}

/// Decodes the key of a cursor; none when the cursor is malformed.
pub fn decode(cursor: &str) -> Option<String> {
    if cursor.len() > CHARS_MAX {
        return None;
    }
    String::from_utf8(URL_SAFE_NO_PAD.decode(cursor).ok()?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_decodes_to_its_key_and_a_malformed_one_to_none() {
        assert_eq!(decode(&encode("42")), Some("42".to_owned()));
        for cursor in ["%%%", "a", &"x".repeat(257)] {
            assert_eq!(decode(cursor), None, "{cursor}");
        }
    }
}
