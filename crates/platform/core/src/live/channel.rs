//! The channel of an auction: a task that receives the auction's changes and sends them to the listeners.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use jiff::Timestamp;
use platform_rules::{Auction, Item};
use tokio::sync::{mpsc, oneshot};
use uuid::Uuid;

use super::Live;
use super::event::{AuctionState, Body, EventId, ItemState, event, time_in};
use super::listener::Subscription;
use super::topics::{Topic, Topics};
use crate::port::StoreResult;

/// Changes that wait to be told; when there are more, everything is looked up again.
const UPDATES_QUEUED_MAX: usize = 1_024;
/// People at the door; further ones wait behind them.
const SUBSCRIBE_REQUESTS_MAX: usize = 256;
/// Done at once of either.
const BATCH_MAX: usize = 256;
/// Items looked up one by one; with more, everything is.
const ITEMS_RELOADED_MAX: usize = 64;
/// Time between two maintenance steps of the channel: reload, heartbeat, idle check.
const TICK: Duration = Duration::from_secs(1);
/// How long a channel without listeners stays open, so that a listener who reconnects finds the events that it missed.
const IDLE_TTL: Duration = Duration::from_secs(30);

/// The door of a channel.
pub(super) struct LiveChannel {
    pub(super) auction: Uuid,
    pub(super) epoch: Uuid,
    pub(super) requests: mpsc::Sender<SubscribeRequest>,
    updates: mpsc::Sender<LiveUpdate>,
    must_reload: AtomicBool,
}

/// What happened to the auction.
pub(super) enum LiveUpdate {
    /// The auction is this now.
    Auction(Box<Auction>),
    /// An item of it is this now.
    Item(Box<Item>),
    /// An item of it changed, or the auction itself: look it up.
    Reload(Option<Uuid>),
}

/// A listener connects.
pub(super) struct SubscribeRequest {
    pub(super) topic: Topic,
    pub(super) last_event: Option<EventId>,
    pub(super) answer: oneshot::Sender<StoreResult<Subscription>>,
}

impl LiveChannel {
    /// Never waits.
    pub(super) fn send(&self, updates: LiveUpdate) {
        if self.updates.try_send(updates).is_err() {
            self.must_reload.store(true, Ordering::SeqCst);
        }
    }

    /// Something may have been must_reload: everything is looked up again.
    pub(super) fn reload_all(&self) {
        self.must_reload.store(true, Ordering::SeqCst);
        // If there is no room for it, the task is awake anyway.
        let _ = self.updates.try_send(LiveUpdate::Reload(None));
    }
}

/// Opens the channel of an auction.
pub(super) fn open(live: Live, auction: Uuid) -> Arc<LiveChannel> {
    let (updates, update_receiver) = mpsc::channel(UPDATES_QUEUED_MAX);
    let (requests, request_receiver) = mpsc::channel(SUBSCRIBE_REQUESTS_MAX);
    let epoch = live.shared.ids.uuid_v7();
    let channel = Arc::new(LiveChannel { auction, epoch, requests, updates, must_reload: AtomicBool::new(false) });
    let config = &live.shared.config;
    let topics = Topics::new(epoch, config.events_kept, config.events_behind_max);
    let now = live.now();
    let host = LiveChannelTask {
        channel: channel.clone(),
        live,
        topics,
        auction: None,
        reload_on_tick: false,
        versions: HashMap::new(),
        beat: now,
        used: now,
    };
    tokio::spawn(host.run(update_receiver, request_receiver));
    channel
}

/// The task of a channel.
pub(super) struct LiveChannelTask {
    channel: Arc<LiveChannel>,
    pub(super) live: Live,
    pub(super) topics: Topics,
    /// The auction's last known state.
    pub(super) auction: Option<Auction>,
    /// More than [`ITEMS_RELOADED_MAX`] items changed together, so the next tick reloads the whole auction.
    reload_on_tick: bool,
    /// Of the states told last; at most one for each item of the auction.
    versions: HashMap<Uuid, i64>,
    /// Time of the last heartbeat.
    beat: Timestamp,
    /// When the last listener was connected.
    used: Timestamp,
}

impl LiveChannelTask {
    async fn run(
        mut self,
        mut update_receiver: mpsc::Receiver<LiveUpdate>,
        mut request_receiver: mpsc::Receiver<SubscribeRequest>,
    ) {
        let stopping = self.live.shared.stopping.clone();
        let mut tick = self.live.now();
        let (mut updates, mut requests) = (Vec::with_capacity(BATCH_MAX), Vec::with_capacity(BATCH_MAX));
        loop {
            let clock = self.live.shared.clock.clone();
            tokio::select! {
                () = stopping.cancelled() => break,
                _ = update_receiver.recv_many(&mut updates, BATCH_MAX) => self.apply_updates(std::mem::take(&mut updates)).await,
                _ = request_receiver.recv_many(&mut requests, BATCH_MAX) => self.subscribe_all(std::mem::take(&mut requests)).await,
                () = clock.sleep_until(tick.saturating_add(TICK).unwrap_or(Timestamp::MAX)) => {
                    tick = self.live.now();
                    if self.reload_on_tick || self.channel.must_reload.load(Ordering::SeqCst) {
                        self.reload_everything().await;
                    }
                    if self.is_over(tick) && request_receiver.is_empty() {
                        break;
                    }
                }
            }
        }
        // Who is at the door, or comes to it now, finds it closed and opens another one.
        self.live.close_channel(&self.channel);
    }

    /// Keeps the streams alive; true when there was no listener for the idle time.
    fn is_over(&mut self, now: Timestamp) -> bool {
        if now.duration_since(self.beat).unsigned_abs() >= self.live.shared.config.heartbeat_every {
            self.beat = now;
            self.topics.heartbeat();
        }
        if !self.topics.active().is_empty() {
            self.used = now;
        }
        now.duration_since(self.used).unsigned_abs() >= IDLE_TTL
    }

    async fn apply_updates(&mut self, updates: Vec<LiveUpdate>) {
        let mut looks: BTreeSet<Option<Uuid>> = BTreeSet::new();
        for updates in updates {
            match updates {
                LiveUpdate::Auction(auction) => self.publish_auction(*auction),
                LiveUpdate::Item(item) => self.publish_item(&item),
                LiveUpdate::Reload(what) => drop(looks.insert(what)),
            }
        }
        if looks.len() > ITEMS_RELOADED_MAX {
            // A large auction is being changed as a whole, and more comes: once a second is enough to look at all of
            // it.
            self.reload_on_tick = true;
            return;
        }
        if !self.channel.must_reload.load(Ordering::SeqCst) && self.reload(looks).await.is_err() {
            // The next tick tries again.
            self.channel.must_reload.store(true, Ordering::SeqCst);
            return;
        }
        if self.channel.must_reload.load(Ordering::SeqCst) {
            self.reload_everything().await;
        }
    }

    async fn reload(&mut self, looks: BTreeSet<Option<Uuid>>) -> StoreResult<()> {
        for what in looks {
            match what {
                None => {
                    if let Some(auction) = self.live.shared.store.auction(self.channel.auction).await? {
                        self.publish_auction(auction);
                    }
                }
                Some(item) => {
                    self.load_auction().await?;
                    if let Some(item) = self.live.shared.store.item(item).await? {
                        self.publish_item(&item);
                    }
                }
            }
        }
        Ok(())
    }

    /// The auction as it is known, or as the store has it when it is not.
    pub(super) async fn load_auction(&mut self) -> StoreResult<()> {
        if self.auction.is_none() {
            self.auction = self.live.shared.store.auction(self.channel.auction).await?;
        }
        Ok(())
    }

    fn publish_auction(&mut self, auction: Auction) {
        let known = self.auction.as_ref();
        if known.is_some_and(|known| known.version >= auction.version) {
            return;
        }
        if known.is_some_and(|known| known.increments != auction.increments) {
            // What the next bid has to be is another amount at every item.
            self.channel.must_reload.store(true, Ordering::SeqCst);
        }
        let id = self.topics.next_id();
        let body = Body::Auction { auction: AuctionState::of(&auction) };
        self.topics.publish(None, event(id, "auction", &body, time_in(&auction, self.live.now())));
        self.auction = Some(auction);
    }

    fn publish_item(&mut self, item: &Item) {
        let told = self.versions.entry(item.uuid).or_default();
        // Two that committed one after the other may come here the other way round.
        if *told >= item.version {
            return;
        }
        *told = item.version;
        let Some(auction) = &self.auction else {
            // No listener is connected yet.
            return;
        };
        let body = Body::Item { item: ItemState::of(auction, item) };
        let id = self.topics.next_id();
        let now = time_in(auction, self.live.now());
        self.topics.publish(Some(item.uuid), event(id, "item", &body, now));
    }

    /// Looks up what is listened to and tells it as it is.
    async fn reload_everything(&mut self) {
        self.channel.must_reload.store(false, Ordering::SeqCst);
        self.reload_on_tick = false;
        self.topics.forget();
        self.auction = None;
        for topic in self.topics.active() {
            match self.snapshot(topic).await {
                Ok(snapshot) => self.topics.publish_to(topic, snapshot),
                Err(error) => {
                    tracing::warn!(%error, "what changed could not be looked up for listeners; it is tried again");
                    self.channel.must_reload.store(true, Ordering::SeqCst);
                    return;
                }
            }
        }
    }

    /// One reading and one rendering for all who come at the same time.
    async fn subscribe_all(&mut self, requests: Vec<SubscribeRequest>) {
        let mut snapshots: HashMap<Topic, Vec<SubscribeRequest>> = HashMap::new();
        self.used = self.live.now();
        for join in requests {
            let Some(first) = join.last_event.and_then(|last_event| self.topics.after(last_event, join.topic)) else {
                snapshots.entry(join.topic).or_default().push(join);
                continue;
            };
            let events = self.topics.subscribe(join.topic);
            // It may have gone away.
            let _ = join.answer.send(Ok(Subscription { first, events }));
        }
        for (topic, requests) in snapshots {
            let snapshot = self.snapshot(topic).await;
            for join in requests {
                let first = snapshot.as_ref().map(|snapshot| vec![snapshot.clone()]);
                let joined = match first {
                    Ok(first) => Ok(Subscription { first, events: self.topics.subscribe(topic) }),
                    Err(error) => Err(crate::port::StoreError::Unavailable(error.to_string())),
                };
                let _ = join.answer.send(joined);
            }
        }
    }
}
