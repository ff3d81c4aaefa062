//! Connections, and the events that wait for them.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use ::platform::port::{
    Backlog, Became, Consumer, Cursor, Failing, NodeId, OutboxEvent, OutboxOutcome, Page, Parked, QuarantinedEvent,
};
use jiff::Timestamp;
use uuid::Uuid;

use super::slice;

#[derive(Default)]
pub(super) struct Outbox {
    /// When a node was last heard of. One that was never heard of does not live.
    nodes: HashMap<NodeId, Timestamp>,
    consumers: HashMap<Uuid, Consumer>,
    rows: BTreeMap<Cursor, Row>,
    /// Customer, cursor.
    of_customers: BTreeSet<(Uuid, Cursor)>,
    /// Subject, cursor: the first of a subject is the one that may go.
    of_subjects: BTreeSet<(Uuid, Cursor)>,
    quarantine: BTreeMap<(Uuid, Cursor), QuarantinedEvent>,
}

struct Row {
    event: OutboxEvent,
    owner: Option<NodeId>,
    /// Set while it waits for its time.
    next_at: Option<Timestamp>,
    /// The last failure.
    failed: Option<(Timestamp, String)>,
}

impl Outbox {
    pub(super) fn heartbeat(&mut self, node: NodeId, now: Timestamp, dead_before: Timestamp) {
        self.nodes.insert(node, now);
        self.nodes.retain(|_, heard_at| *heard_at >= dead_before);
        for row in self.rows.values_mut() {
            row.owner = row.owner.filter(|owner| self.nodes.contains_key(owner));
        }
    }

    pub(super) fn put_consumer(&mut self, consumer: Consumer) {
        self.start_anew(consumer.customer);
        self.consumers.insert(consumer.customer, consumer);
    }

    pub(super) fn consumer(&self, customer: Uuid) -> Option<Consumer> {
        self.consumers.get(&customer).cloned()
    }

    pub(super) fn consumer_mut(&mut self, customer: Uuid) -> Option<&mut Consumer> {
        self.consumers.get_mut(&customer)
    }

    pub(super) fn consumers(&self) -> impl Iterator<Item = &Consumer> {
        self.consumers.values()
    }

    pub(super) fn park(&mut self, customer: Uuid, parked: Option<Parked>) {
        if let Some(consumer) = self.consumers.get_mut(&customer) {
            consumer.parked = parked;
        }
    }

    pub(super) fn resume(&mut self, customer: Uuid, at: Timestamp) {
        if let Some(consumer) = self.consumers.get_mut(&customer) {
            consumer.parked = None;
            consumer.updated_at = at;
        }
        self.start_anew(customer);
    }

    /// What waits for its time after a failure is due at once, and the failure forgotten.
    fn start_anew(&mut self, customer: Uuid) {
        for row in self.rows.values_mut().filter(|row| row.event.customer == customer) {
            (row.next_at, row.failed) = (None, None);
        }
    }

    pub(super) fn is_connected(&self, customer: Uuid) -> bool {
        self.consumers.get(&customer).is_some_and(Consumer::is_complete)
    }

    /// Connected, and not parked.
    fn is_open(&self, customer: Uuid) -> bool {
        self.consumers.get(&customer).is_some_and(|consumer| consumer.is_complete() && consumer.parked.is_none())
    }

    pub(super) fn has(&self, cursor: Cursor) -> bool {
        self.rows.contains_key(&cursor)
    }

    /// A row enters, and is given to `hand_to` if nothing holds it back; its owner.
    pub(super) fn enter(&mut self, event: OutboxEvent, hand_to: Option<NodeId>) -> Option<NodeId> {
        self.of_customers.insert((event.customer, event.cursor));
        self.of_subjects.insert((event.subject, event.cursor));
        let owner = hand_to.filter(|_| self.is_open(event.customer) && self.is_head(&event));
        self.rows.insert(event.cursor, Row { event, owner, next_at: None, failed: None });
        owner
    }

    /// Forgets the connection and what waits; how much did.
    pub(super) fn disconnect(&mut self, customer: Uuid) -> Option<u64> {
        self.consumers.remove(&customer)?;
        let cursors: Vec<Cursor> = self
            .of_customers
            .range((customer, Cursor::MIN)..=(customer, Cursor::MAX))
            .map(|(_, cursor)| *cursor)
            .collect();
        Some(cursors.into_iter().filter_map(|cursor| self.remove(cursor)).count() as u64)
    }

    /// In the outbox, and with no node.
    pub(super) fn waits(&self, cursor: Cursor) -> bool {
        self.rows.get(&cursor).is_some_and(|row| row.owner.is_none())
    }

    pub(super) fn is_aside(&self, customer: Uuid, cursor: Cursor) -> bool {
        self.quarantine.contains_key(&(customer, cursor))
    }

    /// What an event in quarantine is about, and its number there.
    pub(super) fn aside(&self, customer: Uuid, cursor: Cursor) -> Option<(Uuid, i64)> {
        self.quarantine.get(&(customer, cursor)).map(|aside| (aside.event.subject, aside.event.sequence))
    }

    pub(super) fn take_out(&mut self, customer: Uuid, cursor: Cursor) -> Option<OutboxEvent> {
        Some(self.quarantine.remove(&(customer, cursor))?.event)
    }

    fn remove(&mut self, cursor: Cursor) -> Option<Row> {
        let row = self.rows.remove(&cursor)?;
        self.of_customers.remove(&(row.event.customer, cursor));
        self.of_subjects.remove(&(row.event.subject, cursor));
        Some(row)
    }

    /// True for the earliest row of its subject.
    fn is_head(&self, event: &OutboxEvent) -> bool {
        let first = self.of_subjects.range((event.subject, Cursor::MIN)..).next();
        first == Some(&(event.subject, event.cursor))
    }

    /// Rows of a customer that are nobody's and the earliest of their subject.
    fn heads(&self, customer: Uuid) -> impl Iterator<Item = &Row> {
        let cursors = self.of_customers.range((customer, Cursor::MIN)..=(customer, Cursor::MAX));
        let rows = cursors.filter_map(|(_, cursor)| self.rows.get(cursor));
        rows.filter(|row| row.owner.is_none() && self.is_head(&row.event))
    }

    pub(super) fn customers_with_work(&self, now: Timestamp) -> Vec<Uuid> {
        let open = self.consumers.keys().filter(|customer| self.is_open(**customer));
        let mut with_work: Vec<Uuid> =
            open.filter(|customer| self.heads(**customer).any(|row| row.is_due(now))).copied().collect();
        with_work.sort_unstable();
        with_work
    }

    pub(super) fn claim(&mut self, node: NodeId, customer: Uuid, now: Timestamp, limit: usize) -> Vec<OutboxEvent> {
        if !self.is_open(customer) {
            return Vec::new();
        }
        let due = self.heads(customer).filter(|row| row.is_due(now)).take(limit);
        let claimed: Vec<OutboxEvent> = due.map(|row| row.event.clone()).collect();
        for event in &claimed {
            if let Some(row) = self.rows.get_mut(&event.cursor) {
                row.owner = Some(node);
                row.next_at = None;
            }
        }
        claimed
    }

    pub(super) fn next_attempt(&self, customer: Uuid) -> Option<Timestamp> {
        self.heads(customer).filter_map(|row| row.next_at).min()
    }

    pub(super) fn settle(&mut self, outcomes: Vec<OutboxOutcome>, now: Timestamp) {
        for OutboxOutcome { cursor, became, .. } in outcomes {
            match became {
                Became::Published => {
                    self.remove(cursor);
                }
                Became::Retry { at, error } => {
                    if let Some(row) = self.rows.get_mut(&cursor) {
                        row.owner = None;
                        row.next_at = Some(at);
                        row.failed = Some((now, error));
                        row.event.attempts += 1;
                    }
                }
                Became::Quarantined { error } => {
                    if let Some(Row { event, .. }) = self.remove(cursor) {
                        let aside = QuarantinedEvent { event, error, at: now };
                        self.quarantine.insert((aside.event.customer, cursor), aside);
                    }
                }
                Became::Released => {
                    if let Some(row) = self.rows.get_mut(&cursor) {
                        row.owner = None;
                    }
                }
            }
        }
    }

    pub(super) fn backlog(&self, customer: Uuid) -> Backlog {
        let cursors = self.of_customers.range((customer, Cursor::MIN)..=(customer, Cursor::MAX));
        let mut rows = cursors.filter_map(|(_, cursor)| self.rows.get(cursor)).peekable();
        // Cursors are in the order of the commits: the first row is the oldest.
        let oldest_at = rows.peek().map(|row| row.event.at);
        let failing = self.failing(customer);
        let aside = self.quarantine.range((customer, Cursor::MIN)..=(customer, Cursor::MAX));
        Backlog { pending: rows.count() as u64, oldest_at, quarantined: aside.count() as u64, failing }
    }

    fn failing(&self, customer: Uuid) -> Option<Failing> {
        let rows = self.rows.values().filter(|row| row.event.customer == customer);
        let (at, error) = rows.filter_map(|row| row.failed.clone()).max_by_key(|(at, _)| *at)?;
        Some(Failing { error, at, next_attempt_at: self.next_attempt(customer) })
    }

    pub(super) fn quarantined(&self, customer: Uuid, page: Page<Cursor>) -> Vec<QuarantinedEvent> {
        let rows = self.quarantine.range((customer, Cursor::MIN)..=(customer, Cursor::MAX));
        slice(rows.map(|((_, cursor), event)| (*cursor, event)), page)
    }
}

impl Row {
    fn is_due(&self, now: Timestamp) -> bool {
        self.next_at.is_none_or(|at| at <= now)
    }
}
