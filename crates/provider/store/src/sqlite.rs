//! The provider's store in SQLite: one file of its own, written by the engine's one writer, which groups what is asked at the
//! same time into one durable transaction.
//!
//! What keeps it fast however much is kept: the delivery table holds unfinished work only, rows are appended in the order of
//! their ids, unique texts are indexed by fingerprint, and a delivery that goes well costs its message's insert, its own,
//! its attempt's and a delete.

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
mod insert;
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

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use jiff::Timestamp;
use kit_runtime::signal::Signal;
use provider_core::model::{Account, ApiKey, Application, Attempt, Endpoint, EventType, Id, Message};
use provider_core::port::{
    AttemptRecord, Backlog, ClaimLimit, Delivery, DeliveryKind, IdempotentAnswer, NewMessage, NodeId, Page, Store,
    StoreResult,
};
use rusqlite::Connection;

use self::rows::{SqlError, SqlResult};
use kit_engine::sqlite::Database;

/// Delivery rows dropped in one go, so that an endpoint with a million of them keeps nobody waiting.
const DROP_ROWS_MAX: usize = 5_000;

#[async_trait]
impl Store for SqliteStore {
    async fn heartbeat(&self, node: &NodeId, now: Timestamp, dead_before: Timestamp) -> StoreResult<()> {
        let node = node.clone();
        self.write(move |db| nodes::heartbeat(db, &node, now, dead_before)).await
    }

    fn remote_changes(&self) -> Signal {
        self.database.remote_changes()
    }

    async fn ping(&self) -> StoreResult<()> {
        self.write(|db| Ok(db.execute("UPDATE pings SET count = count + 1", ()).map(|_| ())?)).await?;
        self.read(|db| Ok(db.query_row("SELECT count FROM pings", (), |row| row.get::<_, i64>(0)).map(|_| ())?)).await
    }

    async fn create_account(&self, account: Account) -> StoreResult<()> {
        self.write(move |db| accounts::create(db, &account)).await
    }

    async fn account(&self, id: &str) -> StoreResult<Option<Account>> {
        let id = id.to_owned();
        self.read(move |db| accounts::find(db, &id)).await
    }

    async fn accounts(&self, page: Page) -> StoreResult<Vec<Account>> {
        self.read(move |db| accounts::list(db, &page)).await
    }

    async fn create_api_key(&self, key: ApiKey) -> StoreResult<()> {
        self.write(move |db| accounts::create_key(db, &key)).await
    }

    async fn api_key_by_hash(&self, hash: [u8; 32]) -> StoreResult<Option<ApiKey>> {
        self.read(move |db| accounts::key_by_hash(db, hash)).await
    }

    async fn api_keys(&self, account: &str, page: Page) -> StoreResult<Vec<ApiKey>> {
        let account = account.to_owned();
        self.read(move |db| accounts::keys(db, &account, &page)).await
    }

    async fn delete_api_key(&self, account: &str, id: &str) -> StoreResult<bool> {
        let (account, id) = (account.to_owned(), id.to_owned());
        self.write(move |db| accounts::delete_key(db, &account, &id)).await
    }

    async fn idempotent_answer(&self, account: &str, key: &str) -> StoreResult<Option<IdempotentAnswer>> {
        let (account, key) = (account.to_owned(), key.to_owned());
        self.read(move |db| answers::find(db, &account, &key)).await
    }

    async fn delete_expired_answers(&self, before: Timestamp, limit: usize) -> StoreResult<usize> {
        self.write(move |db| answers::forget(db, before, limit)).await
    }

    async fn create_application(&self, application: Application, answer: Option<IdempotentAnswer>) -> StoreResult<()> {
        self.write(move |db| applications::create(db, &application, answer.as_ref())).await
    }

    async fn application(&self, account: &str, id_or_uid: &str) -> StoreResult<Option<Application>> {
        let (account, id_or_uid) = (account.to_owned(), id_or_uid.to_owned());
        self.read(move |db| applications::find(db, &account, &id_or_uid)).await
    }

    async fn applications(&self, account: &str, page: Page) -> StoreResult<Vec<Application>> {
        let account = account.to_owned();
        self.read(move |db| applications::list(db, &account, &page)).await
    }

    async fn update_application(&self, application: Application) -> StoreResult<()> {
        self.write(move |db| applications::update(db, &application)).await
    }

    async fn delete_application(&self, account: &str, id: &str) -> StoreResult<bool> {
        let (account, id) = (account.to_owned(), id.to_owned());
        let Some(endpoints) = self.write(move |db| applications::delete(db, &account, &id)).await? else {
            return Ok(false);
        };
        for endpoint in endpoints {
            self.drop_rows_of(endpoint).await?;
        }
        Ok(true)
    }

    async fn create_event_type(&self, event_type: EventType, answer: Option<IdempotentAnswer>) -> StoreResult<()> {
        self.write(move |db| event_types::create(db, &event_type, answer.as_ref())).await
    }

    async fn event_type(&self, account: &str, name: &str) -> StoreResult<Option<EventType>> {
        let (account, name) = (account.to_owned(), name.to_owned());
        self.read(move |db| event_types::find(db, &account, &name)).await
    }

    async fn event_types(&self, account: &str, page: Page) -> StoreResult<Vec<EventType>> {
        let account = account.to_owned();
        self.read(move |db| event_types::list(db, &account, &page)).await
    }

    async fn upsert_event_type(&self, event_type: EventType, answer: Option<IdempotentAnswer>) -> StoreResult<()> {
        self.write(move |db| event_types::put(db, &event_type, answer.as_ref())).await
    }

    async fn delete_event_type(&self, account: &str, name: &str) -> StoreResult<bool> {
        let (account, name) = (account.to_owned(), name.to_owned());
        self.write(move |db| event_types::delete(db, &account, &name)).await
    }

    async fn create_endpoint(&self, endpoint: Endpoint, answer: Option<IdempotentAnswer>) -> StoreResult<()> {
        self.write(move |db| endpoints::create(db, &endpoint, answer.as_ref())).await
    }

    async fn endpoint(&self, application: &str, id_or_uid: &str) -> StoreResult<Option<Endpoint>> {
        let (application, id_or_uid) = (application.to_owned(), id_or_uid.to_owned());
        self.read(move |db| endpoints::find(db, &application, &id_or_uid)).await
    }

    async fn endpoints(&self, application: &str, page: Page) -> StoreResult<Vec<Endpoint>> {
        let application = application.to_owned();
        self.read(move |db| endpoints::list(db, &application, &page)).await
    }

    async fn update_endpoint(&self, endpoint: Endpoint) -> StoreResult<()> {
        self.write(move |db| endpoints::update(db, &endpoint)).await
    }

    async fn delete_endpoint(&self, application: &str, id: &str) -> StoreResult<bool> {
        let (application, endpoint) = (application.to_owned(), Id::from(id));
        if !self.write(move |db| endpoints::delete(db, &application, &endpoint)).await? {
            return Ok(false);
        }
        self.drop_rows_of(Id::from(id)).await?;
        Ok(true)
    }

    async fn snapshot(&self, application: &str) -> StoreResult<Option<(Application, Vec<Endpoint>)>> {
        let application = application.to_owned();
        self.read(move |db| endpoints::snapshot(db, &application)).await
    }

    async fn accept(&self, messages: Vec<NewMessage>, now: Timestamp) -> StoreResult<Vec<StoreResult<()>>> {
        self.write(move |db| accept::accept(db, &messages, now)).await
    }

    async fn message(&self, application: &str, id_or_event_id: &str) -> StoreResult<Option<Message>> {
        let (application, id_or_event_id) = (application.to_owned(), id_or_event_id.to_owned());
        self.read(move |db| messages::find(db, &application, &id_or_event_id)).await
    }

    async fn messages(&self, application: &str, page: Page) -> StoreResult<Vec<Message>> {
        let application = application.to_owned();
        self.read(move |db| messages::list(db, &application, &page)).await
    }

    async fn endpoints_with_due(&self, now: Timestamp, limit: usize) -> StoreResult<Vec<(Id, Id)>> {
        self.read(move |db| deliveries::endpoints_with_due(db, now, limit)).await
    }

    async fn claim(
        &self,
        node: &NodeId,
        endpoint: &str,
        kind: DeliveryKind,
        now: Timestamp,
        room: ClaimLimit,
    ) -> StoreResult<Vec<Delivery>> {
        let (node, endpoint) = (node.clone(), endpoint.to_owned());
        self.write(move |db| deliveries::claim(db, &node, &endpoint, kind, now, room)).await
    }

    async fn next_due(&self) -> StoreResult<Option<Timestamp>> {
        self.read(deliveries::next_due).await
    }

    async fn record_attempts(&self, records: Vec<AttemptRecord>) -> StoreResult<()> {
        self.write(move |db| attempts::record(db, &records)).await
    }

    async fn record_attempts_within(&self, records: Arc<[AttemptRecord]>, within: Duration) -> StoreResult<()> {
        Ok(self.database.write_within(within, move |db| attempts::record(db, &records)).await?)
    }

    async fn release(&self, node: &NodeId, rows: Vec<(Id, Id)>, now: Timestamp) -> StoreResult<()> {
        let node = node.clone();
        self.write(move |db| deliveries::release(db, &node, &rows, now)).await
    }

    async fn drop_deliveries(&self, rows: Vec<(Id, Id)>) -> StoreResult<()> {
        self.write(move |db| deliveries::drop_rows(db, &rows)).await
    }

    async fn backlog(&self, endpoint: &str) -> StoreResult<Backlog> {
        let endpoint = endpoint.to_owned();
        self.read(move |db| deliveries::backlog(db, &endpoint)).await
    }

    async fn attempts_of_message(&self, application: &str, message: &str, page: Page) -> StoreResult<Vec<Attempt>> {
        let (application, message) = (application.to_owned(), message.to_owned());
        self.read(move |db| attempts::of_message(db, &application, &message, page)).await
    }

    async fn attempts_at_endpoint(&self, application: &str, endpoint: &str, page: Page) -> StoreResult<Vec<Attempt>> {
        let (application, endpoint) = (application.to_owned(), endpoint.to_owned());
        self.read(move |db| attempts::at_endpoint(db, &application, &endpoint, page)).await
    }

    async fn attempt(&self, application: &str, message: &str, id: &str) -> StoreResult<Option<Attempt>> {
        let (application, message, id) = (application.to_owned(), message.to_owned(), id.to_owned());
        self.read(move |db| attempts::find(db, &application, &message, &id)).await
    }
}

mod migrations {
    refinery::embed_migrations!("src/sqlite/migrations");
}

struct SqliteStore {
    database: Database,
}

/// Opens the provider's store in the file at `path`, which it creates if it does not exist.
///
/// Errors: `Unavailable` when the file can't be opened or its migrations fail.
pub async fn open(path: &Path) -> StoreResult<Arc<dyn Store>> {
    let store = SqliteStore { database: Database::open(path, migrate).map_err(SqlError::from)? };
    for endpoint in store.read(deliveries::deleted_endpoints_with_rows).await? {
        store.drop_rows_of(endpoint).await?;
    }
    Ok(Arc::new(store))
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

    /// Drops the rows of an endpoint that went.
    async fn drop_rows_of(&self, endpoint: Id) -> StoreResult<()> {
        loop {
            let of = endpoint.clone();
            if !self.write(move |db| deliveries::drop_rows_batch(db, &of, DROP_ROWS_MAX)).await? {
                return Ok(());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LEFT_BEHIND: &str = "INSERT INTO deliveries (endpoint, message, owner, attempts, next_at) \
         WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 12000) \
         SELECT 'ep_' || n % 2, 'msg_' || n, NULL, 0, 0 FROM numbers";

    #[tokio::test]
    async fn rows_of_an_endpoint_that_a_crash_left_behind_are_dropped_when_the_store_is_opened() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("provider.db");
        drop(open(&path).await.unwrap());
        let db = Connection::open(&path).unwrap();
        db.execute(LEFT_BEHIND, ()).unwrap();
        let store = open(&path).await.unwrap();
        assert_eq!(db.query_row("SELECT count(*) FROM deliveries", (), |row| row.get::<_, i64>(0)).unwrap(), 0);
        assert_eq!(store.next_due().await.unwrap(), None);
    }

    #[tokio::test]
    async fn finding_endpoints_with_work_only_seeks_in_the_index_of_what_waits() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("provider.db");
        drop(open(&path).await.unwrap());
        let db = Connection::open(&path).unwrap();
        let sql = format!("EXPLAIN QUERY PLAN {} SELECT endpoint FROM earliest", deliveries::EARLIEST_DUE);
        let mut plan = db.prepare(&sql).unwrap();
        let steps = plan.query_map((), |row| row.get::<_, String>(3)).unwrap();
        let steps: Vec<String> =
            steps.map(Result::unwrap).filter(|step| step.contains("deliveries") || step.contains(" d ")).collect();
        assert!(!steps.is_empty());
        for step in steps {
            assert!(step.starts_with("SEARCH") && step.contains("deliveries_waiting"), "{step}");
        }
    }
}
