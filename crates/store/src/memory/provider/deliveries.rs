//! Delivery rows, who has them, and when they are due.

mod ordering;

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};

use ::provider::model::{Attempt, AttemptTrigger, Id, Message};
use ::provider::ordering::{DeliveryOrder, OrderingKey};
use ::provider::port::{AttemptRecord, Backlog, Delivery, NewDelivery, Next, NodeId, RESEND_DUE, Room, RowKind};
use jiff::Timestamp;

use super::lists::{self, Owned, key};

/// Messages with the work that follows from them.
#[derive(Default)]
pub(super) struct Work {
    nodes: HashMap<NodeId, Timestamp>,
    pub(super) messages: Owned<Message>,
    /// Message id by application and event id.
    pub(super) event_ids: Owned<Id>,
    /// What messages stay in order with, by application and message.
    pub(super) ordering_keys: Owned<OrderingKey>,
    /// By endpoint and message.
    pub(super) rows: Owned<Row>,
    /// Rows that are nobody's: endpoint, when due, message.
    pub(super) waiting: BTreeSet<(Id, Timestamp, Id)>,
    /// Messages by endpoint and key in the order of their acceptance. The first has a row like any other; the rest have
    /// rows that are nobody's and don't wait.
    ordered: BTreeMap<(Id, OrderingKey), VecDeque<Id>>,
    pub(super) attempts_of_message: Owned<Attempt>,
    pub(super) attempts_at_endpoint: Owned<Attempt>,
}

#[derive(Clone)]
pub(super) struct Row {
    pub(super) application: Id,
    pub(super) owner: Option<NodeId>,
    pub(super) attempts: u32,
    pub(super) next_at: Timestamp,
    pub(super) manual: Manual,
    pub(super) key: Option<OrderingKey>,
}

/// What somebody asked for by hand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Manual {
    /// A background task, not somebody for this message, asked for the attempts to come.
    Replayed,
    /// Nothing.
    No,
    /// The attempt to come.
    Next,
    /// One after the attempt that the owner is at.
    Later,
}

impl Work {
    pub(super) fn heartbeat(&mut self, node: &NodeId, now: Timestamp, dead_before: Timestamp) {
        self.nodes.insert(node.clone(), now);
        let dead = self.nodes.extract_if(|_, heard_at| *heard_at < dead_before);
        let dead: Vec<NodeId> = dead.map(|(node, _)| node).collect();
        self.give_back(&dead, now);
    }

    pub(super) fn living_nodes(&self, heard_since: Timestamp) -> usize {
        self.nodes.values().filter(|heard_at| **heard_at >= heard_since).count()
    }

    /// Gives back what a node has that ends.
    pub(super) fn leave(&mut self, node: &NodeId, now: Timestamp) {
        self.nodes.remove(node);
        self.give_back(std::slice::from_ref(node), now);
    }

    fn give_back(&mut self, dead: &[NodeId], now: Timestamp) {
        for ((endpoint, message), row) in &mut self.rows {
            if row.owner.as_ref().is_some_and(|owner| dead.contains(owner)) {
                row.owner = None;
                row.next_at = now;
                self.waiting.insert((endpoint.clone(), now, message.clone()));
            }
        }
    }

    /// Takes in a message with its delivery rows.
    pub(super) fn enter(&mut self, message: Message, deliveries: Vec<NewDelivery>, now: Timestamp) {
        let due = message.deliver_at.unwrap_or(now);
        for delivery in deliveries {
            if let Some(key) = delivery.key {
                let place = (message.application.clone(), message.id.clone());
                self.enter_in_order(&place, delivery.endpoint, key, due);
                continue;
            }
            if delivery.trigger == AttemptTrigger::Manual {
                self.enter_manual(message.application.clone(), (delivery.endpoint, message.id.clone()));
                continue;
            }
            match &delivery.owner {
                Some(owner) => {
                    self.nodes.entry(owner.clone()).or_insert(now);
                }
                None => {
                    self.waiting.insert((delivery.endpoint.clone(), due, message.id.clone()));
                }
            }
            let (application, owner) = (message.application.clone(), delivery.owner);
            let row = Row { application, owner, attempts: 0, next_at: due, manual: Manual::No, key: None };
            self.rows.insert((delivery.endpoint, message.id.clone()), row);
        }
        if let Some(event_id) = &message.event_id {
            self.event_ids.insert(key(&message.application, event_id), message.id.clone());
        }
        self.messages.insert((message.application.clone(), message.id.clone()), message);
    }

    pub(super) fn endpoints_with_due(&self, now: Timestamp, limit: usize) -> Vec<(Id, Id)> {
        let mut due: Vec<_> = self.earliest().into_iter().filter(|(at, _, _)| *at <= now).collect();
        due.sort();
        due.truncate(limit);
        due.into_iter().map(|(_, application, endpoint)| (application, endpoint)).collect()
    }

    pub(super) fn next_due(&self) -> Option<Timestamp> {
        self.earliest().into_iter().map(|(at, _, _)| at).min()
    }

    /// The earliest waiting row of each endpoint, skipping from endpoint to endpoint: when, application, endpoint.
    fn earliest(&self) -> Vec<(Timestamp, Id, Id)> {
        let mut found = Vec::new();
        let mut from = (Id::from(""), Timestamp::MIN, Id::from(""));
        while let Some((endpoint, at, message)) = self.waiting.range(from..).next() {
            if let Some(row) = self.rows.get(&(endpoint.clone(), message.clone())) {
                found.push((*at, row.application.clone(), endpoint.clone()));
            }
            from = (lists::after(endpoint).0, Timestamp::MIN, Id::from(""));
        }
        found
    }

    pub(super) fn claim(
        &mut self,
        node: &NodeId,
        endpoint: &str,
        kind: RowKind,
        now: Timestamp,
        room: Room,
    ) -> Vec<Delivery> {
        self.nodes.entry(node.clone()).or_insert(now);
        let start = (Id::from(endpoint), Timestamp::MIN, Id::from(""));
        let due = self.waiting.range(start..).take_while(|(of, at, _)| &**of == endpoint && *at <= now);
        let of_kind = due.filter(|(endpoint, _, message)| {
            self.rows.get(&(endpoint.clone(), message.clone())).is_some_and(|row| match kind {
                RowKind::Manual => row.manual > Manual::No,
                RowKind::First => row.attempts == 0,
                RowKind::Retry => row.attempts > 0,
            })
        });
        let due: Vec<_> = of_kind.take(room.rows).cloned().collect();
        let (mut claimed, mut payload_bytes) = (Vec::with_capacity(due.len()), 0);
        for waiting in due {
            if payload_bytes >= room.payload_bytes.max(1) {
                break;
            }
            self.waiting.remove(&waiting);
            let (endpoint, _, message) = waiting;
            let Some(row) = self.rows.get_mut(&(endpoint.clone(), message.clone())) else {
                continue;
            };
            row.owner = Some(node.clone());
            row.manual = row.manual.min(Manual::Next);
            if let Some(message) = self.messages.get(&(row.application.clone(), message)) {
                let trigger = match row.manual {
                    Manual::No | Manual::Replayed => AttemptTrigger::Scheduled,
                    Manual::Next | Manual::Later => AttemptTrigger::Manual,
                };
                payload_bytes += message.payload.as_ref().map_or(0, |payload| payload.len());
                let (attempts, key, replayed) = (row.attempts, row.key.clone(), row.manual == Manual::Replayed);
                claimed.push(Delivery { message: message.clone(), endpoint, attempts, trigger, key, replayed });
            }
        }
        claimed
    }

    /// Keeps a finished attempt and moves its delivery row on. An attempt that was recorded before is left as it is.
    pub(super) fn record(&mut self, record: AttemptRecord) {
        let attempt = record.attempt;
        let row_key = (attempt.endpoint.clone(), attempt.message.clone());
        let asked = self.rows.get(&row_key).map_or(Manual::No, |row| row.manual);
        match record.next {
            _ if asked == Manual::Later => self.make_manual(&row_key),
            // Asked for by hand: not finished by an attempt of the schedule.
            _ if asked == Manual::Next && attempt.trigger == AttemptTrigger::Scheduled => {}
            Next::Done => self.remove(&row_key),
            Next::Retry { at, attempts } => self.wait(&row_key, at, Some(attempts)),
        }
        self.keep_attempt(attempt);
    }

    pub(super) fn keep_attempt(&mut self, attempt: Attempt) {
        let by_message = (attempt.message.clone(), attempt.id.clone());
        let by_endpoint = (attempt.endpoint.clone(), attempt.id.clone());
        self.attempts_of_message.entry(by_message).or_insert_with(|| attempt.clone());
        self.attempts_at_endpoint.entry(by_endpoint).or_insert(attempt);
    }

    pub(super) fn release(&mut self, node: &NodeId, rows: &[(Id, Id)], now: Timestamp) {
        for (message, endpoint) in rows {
            let row_key = (endpoint.clone(), message.clone());
            if let Some(row) = self.rows.get(&row_key).filter(|row| row.owner.as_ref() == Some(node)) {
                let at = if row.manual > Manual::No { row.next_at } else { now };
                self.wait(&row_key, at, None);
            }
        }
    }

    pub(super) fn drop_deliveries(&mut self, rows: &[(Id, Id)]) {
        for (message, endpoint) in rows {
            self.remove(&(endpoint.clone(), message.clone()));
        }
    }

    /// Drops whatever waits for an endpoint or is on its way to it.
    pub(super) fn drop_endpoint(&mut self, endpoint: &str) {
        self.waiting.retain(|(of, _, _)| &**of != endpoint);
        let gone: BTreeMap<_, _> =
            self.rows.extract_if(key(endpoint, "")..lists::after(endpoint), |_, _| true).collect();
        drop(gone);
        self.ordered.retain(|(of, _), _| &**of != endpoint);
    }

    /// Attempts made so far of each unfinished delivery whose endpoint and message are in `range`.
    pub(super) fn attempts_of_waiting(&self, range: impl std::ops::RangeBounds<(Id, Id)>) -> Vec<u32> {
        self.rows.range(range).map(|(_, row)| row.attempts).collect()
    }

    pub(super) fn backlog(&self, endpoint: &str) -> Backlog {
        let mut rows = self.rows.range(key(endpoint, "")..lists::after(endpoint)).peekable();
        let oldest =
            rows.peek().and_then(|((_, message), row)| self.messages.get(&(row.application.clone(), message.clone())));
        Backlog { oldest_at: oldest.map(|message| message.created_at), deliveries: rows.count() as u64 }
    }

    /// Endpoints with rows, by id, after `after`.
    pub(super) fn endpoints_with_rows(&self, after: Option<&str>) -> Vec<Id> {
        let mut endpoints: Vec<Id> = self.rows.keys().map(|(endpoint, _)| endpoint.clone()).collect();
        endpoints.dedup();
        endpoints.retain(|endpoint| after.is_none_or(|after| &**endpoint > after));
        endpoints
    }

    /// When the first of the endpoint's rows that are nobody's is due.
    pub(super) fn next_due_of(&self, endpoint: &str) -> Option<Timestamp> {
        let mut waiting = self.waiting.range((Id::from(endpoint), Timestamp::MIN, Id::from(""))..);
        waiting.next().filter(|(of, _, _)| &**of == endpoint).map(|(_, at, _)| *at)
    }

    /// What waits for all endpoints.
    pub(super) fn total_backlog(&self) -> Backlog {
        let messages = self
            .rows
            .iter()
            .filter_map(|((_, message), row)| self.messages.get(&(row.application.clone(), message.clone())));
        Backlog { oldest_at: messages.map(|message| message.created_at).min(), deliveries: self.rows.len() as u64 }
    }

    /// Whether a row of the message is there for the endpoint.
    pub(super) fn waits(&self, endpoint: &str, message: &str) -> bool {
        self.rows.contains_key(&key(endpoint, message))
    }

    /// Whether that row is due at `now`, claimed or not. One that is held is not.
    pub(super) fn is_due(&self, endpoint: &str, message: &str, now: Timestamp) -> bool {
        let row_key = key(endpoint, message);
        self.rows.get(&row_key).is_some_and(|row| row.next_at <= now) && !self.is_held(&row_key)
    }

    /// Makes a row that is nobody's and due, unless it is to stay in `order` with others before it; false when one is
    /// there.
    pub(super) fn enqueue(
        &mut self,
        application: &Id,
        endpoint: &Id,
        order: DeliveryOrder,
        message: &Id,
        now: Timestamp,
    ) -> bool {
        if self.waits(endpoint, message) {
            return false;
        }
        let place = (application.clone(), message.clone());
        // Not ahead of the time that its sender wants it delivered at.
        let due = self.messages.get(&place).and_then(|message| message.deliver_at).map_or(now, |at| at.max(now));
        if order == DeliveryOrder::PerKey
            && let Some(key) = self.ordering_keys.get(&place).cloned()
        {
            self.enter_in_order(&place, endpoint.clone(), key, due);
            self.mark_replayed(endpoint, message);
            return true;
        }
        let application = application.clone();
        let row = Row { application, owner: None, attempts: 0, next_at: due, manual: Manual::Replayed, key: None };
        self.rows.insert((endpoint.clone(), message.clone()), row);
        self.waiting.insert((endpoint.clone(), due, message.clone()))
    }

    pub(super) fn remove(&mut self, row_key: &(Id, Id)) {
        if let Some(row) = self.rows.remove(row_key) {
            self.waiting.remove(&(row_key.0.clone(), row.next_at, row_key.1.clone()));
            if let Some(key) = row.key {
                self.next_of_key(&row_key.0, key, &row_key.1);
            }
        }
    }

    /// The row of an attempt that was asked for, where there is none.
    pub(super) fn enter_manual(&mut self, application: Id, row_key: (Id, Id)) {
        let row = Row { application, owner: None, attempts: 0, next_at: RESEND_DUE, manual: Manual::Next, key: None };
        self.rows.insert(row_key.clone(), row);
        self.make_manual(&row_key);
    }

    /// Makes a row nobody's, to be tried by hand at once.
    pub(super) fn make_manual(&mut self, row_key: &(Id, Id)) {
        self.wait(row_key, RESEND_DUE, None);
        if let Some(row) = self.rows.get_mut(row_key) {
            row.manual = Manual::Next;
        }
    }

    /// Makes a row nobody's, due at `at`.
    pub(super) fn wait(&mut self, row_key: &(Id, Id), at: Timestamp, attempts: Option<u32>) {
        let Some(row) = self.rows.get_mut(row_key) else {
            return;
        };
        let (endpoint, message) = row_key.clone();
        self.waiting.remove(&(endpoint.clone(), row.next_at, message.clone()));
        row.owner = None;
        row.next_at = at;
        row.attempts = attempts.unwrap_or(row.attempts);
        self.waiting.insert((endpoint, at, message));
    }
}
