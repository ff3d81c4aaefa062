//! Sessions: their tokens, and when they end.

use std::time::Duration;

use jiff::Timestamp;
use kit_runtime::random::Random;

const TOKEN_RANDOM_BYTES: usize = 24;

/// When a session began to wait, and when it ends at the latest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lifetime {
    /// When it ends, used or not.
    pub expires_at: Timestamp,
    /// When it was last used.
    pub last_used_at: Timestamp,
}

impl Lifetime {
    /// True while the session is neither expired nor unused for `idle`.
    pub fn goes_on(&self, idle: Duration, now: Timestamp) -> bool {
        self.expires_at > now && self.last_used_at + idle > now
    }
}

/// A new session token: the prefix and 33 base62 characters (192 random bits).
pub fn new_token(random: &dyn Random, prefix: &str) -> String {
    format!("{prefix}{}", kit_runtime::ids::token(random, TOKEN_RANDOM_BYTES))
}

#[cfg(test)]
mod tests {
    use kit_runtime::random::SeededRandom;

    use super::*;

    #[test]
    fn a_session_ends_at_its_expiry_and_after_the_idle_time() {
        let at = |second| Timestamp::from_second(second).unwrap();
        let (lifetime, idle) = (Lifetime { expires_at: at(100), last_used_at: at(10) }, Duration::from_secs(60));
        assert!(lifetime.goes_on(idle, at(69)));
        assert!(!lifetime.goes_on(idle, at(70)), "idle");
        let used = Lifetime { last_used_at: at(90), ..lifetime };
        assert!(used.goes_on(idle, at(99)));
        assert!(!used.goes_on(idle, at(100)), "expired");
    }

    #[test]
    fn a_token_has_its_prefix_and_length() {
        let token = new_token(&SeededRandom::new(1), "lws_");
        assert!(token.starts_with("lws_") && token.len() == 37, "{token}");
    }
}
