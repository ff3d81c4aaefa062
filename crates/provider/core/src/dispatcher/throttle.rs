//! The throttle of a lane: its endpoint's rate, and its application's rate, which all lanes of the application share.
//!
//! Each of `n` live nodes enforces an `n`th of a rate, so the nodes need no communication to enforce it together. The
//! heartbeat counts the nodes. While a node joins, the rate may be exceeded for a second.

use std::collections::HashMap;
use std::num::NonZeroU16;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use jiff::Timestamp;

use super::token_bucket::{ThrottleRate, TokenBucket};
use crate::model::Id;

/// Maximum number of nodes that share a rate.
const NODES_MAX: usize = 1_000;

/// An application's bucket, shared by its lanes.
pub(super) type SharedBucket = Arc<Mutex<TokenBucket>>;

/// The rates that one lane enforces.
#[derive(Debug, Default)]
pub(super) struct LaneThrottle {
    endpoint: TokenBucket,
    application: Option<SharedBucket>,
}

impl LaneThrottle {
    pub(super) fn set(&mut self, endpoint: Option<ThrottleRate>, application: Option<SharedBucket>) {
        self.endpoint.set_rate(endpoint);
        self.application = application;
    }

    /// Whether an attempt is not allowed now.
    pub(super) fn would_wait(&self, now: Timestamp) -> bool {
        let mut own = self.endpoint;
        let shared = self.application.as_ref().map(|bucket| *bucket.lock().unwrap_or_else(PoisonError::into_inner));
        own.take(now).is_err() || shared.is_some_and(|mut shared| shared.take(now).is_err())
    }

    /// Takes one attempt, or returns when the next is allowed.
    pub(super) fn take(&mut self, now: Timestamp) -> Result<(), Timestamp> {
        // The endpoint's bucket changes only if the application allows the attempt, too.
        let mut endpoint = self.endpoint;
        endpoint.take(now)?;
        if let Some(application) = &self.application {
            application.lock().unwrap_or_else(PoisonError::into_inner).take(now)?;
        }
        self.endpoint = endpoint;
        Ok(())
    }
}

/// The buckets of applications that have a rate and lanes, and the number of nodes that share each rate.
#[derive(Debug, Default)]
pub(super) struct ApplicationThrottles {
    buckets: Mutex<HashMap<Id, SharedBucket>>,
    /// Number of live nodes beside this one.
    other_nodes: AtomicU32,
}

impl ApplicationThrottles {
    /// Sets the number of other live nodes among which rates are divided.
    pub(super) fn set_other_nodes(&self, other_nodes: usize) {
        self.other_nodes.store(u32::try_from(other_nodes.min(NODES_MAX)).unwrap_or_default(), Ordering::Relaxed);
    }

    /// A rate, divided among the live nodes.
    pub(super) fn node_share(&self, rate: Option<NonZeroU16>) -> Option<ThrottleRate> {
        Some(ThrottleRate { per_second: rate?, nodes: 1 + self.other_nodes.load(Ordering::Relaxed) })
    }

    /// The application's bucket, set to `rate`; none when it has no rate.
    pub(super) fn of(&self, application: &Id, rate: Option<NonZeroU16>) -> Option<SharedBucket> {
        let rate = self.node_share(rate)?;
        let mut buckets = self.buckets.lock().unwrap_or_else(PoisonError::into_inner);
        let bucket = Arc::clone(buckets.entry(application.clone()).or_default());
        drop(buckets);
        bucket.lock().unwrap_or_else(PoisonError::into_inner).set_rate(Some(rate));
        Some(bucket)
    }

    /// Removes buckets that no lane uses.
    pub(super) fn remove_unused(&self) {
        let mut buckets = self.buckets.lock().unwrap_or_else(PoisonError::into_inner);
        buckets.retain(|_, bucket| Arc::strong_count(bucket) > 1);
    }
}

#[cfg(test)]
mod tests {
    use kit_runtime::clock::from_ms;

    use super::*;

    #[test]
    fn lanes_of_one_application_share_its_rate_and_enforce_their_own() {
        let shared = ApplicationThrottles::default();
        let application: Id = "app_1".into();
        let mut lanes = [Some(10), None].map(|own: Option<u16>| {
            let mut rates = LaneThrottle::default();
            rates.set(shared.node_share(own.and_then(NonZeroU16::new)), shared.of(&application, NonZeroU16::new(40)));
            rates
        });
        let mut taken = [0, 0];
        for ms in 0..2_000 {
            for (lane, taken) in lanes.iter_mut().zip(&mut taken) {
                *taken += usize::from(lane.take(from_ms(1_700_000_000_000 + ms)).is_ok());
            }
        }
        assert!((15..=22).contains(&taken[0]), "the endpoint's rate: {taken:?}");
        assert!((76..=84).contains(&(taken[0] + taken[1])), "the application's rate: {taken:?}");
        shared.set_other_nodes(1);
        let mut lane = LaneThrottle::default();
        lane.set(None, shared.of(&application, NonZeroU16::new(40)));
        let half = (2_000..4_000).filter(|ms| lane.take(from_ms(1_700_000_000_000 + ms)).is_ok()).count();
        assert!((38..=42).contains(&half), "half of the application's rate: {half}");
        drop((lane, lanes));
        shared.remove_unused();
        assert!(shared.buckets.lock().unwrap().is_empty());
    }
}
