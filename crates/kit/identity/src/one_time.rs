//! Codes that work once: the set-up code of the first user, and the tokens of invitations.

use kit_runtime::random::Random;
use kit_runtime::vault::Secret;

use crate::{Digest, token_hash};

const RANDOM_BYTES: usize = 24;
/// Bytes of the longest code that is looked up.
const CODE_BYTES_MAX: usize = 128;

/// A code that works once, with the hash of it that a wing stores. The code begins with the prefix.
pub(crate) fn new_code(random: &dyn Random, prefix: &str) -> (Secret, Digest) {
    let code = format!("{prefix}{}", kit_runtime::ids::token(random, RANDOM_BYTES));
    let hash = token_hash(&code);
    (Secret::new(code.into_bytes()), hash)
}

/// The hash with which a wing looks up a code that a visitor entered. White space around a pasted code does not matter; text
/// that is too long for a code has the hash of no code.
pub fn lookup_hash(code: &str) -> Digest {
    token_hash(Some(code.trim()).filter(|code| code.len() <= CODE_BYTES_MAX).unwrap_or_default())
}

/// The part of a link before its code, which is in the fragment: a browser never sends that part to a server.
const FRAGMENT: &str = "#key=";

/// The link with this code, below the address of the page that takes it.
pub fn link_with_code(page: &str, code: &str) -> String {
    format!("{page}{FRAGMENT}{code}")
}

/// The code of a link that a visitor pasted, or the text itself if it is no link.
pub fn code_of_link(text: &str) -> &str {
    text.split_once(FRAGMENT).map_or(text, |(_, code)| code).trim()
}

#[cfg(test)]
mod tests {
    use kit_runtime::random::SeededRandom;

    use super::*;

    #[test]
    fn a_code_is_found_in_its_link_and_by_itself() {
        let link = link_with_code("https://sale.example/admin/join", "lwi_abc");
        assert_eq!(link, "https://sale.example/admin/join#key=lwi_abc");
        for text in [&link, "lwi_abc", " lwi_abc\n"] {
            assert_eq!(code_of_link(text), "lwi_abc", "{text}");
        }
    }

    #[test]
    fn a_code_is_looked_up_by_the_hash_that_was_stored() {
        let (code, hash) = new_code(&SeededRandom::new(1), "lwc_");
        let code = code.expose_str().unwrap();
        assert!(code.starts_with("lwc_"), "{code}");
        assert_eq!(lookup_hash(&format!(" {code}\n")), hash);
        assert_eq!(lookup_hash(&"x".repeat(CODE_BYTES_MAX + 1)), lookup_hash(""));
    }
}
