//! The platform's store in PostgreSQL. Several nodes may use its schema at the same time.
//!
//! A commit locks only the auctions and items that it changes, so bids on different items do not wait for each other.
//! Concurrent commits share a transaction. Commits that announce events are serialised during their last round trip, so
//! that cursors become visible in their order. Nodes share the outbox: each claims rows with `FOR UPDATE SKIP LOCKED`.
//! A node notifies the other nodes of possible work. A node that does not receive a notification finds the work when it
//! polls.

mod access_log;
mod api_keys;
mod auctions;
mod audit;
mod batching;
mod bidder_accounts;
mod bidder_messages;
mod bulk_changes;
mod catalogue_mappings;
mod catalogue_uploads;
mod clerks;
mod commit;
mod consumers;
mod customers;
mod endpoint_readings;
mod holds;
mod house_domains;
mod houses;
mod idempotency;
mod images;
mod installation;
mod invitations;
mod item_ends;
mod journal;
mod late_bids;
mod limit_requests;
mod locks;
mod lot_offers;
mod mails;
mod nodes;
mod notices;
mod outbox;
mod parties;
mod party_merges;
mod registrations;
mod rows;
mod screens;
mod sealings;
mod sessions;
mod site_grants;
mod staff_reads;
mod telephone_bookings;
mod users;
mod visitor_messages;

use std::sync::Arc;

use kit_engine::postgres::{Client, Job, Postgres};
pub use kit_engine::postgres::{PostgresConfig, ServerInfo};
use platform_core::port::{Store, StoreResult};

use self::auctions::ItemReads;
use self::commit::group::{self, GroupCommitter};
use self::idempotency::AnswerReads;
use self::rows::SqlError;

mod migrations {
    refinery::embed_migrations!("src/postgres/migrations");
}

/// Opens the platform's store in the schema `platform` of a database, and creates the schema if it does not exist.
/// Several nodes may open it at the same time.
///
/// Errors: `Unavailable` when the address can't be used, the server can't be reached, or its tables can't be brought up
/// to date.
pub async fn open(config: &PostgresConfig) -> StoreResult<Arc<dyn Store>> {
    let postgres =
        Postgres::open(config, "platform", migrations::migrations::runner()).await.map_err(SqlError::from)?;
    let group_committer = group::start(&postgres);
    let item_reads = auctions::start_item_reads(&postgres);
    let answer_reads = idempotency::start_answer_reads(&postgres);
    Ok(Arc::new(PostgresStore { postgres, group_committer, item_reads, answer_reads }))
}

struct PostgresStore {
    postgres: Postgres,
    group_committer: GroupCommitter,
    item_reads: ItemReads,
    answer_reads: AnswerReads,
}

impl PostgresStore {
    async fn client(&self) -> StoreResult<Client> {
        Ok(self.postgres.client().await.map_err(SqlError::from)?)
    }

    /// Runs `job` in a transaction and returns when the commit is on disk. An error rolls it back.
    async fn write<I, T>(&self, input: &I, job: Job<I, T, SqlError>) -> StoreResult<T> {
        Ok(self.postgres.transaction(input, job).await?)
    }
}
