//! The platform's store in SQLite: one file of its own, written by the engine's one writer, which groups what is asked at the
//! same time into one durable transaction.
//!
//! What keeps it fast however much is kept: items are counted and found due by covering and partial indexes, without their
//! states; the outbox holds unpublished events only, and no body that the journal has; cursors are given by the one writer, so
//! that they become visible in their order.

mod access;
mod access_log;
mod answered;
mod bidders;
mod books;
mod clerks;
mod commit;
mod consumers;
mod customers;
mod feed;
mod journal;
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
mod rows;
mod runs;
mod sales;
mod sandbox;
mod sealings;

use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;
use jiff::Timestamp;
use kit_runtime::signal::Signal;
use platform_core::bid::Bid;
use platform_core::journal::JournalRow;
use platform_core::port::{
    ApiKey, Auctioneer, Backlog, Change, CommitReceipt, Consumer, Cursor, Customer, IdempotentAnswer, ItemCounts,
    NewAuctioneer, NodeId, OutboxEvent, OutboxSettlement, Page, Parked, QuarantinedEvent, StartFrom, Store,
    StoreResult,
};
use platform_rules::{Auction, Item};
use rusqlite::Connection;
use uuid::Uuid;

use self::rows::{SqlError, SqlResult};
use kit_engine::sqlite::Database;

mod migrations {
    refinery::embed_migrations!("src/sqlite/migrations");
}

/// Opens the platform's store in the file at `path`, which it creates if it does not exist.
///
/// Errors: `Unavailable` when the file can't be opened or its migrations fail.
pub async fn open(path: &Path) -> StoreResult<Arc<dyn Store>> {
    Ok(Arc::new(SqliteStore { database: Database::open(path, migrate).map_err(SqlError::from)? }))
}

/// Opens an empty store in a temporary folder, for tests and simulations; nothing of it survives the process.
///
/// Errors: as [`open`].
pub fn open_temporary() -> StoreResult<Arc<dyn Store>> {
    Ok(Arc::new(SqliteStore { database: Database::open_temporary(migrate).map_err(SqlError::from)? }))
}

fn migrate(db: &mut Connection) -> Result<(), refinery::Error> {
    migrations::migrations::runner().run(db).map(drop)
}

struct SqliteStore {
    database: Database,
}

impl SqliteStore {
    async fn write<T: Send + 'static>(
        &self,
        job: impl FnOnce(&Connection) -> SqlResult<T> + Send + 'static,
    ) -> StoreResult<T> {
        Ok(self.database.write(job).await?)
    }

    /// What `job` reads is of one moment.
    async fn read<T: Send + 'static>(
        &self,
        job: impl FnOnce(&Connection) -> SqlResult<T> + Send + 'static,
    ) -> StoreResult<T> {
        Ok(self.database.read(job).await?)
    }
}

#[async_trait]
impl Store for SqliteStore {
    async fn heartbeat(&self, node: NodeId, now: Timestamp, dead_before: Timestamp) -> StoreResult<()> {
        self.write(move |db| outbox::heartbeat(db, node, now, dead_before)).await
    }

    fn remote_changes(&self) -> Signal {
        self.database.remote_changes()
    }

    async fn ping(&self) -> StoreResult<()> {
        self.write(|db| rows::execute(db, "UPDATE pings SET count = count + 1", []).map(drop)).await?;
        self.read(|db| rows::one(db, "SELECT count FROM pings", [], |_| Ok(())).map(drop)).await
    }

    async fn create_customer(&self, customer: Customer, answer: Option<IdempotentAnswer>) -> StoreResult<()> {
        self.write(move |db| customers::create(db, &customer, answer.as_ref())).await
    }

    async fn customer(&self, uuid: Uuid) -> StoreResult<Option<Customer>> {
        self.read(move |db| customers::find(db, uuid)).await
    }

    async fn customers(&self, page: Page<Uuid>) -> StoreResult<Vec<Customer>> {
        self.read(move |db| customers::list(db, page)).await
    }

    async fn create_auctioneer(&self, auctioneer: NewAuctioneer) -> StoreResult<Auctioneer> {
        self.write(move |db| customers::create_auctioneer(db, auctioneer)).await
    }

    async fn auctioneer(&self, uuid: Uuid) -> StoreResult<Option<Auctioneer>> {
        self.read(move |db| customers::find_auctioneer(db, uuid)).await
    }

    async fn auctioneer_by_id(&self, id: i64) -> StoreResult<Option<Auctioneer>> {
        self.read(move |db| customers::auctioneer_by_id(db, id)).await
    }

    async fn auctioneers(&self, customer: Option<Uuid>, page: Page<Uuid>) -> StoreResult<Vec<Auctioneer>> {
        self.read(move |db| customers::auctioneers(db, customer, page)).await
    }

    async fn create_api_key(&self, key: ApiKey, answer: Option<IdempotentAnswer>) -> StoreResult<()> {
        self.write(move |db| access::create_api_key(db, &key, answer.as_ref())).await
    }

    async fn api_key_by_hash(&self, hash: [u8; 32]) -> StoreResult<Option<ApiKey>> {
        self.read(move |db| access::api_key_by_hash(db, hash)).await
    }

    async fn touch_api_key(&self, uuid: Uuid, at: Timestamp) -> StoreResult<()> {
        self.write(move |db| access::touch_api_key(db, uuid, at)).await
    }

    async fn idempotent_answer(&self, caller: Uuid, key: &str) -> StoreResult<Option<IdempotentAnswer>> {
        let key = key.to_owned();
        self.read(move |db| access::answer(db, caller, &key)).await
    }

    async fn keep_answer(&self, answer: IdempotentAnswer) -> StoreResult<()> {
        self.write(move |db| access::keep_answer(db, &answer).map(drop)).await
    }

    async fn delete_expired_answers(&self, before: Timestamp, limit: usize) -> StoreResult<usize> {
        self.write(move |db| access::delete_expired_answers(db, before, limit)).await
    }

    async fn put_consumer(&self, consumer: Consumer, start: StartFrom) -> StoreResult<()> {
        self.write(move |db| consumers::put(db, &consumer, start)).await
    }

    async fn consumer(&self, customer: Uuid) -> StoreResult<Option<Consumer>> {
        self.read(move |db| consumers::find(db, customer)).await
    }

    async fn park_queue(&self, customer: Uuid, parked: Option<Parked>) -> StoreResult<()> {
        self.write(move |db| consumers::park_queue(db, customer, parked.as_ref())).await
    }

    async fn backlog(&self, customer: Uuid) -> StoreResult<Backlog> {
        self.read(move |db| outbox::backlog(db, customer)).await
    }

    async fn quarantined(&self, customer: Uuid, page: Page<Cursor>) -> StoreResult<Vec<QuarantinedEvent>> {
        self.read(move |db| outbox::quarantined(db, customer, page)).await
    }

    async fn auction(&self, uuid: Uuid) -> StoreResult<Option<Auction>> {
        self.read(move |db| sales::auction(db, uuid)).await
    }

    async fn auctions(&self, customer: Option<Uuid>, page: Page<Uuid>) -> StoreResult<Vec<Auction>> {
        self.read(move |db| sales::auctions(db, customer, page)).await
    }

    async fn item(&self, uuid: Uuid) -> StoreResult<Option<Item>> {
        self.read(move |db| sales::item(db, uuid)).await
    }

    async fn items(&self, auction: Uuid, page: Page<i64>) -> StoreResult<Vec<Item>> {
        self.read(move |db| sales::items(db, auction, page)).await
    }

    async fn item_counts(&self, auction: Uuid) -> StoreResult<ItemCounts> {
        self.read(move |db| sales::item_counts(db, auction)).await
    }

    async fn bids(&self, item: Uuid, page: Page<i64>) -> StoreResult<Vec<Bid>> {
        self.read(move |db| sales::bids(db, item, page)).await
    }

    async fn due_items(&self, now: Timestamp, limit: usize) -> StoreResult<Vec<(Item, Arc<Auction>)>> {
        self.read(move |db| sales::due_items(db, now, limit)).await
    }

    async fn next_end(&self) -> StoreResult<Option<Timestamp>> {
        self.read(sales::next_end).await
    }

    async fn commit(
        &self,
        changes: Vec<Change>,
        assign_to: Option<NodeId>,
    ) -> StoreResult<Vec<StoreResult<CommitReceipt>>> {
        let changes = commit::EncodedChange::each(changes)?;
        self.write(move |db| commit::commit(db, &changes, assign_to)).await
    }

    async fn events_after(&self, customer: Uuid, page: Page<Cursor>) -> StoreResult<Vec<JournalRow>> {
        self.read(move |db| journal::events_after(db, customer, page)).await
    }

    async fn history(&self, subject: Uuid, page: Page<i64>) -> StoreResult<Vec<JournalRow>> {
        self.read(move |db| journal::history(db, subject, page)).await
    }

    async fn customers_with_outbox(&self, now: Timestamp) -> StoreResult<Vec<Uuid>> {
        self.read(move |db| outbox::customers_with_work(db, now)).await
    }

    async fn claim_outbox(
        &self,
        node: NodeId,
        customer: Uuid,
        now: Timestamp,
        limit: usize,
    ) -> StoreResult<Vec<OutboxEvent>> {
        self.write(move |db| outbox::claim(db, node, customer, now, limit)).await
    }

    async fn next_outbox_attempt(&self, customer: Uuid) -> StoreResult<Option<Timestamp>> {
        self.read(move |db| outbox::next_attempt(db, customer)).await
    }

    async fn record_outbox_outcomes(&self, outcomes: Vec<OutboxSettlement>, now: Timestamp) -> StoreResult<()> {
        self.write(move |db| outbox::settle(db, &outcomes, now)).await
    }
}
