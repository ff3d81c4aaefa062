//! A listener of a live stream.

use std::collections::VecDeque;

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
use super::topics::Topic;
use crate::error::{PlatformError, PlatformResult};
use crate::port::StoreError;

/// How often a channel may end while a listener connects.
const SUBSCRIBE_TRIES_MAX: usize = 3;

/// A live stream of server-sent events, ready to be written as they are. It ends when the node does, after
/// [`LiveConfig::listen_max`](super::LiveConfig::listen_max), when its caller's access ends, and when it is dropped.
pub struct Listener {
    live: Live,
    auction: Uuid,
    topic: Topic,
    first: VecDeque<Bytes>,
    events: broadcast::Receiver<Bytes>,
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
    pub(super) events: broadcast::Receiver<Bytes>,
}

impl Listener {
    /// The next piece of the stream: whole events or comments. None at its end.
    pub async fn next(&mut self) -> Option<Bytes> {
        if let Some(first) = self.first.pop_front() {
            return Some(first);
        }
        if self.was_refused || self.live.now() >= self.until {
            return None;
        }
        // The time of the check goes first, so that a stream with many events is checked, too.
        let received = loop {
            tokio::select! {
                biased;
                () = self.live.shared.clock.sleep_until(self.watch.check_at) => {}
                received = self.events.recv() => break received,
            }
            if !self.watch.goes_on(&self.live.shared.clock).await {
                self.was_refused = true;
                return None;
            }
        };
        match received {
            Ok(event) => Some(event),
            // The listener was too slow for its buffer: it continues with a snapshot.
            Err(broadcast::error::RecvError::Lagged(_)) => {
                let subscription = self.live.subscribe(self.auction, self.topic, None).await.ok()?;
                self.events = subscription.events;
                self.first = subscription.first.into();
                self.first.pop_front()
            }
            Err(broadcast::error::RecvError::Closed) => None,
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
        let watch = AccessWatch::new(check, self.now());
        let slot = self.shared.slots.take(auction.customer)?;
        let auction = auction.uuid;
        let subscription = self.subscribe(auction, topic, last.and_then(EventId::parse)).await?;
        let mut first = VecDeque::from(subscription.first);
        first.push_front(event::retry());
        let until = self.now().saturating_add(self.shared.config.listen_max).unwrap_or(Timestamp::MAX);
        let (live, events) = (self.clone(), subscription.events);
        Ok(Listener { live, auction, topic, first, events, until, watch, was_refused: false, _slot: slot })
    }

    async fn subscribe(
        &self,
        auction: Uuid,
        topic: Topic,
        last_event: Option<EventId>,
    ) -> PlatformResult<Subscription> {
        for _ in 0..SUBSCRIBE_TRIES_MAX {
            if self.shared.stopping.is_cancelled() {
                break;
            }
            let channel = self.open_channel(auction);
            let (response, received) = oneshot::channel();
            let is_sent = channel.requests.send(SubscribeRequest { topic, last_event, response }).await.is_ok();
            match received.await {
                Ok(subscription) if is_sent => return Ok(subscription?),
                // The channel closed meanwhile.
                _ => self.close_channel(&channel),
            }
        }
        Err(PlatformError::Unavailable(StoreError::Unavailable("this node is stopping".into())))
    }
}
