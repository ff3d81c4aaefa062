//! Codes that work once: the set-up code of the first person, and the tokens of invitations.

use jiff::Timestamp;
use kit_runtime::random::Random;
use subtle::ConstantTimeEq as _;

use crate::{Digest, token_hash};

const RANDOM_BYTES: usize = 24;

/// What a wing stores of a code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OneTimeCode {
    /// Hash of the code.
    pub hash: Digest,
    /// When it is void, used or not.
    pub expires_at: Timestamp,
    /// When it was used; none while it was not.
    pub used_at: Option<Timestamp>,
}

impl OneTimeCode {
    /// A new code and its stored form. The code begins with the prefix.
    pub fn generate(random: &dyn Random, prefix: &str, expires_at: Timestamp) -> (String, Self) {
        let code = format!("{prefix}{}", kit_runtime::ids::token(random, RANDOM_BYTES));
        let stored = Self { hash: token_hash(&code), expires_at, used_at: None };
        (code, stored)
    }

    /// True if this is the code, and it is neither used nor void. White space around a pasted code does not matter.
    pub fn accepts(&self, code: &str, now: Timestamp) -> bool {
        let is_same = bool::from(token_hash(code.trim()).ct_eq(&self.hash));
        is_same && self.used_at.is_none() && self.expires_at > now
    }
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
    fn a_code_works_until_it_is_used_or_expires() {
        let at = |second| Timestamp::from_second(second).unwrap();
        let (code, stored) = OneTimeCode::generate(&SeededRandom::new(1), "lwc_", at(100));
        assert!(stored.accepts(&format!(" {code}\n"), at(99)));
        assert!(!stored.accepts(&code, at(100)), "expired");
        assert!(!OneTimeCode { used_at: Some(at(5)), ..stored }.accepts(&code, at(6)), "used");
        let (other, _) = OneTimeCode::generate(&SeededRandom::new(2), "lwc_", at(100));
        assert!(!stored.accepts(&other, at(1)) && !stored.accepts("", at(1)));
    }
}
