//! Delivery rows, who has them, and when they are due.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use ::provider::model::{Attempt, Id, Message};
use ::provider::port::{AttemptRecord, Backlog, Delivery, NewDelivery, Next, NodeId};
use jiff::Timestamp;

use super::lists::{self, Owned, key};

/// Messages with the work that follows from them.
#[derive(Default)]
pub(super) struct Work {
    nodes: HashMap<NodeId, Timestamp>,
    pub(super) messages: Owned<Message>,
    /// Message id by application and event id.
    pub(super) event_ids: Owned<Id>,
    /// By endpoint and message.
    rows: Owned<Row>,
    /// Rows that are nobody's: endpoint, when due, message.
    waiting: BTreeSet<(Id, Timestamp, Id)>,
    pub(super) attempts_of_message: Owned<Attempt>,
    pub(super) attempts_at_endpoint: Owned<Attempt>,
}

#[derive(Clone)]
struct Row {
    application: Id,
    owner: Option<NodeId>,
    attempts: u32,
    next_at: Timestamp,
}

impl Work {
    pub(super) fn heartbeat(&mut self, node: &NodeId, now: Timestamp, dead_before: Timestamp) {
        self.nodes.insert(node.clone(), now);
        let dead = self.nodes.extract_if(|_, heard_at| *heard_at < dead_before);
        let dead: Vec<NodeId> = dead.map(|(node, _)| node).collect();
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
        for delivery in deliveries {
            match &delivery.owner {
                Some(owner) => {
                    self.nodes.entry(owner.clone()).or_insert(now);
                }
                None => {
                    self.waiting.insert((delivery.endpoint.clone(), now, message.id.clone()));
                }
            }
            let row =
                Row { application: message.application.clone(), owner: delivery.owner, attempts: 0, next_at: now };
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

    pub(super) fn claim(&mut self, node: &NodeId, endpoint: &str, now: Timestamp, limit: usize) -> Vec<Delivery> {
        self.nodes.entry(node.clone()).or_insert(now);
        let start = (Id::from(endpoint), Timestamp::MIN, Id::from(""));
        let due = self.waiting.range(start..).take_while(|(of, at, _)| &**of == endpoint && *at <= now);
        let due: Vec<_> = due.take(limit).cloned().collect();
        let mut claimed = Vec::with_capacity(due.len());
        for waiting in due {
            self.waiting.remove(&waiting);
            let (endpoint, _, message) = waiting;
            let Some(row) = self.rows.get_mut(&(endpoint.clone(), message.clone())) else {
                continue;
            };
            row.owner = Some(node.clone());
            if let Some(message) = self.messages.get(&(row.application.clone(), message)) {
                claimed.push(Delivery { message: message.clone(), endpoint, attempts: row.attempts });
            }
        }
        claimed
    }

    /// Keeps a finished attempt and moves its delivery row on. An attempt that was recorded before is left as it is.
    pub(super) fn record(&mut self, record: AttemptRecord) {
        let attempt = record.attempt;
        let row_key = (attempt.endpoint.clone(), attempt.message.clone());
        match record.next {
            Next::Done => self.remove(&row_key),
            Next::Retry { at, attempts } => self.wait(&row_key, at, Some(attempts)),
        }
        let by_message = (attempt.message.clone(), attempt.id.clone());
        let by_endpoint = (attempt.endpoint.clone(), attempt.id.clone());
        self.attempts_of_message.entry(by_message).or_insert_with(|| attempt.clone());
        self.attempts_at_endpoint.entry(by_endpoint).or_insert(attempt);
    }

    pub(super) fn release(&mut self, node: &NodeId, rows: &[(Id, Id)], now: Timestamp) {
        for (message, endpoint) in rows {
            let row_key = (endpoint.clone(), message.clone());
            if self.rows.get(&row_key).is_some_and(|row| row.owner.as_ref() == Some(node)) {
                self.wait(&row_key, now, None);
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
    }

    pub(super) fn backlog(&self, endpoint: &str) -> Backlog {
        let mut rows = self.rows.range(key(endpoint, "")..lists::after(endpoint)).peekable();
        let oldest =
            rows.peek().and_then(|((_, message), row)| self.messages.get(&(row.application.clone(), message.clone())));
        Backlog { oldest_at: oldest.map(|message| message.created_at), deliveries: rows.count() as u64 }
    }

    /// Whether a row of the message is there for the endpoint.
    pub(super) fn waits(&self, endpoint: &str, message: &str) -> bool {
        self.rows.contains_key(&key(endpoint, message))
    }

    /// Whether that row is due at `now`, claimed or not.
    pub(super) fn is_due(&self, endpoint: &str, message: &str, now: Timestamp) -> bool {
        self.rows.get(&key(endpoint, message)).is_some_and(|row| row.next_at <= now)
    }

    /// Makes a row that is nobody's and due; false when one is there.
    pub(super) fn enqueue(&mut self, application: &Id, endpoint: &Id, message: &Id, now: Timestamp) -> bool {
        if self.waits(endpoint, message) {
            return false;
        }
        let row = Row { application: application.clone(), owner: None, attempts: 0, next_at: now };
        self.rows.insert((endpoint.clone(), message.clone()), row);
        self.waiting.insert((endpoint.clone(), now, message.clone()))
    }

    fn remove(&mut self, row_key: &(Id, Id)) {
        if let Some(row) = self.rows.remove(row_key) {
            self.waiting.remove(&(row_key.0.clone(), row.next_at, row_key.1.clone()));
        }
    }

    /// Makes a row nobody's, due at `at`.
    fn wait(&mut self, row_key: &(Id, Id), at: Timestamp, attempts: Option<u32>) {
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
