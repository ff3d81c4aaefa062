//! Rate limit on failed authentication, per client address. An address that sent too many invalid keys has to wait.
//!
//! A caller that shares an address with another one that guesses keys is not locked out: a key that authenticated before
//! is always looked up, and any other key within a budget of look-ups, before its caller is refused. So a good key counts
//! after a restart, too. A valid key in the cache does not reach this limit.

use std::collections::{HashMap, HashSet};
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::accounts::authentication::whole_seconds;
use crate::error::{ProviderError, Quota};

/// Refusals from one address before it has to wait.
const FAILURES_MAX: u32 = 20;
/// One more each.
const FAILURE_INTERVAL: Duration = Duration::from_secs(3);
/// In which all of them are forgotten.
const FAILURES_WINDOW_S: u32 = 60;
/// Keys of addresses that have to wait that are looked up at once, at most.
const LOOKUPS_MAX: u32 = 500;
/// One more each. A look-up reads one row by its key.
const LOOKUP_INTERVAL: Duration = Duration::from_millis(2);
/// Addresses remembered at most.
const ADDRESSES_MAX: usize = 10_000;
/// Good keys remembered at most.
const KNOWN_CREDENTIALS_MAX: usize = 10_000;

#[derive(Default)]
pub(crate) struct FailedAuthLimiter(Mutex<State>);

#[derive(Default)]
struct State {
    /// When all refusals of the address will be forgotten.
    replenished_at: HashMap<IpAddr, Instant>,
    /// Hashes of keys that were good when they were last looked up.
    known_credentials: HashSet<[u8; 32]>,
    /// When the whole budget of look-ups will be there again.
    lookups_replenished_at: Option<Instant>,
}

impl FailedAuthLimiter {
    /// 429 while there were too many refusals from the address, unless the key is a good one.
    pub(crate) fn check(
        &self,
        from: Option<IpAddr>,
        hash: Option<&[u8; 32]>,
        now: Instant,
    ) -> Result<(), ProviderError> {
        let Some(from) = from.map(client_network) else { return Ok(()) };
        let state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(replenished_at) = state.replenished_at.get(&from) else { return Ok(()) };
        let ahead = replenished_at.saturating_duration_since(now) + FAILURE_INTERVAL;
        let Some(wait) = ahead.checked_sub(FAILURE_INTERVAL * FAILURES_MAX).filter(|wait| !wait.is_zero()) else {
            return Ok(());
        };
        if hash.is_some_and(|hash| state.known_credentials.contains(hash)) {
            return Ok(());
        }
        Err(ProviderError::TooManyRequests {
            detail: "too many calls without a valid key came from this address",
            retry_after: whole_seconds(wait),
            quota: Quota { name: "address", requests: FAILURES_MAX, window_s: FAILURES_WINDOW_S },
        })
    }

    /// Whether a key whose caller has to wait may be looked up all the same; takes one look-up of the budget.
    pub(crate) fn take_lookup(&self, now: Instant) -> bool {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let next = state.lookups_replenished_at.map_or(now, |at| at.max(now)) + LOOKUP_INTERVAL;
        let is_left = next.saturating_duration_since(now) <= LOOKUP_INTERVAL * LOOKUPS_MAX;
        if is_left {
            state.lookups_replenished_at = Some(next);
        }
        is_left
    }

    /// The key is good.
    pub(crate) fn record_success(&self, hash: [u8; 32]) {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if state.known_credentials.len() >= KNOWN_CREDENTIALS_MAX {
            state.known_credentials.clear();
        }
        state.known_credentials.insert(hash);
    }

    /// A call was refused: there was no key, or it is not good, or is no more.
    pub(crate) fn record_failure(&self, from: Option<IpAddr>, hash: Option<&[u8; 32]>, now: Instant) {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(hash) = hash {
            state.known_credentials.remove(hash);
        }
        let Some(from) = from.map(client_network) else { return };
        if state.replenished_at.len() >= ADDRESSES_MAX && !state.replenished_at.contains_key(&from) {
            state.replenished_at.retain(|_, replenished_at| *replenished_at > now);
            // More addresses at the same time than are remembered: begin anew.
            if state.replenished_at.len() >= ADDRESSES_MAX {
                state.replenished_at.clear();
            }
        }
        let replenished_at = state.replenished_at.entry(from).or_insert(now);
        *replenished_at = (*replenished_at).max(now) + FAILURE_INTERVAL;
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
    fn an_address_waits_after_some_refusals_and_good_keys_do_not() {
        let (failed_auth_limiter, start) = (FailedAuthLimiter::default(), Instant::now());
        let here = Some("2001:db8::1".parse().unwrap());
        let (next_door, elsewhere) = (Some("2001:db8::2".parse().unwrap()), Some("192.0.2.1".parse().unwrap()));
        failed_auth_limiter.record_success([7; 32]);
        for _ in 0..FAILURES_MAX {
            failed_auth_limiter.check(here, None, start).unwrap();
            failed_auth_limiter.record_failure(here, None, start);
        }
        for from in [here, next_door] {
            let refused = failed_auth_limiter.check(from, Some(&[1; 32]), start).unwrap_err();
            assert_eq!(refused.to_string().split("; ").last(), Some("try again in 3 s"));
        }
        failed_auth_limiter.check(here, Some(&[7; 32]), start).unwrap();
        failed_auth_limiter.check(elsewhere, None, start).unwrap();
        failed_auth_limiter.check(None, None, start).unwrap();
        failed_auth_limiter.check(here, None, start + FAILURE_INTERVAL).unwrap();
        failed_auth_limiter.record_failure(None, Some(&[7; 32]), start);
        failed_auth_limiter.check(here, Some(&[7; 32]), start).unwrap_err();
    }

    #[test]
    fn look_ups_for_addresses_that_wait_have_a_budget() {
        let (failed_auth_limiter, start) = (FailedAuthLimiter::default(), Instant::now());
        let taken = (0..LOOKUPS_MAX + 10).filter(|_| failed_auth_limiter.take_lookup(start)).count();
        assert_eq!(taken, LOOKUPS_MAX as usize);
        assert!(failed_auth_limiter.take_lookup(start + LOOKUP_INTERVAL));
        assert!(!failed_auth_limiter.take_lookup(start + LOOKUP_INTERVAL));
    }

    #[test]
    fn many_addresses_take_no_more_than_their_room() {
        let (failed_auth_limiter, now) = (FailedAuthLimiter::default(), Instant::now());
        for number in 0..(ADDRESSES_MAX as u32 + 10) {
            failed_auth_limiter.record_failure(Some(std::net::Ipv4Addr::from_bits(number).into()), None, now);
        }
        assert!(failed_auth_limiter.0.lock().unwrap().replenished_at.len() <= ADDRESSES_MAX);
    }
}
