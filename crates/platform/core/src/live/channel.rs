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
use super::event::{AuctionState, Audience, Body, EventId, ItemState, MessageState, event, time_in};
use super::listener::{Subject, Subscription};
use super::topics::{Topic, Topics, VisitorEvent};
use super::visitors::{LotChange, VisitorView};
use crate::port::{StoreResult, VISITOR_MESSAGES_SHOWN, VisitorMessage};

/// Queued updates; when the queue is full, the channel reloads the state from the store.
const UPDATES_QUEUED_MAX: usize = 1_024;
/// Queued subscribe requests; further callers wait until there is room.
const SUBSCRIBE_REQUESTS_MAX: usize = 256;
/// Updates, or subscribe requests, handled in one batch.
const BATCH_MAX: usize = 256;
/// Items reloaded one by one; with more, the channel reloads the whole auction.
const ITEMS_RELOADED_MAX: usize = 64;
/// Time between two maintenance steps of the channel: reload, heartbeat, idle check.
const TICK: Duration = Duration::from_secs(1);
/// How long a channel without listeners stays open, so that a listener who reconnects finds the events that it missed.
const IDLE_TTL: Duration = Duration::from_secs(30);

/// The handle of a channel, through which commits send updates and listeners subscribe.
pub(super) struct LiveChannel {
    pub(super) auction: Uuid,
    pub(super) epoch: Uuid,
    pub(super) requests: mpsc::Sender<SubscribeRequest>,
    updates: mpsc::Sender<LiveUpdate>,
    must_reload: AtomicBool,
}

/// A change of the auction or of one of its items.
pub(super) enum LiveUpdate {
    /// The new state of the auction.
    Auction(Box<Auction>),
    /// The new state of an item.
    Item(Box<Item>),
    /// This item, or without one the auction, changed: reload it from the store.
    Reload(Option<Uuid>),
}

/// A request of a listener to subscribe.
pub(super) struct SubscribeRequest {
    pub(super) subject: Subject,
    pub(super) last_event: Option<EventId>,
    pub(super) response: oneshot::Sender<StoreResult<Subscription>>,
}

impl LiveChannel {
    /// Queues an update without waiting. A full queue makes the channel reload everything.
    pub(super) fn send(&self, update: LiveUpdate) {
        if self.updates.try_send(update).is_err() {
            self.must_reload.store(true, Ordering::SeqCst);
        }
    }

    /// Updates may have been lost: the channel reloads everything.
    pub(super) fn reload_all(&self) {
        self.must_reload.store(true, Ordering::SeqCst);
        // A full queue wakes the task as well.
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
    let task = LiveChannelTask {
        channel: channel.clone(),
        live,
        topics,
        auction: None,
        reload_on_tick: false,
        versions: HashMap::new(),
        visitors: VisitorView::default(),
        messages: None,
        beat: now,
        used: now,
    };
    tokio::spawn(task.run(update_receiver, request_receiver));
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
    /// Versions of the states sent last; at most one for each item of the auction.
    versions: HashMap<Uuid, i64>,
    /// What visitors of a saleroom see.
    pub(super) visitors: VisitorView,
    /// Messages of the clerk to visitors; none before they were read.
    pub(super) messages: Option<Vec<MessageState>>,
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
                    self.look_at_link().await;
                    if self.is_over(tick) && request_receiver.is_empty() {
                        break;
                    }
                }
            }
        }
        // Queued and later requests fail now, and their callers open another channel.
        self.live.close_channel(&self.channel);
    }

    /// Sends the heartbeat when it is due. True when the channel had no listener for [`IDLE_TTL`].
    fn is_over(&mut self, now: Timestamp) -> bool {
        let is_due = now.duration_since(self.beat).unsigned_abs() >= self.live.shared.config.heartbeat_every;
        if is_due {
            self.beat = now;
            self.topics.heartbeat();
        }
        let active = self.topics.active();
        if !active.is_empty() {
            self.used = now;
        }
        if let Some(auction) = &self.auction {
            let slow = self.live.shared.config.heartbeat_every;
            for (topic, beat) in self.visitors.beats(&active, auction, now, is_due.then_some(slow), slow) {
                self.topics.publish_to(topic, beat);
            }
        }
        now.duration_since(self.used).unsigned_abs() >= IDLE_TTL
    }

    async fn apply_updates(&mut self, updates: Vec<LiveUpdate>) {
        let mut changed: BTreeSet<Option<Uuid>> = BTreeSet::new();
        for update in updates {
            match update {
                LiveUpdate::Auction(auction) => {
                    let status = self.auction.as_ref().map(|known| known.status);
                    if status.is_some_and(|status| status != auction.status) {
                        // The messages to visitors begin and end with the sale.
                        changed.insert(None);
                    }
                    self.publish_auction(*auction);
                }
                LiveUpdate::Item(item) => self.publish_item(&item).await,
                LiveUpdate::Reload(what) => drop(changed.insert(what)),
            }
        }
        if changed.len() > ITEMS_RELOADED_MAX {
            // A bulk change of a large auction is running: one reload each second is enough.
            self.reload_on_tick = true;
            return;
        }
        if !self.channel.must_reload.load(Ordering::SeqCst) && self.reload(changed).await.is_err() {
            // The next tick tries again.
            self.channel.must_reload.store(true, Ordering::SeqCst);
            return;
        }
        if self.channel.must_reload.load(Ordering::SeqCst) {
            self.reload_everything().await;
        }
    }

    async fn reload(&mut self, changed: BTreeSet<Option<Uuid>>) -> StoreResult<()> {
        for what in changed {
            match what {
                None => {
                    if let Some(auction) = self.live.shared.store.auction(self.channel.auction).await? {
                        self.publish_auction(auction);
                    }
                    self.publish_messages().await?;
                }
                Some(item) => {
                    self.load_auction().await?;
                    if let Some(item) = self.live.shared.store.item(item).await? {
                        self.publish_item(&item).await;
                    }
                }
            }
        }
        Ok(())
    }

    /// Sends the messages to visitors when they have changed. Before a snapshot had them, they have no reader.
    async fn publish_messages(&mut self) -> StoreResult<()> {
        let Some(known) = self.messages.take() else { return Ok(()) };
        let messages = self.messages_to_visitors().await?;
        if known != messages {
            let id = self.topics.next_id();
            let now = self.auction.as_ref().map_or(self.live.now(), |auction| time_in(auction, self.live.now()));
            let event = event(id, "messages", &Body::Messages { messages: messages.clone() }, now);
            self.topics.publish(None, event.clone(), Some(VisitorEvent { lot: None, event }));
        }
        self.messages = Some(messages);
        Ok(())
    }

    /// Reads the messages to visitors, the oldest first. Only a webcast that is live has them.
    pub(super) async fn messages_to_visitors(&self) -> StoreResult<Vec<MessageState>> {
        if !self.auction.as_ref().is_some_and(VisitorMessage::are_shown) {
            return Ok(Vec::new());
        }
        let latest = self.live.shared.store.visitor_messages(self.channel.auction, VISITOR_MESSAGES_SHOWN).await?;
        let on_stage = VisitorMessage::on_stage(&latest).map(|message| message.number);
        Ok(latest.iter().rev().map(|message| MessageState::of(message, on_stage == Some(message.number))).collect())
    }

    /// Loads the auction if the channel does not hold its state.
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
        let terms = |auction: &Auction| (auction.increments.clone(), auction.charges);
        if known.is_some_and(|known| terms(known) != terms(&auction)) {
            // The minimum bid of every item changes with the increments, and every total with the charges.
            self.channel.must_reload.store(true, Ordering::SeqCst);
        }
        let id = self.topics.next_id();
        let body = Body::Auction { auction: AuctionState::of(&auction) };
        let event = event(id, "auction", &body, time_in(&auction, self.live.now()));
        self.topics.publish(None, event.clone(), Some(VisitorEvent { lot: None, event }));
        self.auction = Some(auction);
    }

    async fn publish_item(&mut self, item: &Item) {
        let sent = self.versions.entry(item.uuid).or_default();
        // Updates of two commits can arrive in the other order.
        if *sent >= item.version {
            return;
        }
        *sent = item.version;
        let Some(auction) = &self.auction else {
            // No listener is connected yet.
            return;
        };
        let body = Body::Item { item: ItemState::of(auction, item, Audience::Callers) };
        let id = self.topics.next_id();
        let now = time_in(auction, self.live.now());
        let for_visitors = |name, body: &Body| {
            let is_of_ring = [auction.in_ring, auction.last_in_ring].contains(&Some(item.uuid));
            Some(VisitorEvent { lot: (!is_of_ring).then_some(item.uuid), event: event(id, name, body, now) })
        };
        let visitors = match self.visitors.change(self.live.shared.store.as_ref(), auction, item).await {
            LotChange::Shown(state) => for_visitors("item", &Body::Item { item: *state }),
            LotChange::Gone => {
                self.topics.hide(item.uuid);
                for_visitors("gone", &Body::Gone { gone: item.uuid })
            }
            LotChange::Unchanged => None,
        };
        self.topics.publish(Some(item.uuid), event(id, "item", &body, now), visitors);
    }

    /// Sends visitors the lot in the ring when the saleroom has lost its link, and when it has it again.
    async fn look_at_link(&mut self) {
        let Some(auction) = &self.auction else { return };
        let (store, now) = (self.live.shared.store.as_ref(), self.live.now());
        match self.visitors.look_at_link(store, auction, now).await {
            Ok(Some(state)) => {
                // The event is not kept: a listener that missed it gets a snapshot.
                self.topics.forget();
                let event = event(self.topics.last, "item", &Body::Item { item: state.clone() }, time_in(auction, now));
                for topic in [Topic::Sale, Topic::Lot(state.uuid)] {
                    self.topics.publish_to(topic, event.clone());
                }
            }
            Ok(None) => {}
            Err(error) => tracing::debug!(%error, "the link of a saleroom could not be looked at"),
        }
    }

    /// Reads the topics with listeners from the store and sends each a snapshot.
    async fn reload_everything(&mut self) {
        self.channel.must_reload.store(false, Ordering::SeqCst);
        self.reload_on_tick = false;
        self.topics.forget();
        self.visitors.forget();
        self.messages = None;
        self.auction = None;
        for topic in self.topics.active() {
            if topic == Topic::Sale {
                self.topics.subscribe_again(topic);
                continue;
            }
            match self.snapshot(topic, &[]).await {
                Ok(snapshot) => self.topics.publish_to(topic, snapshot),
                Err(error) => {
                    tracing::warn!(%error, "the state of an auction could not be read for its listeners; the channel tries again");
                    self.channel.must_reload.store(true, Ordering::SeqCst);
                    return;
                }
            }
        }
    }

    /// Subscribes listeners. Requests of one batch share one snapshot of each topic.
    async fn subscribe_all(&mut self, requests: Vec<SubscribeRequest>) {
        let mut snapshots: HashMap<Subject, Vec<SubscribeRequest>> = HashMap::new();
        self.used = self.live.now();
        for request in requests {
            let Subject { topic, lots } = &request.subject;
            if topic.is_for_visitors() {
                self.visitors.begin();
            }
            let Some(first) = request.last_event.and_then(|last_event| self.topics.after(last_event, *topic, lots))
            else {
                snapshots.entry(request.subject.clone()).or_default().push(request);
                continue;
            };
            let events = self.topics.subscribe(*topic);
            // The listener may have disconnected.
            let _ = request.response.send(Ok(Subscription { first, events }));
        }
        for (Subject { topic, lots }, requests) in snapshots {
            let snapshot = self.snapshot(topic, &lots).await;
            for request in requests {
                let first = snapshot.as_ref().map(|snapshot| vec![snapshot.clone()]);
                let subscription = match first {
                    Ok(first) => Ok(Subscription { first, events: self.topics.subscribe(topic) }),
                    Err(error) => Err(crate::port::StoreError::Unavailable(error.to_string())),
                };
                let _ = request.response.send(subscription);
            }
        }
    }
}
