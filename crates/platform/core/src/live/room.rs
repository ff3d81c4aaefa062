//! The room of an auction: a task that hears of its changes and tells those who listen.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use jiff::Timestamp;
use platform_rules::{Auction, Item};
use tokio::sync::{mpsc, oneshot};
use uuid::Uuid;

use super::Live;
use super::frame::{AuctionState, Body, EventId, ItemState, event, time_in};
use super::listener::Joined;
use super::topics::{Topic, Topics};
use crate::port::StoreResult;

/// Changes that wait to be told; when there are more, everything is looked up again.
const NEWS_MAX: usize = 1_024;
/// People at the door; further ones wait behind them.
const JOINS_MAX: usize = 256;
/// Done at once of either.
const BATCH_MAX: usize = 256;
/// Items looked up one by one; with more, everything is.
const LOOKS_MAX: usize = 64;
/// How often the room looks after itself.
const TICK: Duration = Duration::from_secs(1);
/// How long it stays open when nobody is in it, so that who comes back finds what it missed.
const EMPTY_MAX: Duration = Duration::from_secs(30);

/// The door of a room.
pub(super) struct Room {
    pub(super) auction: Uuid,
    pub(super) epoch: Uuid,
    pub(super) joins: mpsc::Sender<Join>,
    news: mpsc::Sender<News>,
    missed: AtomicBool,
}

/// What happened to the auction.
pub(super) enum News {
    /// The auction is this now.
    Auction(Box<Auction>),
    /// An item of it is this now.
    Item(Box<Item>),
    /// An item of it changed, or the auction itself: look it up.
    Look(Option<Uuid>),
}

/// Somebody wants in.
pub(super) struct Join {
    pub(super) topic: Topic,
    pub(super) had: Option<EventId>,
    pub(super) answer: oneshot::Sender<StoreResult<Joined>>,
}

impl Room {
    /// Never waits.
    pub(super) fn tell(&self, news: News) {
        if self.news.try_send(news).is_err() {
            self.missed.store(true, Ordering::SeqCst);
        }
    }

    /// Something may have been missed: everything is looked up again.
    pub(super) fn missed(&self) {
        self.missed.store(true, Ordering::SeqCst);
        // If there is no room for it, the task is awake anyway.
        let _ = self.news.try_send(News::Look(None));
    }
}

/// Opens the room of an auction.
pub(super) fn open(live: Live, auction: Uuid) -> Arc<Room> {
    let (news, heard) = mpsc::channel(NEWS_MAX);
    let (joins, asked) = mpsc::channel(JOINS_MAX);
    let epoch = live.shared.ids.uuid_v7();
    let room = Arc::new(Room { auction, epoch, joins, news, missed: AtomicBool::new(false) });
    let config = &live.shared.config;
    let topics = Topics::new(epoch, config.events_kept, config.events_behind_max);
    let now = live.now();
    let host = Host {
        room: room.clone(),
        live,
        topics,
        auction: None,
        is_crowded: false,
        versions: HashMap::new(),
        beat: now,
        used: now,
    };
    tokio::spawn(host.run(heard, asked));
    room
}

/// The task of a room.
pub(super) struct Host {
    room: Arc<Room>,
    pub(super) live: Live,
    pub(super) topics: Topics,
    /// As it was heard of last.
    pub(super) auction: Option<Auction>,
    /// So many items changed at once that everything is to be looked at, with the next tick.
    is_crowded: bool,
    /// Of the states told last; at most one for each item of the auction.
    versions: HashMap<Uuid, i64>,
    /// Time of the last heartbeat.
    beat: Timestamp,
    /// When somebody was there last.
    used: Timestamp,
}

impl Host {
    async fn run(mut self, mut heard: mpsc::Receiver<News>, mut asked: mpsc::Receiver<Join>) {
        let stopping = self.live.shared.stopping.clone();
        let mut tick = self.live.now();
        let (mut news, mut joins) = (Vec::with_capacity(BATCH_MAX), Vec::with_capacity(BATCH_MAX));
        loop {
            let clock = self.live.shared.clock.clone();
            tokio::select! {
                () = stopping.cancelled() => break,
                _ = heard.recv_many(&mut news, BATCH_MAX) => self.tell_all(std::mem::take(&mut news)).await,
                _ = asked.recv_many(&mut joins, BATCH_MAX) => self.let_in(std::mem::take(&mut joins)).await,
                () = clock.sleep_until(tick.saturating_add(TICK).unwrap_or(Timestamp::MAX)) => {
                    tick = self.live.now();
                    if self.is_crowded || self.room.missed.load(Ordering::SeqCst) {
                        self.look_at_everything().await;
                    }
                    if self.is_over(tick) && asked.is_empty() {
                        break;
                    }
                }
            }
        }
        // Who is at the door, or comes to it now, finds it closed and opens another one.
        self.live.close_room(&self.room);
    }

    /// Keeps the streams alive; true when nobody has listened for a while.
    fn is_over(&mut self, now: Timestamp) -> bool {
        if now.duration_since(self.beat).unsigned_abs() >= self.live.shared.config.heartbeat_every {
            self.beat = now;
            self.topics.heartbeat();
        }
        if !self.topics.listened().is_empty() {
            self.used = now;
        }
        now.duration_since(self.used).unsigned_abs() >= EMPTY_MAX
    }

    async fn tell_all(&mut self, news: Vec<News>) {
        let mut looks: BTreeSet<Option<Uuid>> = BTreeSet::new();
        for news in news {
            match news {
                News::Auction(auction) => self.tell_auction(*auction),
                News::Item(item) => self.tell_item(&item),
                News::Look(what) => drop(looks.insert(what)),
            }
        }
        if looks.len() > LOOKS_MAX {
            // A large auction is being changed as a whole, and more comes: once a second is enough to look at all of it.
            self.is_crowded = true;
            return;
        }
        if !self.room.missed.load(Ordering::SeqCst) && self.look(looks).await.is_err() {
            // The next tick tries again.
            self.room.missed.store(true, Ordering::SeqCst);
            return;
        }
        if self.room.missed.load(Ordering::SeqCst) {
            self.look_at_everything().await;
        }
    }

    async fn look(&mut self, looks: BTreeSet<Option<Uuid>>) -> StoreResult<()> {
        for what in looks {
            match what {
                None => {
                    if let Some(auction) = self.live.shared.store.auction(self.room.auction).await? {
                        self.tell_auction(auction);
                    }
                }
                Some(item) => {
                    self.load_auction().await?;
                    if let Some(item) = self.live.shared.store.item(item).await? {
                        self.tell_item(&item);
                    }
                }
            }
        }
        Ok(())
    }

    /// The auction as it is known, or as the store has it when it is not.
    pub(super) async fn load_auction(&mut self) -> StoreResult<()> {
        if self.auction.is_none() {
            self.auction = self.live.shared.store.auction(self.room.auction).await?;
        }
        Ok(())
    }

    fn tell_auction(&mut self, auction: Auction) {
        let known = self.auction.as_ref();
        if known.is_some_and(|known| known.version >= auction.version) {
            return;
        }
        if known.is_some_and(|known| known.increments != auction.increments) {
            // What the next bid has to be is another amount at every item.
            self.room.missed.store(true, Ordering::SeqCst);
        }
        let id = self.topics.next_id();
        let body = Body::Auction { auction: AuctionState::of(&auction) };
        self.topics.tell(None, event(id, "auction", &body, time_in(&auction, self.live.now())));
        self.auction = Some(auction);
    }

    fn tell_item(&mut self, item: &Item) {
        let told = self.versions.entry(item.uuid).or_default();
        // Two that committed one after the other may come here the other way round.
        if *told >= item.version {
            return;
        }
        *told = item.version;
        let Some(auction) = &self.auction else {
            // Nobody was let in yet.
            return;
        };
        let body = Body::Item { item: ItemState::of(auction, item) };
        let id = self.topics.next_id();
        let now = time_in(auction, self.live.now());
        self.topics.tell(Some(item.uuid), event(id, "item", &body, now));
    }

    /// Looks up what is listened to and tells it as it is.
    async fn look_at_everything(&mut self) {
        self.room.missed.store(false, Ordering::SeqCst);
        self.is_crowded = false;
        self.topics.forget();
        self.auction = None;
        for topic in self.topics.listened() {
            match self.snapshot(topic).await {
                Ok(snapshot) => self.topics.tell_one(topic, snapshot),
                Err(error) => {
                    tracing::warn!(%error, "what changed could not be looked up for listeners; it is tried again");
                    self.room.missed.store(true, Ordering::SeqCst);
                    return;
                }
            }
        }
    }

    /// One reading and one rendering for all who come at the same time.
    async fn let_in(&mut self, joins: Vec<Join>) {
        let mut snapshots: HashMap<Topic, Vec<Join>> = HashMap::new();
        self.used = self.live.now();
        for join in joins {
            let Some(first) = join.had.and_then(|had| self.topics.after(had, join.topic)) else {
                snapshots.entry(join.topic).or_default().push(join);
                continue;
            };
            let events = self.topics.subscribe(join.topic);
            // It may have gone away.
            let _ = join.answer.send(Ok(Joined { first, events }));
        }
        for (topic, joins) in snapshots {
            let snapshot = self.snapshot(topic).await;
            for join in joins {
                let first = snapshot.as_ref().map(|snapshot| vec![snapshot.clone()]);
                let joined = match first {
                    Ok(first) => Ok(Joined { first, events: self.topics.subscribe(topic) }),
                    Err(error) => Err(crate::port::StoreError::Unavailable(error.to_string())),
                };
                let _ = join.answer.send(joined);
            }
        }
    }
}
