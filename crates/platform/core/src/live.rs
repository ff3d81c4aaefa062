//! Live updates of an item, or of all items of an auction, over server-sent events.
//!
//! ```text
//! commit ──(durable)──> channel of the auction ──one rendering──> listeners of the auction and of the item
//!    └─> notification to other nodes (batched for 20 ms) ──> their channel reads the item from the store
//! ```
//!
//! Only an auction with listeners has a channel: a task with a bounded queue. A commit puts the new states into the
//! queue without waiting. When the queue is full, the channel reads the current state from the store. Each event holds
//! the whole public state of its item, so a skipped event is made up for by the next one.
//!
//! Guarantees:
//! - A listener first receives a snapshot that is read after it subscribed, and then every later state or a newer one.
//! - A listener that reconnects with the id of its last event receives the events after it, or a snapshot when the
//!   channel no longer has them or runs on another node.
//! - A slow listener receives a snapshot and delays no other.
//! - A stream ends within five seconds of the session or key that opened it.
//! - The channel renders a state once for all callers, and once for all visitors of a saleroom. No event contains reserves or
//!   maxima. Visitors receive no lot that is not on view.
//! - A message of the clerk to visitors is a state, too: an event has all of them that are shown.

mod access_watch;
mod channel;
mod commit_updates;
pub(crate) mod desk_link;
mod event;
mod listener;
mod listener_slots;
mod node_notifications;
mod snapshot;
mod topics;
mod visitors;

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use jiff::Timestamp;
use kit_runtime::clock::SharedClock;
use kit_runtime::ids::Ids;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use self::access_watch::AccessAnswers;
pub(crate) use self::access_watch::AccessCheck;
use self::channel::{LiveChannel, LiveUpdate};
pub use self::listener::Listener;
use self::listener_slots::ListenerSlots;
use self::node_notifications::OutgoingChanges;
pub(crate) use self::topics::Topic;
use crate::config::{LiveConfig, Nodes};
use crate::port::Store;

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
    slots: ListenerSlots,
    visitor_slots: ListenerSlots,
    access_answers: AccessAnswers,
    /// Changes to send to other nodes; none when the store serves one node only.
    outgoing: Option<OutgoingChanges>,
    stopping: CancellationToken,
}

impl Live {
    /// Live streams without listeners.
    pub(crate) fn new(store: Arc<dyn Store>, clock: SharedClock, ids: Ids, config: LiveConfig, nodes: Nodes) -> Self {
        let (slots, visitor_slots) = (ListenerSlots::of_callers(&config), ListenerSlots::of_visitors(&config));
        let shared = Shared {
            store,
            clock,
            ids,
            config,
            channels: RwLock::default(),
            channels_open: AtomicUsize::new(0),
            slots,
            visitor_slots,
            access_answers: AccessAnswers::default(),
            outgoing: (nodes == Nodes::Many).then(OutgoingChanges::default),
            stopping: CancellationToken::new(),
        };
        Self { shared: Arc::new(shared) }
    }

    fn now(&self) -> Timestamp {
        self.shared.clock.now()
    }

    pub(crate) fn access_answers(&self) -> &AccessAnswers {
        &self.shared.access_answers
    }

    /// The channel of an auction with listeners.
    fn channel(&self, auction: Uuid) -> Option<Arc<LiveChannel>> {
        if self.shared.channels_open.load(Ordering::SeqCst) == 0 {
            return None;
        }
        self.shared.channels.read().unwrap_or_else(PoisonError::into_inner).get(&auction).cloned()
    }

    /// Makes the channels of an auction read the auction and its messages again, at all nodes.
    pub(crate) fn reload_auction(&self, auction: Uuid) {
        if let Some(channel) = self.channel(auction) {
            channel.send(LiveUpdate::Reload(None));
        }
        if let Some(outgoing) = &self.shared.outgoing {
            outgoing.add(auction, None);
        }
    }

    fn channels(&self) -> Vec<Arc<LiveChannel>> {
        self.shared.channels.read().unwrap_or_else(PoisonError::into_inner).values().cloned().collect()
    }

    /// The channel of an auction; opens one when there is none.
    fn open_channel(&self, auction: Uuid) -> Arc<LiveChannel> {
        let mut channels = self.shared.channels.write().unwrap_or_else(PoisonError::into_inner);
        let channel = channels.entry(auction).or_insert_with(|| channel::open(self.clone(), auction)).clone();
        self.shared.channels_open.store(channels.len(), Ordering::SeqCst);
        channel
    }

    /// Removes a channel whose task ends. The next listener opens another one.
    fn close_channel(&self, channel: &LiveChannel) {
        let mut channels = self.shared.channels.write().unwrap_or_else(PoisonError::into_inner);
        if channels.get(&channel.auction).is_some_and(|open| open.epoch == channel.epoch) {
            channels.remove(&channel.auction);
        }
        self.shared.channels_open.store(channels.len(), Ordering::SeqCst);
    }
}
