//! Commands on one item, one after the other: what makes a hot item cost no more than a cold one.
//!
//! Actors: callers take their place in the item's line ([`Platform::item_queue`]) and decide when their turn comes, on the state
//! that the one before them left, without waiting for it to be on disk. A committer, one for each line while there is work,
//! takes everything that was decided so far and hands it to the store as consecutive changes of one commit; meanwhile the
//! next are decided. So a hundred bids on one item cost a look at the store and a durable transaction or two, instead of a
//! hundred that each undo the others.
//!
//! Guarantees:
//! - nobody is told anything that rests on a state which is not on disk: an accepted command is answered after its own
//!   commit, a refused one after the commit of what it was refused on;
//! - when somebody else (a timer, another node) was faster, everything decided since is decided again on what they left;
//! - a caller who goes away after its decision loses its answer only; before, nothing has happened;
//! - the state in memory lives as long as the line is busy, and the auction is read again for each commit, so what is
//!   decided on is as fresh as if each command had read it;
//! - lines know nothing of each other, and go when the last caller has gone.

mod queue;

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use platform_rules::{Auction, Item};
use tokio::sync::oneshot;
use uuid::Uuid;

use self::queue::{CommitOutcome, CommitterGuard, ItemQueue};
use crate::caller::visible;
use crate::decide::Decision;
use crate::error::{PlatformError, PlatformResult};
use crate::idempotency::{IdempotentRequest, Outcome};
use crate::port::{Change, StoreError};
use crate::{Caller, Platform};

/// Callers in the line of one item; further ones are told that it is busy.
const USERS_MAX: usize = 4_096;
/// How often a command is decided again when others were faster. Each time costs one of the whole line's commits, and other
/// nodes' lines are as long: more than for a command that stands for itself.
const TRIES_MAX: usize = 64;

/// The lines that somebody stands in.
#[derive(Default)]
pub(crate) struct ItemQueues {
    item_queues: Mutex<HashMap<Uuid, SharedQueue>>,
}

/// A line with how many users in it are taken.
#[derive(Default)]
struct SharedQueue {
    queue: Arc<ItemQueue>,
    users: usize,
}

impl ItemQueues {
    fn lock(&self) -> MutexGuard<'_, HashMap<Uuid, SharedQueue>> {
        self.item_queues.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A place in the line of an item.
pub(crate) struct ItemQueueHandle {
    platform: Platform,
    item: Uuid,
    queue: Arc<ItemQueue>,
}

impl Platform {
    /// Takes a place in the line of an item. Errors: `busy` when it is too long.
    pub(crate) fn item_queue(&self, item: Uuid) -> PlatformResult<ItemQueueHandle> {
        let mut item_queues = self.item_queues().lock();
        let shared = item_queues.entry(item).or_default();
        if shared.users >= USERS_MAX {
            return Err(PlatformError::Busy);
        }
        shared.users += 1;
        Ok(ItemQueueHandle { platform: self.clone(), item, queue: Arc::clone(&shared.queue) })
    }
}

impl Clone for ItemQueueHandle {
    fn clone(&self) -> Self {
        self.platform.item_queues().lock().entry(self.item).or_default().users += 1;
        Self { platform: self.platform.clone(), item: self.item, queue: Arc::clone(&self.queue) }
    }
}

impl Drop for ItemQueueHandle {
    fn drop(&mut self) {
        if let Entry::Occupied(mut shared) = self.platform.item_queues().lock().entry(self.item) {
            shared.get_mut().users -= 1;
            if shared.get().users == 0 {
                shared.remove();
            }
        }
    }
}

impl ItemQueueHandle {
    /// Runs a command on the item to its end, as [`Platform::decide`] does, when its turn has come. `decide` asks for the
    /// item with [`ItemQueueHandle::visible_item`].
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
        for _ in 0..TRIES_MAX {
            let (decided, settled) = {
                let _mine = self.queue.acquire().await;
                match decide().await {
                    Ok(Decision { customer, change, result }) => (Ok(result), self.enqueue(customer, change)),
                    Err(refusal) => match self.queue.enqueue_refusal() {
                        Some(settled) => (Err(refusal), settled),
                        None => return self.refused_or_replayed(refusal, answering).await,
                    },
                }
            };
            match settled.await {
                Ok(CommitOutcome::Durable) => match decided {
                    Ok(result) => return Ok(Outcome::Fresh(result)),
                    Err(refusal) => return self.refused_or_replayed(refusal, answering).await,
                },
                Ok(CommitOutcome::DecideAgain) => {}
                // The same request came twice at the same time, and the other one was faster.
                Ok(CommitOutcome::Failed(StoreError::Replayed)) => match self.platform.replay(answering).await? {
                    Some(answer) => return Ok(Outcome::Replayed(answer)),
                    None => return Err(PlatformError::Busy),
                },
                Ok(CommitOutcome::Failed(error)) => return Err(error.into()),
                Err(_) => {
                    let text = "the commit was interrupted; whether it was done is not known";
                    return Err(StoreError::Unavailable(text.into()).into());
                }
            }
        }
        Err(PlatformError::Busy)
    }

    /// The item as the one before left it, with its auction: see [`Platform::visible_item`].
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

    /// Waits until everything that was decided before is on disk: for commands that ask the store for more than the item.
    /// What they find stays as it is while they have the turn, as far as this node goes.
    pub(crate) async fn drain(&self) {
        self.queue.drain().await;
        // Nothing is ahead of the store, and what is read now is what the decision rests on.
        let _ = self.queue.latest();
    }

    /// A request that came twice at the same time is mostly refused the second time for what it did itself.
    async fn refused_or_replayed<T>(
        &self,
        refusal: PlatformError,
        answering: Option<&IdempotentRequest<'_, T>>,
    ) -> PlatformResult<Outcome<T>> {
        Ok(Outcome::Replayed(self.platform.replay(answering).await?.ok_or(refusal)?))
    }

    fn enqueue(&self, customer: Uuid, mut change: Change) -> oneshot::Receiver<CommitOutcome> {
        // Answers are kept and forgotten by the server's clock, whatever clock the sale runs on.
        if let Some(answer) = &mut change.answer {
            answer.at = self.platform.now();
        }
        let entered = self.queue.enqueue(self.item, customer, change);
        if entered.starts_committer {
            // A task of its own: callers may go away.
            tokio::spawn(run_committer(self.clone()));
        }
        entered.settled
    }
}

/// The committer of a queue, with a place of its own in it.
async fn run_committer(place: ItemQueueHandle) {
    let mut watch = CommitterGuard::new(&place.queue);
    while let Some(mut batch) = place.queue.next_batch() {
        let results = place.platform.commit_all(batch.take_changes()).await;
        place.queue.settle(batch, results);
    }
    watch.disarm();
}
