//! Live streams: what happens to an item, or to all items of an auction, told to whoever listens (issue "Live").
//!
//! ```text
//! commit ──(durable)──> room of the auction ──one rendering──> broadcast to the auction's listeners, and to the item's
//!    └─> notice to other nodes (gathered for 20 ms) ──> their room of the auction looks the item up in the store
//! ```
//!
//! Only an auction that somebody listens to has a room: a task with a bounded queue. A bid leaves its new state there
//! without waiting, whatever the number of listeners and of items; when the queue is full the room looks everything up
//! again. What an event says is the whole public state of its item, so that leaving one out never leaves anybody wrong.
//!
//! Guarantees:
//! - a listener is first given a snapshot, read after it was let in, and then every later state, or a later one still;
//! - who comes back with the id of its last event is given what came after it, or, when that is not known any more or the
//!   node is another one, a snapshot;
//! - who is too slow is given a snapshot of the present, and holds up nobody;
//! - a state is rendered once, however many listen; reserves and maxima are in no rendering.

mod config;
mod elsewhere;
mod followed;
mod frame;
mod listener;
mod room;
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

pub use self::config::LiveConfig;
use self::elsewhere::Elsewhere;
pub use self::listener::Listener;
use self::room::Room;
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
    rooms: RwLock<HashMap<Uuid, Arc<Room>>>,
    /// How many there are, so that a commit that nobody follows takes no lock.
    rooms_open: AtomicUsize,
    places: Arc<Semaphore>,
    /// What other nodes have to be told, if there can be any.
    elsewhere: Option<Elsewhere>,
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
            rooms: RwLock::default(),
            rooms_open: AtomicUsize::new(0),
            places,
            elsewhere: (nodes == Nodes::Many).then(Elsewhere::default),
            stopping: CancellationToken::new(),
        };
        Self { shared: Arc::new(shared) }
    }

    fn now(&self) -> Timestamp {
        self.shared.clock.now()
    }

    /// The room of an auction that somebody listens to.
    fn room(&self, auction: Uuid) -> Option<Arc<Room>> {
        if self.shared.rooms_open.load(Ordering::SeqCst) == 0 {
            return None;
        }
        self.shared.rooms.read().unwrap_or_else(PoisonError::into_inner).get(&auction).cloned()
    }

    fn rooms(&self) -> Vec<Arc<Room>> {
        self.shared.rooms.read().unwrap_or_else(PoisonError::into_inner).values().cloned().collect()
    }

    /// The room of an auction, opened when there is none.
    fn open_room(&self, auction: Uuid) -> Arc<Room> {
        let mut rooms = self.shared.rooms.write().unwrap_or_else(PoisonError::into_inner);
        let room = rooms.entry(auction).or_insert_with(|| room::open(self.clone(), auction)).clone();
        self.shared.rooms_open.store(rooms.len(), Ordering::SeqCst);
        room
    }

    /// The room is empty, or its task has ended: the next listener opens another one.
    fn close_room(&self, room: &Room) {
        let mut rooms = self.shared.rooms.write().unwrap_or_else(PoisonError::into_inner);
        if rooms.get(&room.auction).is_some_and(|open| open.epoch == room.epoch) {
            rooms.remove(&room.auction);
        }
        self.shared.rooms_open.store(rooms.len(), Ordering::SeqCst);
    }
}

impl Platform {
    /// Listens to one item. `last` is the id of the last event that the listener had, as it was given.
    ///
    /// Errors: `not_found`, `forbidden`, `listeners_full`, `unavailable`.
    pub async fn listen_to_item(&self, caller: &Caller, item: Uuid, last: Option<&str>) -> PlatformResult<Listener> {
        caller.require(Scope::AuctionsRead)?;
        let (item, auction) = self.seen_item(caller, item).await?;
        self.live().listen(auction.uuid, Topic::Item(item.uuid), last).await
    }

    /// Listens to an auction and all of its items. `last` is the id of the last event that the listener had, as it was given.
    ///
    /// Errors: `not_found`, `forbidden`, `listeners_full`, `unavailable`.
    pub async fn listen_to_auction(
        &self,
        caller: &Caller,
        auction: Uuid,
        last: Option<&str>,
    ) -> PlatformResult<Listener> {
        caller.require(Scope::AuctionsRead)?;
        let auction = self.seen_auction(caller, auction).await?;
        self.live().listen(auction.uuid, Topic::Auction, last).await
    }
}
