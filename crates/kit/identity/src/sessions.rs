//! Sessions: their tokens, and when they end.

use std::time::Duration;

use jiff::Timestamp;
use kit_runtime::random::Random;

use crate::Digest;

const TOKEN_RANDOM_BYTES: usize = 24;
/// The last use of a session is recorded at most once in this time.
pub const TOUCH_EVERY: Duration = Duration::from_secs(60);

/// A user's session. `I` is the type of ids of the wing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Session<I> {
    /// The id, in order of creation.
    pub id: I,
    /// SHA-256 of its token (192 random bits).
    pub hash: Digest,
    /// The user.
    pub user: I,
    /// IP address of the sign-in; none when it is not known.
    pub address: Option<String>,
    /// Shortened `User-Agent` of the browser; none if it sent none, or in a wing that does not store it.
    pub browser: Option<String>,
    /// When the user signed in.
    pub created_at: Timestamp,
    /// When it ends, used or not.
    pub expires_at: Timestamp,
    /// When it was last used, to within a minute.
    pub last_used_at: Timestamp,
}

impl<I> Session<I> {
    /// True while the session is neither expired nor unused for `idle`.
    pub fn goes_on(&self, idle: Duration, now: Timestamp) -> bool {
        self.expires_at > now && self.last_used_at + idle > now
    }

    /// True when the use of the session at `now` is to be recorded.
    pub fn needs_touch(&self, now: Timestamp) -> bool {
        self.last_used_at + TOUCH_EVERY <= now
    }
}

/// Which sessions to end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SessionsToEnd<I> {
    /// None.
    Nothing,
    /// This one of this user.
    One(I, I),
    /// All of a user.
    AllOf(I),
    /// All of a user but this one.
    AllBut(I, I),
}

impl<I: PartialEq> SessionsToEnd<I> {
    /// True when this session ends.
    pub fn ends(&self, session: &Session<I>) -> bool {
        match self {
            Self::Nothing => false,
            Self::One(user, one) => *user == session.user && *one == session.id,
            Self::AllOf(user) => *user == session.user,
            Self::AllBut(user, kept) => *user == session.user && *kept != session.id,
        }
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

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(second).unwrap()
    }

    fn session(id: u8, user: u8) -> Session<u8> {
        let (created_at, expires_at, last_used_at) = (at(0), at(100), at(10));
        Session { id, hash: [id; 32], user, address: None, browser: None, created_at, expires_at, last_used_at }
    }

    #[test]
    fn a_session_ends_at_its_expiry_and_after_the_idle_time() {
        let (session, idle) = (session(1, 1), Duration::from_secs(60));
        assert!(session.goes_on(idle, at(69)));
        assert!(!session.goes_on(idle, at(70)), "idle");
        let used = Session { last_used_at: at(90), ..session };
        assert!(used.goes_on(idle, at(99)));
        assert!(!used.goes_on(idle, at(100)), "expired");
    }

    #[test]
    fn the_use_of_a_session_is_recorded_once_a_minute() {
        assert!(!session(1, 1).needs_touch(at(69)));
        assert!(session(1, 1).needs_touch(at(70)));
    }

    #[test]
    fn sessions_of_another_user_never_end_with_those_of_one() {
        let own = [session(1, 1), session(2, 1)];
        let ended = |ending: SessionsToEnd<u8>| own.iter().map(|one| ending.ends(one)).collect::<Vec<_>>();
        assert_eq!(ended(SessionsToEnd::Nothing), [false, false]);
        assert_eq!(ended(SessionsToEnd::One(1, 2)), [false, true]);
        assert_eq!(ended(SessionsToEnd::AllOf(1)), [true, true]);
        assert_eq!(ended(SessionsToEnd::AllBut(1, 2)), [true, false]);
        for ending in [SessionsToEnd::One(2, 1), SessionsToEnd::AllOf(2), SessionsToEnd::AllBut(2, 3)] {
            assert_eq!(ended(ending), [false, false], "{ending:?}");
        }
    }

    #[test]
    fn a_token_has_its_prefix_and_length() {
        let token = new_token(&SeededRandom::new(1), "lws_");
        assert!(token.starts_with("lws_") && token.len() == 37, "{token}");
    }
}
