//! Per-item command queue. It serialises the commands on one item, so that a hundred bids on one item cost one or two
//! durable transactions instead of a hundred that conflict with each other.
//!
//! Actors: a caller enters the queue of the item ([`Platform::item_queue`]) and decides when it has its turn, on the
//! state that the previous command left, without waiting for that state to be durable. A committer, one for each queue
//! that has work, commits all decided changes in one transaction; meanwhile the next commands are decided.
//!
//! Guarantees:
//! - A response is sent only after the state it depends on is durable: an accepted command is answered after its own
//!   commit, a refused one after the commit of the state that it was refused on.
//! - When another transaction (a worker, another node) changed the item first, all commands decided since then are
//!   decided again on the new state.
//! - A caller that is cancelled after its decision loses its answer only. A caller that is cancelled before has no
//!   effect.
//! - The queue keeps the item in memory while it has work, and reads the auction again for each commit. A decision is
//!   therefore based on states as recent as if each command had read them.
//! - Queues are independent of each other. A queue is deleted when its last caller leaves.

use std::sync::Arc;

use platform_rules::{Auction, Item};
use tokio::sync::oneshot;
use uuid::Uuid;

use crate::caller::visible;
use crate::error::{PlatformError, PlatformResult};
use crate::item_queue::queue::{CommitOutcome, CommitterGuard, ItemQueue};
use crate::port::{Change, StoreError};
use crate::steps::decide::Decision;
use crate::steps::idempotency::{IdempotentRequest, Outcome};
use crate::{Caller, Platform};

/// What a command decides when it has its turn.
#[expect(clippy::large_enum_variant, reason = "a step is taken apart where it is returned; nearly all are commits")]
pub(crate) enum Step<T> {
    /// This decision is to be committed.
    Commit(Decision<T>),
    /// Nothing yet: the command first waits for the other bids of the bidder with this registration. A command must not
    /// wait for them while it has its turn, since two bidders could then wait for each other.
    WaitForBidder(Uuid),
}

/// The result of one attempt to run a command.
pub(crate) enum Attempt<T> {
    /// The command is over.
    Done(Outcome<T>),
    /// Another transaction changed what the decision was based on.
    DecideAgain,
    /// See [`Step::WaitForBidder`].
    WaitForBidder(Uuid),
}

/// A caller's handle of the queue of an item.
pub(crate) struct ItemQueueHandle {
    platform: Platform,
    item: Uuid,
    queue: Arc<ItemQueue>,
}

impl Platform {
    /// Enters the queue of an item. Errors: `busy` when the queue is full.
    pub(crate) fn item_queue(&self, item: Uuid) -> PlatformResult<ItemQueueHandle> {
        let queue = self.item_queues().enter(item).ok_or(PlatformError::Busy)?;
        Ok(ItemQueueHandle { platform: self.clone(), item, queue })
    }
}

impl Clone for ItemQueueHandle {
    fn clone(&self) -> Self {
        self.platform.item_queues().enter_again(self.item);
        Self { platform: self.platform.clone(), item: self.item, queue: Arc::clone(&self.queue) }
    }
}

impl Drop for ItemQueueHandle {
    fn drop(&mut self) {
        self.platform.item_queues().leave(self.item);
    }
}

impl ItemQueueHandle {
    /// Runs a command on the item to its end, as [`Platform::decide`] does. `decide` runs when the command has its
    /// turn, reads the item with [`ItemQueueHandle::visible_item`], and runs again after a conflict.
    pub(crate) async fn decide<T, F>(
        &self,
        answering: Option<&IdempotentRequest<'_, T>>,
        decide: impl Fn() -> F + Send + Sync,
    ) -> PlatformResult<Outcome<T>>
    where
        T: Send + Sync,
        F: Future<Output = PlatformResult<Decision<T>>> + Send,
    {
        if let Some(answer) = self.platform.replay(answering).await? {
            return Ok(Outcome::Replayed(answer));
        }
        for _ in 0..self.platform.config().decide_tries_max {
            if let Attempt::Done(outcome) = self.attempt(answering, async { decide().await.map(Step::Commit) }).await? {
                return Ok(outcome);
            }
        }
        Err(PlatformError::Busy)
    }

    /// Decides once, when the command has its turn, and waits for the commit. An attempt that waits for a bidder leaves
    /// its turn to the next command, and nothing has happened.
    pub(crate) async fn attempt<T>(
        &self,
        answering: Option<&IdempotentRequest<'_, T>>,
        decide: impl Future<Output = PlatformResult<Step<T>>> + Send,
    ) -> PlatformResult<Attempt<T>>
    where
        T: Send + Sync,
    {
        let (decided, settled) = {
            let _turn = self.queue.acquire().await;
            match decide.await {
                Ok(Step::Commit(Decision { customer, change, result })) => (Ok(result), self.enqueue(customer, change)),
                Ok(Step::WaitForBidder(registration)) => return Ok(Attempt::WaitForBidder(registration)),
                Err(refusal) => match self.queue.enqueue_refusal() {
                    Some(settled) => (Err(refusal), settled),
                    None => return self.refused_or_replayed(refusal, answering).await.map(Attempt::Done),
                },
            }
        };
        match settled.await {
            Ok(CommitOutcome::Durable) => match decided {
                Ok(result) => Ok(Attempt::Done(Outcome::Fresh(result))),
                Err(refusal) => self.refused_or_replayed(refusal, answering).await.map(Attempt::Done),
            },
            Ok(CommitOutcome::DecideAgain) => Ok(Attempt::DecideAgain),
            // The same request arrived twice at the same time, and the other one was committed first.
            Ok(CommitOutcome::Failed(StoreError::Replayed)) => match self.platform.replay(answering).await? {
                Some(answer) => Ok(Attempt::Done(Outcome::Replayed(answer))),
                None => Err(PlatformError::Busy),
            },
            Ok(CommitOutcome::Failed(error)) => Err(error.into()),
            Err(_) => {
                let text = "the commit was interrupted; it is not known if it succeeded";
                Err(StoreError::Unavailable(text.into()).into())
            }
        }
    }

    /// The item as the previous command left it, with its auction: see [`Platform::visible_item`].
    pub(crate) async fn visible_item(&self, caller: &Caller) -> PlatformResult<(Item, Auction)> {
        let head = self.queue.latest();
        if let Some((item, Some(auction))) = head {
            return Ok((visible(caller, Some(item), "item", |item| item.customer)?, auction));
        }
        let (item, auction) = match head {
            Some((item, _)) => {
                let item = visible(caller, Some(item), "item", |item| item.customer)?;
                let auction = self.platform.auction_of(&item).await?;
                (item, auction)
            }
            None => self.platform.visible_item(caller, self.item).await?,
        };
        self.queue.remember_auction(&auction);
        Ok((item, auction))
    }

    /// Waits until every earlier decision is durable, for commands that read more than the item from the store. What
    /// they read does not change on this node while they have the turn.
    pub(crate) async fn drain(&self) {
        self.queue.drain().await;
        // Records the current epoch: the decision is based on the store, which no uncommitted state is ahead of.
        let _ = self.queue.latest();
    }

    /// The refusal, or the stored answer: when a request arrives twice at the same time, the second one is usually
    /// refused because of the first one.
    async fn refused_or_replayed<T>(
        &self,
        refusal: PlatformError,
        answering: Option<&IdempotentRequest<'_, T>>,
    ) -> PlatformResult<Outcome<T>> {
        Ok(Outcome::Replayed(self.platform.replay(answering).await?.ok_or(refusal)?))
    }

    fn enqueue(&self, customer: Uuid, mut change: Change) -> oneshot::Receiver<CommitOutcome> {
        // Stored answers expire by the server's clock, in a sandbox auction too.
        if let Some(answer) = &mut change.answer {
            answer.at = self.platform.now();
        }
        let entered = self.queue.enqueue(self.item, customer, change);
        if entered.starts_committer {
            // A task of its own, because callers can be cancelled.
            tokio::spawn(run_committer(self.clone()));
        }
        entered.settled
    }
}

/// The committer of a queue. Its handle keeps the queue alive.
async fn run_committer(handle: ItemQueueHandle) {
    let mut guard = CommitterGuard::new(&handle.queue);
    while let Some(mut batch) = handle.queue.next_batch() {
        let results = handle.platform.commit_all(batch.take_changes()).await;
        handle.queue.settle(batch, results);
    }
    guard.disarm();
}
