//! The rules of a lane, without tasks and without IO: what waits, what is under way, and what is to be done next.

#[cfg(test)]
mod tests;

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use bytes::Bytes;
use jiff::Timestamp;
use runtime::clock::to_ms;

use super::bucket::Rate;
use super::nodes::Holder;
use super::outcome::Pace;
use super::rates::{Rates, SharedBucket};
use crate::config::LaneConfig;
use crate::metrics::LaneFigures;
use crate::model::{AttemptTrigger, Id};
use crate::ordering::OrderingKey;

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
/// Over a pause longer than this, rows are not kept in memory.
const KEPT_OVER_PAUSE: Duration = Duration::from_secs(10);

/// A delivery row in memory.
pub(super) struct Work {
    pub(super) message: Id,
    pub(super) payload: Bytes,
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
}

/// What a lane is to do.
pub(super) enum Step {
    /// Send this.
    Start(Work),
    /// Claim so many rows from the table.
    Claim(usize),
    /// Look again at this time.
    WaitUntil(Timestamp),
    /// Give these rows back to the table.
    GiveBack(Vec<Work>),
    /// Nothing until something happens.
    Rest,
}

pub(super) struct LaneState {
    queue: VecDeque<Work>,
    /// Bytes of what is queued and of what has a place.
    bytes: usize,
    /// Places promised to messages on their way to disk.
    reserved: usize,
    under_way: usize,
    /// Attempts that may be under way: grows while the endpoint keeps up, is halved when it doesn't.
    allowed: usize,
    /// Pauses in a row.
    pauses: u32,
    paused_until: Option<Timestamp>,
    rates: Rates,
    /// There may be rows in the table that are nobody's and due.
    more_in_table: bool,
    /// Counts the calls of `look_in_table`.
    looks: u64,
    claiming: bool,
    /// Bytes of a claimed row, by experience.
    row_bytes: usize,
    /// Taken out of the map: whoever still has it must get the new one.
    closed: bool,
    idle_since: Option<Instant>,
}

impl LaneState {
    pub(super) fn new(config: &LaneConfig) -> Self {
        Self {
            queue: VecDeque::new(),
            bytes: 0,
            reserved: 0,
            under_way: 0,
            allowed: config.under_way_guaranteed.clamp(1, config.under_way_max.max(1)),
            pauses: 0,
            paused_until: None,
            rates: Rates::default(),
            more_in_table: false,
            looks: 0,
            claiming: false,
            row_bytes: 2 * ROW_BYTES,
            closed: false,
            idle_since: None,
        }
    }

    /// Something is queued, promised or under way.
    pub(super) fn is_active(&self) -> bool {
        !self.queue.is_empty() || self.reserved > 0 || self.under_way > 0
    }

    /// Room for a message that is about to be accepted. None while rows wait in the table, so that those go first.
    pub(super) fn reserve(&mut self, payload_bytes: usize, now: Timestamp, config: &LaneConfig, lanes: usize) -> bool {
        let rows = self.queue.len() + self.reserved;
        let bytes = payload_bytes + ROW_BYTES;
        let fits = rows == 0 || self.bytes + bytes <= bytes_max(config, lanes);
        let waits = self.more_in_table || self.claiming || self.paused_until.is_some_and(|until| until > now);
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
        self.queue.push_back(work);
    }

    /// There may be rows in the table.
    pub(super) fn look_in_table(&mut self) {
        self.more_in_table = true;
        self.looks += 1;
    }

    pub(super) fn looks(&self) -> u64 {
        self.looks
    }

    pub(super) fn set_rates(&mut self, endpoint: Option<Rate>, application: Option<SharedBucket>) {
        self.rates.set(endpoint, application);
    }

    /// The rows of a claim. `asked` and `looks` as they were when it began.
    pub(super) fn claimed(&mut self, works: Vec<Work>, asked: usize, looks: u64) {
        self.claiming = false;
        if works.len() < asked && looks == self.looks {
            self.more_in_table = false;
        }
        let bytes: usize = works.iter().map(|work| work.payload.len() + ROW_BYTES).sum();
        if let Some(row_bytes) = bytes.checked_div(works.len()) {
            self.row_bytes = row_bytes.max(self.row_bytes / 2);
        }
        self.bytes += bytes;
        self.queue.extend(works);
    }

    /// No claim could be made; whoever makes it possible wakes the lane.
    pub(super) fn claim_later(&mut self) {
        self.claiming = false;
    }

    /// The claim failed; the next one is made after a pause.
    pub(super) fn not_claimed(&mut self, until: Timestamp) {
        self.claiming = false;
        self.pause(until);
    }

    /// What to do next. `lanes` have work, this one included.
    pub(super) fn step(&mut self, now: Timestamp, config: &LaneConfig, lanes: usize) -> Step {
        if let Some(until) = self.paused_until {
            if until > now + KEPT_OVER_PAUSE && !self.queue.is_empty() {
                return Step::GiveBack(self.take_queue());
            }
            if until > now {
                return Step::WaitUntil(until);
            }
            self.paused_until = None;
        }
        if self.more_in_table && !self.claiming && self.queue.len() + self.reserved <= self.low_water() {
            self.claiming = true;
            let by_bytes = bytes_max(config, lanes).saturating_sub(self.bytes) / self.row_bytes;
            return Step::Claim(by_bytes.min(config.queued_max).clamp(1, CLAIM_MAX));
        }
        if self.queue.is_empty() || self.under_way >= self.allowed.min(under_way_max(config, lanes)) {
            return Step::Rest;
        }
        if let Err(at) = self.rates.take(now) {
            return Step::WaitUntil(at);
        }
        match self.queue.pop_front() {
            Some(work) => {
                self.bytes -= work.payload.len() + ROW_BYTES;
                self.under_way += 1;
                Step::Start(work)
            }
            None => Step::Rest,
        }
    }

    /// An attempt ended.
    pub(super) fn ended(&mut self, pace: Pace, now: Timestamp, config: &LaneConfig) {
        self.under_way -= 1;
        match pace {
            Pace::Faster => {
                self.pauses = 0;
                self.allowed = (self.allowed + 1).min(config.under_way_max.max(1));
            }
            Pace::Same => {}
            Pace::Slower => {
                // Those under way together when it began say the same thing: one of them is enough.
                if self.allowed == 1 && self.paused_until.is_none_or(|until| until <= now) {
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
        self.bytes += work.payload.len() + ROW_BYTES;
        self.queue.push_front(work);
        self.pause(until);
    }

    /// Empties the queue; its rows are to be given back to the table.
    pub(super) fn take_queue(&mut self) -> Vec<Work> {
        let works: Vec<Work> = self.queue.drain(..).collect();
        self.bytes -= works.iter().map(|work| work.payload.len() + ROW_BYTES).sum::<usize>();
        if !works.is_empty() {
            self.look_in_table();
        }
        works
    }

    pub(super) fn figures(&self, now: Timestamp) -> LaneFigures {
        LaneFigures {
            queued: self.queue.len(),
            under_way: self.under_way,
            allowed: self.allowed,
            paused_ms: self.paused_until.map_or(0, |until| (to_ms(until) - to_ms(now)).max(0)),
        }
    }

    pub(super) fn is_closed(&self) -> bool {
        self.closed
    }

    /// Closes the lane when it has had nothing to do for `after`.
    pub(super) fn close_if_idle(&mut self, now: Timestamp, at: Instant, after: Duration) -> bool {
        let paused = self.paused_until.is_some_and(|until| until > now);
        if self.is_active() || self.claiming || self.more_in_table || paused {
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

/// Attempts that one of `lanes` may have under way: its own few, and its part of what is shared.
fn under_way_max(config: &LaneConfig, lanes: usize) -> usize {
    config.under_way_guaranteed.max(1) + config.under_way_shared_max / lanes.max(1)
}

fn bytes_max(config: &LaneConfig, lanes: usize) -> usize {
    (config.queued_bytes_max / lanes.max(1)).max(OWN_BYTES)
}
