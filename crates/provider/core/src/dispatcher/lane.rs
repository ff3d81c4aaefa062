//! The lane of one endpoint: its state, and the tasks that run its actions.

use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

use jiff::Timestamp;
use tokio::sync::Notify;

use super::attempt::{AttemptResult, attempt};
use super::lane_state::{LaneAction, LaneHold, LaneLimits, LaneState, QueuedDelivery, StoredPause};
use super::load::Share;
use super::metrics::LaneGauges;
use super::node_leases::NodeLease;
use super::outcome::ConcurrencySignal;
use super::recorder::DeliveryRecord;
use super::{Shared, claim};
use crate::dispatcher::target::Target;
use crate::model::Id;
use crate::model::ordering::OrderingKey;
use crate::port::DeliveryKind;
use crate::port::Pause;

/// Pause of a lane after an error of the store.
pub(super) const STORE_PAUSE: Duration = Duration::from_secs(1);

pub(super) struct Lane {
    pub(super) application: Id,
    pub(super) endpoint: Id,
    /// Weak, because `shared` owns the lanes.
    shared: Weak<Shared>,
    inner: Mutex<Inner>,
    ended: Notify,
}

struct Inner {
    state: LaneState,
    /// When a timer wakes the lane.
    timer: Option<Timestamp>,
    share: Share,
}

/// Room in a lane for one message. It is released when it is dropped without being used.
pub(super) struct Reservation {
    lane: Arc<Lane>,
    payload_bytes: usize,
    enqueued: bool,
}

impl Lane {
    pub(super) fn new(shared: &Arc<Shared>, application: Id, endpoint: Id) -> Arc<Self> {
        let state = LaneState::new(&shared.context.config.lanes);
        Arc::new(Self {
            application,
            endpoint,
            shared: Arc::downgrade(shared),
            inner: Mutex::new(Inner { state, timer: None, share: Share::default() }),
            ended: Notify::new(),
        })
    }

    /// Reserves room for a message; none when the message must wait in the table. `Err` when the lane is closed.
    pub(super) fn reserve(
        self: &Arc<Self>,
        shared: &Shared,
        payload_bytes: usize,
        target: &Target,
    ) -> Result<Option<Reservation>, LaneClosed> {
        let limits = self.limits(shared, target);
        let mut inner = self.lock();
        if inner.state.is_closed() {
            return Err(LaneClosed);
        }
        inner.apply_limits(limits, target, shared);
        let (now, config) = (shared.context.clock.now(), &shared.context.config.lanes);
        let share_divisor = inner.share.share_divisor(&shared.load);
        let reserved = inner.state.reserve(payload_bytes, now, config, share_divisor);
        inner.count(shared);
        Ok(reserved.then(|| Reservation { lane: Arc::clone(self), payload_bytes, enqueued: false }))
    }

    /// Applies the current limits of the endpoint and its application.
    pub(super) fn set_limits(&self, shared: &Shared, target: &Target) {
        let limits = self.limits(shared, target);
        self.lock().apply_limits(limits, target, shared);
    }

    pub(super) fn is_paused(&self, now: Timestamp) -> bool {
        self.lock().state.is_paused(now)
    }

    /// Applies a pause from the table. `Err` when the lane is closed.
    pub(super) fn apply_stored_pause(&self, pause: &Pause) -> Result<(), LaneClosed> {
        let mut inner = self.lock();
        if inner.state.is_closed() {
            return Err(LaneClosed);
        }
        let &Pause { until, changed_at, reason, .. } = pause;
        inner.state.apply_stored_pause(&StoredPause { until, changed_at, reason });
        Ok(())
    }

    fn pause(&self, StoredPause { until, changed_at, reason }: StoredPause) -> Pause {
        Pause { application: self.application.clone(), endpoint: self.endpoint.clone(), until, changed_at, reason }
    }

    /// Wakes the lane, because the table may have deliveries of these kinds. `Err` when the lane is closed.
    pub(super) fn wake_for_rows(
        self: &Arc<Self>,
        shared: &Arc<Shared>,
        kinds: &[DeliveryKind],
    ) -> Result<(), LaneClosed> {
        let mut inner = self.lock();
        if inner.state.is_closed() {
            return Err(LaneClosed);
        }
        inner.state.wake_for_rows(kinds);
        drop(inner);
        self.start_attempts(shared);
        Ok(())
    }

    /// Runs the actions that the state requests now.
    pub(super) fn start_attempts(self: &Arc<Self>, shared: &Arc<Shared>) {
        self.start_attempts_at(shared, shared.context.clock.now());
    }

    fn start_attempts_at(self: &Arc<Self>, shared: &Arc<Shared>, now: Timestamp) {
        while let Some(delivery) = self.next(shared, now) {
            // Boxed, because spawning a task copies its future about ten times.
            tokio::spawn(Box::pin(run_attempts(Arc::clone(self), Arc::clone(shared), delivery)));
        }
    }

    /// The next delivery, if one may be sent now. It also starts the claims and the timer that the state requests.
    fn next(self: &Arc<Self>, shared: &Arc<Shared>, now: Timestamp) -> Option<QueuedDelivery> {
        if shared.is_draining() {
            return None;
        }
        loop {
            let config = &shared.context.config.lanes;
            let mut inner = self.lock();
            let share_divisor = inner.share.share_divisor(&shared.load);
            let action = inner.state.next_action(now, config, share_divisor);
            inner.count(shared);
            match action {
                LaneAction::Start(delivery) => {
                    shared.load.under_way.fetch_add(1, Ordering::AcqRel);
                    return Some(delivery);
                }
                LaneAction::Claim(request) => {
                    drop(inner);
                    tokio::spawn(claim::claim(Arc::clone(self), Arc::clone(shared), request));
                }
                LaneAction::Release(deliveries) => {
                    drop(inner);
                    let (lane, shared) = (Arc::clone(self), Arc::clone(shared));
                    tokio::spawn(async move { claim::release(&shared, &lane.endpoint, deliveries).await });
                }
                LaneAction::WaitUntil(at) => {
                    inner.wake_at(at, self);
                    return None;
                }
                LaneAction::Idle => return None,
            }
        }
    }

    /// Releases the queued deliveries to the table.
    pub(super) async fn release_queued(&self) {
        let Some(shared) = self.shared.upgrade() else { return };
        let deliveries = self.update(&shared, LaneState::drain_queues);
        claim::release(&shared, &self.endpoint, deliveries).await;
    }

    /// Waits until no attempt is under way.
    pub(super) async fn wait_for_attempts(&self) {
        loop {
            // Enabled before the state is read, or it misses an attempt that ends in between.
            let mut ended = std::pin::pin!(self.ended.notified());
            ended.as_mut().enable();
            if self.lock().state.under_way() == 0 {
                return;
            }
            ended.await;
        }
    }

    /// The record that deletes a delivery of this lane without an attempt.
    pub(super) fn dropped_record(&self, message: Id, key: Option<OrderingKey>, lease: NodeLease) -> DeliveryRecord {
        let (application, endpoint) = (self.application.clone(), self.endpoint.clone());
        DeliveryRecord::Drop { message, application, endpoint, key, _lease: lease }
    }

    pub(super) fn gauges(&self, now: Timestamp) -> LaneGauges {
        self.lock().state.gauges(now)
    }

    pub(super) fn hold(&self, now: Timestamp) -> Option<LaneHold> {
        let initial = self.shared.upgrade()?.context.config.lanes.under_way_initial;
        self.lock().state.hold(now, initial)
    }

    pub(super) fn oldest_waiting_since(&self, now: Timestamp) -> Option<Instant> {
        self.lock().state.oldest_waiting_since(now)
    }

    pub(super) fn close_if_idle(&self, now: Timestamp, at: Instant, after: Duration) -> bool {
        self.lock().state.close_if_idle(now, at, after)
    }

    pub(super) fn update<T>(&self, shared: &Shared, change: impl FnOnce(&mut LaneState) -> T) -> T {
        let mut inner = self.lock();
        let result = change(&mut inner.state);
        inner.count(shared);
        result
    }

    fn limits(&self, shared: &Shared, target: &Target) -> LaneLimits {
        LaneLimits {
            changed_at: target.changed_at,
            endpoint: shared.rates.node_share(target.throttle_rate),
            application: shared.rates.of(&self.application, target.application_rate),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The lane was removed from the map.
#[derive(Debug)]
pub(super) struct LaneClosed;

impl Inner {
    fn apply_limits(&mut self, limits: LaneLimits, target: &Target, shared: &Shared) {
        self.share.set_account(|| shared.load.account(&target.account));
        self.state.set_limits(limits, &shared.context.config.lanes);
    }

    /// Updates the number of active lanes.
    fn count(&mut self, shared: &Shared) {
        self.share.set_active(self.state.is_active(), &shared.load);
    }

    /// Wakes the lane at `at`, unless an earlier timer is set.
    fn wake_at(&mut self, at: Timestamp, lane: &Arc<Lane>) {
        if self.timer.is_some_and(|timer| timer <= at) {
            return;
        }
        self.timer = Some(at);
        // The timer does not keep a removed lane in memory.
        let lane = Arc::downgrade(lane);
        tokio::spawn(async move {
            let Some(shared) = lane.upgrade().and_then(|lane| lane.shared.upgrade()) else { return };
            let clock = Arc::clone(&shared.context.clock);
            drop(shared);
            clock.sleep_until(at).await;
            let Some(lane) = lane.upgrade() else { return };
            let Some(shared) = lane.shared.upgrade() else { return };
            lane.lock().timer.take_if(|timer| *timer <= at);
            lane.start_attempts(&shared);
        });
    }
}

impl Reservation {
    /// Queues the delivery of a committed message, and starts attempts.
    pub(super) fn enqueue(mut self, shared: &Arc<Shared>, delivery: QueuedDelivery, now: Timestamp) {
        self.enqueued = true;
        self.lane.update(shared, |state| state.enqueue_reserved(delivery));
        self.lane.start_attempts_at(shared, now);
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        if self.enqueued {
            return;
        }
        let Some(shared) = self.lane.shared.upgrade() else { return };
        let payload_bytes = self.payload_bytes;
        self.lane.update(&shared, |state| state.cancel_reservation(payload_bytes));
    }
}

/// Attempts one delivery after the other until no further delivery may start.
#[expect(clippy::manual_async_fn, reason = "it starts itself again through the lane, so its `Send` must be declared")]
fn run_attempts(lane: Arc<Lane>, shared: Arc<Shared>, mut delivery: QueuedDelivery) -> impl Future<Output = ()> + Send {
    async move {
        loop {
            let bytes = delivery.bytes();
            let under_way = InFlightGuard { lane: &lane, shared: &shared, bytes };
            let attempted = attempt(&shared, &lane, delivery).await;
            std::mem::forget(under_way);
            let now = shared.context.clock.now();
            match attempted {
                AttemptResult::Done { signal, changed_at } => {
                    let config = &shared.context.config.lanes;
                    let paused = lane.update(&shared, |state| {
                        state.ended(bytes, signal, changed_at, now, config);
                        state.pause_to_store(now)
                    });
                    if let Some(pause) = paused {
                        Box::pin(save_pause(&shared, lane.pause(pause), now)).await;
                    }
                }
                AttemptResult::NotStarted(delivery) => {
                    lane.update(&shared, |state| state.requeue(*delivery, now + STORE_PAUSE));
                    if shared.is_draining() {
                        Box::pin(lane.release_queued()).await;
                    }
                }
            }
            shared.ended();
            lane.ended.notify_waiters();
            let Some(next) = lane.next(&shared, now) else { return };
            delivery = next;
            // The concurrency limit may have grown, so further deliveries may start.
            lane.start_attempts_at(&shared, now);
        }
    }
}

async fn save_pause(shared: &Shared, pause: Pause, now: Timestamp) {
    let endpoint = pause.endpoint.clone();
    if let Err(error) = shared.context.store.save_pause(pause, now).await {
        tracing::warn!(endpoint_id = %endpoint, %error, "the pause of an endpoint could not be stored; only this process honours it");
    }
}

/// Ends an attempt that panics. Its delivery becomes due when the fenced lease expires.
struct InFlightGuard<'a> {
    lane: &'a Arc<Lane>,
    shared: &'a Arc<Shared>,
    bytes: usize,
}

impl Drop for InFlightGuard<'_> {
    fn drop(&mut self) {
        let (now, config) = (self.shared.context.clock.now(), &self.shared.context.config.lanes);
        self.lane.update(self.shared, |state| state.ended(self.bytes, ConcurrencySignal::Keep, now, now, config));
        self.shared.leases.fence();
        self.shared.ended();
        self.lane.ended.notify_waiters();
        self.lane.start_attempts(self.shared);
    }
}

impl Shared {
    fn ended(&self) {
        self.load.under_way.fetch_sub(1, Ordering::AcqRel);
        if self.is_draining() {
            self.load.ended.notify_one();
        }
    }
}
