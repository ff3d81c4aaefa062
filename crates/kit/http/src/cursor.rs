//! Opaque cursors: a list's key, encoded so that nobody builds on what is in it.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

const CHARS_MAX: usize = 256;

/// A key as a cursor.
pub fn encode(key: &str) -> String {
    URL_SAFE_NO_PAD.encode(key)
}

/// The key of a cursor; none when it is no cursor.
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
    fn a_cursor_reads_back_and_anything_else_does_not() {
        assert_eq!(decode(&encode("42")), Some("42".to_owned()));
        for cursor in ["%%%", "a", &"x".repeat(257)] {
            assert_eq!(decode(cursor), None, "{cursor}");
        }
    }
}
