//! Rate limit on failed authentication, per client address. An address that sent too many invalid keys has to wait.
//!
//! A caller that shares an address with another one that guesses keys is not locked out: a key that authenticated
//! before is always looked up, and any other key within a budget of look-ups, before its caller is refused. So a good
//! key counts after a restart, too. A valid key in the cache does not reach this limit.

use std::collections::{HashMap, HashSet};
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use kit_runtime::gcra::{Gcra, whole_seconds};

use crate::error::{ProviderError, Quota};

/// Number of failures from one address before it has to wait.
const FAILURES_MAX: u32 = 20;
/// After this time, one more failure is allowed.
const FAILURE_INTERVAL: Duration = Duration::from_secs(3);
/// After this time without a failure, the address has its full allowance again.
const FAILURES_WINDOW_S: u32 = 60;
/// Failures are counted after the look-up, so one is always allowed: the tolerance covers the others.
const LIMIT: Gcra = Gcra::with_burst(FAILURES_MAX, FAILURE_INTERVAL);
/// Look-ups of keys from addresses that have to wait: 500 at once, then one every 2 ms. A look-up reads one row by its key.
const LOOKUPS: Gcra = Gcra::with_burst(LOOKUPS_MAX, Duration::from_millis(2));
/// Maximum number of look-ups at once.
const LOOKUPS_MAX: u32 = 500;
/// Maximum number of addresses in memory.
const ADDRESSES_MAX: usize = 10_000;
/// Maximum number of valid keys in memory.
const KNOWN_CREDENTIALS_MAX: usize = 10_000;

#[derive(Default)]
pub(crate) struct FailedAuthLimiter(Mutex<State>);

#[derive(Default)]
struct State {
    /// The theoretical arrival time of [`Gcra`] for each address with failures.
    tats: HashMap<IpAddr, Instant>,
    /// Hashes of keys that were valid when they were last looked up.
    known_credentials: HashSet<[u8; 32]>,
    /// The theoretical arrival time of [`LOOKUPS`].
    lookups_tat: Option<Instant>,
}

impl FailedAuthLimiter {
    /// 429 when too many failures came from the address, unless the key was valid when it was last looked up.
    pub(crate) fn check(
        &self,
        from: Option<IpAddr>,
        hash: Option<&[u8; 32]>,
        now: Instant,
    ) -> Result<(), ProviderError> {
        let Some(from) = from.map(client_network) else { return Ok(()) };
        let state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(tat) = state.tats.get(&from) else { return Ok(()) };
        let Err(wait) = LIMIT.check(tat.saturating_duration_since(now)) else { return Ok(()) };
        if hash.is_some_and(|hash| state.known_credentials.contains(hash)) {
            return Ok(());
        }
        Err(ProviderError::TooManyRequests {
            detail: "too many requests without a valid API key came from this address",
            retry_after: whole_seconds(wait),
            quota: Quota { name: "address", requests: FAILURES_MAX, window_s: FAILURES_WINDOW_S },
        })
    }

    /// Takes one look-up of the budget for callers that have to wait. False if none is left.
    pub(crate) fn take_lookup(&self, now: Instant) -> bool {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let ahead = state.lookups_tat.map_or(Duration::ZERO, |tat| tat.saturating_duration_since(now));
        let Ok(ahead) = LOOKUPS.take(ahead) else { return false };
        state.lookups_tat = Some(now + ahead);
        true
    }

    /// Notes that the key is valid.
    pub(crate) fn record_success(&self, hash: [u8; 32]) {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if state.known_credentials.len() >= KNOWN_CREDENTIALS_MAX {
            state.known_credentials.clear();
        }
        state.known_credentials.insert(hash);
    }

    /// Counts a failure: the key is missing, unknown, expired or deleted.
    pub(crate) fn record_failure(&self, from: Option<IpAddr>, hash: Option<&[u8; 32]>, now: Instant) {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(hash) = hash {
            state.known_credentials.remove(hash);
        }
        let Some(from) = from.map(client_network) else { return };
        if state.tats.len() >= ADDRESSES_MAX && !state.tats.contains_key(&from) {
            state.tats.retain(|_, tat| *tat > now);
            // All of them are recent: the limit restarts for every address, so that memory stays bounded.
            if state.tats.len() >= ADDRESSES_MAX {
                state.tats.clear();
            }
        }
        let tat = state.tats.entry(from).or_insert(now);
        // A failure counts even when the limit is exceeded.
        *tat = (*tat).max(now) + LIMIT.interval;
    }
}

/// An IPv6 client is counted by its /64 network: a host that has one address of it can use all of them.
fn client_network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => IpAddr::V6(Ipv6Addr::from_bits(address.to_bits() >> 64 << 64)),
        address => address,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_waits_after_20_failures_unless_its_key_is_known_to_be_valid() {
        let (limiter, start) = (FailedAuthLimiter::default(), Instant::now());
        let here = Some("2001:db8::1".parse().unwrap());
        let (same_network, elsewhere) = (Some("2001:db8::2".parse().unwrap()), Some("192.0.2.1".parse().unwrap()));
        limiter.record_success([7; 32]);
        for _ in 0..FAILURES_MAX {
            limiter.check(here, None, start).unwrap();
            limiter.record_failure(here, None, start);
        }
        for from in [here, same_network] {
            let refused = limiter.check(from, Some(&[1; 32]), start).unwrap_err();
            assert_eq!(refused.to_string().split("; ").last(), Some("try again in 3 s"));
        }
        limiter.check(here, Some(&[7; 32]), start).unwrap();
        limiter.check(elsewhere, None, start).unwrap();
        limiter.check(None, None, start).unwrap();
        limiter.check(here, None, start + FAILURE_INTERVAL).unwrap();
        limiter.record_failure(None, Some(&[7; 32]), start);
        limiter.check(here, Some(&[7; 32]), start).unwrap_err();
    }

    #[test]
    fn look_ups_for_addresses_that_wait_have_a_budget() {
        let (limiter, start) = (FailedAuthLimiter::default(), Instant::now());
        let taken = (0..LOOKUPS_MAX + 10).filter(|_| limiter.take_lookup(start)).count();
        assert_eq!(taken, LOOKUPS_MAX as usize);
        assert!(limiter.take_lookup(start + LOOKUPS.interval));
        assert!(!limiter.take_lookup(start + LOOKUPS.interval));
    }

    #[test]
    fn the_number_of_addresses_in_memory_is_bounded() {
        let (limiter, now) = (FailedAuthLimiter::default(), Instant::now());
        for number in 0..(ADDRESSES_MAX as u32 + 10) {
            limiter.record_failure(Some(std::net::Ipv4Addr::from_bits(number).into()), None, now);
        }
        assert!(limiter.0.lock().unwrap().tats.len() <= ADDRESSES_MAX);
    }
}
