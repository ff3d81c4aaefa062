//! The map of lanes: one for each endpoint that has deliveries, or had deliveries in the last ten seconds.

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

/// An idle lane is removed after this time. Until then its concurrency limit is kept.
const IDLE_MAX: Duration = Duration::from_secs(10);
/// Number of attempts to find a lane that is not being removed.
const TRIES_MAX: usize = 8;

#[derive(Default)]
pub(super) struct Lanes(RwLock<HashMap<Id, Arc<Lane>>>);

impl Lanes {
    /// Reserves room for a message in the endpoint's lane; none when the message must wait in the table.
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

    /// Wakes the endpoint's lane, because the table may have deliveries of these kinds.
    pub(super) fn wake_for_rows(&self, shared: &Arc<Shared>, application: &Id, endpoint: &Id, kinds: &[DeliveryKind]) {
        // If every try finds a lane that is being removed, the next sweep wakes the lane.
        let _found =
            (0..TRIES_MAX).any(|_| self.lane(shared, application, endpoint).wake_for_rows(shared, kinds).is_ok());
    }

    /// Applies the endpoint's current limits to its lane, if it has one.
    pub(super) fn changed(&self, shared: &Arc<Shared>, target: &Target) {
        if let Some(lane) = self.get(&target.endpoint) {
            lane.set_limits(shared, target);
            lane.start_attempts(shared);
        }
    }

    /// Applies a pause from the table to the endpoint's lane.
    pub(super) fn apply_stored_pause(&self, shared: &Arc<Shared>, pause: &Pause) {
        // If every try finds a lane that is being removed, the receiver asks for the pause again.
        let _applied = (0..TRIES_MAX)
            .any(|_| self.lane(shared, &pause.application, &pause.endpoint).apply_stored_pause(pause).is_ok());
    }

    /// Whether an endpoint's lane is paused.
    pub(super) fn is_paused(&self, endpoint: &str, now: Timestamp) -> bool {
        self.get(endpoint).is_some_and(|lane| lane.is_paused(now))
    }

    pub(super) fn len(&self) -> usize {
        self.0.read().unwrap_or_else(PoisonError::into_inner).len()
    }

    /// Gauges of an endpoint's lane; all zero when it has no lane on this node.
    pub(super) fn gauges(&self, endpoint: &str, now: Timestamp) -> LaneGauges {
        self.get(endpoint).map(|lane| lane.gauges(now)).unwrap_or_default()
    }

    /// Since when the oldest delivery in memory waits, without those that a pause holds back.
    pub(super) fn oldest_waiting_since(&self, now: Timestamp) -> Option<Instant> {
        self.all().iter().filter_map(|lane| lane.oldest_waiting_since(now)).min()
    }

    pub(super) fn all(&self) -> Vec<Arc<Lane>> {
        self.0.read().unwrap_or_else(PoisonError::into_inner).values().cloned().collect()
    }

    /// Removes lanes that were idle for [`IDLE_MAX`].
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
