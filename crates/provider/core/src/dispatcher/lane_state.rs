//! The rules of a lane, without tasks and without IO: what waits, what is under way, and what is to be done next.

mod queues;
#[cfg(test)]
mod tests;

use std::time::{Duration, Instant};

use jiff::Timestamp;
use kit_runtime::clock::to_ms;

use super::metrics::LaneGauges;
use super::node_leases::NodeLease;
use super::outcome::ConcurrencySignal;
use super::throttle::{LaneThrottle, SharedBucket};
use super::token_bucket::ThrottleRate;
use crate::config::LaneConfig;
use crate::messages::payload::StoredPayload;
use crate::model::{AttemptTrigger, Id};
use crate::ordering::OrderingKey;
use crate::port::{ClaimLimit, DeliveryKind};

use queues::Queues;
pub(super) use queues::{ClaimRequest, KINDS};

/// Rows claimed in one call at most.
const CLAIM_MAX: usize = 256;
/// What a row in memory takes beside its payload, roughly.
const ROW_BYTES: usize = 512;
/// Room that every lane has whatever the others do.
const GUARANTEED_BYTES: usize = 16 * 1_024;
/// Pauses of an endpoint that says it has too much to do, without saying for how long: doubled from the first to the
/// last.
const PAUSE_MIN: Duration = Duration::from_millis(50);
const PAUSE_MAX: Duration = Duration::from_secs(5);
/// Pauses are kept in the table so that they outlast this process, but for the last bit of them.
const STORED_PAUSE_MIN: Duration = Duration::from_secs(1);
/// Over a pause longer than this, rows are not kept in memory.
const RELEASE_PAUSE_MIN: Duration = Duration::from_secs(10);

/// A delivery row in memory.
pub(super) struct QueuedDelivery {
    pub(super) message: Id,
    pub(super) payload: StoredPayload,
    /// How often payloads of the application's messages had been removed before this one was read.
    pub(super) purges: i64,
    /// Attempts made so far on the schedule.
    pub(super) attempts: u32,
    /// What the attempt is made for.
    pub(super) trigger: AttemptTrigger,
    /// A background task sends the message again.
    pub(super) replayed: bool,
    /// What it stays in order with: the next of that key is in the table.
    pub(super) key: Option<OrderingKey>,
    /// The name that the row belongs to.
    pub(super) lease: NodeLease,
    /// Since when it is known here: what was read of the endpoint after that includes what the row was made from.
    pub(super) since: Instant,
    /// When its message was accepted, or is to be delivered; none when it is sent again.
    pub(super) requested_at: Option<Timestamp>,
}

impl QueuedDelivery {
    /// What its attempt is recorded with. A replay is manual for callers, and keeps its place in the retry schedule.
    pub(super) fn recorded_trigger(&self) -> AttemptTrigger {
        if self.replayed { AttemptTrigger::Manual } else { self.trigger }
    }

    /// Memory that it takes, roughly.
    pub(super) fn bytes(&self) -> usize {
        self.payload.len() + ROW_BYTES
    }
}

/// What a lane is to do.
pub(super) enum LaneAction {
    /// Send this.
    Start(QueuedDelivery),
    /// Claim rows from the table.
    Claim(ClaimRequest),
    /// Look again at this time.
    WaitUntil(Timestamp),
    /// Give these rows back to the table.
    Release(Vec<QueuedDelivery>),
    /// Nothing until something happens.
    Idle,
}

/// What a lane keeps to, as its endpoint and application have it.
pub(super) struct LaneLimits {
    /// When either was last changed.
    pub(super) changed_at: Timestamp,
    pub(super) endpoint: Option<ThrottleRate>,
    pub(super) application: Option<SharedBucket>,
}

pub(super) struct LaneState {
    queues: Queues,
    /// Bytes of what is queued, has a place or is under way.
    bytes: usize,
    /// Places promised to messages on their way to disk.
    reserved: usize,
    under_way: usize,
    /// Attempts that may be under way: grows while the endpoint keeps up, is halved when it doesn't.
    concurrency_limit: usize,
    /// Pauses in a row.
    pauses: u32,
    /// What the receiver asked for, or seems to need.
    paused_until: Option<Timestamp>,
    /// How much of that is in the table.
    stored_pause_until: Timestamp,
    /// The store could not be reached.
    store_retry_at: Option<Timestamp>,
    /// When what the lane keeps to was last changed.
    changed_at: Timestamp,
    rates: LaneThrottle,
    /// The lane was removed from the map: a task that still holds it must look up the new one.
    closed: bool,
    idle_since: Option<Instant>,
}

impl LaneState {
    pub(super) fn new(config: &LaneConfig) -> Self {
        Self {
            queues: Queues::default(),
            bytes: 0,
            reserved: 0,
            under_way: 0,
            concurrency_limit: initial_concurrency_limit(config),
            pauses: 0,
            paused_until: None,
            stored_pause_until: Timestamp::MIN,
            store_retry_at: None,
            changed_at: Timestamp::MIN,
            rates: LaneThrottle::default(),
            closed: false,
            idle_since: None,
        }
    }

    /// Something is queued, promised or under way.
    /// Attempts that have begun and not ended.
    pub(super) fn under_way(&self) -> usize {
        self.under_way
    }

    pub(super) fn is_active(&self) -> bool {
        self.queues.len() > 0 || self.reserved > 0 || self.under_way > 0
    }

    /// Room for a message that is about to be accepted. None while others wait in the table for their first attempt, so that
    /// those go first.
    pub(super) fn reserve(
        &mut self,
        payload_bytes: usize,
        now: Timestamp,
        config: &LaneConfig,
        share_divisor: usize,
    ) -> bool {
        let first = self.queues.of(DeliveryKind::First);
        let rows = first.len() + self.reserved;
        let bytes = payload_bytes + ROW_BYTES;
        let fits = rows == 0 || self.bytes + bytes <= bytes_max(config, share_divisor);
        let waits = first.may_have_rows() || self.is_paused(now);
        if waits || rows >= config.queued_max.max(1) || !fits {
            return false;
        }
        self.reserved += 1;
        self.bytes += bytes;
        true
    }

    pub(super) fn cancel_reservation(&mut self, payload_bytes: usize) {
        self.reserved -= 1;
        self.bytes -= payload_bytes + ROW_BYTES;
    }

    /// A message whose place was reserved is on disk.
    pub(super) fn enqueue_reserved(&mut self, delivery: QueuedDelivery) {
        self.reserved -= 1;
        self.queues.push_back(delivery);
    }

    /// There may be rows of these kinds in the table.
    pub(super) fn wake_for_rows(&mut self, kinds: &[DeliveryKind]) {
        kinds.iter().for_each(|kind| self.queues.of_mut(*kind).wake_for_rows());
    }

    /// Sets the limits that the lane enforces from now on. A change of the endpoint ends a pause that its receiver asked for:
    /// the URL may name another receiver, or the receiver may have been repaired.
    pub(super) fn set_limits(&mut self, limits: LaneLimits, config: &LaneConfig) {
        if limits.changed_at < self.changed_at {
            return;
        }
        if limits.changed_at > self.changed_at {
            self.changed_at = limits.changed_at;
            self.paused_until = None;
            self.stored_pause_until = Timestamp::MIN;
            self.pauses = 0;
            self.concurrency_limit = self.concurrency_limit.max(initial_concurrency_limit(config));
        }
        self.rates.set(limits.endpoint, limits.application);
    }

    /// The rows of a claim.
    pub(super) fn claimed(&mut self, deliveries: Vec<QueuedDelivery>, read: usize, claim: ClaimRequest) {
        let payload_bytes: usize = deliveries.iter().map(|delivery| delivery.payload.len()).sum();
        let was_full = read >= claim.room.rows || payload_bytes >= claim.room.payload_bytes;
        self.queues.of_mut(claim.kind).claimed(claim, was_full);
        self.bytes += payload_bytes + deliveries.len() * ROW_BYTES;
        deliveries.into_iter().for_each(|delivery| self.queues.push_back(delivery));
    }

    /// No claim could be made, because the node has no lease. The heartbeat requests a sweep, which wakes the lane, when the
    /// node has one.
    pub(super) fn abandon_claim(&mut self, kind: DeliveryKind) {
        self.queues.of_mut(kind).claim_failed();
    }

    /// The claim failed; the next one is made after a pause.
    pub(super) fn claim_failed(&mut self, kind: DeliveryKind, until: Timestamp) {
        self.queues.of_mut(kind).claim_failed();
        self.store_retry_at = Some(until);
    }

    /// What to do next. `share_divisor` is among how many like this one the shared room is divided.
    pub(super) fn next_action(&mut self, now: Timestamp, config: &LaneConfig, share_divisor: usize) -> LaneAction {
        if let Some(until) = self.store_retry_at.filter(|until| *until > now) {
            return LaneAction::WaitUntil(until);
        }
        let paused_until = self.paused_until.filter(|until| *until > now);
        if paused_until.is_none() {
            self.paused_until = None;
        }
        // What was asked for by hand goes out in spite of a pause.
        let kinds: &[DeliveryKind] = if paused_until.is_some() { &[DeliveryKind::Manual] } else { &KINDS };
        if let Some(claim) = kinds.iter().find_map(|kind| self.claim(*kind, config, share_divisor)) {
            return LaneAction::Claim(claim);
        }
        if let Some(until) = paused_until {
            if until > now + RELEASE_PAUSE_MIN && self.queues.len() > self.queues.of(DeliveryKind::Manual).len() {
                return LaneAction::Release(self.take(&[DeliveryKind::First, DeliveryKind::Retry]));
            }
            if self.queues.of(DeliveryKind::Manual).len() == 0 {
                return LaneAction::WaitUntil(until);
            }
        }
        if self.queues.len() == 0 || self.under_way >= self.concurrency_limit.min(under_way_max(config, share_divisor))
        {
            return LaneAction::Idle;
        }
        if let Err(at) = self.rates.take(now) {
            return LaneAction::WaitUntil(at);
        }
        match self.queues.next() {
            Some(delivery) => {
                self.under_way += 1;
                LaneAction::Start(delivery)
            }
            None => LaneAction::Idle,
        }
    }

    /// The claim to make for rows of one kind, if it is time for one. A lane whose room is full waits until something of it has
    /// gone; one that has nothing takes a row of any size, and one that was asked for by hand does not wait.
    fn claim(&mut self, kind: DeliveryKind, config: &LaneConfig, share_divisor: usize) -> Option<ClaimRequest> {
        let reserved = if kind == DeliveryKind::First { self.reserved } else { 0 };
        let bytes = bytes_max(config, share_divisor).saturating_sub(self.bytes);
        let is_full = bytes < ROW_BYTES && (self.under_way > 0 || self.queues.len() > 0);
        if is_full && kind != DeliveryKind::Manual {
            return None;
        }
        // Half of it for the rows, half for what they carry.
        let rows = (bytes / 2 / ROW_BYTES).min(config.queued_max).clamp(1, CLAIM_MAX);
        let room = ClaimLimit { rows, payload_bytes: (bytes / 2).max(1) };
        let low_water = self.low_water().checked_sub(reserved)?;
        self.queues.of_mut(kind).claim(kind, room, low_water)
    }

    /// An attempt ended that took `bytes` of memory, at an endpoint that was last changed at `changed_at`. If the endpoint was
    /// changed since, the signal is ignored.
    pub(super) fn ended(
        &mut self,
        bytes: usize,
        signal: ConcurrencySignal,
        changed_at: Timestamp,
        now: Timestamp,
        config: &LaneConfig,
    ) {
        self.under_way -= 1;
        self.bytes -= bytes;
        match signal {
            _ if changed_at < self.changed_at => {}
            ConcurrencySignal::Increase => {
                self.pauses = 0;
                self.concurrency_limit = (self.concurrency_limit + 1).min(config.under_way_max.max(1));
            }
            ConcurrencySignal::Keep => {}
            ConcurrencySignal::Decrease => {
                // Those under way together when it began say the same thing: one of them is enough.
                if self.concurrency_limit == 1 && !self.is_paused(now) {
                    self.pause(now + PAUSE_MIN.saturating_mul(1 << self.pauses.min(16)).min(PAUSE_MAX));
                    self.pauses += 1;
                }
                self.concurrency_limit = (self.concurrency_limit / 2).max(1);
            }
            ConcurrencySignal::Pause(pause) => {
                self.concurrency_limit = (self.concurrency_limit / 2).max(1);
                self.pause(now + pause);
            }
        }
    }

    /// An attempt could not be begun: the row waits on, and the lane with it.
    pub(super) fn requeue(&mut self, delivery: QueuedDelivery, until: Timestamp) {
        self.under_way -= 1;
        self.queues.push_front(delivery);
        self.store_retry_at = Some(until);
    }

    /// Empties the queues; their rows are to be given back to the table.
    pub(super) fn drain_queues(&mut self) -> Vec<QueuedDelivery> {
        self.take(&KINDS)
    }

    fn take(&mut self, kinds: &[DeliveryKind]) -> Vec<QueuedDelivery> {
        let deliveries = self.queues.take(kinds);
        self.bytes -= deliveries.iter().map(QueuedDelivery::bytes).sum::<usize>();
        deliveries
    }

    pub(super) fn gauges(&self, now: Timestamp) -> LaneGauges {
        LaneGauges {
            queued: self.queues.len(),
            under_way: self.under_way,
            concurrency_limit: self.concurrency_limit,
            paused_ms: self.paused_until.map_or(0, |until| (to_ms(until) - to_ms(now)).max(0)),
        }
    }

    /// Since when the oldest row in memory waits that is not kept back on purpose.
    pub(super) fn oldest_waiting_since(&self, now: Timestamp) -> Option<Instant> {
        self.queues.oldest(if self.is_paused(now) { &[DeliveryKind::Manual] } else { &KINDS })
    }

    pub(super) fn is_paused(&self, now: Timestamp) -> bool {
        self.paused_until.is_some_and(|until| until > now)
    }

    /// A pause that the table has, of the endpoint as it was last changed at `changed_at`.
    pub(super) fn apply_stored_pause(&mut self, until: Timestamp, changed_at: Timestamp) {
        if changed_at >= self.changed_at {
            self.changed_at = changed_at;
            self.pause(until);
            self.stored_pause_until = self.stored_pause_until.max(until);
        }
    }

    /// The end of a pause that is to be kept in the table, and since when the endpoint is as it is: much of it is to come, and
    /// the table does not have much of that.
    pub(super) fn pause_to_store(&mut self, now: Timestamp) -> Option<(Timestamp, Timestamp)> {
        let until = self.paused_until.filter(|until| *until > self.stored_pause_until.max(now) + STORED_PAUSE_MIN)?;
        self.stored_pause_until = until;
        Some((until, self.changed_at))
    }

    pub(super) fn is_closed(&self) -> bool {
        self.closed
    }

    /// Closes the lane when it has had nothing to do for `after`.
    pub(super) fn close_if_idle(&mut self, now: Timestamp, at: Instant, after: Duration) -> bool {
        if self.is_active() || self.queues.may_have_rows() || self.is_paused(now) {
            self.idle_since = None;
            return false;
        }
        let since = *self.idle_since.get_or_insert(at);
        self.closed = at.saturating_duration_since(since) >= after;
        self.closed
    }

    fn pause(&mut self, until: Timestamp) {
        self.paused_until = Some(self.paused_until.map_or(until, |before| before.max(until)));
    }

    /// More is claimed while there is still as much as goes out at once.
    fn low_water(&self) -> usize {
        (2 * self.concurrency_limit).min(CLAIM_MAX / 2)
    }
}

fn initial_concurrency_limit(config: &LaneConfig) -> usize {
    config.under_way_initial.clamp(1, config.under_way_max.max(1))
}

/// Attempts that one lane may have under way: its guaranteed number, and its share of the common pool.
fn under_way_max(config: &LaneConfig, share_divisor: usize) -> usize {
    config.under_way_guaranteed.max(1) + config.under_way_shared_max / share_divisor.max(1)
}

fn bytes_max(config: &LaneConfig, share_divisor: usize) -> usize {
    (config.queued_bytes_max / share_divisor.max(1)).max(GUARANTEED_BYTES)
}
