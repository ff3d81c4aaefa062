//! Finds due deliveries without an owner in the table, and wakes their lanes.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::time::Duration;

use jiff::Timestamp;
use kit_runtime::clock::{from_ms, to_ms};
use kit_runtime::signal::Signal;
use kit_runtime::tasks::Tasks;

use super::Shared;
use super::lane_state::KINDS;
use crate::port::{DeliveryKind, StoreResult};

const SWEEP_INTERVAL: Duration = Duration::from_secs(1);
/// Maximum number of endpoints in one sweep, in addition to the number of lanes.
const ENDPOINTS_MAX: usize = 1_000;

/// When the next sweep is due.
pub(super) struct SweepSchedule {
    wake: Signal,
    requested: AtomicBool,
    /// Time of the earliest retry that this node recorded, in milliseconds; `i64::MAX` when none.
    due_ms: AtomicI64,
}

impl Default for SweepSchedule {
    fn default() -> Self {
        Self { wake: Signal::new(), requested: AtomicBool::new(false), due_ms: AtomicI64::new(i64::MAX) }
    }
}

impl SweepSchedule {
    pub(super) fn request_sweep(&self) {
        self.requested.store(true, Ordering::Release);
        self.wake.notify();
    }

    /// Schedules a sweep at this time.
    pub(super) fn due_at(&self, at: Timestamp) {
        let ms = to_ms(at);
        if self.due_ms.fetch_min(ms, Ordering::AcqRel) > ms {
            self.wake.notify();
        }
    }
}

pub(super) fn spawn(shared: &Arc<Shared>, tasks: &Tasks) {
    let shared = Arc::clone(shared);
    tasks.spawn("provider sweeper", move |stopping| {
        let shared = Arc::clone(&shared);
        async move {
            while !stopping.is_cancelled() {
                let next = sweep(&shared).await.unwrap_or_else(|error| {
                    tracing::warn!(%error, "due deliveries could not be read");
                    None
                });
                tokio::select! {
                    () = stopping.cancelled() => return,
                    () = until_due(&shared, next) => {}
                }
            }
        }
    });
}

/// Wakes the lanes of due deliveries. Returns when the next delivery is due, if that is in the future.
async fn sweep(shared: &Arc<Shared>) -> StoreResult<Option<Timestamp>> {
    shared.lanes.remove_idle(shared);
    // Reset also without a lease: otherwise the next sweep would begin without a pause, and a runtime with one thread
    // would run no other task. The heartbeat requests a sweep when the node has a lease.
    shared.sweeps.requested.store(false, Ordering::Release);
    if shared.leases.current().is_none() {
        return Ok(None);
    }
    let (context, now) = (&shared.context, shared.context.clock.now());
    let due_ms = &shared.sweeps.due_ms;
    let _ = due_ms.fetch_update(Ordering::AcqRel, Ordering::Acquire, |ms| (ms <= to_ms(now)).then_some(i64::MAX));
    // Paused and full endpoints are listed in every sweep, so they must not use up the limit.
    let limit = ENDPOINTS_MAX + shared.lanes.len();
    for (application, endpoint) in context.store.endpoints_with_due(now, limit).await? {
        // A resend is also claimed as a first attempt or a retry. During a pause, only the manual kind is claimed.
        let mut kinds: &[DeliveryKind] = &[DeliveryKind::First, DeliveryKind::Retry];
        if shared.lanes.is_paused(&endpoint, now) {
            kinds = &KINDS;
            // A change of the endpoint on another node also ends the pause here.
            if let Some(snapshot) = context.snapshots.get(&application).await?
                && let Some(target) = snapshot.targets.get(&endpoint)
            {
                shared.lanes.changed(shared, target);
            }
        }
        shared.lanes.wake_for_rows(shared, &application, &endpoint, kinds);
    }
    Ok(context.store.next_due().await?.filter(|next| *next > now))
}

async fn until_due(shared: &Shared, next: Option<Timestamp>) {
    let (clock, sweeps) = (&shared.context.clock, &shared.sweeps);
    let tick = clock.now() + SWEEP_INTERVAL;
    loop {
        if sweeps.requested.load(Ordering::Acquire) {
            return;
        }
        let recorded_due = from_ms(sweeps.due_ms.load(Ordering::Acquire));
        let until = tick.min(recorded_due).min(next.unwrap_or(tick));
        tokio::select! {
            () = clock.sleep_until(until) => return,
            () = sweeps.wake.wait() => {}
        }
    }
}
