//! A small store for these tests: everything in maps behind one lock, and a fault that can be switched on.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Mutex, MutexGuard};

use async_trait::async_trait;
use auction::{Auction, AuctionKind, Item};
use contract::ItemStatus;
use jiff::Timestamp;
use platform::bid::{Bid, BidMark};
use platform::journal::{JournalEntry, JournalRow};
use platform::port::*;
use runtime::signal::Signal;
use uuid::Uuid;

#[derive(Default)]
pub struct Table {
    state: Mutex<State>,
    elsewhere: Signal,
}

#[derive(Default)]
struct State {
    heard: HashMap<NodeId, Timestamp>,
    customers: BTreeMap<Uuid, Customer>,
    auctioneers: Vec<Auctioneer>,
    keys: Vec<ApiKey>,
    touches: usize,
    users: Vec<User>,
    answers: HashMap<(Uuid, String), IdempotentAnswer>,
    consumers: HashMap<Uuid, Consumer>,
    auctions: BTreeMap<Uuid, Auction>,
    items: BTreeMap<Uuid, Item>,
    bids: Vec<Bid>,
    journal: Vec<(JournalEntry, Cursor)>,
    outbox: BTreeMap<Cursor, Row>,
    quarantine: Vec<QuarantinedEvent>,
    /// The next commits become true, and answer that they can't tell.
    commits_lose_answer: usize,
}

struct Row {
    event: OutboxEvent,
    holder: Option<NodeId>,
    not_before: Option<Timestamp>,
}

impl Table {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap()
    }

    /// The next commit becomes true, and its answer is lost.
    pub fn lose_answer_of_next_commit(&self) {
        self.state().commits_lose_answer = 1;
    }

    pub fn touches(&self) -> usize {
        self.state().touches
    }

    pub fn journal_of(&self, subject: Uuid) -> Vec<(&'static str, &'static str, bool)> {
        let state = self.state();
        let rows = state.journal.iter().filter(|(entry, _)| entry.subject == subject);
        rows.map(|(entry, _)| (entry.to, entry.cause, entry.event.is_some())).collect()
    }
}

impl State {
    fn is_head(&self, cursor: Cursor, subject: Uuid) -> bool {
        !self.outbox.range(..cursor).any(|(_, row)| row.event.subject == subject)
    }

    fn claimable(&self, now: Timestamp) -> Vec<(Cursor, Uuid)> {
        let rows = self.outbox.iter().filter(|(cursor, row)| {
            let open = self.consumers.get(&row.event.customer).is_some_and(|c| c.is_complete() && c.parked.is_none());
            open && row.holder.is_none()
                && row.not_before.is_none_or(|at| at <= now)
                && self.is_head(**cursor, row.event.subject)
        });
        rows.map(|(cursor, row)| (*cursor, row.event.customer)).collect()
    }

    fn check(&self, change: &Change) -> StoreResult<()> {
        let version = |found: Option<i64>, expected: i64| found.unwrap_or(0) == expected;
        if let Some(auction) = &change.auction {
            let found = self.auctions.get(&auction.state.uuid).map(|a| a.version);
            version(found, auction.expected_version).then_some(()).ok_or(StoreError::Conflict)?;
        }
        for item in &change.items {
            let found = self.items.get(&item.state.uuid).map(|i| i.version);
            version(found, item.expected_version).then_some(()).ok_or(StoreError::Conflict)?;
            let lot = |other: &&Item| other.auction == item.state.auction && other.lot_number == item.state.lot_number;
            if item.expected_version == 0 && self.items.values().any(|other| lot(&other)) {
                return Err(StoreError::Taken("lot_number"));
            }
        }
        match &change.answer {
            Some(answer) if self.answers.contains_key(&(answer.caller, answer.key.clone())) => {
                Err(StoreError::Replayed)
            }
            _ => Ok(()),
        }
    }

    fn apply(&mut self, change: Change, hand_to: Option<NodeId>) -> StoreResult<Receipt> {
        self.check(&change)?;
        let mut receipt = Receipt::default();
        if let Some(auction) = change.auction {
            self.auctions.insert(auction.state.uuid, auction.state);
        }
        self.items.extend(change.items.into_iter().map(|item| (item.state.uuid, item.state)));
        self.bids.extend(change.bids);
        for BidMark { item, number, struck } in change.bid_marks {
            self.bids.iter_mut().find(|bid| bid.item == item && bid.number == number).unwrap().struck = struck;
        }
        for entry in change.journal {
            let cursor = self.journal.len() as Cursor + 1;
            receipt.cursors.push(cursor);
            let connected = self.consumers.get(&entry.customer).is_some_and(Consumer::is_complete);
            if let (Some(event), true) = (&entry.event, connected) {
                let event = OutboxEvent {
                    cursor,
                    customer: entry.customer,
                    subject: entry.subject,
                    sequence: entry.sequence,
                    event_type: event.event_type(),
                    body: event.to_json(),
                    attempts: 0,
                    at: entry.at,
                };
                let holder = hand_to.filter(|_| self.is_head(cursor, entry.subject));
                match holder {
                    Some(_) => receipt.handed.push(event.clone()),
                    None => receipt.waiting += 1,
                }
                self.outbox.insert(cursor, Row { event, holder, not_before: None });
            }
            self.journal.push((entry, cursor));
        }
        if let Some(answer) = change.answer {
            self.answers.insert((answer.caller, answer.key.clone()), answer);
        }
        Ok(receipt)
    }
}

fn page<T, K: PartialOrd + Copy>(all: impl Iterator<Item = T>, key: impl Fn(&T) -> K, page: Page<K>) -> Vec<T> {
    all.filter(|one| page.after.is_none_or(|after| key(one) > after)).take(page.limit).collect()
}

fn row_of((entry, cursor): &(JournalEntry, Cursor)) -> JournalRow {
    JournalRow {
        cursor: *cursor,
        subject: entry.subject,
        kind: entry.kind,
        sequence: entry.sequence,
        from: entry.from.map(str::to_owned),
        to: entry.to.to_owned(),
        cause: entry.cause.to_owned(),
        actor: entry.actor.clone(),
        at: entry.at,
        reason: entry.reason.clone(),
        body: entry.event.as_ref().map(|event| event.to_json()),
    }
}

#[async_trait]
impl Store for Table {
    async fn heartbeat(&self, node: NodeId, now: Timestamp, dead_before: Timestamp) -> StoreResult<()> {
        let mut state = self.state();
        state.heard.insert(node, now);
        let heard = state.heard.clone();
        for row in state.outbox.values_mut() {
            let alive = |node: &NodeId| heard.get(node).is_some_and(|at| *at >= dead_before);
            row.holder = row.holder.filter(alive);
        }
        Ok(())
    }
    fn changed_elsewhere(&self) -> Signal {
        self.elsewhere.clone()
    }
    async fn ping(&self) -> StoreResult<()> {
        Ok(())
    }
    async fn create_customer(&self, customer: Customer, answer: Option<IdempotentAnswer>) -> StoreResult<()> {
        let mut state = self.state();
        if answer.as_ref().is_some_and(|a| state.answers.contains_key(&(a.caller, a.key.clone()))) {
            return Err(StoreError::Replayed);
        }
        if state.customers.values().any(|other| other.name == customer.name) {
            return Err(StoreError::Taken("name"));
        }
        state.customers.insert(customer.uuid, customer);
        state.answers.extend(answer.map(|a| ((a.caller, a.key.clone()), a)));
        Ok(())
    }
    async fn customer(&self, uuid: Uuid) -> StoreResult<Option<Customer>> {
        Ok(self.state().customers.get(&uuid).cloned())
    }
    async fn customers(&self, by: Page<Uuid>) -> StoreResult<Vec<Customer>> {
        Ok(page(self.state().customers.values().cloned(), |c| c.uuid, by))
    }
    async fn create_auctioneer(&self, new: NewAuctioneer) -> StoreResult<Auctioneer> {
        let mut state = self.state();
        let NewAuctioneer { uuid, customer, name, created_at } = new;
        let auctioneer = Auctioneer { id: state.auctioneers.len() as i64 + 1, uuid, customer, name, created_at };
        state.auctioneers.push(auctioneer.clone());
        Ok(auctioneer)
    }
    async fn auctioneer(&self, uuid: Uuid) -> StoreResult<Option<Auctioneer>> {
        Ok(self.state().auctioneers.iter().find(|a| a.uuid == uuid).cloned())
    }
    async fn auctioneer_by_id(&self, id: i64) -> StoreResult<Option<Auctioneer>> {
        Ok(self.state().auctioneers.iter().find(|a| a.id == id).cloned())
    }
    async fn auctioneers(&self, customer: Option<Uuid>, by: Page<Uuid>) -> StoreResult<Vec<Auctioneer>> {
        let state = self.state();
        let seen = state.auctioneers.iter().filter(|a| customer.is_none_or(|c| a.customer == c)).cloned();
        Ok(page(seen, |a| a.uuid, by))
    }
    async fn create_api_key(&self, key: ApiKey) -> StoreResult<()> {
        self.state().keys.push(key);
        Ok(())
    }
    async fn api_key_by_hash(&self, hash: [u8; 32]) -> StoreResult<Option<ApiKey>> {
        Ok(self.state().keys.iter().find(|key| key.hash == hash).cloned())
    }
    async fn touch_api_key(&self, uuid: Uuid, at: Timestamp) -> StoreResult<()> {
        let mut state = self.state();
        state.touches += 1;
        state.keys.iter_mut().filter(|key| key.uuid == uuid).for_each(|key| key.last_used_at = Some(at));
        Ok(())
    }
    async fn create_user(&self, user: User) -> StoreResult<()> {
        let mut state = self.state();
        if state.users.iter().any(|other| other.email == user.email) {
            return Err(StoreError::Taken("email"));
        }
        state.users.push(user);
        Ok(())
    }
    async fn idempotent_answer(&self, caller: Uuid, key: &str) -> StoreResult<Option<IdempotentAnswer>> {
        Ok(self.state().answers.get(&(caller, key.to_owned())).cloned())
    }
    async fn keep_answer(&self, answer: IdempotentAnswer) -> StoreResult<()> {
        self.state().answers.insert((answer.caller, answer.key.clone()), answer);
        Ok(())
    }
    async fn forget_answers(&self, before: Timestamp, _limit: usize) -> StoreResult<usize> {
        let mut state = self.state();
        let count = state.answers.len();
        state.answers.retain(|_, answer| answer.at >= before);
        Ok(count - state.answers.len())
    }
    async fn put_consumer(&self, consumer: Consumer, _start: StartFrom) -> StoreResult<()> {
        self.state().consumers.insert(consumer.customer, consumer);
        Ok(())
    }
    async fn consumer(&self, customer: Uuid) -> StoreResult<Option<Consumer>> {
        Ok(self.state().consumers.get(&customer).cloned())
    }
    async fn park(&self, customer: Uuid, parked: Option<Parked>) -> StoreResult<()> {
        self.state().consumers.get_mut(&customer).unwrap().parked = parked;
        Ok(())
    }
    async fn backlog(&self, customer: Uuid) -> StoreResult<Backlog> {
        let state = self.state();
        let rows: Vec<&Row> = state.outbox.values().filter(|row| row.event.customer == customer).collect();
        let quarantined = state.quarantine.iter().filter(|q| q.event.customer == customer).count() as u64;
        let oldest_at = rows.iter().map(|row| row.event.at).min();
        Ok(Backlog { pending: rows.len() as u64, oldest_at, quarantined })
    }
    async fn quarantined(&self, customer: Uuid, by: Page<Cursor>) -> StoreResult<Vec<QuarantinedEvent>> {
        let state = self.state();
        let rows = state.quarantine.iter().filter(|q| q.event.customer == customer).cloned();
        Ok(page(rows, |q| q.event.cursor, by))
    }
    async fn auction(&self, uuid: Uuid) -> StoreResult<Option<Auction>> {
        Ok(self.state().auctions.get(&uuid).cloned())
    }
    async fn auctions(&self, customer: Option<Uuid>, by: Page<Uuid>) -> StoreResult<Vec<Auction>> {
        let state = self.state();
        let seen = state.auctions.values().filter(|a| customer.is_none_or(|c| a.customer == c)).cloned();
        Ok(page(seen, |a| a.uuid, by))
    }
    async fn item(&self, uuid: Uuid) -> StoreResult<Option<Item>> {
        Ok(self.state().items.get(&uuid).cloned())
    }
    async fn items(&self, auction: Uuid, by: Page<i64>) -> StoreResult<Vec<Item>> {
        let mut items: Vec<Item> = self.state().items.values().filter(|i| i.auction == auction).cloned().collect();
        items.sort_by_key(|item| item.position);
        Ok(page(items.into_iter(), |i| i.position, by))
    }
    async fn item_counts(&self, auction: Uuid) -> StoreResult<ItemCounts> {
        let state = self.state();
        let mut counts = ItemCounts::default();
        for item in state.items.values().filter(|item| item.auction == auction) {
            counts.total += 1;
            counts.live += u64::from(item.status == ItemStatus::Live);
            counts.suspended += u64::from(item.status == ItemStatus::Suspended);
            counts.passed += u64::from(item.status == ItemStatus::Passed);
            counts.with_bids += u64::from(item.bid_count > 0);
        }
        Ok(counts)
    }
    async fn bids(&self, item: Uuid, by: Page<i64>) -> StoreResult<Vec<Bid>> {
        let state = self.state();
        Ok(page(state.bids.iter().filter(|bid| bid.item == item).cloned(), |bid| bid.number, by))
    }
    async fn due_items(&self, now: Timestamp, limit: usize) -> StoreResult<Vec<(Item, Auction)>> {
        let state = self.state();
        let mut due: Vec<(Item, Auction)> = live_timed(&state).filter(|(i, _)| end(i) <= Some(now)).collect();
        due.sort_by_key(|(item, _)| end(item));
        due.truncate(limit);
        Ok(due)
    }
    async fn next_end(&self) -> StoreResult<Option<Timestamp>> {
        Ok(live_timed(&self.state()).filter_map(|(item, _)| end(&item)).min())
    }
    async fn commit(&self, changes: Vec<Change>, hand_to: Option<NodeId>) -> StoreResult<Vec<StoreResult<Receipt>>> {
        let mut state = self.state();
        let results = changes.into_iter().map(|change| state.apply(change, hand_to)).collect();
        if state.commits_lose_answer > 0 {
            state.commits_lose_answer -= 1;
            return Err(StoreError::Unavailable("the connection broke".into()));
        }
        Ok(results)
    }
    async fn events_after(&self, customer: Uuid, by: Page<Cursor>) -> StoreResult<Vec<JournalRow>> {
        let state = self.state();
        let rows = state.journal.iter().filter(|(e, _)| e.customer == customer && e.event.is_some()).map(row_of);
        Ok(page(rows, |row| row.cursor, by))
    }
    async fn history(&self, subject: Uuid, by: Page<i64>) -> StoreResult<Vec<JournalRow>> {
        let state = self.state();
        Ok(page(state.journal.iter().filter(|(e, _)| e.subject == subject).map(row_of), |row| row.sequence, by))
    }
    async fn customers_with_outbox(&self, now: Timestamp) -> StoreResult<Vec<Uuid>> {
        let mut customers: Vec<Uuid> = self.state().claimable(now).into_iter().map(|(_, c)| c).collect();
        customers.sort();
        customers.dedup();
        Ok(customers)
    }
    async fn claim_outbox(
        &self,
        node: NodeId,
        customer: Uuid,
        now: Timestamp,
        limit: usize,
    ) -> StoreResult<Vec<OutboxEvent>> {
        let mut state = self.state();
        let cursors: Vec<Cursor> =
            state.claimable(now).into_iter().filter(|(_, c)| *c == customer).map(|(cursor, _)| cursor).collect();
        let take = |cursor: Cursor| {
            let row = state.outbox.get_mut(&cursor).unwrap();
            row.holder = Some(node);
            row.event.clone()
        };
        Ok(cursors.into_iter().take(limit).map(take).collect())
    }
    async fn next_outbox_attempt(&self, customer: Uuid) -> StoreResult<Option<Timestamp>> {
        let state = self.state();
        let rows = state.outbox.values().filter(|row| row.event.customer == customer && row.holder.is_none());
        Ok(rows.filter_map(|row| row.not_before).min())
    }
    async fn settle_outbox(&self, outcomes: Vec<OutboxOutcome>, now: Timestamp) -> StoreResult<()> {
        let mut state = self.state();
        for outcome in outcomes {
            match outcome {
                OutboxOutcome::Published { cursor } => drop(state.outbox.remove(&cursor)),
                OutboxOutcome::Retry { cursor, at, .. } => {
                    let Some(row) = state.outbox.get_mut(&cursor) else { continue };
                    row.holder = None;
                    row.not_before = Some(at);
                    row.event.attempts += 1;
                }
                OutboxOutcome::Quarantined { cursor, error } => {
                    let Some(row) = state.outbox.remove(&cursor) else { continue };
                    state.quarantine.push(QuarantinedEvent { event: row.event, error, at: now });
                }
                OutboxOutcome::Released { cursor } => {
                    let Some(row) = state.outbox.get_mut(&cursor) else { continue };
                    row.holder = None;
                }
            }
        }
        Ok(())
    }
}

fn end(item: &Item) -> Option<Timestamp> {
    item.effective_end_time
}

fn live_timed(state: &State) -> impl Iterator<Item = (Item, Auction)> {
    let live = state.items.values().filter(|item| item.status == ItemStatus::Live && item.effective_end_time.is_some());
    let with_auction = live.filter_map(|item| Some((item.clone(), state.auctions.get(&item.auction)?.clone())));
    with_auction.filter(|(_, auction)| auction.kind == AuctionKind::Timed)
}
