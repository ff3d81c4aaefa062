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
    /// For visitors of a saleroom: the auction, and those of its lots that each of them looks at.
    Sale,
    /// For visitors of a saleroom: one lot.
    Lot(Uuid),
}

impl Topic {
    pub(super) fn is_for_visitors(self) -> bool {
        matches!(self, Self::Sale | Self::Lot(_))
    }
}

/// What the listeners of a topic receive.
#[derive(Debug, Clone)]
pub(super) enum Published {
    /// An event. A visitor receives it if they look at the lot; without a lot, each visitor does.
    Event { lot: Option<Uuid>, event: Bytes },
    /// Events may be missing: each visitor of the sale asks for a snapshot of the lots that they look at.
    SubscribeAgain,
}

/// A kept event, and its item.
struct BufferedEvent {
    number: u64,
    item: Option<Uuid>,
    event: Bytes,
    visitors: Option<VisitorEvent>,
}

/// An event as visitors receive it.
#[derive(Debug, Clone)]
pub(super) struct VisitorEvent {
    /// The lot, if only those who look at it receive the event.
    pub(super) lot: Option<Uuid>,
    pub(super) event: Bytes,
}

impl VisitorEvent {
    /// True when a visitor who looks at these lots receives the event.
    fn is_for(&self, lots: &[Uuid]) -> bool {
        self.lot.is_none_or(|lot| lots.contains(&lot))
    }
}

/// The topics of a channel.
pub(super) struct Topics {
    /// Id of the last event.
    pub(super) last: EventId,
    kept: VecDeque<BufferedEvent>,
    kept_max: usize,
    behind_max: usize,
    open: HashMap<Topic, broadcast::Sender<Published>>,
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

    /// Sends an event to the listeners of the auction and of its item, and keeps it. Its id is [`Topics::last`]. Visitors receive
    /// an event of their own, or none.
    pub(super) fn publish(&mut self, item: Option<Uuid>, event: Bytes, visitors: Option<VisitorEvent>) {
        for topic in [Some(Topic::Auction), item.map(Topic::Item)].into_iter().flatten() {
            self.publish_to(topic, event.clone());
        }
        if let Some(VisitorEvent { lot, event }) = &visitors {
            let published = Published::Event { lot: *lot, event: event.clone() };
            let lots: Vec<Topic> = match item {
                Some(item) => vec![Topic::Lot(item)],
                None => self.open.keys().copied().filter(|topic| matches!(topic, Topic::Lot(_))).collect(),
            };
            for topic in lots.into_iter().chain([Topic::Sale]) {
                self.send(topic, published.clone());
            }
        }
        self.kept.push_back(BufferedEvent { number: self.last.number, item, event, visitors });
        while self.kept.len() > self.kept_max {
            self.kept.pop_front();
        }
    }

    /// Sends an event to one topic without keeping it.
    pub(super) fn publish_to(&self, topic: Topic, event: Bytes) {
        self.send(topic, Published::Event { lot: None, event });
    }

    /// Makes each visitor of the sale ask for a snapshot.
    pub(super) fn subscribe_again(&self, topic: Topic) {
        self.send(topic, Published::SubscribeAgain);
    }

    fn send(&self, topic: Topic, published: Published) {
        if let Some(listeners) = self.open.get(&topic) {
            // All listeners may have disconnected.
            let _ = listeners.send(published);
        }
    }

    /// Visitors receive no earlier event of this item any more, also when they reconnect.
    pub(super) fn hide(&mut self, item: Uuid) {
        for kept in self.kept.iter_mut().filter(|kept| kept.item == Some(item)) {
            kept.visitors = None;
        }
    }

    pub(super) fn heartbeat(&self) {
        for topic in self.open.keys().filter(|topic| !topic.is_for_visitors()) {
            self.publish_to(*topic, event::heartbeat());
        }
    }

    /// From now on no listener can resume from an earlier event, because events between may be missing.
    pub(super) fn forget(&mut self) {
        self.kept.clear();
        self.last.number += 1;
    }

    /// The events after a listener's last event; none when they are not kept any more.
    pub(super) fn after(&self, last_event: EventId, topic: Topic, lots: &[Uuid]) -> Option<Vec<Bytes>> {
        let oldest = self.kept.front().map_or(self.last.number + 1, |kept| kept.number);
        let is_known = last_event.epoch == self.last.epoch
            && last_event.number <= self.last.number
            && last_event.number + 1 >= oldest;
        let event = |kept: &BufferedEvent| match topic {
            Topic::Auction => Some(kept.event.clone()),
            Topic::Item(item) => (kept.item == Some(item)).then(|| kept.event.clone()),
            Topic::Sale => kept.visitors.as_ref().filter(|event| event.is_for(lots)).map(|kept| kept.event.clone()),
            Topic::Lot(lot) => {
                let visitors = kept.visitors.as_ref().filter(|_| kept.item.is_none_or(|item| item == lot));
                visitors.map(|kept| kept.event.clone())
            }
        };
        is_known.then(|| {
            let later = self.kept.iter().filter(|kept| kept.number > last_event.number);
            later.filter_map(event).collect()
        })
    }

    /// Receives the events of a topic from now on.
    pub(super) fn subscribe(&mut self, topic: Topic) -> broadcast::Receiver<Published> {
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
        let event = Bytes::from(id.number.to_string());
        let visitors = Some(VisitorEvent { lot: Some(item), event: event.clone() });
        topics.publish(Some(item), event, visitors);
        id
    }

    #[test]
    fn a_listener_that_reconnects_gets_the_events_after_its_last_one_while_they_are_kept() {
        let (one, two) = (Uuid::from_u128(1), Uuid::from_u128(2));
        let mut topics = Topics::new(Uuid::from_u128(9), 3, 8);
        let start = topics.last;
        assert_eq!(topics.after(start, Topic::Auction, &[]), Some(vec![]));
        let first = published(&mut topics, one);
        let second = published(&mut topics, two);
        let third = published(&mut topics, one);
        assert_eq!(topics.after(start, Topic::Auction, &[]).unwrap().len(), 3);
        assert_eq!(topics.after(first, Topic::Item(one), &[]), Some(vec![Bytes::from("3")]));
        assert_eq!(topics.after(second, Topic::Item(two), &[]), Some(vec![]));
        let fourth = published(&mut topics, two);
        assert_eq!(topics.after(start, Topic::Auction, &[]), None, "the first event is not kept any more");
        assert_eq!(topics.after(first, Topic::Auction, &[]).unwrap().len(), 3);

        let ahead = EventId { number: fourth.number + 1, ..fourth };
        let other_channel = EventId { epoch: Uuid::nil(), ..third };
        assert_eq!(
            (topics.after(ahead, Topic::Auction, &[]), topics.after(other_channel, Topic::Auction, &[])),
            (None, None)
        );
        topics.forget();
        assert_eq!(topics.after(fourth, Topic::Auction, &[]), None, "events may be missing");
        assert_eq!(topics.after(topics.last, Topic::Auction, &[]), Some(vec![]));
    }

    #[test]
    fn a_visitor_who_reconnects_gets_the_events_of_the_lots_that_they_look_at_while_these_are_on_view() {
        let (one, two) = (Uuid::from_u128(1), Uuid::from_u128(2));
        let mut topics = Topics::new(Uuid::from_u128(9), 9, 8);
        let start = topics.last;
        published(&mut topics, one);
        published(&mut topics, two);
        topics.next_id();
        topics.publish(None, "3".into(), Some(VisitorEvent { lot: None, event: "3".into() }));
        let events = |topics: &Topics, topic, lots: &[Uuid]| topics.after(start, topic, lots).unwrap();
        assert_eq!(events(&topics, Topic::Sale, &[two]), ["2", "3"]);
        assert_eq!(events(&topics, Topic::Sale, &[]), ["3"]);
        assert_eq!(events(&topics, Topic::Lot(one), &[]), ["1", "3"]);
        topics.hide(one);
        assert_eq!(events(&topics, Topic::Lot(one), &[]), ["3"]);
        assert_eq!(events(&topics, Topic::Sale, &[one, two]), ["2", "3"]);
        assert_eq!(events(&topics, Topic::Item(one), &[]), ["1"], "callers see hidden lots, too");
    }
}
