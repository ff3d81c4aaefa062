//! A listener of a live stream.

use std::collections::VecDeque;
use std::net::IpAddr;
use std::sync::Arc;

use bytes::Bytes;
use jiff::Timestamp;
use platform_rules::Auction;
use tokio::sync::{broadcast, oneshot};
use uuid::Uuid;

use super::Live;
use super::access_watch::{AccessCheck, AccessWatch};
use super::channel::SubscribeRequest;
use super::event::{self, EventId};
use super::listener_slots::ListenerSlot;
use super::topics::{Published, Topic};
use crate::error::{PlatformError, PlatformResult};
use crate::port::StoreError;

/// How often a channel may end while a listener connects.
const SUBSCRIBE_TRIES_MAX: usize = 3;

/// A live stream of server-sent events, ready to be written as they are. It ends when the node does, after
/// [`LiveConfig::listen_max`](super::LiveConfig::listen_max), when its caller's access ends, and when it is dropped.
pub struct Listener {
    live: Live,
    auction: Uuid,
    subject: Subject,
    first: VecDeque<Bytes>,
    events: broadcast::Receiver<Published>,
    until: Timestamp,
    watch: AccessWatch,
    was_refused: bool,
    _slot: ListenerSlot,
}

/// The result of subscribing to a topic.
pub(super) struct Subscription {
    /// Sent first: a snapshot, or the missed events.
    pub(super) first: Vec<Bytes>,
    /// Sent from then on.
    pub(super) events: broadcast::Receiver<Published>,
}

/// What a listener listens to.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Subject {
    pub(super) topic: Topic,
    /// The lots that a visitor of a sale looks at.
    pub(super) lots: Arc<[Uuid]>,
}

impl Listener {
    /// The next piece of the stream: whole events or comments. None at its end.
    pub async fn next(&mut self) -> Option<Bytes> {
        loop {
            if let Some(first) = self.first.pop_front() {
                return Some(first);
            }
            match self.receive().await? {
                Ok(Published::Event { lot, event }) => {
                    if lot.is_none_or(|lot| self.subject.topic != Topic::Sale || self.subject.lots.contains(&lot)) {
                        return Some(event);
                    }
                }
                // Events are missing, or the listener was too slow for its buffer: it continues with a snapshot.
                Ok(Published::SubscribeAgain) | Err(broadcast::error::RecvError::Lagged(_)) => {
                    let subscription = self.live.subscribe(self.auction, &self.subject, None).await.ok()?;
                    self.events = subscription.events;
                    self.first = subscription.first.into();
                }
                Err(broadcast::error::RecvError::Closed) => return None,
            }
        }
    }

    /// What the topic publishes next; none at the end of the stream.
    async fn receive(&mut self) -> Option<Result<Published, broadcast::error::RecvError>> {
        if self.was_refused || self.live.now() >= self.until {
            return None;
        }
        // The time of the check goes first, so that a stream with many events is checked, too.
        loop {
            tokio::select! {
                biased;
                () = self.live.shared.clock.sleep_until(self.watch.check_at) => {}
                received = self.events.recv() => return Some(received),
            }
            if !self.watch.goes_on(&self.live.shared.clock).await {
                self.was_refused = true;
                return None;
            }
        }
    }

    /// True once the stream has ended because its caller's access has.
    pub fn was_refused(&self) -> bool {
        self.was_refused
    }
}

impl Live {
    /// Subscribes a listener whose last event was `last`.
    pub(crate) async fn listen(
        &self,
        auction: &Auction,
        topic: Topic,
        last: Option<&str>,
        check: Box<dyn AccessCheck>,
    ) -> PlatformResult<Listener> {
        let slot = self.shared.slots.take(auction.customer, None)?;
        let subject = Subject { topic, lots: Arc::default() };
        self.listen_in(slot, auction, subject, last, check).await
    }

    /// Subscribes a visitor of a saleroom, at an address, to a topic for visitors. Of a sale they look at these lots.
    pub(crate) async fn listen_as_visitor(
        &self,
        auction: &Auction,
        (topic, lots): (Topic, Vec<Uuid>),
        last: Option<&str>,
        address: Option<IpAddr>,
        check: Box<dyn AccessCheck>,
    ) -> PlatformResult<Listener> {
        let slot = self.shared.visitor_slots.take(auction.customer, address)?;
        self.listen_in(slot, auction, Subject { topic, lots: lots.into() }, last, check).await
    }

    async fn listen_in(
        &self,
        slot: ListenerSlot,
        auction: &Auction,
        subject: Subject,
        last: Option<&str>,
        check: Box<dyn AccessCheck>,
    ) -> PlatformResult<Listener> {
        let watch = AccessWatch::new(check, self.now());
        let auction = auction.uuid;
        let subscription = self.subscribe(auction, &subject, last.and_then(EventId::parse)).await?;
        let mut first = VecDeque::from(subscription.first);
        first.push_front(event::retry());
        let until = self.now().saturating_add(self.shared.config.listen_max).unwrap_or(Timestamp::MAX);
        let (live, events) = (self.clone(), subscription.events);
        Ok(Listener { live, auction, subject, first, events, until, watch, was_refused: false, _slot: slot })
    }

    async fn subscribe(
        &self,
        auction: Uuid,
        subject: &Subject,
        last_event: Option<EventId>,
    ) -> PlatformResult<Subscription> {
        for _ in 0..SUBSCRIBE_TRIES_MAX {
            if self.shared.stopping.is_cancelled() {
                break;
            }
            let channel = self.open_channel(auction);
            let (response, received) = oneshot::channel();
            let request = SubscribeRequest { subject: subject.clone(), last_event, response };
            let is_sent = channel.requests.send(request).await.is_ok();
            match received.await {
                Ok(subscription) if is_sent => return Ok(subscription?),
                // The channel closed meanwhile.
                _ => self.close_channel(&channel),
            }
        }
        Err(PlatformError::Unavailable(StoreError::Unavailable("this node is stopping".into())))
    }
}
