//! The rules of a lane, without tasks and without IO: what waits, what is under way, and what is to be done next.

mod queues;
#[cfg(test)]
mod tests;

use std::time::{Duration, Instant};

use jiff::Timestamp;
use kit_runtime::clock::to_ms;

use super::bucket::Rate;
use super::nodes::Holder;
use super::outcome::Pace;
use super::rates::{Rates, SharedBucket};
use crate::config::LaneConfig;
use crate::metrics::LaneFigures;
use crate::model::{AttemptTrigger, Id};
use crate::ordering::OrderingKey;
use crate::payload::StoredPayload;
use crate::port::{Room, RowKind};

use queues::Queues;
pub(super) use queues::{Claim, KINDS};

/// Rows claimed in one call at most.
const CLAIM_MAX: usize = 256;
/// What a row in memory takes beside its payload, roughly.
const ROW_BYTES: usize = 512;
/// Room that every lane has whatever the others do.
const OWN_BYTES: usize = 16 * 1_024;
/// Pauses of an endpoint that says it has too much to do, without saying for how long: doubled from the first to the
/// last.
const PAUSE_MIN: Duration = Duration::from_millis(50);
const PAUSE_MAX: Duration = Duration::from_secs(5);
/// Pauses are kept in the table so that they outlast this process, but for the last bit of them.
const NOTED_PAUSE: Duration = Duration::from_secs(1);
/// Over a pause longer than this, rows are not kept in memory.
const KEPT_OVER_PAUSE: Duration = Duration::from_secs(10);

/// A delivery row in memory.
pub(super) struct Work {
    pub(super) message: Id,
    pub(super) payload: StoredPayload,
    /// How often payloads of the application's messages had been removed before this one was read.
    pub(super) purges: i64,
    /// Attempts made so far on the schedule.
    pub(super) attempts: u32,
    /// What the attempt is made for.
    pub(super) trigger: AttemptTrigger,
    /// What it stays in order with: the next of that key is in the table.
    pub(super) key: Option<OrderingKey>,
    /// The name that the row belongs to.
    pub(super) holder: Holder,
    /// Since when it is known here: what was read of the endpoint after that includes what the row was made from.
    pub(super) since: Instant,
    /// When its message was accepted, or is to be delivered; none when it is sent again.
    pub(super) wanted_at: Option<Timestamp>,
}

impl Work {
    /// Memory that it takes, roughly.
    pub(super) fn bytes(&self) -> usize {
        self.payload.len() + ROW_BYTES
    }
}

/// What a lane is to do.
pub(super) enum Step {
    /// Send this.
    Start(Work),
    /// Claim rows from the table.
    Claim(Claim),
    /// Look again at this time.
    WaitUntil(Timestamp),
    /// Give these rows back to the table.
    GiveBack(Vec<Work>),
    /// Nothing until something happens.
    Rest,
}

/// What a lane keeps to, as its endpoint and application have it.
pub(super) struct Terms {
    /// When either was last changed.
    pub(super) changed_at: Timestamp,
    pub(super) endpoint: Option<Rate>,
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
    allowed: usize,
    /// Pauses in a row.
    pauses: u32,
    /// What the receiver asked for, or seems to need.
    paused_until: Option<Timestamp>,
    /// How much of that is in the table.
    noted_until: Timestamp,
    /// The store could not be reached.
    store_until: Option<Timestamp>,
    /// When what the lane keeps to was last changed.
    changed_at: Timestamp,
    rates: Rates,
    /// Taken out of the map: whoever still has it must get the new one.
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
            allowed: allowed_at_first(config),
            pauses: 0,
            paused_until: None,
            noted_until: Timestamp::MIN,
            store_until: None,
            changed_at: Timestamp::MIN,
            rates: Rates::default(),
            closed: false,
            idle_since: None,
        }
    }

    /// Something is queued, promised or under way.
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
        sharers: usize,
    ) -> bool {
        let first = self.queues.of(RowKind::First);
        let rows = first.len() + self.reserved;
        let bytes = payload_bytes + ROW_BYTES;
        let fits = rows == 0 || self.bytes + bytes <= bytes_max(config, sharers);
        let waits = first.looks_in_table() || self.is_paused(now);
        if waits || rows >= config.queued_max.max(1) || !fits {
            return false;
        }
        self.reserved += 1;
        self.bytes += bytes;
        true
    }

    pub(super) fn unreserve(&mut self, payload_bytes: usize) {
        self.reserved -= 1;
        self.bytes -= payload_bytes + ROW_BYTES;
    }

    /// A message whose place was reserved is on disk.
    pub(super) fn fill_place(&mut self, work: Work) {
        self.reserved -= 1;
        self.queues.push_back(work);
    }

    /// There may be rows of these kinds in the table.
    pub(super) fn look_in_table(&mut self, kinds: &[RowKind]) {
        kinds.iter().for_each(|kind| self.queues.of_mut(*kind).look_in_table());
    }

    /// What the lane keeps to from now on. A pause that the receiver asked for is over when somebody has changed the endpoint:
    /// it may be another receiver, or one that was mended.
    pub(super) fn set_terms(&mut self, terms: Terms, config: &LaneConfig) {
        if terms.changed_at < self.changed_at {
            return;
        }
        if terms.changed_at > self.changed_at {
            self.changed_at = terms.changed_at;
            self.paused_until = None;
            self.noted_until = Timestamp::MIN;
            self.pauses = 0;
            self.allowed = self.allowed.max(allowed_at_first(config));
        }
        self.rates.set(terms.endpoint, terms.application);
    }

    /// The rows of a claim.
    pub(super) fn claimed(&mut self, works: Vec<Work>, read: usize, claim: Claim) {
        let payload_bytes: usize = works.iter().map(|work| work.payload.len()).sum();
        let was_full = read >= claim.room.rows || payload_bytes >= claim.room.payload_bytes;
        self.queues.of_mut(claim.kind).claimed(claim, was_full);
        self.bytes += payload_bytes + works.len() * ROW_BYTES;
        works.into_iter().for_each(|work| self.queues.push_back(work));
    }

    /// No claim could be made; whoever makes it possible wakes the lane.
    pub(super) fn claim_later(&mut self, kind: RowKind) {
        self.queues.of_mut(kind).not_claimed();
    }

    /// The claim failed; the next one is made after a pause.
    pub(super) fn not_claimed(&mut self, kind: RowKind, until: Timestamp) {
        self.queues.of_mut(kind).not_claimed();
        self.store_until = Some(until);
    }

    /// What to do next. `sharers` is among how many like this one the shared room is divided.
    pub(super) fn step(&mut self, now: Timestamp, config: &LaneConfig, sharers: usize) -> Step {
        if let Some(until) = self.store_until.filter(|until| *until > now) {
            return Step::WaitUntil(until);
        }
        let paused_until = self.paused_until.filter(|until| *until > now);
        if paused_until.is_none() {
            self.paused_until = None;
        }
        // What was asked for by hand goes out in spite of a pause.
        let kinds: &[RowKind] = if paused_until.is_some() { &[RowKind::Manual] } else { &KINDS };
        if let Some(claim) = kinds.iter().find_map(|kind| self.claim(*kind, config, sharers)) {
            return Step::Claim(claim);
        }
        if let Some(until) = paused_until {
            if until > now + KEPT_OVER_PAUSE && self.queues.len() > self.queues.of(RowKind::Manual).len() {
                return Step::GiveBack(self.take(&[RowKind::First, RowKind::Retry]));
            }
            if self.queues.of(RowKind::Manual).len() == 0 {
                return Step::WaitUntil(until);
            }
        }
        if self.queues.len() == 0 || self.under_way >= self.allowed.min(under_way_max(config, sharers)) {
            return Step::Rest;
        }
        if let Err(at) = self.rates.take(now) {
            return Step::WaitUntil(at);
        }
        match self.queues.next() {
            Some(work) => {
                self.under_way += 1;
                Step::Start(work)
            }
            None => Step::Rest,
        }
    }

    /// The claim to make for rows of one kind, if it is time for one. A lane whose room is full waits until something of it has
    /// gone; one that has nothing takes a row of any size, and one that was asked for by hand does not wait.
    fn claim(&mut self, kind: RowKind, config: &LaneConfig, sharers: usize) -> Option<Claim> {
        let reserved = if kind == RowKind::First { self.reserved } else { 0 };
        let bytes = bytes_max(config, sharers).saturating_sub(self.bytes);
        let is_full = bytes < ROW_BYTES && (self.under_way > 0 || self.queues.len() > 0);
        if is_full && kind != RowKind::Manual {
            return None;
        }
        // Half of it for the rows, half for what they carry.
        let rows = (bytes / 2 / ROW_BYTES).min(config.queued_max).clamp(1, CLAIM_MAX);
        let room = Room { rows, payload_bytes: (bytes / 2).max(1) };
        let low_water = self.low_water().checked_sub(reserved)?;
        self.queues.of_mut(kind).claim(kind, room, low_water)
    }

    /// An attempt ended that took so many bytes, at an endpoint that was last changed at `changed_at`. What one says that was
    /// changed since is no longer true.
    pub(super) fn ended(
        &mut self,
        bytes: usize,
        pace: Pace,
        changed_at: Timestamp,
        now: Timestamp,
        config: &LaneConfig,
    ) {
        self.under_way -= 1;
        self.bytes -= bytes;
        match pace {
            _ if changed_at < self.changed_at => {}
            Pace::Faster => {
                self.pauses = 0;
                self.allowed = (self.allowed + 1).min(config.under_way_max.max(1));
            }
            Pace::Same => {}
            Pace::Slower => {
                // Those under way together when it began say the same thing: one of them is enough.
                if self.allowed == 1 && !self.is_paused(now) {
                    self.pause(now + PAUSE_MIN.saturating_mul(1 << self.pauses.min(16)).min(PAUSE_MAX));
                    self.pauses += 1;
                }
                self.allowed = (self.allowed / 2).max(1);
            }
            Pace::Pause(pause) => {
                self.allowed = (self.allowed / 2).max(1);
                self.pause(now + pause);
            }
        }
    }

    /// An attempt could not be begun: the row waits on, and the lane with it.
    pub(super) fn put_back(&mut self, work: Work, until: Timestamp) {
        self.under_way -= 1;
        self.queues.push_front(work);
        self.store_until = Some(until);
    }

    /// Empties the queues; their rows are to be given back to the table.
    pub(super) fn take_queues(&mut self) -> Vec<Work> {
        self.take(&KINDS)
    }

    fn take(&mut self, kinds: &[RowKind]) -> Vec<Work> {
        let works = self.queues.take(kinds);
        self.bytes -= works.iter().map(Work::bytes).sum::<usize>();
        works
    }

    pub(super) fn figures(&self, now: Timestamp) -> LaneFigures {
        LaneFigures {
            queued: self.queues.len(),
            under_way: self.under_way,
            allowed: self.allowed,
            paused_ms: self.paused_until.map_or(0, |until| (to_ms(until) - to_ms(now)).max(0)),
        }
    }

    /// Since when the oldest row in memory waits that is not kept back on purpose.
    pub(super) fn waits_since(&self, now: Timestamp) -> Option<Instant> {
        self.queues.oldest(if self.is_paused(now) { &[RowKind::Manual] } else { &KINDS })
    }

    pub(super) fn is_paused(&self, now: Timestamp) -> bool {
        self.paused_until.is_some_and(|until| until > now)
    }

    /// A pause that the table has, of the endpoint as it was last changed at `changed_at`.
    pub(super) fn learn(&mut self, until: Timestamp, changed_at: Timestamp) {
        if changed_at >= self.changed_at {
            self.changed_at = changed_at;
            self.pause(until);
            self.noted_until = self.noted_until.max(until);
        }
    }

    /// The end of a pause that is to be kept in the table, and since when the endpoint is as it is: much of it is to come, and
    /// the table does not have much of that.
    pub(super) fn take_note(&mut self, now: Timestamp) -> Option<(Timestamp, Timestamp)> {
        let until = self.paused_until.filter(|until| *until > self.noted_until.max(now) + NOTED_PAUSE)?;
        self.noted_until = until;
        Some((until, self.changed_at))
    }

    pub(super) fn is_closed(&self) -> bool {
        self.closed
    }

    /// Closes the lane when it has had nothing to do for `after`.
    pub(super) fn close_if_idle(&mut self, now: Timestamp, at: Instant, after: Duration) -> bool {
        if self.is_active() || self.queues.looks_in_table() || self.is_paused(now) {
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
        (2 * self.allowed).min(CLAIM_MAX / 2)
    }
}

fn allowed_at_first(config: &LaneConfig) -> usize {
    config.under_way_guaranteed.clamp(1, config.under_way_max.max(1))
}

/// Attempts that one of so many lanes may have under way: its own few, and its part of what is shared.
fn under_way_max(config: &LaneConfig, sharers: usize) -> usize {
    config.under_way_guaranteed.max(1) + config.under_way_shared_max / sharers.max(1)
}

fn bytes_max(config: &LaneConfig, sharers: usize) -> usize {
    (config.queued_bytes_max / sharers.max(1)).max(OWN_BYTES)
}
