//! Settings of sign-ins and sessions.

use std::time::Duration;

use ipnet::IpNet;

/// Limits of sessions and sign-in attempts.
#[derive(Debug, Clone)]
pub struct PeopleConfig {
    /// How long a session lasts, used or not. 12 h.
    pub session_ttl: Duration,
    /// How long an unused session lasts, to within a minute. 1 h.
    pub session_idle: Duration,
    /// Concurrent sessions of one user; a further one ends the oldest. 20.
    pub sessions_max: usize,
    /// Sign-in attempts for one account within the window; from one address five times as many. 10.
    pub attempts_max: u32,
    /// Time in which used attempts refill, evenly. 15 min.
    pub attempts_window: Duration,
    /// Subnets of trusted reverse proxies, whose `X-Forwarded-For` is used. None.
    pub trusted_proxies: Vec<IpNet>,
    /// Passwords that are hashed at the same time; each takes 19 MiB. 4.
    pub passwords_at_once_max: usize,
    /// Passwords that wait for a hashing thread; further requests get `too_many_attempts`. 64.
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
            trusted_proxies: Vec::new(),
            passwords_at_once_max: 4,
            passwords_waiting_max: 64,
        }
    }
}
