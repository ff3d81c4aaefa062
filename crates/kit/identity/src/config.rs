//! Settings of sign-ins and sessions.

use std::time::Duration;

use crate::throttle::Limit;

/// Limits of sessions, passwords and sign-in attempts.
#[derive(Debug, Clone)]
pub struct IdentityConfig {
    /// How long a session lasts, used or not. 12 h.
    pub session_ttl: Duration,
    /// How long an unused session lasts, to within a minute. 1 h.
    pub session_idle: Duration,
    /// Concurrent sessions of one user; a further one ends the oldest. 20.
    pub sessions_max: usize,
    /// Sign-in attempts with one e-mail address within the window; from one IP address five times as many. 10.
    pub attempts_max: u32,
    /// Time in which used attempts refill, evenly. 15 min.
    pub attempts_window: Duration,
    /// Passwords that are hashed at the same time; each takes 19 MiB. 4.
    pub passwords_at_once_max: usize,
    /// Passwords that wait for a hashing thread; further ones get `too_many_attempts`. 64.
    pub passwords_waiting_max: usize,
}

impl IdentityConfig {
    /// The limit on attempts at one account.
    pub fn attempts(&self) -> Limit {
        Limit { attempts_max: self.attempts_max, window: self.attempts_window }
    }
}

impl Default for IdentityConfig {
    fn default() -> Self {
        Self {
            session_ttl: Duration::from_secs(12 * 3_600),
            session_idle: Duration::from_secs(3_600),
            sessions_max: 20,
            attempts_max: 10,
            attempts_window: Duration::from_secs(15 * 60),
            passwords_at_once_max: 4,
            passwords_waiting_max: 64,
        }
    }
}
