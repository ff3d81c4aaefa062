//! Addresses from which calls came that were refused for want of a good key: after some, they have to wait.
//!
//! A key that was good before is always looked up, so that whoever shares an address with somebody who tries keys is not
//! shut out. A good key that was looked up lately does not even come here.

use std::collections::{HashMap, HashSet};
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::authentication::whole_seconds;
use crate::error::{ProviderError, Quota};

/// Refusals from one address before it has to wait.
const REFUSALS_AT_ONCE: u32 = 20;
/// One more each.
const REFUSAL_EVERY: Duration = Duration::from_secs(3);
/// In which all of them are forgotten.
const REFUSALS_WINDOW_S: u32 = 60;
/// Addresses remembered at most.
const ADDRESSES_MAX: usize = 10_000;
/// Good keys remembered at most.
const GOOD_MAX: usize = 10_000;

#[derive(Default)]
pub(crate) struct Strangers(Mutex<State>);

#[derive(Default)]
struct State {
    /// When all refusals of the address will be forgotten.
    settled_at: HashMap<IpAddr, Instant>,
    /// Hashes of keys that were good when they were last looked up.
    good: HashSet<[u8; 32]>,
}

impl Strangers {
    /// 429 while there were too many refusals from the address, unless the key is a good one.
    pub(crate) fn check(
        &self,
        from: Option<IpAddr>,
        hash: Option<&[u8; 32]>,
        now: Instant,
    ) -> Result<(), ProviderError> {
        let Some(from) = from.map(place) else { return Ok(()) };
        let state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(settled_at) = state.settled_at.get(&from) else { return Ok(()) };
        let ahead = settled_at.saturating_duration_since(now) + REFUSAL_EVERY;
        let Some(wait) = ahead.checked_sub(REFUSAL_EVERY * REFUSALS_AT_ONCE).filter(|wait| !wait.is_zero()) else {
            return Ok(());
        };
        if hash.is_some_and(|hash| state.good.contains(hash)) {
            return Ok(());
        }
        Err(ProviderError::TooManyRequests {
            detail: "too many calls without a valid key came from this address",
            retry_after: whole_seconds(wait),
            quota: Quota { name: "address", requests: REFUSALS_AT_ONCE, window_s: REFUSALS_WINDOW_S },
        })
    }

    /// The key is good.
    pub(crate) fn met(&self, hash: [u8; 32]) {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if state.good.len() >= GOOD_MAX {
            state.good.clear();
        }
        state.good.insert(hash);
    }

    /// A call was refused: there was no key, or it is not good, or is no more.
    pub(crate) fn failed(&self, from: Option<IpAddr>, hash: Option<&[u8; 32]>, now: Instant) {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(hash) = hash {
            state.good.remove(hash);
        }
        let Some(from) = from.map(place) else { return };
        if state.settled_at.len() >= ADDRESSES_MAX && !state.settled_at.contains_key(&from) {
            state.settled_at.retain(|_, settled_at| *settled_at > now);
            // More addresses at the same time than are remembered: begin anew.
            if state.settled_at.len() >= ADDRESSES_MAX {
                state.settled_at.clear();
            }
        }
        let settled_at = state.settled_at.entry(from).or_insert(now);
        *settled_at = (*settled_at).max(now) + REFUSAL_EVERY;
    }
}

/// Whoever has one address of IPv6 has the 64 bits behind it.
fn place(address: IpAddr) -> IpAddr {
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
        let (strangers, start) = (Strangers::default(), Instant::now());
        let here = Some("2001:db8::1".parse().unwrap());
        let (next_door, elsewhere) = (Some("2001:db8::2".parse().unwrap()), Some("192.0.2.1".parse().unwrap()));
        strangers.met([7; 32]);
        for _ in 0..REFUSALS_AT_ONCE {
            strangers.check(here, None, start).unwrap();
            strangers.failed(here, None, start);
        }
        for from in [here, next_door] {
            let refused = strangers.check(from, Some(&[1; 32]), start).unwrap_err();
            assert_eq!(refused.to_string().split("; ").last(), Some("try again in 3 s"));
        }
        strangers.check(here, Some(&[7; 32]), start).unwrap();
        strangers.check(elsewhere, None, start).unwrap();
        strangers.check(None, None, start).unwrap();
        strangers.check(here, None, start + REFUSAL_EVERY).unwrap();
        strangers.failed(None, Some(&[7; 32]), start);
        strangers.check(here, Some(&[7; 32]), start).unwrap_err();
    }

    #[test]
    fn many_addresses_take_no_more_than_their_room() {
        let (strangers, now) = (Strangers::default(), Instant::now());
        for number in 0..(ADDRESSES_MAX as u32 + 10) {
            strangers.failed(Some(std::net::Ipv4Addr::from_bits(number).into()), None, now);
        }
        assert!(strangers.0.lock().unwrap().settled_at.len() <= ADDRESSES_MAX);
    }
}
