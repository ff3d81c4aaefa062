//! What can be set about people.

use std::time::Duration;

use ipnet::IpNet;

/// Sessions of people, and how often they may try to sign in.
#[derive(Debug, Clone)]
pub struct PeopleConfig {
    /// How long a session lasts, whatever is done with it. 12 h.
    pub session_ttl: Duration,
    /// How long it lasts without being used, to within a minute. 1 h.
    pub session_idle: Duration,
    /// Sessions of one person at the same time; the oldest ends for one more. 20.
    pub sessions_max: usize,
    /// Attempts to sign in as one person that are there at once; from one address five times as many. 10.
    pub attempts_max: u32,
    /// In which used attempts come back, evenly. 15 min.
    pub attempts_window: Duration,
    /// Subnets of reverse proxies whose `X-Forwarded-For` is believed. None.
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
