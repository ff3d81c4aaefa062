//! The lane of one endpoint: its state, and the tasks that its rules ask for.

use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

use jiff::Timestamp;

use super::attempt::{Attempted, attempt};
use super::lane_state::{LaneState, Step, Terms, Work};
use super::load::Share;
use super::nodes::Holder;
use super::outcome::Pace;
use super::recorder::Entry;
use super::{Shared, claim};
use crate::metrics::LaneFigures;
use crate::model::Id;
use crate::ordering::OrderingKey;
use crate::port::RowKind;
use crate::port::supervision::Pause;
use crate::target::Target;

/// A lane waits this long when the store can't be reached.
pub(super) const STORE_PAUSE: Duration = Duration::from_secs(1);

pub(super) struct Lane {
    pub(super) application: Id,
    pub(super) endpoint: Id,
    /// Lanes are in `shared`, so they must not keep it.
    shared: Weak<Shared>,
    inner: Mutex<Inner>,
}

struct Inner {
    state: LaneState,
    /// When a timer wakes the lane.
    timer: Option<Timestamp>,
    share: Share,
}

/// Room in a lane for one message, given back when it is not used.
pub(super) struct Place {
    lane: Arc<Lane>,
    payload_bytes: usize,
    filled: bool,
}

impl Lane {
    pub(super) fn new(shared: &Arc<Shared>, application: Id, endpoint: Id) -> Arc<Self> {
        let state = LaneState::new(&shared.context.config.lanes);
        Arc::new(Self {
            application,
            endpoint,
            shared: Arc::downgrade(shared),
            inner: Mutex::new(Inner { state, timer: None, share: Share::default() }),
        })
    }

    /// Room for a message. `Err` when the lane is closed.
    pub(super) fn reserve(
        self: &Arc<Self>,
        shared: &Shared,
        payload_bytes: usize,
        target: &Target,
    ) -> Result<Option<Place>, Closed> {
        let terms = self.terms(shared, target);
        let mut inner = self.lock();
        if inner.state.is_closed() {
            return Err(Closed);
        }
        inner.keep_to(terms, target, shared);
        let (now, config) = (shared.context.clock.now(), &shared.context.config.lanes);
        let sharers = inner.share.sharers(&shared.load);
        let reserved = inner.state.reserve(payload_bytes, now, config, sharers);
        inner.count(shared);
        Ok(reserved.then(|| Place { lane: Arc::clone(self), payload_bytes, filled: false }))
    }

    /// The endpoint is like this now.
    pub(super) fn set_terms(&self, shared: &Shared, target: &Target) {
        let terms = self.terms(shared, target);
        self.lock().keep_to(terms, target, shared);
    }

    pub(super) fn is_paused(&self, now: Timestamp) -> bool {
        self.lock().state.is_paused(now)
    }

    /// What the table says of a pause. `Err` when the lane is closed.
    pub(super) fn learn(&self, pause: &Pause) -> Result<(), Closed> {
        let mut inner = self.lock();
        if inner.state.is_closed() {
            return Err(Closed);
        }
        inner.state.learn(pause.until, pause.changed_at);
        Ok(())
    }

    fn pause(&self, until: Timestamp, changed_at: Timestamp) -> Pause {
        Pause { application: self.application.clone(), endpoint: self.endpoint.clone(), until, changed_at }
    }

    /// There may be rows of these kinds for this endpoint in the table. `Err` when the lane is closed.
    pub(super) fn look_in_table(self: &Arc<Self>, shared: &Arc<Shared>, kinds: &[RowKind]) -> Result<(), Closed> {
        let mut inner = self.lock();
        if inner.state.is_closed() {
            return Err(Closed);
        }
        inner.state.look_in_table(kinds);
        drop(inner);
        self.pump(shared);
        Ok(())
    }

    /// Does all that the state asks for at the moment.
    pub(super) fn pump(self: &Arc<Self>, shared: &Arc<Shared>) {
        self.pump_at(shared, shared.context.clock.now());
    }

    fn pump_at(self: &Arc<Self>, shared: &Arc<Shared>, now: Timestamp) {
        while let Some(work) = self.next(shared, now) {
            // In a box of its own, as what becomes a task is copied ten times on its way there and out.
            tokio::spawn(Box::pin(run(Arc::clone(self), Arc::clone(shared), work)));
        }
    }

    /// The next delivery to send, if one may be sent now. Claims and timers are started on the way.
    fn next(self: &Arc<Self>, shared: &Arc<Shared>, now: Timestamp) -> Option<Work> {
        if shared.is_draining() {
            return None;
        }
        loop {
            let config = &shared.context.config.lanes;
            let mut inner = self.lock();
            let sharers = inner.share.sharers(&shared.load);
            let step = inner.state.step(now, config, sharers);
            inner.count(shared);
            match step {
                Step::Start(work) => {
                    shared.load.under_way.fetch_add(1, Ordering::AcqRel);
                    return Some(work);
                }
                Step::Claim(asked) => {
                    drop(inner);
                    tokio::spawn(claim::claim(Arc::clone(self), Arc::clone(shared), asked));
                }
                Step::GiveBack(works) => {
                    drop(inner);
                    let (lane, shared) = (Arc::clone(self), Arc::clone(shared));
                    tokio::spawn(async move { claim::release(&shared, &lane.endpoint, works).await });
                }
                Step::WaitUntil(at) => {
                    inner.wake_at(at, self);
                    return None;
                }
                Step::Rest => return None,
            }
        }
    }

    /// Gives back what is queued: the table has it from then on.
    pub(super) async fn give_back(&self) {
        let Some(shared) = self.shared.upgrade() else { return };
        let works = self.update(&shared, LaneState::take_queues);
        claim::release(&shared, &self.endpoint, works).await;
    }

    /// That a row of this lane is to go untried.
    pub(super) fn drop_entry(&self, message: Id, key: Option<OrderingKey>, holder: Holder) -> Entry {
        let (application, endpoint) = (self.application.clone(), self.endpoint.clone());
        Entry::Drop { message, application, endpoint, key, _holder: holder }
    }

    pub(super) fn figures(&self, now: Timestamp) -> LaneFigures {
        self.lock().state.figures(now)
    }

    pub(super) fn waits_since(&self, now: Timestamp) -> Option<Instant> {
        self.lock().state.waits_since(now)
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

    fn terms(&self, shared: &Shared, target: &Target) -> Terms {
        Terms {
            changed_at: target.changed_at,
            endpoint: shared.rates.part(target.throttle_rate),
            application: shared.rates.of(&self.application, target.application_rate),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The lane is not in the map any more.
#[derive(Debug)]
pub(super) struct Closed;

impl Inner {
    fn keep_to(&mut self, terms: Terms, target: &Target, shared: &Shared) {
        self.share.belongs_to(|| shared.load.account(&target.account));
        self.state.set_terms(terms, &shared.context.config.lanes);
    }

    /// Keeps the number of active lanes.
    fn count(&mut self, shared: &Shared) {
        self.share.set_active(self.state.is_active(), &shared.load);
    }

    /// Wakes the lane at `at`, unless it is woken before that anyway.
    fn wake_at(&mut self, at: Timestamp, lane: &Arc<Lane>) {
        if self.timer.is_some_and(|timer| timer <= at) {
            return;
        }
        self.timer = Some(at);
        // A lane that goes is not kept by its timer.
        let lane = Arc::downgrade(lane);
        tokio::spawn(async move {
            let Some(shared) = lane.upgrade().and_then(|lane| lane.shared.upgrade()) else { return };
            let clock = Arc::clone(&shared.context.clock);
            drop(shared);
            clock.sleep_until(at).await;
            let Some(lane) = lane.upgrade() else { return };
            let Some(shared) = lane.shared.upgrade() else { return };
            lane.lock().timer.take_if(|timer| *timer <= at);
            lane.pump(&shared);
        });
    }
}

impl Place {
    /// The message is on disk: its delivery goes out.
    pub(super) fn fill(mut self, shared: &Arc<Shared>, work: Work, now: Timestamp) {
        self.filled = true;
        self.lane.update(shared, |state| state.fill_place(work));
        self.lane.pump_at(shared, now);
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        if self.filled {
            return;
        }
        let Some(shared) = self.lane.shared.upgrade() else { return };
        let payload_bytes = self.payload_bytes;
        self.lane.update(&shared, |state| state.unreserve(payload_bytes));
    }
}

/// Sends one delivery after the other, as long as the lane has one for it. What is rare is apart, as it takes room.
#[expect(clippy::manual_async_fn, reason = "it is moved about, and an async fn would hold its parameters twice")]
fn run(lane: Arc<Lane>, shared: Arc<Shared>, mut work: Work) -> impl Future<Output = ()> + Send {
    async move {
        loop {
            let bytes = work.bytes();
            let under_way = UnderWay { lane: &lane, shared: &shared, bytes };
            let attempted = attempt(&shared, &lane, work).await;
            std::mem::forget(under_way);
            let now = shared.context.clock.now();
            match attempted {
                Attempted::Done { pace, changed_at } => {
                    let config = &shared.context.config.lanes;
                    let paused = lane.update(&shared, |state| {
                        state.ended(bytes, pace, changed_at, now, config);
                        state.take_note(now)
                    });
                    if let Some((until, changed_at)) = paused {
                        Box::pin(note_pause(&shared, lane.pause(until, changed_at), now)).await;
                    }
                }
                Attempted::NotBegun(work) => {
                    lane.update(&shared, |state| state.put_back(*work, now + STORE_PAUSE));
                    if shared.is_draining() {
                        Box::pin(lane.give_back()).await;
                    }
                }
            }
            shared.ended();
            let Some(next) = lane.next(&shared, now) else { return };
            work = next;
            // The endpoint may keep up with more than before; where there is nothing for this one, there is nothing for others.
            lane.pump_at(&shared, now);
        }
    }
}

async fn note_pause(shared: &Shared, pause: Pause, now: Timestamp) {
    let endpoint = pause.endpoint.clone();
    if let Err(error) = shared.context.store.note_pause(pause, now).await {
        tracing::warn!(%endpoint, %error, "that an endpoint is left alone could not be kept: only this process knows");
    }
}

/// Stands for an attempt, so that one that panics doesn't keep its place. Its row is found again, as nobody's.
struct UnderWay<'a> {
    lane: &'a Arc<Lane>,
    shared: &'a Arc<Shared>,
    bytes: usize,
}

impl Drop for UnderWay<'_> {
    fn drop(&mut self) {
        let (now, config) = (self.shared.context.clock.now(), &self.shared.context.config.lanes);
        self.lane.update(self.shared, |state| state.ended(self.bytes, Pace::Same, now, now, config));
        self.shared.names.doubt();
        self.shared.ended();
        self.lane.pump(self.shared);
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
