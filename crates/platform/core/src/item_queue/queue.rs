//! The queue of one item: the turn, the state after the last decision, and the decisions that wait for a commit.

use std::pin::pin;
use std::sync::{Mutex, MutexGuard, PoisonError};

use platform_rules::{Auction, Item};
use tokio::sync::{Notify, oneshot};
use uuid::Uuid;

use crate::port::{Change, CommitReceipt, StoreError, StoreResult};

/// Decisions in one commit.
const COMMIT_DECISIONS_MAX: usize = 512;

/// The outcome of a decision.
pub(crate) enum CommitOutcome {
    /// The decision is durable; for a refusal, the state that it is based on is.
    Durable,
    /// The decision is based on a state that was not committed.
    DecideAgain,
    /// The store refused the change or failed.
    Failed(StoreError),
}

/// The queue of one item.
#[derive(Default)]
pub(crate) struct ItemQueue {
    turn: tokio::sync::Mutex<()>,
    state: Mutex<State>,
    /// Notified when the last running commit has ended.
    idle: Notify,
}

#[derive(Default)]
struct State {
    /// The item after the last decision; none when it has to be read from the store.
    item: Option<Item>,
    /// Its auction, as read for the next commit.
    auction: Option<Auction>,
    /// Its auction after the last uncommitted decision that changed it.
    uncommitted_auction: Option<Auction>,
    /// Decisions for the next commit.
    waiting: Vec<QueuedDecision>,
    /// True while a committer runs.
    is_committing: bool,
    /// Incremented when decisions are discarded.
    epoch: u64,
    /// The epoch in which the caller that has the turn read the item.
    read_epoch: u64,
}

impl State {
    /// Discards the uncommitted state and returns the decisions that are based on it.
    fn discard_uncommitted(&mut self) -> Vec<QueuedDecision> {
        self.epoch += 1;
        self.item = None;
        self.auction = None;
        self.uncommitted_auction = None;
        std::mem::take(&mut self.waiting)
    }
}

/// A decision and its waiting caller.
struct QueuedDecision {
    kind: DecisionKind,
    caller: oneshot::Sender<CommitOutcome>,
}

enum DecisionKind {
    Accepted(Box<(Uuid, Change)>),
    /// The change was passed to the store.
    Committing,
    Refused,
}

impl QueuedDecision {
    fn auction_version(&self) -> Option<i64> {
        match &self.kind {
            DecisionKind::Accepted(change) => Some(change.1.auction.as_ref()?.state.version),
            DecisionKind::Committing | DecisionKind::Refused => None,
        }
    }

    fn settle(self, settled: CommitOutcome) {
        // The caller may have been cancelled.
        let _ = self.caller.send(settled);
    }
}

/// An enqueued decision.
pub(crate) struct Enqueued {
    /// Receives the outcome.
    pub(crate) settled: oneshot::Receiver<CommitOutcome>,
    /// The queue has no committer: the caller starts one.
    pub(crate) starts_committer: bool,
}

/// Decisions that are committed together, in their order.
pub(crate) struct CommitBatch {
    entries: Vec<QueuedDecision>,
    /// The last version of the auction in it, when it changes the auction.
    auction_version: Option<i64>,
}

impl CommitBatch {
    /// The changes, with their customers.
    pub(crate) fn take_changes(&mut self) -> Vec<(Uuid, Change)> {
        let mut changes = Vec::with_capacity(self.entries.len());
        for entry in &mut self.entries {
            match std::mem::replace(&mut entry.kind, DecisionKind::Committing) {
                DecisionKind::Accepted(change) => changes.push(*change),
                other => entry.kind = other,
            }
        }
        changes
    }
}

impl ItemQueue {
    /// Waits for the turn: until every earlier caller has decided.
    pub(crate) async fn acquire(&self) -> tokio::sync::MutexGuard<'_, ()> {
        self.turn.lock().await
    }

    /// Waits until no commit is running. For the caller that has the turn, every earlier decision is then durable or
    /// discarded.
    pub(crate) async fn drain(&self) {
        loop {
            let mut idle = pin!(self.idle.notified());
            idle.as_mut().enable();
            if !self.lock().is_committing {
                return;
            }
            idle.await;
        }
    }

    /// The item after the last uncommitted decision, with its auction if an uncommitted decision changed it or it was
    /// read for the next commit.
    pub(crate) fn latest(&self) -> Option<(Item, Option<Auction>)> {
        let mut state = self.lock();
        state.read_epoch = state.epoch;
        let item = state.item.clone()?;
        Some((item, state.uncommitted_auction.clone().or_else(|| state.auction.clone())))
    }

    /// Keeps the auction for the decisions of the next commit.
    pub(crate) fn remember_auction(&self, auction: &Auction) {
        self.lock().auction = Some(auction.clone());
    }

    /// Enqueues a decision about `item` for the next commit.
    pub(crate) fn enqueue(&self, item: Uuid, customer: Uuid, change: Change) -> Enqueued {
        let (caller, settled) = oneshot::channel();
        let mut state = self.lock();
        if state.read_epoch != state.epoch {
            // The state that it was decided on was discarded.
            let _ = caller.send(CommitOutcome::DecideAgain);
            return Enqueued { settled, starts_committer: false };
        }
        if let Some(auction) = &change.auction {
            state.uncommitted_auction = Some(auction.state.clone());
        }
        if let Some(changed) = change.items.iter().find(|changed| changed.state.uuid == item) {
            state.item = Some(changed.state.clone());
        }
        state.waiting.push(QueuedDecision { kind: DecisionKind::Accepted(Box::new((customer, change))), caller });
        let starts_committer = !std::mem::replace(&mut state.is_committing, true);
        Enqueued { settled, starts_committer }
    }

    /// Enqueues a refusal, which is returned once the state that it is based on is durable; none when it already is.
    pub(crate) fn enqueue_refusal(&self) -> Option<oneshot::Receiver<CommitOutcome>> {
        let mut state = self.lock();
        let is_current = state.read_epoch == state.epoch;
        if is_current && !state.is_committing {
            return None;
        }
        let (caller, settled) = oneshot::channel();
        let entry = QueuedDecision { kind: DecisionKind::Refused, caller };
        if is_current {
            state.waiting.push(entry);
        } else {
            entry.settle(CommitOutcome::DecideAgain);
        }
        Some(settled)
    }

    /// The next batch to commit. None when no decision waits; then the committer ends.
    pub(crate) fn next_batch(&self) -> Option<CommitBatch> {
        let mut state = self.lock();
        // Later decisions read the auction again.
        state.auction = None;
        if state.waiting.is_empty() {
            state.is_committing = false;
            state.item = None;
            self.idle.notify_waiters();
            return None;
        }
        let count = state.waiting.len().min(COMMIT_DECISIONS_MAX);
        let entries: Vec<QueuedDecision> = state.waiting.drain(..count).collect();
        let auction_version = entries.iter().rev().find_map(QueuedDecision::auction_version);
        Some(CommitBatch { entries, auction_version })
    }

    /// Answers the callers of the batch, and the callers behind it when they have to decide again.
    pub(crate) fn settle(&self, batch: CommitBatch, results: StoreResult<Vec<StoreResult<CommitReceipt>>>) {
        let mut results = match results {
            Ok(results) => results.into_iter(),
            Err(error) => return self.fail(batch, &error),
        };
        let mut is_based_on_durable = true;
        let mut settled_entries = Vec::with_capacity(batch.entries.len());
        for entry in batch.entries {
            let result = match entry.kind {
                DecisionKind::Refused => Ok(()),
                DecisionKind::Accepted(_) | DecisionKind::Committing => match results.next() {
                    Some(result) => result.map(drop),
                    None => Err(StoreError::Corrupt("the store returned no result for a commit".into())),
                },
            };
            let settled = match result {
                Ok(()) if matches!(entry.kind, DecisionKind::Refused) && !is_based_on_durable => {
                    CommitOutcome::DecideAgain
                }
                Ok(()) => CommitOutcome::Durable,
                Err(StoreError::Conflict) => CommitOutcome::DecideAgain,
                Err(error) => CommitOutcome::Failed(error),
            };
            is_based_on_durable &= matches!(settled, CommitOutcome::Durable);
            settled_entries.push((entry, settled));
        }
        // Before any caller is answered, so that a command that is decided again reads the store.
        let behind = if is_based_on_durable { Vec::new() } else { self.lock().discard_uncommitted() };
        self.lock().uncommitted_auction.take_if(|ahead| Some(ahead.version) <= batch.auction_version);
        settled_entries.into_iter().for_each(|(entry, settled)| entry.settle(settled));
        behind.into_iter().for_each(|entry| entry.settle(CommitOutcome::DecideAgain));
    }

    /// Settles a batch whose commit failed: it is not known which of its decisions are durable.
    fn fail(&self, batch: CommitBatch, error: &StoreError) {
        let behind = self.lock().discard_uncommitted();
        for entry in batch.entries {
            let settled = match (&entry.kind, error) {
                (DecisionKind::Refused, _) | (_, StoreError::Conflict) => CommitOutcome::DecideAgain,
                (_, StoreError::Corrupt(text)) => CommitOutcome::Failed(StoreError::Corrupt(text.clone())),
                (_, StoreError::DiskFull(text)) => CommitOutcome::Failed(StoreError::DiskFull(text.clone())),
                (_, StoreError::Unavailable(text)) => CommitOutcome::Failed(StoreError::Unavailable(text.clone())),
                (_, error) => CommitOutcome::Failed(StoreError::Unavailable(error.to_string())),
            };
            entry.settle(settled);
        }
        behind.into_iter().for_each(|entry| entry.settle(CommitOutcome::DecideAgain));
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Guards a committer: if it ends by a panic, the queue discards its decisions and continues.
pub(crate) struct CommitterGuard<'a> {
    queue: &'a ItemQueue,
    is_disarmed: bool,
}

impl<'a> CommitterGuard<'a> {
    /// Guards the committer of this queue.
    pub(crate) fn new(queue: &'a ItemQueue) -> Self {
        Self { queue, is_disarmed: false }
    }

    /// The committer ended normally.
    pub(crate) fn disarm(&mut self) {
        self.is_disarmed = true;
    }
}

impl Drop for CommitterGuard<'_> {
    fn drop(&mut self) {
        if self.is_disarmed {
            return;
        }
        let mut state = self.queue.lock();
        state.is_committing = false;
        let behind = state.discard_uncommitted();
        drop(state);
        self.queue.idle.notify_waiters();
        behind.into_iter().for_each(|entry| entry.settle(CommitOutcome::DecideAgain));
    }
}
