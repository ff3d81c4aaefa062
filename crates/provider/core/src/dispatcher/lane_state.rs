//! The state of a lane: queued deliveries, attempts under way, pauses and limits. It decides the lane's next action,
//! without tasks and without I/O.

mod queues;
#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::time::{Duration, Instant};

use jiff::Timestamp;
use kit_runtime::clock::to_ms;

use super::metrics::LaneGauges;
use super::node_leases::NodeLease;
use super::origin::MessageOrigin;
use super::outcome::ConcurrencySignal;
use super::throttle::{LaneThrottle, SharedBucket};
use super::token_bucket::ThrottleRate;
use crate::config::LaneConfig;
use crate::model::ordering::OrderingKey;
use crate::model::{AttemptTrigger, Id};
use crate::payload::StoredPayload;
use crate::port::{ClaimLimit, DeliveryKind, PauseReason};

use queues::Queues;
pub(super) use queues::{ClaimRequest, KINDS};

const CLAIM_MAX: usize = 256;
/// Approximate memory of a queued delivery without its payload.
const ROW_BYTES: usize = 512;
/// Guaranteed memory of every lane.
const GUARANTEED_BYTES: usize = 16 * 1_024;
/// Pauses of an overloaded endpoint that names no time: doubled from the minimum to the maximum.
const PAUSE_MIN: Duration = Duration::from_millis(50);
const PAUSE_MAX: Duration = Duration::from_secs(5);
/// A pause is stored in the table, so that it survives a restart, if its end is at least this much later than the
/// stored end.
const STORED_PAUSE_MIN: Duration = Duration::from_secs(1);
/// During a longer pause, deliveries are released to the table.
const RELEASE_PAUSE_MIN: Duration = Duration::from_secs(10);

pub(super) struct QueuedDelivery {
    pub(super) message: Id,
    pub(super) payload: StoredPayload,
    /// Number of payload removals in the application before this payload was read.
    pub(super) purges: i64,
    /// Scheduled attempts so far.
    pub(super) attempts: u32,
    pub(super) trigger: AttemptTrigger,
    /// Whether a background task sends the message again.
    pub(super) replayed: bool,
    /// Ordering key. The next message of the key waits in the table.
    pub(super) key: Option<OrderingKey>,
    /// The lease that owns the row.
    pub(super) lease: NodeLease,
    /// When the delivery was queued here. A later snapshot of the endpoint includes the state that the row was inserted
    /// with.
    pub(super) since: Instant,
    /// When the message was accepted, or its delivery time; none when it is sent again.
    pub(super) requested_at: Option<Timestamp>,
    /// For traces and the log; none when nothing uses it.
    pub(super) origin: Option<Arc<MessageOrigin>>,
}

impl QueuedDelivery {
    /// The trigger that is recorded with the attempt. A replay is manual for callers, but follows the retry schedule.
    pub(super) fn recorded_trigger(&self) -> AttemptTrigger {
        if self.replayed { AttemptTrigger::Manual } else { self.trigger }
    }

    /// Approximate memory.
    pub(super) fn bytes(&self) -> usize {
        self.payload.len() + ROW_BYTES
    }
}

pub(super) enum LaneAction {
    /// Send this delivery.
    Start(QueuedDelivery),
    /// Claim rows from the table.
    Claim(ClaimRequest),
    /// Ask for the next action at this time.
    WaitUntil(Timestamp),
    /// Release these deliveries to the table.
    Release(Vec<QueuedDelivery>),
    /// Wait for an event.
    Idle,
}

/// What keeps a lane from sending its deliveries now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LaneHold {
    /// Nothing: the next delivery begins at once, or as soon as the node's share allows it.
    Nothing,
    /// A pause until this time.
    Pause(Timestamp, PauseReason),
    /// The endpoint was overloaded, and this number of attempts is under way, which is less than a new endpoint may have.
    Concurrency(usize),
    /// The rate of the endpoint or its application.
    Rate,
}

/// Limits of the endpoint and its application that a lane enforces.
pub(super) struct LaneLimits {
    /// When the endpoint or the application was last changed.
    pub(super) changed_at: Timestamp,
    pub(super) endpoint: Option<ThrottleRate>,
    pub(super) application: Option<SharedBucket>,
}

/// A pause as the table has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct StoredPause {
    pub(super) until: Timestamp,
    /// When the endpoint or the application was last changed.
    pub(super) changed_at: Timestamp,
    pub(super) reason: PauseReason,
}

pub(super) struct LaneState {
    queues: Queues,
    /// Memory of the deliveries that are reserved, queued or under way.
    bytes: usize,
    /// Reservations for messages that are not committed yet.
    reserved: usize,
    under_way: usize,
    /// Maximum number of attempts under way. It grows by one with each success, and is halved when the endpoint is
    /// overloaded.
    concurrency_limit: usize,
    /// Consecutive pauses.
    pauses: u32,
    /// End of the pause that the receiver asked for, or that overload caused.
    paused_until: Option<Timestamp>,
    /// Why the lane is or was paused.
    pause_reason: PauseReason,
    /// End of the pause that is stored in the table.
    stored_pause_until: Timestamp,
    /// When to call the store again after an error.
    store_retry_at: Option<Timestamp>,
    /// When the endpoint or the application was last changed.
    changed_at: Timestamp,
    rates: LaneThrottle,
    /// Whether the lane was removed from the map. A task that still holds it must look up the new lane.
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
            pause_reason: PauseReason::Requested,
            stored_pause_until: Timestamp::MIN,
            store_retry_at: None,
            changed_at: Timestamp::MIN,
            rates: LaneThrottle::default(),
            closed: false,
            idle_since: None,
        }
    }

    pub(super) fn under_way(&self) -> usize {
        self.under_way
    }

    /// Whether a delivery is reserved, queued or under way.
    pub(super) fn is_active(&self) -> bool {
        self.queues.len() > 0 || self.reserved > 0 || self.under_way > 0
    }

    /// Reserves room for a message that will be accepted. False if there is no room, or if deliveries wait in the table
    /// for their first attempt, which comes first.
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

    /// Queues the delivery of a committed message that has a reservation.
    pub(super) fn enqueue_reserved(&mut self, delivery: QueuedDelivery) {
        self.reserved -= 1;
        self.queues.push_back(delivery);
    }

    /// Records that the table may have deliveries of these kinds.
    pub(super) fn wake_for_rows(&mut self, kinds: &[DeliveryKind]) {
        kinds.iter().for_each(|kind| self.queues.of_mut(*kind).wake_for_rows());
    }

    /// Sets the limits that the lane enforces from now on. A change of the endpoint ends a pause that its receiver
    /// asked for: the URL may name another receiver, or the receiver may have been repaired.
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

    pub(super) fn claimed(&mut self, deliveries: Vec<QueuedDelivery>, read: usize, claim: ClaimRequest) {
        let payload_bytes: usize = deliveries.iter().map(|delivery| delivery.payload.len()).sum();
        let was_full = read >= claim.room.rows || payload_bytes >= claim.room.payload_bytes;
        self.queues.of_mut(claim.kind).claimed(claim, was_full);
        self.bytes += payload_bytes + deliveries.len() * ROW_BYTES;
        deliveries.into_iter().for_each(|delivery| self.queues.push_back(delivery));
    }

    /// Ends a claim that was not made because the node has no lease. When the node has a lease, the heartbeat requests
    /// a sweep, which wakes the lane.
    pub(super) fn abandon_claim(&mut self, kind: DeliveryKind) {
        self.queues.of_mut(kind).claim_failed();
    }

    /// Ends a claim that failed. The next claim is made after a pause.
    pub(super) fn claim_failed(&mut self, kind: DeliveryKind, until: Timestamp) {
        self.queues.of_mut(kind).claim_failed();
        self.store_retry_at = Some(until);
    }

    /// The next action. The lane's share of the shared limits is 1/`share_divisor`.
    pub(super) fn next_action(&mut self, now: Timestamp, config: &LaneConfig, share_divisor: usize) -> LaneAction {
        if let Some(until) = self.store_retry_at.filter(|until| *until > now) {
            return LaneAction::WaitUntil(until);
        }
        let paused_until = self.paused_until.filter(|until| *until > now);
        if paused_until.is_none() {
            self.paused_until = None;
        }
        // Manual deliveries ignore a pause.
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

    /// The claim to make for deliveries of one kind, if any. A lane without free memory claims no more, except manual
    /// deliveries. An empty lane claims a delivery of any size.
    fn claim(&mut self, kind: DeliveryKind, config: &LaneConfig, share_divisor: usize) -> Option<ClaimRequest> {
        let reserved = if kind == DeliveryKind::First { self.reserved } else { 0 };
        let bytes = bytes_max(config, share_divisor).saturating_sub(self.bytes);
        let is_full = bytes < ROW_BYTES && (self.under_way > 0 || self.queues.len() > 0);
        if is_full && kind != DeliveryKind::Manual {
            return None;
        }
        // Half of the memory is for the rows, half for their payloads.
        let rows = (bytes / 2 / ROW_BYTES).min(config.queued_max).clamp(1, CLAIM_MAX);
        let room = ClaimLimit { rows, payload_bytes: (bytes / 2).max(1) };
        let low_water = self.low_water().checked_sub(reserved)?;
        self.queues.of_mut(kind).claim(kind, room, low_water)
    }

    /// Ends an attempt that used `bytes` of memory, at an endpoint that was last changed at `changed_at`. The signal is
    /// ignored if the endpoint was changed since.
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
                // Attempts that were under way together report the same overload, so only the first one begins a pause.
                if self.concurrency_limit == 1 && !self.is_paused(now) {
                    let pause = PAUSE_MIN.saturating_mul(1 << self.pauses.min(16)).min(PAUSE_MAX);
                    self.pause(now + pause, PauseReason::Overload);
                    self.pauses += 1;
                }
                self.concurrency_limit = (self.concurrency_limit / 2).max(1);
            }
            ConcurrencySignal::Pause(pause) => {
                self.concurrency_limit = (self.concurrency_limit / 2).max(1);
                self.pause(now + pause, PauseReason::Requested);
            }
        }
    }

    /// Puts a delivery back into its queue when its attempt could not begin. The lane waits until `until`.
    pub(super) fn requeue(&mut self, delivery: QueuedDelivery, until: Timestamp) {
        self.under_way -= 1;
        self.queues.push_front(delivery);
        self.store_retry_at = Some(until);
    }

    /// Empties the queues, so that the caller can release the deliveries to the table.
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

    /// What holds back the deliveries in memory; none without any. A new endpoint may have `initial` attempts under way.
    pub(super) fn hold(&self, now: Timestamp, initial: usize) -> Option<LaneHold> {
        if let Some(until) = self.paused_until.filter(|until| *until > now) {
            return Some(LaneHold::Pause(until, self.pause_reason));
        }
        if !self.is_active() {
            return None;
        }
        let limit = self.concurrency_limit;
        Some(match self.queues.len() {
            0 => LaneHold::Nothing,
            _ if limit < initial && self.under_way >= limit => LaneHold::Concurrency(limit),
            _ if self.rates.would_wait(now) => LaneHold::Rate,
            _ => LaneHold::Nothing,
        })
    }

    /// Since when the oldest delivery in memory waits, without those that a pause holds back.
    pub(super) fn oldest_waiting_since(&self, now: Timestamp) -> Option<Instant> {
        self.queues.oldest(if self.is_paused(now) { &[DeliveryKind::Manual] } else { &KINDS })
    }

    pub(super) fn is_paused(&self, now: Timestamp) -> bool {
        self.paused_until.is_some_and(|until| until > now)
    }

    /// Applies a pause from the table, unless the endpoint was changed after `changed_at`.
    pub(super) fn apply_stored_pause(&mut self, stored: &StoredPause) {
        if stored.changed_at >= self.changed_at {
            self.changed_at = stored.changed_at;
            self.pause(stored.until, stored.reason);
            self.stored_pause_until = self.stored_pause_until.max(stored.until);
        }
    }

    /// The pause, if it must be stored: its end is at least
    /// [`STORED_PAUSE_MIN`] later than now and than the stored end.
    pub(super) fn pause_to_store(&mut self, now: Timestamp) -> Option<StoredPause> {
        let until = self.paused_until.filter(|until| *until > self.stored_pause_until.max(now) + STORED_PAUSE_MIN)?;
        self.stored_pause_until = until;
        Some(StoredPause { until, changed_at: self.changed_at, reason: self.pause_reason })
    }

    pub(super) fn is_closed(&self) -> bool {
        self.closed
    }

    pub(super) fn close_if_idle(&mut self, now: Timestamp, at: Instant, after: Duration) -> bool {
        if self.is_active() || self.queues.may_have_rows() || self.is_paused(now) {
            self.idle_since = None;
            return false;
        }
        let since = *self.idle_since.get_or_insert(at);
        self.closed = at.saturating_duration_since(since) >= after;
        self.closed
    }

    fn pause(&mut self, until: Timestamp, reason: PauseReason) {
        if self.paused_until.is_none_or(|current| current < until) {
            (self.paused_until, self.pause_reason) = (Some(until), reason);
        }
    }

    /// The lane claims more deliveries when no more than this number is queued: twice the number that is sent at once.
    fn low_water(&self) -> usize {
        (2 * self.concurrency_limit).min(CLAIM_MAX / 2)
    }
}

fn initial_concurrency_limit(config: &LaneConfig) -> usize {
    config.under_way_initial.clamp(1, config.under_way_max.max(1))
}

/// Maximum number of attempts under way: the guaranteed number, and the lane's share of the shared number.
fn under_way_max(config: &LaneConfig, share_divisor: usize) -> usize {
    config.under_way_guaranteed.max(1) + config.under_way_shared_max / share_divisor.max(1)
}

fn bytes_max(config: &LaneConfig, share_divisor: usize) -> usize {
    (config.queued_bytes_max / share_divisor.max(1)).max(GUARANTEED_BYTES)
}
