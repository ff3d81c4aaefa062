//! The lanes that there are: one for each endpoint that has, or lately had, something to do.

use std::sync::{Arc, PoisonError, RwLock};
use std::time::{Duration, Instant};

use foldhash::HashMap;
use jiff::Timestamp;

use super::Shared;
use super::lane::{Lane, Reservation};
use super::metrics::LaneGauges;
use crate::dispatcher::target::Target;
use crate::model::Id;
use crate::port::DeliveryKind;
use crate::port::Pause;

/// A lane with nothing to do goes after this long. Until then what it learnt of its endpoint's pace is remembered.
const IDLE_MAX: Duration = Duration::from_secs(10);
/// Tries to find a lane that is not just being taken away.
const TRIES_MAX: usize = 8;

#[derive(Default)]
pub(super) struct Lanes(RwLock<HashMap<Id, Arc<Lane>>>);

impl Lanes {
    /// Room for a message in the endpoint's lane; none when it is to wait in the table.
    pub(super) fn reserve(
        &self,
        shared: &Arc<Shared>,
        application: &Id,
        target: &Target,
        payload_bytes: usize,
    ) -> Option<Reservation> {
        (0..TRIES_MAX)
            .find_map(|_| {
                let lane = self.lane(shared, application, &target.endpoint);
                lane.reserve(shared, payload_bytes, target).ok()
            })
            .flatten()
    }

    /// Tells the endpoint's lane that there may be rows of these kinds for it in the table.
    pub(super) fn wake_for_rows(&self, shared: &Arc<Shared>, application: &Id, endpoint: &Id, kinds: &[DeliveryKind]) {
        // Where every try finds a lane just being taken away, the sweeper comes by again.
        let _found =
            (0..TRIES_MAX).any(|_| self.lane(shared, application, endpoint).wake_for_rows(shared, kinds).is_ok());
    }

    /// Tells the endpoint's lane, if it has one, how the endpoint is now.
    pub(super) fn changed(&self, shared: &Arc<Shared>, target: &Target) {
        if let Some(lane) = self.get(&target.endpoint) {
            lane.set_limits(shared, target);
            lane.start_attempts(shared);
        }
    }

    /// Tells the endpoint's lane of a pause that the table has.
    pub(super) fn apply_stored_pause(&self, shared: &Arc<Shared>, pause: &Pause) {
        // Where every try finds a lane just being taken away, the receiver says so again.
        let _told = (0..TRIES_MAX)
            .any(|_| self.lane(shared, &pause.application, &pause.endpoint).apply_stored_pause(pause).is_ok());
    }

    /// Whether an endpoint's lane is waiting because its receiver asked for it.
    pub(super) fn is_paused(&self, endpoint: &str, now: Timestamp) -> bool {
        self.get(endpoint).is_some_and(|lane| lane.is_paused(now))
    }

    pub(super) fn len(&self) -> usize {
        self.0.read().unwrap_or_else(PoisonError::into_inner).len()
    }

    /// How an endpoint's lane stands; all zero when it has none here.
    pub(super) fn gauges(&self, endpoint: &str, now: Timestamp) -> LaneGauges {
        self.get(endpoint).map(|lane| lane.gauges(now)).unwrap_or_default()
    }

    /// Since when the oldest row in memory waits that is not kept back on purpose.
    pub(super) fn oldest_waiting_since(&self, now: Timestamp) -> Option<Instant> {
        self.all().iter().filter_map(|lane| lane.oldest_waiting_since(now)).min()
    }

    pub(super) fn all(&self) -> Vec<Arc<Lane>> {
        self.0.read().unwrap_or_else(PoisonError::into_inner).values().cloned().collect()
    }

    /// Takes away lanes that have had nothing to do for a while.
    pub(super) fn remove_idle(&self, shared: &Shared) {
        let (now, at) = (shared.context.clock.now(), shared.context.clock.monotonic());
        let mut lanes = self.0.write().unwrap_or_else(PoisonError::into_inner);
        lanes.retain(|_, lane| !lane.close_if_idle(now, at, IDLE_MAX));
        drop(lanes);
        shared.rates.remove_unused();
        shared.load.remove_unused();
    }

    pub(super) fn get(&self, endpoint: &str) -> Option<Arc<Lane>> {
        self.0.read().unwrap_or_else(PoisonError::into_inner).get(endpoint).cloned()
    }

    fn lane(&self, shared: &Arc<Shared>, application: &Id, endpoint: &Id) -> Arc<Lane> {
        if let Some(lane) = self.0.read().unwrap_or_else(PoisonError::into_inner).get(endpoint) {
            return Arc::clone(lane);
        }
        let mut lanes = self.0.write().unwrap_or_else(PoisonError::into_inner);
        let lane = lanes.entry(endpoint.clone());
        Arc::clone(lane.or_insert_with(|| Lane::new(shared, application.clone(), endpoint.clone())))
    }
}
