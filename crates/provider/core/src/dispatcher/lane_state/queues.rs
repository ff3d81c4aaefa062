//! The queues of a lane, one for each kind of delivery, and whether the table may have more of each kind.

use std::collections::VecDeque;
use std::time::Instant;

use jiff::Timestamp;

use super::QueuedDelivery;
use crate::model::AttemptTrigger;
use crate::port::{ClaimLimit, DeliveryKind};

/// All kinds, in the order in which they are claimed.
pub(in super::super) const KINDS: [DeliveryKind; 3] = [DeliveryKind::Manual, DeliveryKind::First, DeliveryKind::Retry];

/// While first attempts and retries both wait, one of this many attempts is a retry. Retries must not delay new
/// messages, and new messages must not starve retries.
const RETRY_EVERY: u32 = 4;

/// A claim of rows from the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) struct ClaimRequest {
    pub(in super::super) kind: DeliveryKind,
    pub(in super::super) room: ClaimLimit,
    /// Calls of `wake_for_rows` before the claim.
    wakes: u64,
}

#[derive(Default)]
pub(super) struct Queues {
    manual: Queue,
    first: Queue,
    retries: Queue,
    /// First attempts since the last retry.
    firsts_since_retry: u32,
}

#[derive(Default)]
pub(super) struct Queue {
    deliveries: VecDeque<QueuedDelivery>,
    /// Whether the table may have due rows without an owner.
    more_in_table: bool,
    /// Counts the calls of `wake_for_rows`.
    wakes: u64,
    claiming: bool,
}

impl Queues {
    /// The next delivery to send. Manual deliveries come first.
    pub(super) fn next(&mut self) -> Option<QueuedDelivery> {
        if let Some(delivery) = self.manual.deliveries.pop_front() {
            return Some(delivery);
        }
        let retries_wait = !self.retries.deliveries.is_empty();
        if retries_wait && self.firsts_since_retry + 1 >= RETRY_EVERY {
            self.firsts_since_retry = 0;
            return self.retries.deliveries.pop_front();
        }
        match self.first.deliveries.pop_front() {
            Some(delivery) => {
                self.firsts_since_retry = if retries_wait { self.firsts_since_retry + 1 } else { 0 };
                Some(delivery)
            }
            None => self.retries.deliveries.pop_front(),
        }
    }

    pub(super) fn push_back(&mut self, delivery: QueuedDelivery) {
        self.of_mut(delivery.kind()).deliveries.push_back(delivery);
    }

    pub(super) fn push_front(&mut self, delivery: QueuedDelivery) {
        self.of_mut(delivery.kind()).deliveries.push_front(delivery);
    }

    /// Empties the queues of these kinds. The caller releases the deliveries to the table.
    pub(super) fn take(&mut self, kinds: &[DeliveryKind]) -> Vec<QueuedDelivery> {
        let mut deliveries = Vec::new();
        for kind in kinds {
            let queue = self.of_mut(*kind);
            if !queue.deliveries.is_empty() {
                queue.wake_for_rows();
            }
            deliveries.extend(queue.deliveries.drain(..));
        }
        deliveries
    }

    pub(super) fn len(&self) -> usize {
        KINDS.iter().map(|kind| self.of(*kind).len()).sum()
    }

    /// When the oldest delivery of these kinds was queued.
    pub(super) fn oldest(&self, kinds: &[DeliveryKind]) -> Option<Instant> {
        kinds.iter().filter_map(|kind| self.of(*kind).deliveries.front()).map(|delivery| delivery.since).min()
    }

    /// Whether the table may have deliveries for this lane.
    pub(super) fn may_have_rows(&self) -> bool {
        KINDS.iter().any(|kind| self.of(*kind).may_have_rows())
    }

    pub(super) fn of(&self, kind: DeliveryKind) -> &Queue {
        match kind {
            DeliveryKind::Manual => &self.manual,
            DeliveryKind::First => &self.first,
            DeliveryKind::Retry => &self.retries,
        }
    }

    pub(super) fn of_mut(&mut self, kind: DeliveryKind) -> &mut Queue {
        match kind {
            DeliveryKind::Manual => &mut self.manual,
            DeliveryKind::First => &mut self.first,
            DeliveryKind::Retry => &mut self.retries,
        }
    }
}

impl Queue {
    pub(super) fn len(&self) -> usize {
        self.deliveries.len()
    }

    /// Records that the table may have rows.
    pub(super) fn wake_for_rows(&mut self) {
        self.more_in_table = true;
        self.wakes += 1;
    }

    /// Whether the table may have rows, or a claim is under way.
    pub(super) fn may_have_rows(&self) -> bool {
        self.more_in_table || self.claiming
    }

    /// Begins a claim, if the table may have rows and at most `low_water` deliveries are queued.
    pub(super) fn claim(&mut self, kind: DeliveryKind, room: ClaimLimit, low_water: usize) -> Option<ClaimRequest> {
        if !self.more_in_table || self.claiming || self.deliveries.len() > low_water {
            return None;
        }
        self.claiming = true;
        Some(ClaimRequest { kind, room, wakes: self.wakes })
    }

    /// Ends a claim. `was_full` when the table may have more rows than the claim had room for.
    pub(super) fn claimed(&mut self, claim: ClaimRequest, was_full: bool) {
        self.claiming = false;
        if !was_full && claim.wakes == self.wakes {
            self.more_in_table = false;
        }
    }

    /// Ends a claim without a result.
    pub(super) fn claim_failed(&mut self) {
        self.claiming = false;
    }
}

impl QueuedDelivery {
    /// When the delivery was requested, if the next attempt is its first.
    pub(in super::super) fn first_requested_at(&self) -> Option<Timestamp> {
        self.requested_at.filter(|_| self.kind() == DeliveryKind::First)
    }

    fn kind(&self) -> DeliveryKind {
        match self.trigger {
            AttemptTrigger::Manual => DeliveryKind::Manual,
            AttemptTrigger::Scheduled if self.attempts == 0 => DeliveryKind::First,
            AttemptTrigger::Scheduled => DeliveryKind::Retry,
        }
    }
}
