//! The topics of a channel: their listeners, and the last events, which are kept for listeners that reconnect.

use std::collections::{HashMap, VecDeque};

use bytes::Bytes;
use tokio::sync::broadcast;
use uuid::Uuid;

use super::event::{self, EventId};

/// The subject of a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Topic {
    /// The auction and all of its items.
    Auction,
    /// One item.
    Item(Uuid),
}

/// A kept event, and its item.
struct BufferedEvent {
    number: u64,
    item: Option<Uuid>,
    event: Bytes,
}

/// The topics of a channel.
pub(super) struct Topics {
    /// Id of the last event.
    pub(super) last: EventId,
    kept: VecDeque<BufferedEvent>,
    kept_max: usize,
    behind_max: usize,
    open: HashMap<Topic, broadcast::Sender<Bytes>>,
}

impl Topics {
    pub(super) fn new(epoch: Uuid, kept_max: usize, behind_max: usize) -> Self {
        let last = EventId { epoch, number: 0 };
        Self { last, kept: VecDeque::new(), kept_max, behind_max: behind_max.max(1), open: HashMap::new() }
    }

    /// The id of the next event.
    pub(super) fn next_id(&mut self) -> EventId {
        self.last.number += 1;
        self.last
    }

    /// Sends an event to the listeners of the auction and of its item, and keeps it. Its id is [`Topics::last`].
    pub(super) fn publish(&mut self, item: Option<Uuid>, event: Bytes) {
        for topic in [Some(Topic::Auction), item.map(Topic::Item)].into_iter().flatten() {
            self.publish_to(topic, event.clone());
        }
        self.kept.push_back(BufferedEvent { number: self.last.number, item, event });
        while self.kept.len() > self.kept_max {
            self.kept.pop_front();
        }
    }

    /// Sends an event to one topic without keeping it.
    pub(super) fn publish_to(&self, topic: Topic, event: Bytes) {
        if let Some(listeners) = self.open.get(&topic) {
            // All listeners may have disconnected.
            let _ = listeners.send(event);
        }
    }

    pub(super) fn heartbeat(&self) {
        for topic in self.open.keys() {
            self.publish_to(*topic, event::heartbeat());
        }
    }

    /// From now on no listener can resume from an earlier event, because events between may be missing.
    pub(super) fn forget(&mut self) {
        self.kept.clear();
        self.last.number += 1;
    }

    /// The events after a listener's last event; none when they are not kept any more.
    pub(super) fn after(&self, last_event: EventId, topic: Topic) -> Option<Vec<Bytes>> {
        let oldest = self.kept.front().map_or(self.last.number + 1, |kept| kept.number);
        let is_known = last_event.epoch == self.last.epoch
            && last_event.number <= self.last.number
            && last_event.number + 1 >= oldest;
        let is_of = |kept: &&BufferedEvent| match topic {
            Topic::Auction => true,
            Topic::Item(item) => kept.item == Some(item),
        };
        is_known.then(|| {
            let later = self.kept.iter().filter(|kept| kept.number > last_event.number);
            later.filter(is_of).map(|kept| kept.event.clone()).collect()
        })
    }

    /// Receives the events of a topic from now on.
    pub(super) fn subscribe(&mut self, topic: Topic) -> broadcast::Receiver<Bytes> {
        let behind_max = self.behind_max;
        self.open.entry(topic).or_insert_with(|| broadcast::channel(behind_max).0).subscribe()
    }

    /// Topics with at least one listener; closes the topics without one.
    pub(super) fn active(&mut self) -> Vec<Topic> {
        self.open.retain(|_, listeners| listeners.receiver_count() > 0);
        self.open.keys().copied().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn published(topics: &mut Topics, item: Uuid) -> EventId {
        let id = topics.next_id();
        topics.publish(Some(item), id.number.to_string().into());
        id
    }

    #[test]
    fn a_listener_that_reconnects_gets_the_events_after_its_last_one_while_they_are_kept() {
        let (one, two) = (Uuid::from_u128(1), Uuid::from_u128(2));
        let mut topics = Topics::new(Uuid::from_u128(9), 3, 8);
        let start = topics.last;
        assert_eq!(topics.after(start, Topic::Auction), Some(vec![]));
        let first = published(&mut topics, one);
        let second = published(&mut topics, two);
        let third = published(&mut topics, one);
        assert_eq!(topics.after(start, Topic::Auction).unwrap().len(), 3);
        assert_eq!(topics.after(first, Topic::Item(one)), Some(vec![Bytes::from("3")]));
        assert_eq!(topics.after(second, Topic::Item(two)), Some(vec![]));
        let fourth = published(&mut topics, two);
        assert_eq!(topics.after(start, Topic::Auction), None, "the first event is not kept any more");
        assert_eq!(topics.after(first, Topic::Auction).unwrap().len(), 3);

        let ahead = EventId { number: fourth.number + 1, ..fourth };
        let other_channel = EventId { epoch: Uuid::nil(), ..third };
        assert_eq!((topics.after(ahead, Topic::Auction), topics.after(other_channel, Topic::Auction)), (None, None));
        topics.forget();
        assert_eq!(topics.after(fourth, Topic::Auction), None, "events may be missing");
        assert_eq!(topics.after(topics.last, Topic::Auction), Some(vec![]));
    }
}
