//! The provider's store in PostgreSQL. Several nodes may use its schema at the same time.
//!
//! The number of statements for a batch does not depend on its number of rows. Accepting a message locks its
//! application for sharing; changing the application or its endpoints locks the application exclusively. So the store
//! always detects a message that was routed by a stale snapshot. Claims use `SKIP LOCKED`, so that nodes do not wait
//! for each other. The store notifies other nodes of changed applications and endpoints and of released deliveries. It
//! does not notify them of a message that its own node delivers from memory.

mod accept;
mod accounts;
mod activity;
mod alert_reports;
mod alerts;
mod app_tokens;
mod applications;
mod attempts;
mod backlog;
mod counts;
mod deliveries;
mod endpoint_search;
mod endpoints;
mod event_types;
mod health;
mod holds;
mod idempotency;
mod message_search;
mod messages;
mod nodes;
mod operational_events;
mod ordering;
mod overview;
mod pauses;
mod portal_settings;
mod removed_users;
mod retention;
mod rows;
mod sealings;
mod tasks;
mod unknown_event_types;
mod user_sessions;
mod users;

use std::sync::Arc;

use kit_engine::postgres::{Client, Job, Postgres};
use provider_core::model::Id;
use provider_core::port::{Store, StoreResult};

use self::rows::SqlError;
pub use kit_engine::postgres::{PostgresConfig, ServerInfo};

mod migrations {
    refinery::embed_migrations!("src/postgres/migrations");
}

struct PostgresStore {
    engine: Postgres,
}

/// Opens the provider's store in the schema `provider` of a database. Creates the schema when it does not exist.
///
/// Errors: `Unavailable` when the database can't be reached, or its tables can't be brought up to date.
pub async fn open(config: &PostgresConfig) -> StoreResult<Arc<dyn Store>> {
    let engine = Postgres::open(config, "provider", migrations::migrations::runner()).await.map_err(SqlError::from)?;
    let store = PostgresStore { engine };
    let client = store.client().await?;
    let went = deliveries::deleted_endpoints_with_rows(&client).await?;
    drop(client);
    store.drop_rows_of(&went).await?;
    Ok(Arc::new(store))
}

impl PostgresStore {
    async fn client(&self) -> StoreResult<Client> {
        Ok(self.engine.client().await.map_err(SqlError::from)?)
    }

    async fn transaction<I: Sync, T>(&self, input: &I, job: Job<I, T, SqlError>) -> StoreResult<T> {
        Ok(self.engine.transaction(input, job).await?)
    }

    /// Deletes the delivery rows of deleted endpoints in a separate transaction, so that the application is not locked
    /// while many rows are deleted.
    async fn drop_rows_of(&self, endpoints: &[Id]) -> StoreResult<()> {
        self.transaction(&(endpoints,), |db, &(endpoints,)| Box::pin(deliveries::drop_rows_of(db, endpoints))).await
    }
}
