//! The platform's store in PostgreSQL: a schema of its own, `platform`, for any number of nodes.
//!
//! Commits lock the auctions and items that they change and nothing else, so that bids on different items don't meet, and join
//! where they come at the same time; those
//! that announce something follow one another for the length of their last round trip, so that cursors become visible in
//! their order. Nodes share the outbox by locking what they claim and passing over what others have locked. What may be work
//! for another node is told to it; its polling mends what it does not hear.

mod access;
mod access_log;
mod answered;
mod batching;
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
mod locks;
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
mod sessions;

use std::sync::Arc;

use async_trait::async_trait;
use deadpool_postgres::Object;
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
use uuid::Uuid;

use self::access::AnswerReads;
use self::commit::group::{self, GroupCommitter, GroupResult};
use self::lots::ItemReads;
use self::rows::SqlError;
use kit_engine::postgres::{Job, Postgres};
pub use kit_engine::postgres::{PostgresConfig, ServerInfo};

mod migrations {
    refinery::embed_migrations!("src/postgres/migrations");
}

/// Opens the platform's store in the schema `platform` of a database, which is made when it is not there. Many nodes may
/// open it at the same time.
///
/// Errors: `Unavailable` when the address can't be used, the server can't be reached, or its tables can't be brought up to
/// date.
pub async fn open(config: &PostgresConfig) -> StoreResult<Arc<dyn Store>> {
    let postgres =
        Postgres::open(config, "platform", migrations::migrations::runner()).await.map_err(SqlError::from)?;
    let (group_committer, lots, answers) = (group::start(&postgres), lots::start(&postgres), access::start(&postgres));
    Ok(Arc::new(PostgresStore { postgres, group_committer, lots, answers }))
}

struct PostgresStore {
    postgres: Postgres,
    group_committer: GroupCommitter,
    lots: ItemReads,
    answers: AnswerReads,
}

impl PostgresStore {
    async fn client(&self) -> StoreResult<Object> {
        Ok(self.postgres.client().await.map_err(SqlError::from)?)
    }

    /// Answers when what `job` wrote is on disk; its errors undo it.
    async fn write<I, T>(&self, input: &I, job: Job<I, T, SqlError>) -> StoreResult<T> {
        Ok(self.postgres.transaction(input, job).await?)
    }
}

#[async_trait]
impl Store for PostgresStore {
    async fn heartbeat(&self, node: NodeId, now: Timestamp, dead_before: Timestamp) -> StoreResult<()> {
        let client = self.client().await?;
        outbox::record_heartbeat(&client, node, now).await?;
        let has_dead_nodes = outbox::has_dead_nodes(&client, dead_before).await?;
        drop(client);
        if has_dead_nodes {
            self.write(&dead_before, |db, dead_before| Box::pin(outbox::remove_dead_nodes(db, *dead_before))).await?;
        }
        Ok(())
    }

    fn remote_changes(&self) -> Signal {
        self.postgres.remote_changes()
    }

    async fn ping(&self) -> StoreResult<()> {
        let ping = "UPDATE pings SET count = count + 1 RETURNING count";
        let pinged = rows::one(&self.client().await?, ping, &[], |_| Ok(())).await;
        if let Err(SqlError::Statement(error)) = &pinged {
            self.postgres.on_write_error(error);
        }
        Ok(pinged.map(drop)?)
    }

    async fn create_customer(&self, customer: Customer, answer: Option<IdempotentAnswer>) -> StoreResult<()> {
        self.write(&(customer, answer), |db, (customer, answer)| {
            Box::pin(customers::create(db, customer, answer.as_ref()))
        })
        .await
    }

    async fn customer(&self, uuid: Uuid) -> StoreResult<Option<Customer>> {
        Ok(customers::find(&self.client().await?, uuid).await?)
    }

    async fn customers(&self, page: Page<Uuid>) -> StoreResult<Vec<Customer>> {
        Ok(customers::list(&self.client().await?, page).await?)
    }

    async fn create_auctioneer(&self, auctioneer: NewAuctioneer) -> StoreResult<Auctioneer> {
        self.write(&auctioneer, |db, new| Box::pin(customers::create_auctioneer(db, new))).await
    }

    async fn auctioneer(&self, uuid: Uuid) -> StoreResult<Option<Auctioneer>> {
        Ok(customers::find_auctioneer(&self.client().await?, uuid).await?)
    }

    async fn auctioneer_by_id(&self, id: i64) -> StoreResult<Option<Auctioneer>> {
        Ok(customers::auctioneer_by_id(&self.client().await?, id).await?)
    }

    async fn auctioneers(&self, customer: Option<Uuid>, page: Page<Uuid>) -> StoreResult<Vec<Auctioneer>> {
        Ok(customers::auctioneers(&self.client().await?, customer, page).await?)
    }

    async fn create_api_key(&self, key: ApiKey, answer: Option<IdempotentAnswer>) -> StoreResult<()> {
        self.write(&(key, answer), |db, (key, answer)| Box::pin(access::create_api_key(db, key, answer.as_ref()))).await
    }

    async fn api_key_by_hash(&self, hash: [u8; 32]) -> StoreResult<Option<ApiKey>> {
        Ok(access::api_key_by_hash(&self.client().await?, hash).await?)
    }

    async fn touch_api_key(&self, uuid: Uuid, at: Timestamp) -> StoreResult<()> {
        Ok(access::touch_api_key(&self.client().await?, uuid, at).await?)
    }

    async fn idempotent_answer(&self, caller: Uuid, key: &str) -> StoreResult<Option<IdempotentAnswer>> {
        self.answers.submit((caller, key.to_owned())).await.map_err(batching::batcher_closed)?
    }

    async fn keep_answer(&self, answer: IdempotentAnswer) -> StoreResult<()> {
        Ok(access::keep_answer(&self.client().await?, &answer).await.map(drop)?)
    }

    async fn delete_expired_answers(&self, before: Timestamp, limit: usize) -> StoreResult<usize> {
        Ok(access::delete_expired_answers(&self.client().await?, before, limit).await?)
    }

    async fn put_consumer(&self, consumer: Consumer, start: StartFrom) -> StoreResult<()> {
        self.write(&(consumer, start), |db, (consumer, start)| Box::pin(consumers::put(db, consumer, *start))).await?;
        self.postgres.notify().await;
        Ok(())
    }

    async fn consumer(&self, customer: Uuid) -> StoreResult<Option<Consumer>> {
        Ok(consumers::find(&self.client().await?, customer).await?)
    }

    async fn park_queue(&self, customer: Uuid, parked: Option<Parked>) -> StoreResult<()> {
        consumers::park_queue(&self.client().await?, customer, parked.as_ref()).await?;
        self.postgres.notify().await;
        Ok(())
    }

    async fn backlog(&self, customer: Uuid) -> StoreResult<Backlog> {
        Ok(outbox::backlog(&self.client().await?, customer).await?)
    }

    async fn quarantined(&self, customer: Uuid, page: Page<Cursor>) -> StoreResult<Vec<QuarantinedEvent>> {
        Ok(outbox::quarantined(&self.client().await?, customer, page).await?)
    }

    async fn auction(&self, uuid: Uuid) -> StoreResult<Option<Auction>> {
        Ok(sales::auction(&self.client().await?, uuid).await?)
    }

    async fn auctions(&self, customer: Option<Uuid>, page: Page<Uuid>) -> StoreResult<Vec<Auction>> {
        Ok(sales::auctions(&self.client().await?, customer, page).await?)
    }

    async fn item(&self, uuid: Uuid) -> StoreResult<Option<Item>> {
        Ok(sales::item(&self.client().await?, uuid).await?)
    }

    async fn items(&self, auction: Uuid, page: Page<i64>) -> StoreResult<Vec<Item>> {
        Ok(sales::items(&self.client().await?, auction, page).await?)
    }

    async fn item_counts(&self, auction: Uuid) -> StoreResult<ItemCounts> {
        Ok(sales::item_counts(&self.client().await?, auction).await?)
    }

    async fn bids(&self, item: Uuid, page: Page<i64>) -> StoreResult<Vec<Bid>> {
        Ok(sales::bids(&self.client().await?, item, page).await?)
    }

    async fn due_items(&self, now: Timestamp, limit: usize) -> StoreResult<Vec<(Item, Arc<Auction>)>> {
        Ok(sales::due_items(&self.client().await?, now, limit).await?)
    }

    async fn next_end(&self) -> StoreResult<Option<Timestamp>> {
        Ok(sales::next_end(&self.client().await?).await?)
    }

    async fn commit(
        &self,
        changes: Vec<Change>,
        assign_to: Option<NodeId>,
    ) -> StoreResult<Vec<StoreResult<CommitReceipt>>> {
        let changes = if group::can_group(&changes) {
            match self.group_committer.submit(changes).await.map_err(batching::batcher_closed)? {
                GroupResult::Done(answers) => return answers,
                GroupResult::Alone(changes) => changes,
            }
        } else {
            changes
        };
        Ok(commit::commit(&self.postgres, &changes, assign_to).await?)
    }

    async fn events_after(&self, customer: Uuid, page: Page<Cursor>) -> StoreResult<Vec<JournalRow>> {
        Ok(journal::events_after(&self.client().await?, customer, page).await?)
    }

    async fn history(&self, subject: Uuid, page: Page<i64>) -> StoreResult<Vec<JournalRow>> {
        Ok(journal::history(&self.client().await?, subject, page).await?)
    }

    async fn customers_with_outbox(&self, now: Timestamp) -> StoreResult<Vec<Uuid>> {
        Ok(outbox::customers_with_work(&self.client().await?, now).await?)
    }

    async fn claim_outbox(
        &self,
        node: NodeId,
        customer: Uuid,
        now: Timestamp,
        limit: usize,
    ) -> StoreResult<Vec<OutboxEvent>> {
        self.write(&(node, customer, now, limit), |db, &(node, customer, now, limit)| {
            Box::pin(outbox::claim(db, node, customer, now, limit))
        })
        .await
    }

    async fn next_outbox_attempt(&self, customer: Uuid) -> StoreResult<Option<Timestamp>> {
        Ok(outbox::next_attempt(&self.client().await?, customer).await?)
    }

    async fn record_outbox_outcomes(&self, outcomes: Vec<OutboxSettlement>, now: Timestamp) -> StoreResult<()> {
        self.write(&(outcomes, now), |db, (outcomes, now)| Box::pin(outbox::settle(db, outcomes, *now))).await
    }
}
