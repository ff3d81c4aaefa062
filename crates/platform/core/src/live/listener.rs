//! One who listens.

use std::collections::VecDeque;

use bytes::Bytes;
use jiff::Timestamp;
use tokio::sync::{OwnedSemaphorePermit, broadcast, oneshot};
use uuid::Uuid;

use super::Live;
use super::channel::SubscribeRequest;
use super::event::{self, EventId};
use super::topics::Topic;
use crate::error::{PlatformError, PlatformResult};
use crate::port::StoreError;

/// How often a channel may end while a listener connects.
const SUBSCRIBE_TRIES_MAX: usize = 3;

/// A live stream of server-sent events, ready to be written as they are. It ends when the node does, after
/// [`LiveConfig::listen_max`](super::LiveConfig::listen_max), and when it is dropped.
pub struct Listener {
    live: Live,
    auction: Uuid,
    topic: Topic,
    ahead: VecDeque<Bytes>,
    events: broadcast::Receiver<Bytes>,
    until: Timestamp,
    _place: OwnedSemaphorePermit,
}

/// What a listener gets when it connects.
pub(super) struct Subscription {
    /// Told at once: a snapshot, or what was missed.
    pub(super) first: Vec<Bytes>,
    /// Told from then on.
    pub(super) events: broadcast::Receiver<Bytes>,
}

impl Listener {
    /// The next piece of the stream: whole events or comments. None at its end.
    pub async fn next(&mut self) -> Option<Bytes> {
        if let Some(ahead) = self.ahead.pop_front() {
            return Some(ahead);
        }
        if self.live.now() >= self.until {
            return None;
        }
        match self.events.recv().await {
            Ok(event) => Some(event),
            // It was too slow: the present is what it needs.
            Err(broadcast::error::RecvError::Lagged(_)) => {
                let joined = self.live.join(self.auction, self.topic, None).await.ok()?;
                self.events = joined.events;
                self.ahead = joined.first.into();
                self.ahead.pop_front()
            }
            Err(broadcast::error::RecvError::Closed) => None,
        }
    }
}

impl Live {
    /// Connects a listener that has the event `last`.
    pub(super) async fn listen(&self, auction: Uuid, topic: Topic, last: Option<&str>) -> PlatformResult<Listener> {
        let place = self.shared.places.clone().try_acquire_owned();
        let place = place.map_err(|_| PlatformError::ListenersFull { maximum: self.shared.config.listeners_max })?;
        let joined = self.join(auction, topic, last.and_then(EventId::parse)).await?;
        let mut ahead = VecDeque::from(joined.first);
        ahead.push_front(event::retry());
        let until = self.now().saturating_add(self.shared.config.listen_max).unwrap_or(Timestamp::MAX);
        Ok(Listener { live: self.clone(), auction, topic, ahead, events: joined.events, until, _place: place })
    }

    async fn join(&self, auction: Uuid, topic: Topic, last_event: Option<EventId>) -> PlatformResult<Subscription> {
        for _ in 0..SUBSCRIBE_TRIES_MAX {
            if self.shared.stopping.is_cancelled() {
                break;
            }
            let channel = self.open_channel(auction);
            let (answer, answered) = oneshot::channel();
            let is_asked = channel.requests.send(SubscribeRequest { topic, last_event, answer }).await.is_ok();
            match answered.await {
                Ok(joined) if is_asked => return Ok(joined?),
                // The channel ended meanwhile.
                _ => self.close_channel(&channel),
            }
        }
        Err(PlatformError::Unavailable(StoreError::Unavailable("this node is stopping".into())))
    }
}
