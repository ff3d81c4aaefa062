//! A lane: publishes the events of one customer to its provider.
//!
//! One task owns all state of a lane. It starts as many requests as [`CircuitBreaker`] allows, the oldest event first;
//! turns each verdict into an outcome and gives that to the batcher that all lanes share; and claims more rows from the
//! table when it knows that rows wait there. An event leaves the lane, and its place becomes free, when its outcome is
//! durable.

mod connect;

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

use super::circuit_breaker::{CircuitBreaker, Ticket};
use super::connection::Connection;
use super::outcomes::Recorded;
use super::request::publish;
use super::verdict::Verdict;
use super::{LaneControl, QueuedEvent, Shared, lock};
use crate::port::{Contact, Cursor, OutboxSettlement, PublishResult};

/// Time that an ending lane waits for its running requests and unrecorded outcomes.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(5);

pub(super) struct Lane {
    customer: Uuid,
    shared: Arc<Shared>,
    control: Arc<LaneControl>,
    inbox: mpsc::UnboundedReceiver<QueuedEvent>,
    /// Events to publish, the oldest first.
    queue: BTreeMap<Cursor, QueuedEvent>,
    /// Every event in memory, so that a row that is claimed a second time is not published twice at the same time.
    event_states: HashMap<Cursor, EventState>,
    tasks: JoinSet<TaskResult>,
    /// The event of each task, to find it when the task panics.
    cursors: HashMap<Id, Cursor>,
    /// The tasks that are requests.
    requests: HashSet<Id>,
    breaker: CircuitBreaker,
    connection: Option<(Connection, Timestamp)>,
    /// The time of the last change of the connection for which the breaker counts failures.
    breaker_connection: Option<Timestamp>,
    /// True while claimable rows may wait in the table.
    rows_claimable: bool,
    /// True while rows may wait for an earlier event of their subject in this lane: the lane claims again after the next
    /// settled event.
    successors_wait: bool,
    /// The earliest known next attempt of a row.
    next_attempt_at: Option<Timestamp>,
    /// True while a row may have an unknown next attempt: the lane reads it from the table when no claimable row waits.
    ask_next_attempt: bool,
    ended: bool,
}

/// The state of an event in memory.
enum EventState {
    /// In the queue, or in a request to the provider.
    Active,
    /// Its outcome is being recorded. As soon as that is durable, a row that stays in the outbox may be claimed again,
    /// before the lane receives the result. The lane must not drop the claimed row: this node owns it, so no other
    /// node claims it.
    Settling { reclaimed: Option<QueuedEvent> },
}

/// The result of a task of the lane.
enum TaskResult {
    Answered { queued: QueuedEvent, verdict: Verdict, ticket: Ticket, used: Timestamp },
    Settled { queued: QueuedEvent, recorded: Recorded, remainder: Remainder },
}

/// The state of the row in the outbox after an outcome.
#[derive(Clone, Copy)]
enum Remainder {
    Nothing,
    /// The row is in quarantine. A person can send it again at once, before the lane knows that the outcome is durable.
    Quarantine,
    /// The row stays, with its next attempt at once or at that time.
    Row {
        retry_at: Option<Timestamp>,
    },
}

impl Lane {
    pub(super) fn new(
        customer: Uuid,
        shared: Arc<Shared>,
        control: Arc<LaneControl>,
        inbox: mpsc::UnboundedReceiver<QueuedEvent>,
    ) -> Self {
        let config = &shared.parts.config;
        let breaker = CircuitBreaker::new(config.pause_base, config.pause_max);
        Self {
            customer,
            shared,
            control,
            inbox,
            queue: BTreeMap::new(),
            event_states: HashMap::new(),
            tasks: JoinSet::new(),
            cursors: HashMap::new(),
            requests: HashSet::new(),
            breaker,
            connection: None,
            breaker_connection: None,
            rows_claimable: true,
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
            let wake_at = self.next_wake_at();
            tokio::select! {
                biased;
                () = stopping.cancelled() => break,
                Some(step) = self.tasks.join_next_with_id() => self.step(step).await,
                Some(queued) = self.inbox.recv() => self.enqueue(queued),
                () = self.control.wake.wait() => self.on_wake().await,
                () = sleep(clock.as_ref(), wake_at) => self.on_wake_timer(clock.now()),
            }
        }
        self.drain().await;
    }

    fn enqueue(&mut self, queued: QueuedEvent) {
        match self.event_states.entry(queued.event.cursor) {
            Entry::Vacant(entry) => {
                entry.insert(EventState::Active);
                self.queue.insert(queued.event.cursor, queued);
            }
            Entry::Occupied(mut entry) => {
                if let EventState::Settling { reclaimed } = entry.get_mut() {
                    *reclaimed = Some(queued);
                }
            }
        }
    }

    async fn on_wake(&mut self) {
        self.rows_claimable = true;
        self.successors_wait = true;
        self.refresh_connection().await;
    }

    /// Reads the connection again if it may have changed. A changed connection resets the breaker.
    async fn refresh_connection(&mut self) {
        if self.control.connection_stale.swap(false, Ordering::AcqRel) {
            self.connection = None;
            self.connect().await;
        }
    }

    /// The time at which the lane must wake without a signal.
    fn next_wake_at(&self) -> Option<Timestamp> {
        let pause_ends = self.breaker.paused_until().filter(|_| !self.queue.is_empty() || self.rows_claimable);
        [pause_ends, self.next_attempt_at].into_iter().flatten().min()
    }

    fn on_wake_timer(&mut self, now: Timestamp) {
        if self.next_attempt_at.is_some_and(|at| at <= now) {
            self.next_attempt_at = None;
            self.rows_claimable = true;
            // Only the earliest next attempt was known; the table has the following one.
            self.ask_next_attempt = true;
        }
    }

    /// Claims rows from the table when rows wait there and the queue in memory runs low.
    async fn claim(&mut self) {
        let parts = &self.shared.parts;
        let now = parts.clock.now();
        let paused = self.breaker.paused_until().is_some_and(|until| until > now);
        let limit = parts.config.claim_rows_max.min(self.control.room.available_permits());
        if !self.rows_claimable || paused || limit == 0 || self.queue.len() > parts.config.claim_rows_max / 2 {
            return;
        }
        // The rows may belong to a commit that read a later connection than this lane has.
        self.connection = None;
        // Places that are neither occupied nor reserved by a running commit.
        let lane_was_empty = self.control.room.available_permits() == parts.config.lane_events_max;
        if !self.connect().await {
            self.rows_claimable = false;
            return;
        }
        let Ok(mut permits) = Arc::clone(&self.control.room).try_acquire_many_owned(limit as u32) else { return };
        match self.shared.parts.store.claim_outbox(self.shared.node(), self.customer, now, limit).await {
            Ok(rows) => {
                let is_short = rows.len() < limit;
                let is_empty = rows.is_empty();
                let since = self.shared.parts.clock.monotonic();
                for event in rows {
                    self.enqueue(QueuedEvent { event, since, _permit: permits.split(1) });
                }
                if is_short {
                    self.rows_claimable = false;
                    // The claim returned no row and the lane has no event, so no row waits for an earlier event of its
                    // subject.
                    self.successors_wait &= !(is_empty && lane_was_empty);
                }
                // Best effort: the sweep finds these rows, too.
                if is_short
                    && self.ask_next_attempt
                    && let Ok(attempt) = self.shared.parts.store.next_outbox_attempt(self.customer).await
                {
                    self.ask_next_attempt = false;
                    self.next_attempt_at = [self.next_attempt_at, attempt].into_iter().flatten().min();
                }
            }
            Err(error) => {
                tracing::error!(customer_id = %self.customer, %error, "events could not be claimed");
                // The claim may have succeeded: this node may own rows that it does not know.
                self.shared.fence();
                self.pause(now);
            }
        }
    }

    async fn start_requests(&mut self) {
        loop {
            self.refresh_connection().await;
            // Called first, because it also detects the end of a pause.
            let (now, requests_max) = (self.shared.parts.clock.now(), self.shared.lane_requests_max());
            let slots = self.breaker.available_requests(now, self.requests.len(), requests_max);
            if slots == 0 || self.queue.is_empty() || !self.connect().await {
                return;
            }
            let (Some((connection, _)), Some((_, queued))) = (self.connection.clone(), self.queue.pop_first()) else {
                return;
            };
            let ticket = self.breaker.start();
            let shared = Arc::clone(&self.shared);
            let cursor = queued.event.cursor;
            let task = self.tasks.spawn(async move {
                let restores = shared.restores.load(Ordering::Acquire);
                let verdict = publish(&shared.parts, &connection, &queued.event, restores).await;
                TaskResult::Answered { queued, verdict, ticket, used: connection.updated_at }
            });
            self.cursors.insert(task.id(), cursor);
            self.requests.insert(task.id());
        }
    }

    async fn step(&mut self, step: Result<(Id, TaskResult), JoinError>) {
        match step {
            Ok((id, TaskResult::Answered { queued, verdict, ticket, used })) => {
                self.cursors.remove(&id);
                self.requests.remove(&id);
                self.answered(queued, verdict, ticket, used).await;
            }
            Ok((id, TaskResult::Settled { queued, recorded, remainder })) => {
                self.cursors.remove(&id);
                self.settled(queued, recorded, remainder);
                if self.successors_wait && recorded == Recorded::Yes {
                    self.rows_claimable = true;
                }
            }
            Err(panic) => {
                tracing::error!(customer_id = %self.customer, %panic, "a publishing task failed");
                if let Some(cursor) = self.cursors.remove(&panic.id()) {
                    self.event_states.remove(&cursor);
                }
                self.requests.remove(&panic.id());
                self.shared.fence();
            }
        }
    }

    async fn answered(&mut self, queued: QueuedEvent, verdict: Verdict, ticket: Ticket, used: Timestamp) {
        let now = self.shared.parts.clock.now();
        let cursor = queued.event.cursor;
        match verdict {
            Verdict::Published => {
                self.breaker.passed(ticket);
                self.record_contact(used, Contact::Working, None).await;
                let parts = &self.shared.parts;
                parts.metrics.published(parts.clock.monotonic().saturating_duration_since(queued.since));
                lock(&self.shared.published).insert(self.customer);
                self.settle(queued, PublishResult::Published);
            }
            Verdict::Quarantine { error } => {
                self.breaker.passed(ticket);
                self.shared.parts.metrics.quarantined();
                tracing::warn!(customer_id = %self.customer, event_id = queued.event.event_id(), error, "an event was refused for good");
                self.settle(queued, PublishResult::Quarantined { error });
            }
            // A failure of a connection that support has replaced meanwhile does not concern the new connection.
            Verdict::Retry { .. } if self.replaced(used) => drop(self.queue.insert(cursor, queued)),
            Verdict::Retry { error, retry_after } => {
                let event_id = queued.event.event_id();
                if self.breaker.paused_until().is_none() {
                    tracing::warn!(customer_id = %self.customer, event_id, error, "the provider did not accept an event; the publisher tries again");
                } else {
                    tracing::debug!(customer_id = %self.customer, event_id, error, "this event met the same");
                }
                self.record_contact(used, Contact::Unreachable, Some(&error)).await;
                let random = &self.shared.parts.random;
                let until = self.breaker.failed(ticket, now, retry_after, random.unit_f64());
                let at = self.breaker.next_attempt(queued.event.attempts + 1, now, until, random.unit_f64());
                self.settle(queued, PublishResult::Retry { at, error });
            }
            Verdict::Park { reason } => self.park(queued, reason, used, now).await,
        }
    }

    fn settle(&mut self, queued: QueuedEvent, result: PublishResult) {
        let outcome_batcher = self.shared.outcome_batcher();
        let shared = Arc::clone(&self.shared);
        let cursor = queued.event.cursor;
        let remainder = match &result {
            PublishResult::Published => Remainder::Nothing,
            PublishResult::Quarantined { .. } => Remainder::Quarantine,
            PublishResult::Retry { at, .. } => Remainder::Row { retry_at: Some(*at) },
            PublishResult::Released => Remainder::Row { retry_at: None },
        };
        self.event_states.insert(cursor, EventState::Settling { reclaimed: None });
        let outcome = OutboxSettlement { customer: self.customer, cursor, result };
        let task = self.tasks.spawn(async move {
            let recorded = outcome_batcher.submit(outcome).await.unwrap_or_else(|_| {
                shared.fence();
                Recorded::Lost
            });
            TaskResult::Settled { queued, recorded, remainder }
        });
        self.cursors.insert(task.id(), cursor);
    }

    /// Removes the event from memory, unless its row was claimed a second time.
    fn settled(&mut self, queued: QueuedEvent, recorded: Recorded, remainder: Remainder) {
        let was = self.event_states.remove(&queued.event.cursor);
        drop(queued);
        // The row is claimable in the table only now.
        if let Remainder::Row { retry_at: Some(at) } = remainder {
            self.next_attempt_at = self.next_attempt_at.into_iter().chain([at]).min();
        }
        let is_gone = matches!((remainder, recorded), (Remainder::Nothing, Recorded::Yes));
        if let Some(EventState::Settling { reclaimed: Some(anew) }) = was
            && !is_gone
        {
            self.enqueue(anew);
        }
    }

    /// Finishes running requests, and releases the other rows.
    async fn drain(mut self) {
        self.inbox.close();
        while let Some(queued) = self.inbox.recv().await {
            self.enqueue(queued);
        }
        self.close();
        let finish = async {
            while let Some(step) = self.tasks.join_next_with_id().await {
                self.step(step).await;
                self.close();
            }
        };
        let _ = tokio::time::timeout(DRAIN_TIMEOUT, finish).await;
        self.ended = true;
    }
}

impl Drop for Lane {
    fn drop(&mut self) {
        // A lane that panicked no longer knows the rows that it had queued.
        if !self.ended {
            self.shared.fence();
        }
    }
}

async fn sleep(clock: &dyn Clock, until: Option<Timestamp>) {
    match until {
        Some(until) => clock.sleep_until(until).await,
        None => std::future::pending().await,
    }
}
