//! One item's line: whose turn it is, what the last one left, and what waits for the store.

use std::pin::pin;
use std::sync::{Mutex, MutexGuard, PoisonError};

use platform_rules::{Auction, Item};
use tokio::sync::{Notify, oneshot};
use uuid::Uuid;

use crate::port::{Change, Receipt, StoreError, StoreResult};

/// Decisions in one commit.
const TOGETHER_MAX: usize = 512;

/// What became of a decision.
pub(super) enum Settled {
    /// It is on disk; for a refusal, what it was refused on is.
    Stands,
    /// It rests on what did not become true.
    DecideAgain,
    /// The store refused it, or did not do it.
    Failed(StoreError),
}

/// The line of one item.
#[derive(Default)]
pub(super) struct Line {
    turn: tokio::sync::Mutex<()>,
    state: Mutex<State>,
    /// Nothing is under way any more.
    idle: Notify,
}

#[derive(Default)]
struct State {
    /// What the last decision made of the item; none when the store has to be asked.
    item: Option<Item>,
    /// Its auction, as it was read for the commit that is being gathered.
    auction: Option<Auction>,
    /// Its auction as the last decision that changed it left it, while that is not on disk.
    auction_ahead: Option<Auction>,
    /// Decisions for the next commit.
    waiting: Vec<Entry>,
    /// There is a committer.
    is_committing: bool,
    /// Rises when what was decided turned out not to become true.
    epoch: u64,
    /// The epoch in which the one whose turn it is looked at the item.
    looked_in: u64,
}

impl State {
    /// What was decided since rests on nothing.
    fn forget(&mut self) -> Vec<Entry> {
        self.epoch += 1;
        self.item = None;
        self.auction = None;
        self.auction_ahead = None;
        std::mem::take(&mut self.waiting)
    }
}

/// A decision with who waits for it.
struct Entry {
    kind: Kind,
    caller: oneshot::Sender<Settled>,
}

enum Kind {
    Accepted(Box<(Uuid, Change)>),
    /// Given to the store.
    Committing,
    Refused,
}

impl Entry {
    fn auction_version(&self) -> Option<i64> {
        match &self.kind {
            Kind::Accepted(change) => Some(change.1.auction.as_ref()?.state.version),
            Kind::Committing | Kind::Refused => None,
        }
    }

    fn settle(self, settled: Settled) {
        // A caller who has gone does not listen.
        let _ = self.caller.send(settled);
    }
}

/// A decision that was entered.
pub(super) struct Entered {
    /// What becomes of it.
    pub(super) settled: oneshot::Receiver<Settled>,
    /// The line has no committer: whoever entered it sees to that.
    pub(super) is_first: bool,
}

/// Decisions that are committed together, in their order.
pub(super) struct Batch {
    entries: Vec<Entry>,
    /// The last version of the auction in it, when it changes the auction.
    auction_version: Option<i64>,
}

impl Batch {
    /// The changes, with their customers.
    pub(super) fn take_changes(&mut self) -> Vec<(Uuid, Change)> {
        let mut changes = Vec::with_capacity(self.entries.len());
        for entry in &mut self.entries {
            match std::mem::replace(&mut entry.kind, Kind::Committing) {
                Kind::Accepted(change) => changes.push(*change),
                other => entry.kind = other,
            }
        }
        changes
    }
}

impl Line {
    /// Waits until everybody who came before has decided.
    pub(super) async fn turn(&self) -> tokio::sync::MutexGuard<'_, ()> {
        self.turn.lock().await
    }

    /// Waits until nothing is under way: for whoever has the turn, everything that was decided is on disk then, or forgotten.
    pub(super) async fn quiet(&self) {
        loop {
            let mut idle = pin!(self.idle.notified());
            idle.as_mut().enable();
            if !self.lock().is_committing {
                return;
            }
            idle.await;
        }
    }

    /// The item as the last decision left it, while that is not on disk, and its auction, if it was changed along with it or
    /// read for the same commit.
    pub(super) fn head(&self) -> Option<(Item, Option<Auction>)> {
        let mut state = self.lock();
        state.looked_in = state.epoch;
        let item = state.item.clone()?;
        Some((item, state.auction_ahead.clone().or_else(|| state.auction.clone())))
    }

    /// The auction was read.
    pub(super) fn look_at_auction(&self, auction: &Auction) {
        self.lock().auction = Some(auction.clone());
    }

    /// Takes a decision about `item` for the next commit.
    pub(super) fn enter(&self, item: Uuid, customer: Uuid, change: Change) -> Entered {
        let (caller, settled) = oneshot::channel();
        let mut state = self.lock();
        if state.looked_in != state.epoch {
            // What it looked at has just turned out not to become true.
            let _ = caller.send(Settled::DecideAgain);
            return Entered { settled, is_first: false };
        }
        if let Some(auction) = &change.auction {
            state.auction_ahead = Some(auction.state.clone());
        }
        if let Some(changed) = change.items.iter().find(|changed| changed.state.uuid == item) {
            state.item = Some(changed.state.clone());
        }
        state.waiting.push(Entry { kind: Kind::Accepted(Box::new((customer, change))), caller });
        let is_first = !std::mem::replace(&mut state.is_committing, true);
        Entered { settled, is_first }
    }

    /// Takes a refusal, to be told when what it rests on is on disk; none when it already is.
    pub(super) fn enter_refusal(&self) -> Option<oneshot::Receiver<Settled>> {
        let mut state = self.lock();
        let is_current = state.looked_in == state.epoch;
        if is_current && !state.is_committing {
            return None;
        }
        let (caller, settled) = oneshot::channel();
        let entry = Entry { kind: Kind::Refused, caller };
        if is_current {
            state.waiting.push(entry);
        } else {
            entry.settle(Settled::DecideAgain);
        }
        Some(settled)
    }

    /// What is to be committed next; none, and no committer any more, when nothing waits.
    pub(super) fn take(&self) -> Option<Batch> {
        let mut state = self.lock();
        // Whoever decides from now on reads it again.
        state.auction = None;
        if state.waiting.is_empty() {
            state.is_committing = false;
            state.item = None;
            self.idle.notify_waiters();
            return None;
        }
        let count = state.waiting.len().min(TOGETHER_MAX);
        let entries: Vec<Entry> = state.waiting.drain(..count).collect();
        let auction_version = entries.iter().rev().find_map(Entry::auction_version);
        Some(Batch { entries, auction_version })
    }

    /// Tells everybody in the batch what became of it, and those behind it when they have to decide again.
    pub(super) fn settle(&self, batch: Batch, results: StoreResult<Vec<StoreResult<Receipt>>>) {
        let mut results = match results {
            Ok(results) => results.into_iter(),
            Err(error) => return self.fail(batch, &error),
        };
        let mut stands = true;
        let mut told = Vec::with_capacity(batch.entries.len());
        for entry in batch.entries {
            let result = match entry.kind {
                Kind::Refused => Ok(()),
                Kind::Accepted(_) | Kind::Committing => match results.next() {
                    Some(result) => result.map(drop),
                    None => Err(StoreError::Corrupt("a commit without an answer".into())),
                },
            };
            let settled = match result {
                Ok(()) if matches!(entry.kind, Kind::Refused) && !stands => Settled::DecideAgain,
                Ok(()) => Settled::Stands,
                Err(StoreError::Conflict) => Settled::DecideAgain,
                Err(error) => Settled::Failed(error),
            };
            stands &= matches!(settled, Settled::Stands);
            told.push((entry, settled));
        }
        // Before anybody is told, so that who decides again does so on what the store has.
        let behind = if stands { Vec::new() } else { self.lock().forget() };
        self.lock().auction_ahead.take_if(|ahead| Some(ahead.version) <= batch.auction_version);
        told.into_iter().for_each(|(entry, settled)| entry.settle(settled));
        behind.into_iter().for_each(|entry| entry.settle(Settled::DecideAgain));
    }

    /// Nothing of the batch is known to be on disk.
    fn fail(&self, batch: Batch, error: &StoreError) {
        let behind = self.lock().forget();
        for entry in batch.entries {
            let settled = match (&entry.kind, error) {
                (Kind::Refused, _) | (_, StoreError::Conflict) => Settled::DecideAgain,
                (_, StoreError::Corrupt(text)) => Settled::Failed(StoreError::Corrupt(text.clone())),
                (_, StoreError::Unavailable(text)) => Settled::Failed(StoreError::Unavailable(text.clone())),
                (_, error) => Settled::Failed(StoreError::Unavailable(error.to_string())),
            };
            entry.settle(settled);
        }
        behind.into_iter().for_each(|entry| entry.settle(Settled::DecideAgain));
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Watches over a committer: if it ends before its time, by a panic, the line goes on without what it had.
pub(super) struct Watch<'a> {
    line: &'a Line,
    is_over: bool,
}

impl<'a> Watch<'a> {
    /// Of a line's committer.
    pub(super) fn over(line: &'a Line) -> Self {
        Self { line, is_over: false }
    }

    /// It ends as it should.
    pub(super) fn ends(&mut self) {
        self.is_over = true;
    }
}

impl Drop for Watch<'_> {
    fn drop(&mut self) {
        if self.is_over {
            return;
        }
        let mut state = self.line.lock();
        state.is_committing = false;
        let behind = state.forget();
        drop(state);
        self.line.idle.notify_waiters();
        behind.into_iter().for_each(|entry| entry.settle(Settled::DecideAgain));
    }
}
