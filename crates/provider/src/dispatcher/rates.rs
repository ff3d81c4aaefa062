//! The rates that a lane keeps: its endpoint's own, and its application's, which all lanes of the application share.
//!
//! Each node keeps them by itself: with `n` nodes at work an endpoint may see up to `n` times its rate.

use std::collections::HashMap;
use std::num::NonZeroU16;
use std::sync::{Arc, Mutex, PoisonError};

use jiff::Timestamp;

use super::bucket::Bucket;
use crate::model::Id;

/// An application's bucket, shared by its lanes.
pub(super) type SharedBucket = Arc<Mutex<Bucket>>;

/// What one lane has to keep to.
#[derive(Debug, Default)]
pub(super) struct Rates {
    endpoint: Bucket,
    application: Option<SharedBucket>,
}

impl Rates {
    pub(super) fn set(&mut self, endpoint: Option<NonZeroU16>, application: Option<SharedBucket>) {
        self.endpoint.set_rate(endpoint);
        self.application = application;
    }

    /// Takes the right to one attempt, or says when there may be one.
    pub(super) fn take(&mut self, now: Timestamp) -> Result<(), Timestamp> {
        // What the endpoint allows is taken only when the application allows it, too.
        let mut endpoint = self.endpoint;
        endpoint.take(now)?;
        if let Some(application) = &self.application {
            application.lock().unwrap_or_else(PoisonError::into_inner).take(now)?;
        }
        self.endpoint = endpoint;
        Ok(())
    }
}

/// The buckets of applications that have a rate and lanes.
#[derive(Debug, Default)]
pub(super) struct ApplicationRates(Mutex<HashMap<Id, SharedBucket>>);

impl ApplicationRates {
    /// The application's bucket, set to `rate`; none when it has no rate, which costs nothing.
    pub(super) fn of(&self, application: &Id, rate: Option<NonZeroU16>) -> Option<SharedBucket> {
        let rate = rate?;
        let mut buckets = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let bucket = Arc::clone(buckets.entry(application.clone()).or_default());
        drop(buckets);
        bucket.lock().unwrap_or_else(PoisonError::into_inner).set_rate(Some(rate));
        Some(bucket)
    }

    /// Forgets buckets that no lane has any more.
    pub(super) fn remove_unused(&self) {
        let mut buckets = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        buckets.retain(|_, bucket| Arc::strong_count(bucket) > 1);
    }
}

#[cfg(test)]
mod tests {
    use runtime::clock::from_ms;

    use super::*;

    #[test]
    fn lanes_of_one_application_share_its_rate_and_keep_their_own() {
        let shared = ApplicationRates::default();
        let application: Id = "app_1".into();
        let mut lanes = [Some(10), None].map(|own: Option<u16>| {
            let mut rates = Rates::default();
            rates.set(own.and_then(NonZeroU16::new), shared.of(&application, NonZeroU16::new(40)));
            rates
        });
        let mut taken = [0, 0];
        for ms in 0..2_000 {
            for (lane, taken) in lanes.iter_mut().zip(&mut taken) {
                *taken += usize::from(lane.take(from_ms(1_700_000_000_000 + ms)).is_ok());
            }
        }
        assert!((15..=22).contains(&taken[0]), "its own rate: {taken:?}");
        assert!((76..=84).contains(&(taken[0] + taken[1])), "the application's: {taken:?}");
        drop(lanes);
        shared.remove_unused();
        assert!(shared.0.lock().unwrap().is_empty());
    }
}
