//! The provider's store in PostgreSQL: a schema of its own, used by any number of nodes at the same time.
//!
//! A batch costs a fixed number of statements, however many rows it has. A message is routed under a shared lock of its
//! application, which whoever changes the application or its endpoints has to himself: so an old snapshot is always noticed.
//! Due rows are shared out by passing over what another node is claiming. Other nodes are told of changes of applications
//! and endpoints, and of work that was given back; never on the way of a message that is delivered from memory.

mod accept;
mod access;
mod accounts;
mod answers;
mod applications;
mod attempts;
mod configuration;
mod deliveries;
mod endpoint_tasks;
mod endpoints;
mod event_types;
mod history;
mod limits;
mod messages;
mod names;
mod nodes;
mod operational;
mod operations;
mod ordering;
mod overview;
mod pauses;
mod resend;
mod retention;
mod rows;
mod sealings;
mod tasks;
mod waiting;
mod waiting_rows;

use std::sync::Arc;

use async_trait::async_trait;
use deadpool_postgres::Object;
use jiff::Timestamp;
use kit_runtime::signal::Signal;
use provider_core::model::{Account, ApiKey, Application, Attempt, Endpoint, EventType, Id, Message};
use provider_core::port::{
    AttemptRecord, Backlog, ClaimLimit, Delivery, DeliveryKind, IdempotentAnswer, NewMessage, NodeId, Page, Store,
    StoreError, StoreResult,
};

use self::attempts::RoutingChange;
use self::rows::SqlError;
use kit_engine::postgres::{Job, Postgres};
pub use kit_engine::postgres::{PostgresConfig, ServerInfo};

mod migrations {
    refinery::embed_migrations!("src/postgres/migrations");
}

struct PostgresStore {
    engine: Postgres,
}

/// Opens the provider's store in the schema `provider` of a database, which is made when it is not there.
///
/// Errors: `Unavailable` when the database can't be reached, or its tables can't be brought up to date.
pub async fn open(config: &PostgresConfig) -> StoreResult<Arc<dyn Store>> {
    let engine = Postgres::open(config, "provider", migrations::migrations::runner()).await.map_err(SqlError::from)?;
    let store = PostgresStore { engine };
    let client = store.client().await?;
    let went = deliveries::deleted_endpoints_with_rows(&client).await?;
    deliveries::drop_rows_of(&client, &went).await?;
    drop(client);
    Ok(Arc::new(store))
}

#[async_trait]
impl Store for PostgresStore {
    async fn heartbeat(&self, node: &NodeId, now: Timestamp, dead_before: Timestamp) -> StoreResult<()> {
        if self
            .transaction(&(node, now, dead_before), |db, &(node, now, dead_before)| {
                Box::pin(nodes::heartbeat(db, node, now, dead_before))
            })
            .await?
        {
            self.engine.notify().await;
        }
        Ok(())
    }

    fn remote_changes(&self) -> Signal {
        self.engine.remote_changes()
    }

    async fn ping(&self) -> StoreResult<()> {
        let client = self.client().await?;
        let written = rows::write(&client, "UPDATE pings SET count = count + 1", &[]).await;
        drop(client);
        if let Err(SqlError::Engine(error)) = &written {
            self.engine.on_write_error(error);
        }
        let written = written?;
        if written == 1 { Ok(()) } else { Err(StoreError::Corrupt("the row of pings is missing".to_owned())) }
    }

    async fn create_account(&self, account: Account) -> StoreResult<()> {
        self.transaction(&(&account,), |db, &(account,)| Box::pin(accounts::create(db, account))).await
    }

    async fn account(&self, id: &str) -> StoreResult<Option<Account>> {
        let client = self.client().await?;
        Ok(accounts::find(&client, id).await?)
    }

    async fn accounts(&self, page: Page) -> StoreResult<Vec<Account>> {
        let client = self.client().await?;
        Ok(accounts::list(&client, &page).await?)
    }

    async fn create_api_key(&self, key: ApiKey) -> StoreResult<()> {
        self.transaction(&(&key,), |db, &(key,)| Box::pin(accounts::create_key(db, key))).await
    }

    async fn api_key_by_hash(&self, hash: [u8; 32]) -> StoreResult<Option<ApiKey>> {
        let client = self.client().await?;
        Ok(accounts::key_by_hash(&client, hash).await?)
    }

    async fn api_keys(&self, account: &str, page: Page) -> StoreResult<Vec<ApiKey>> {
        let client = self.client().await?;
        Ok(accounts::keys(&client, account, &page).await?)
    }

    async fn delete_api_key(&self, account: &str, id: &str) -> StoreResult<bool> {
        let outcome = self
            .transaction(&(account, id), |db, &(account, id)| Box::pin(accounts::delete_key(db, account, id)))
            .await?;
        if outcome {
            self.engine.notify().await;
        }
        Ok(outcome)
    }

    async fn idempotent_answer(&self, account: &str, key: &str) -> StoreResult<Option<IdempotentAnswer>> {
        let client = self.client().await?;
        Ok(answers::find(&client, account, key).await?)
    }

    async fn delete_expired_answers(&self, before: Timestamp, limit: usize) -> StoreResult<usize> {
        self.transaction(&(before, limit), |db, &(before, limit)| Box::pin(answers::forget(db, before, limit))).await
    }

    async fn create_application(&self, application: Application, answer: Option<IdempotentAnswer>) -> StoreResult<()> {
        self.transaction(&(&application, answer.as_ref()), |db, &(application, answer)| {
            Box::pin(applications::create(db, application, answer))
        })
        .await
    }

    async fn application(&self, account: &str, id_or_uid: &str) -> StoreResult<Option<Application>> {
        let client = self.client().await?;
        Ok(applications::find(&client, account, id_or_uid).await?)
    }

    async fn applications(&self, account: &str, page: Page) -> StoreResult<Vec<Application>> {
        let client = self.client().await?;
        Ok(applications::list(&client, account, &page).await?)
    }

    async fn update_application(&self, application: Application) -> StoreResult<()> {
        let outcome = self
            .transaction(&(&application,), |db, &(application,)| Box::pin(applications::update(db, application)))
            .await?;
        self.engine.notify().await;
        Ok(outcome)
    }

    async fn delete_application(&self, account: &str, id: &str) -> StoreResult<bool> {
        let Some(endpoints) = self
            .transaction(&(account, id), |db, &(account, id)| Box::pin(applications::delete(db, account, id)))
            .await?
        else {
            return Ok(false);
        };
        self.drop_rows_of(&endpoints).await?;
        self.engine.notify().await;
        Ok(true)
    }

    async fn create_event_type(&self, event_type: EventType, answer: Option<IdempotentAnswer>) -> StoreResult<()> {
        self.transaction(&(&event_type, answer.as_ref()), |db, &(event_type, answer)| {
            Box::pin(event_types::create(db, event_type, answer))
        })
        .await
    }

    async fn event_type(&self, account: &str, name: &str) -> StoreResult<Option<EventType>> {
        let client = self.client().await?;
        Ok(event_types::find(&client, account, name).await?)
    }

    async fn event_types(&self, account: &str, page: Page) -> StoreResult<Vec<EventType>> {
        let client = self.client().await?;
        Ok(event_types::list(&client, account, &page).await?)
    }

    async fn upsert_event_type(&self, event_type: EventType, answer: Option<IdempotentAnswer>) -> StoreResult<()> {
        self.transaction(&(&event_type, answer.as_ref()), |db, &(event_type, answer)| {
            Box::pin(event_types::put(db, event_type, answer))
        })
        .await
    }

    async fn delete_event_type(&self, account: &str, name: &str) -> StoreResult<bool> {
        self.transaction(&(account, name), |db, &(account, name)| Box::pin(event_types::delete(db, account, name)))
            .await
    }

    async fn create_endpoint(&self, endpoint: Endpoint, answer: Option<IdempotentAnswer>) -> StoreResult<()> {
        let outcome = self
            .transaction(&(&endpoint, answer.as_ref()), |db, &(endpoint, answer)| {
                Box::pin(endpoints::create(db, endpoint, answer))
            })
            .await?;
        self.engine.notify().await;
        Ok(outcome)
    }

    async fn endpoint(&self, application: &str, id_or_uid: &str) -> StoreResult<Option<Endpoint>> {
        let client = self.client().await?;
        Ok(endpoints::find(&client, application, id_or_uid).await?)
    }

    async fn endpoints(&self, application: &str, page: Page) -> StoreResult<Vec<Endpoint>> {
        let client = self.client().await?;
        Ok(endpoints::list(&client, application, &page).await?)
    }

    async fn update_endpoint(&self, endpoint: Endpoint) -> StoreResult<()> {
        let outcome =
            self.transaction(&(&endpoint,), |db, &(endpoint,)| Box::pin(endpoints::update(db, endpoint))).await?;
        self.engine.notify().await;
        Ok(outcome)
    }

    async fn delete_endpoint(&self, application: &str, id: &str) -> StoreResult<bool> {
        if !self
            .transaction(&(application, id), |db, &(application, id)| Box::pin(endpoints::delete(db, application, id)))
            .await?
        {
            return Ok(false);
        }
        self.drop_rows_of(&[id.into()]).await?;
        self.engine.notify().await;
        Ok(true)
    }

    async fn snapshot(&self, application: &str) -> StoreResult<Option<(Application, Vec<Endpoint>)>> {
        let client = self.client().await?;
        Ok(endpoints::snapshot(&client, application).await?)
    }

    async fn accept(&self, messages: Vec<NewMessage>, now: Timestamp) -> StoreResult<Vec<StoreResult<()>>> {
        let results = self
            .transaction(&(&messages, now), |db, &(messages, now)| Box::pin(accept::accept(db, messages, now)))
            .await?;
        let taken = messages.iter().zip(&results).filter(|(_, result)| result.is_ok());
        if taken.flat_map(|(new, _)| &new.deliveries).any(|delivery| delivery.owner.is_none()) {
            self.engine.notify().await;
        }
        Ok(results)
    }

    async fn message(&self, application: &str, id_or_event_id: &str) -> StoreResult<Option<Message>> {
        let client = self.client().await?;
        Ok(messages::find(&client, application, id_or_event_id).await?)
    }

    async fn messages(&self, application: &str, page: Page) -> StoreResult<Vec<Message>> {
        let client = self.client().await?;
        Ok(messages::list(&client, application, &page).await?)
    }

    async fn endpoints_with_due(&self, now: Timestamp, limit: usize) -> StoreResult<Vec<(Id, Id)>> {
        let client = self.client().await?;
        Ok(deliveries::endpoints_with_due(&client, now, limit).await?)
    }

    async fn claim(
        &self,
        node: &NodeId,
        endpoint: &str,
        kind: DeliveryKind,
        now: Timestamp,
        room: ClaimLimit,
    ) -> StoreResult<Vec<Delivery>> {
        self.transaction(&(node, endpoint, kind, now, room), |db, &(node, endpoint, kind, now, room)| {
            Box::pin(deliveries::claim(db, node, endpoint, kind, now, room))
        })
        .await
    }

    async fn next_due(&self) -> StoreResult<Option<Timestamp>> {
        let client = self.client().await?;
        Ok(deliveries::next_due(&client).await?)
    }

    async fn record_attempts(&self, records: Vec<AttemptRecord>) -> StoreResult<()> {
        if self.transaction(&(&records,), |db, &(records,)| Box::pin(attempts::record(db, records))).await?
            == RoutingChange::Changed
        {
            self.engine.notify().await;
        }
        Ok(())
    }

    async fn release(&self, node: &NodeId, rows: Vec<(Id, Id)>, now: Timestamp) -> StoreResult<()> {
        let outcome = self
            .transaction(&(node, &rows, now), |db, &(node, rows, now)| {
                Box::pin(deliveries::release(db, node, rows, now))
            })
            .await?;
        self.engine.notify().await;
        Ok(outcome)
    }

    async fn drop_deliveries(&self, rows: Vec<(Id, Id)>) -> StoreResult<()> {
        self.transaction(&(&rows,), |db, &(rows,)| {
            Box::pin(deliveries::drop_rows(db, rows.iter().map(|(message, endpoint)| (message, endpoint))))
        })
        .await
    }

    async fn backlog(&self, endpoint: &str) -> StoreResult<Backlog> {
        let client = self.client().await?;
        Ok(deliveries::backlog(&client, endpoint).await?)
    }

    async fn attempts_of_message(&self, application: &str, message: &str, page: Page) -> StoreResult<Vec<Attempt>> {
        let client = self.client().await?;
        Ok(attempts::of_message(&client, application, message, page).await?)
    }

    async fn attempts_at_endpoint(&self, application: &str, endpoint: &str, page: Page) -> StoreResult<Vec<Attempt>> {
        let client = self.client().await?;
        Ok(attempts::at_endpoint(&client, application, endpoint, page).await?)
    }

    async fn attempt(&self, application: &str, message: &str, id: &str) -> StoreResult<Option<Attempt>> {
        let client = self.client().await?;
        Ok(attempts::find(&client, application, message, id).await?)
    }
}

impl PostgresStore {
    async fn client(&self) -> StoreResult<Object> {
        Ok(self.engine.client().await.map_err(SqlError::from)?)
    }

    /// See [`Postgres::transaction`].
    async fn transaction<I: Sync, T>(&self, input: &I, job: Job<I, T, SqlError>) -> StoreResult<T> {
        Ok(self.engine.transaction(input, job).await?)
    }

    /// Drops the rows of endpoints that went, in a transaction of its own, so that a million of them hold no lock of the
    /// application.
    async fn drop_rows_of(&self, endpoints: &[Id]) -> StoreResult<()> {
        self.transaction(&(endpoints,), |db, &(endpoints,)| Box::pin(deliveries::drop_rows_of(db, endpoints))).await
    }
}
