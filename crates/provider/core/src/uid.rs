//! Names that customers choose: uids, event ids, event type names and channels, with their allowed characters and
//! lengths.

/// Characters of a uid, of the name of an event type, and of the display name of an account, application or API key.
pub const NAME_CHARS_MAX: usize = 256;
/// Characters of a channel.
pub const CHANNEL_CHARS_MAX: usize = 128;

/// Why a name is invalid.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NameError {
    /// Empty or too long.
    #[error("must have 1 to {0} characters")]
    Length(usize),
    /// A character outside the set.
    #[error("may hold only letters of the English alphabet, digits, '-', '_' and '.'")]
    Character,
    /// The name begins like a generated id.
    #[error("must not begin with '{0}', which our own ids begin with")]
    IdPrefix(&'static str),
}

/// Checks a customer's own id for an object with generated ids that begin with `id_prefix`.
pub fn check_uid(uid: &str, id_prefix: &'static str) -> Result<(), NameError> {
    check_name(uid, NAME_CHARS_MAX)?;
    if uid.starts_with(id_prefix) { Err(NameError::IdPrefix(id_prefix)) } else { Ok(()) }
}

/// Checks a name: 1 to `chars_max` characters of `a-zA-Z0-9-_.`.
pub fn check_name(name: &str, chars_max: usize) -> Result<(), NameError> {
    if name.is_empty() || name.len() > chars_max {
        return Err(NameError::Length(chars_max));
    }
    let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() | matches!(byte, b'-' | b'_' | b'.');
    if all_bytes(name, is_allowed) { Ok(()) } else { Err(NameError::Character) }
}

/// Whether all bytes of a short text match. It has no early exit, so that the compiler can vectorise it.
pub(crate) fn all_bytes(text: &str, matches: impl Fn(u8) -> bool) -> bool {
    text.bytes().fold(true, |all_match, byte| all_match & matches(byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_uid_is_a_short_word_without_the_prefix_of_a_generated_id() {
        let long = "a".repeat(256);
        let too_long = "a".repeat(257);
        for (uid, expected) in [
            ("customer-17_b.c", Ok(())),
            ("a", Ok(())),
            (long.as_str(), Ok(())),
            ("ep_1", Ok(())),
            ("App_1", Ok(())),
            ("", Err(NameError::Length(256))),
            (too_long.as_str(), Err(NameError::Length(256))),
            ("two words", Err(NameError::Character)),
            ("line\nbreak", Err(NameError::Character)),
            ("größe", Err(NameError::Character)),
            ("a/b", Err(NameError::Character)),
            ("app_", Err(NameError::IdPrefix("app_"))),
            ("app_1srOrx2ZWZBpBUvZwXKQmoEYga2", Err(NameError::IdPrefix("app_"))),
        ] {
            assert_eq!(check_uid(uid, "app_"), expected, "{uid:?}");
        }
    }
}
