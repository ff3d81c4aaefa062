//! Live updates of an item, or of all items of an auction, over server-sent events.
//!
//! ```text
//! commit ──(durable)──> channel of the auction ──one rendering──> broadcast to the auction's listeners, and to the item's
//!    └─> notice to other nodes (gathered for 20 ms) ──> their channel of the auction looks the item up in the store
//! ```
//!
//! Only an auction with listeners has a channel: a task with a bounded queue. A bid leaves its new state there
//! without waiting, whatever the number of listeners and of items; when the queue is full the channel looks everything
//! up again. What an event says is the whole public state of its item, so that leaving one out never leaves anybody
//! wrong.
//!
//! Guarantees:
//! - a listener is first given a snapshot, read after it was let in, and then every later state, or a later one still;
//! - who comes back with the id of its last event is given what came after it, or, when that is not known any more or
//!   the node is another one, a snapshot;
//! - a slow listener receives a snapshot of the present and delays no other;
//! - a state is rendered once, however many listen; reserves and maxima are in no rendering.

mod channel;
mod commit_updates;
mod config;
mod event;
mod listener;
mod node_notices;
mod snapshot;
mod topics;

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use jiff::Timestamp;
use kit_runtime::clock::SharedClock;
use kit_runtime::ids::Ids;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use self::channel::LiveChannel;
pub use self::config::LiveConfig;
pub use self::listener::Listener;
use self::node_notices::NoticeQueue;
use self::topics::Topic;
use crate::config::Nodes;
use crate::error::PlatformResult;
use crate::port::Store;
use crate::{Caller, Platform, Scope};

/// The live streams of this process. Clones are the same.
#[derive(Clone)]
pub(crate) struct Live {
    shared: Arc<Shared>,
}

struct Shared {
    store: Arc<dyn Store>,
    clock: SharedClock,
    ids: Ids,
    config: LiveConfig,
    channels: RwLock<HashMap<Uuid, Arc<LiveChannel>>>,
    /// The number of channels, so that a commit without listeners takes no lock.
    channels_open: AtomicUsize,
    places: Arc<Semaphore>,
    /// What other nodes have to be told, if there can be any.
    notices_out: Option<NoticeQueue>,
    stopping: CancellationToken,
}

impl Live {
    /// No listener yet.
    pub(crate) fn new(store: Arc<dyn Store>, clock: SharedClock, ids: Ids, config: LiveConfig, nodes: Nodes) -> Self {
        let places = Arc::new(Semaphore::new(config.listeners_max.min(Semaphore::MAX_PERMITS)));
        let shared = Shared {
            store,
            clock,
            ids,
            config,
            channels: RwLock::default(),
            channels_open: AtomicUsize::new(0),
            places,
            notices_out: (nodes == Nodes::Many).then(NoticeQueue::default),
            stopping: CancellationToken::new(),
        };
        Self { shared: Arc::new(shared) }
    }

    fn now(&self) -> Timestamp {
        self.shared.clock.now()
    }

    /// The channel of an auction with listeners.
    fn channel(&self, auction: Uuid) -> Option<Arc<LiveChannel>> {
        if self.shared.channels_open.load(Ordering::SeqCst) == 0 {
            return None;
        }
        self.shared.channels.read().unwrap_or_else(PoisonError::into_inner).get(&auction).cloned()
    }

    fn channels(&self) -> Vec<Arc<LiveChannel>> {
        self.shared.channels.read().unwrap_or_else(PoisonError::into_inner).values().cloned().collect()
    }

    /// The channel of an auction, opened when there is none.
    fn open_channel(&self, auction: Uuid) -> Arc<LiveChannel> {
        let mut channels = self.shared.channels.write().unwrap_or_else(PoisonError::into_inner);
        let channel = channels.entry(auction).or_insert_with(|| channel::open(self.clone(), auction)).clone();
        self.shared.channels_open.store(channels.len(), Ordering::SeqCst);
        channel
    }

    /// The channel is empty, or its task has ended: the next listener opens another one.
    fn close_channel(&self, channel: &LiveChannel) {
        let mut channels = self.shared.channels.write().unwrap_or_else(PoisonError::into_inner);
        if channels.get(&channel.auction).is_some_and(|open| open.epoch == channel.epoch) {
            channels.remove(&channel.auction);
        }
        self.shared.channels_open.store(channels.len(), Ordering::SeqCst);
    }
}

impl Platform {
    /// Listens to one item. `last` is the id of the last event that the listener had, as it was given.
    ///
    /// Errors: `not_found`, `forbidden`, `listeners_full`, `unavailable`.
    pub async fn listen_to_item(&self, caller: &Caller, item: Uuid, last: Option<&str>) -> PlatformResult<Listener> {
        caller.require(Scope::AuctionsRead)?;
        let (item, auction) = self.visible_item(caller, item).await?;
        self.live().listen(auction.uuid, Topic::Item(item.uuid), last).await
    }

    /// Listens to an auction and all of its items. `last` is the id of the last event that the listener had, as it was
    /// given.
    ///
    /// Errors: `not_found`, `forbidden`, `listeners_full`, `unavailable`.
    pub async fn listen_to_auction(
        &self,
        caller: &Caller,
        auction: Uuid,
        last: Option<&str>,
    ) -> PlatformResult<Listener> {
        caller.require(Scope::AuctionsRead)?;
        let auction = self.visible_auction(caller, auction).await?;
        self.live().listen(auction.uuid, Topic::Auction, last).await
    }
}
