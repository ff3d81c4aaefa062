//! A lane: the events of one customer on their way to its provider.
//!
//! One task owns everything here. It starts requests as far as [`Flow`] allows, the oldest event first; turns each verdict
//! into an outcome and gives that to the batcher that all lanes share; and claims more from the table when it knows that
//! rows wait there. An event leaves the lane, and its place becomes free, when its outcome is on disk.

mod gate;

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use jiff::Timestamp;
use kit_runtime::clock::Clock;
use tokio::sync::mpsc;
use tokio::task::{Id, JoinError, JoinSet};
use uuid::Uuid;

use super::connection::Connection;
use super::flow::{Flow, Ticket};
use super::request::publish;
use super::settle::Recorded;
use super::verdict::Verdict;
use super::{Door, Held, Shared};
use crate::port::{Became, Cursor, OutboxOutcome};

/// How long a lane that ends waits for its last requests and outcomes.
const GOODBYE_MAX: Duration = Duration::from_secs(5);

pub(super) struct Lane {
    customer: Uuid,
    shared: Arc<Shared>,
    door: Arc<Door>,
    inbox: mpsc::UnboundedReceiver<Held>,
    /// Events to be published, the oldest first.
    queue: BTreeMap<Cursor, Held>,
    /// Every event in memory. One that comes again is not published twice at once.
    present: HashMap<Cursor, Presence>,
    steps: JoinSet<Step>,
    /// Whose step it is, should one panic.
    cursors: HashMap<Id, Cursor>,
    /// Those of the steps that are requests.
    requests: HashSet<Id>,
    flow: Flow,
    connection: Option<(Connection, Timestamp)>,
    /// The change of the connection that the flow is about.
    flow_of: Option<Timestamp>,
    /// Rows that could be claimed wait in the table.
    rows_wait: bool,
    /// Rows may wait behind one of ours: look again when something was settled.
    successors_wait: bool,
    /// When the earliest row that is to be tried again may be, as far as is known.
    next_attempt_at: Option<Timestamp>,
    /// Rows may wait for a time that is not known: ask the table when nothing else waits there.
    ask_next_attempt: bool,
    ended: bool,
}

/// Where an event in memory is.
enum Presence {
    /// In the queue, or on its way to the provider.
    Here,
    /// Its outcome is being recorded. A row that stays in the outbox may be claimed anew as soon as that is on disk, before the
    /// lane hears of it. What was claimed must not be dropped: the row is this node's, and nobody else looks for it.
    Settling { anew: Option<Held> },
}

/// What a task of the lane has done.
enum Step {
    Answered { held: Held, verdict: Verdict, ticket: Ticket, used: Timestamp },
    Settled { held: Held, recorded: Recorded, left: Left },
}

/// What an outcome leaves in the outbox.
#[derive(Clone, Copy)]
enum Left {
    Nothing,
    /// The row, to be tried again: at once, or at that time.
    Row {
        again_at: Option<Timestamp>,
    },
}

impl Lane {
    pub(super) fn new(
        customer: Uuid,
        shared: Arc<Shared>,
        door: Arc<Door>,
        inbox: mpsc::UnboundedReceiver<Held>,
    ) -> Self {
        let config = &shared.parts.config;
        let flow = Flow::new(config.pause_base, config.pause_max);
        Self {
            customer,
            shared,
            door,
            inbox,
            queue: BTreeMap::new(),
            present: HashMap::new(),
            steps: JoinSet::new(),
            cursors: HashMap::new(),
            requests: HashSet::new(),
            flow,
            connection: None,
            flow_of: None,
            rows_wait: true,
            successors_wait: false,
            next_attempt_at: None,
            ask_next_attempt: true,
            ended: false,
        }
    }

    pub(super) async fn run(mut self) {
        let clock = Arc::clone(&self.shared.parts.clock);
        let stopping = self.shared.stopping.clone();
        loop {
            self.claim().await;
            self.start_requests().await;
            let alarm = self.alarm();
            tokio::select! {
                biased;
                () = stopping.cancelled() => break,
                Some(step) = self.steps.join_next_with_id() => self.step(step).await,
                Some(held) = self.inbox.recv() => self.take(held),
                () = self.door.wake.wait() => self.woken().await,
                () = sleep(clock.as_ref(), alarm) => self.alarm_rang(clock.now()),
            }
        }
        self.end().await;
    }

    fn take(&mut self, held: Held) {
        match self.present.entry(held.event.cursor) {
            Entry::Vacant(entry) => {
                entry.insert(Presence::Here);
                self.queue.insert(held.event.cursor, held);
            }
            Entry::Occupied(mut entry) => {
                if let Presence::Settling { anew } = entry.get_mut() {
                    *anew = Some(held);
                }
            }
        }
    }

    async fn woken(&mut self) {
        self.rows_wait = true;
        self.successors_wait = true;
        if self.door.forget_connection.swap(false, Ordering::AcqRel) {
            self.connection = None;
            self.connect().await;
        }
    }

    /// When the lane has to look by itself.
    fn alarm(&self) -> Option<Timestamp> {
        let pause_ends = self.flow.paused_until().filter(|_| !self.queue.is_empty() || self.rows_wait);
        [pause_ends, self.next_attempt_at].into_iter().flatten().min()
    }

    fn alarm_rang(&mut self, now: Timestamp) {
        if self.next_attempt_at.is_some_and(|at| at <= now) {
            self.next_attempt_at = None;
            self.rows_wait = true;
            // Only the earliest was known.
            self.ask_next_attempt = true;
        }
    }

    /// Takes rows from the table when some wait there and memory runs low.
    async fn claim(&mut self) {
        let parts = &self.shared.parts;
        let now = parts.clock.now();
        let paused = self.flow.paused_until().is_some_and(|until| until > now);
        let limit = parts.config.claim_rows_max.min(self.door.room.available_permits());
        if !self.rows_wait || paused || limit == 0 || self.queue.len() > parts.config.claim_rows_max / 2 {
            return;
        }
        // Neither in memory nor promised to a commit that is under way.
        let held_none = self.door.room.available_permits() == parts.config.lane_events_max;
        if !self.connect().await {
            self.rows_wait = false;
            return;
        }
        let Ok(mut places) = Arc::clone(&self.door.room).try_acquire_many_owned(limit as u32) else { return };
        match self.shared.parts.store.claim_outbox(self.shared.node(), self.customer, now, limit).await {
            Ok(rows) => {
                let (short, none) = (rows.len() < limit, rows.is_empty());
                let since = self.shared.parts.clock.monotonic();
                for event in rows {
                    self.take(Held { event, since, _place: places.split(1) });
                }
                if short {
                    self.rows_wait = false;
                    // Nothing came and nothing is here: so nothing waits behind it either.
                    self.successors_wait &= !(none && held_none);
                }
                // Best effort: the sweep finds them, too.
                if short
                    && self.ask_next_attempt
                    && let Ok(attempt) = self.shared.parts.store.next_outbox_attempt(self.customer).await
                {
                    self.ask_next_attempt = false;
                    self.next_attempt_at = [self.next_attempt_at, attempt].into_iter().flatten().min();
                }
            }
            Err(error) => {
                tracing::error!(customer = %self.customer, %error, "events could not be claimed");
                // Some may be ours now without our knowing.
                self.shared.lost_track();
                self.pause(now);
            }
        }
    }

    async fn start_requests(&mut self) {
        loop {
            // Asked first: it also notices that a pause is over.
            let (now, requests_max) = (self.shared.parts.clock.now(), self.shared.lane_requests_max());
            let slots = self.flow.slots(now, self.requests.len(), requests_max);
            if slots == 0 || self.queue.is_empty() || !self.connect().await {
                return;
            }
            let (Some((connection, _)), Some((_, held))) = (self.connection.clone(), self.queue.pop_first()) else {
                return;
            };
            let ticket = self.flow.start();
            let shared = Arc::clone(&self.shared);
            let cursor = held.event.cursor;
            let task = self.steps.spawn(async move {
                let parts = &shared.parts;
                let now = || parts.clock.now();
                let verdict = publish(&parts.client, &connection, &held.event, parts.config.request_timeout, now).await;
                Step::Answered { held, verdict, ticket, used: connection.updated_at }
            });
            self.cursors.insert(task.id(), cursor);
            self.requests.insert(task.id());
        }
    }

    async fn step(&mut self, step: Result<(Id, Step), JoinError>) {
        match step {
            Ok((id, Step::Answered { held, verdict, ticket, used })) => {
                self.cursors.remove(&id);
                self.requests.remove(&id);
                self.answered(held, verdict, ticket, used).await;
            }
            Ok((id, Step::Settled { held, recorded, left })) => {
                self.cursors.remove(&id);
                self.settled(held, recorded, left);
                if self.successors_wait && recorded == Recorded::Yes {
                    self.rows_wait = true;
                }
            }
            Err(panic) => {
                tracing::error!(customer = %self.customer, %panic, "a publishing task failed");
                if let Some(cursor) = self.cursors.remove(&panic.id()) {
                    self.present.remove(&cursor);
                }
                self.requests.remove(&panic.id());
                self.shared.lost_track();
            }
        }
    }

    async fn answered(&mut self, held: Held, verdict: Verdict, ticket: Ticket, used: Timestamp) {
        let now = self.shared.parts.clock.now();
        let cursor = held.event.cursor;
        match verdict {
            Verdict::Published => {
                self.flow.passed(ticket);
                let parts = &self.shared.parts;
                parts.metrics.published(parts.clock.monotonic().saturating_duration_since(held.since));
                self.settle(held, Became::Published);
            }
            Verdict::Quarantine { error } => {
                self.flow.passed(ticket);
                self.shared.parts.metrics.quarantined();
                tracing::warn!(customer = %self.customer, event = held.event.event_id(), error, "an event was refused for good");
                self.settle(held, Became::Quarantined { error });
            }
            // What a connection met that support has replaced meanwhile says nothing about the new one.
            Verdict::Retry { .. } if self.replaced(used) => drop(self.queue.insert(cursor, held)),
            Verdict::Retry { error, retry_after } => {
                let event_id = held.event.event_id();
                if self.flow.paused_until().is_none() {
                    tracing::warn!(customer = %self.customer, event_id, error, "the provider does not take events; it is tried again");
                } else {
                    tracing::debug!(customer = %self.customer, event_id, error, "this event met the same");
                }
                let random = &self.shared.parts.random;
                let until = self.flow.failed(ticket, now, retry_after, random.unit_f64());
                let at = self.flow.next_attempt(held.event.attempts + 1, now, until, random.unit_f64());
                self.settle(held, Became::Retry { at, error });
            }
            Verdict::Park { reason } => self.park(held, reason, used, now).await,
        }
    }

    fn settle(&mut self, held: Held, became: Became) {
        let settling = self.shared.settling();
        let shared = Arc::clone(&self.shared);
        let cursor = held.event.cursor;
        let left = match &became {
            Became::Published | Became::Quarantined { .. } => Left::Nothing,
            Became::Retry { at, .. } => Left::Row { again_at: Some(*at) },
            Became::Released => Left::Row { again_at: None },
        };
        self.present.insert(cursor, Presence::Settling { anew: None });
        let outcome = OutboxOutcome { customer: self.customer, cursor, became };
        let task = self.steps.spawn(async move {
            let recorded = settling.submit(outcome).await.unwrap_or_else(|_| {
                shared.lost_track();
                Recorded::Lost
            });
            Step::Settled { held, recorded, left }
        });
        self.cursors.insert(task.id(), cursor);
    }

    /// The event leaves memory, unless its row was claimed anew.
    fn settled(&mut self, held: Held, recorded: Recorded, left: Left) {
        let was = self.present.remove(&held.event.cursor);
        drop(held);
        // Only now is it in the table to be found.
        if let Left::Row { again_at: Some(at) } = left {
            self.next_attempt_at = self.next_attempt_at.into_iter().chain([at]).min();
        }
        let is_gone = matches!((left, recorded), (Left::Nothing, Recorded::Yes));
        if let Some(Presence::Settling { anew: Some(anew) }) = was
            && !is_gone
        {
            self.take(anew);
        }
    }

    /// Lets what is under way finish, and gives back the rest.
    async fn end(mut self) {
        self.inbox.close();
        while let Some(held) = self.inbox.recv().await {
            self.take(held);
        }
        self.close();
        let finish = async {
            while let Some(step) = self.steps.join_next_with_id().await {
                self.step(step).await;
                self.close();
            }
        };
        let _ = tokio::time::timeout(GOODBYE_MAX, finish).await;
        self.ended = true;
    }
}

impl Drop for Lane {
    fn drop(&mut self) {
        // A lane that panicked held rows which nobody knows of any more.
        if !self.ended {
            self.shared.lost_track();
        }
    }
}

async fn sleep(clock: &dyn Clock, until: Option<Timestamp>) {
    match until {
        Some(until) => clock.sleep_until(until).await,
        None => std::future::pending().await,
    }
}
