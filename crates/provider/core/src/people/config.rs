//! Settings of sign-ins and sessions.

use std::time::Duration;

/// Limits of people, sessions and sign-in attempts.
#[derive(Debug, Clone)]
pub struct PeopleConfig {
    /// Lifetime of a session. 12 h.
    pub session_ttl: Duration,
    /// Lifetime of an unused session, to within a minute. 1 h.
    pub session_idle: Duration,
    /// Concurrent sessions of one person; a further one ends the oldest. 20.
    pub sessions_max: usize,
    /// Sign-in attempts with one e-mail address in the window. One IP address has five times as many. 10.
    pub attempts_max: u32,
    /// Used attempts refill evenly in this time. 15 min.
    pub attempts_window: Duration,
    /// How long an invitation is valid. 7 days.
    pub invitation_ttl: Duration,
    /// How long a sign-in code of the operator and a link for a new password are valid. 24 h.
    pub sign_in_code_ttl: Duration,
    /// People of one account, including open invitations. 1,000.
    pub people_max: usize,
    /// Passwords that are hashed at the same time; each takes 19 MiB. 4.
    pub passwords_at_once_max: usize,
    /// Passwords that wait for a hashing thread; further requests are refused with 429. 64.
    pub passwords_waiting_max: usize,
}

impl Default for PeopleConfig {
    fn default() -> Self {
        Self {
            session_ttl: Duration::from_secs(12 * 3_600),
            session_idle: Duration::from_secs(3_600),
            sessions_max: 20,
            attempts_max: 10,
            attempts_window: Duration::from_secs(15 * 60),
            invitation_ttl: Duration::from_secs(7 * 24 * 3_600),
            sign_in_code_ttl: Duration::from_secs(24 * 3_600),
            people_max: 1_000,
            passwords_at_once_max: 4,
            passwords_waiting_max: 64,
        }
    }
}
