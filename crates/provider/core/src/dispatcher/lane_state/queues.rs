//! What waits in a lane, by kind, and what is known of each kind's rows in the table.

use std::collections::VecDeque;
use std::time::Instant;

use jiff::Timestamp;

use super::Work;
use crate::model::AttemptTrigger;
use crate::port::{Room, RowKind};

/// All kinds, in the order in which they are looked for.
pub(in super::super) const KINDS: [RowKind; 3] = [RowKind::Manual, RowKind::First, RowKind::Retry];

/// While both wait, one of so many attempts is a retry: what fails must not hold up what is new, nor be forgotten for it.
const RETRY_EVERY: u32 = 4;

/// A look into the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) struct Claim {
    pub(in super::super) kind: RowKind,
    /// How much there is room for.
    pub(in super::super) room: Room,
    /// Calls of `look_in_table` before it.
    looks: u64,
}

/// A queue for each kind.
#[derive(Default)]
pub(super) struct Queues {
    by_hand: Queue,
    first: Queue,
    again: Queue,
    /// First attempts since the last retry.
    firsts: u32,
}

/// Rows of one kind.
#[derive(Default)]
pub(super) struct Queue {
    works: VecDeque<Work>,
    /// There may be rows in the table that are nobody's and due.
    more_in_table: bool,
    /// Counts the calls of `look_in_table`.
    looks: u64,
    claiming: bool,
}

impl Queues {
    /// The next row to go out: what was asked for by hand before all else.
    pub(super) fn next(&mut self) -> Option<Work> {
        if let Some(work) = self.by_hand.works.pop_front() {
            return Some(work);
        }
        let retries_wait = !self.again.works.is_empty();
        if retries_wait && self.firsts + 1 >= RETRY_EVERY {
            self.firsts = 0;
            return self.again.works.pop_front();
        }
        match self.first.works.pop_front() {
            Some(work) => {
                self.firsts = if retries_wait { self.firsts + 1 } else { 0 };
                Some(work)
            }
            None => self.again.works.pop_front(),
        }
    }

    pub(super) fn push_back(&mut self, work: Work) {
        self.of_mut(work.kind()).works.push_back(work);
    }

    pub(super) fn push_front(&mut self, work: Work) {
        self.of_mut(work.kind()).works.push_front(work);
    }

    /// Empties the queues of these kinds; what was in them is going to be in the table.
    pub(super) fn take(&mut self, kinds: &[RowKind]) -> Vec<Work> {
        let mut works = Vec::new();
        for kind in kinds {
            let queue = self.of_mut(*kind);
            if !queue.works.is_empty() {
                queue.look_in_table();
            }
            works.extend(queue.works.drain(..));
        }
        works
    }

    /// Rows in memory.
    pub(super) fn len(&self) -> usize {
        KINDS.iter().map(|kind| self.of(*kind).len()).sum()
    }

    /// Since when the oldest row of these kinds is here.
    pub(super) fn oldest(&self, kinds: &[RowKind]) -> Option<Instant> {
        kinds.iter().filter_map(|kind| self.of(*kind).works.front()).map(|work| work.since).min()
    }

    /// Whether there may be rows in the table.
    pub(super) fn looks_in_table(&self) -> bool {
        KINDS.iter().any(|kind| self.of(*kind).looks_in_table())
    }

    pub(super) fn of(&self, kind: RowKind) -> &Queue {
        match kind {
            RowKind::Manual => &self.by_hand,
            RowKind::First => &self.first,
            RowKind::Retry => &self.again,
        }
    }

    pub(super) fn of_mut(&mut self, kind: RowKind) -> &mut Queue {
        match kind {
            RowKind::Manual => &mut self.by_hand,
            RowKind::First => &mut self.first,
            RowKind::Retry => &mut self.again,
        }
    }
}

impl Queue {
    pub(super) fn len(&self) -> usize {
        self.works.len()
    }

    /// There may be rows in the table.
    pub(super) fn look_in_table(&mut self) {
        self.more_in_table = true;
        self.looks += 1;
    }

    /// Whether there may be rows in the table, or some are on their way from there.
    pub(super) fn looks_in_table(&self) -> bool {
        self.more_in_table || self.claiming
    }

    /// The claim to make, if there may be rows and no more than `low_water` are here.
    pub(super) fn claim(&mut self, kind: RowKind, room: Room, low_water: usize) -> Option<Claim> {
        if !self.more_in_table || self.claiming || self.works.len() > low_water {
            return None;
        }
        self.claiming = true;
        Some(Claim { kind, room, looks: self.looks })
    }

    /// A claim was made; `was_full` when there may have been more rows than there was room for.
    pub(super) fn claimed(&mut self, claim: Claim, was_full: bool) {
        self.claiming = false;
        if !was_full && claim.looks == self.looks {
            self.more_in_table = false;
        }
    }

    /// A claim could not be made.
    pub(super) fn not_claimed(&mut self) {
        self.claiming = false;
    }
}

impl Work {
    /// When its delivery was wanted, if this is the first attempt at it.
    pub(in super::super) fn first_wanted_at(&self) -> Option<Timestamp> {
        self.wanted_at.filter(|_| self.kind() == RowKind::First)
    }

    fn kind(&self) -> RowKind {
        match self.trigger {
            AttemptTrigger::Manual => RowKind::Manual,
            AttemptTrigger::Scheduled if self.attempts == 0 => RowKind::First,
            AttemptTrigger::Scheduled => RowKind::Retry,
        }
    }
}
