//! The platform's store in memory: for simulations and tests, and the plainest statement of what the port means.
//!
//! One mutex over plain maps; every call is one critical section without an await, so each is atomic and in one order with
//! all others. Nothing survives the process.

mod access;
mod access_log;
mod answered;
mod bidders;
mod books;
mod clerks;
mod commit;
mod feed;
mod keys;
mod leads;
mod lists;
mod log;
mod lots;
mod notices;
mod outbox;
mod paddles;
mod people;
mod presence;
mod quarantine;
mod reference;
mod runs;
mod sales;
mod sandbox;
mod sealings;

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ::platform::bid::Bid;
use ::platform::journal::JournalRow;
use ::platform::port::{
    AccessEntry, ApiKey, Auctioneer, Backlog, Change, Clerk, Consumer, Cursor, Customer, IdempotentAnswer, ItemCounts,
    NewAuctioneer, NodeId, OutboxEvent, OutboxOutcome, Page, Parked, QuarantinedEvent, Receipt, StartFrom, Store,
    StoreError, StoreResult,
};
use async_trait::async_trait;
use auction::{Auction, Item};
use jiff::Timestamp;
use runtime::signal::Signal;
use tokio::sync::RwLock;
use uuid::Uuid;

use self::access::Access;
use self::bidders::Bidders;
use self::leads::Leads;
use self::log::Log;
use self::outbox::Outbox;
use self::people::Crowd;
use self::reference::Addresses;
use self::runs::Runs;
use self::sales::Sales;
use crate::batch::Refused;

/// A new, empty platform store in memory.
pub fn platform() -> Arc<dyn Store> {
    Arc::new(Memory::default())
}

/// A new, empty platform store in memory, and what can go wrong with it.
pub fn platform_with_faults() -> (Arc<dyn Store>, PlatformFaults) {
    let memory = Arc::new(Memory::default());
    (memory.clone(), PlatformFaults(memory))
}

/// Faults of a store in memory, to be switched on.
pub struct PlatformFaults(Arc<Memory>);

impl PlatformFaults {
    /// What the next commit holds becomes true, and its answer is lost.
    pub fn lose_answer_of_next_commit(&self) {
        self.0.loses_answer.store(true, Ordering::SeqCst);
    }

    /// Until the guard is dropped, what becomes of events is true at once and nobody who reported it hears so.
    pub async fn hold_answers_to_outcomes(&self) -> impl Sized {
        Arc::clone(&self.0.settled).write_owned().await
    }
}

#[derive(Default)]
struct Memory {
    tables: Mutex<Tables>,
    changed: Signal,
    loses_answer: AtomicBool,
    settled: Arc<RwLock<()>>,
}

/// Everything that is kept.
#[derive(Default)]
struct Tables {
    access: Access,
    access_log: Vec<AccessEntry>,
    addresses: Addresses,
    bidders: Bidders,
    sales: Sales,
    leads: Leads,
    log: Log,
    outbox: Outbox,
    people: Crowd,
    clerks: BTreeMap<(Uuid, Uuid), Clerk>,
    runs: Runs,
    sentinels: Vec<runtime::vault::Sealed>,
}

impl Memory {
    /// A panic while the lock was held is a bug in a test or a simulation; its next call sees the same tables.
    fn tables(&self) -> MutexGuard<'_, Tables> {
        self.tables.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl Store for Memory {
    async fn heartbeat(&self, node: NodeId, now: Timestamp, dead_before: Timestamp) -> StoreResult<()> {
        self.tables().outbox.heartbeat(node, now, dead_before);
        Ok(())
    }

    fn changed_elsewhere(&self) -> Signal {
        self.changed.clone()
    }

    async fn ping(&self) -> StoreResult<()> {
        Ok(())
    }

    async fn create_customer(&self, customer: Customer, answer: Option<IdempotentAnswer>) -> StoreResult<()> {
        self.tables().access.create_customer(customer, answer)
    }

    async fn customer(&self, uuid: Uuid) -> StoreResult<Option<Customer>> {
        Ok(self.tables().access.customer(uuid))
    }

    async fn customers(&self, page: Page<Uuid>) -> StoreResult<Vec<Customer>> {
        Ok(self.tables().access.customers(page))
    }

    async fn create_auctioneer(&self, auctioneer: NewAuctioneer) -> StoreResult<Auctioneer> {
        let mut tables = self.tables();
        let (auctioneer, address) = tables.access.create_auctioneer(auctioneer)?;
        tables.addresses.put(address);
        Ok(auctioneer)
    }

    async fn auctioneer(&self, uuid: Uuid) -> StoreResult<Option<Auctioneer>> {
        Ok(self.tables().access.auctioneer(uuid))
    }

    async fn auctioneer_by_id(&self, id: i64) -> StoreResult<Option<Auctioneer>> {
        Ok(self.tables().access.auctioneer_by_id(id))
    }

    async fn auctioneers(&self, customer: Option<Uuid>, page: Page<Uuid>) -> StoreResult<Vec<Auctioneer>> {
        Ok(self.tables().access.auctioneers(customer, page))
    }

    async fn create_api_key(&self, key: ApiKey, answer: Option<IdempotentAnswer>) -> StoreResult<()> {
        self.tables().access.create_api_key(key, answer)
    }

    async fn api_key_by_hash(&self, hash: [u8; 32]) -> StoreResult<Option<ApiKey>> {
        Ok(self.tables().access.api_key_by_hash(hash))
    }

    async fn touch_api_key(&self, uuid: Uuid, at: Timestamp) -> StoreResult<()> {
        self.tables().access.touch_api_key(uuid, at);
        Ok(())
    }

    async fn idempotent_answer(&self, caller: Uuid, key: &str) -> StoreResult<Option<IdempotentAnswer>> {
        Ok(self.tables().access.answer(caller, key))
    }

    async fn keep_answer(&self, answer: IdempotentAnswer) -> StoreResult<()> {
        self.tables().access.keep_answer(answer);
        Ok(())
    }

    async fn forget_answers(&self, before: Timestamp, limit: usize) -> StoreResult<usize> {
        Ok(self.tables().access.forget_answers(before, limit))
    }

    async fn put_consumer(&self, consumer: Consumer, start: StartFrom) -> StoreResult<()> {
        self.tables().put_consumer(consumer, start);
        Ok(())
    }

    async fn consumer(&self, customer: Uuid) -> StoreResult<Option<Consumer>> {
        Ok(self.tables().outbox.consumer(customer))
    }

    async fn park(&self, customer: Uuid, parked: Option<Parked>) -> StoreResult<()> {
        self.tables().outbox.park(customer, parked);
        Ok(())
    }

    async fn backlog(&self, customer: Uuid) -> StoreResult<Backlog> {
        Ok(self.tables().outbox.backlog(customer))
    }

    async fn quarantined(&self, customer: Uuid, page: Page<Cursor>) -> StoreResult<Vec<QuarantinedEvent>> {
        Ok(self.tables().outbox.quarantined(customer, page))
    }

    async fn auction(&self, uuid: Uuid) -> StoreResult<Option<Auction>> {
        Ok(self.tables().sales.auction(uuid))
    }

    async fn auctions(&self, customer: Option<Uuid>, page: Page<Uuid>) -> StoreResult<Vec<Auction>> {
        Ok(self.tables().sales.auctions(customer, page))
    }

    async fn item(&self, uuid: Uuid) -> StoreResult<Option<Item>> {
        Ok(self.tables().sales.item(uuid))
    }

    async fn items(&self, auction: Uuid, page: Page<i64>) -> StoreResult<Vec<Item>> {
        Ok(self.tables().sales.items(auction, page))
    }

    async fn item_counts(&self, auction: Uuid) -> StoreResult<ItemCounts> {
        Ok(self.tables().sales.item_counts(auction))
    }

    async fn bids(&self, item: Uuid, page: Page<i64>) -> StoreResult<Vec<Bid>> {
        Ok(self.tables().sales.bids(item, page))
    }

    async fn due_items(&self, now: Timestamp, limit: usize) -> StoreResult<Vec<(Item, Arc<Auction>)>> {
        Ok(self.tables().sales.due_items(now, limit))
    }

    async fn next_end(&self) -> StoreResult<Option<Timestamp>> {
        Ok(self.tables().sales.next_end())
    }

    async fn commit(&self, changes: Vec<Change>, hand_to: Option<NodeId>) -> StoreResult<Vec<StoreResult<Receipt>>> {
        let mut tables = self.tables();
        let Ok(receipts) =
            Refused::each::<_, Infallible>(&changes, |change| Ok(tables.commit(change.clone(), hand_to)));
        if self.loses_answer.swap(false, Ordering::SeqCst) {
            return Err(StoreError::Unavailable("the answer was lost".to_owned()));
        }
        Ok(receipts)
    }

    async fn events_after(&self, customer: Uuid, page: Page<Cursor>) -> StoreResult<Vec<JournalRow>> {
        Ok(self.tables().sales.events_after(customer, page))
    }

    async fn history(&self, subject: Uuid, page: Page<i64>) -> StoreResult<Vec<JournalRow>> {
        Ok(self.tables().sales.history(subject, page))
    }

    async fn customers_with_outbox(&self, now: Timestamp) -> StoreResult<Vec<Uuid>> {
        Ok(self.tables().outbox.customers_with_work(now))
    }

    async fn claim_outbox(
        &self,
        node: NodeId,
        customer: Uuid,
        now: Timestamp,
        limit: usize,
    ) -> StoreResult<Vec<OutboxEvent>> {
        Ok(self.tables().outbox.claim(node, customer, now, limit))
    }

    async fn next_outbox_attempt(&self, customer: Uuid) -> StoreResult<Option<Timestamp>> {
        Ok(self.tables().outbox.next_attempt(customer))
    }

    async fn settle_outbox(&self, outcomes: Vec<OutboxOutcome>, now: Timestamp) -> StoreResult<()> {
        self.tables().outbox.settle(outcomes, now);
        let _told = self.settled.read().await;
        Ok(())
    }
}

/// The slice of a map that a page asks for.
fn slice<'a, K: Ord + Copy + 'a, V: Clone + 'a>(rows: impl Iterator<Item = (K, &'a V)>, page: Page<K>) -> Vec<V> {
    let after = rows.skip_while(|(key, _)| page.after.is_some_and(|after| *key <= after));
    after.take(page.limit).map(|(_, row)| row.clone()).collect()
}
