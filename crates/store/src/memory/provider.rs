//! The provider's store in memory: for simulations and tests, and the plainest statement of what the port means.
//!
//! One mutex over plain maps; every call is one critical section without an await, so each is atomic and in one order with
//! all others. Nothing survives the process.

mod accept;
mod access;
mod config;
mod configuration;
mod deliveries;
mod endpoint_tasks;
mod history;
mod limits;
mod lists;
mod names;
mod operational;
mod operations;
mod overview;
mod pauses;
mod resend;
mod retention;
mod sealings;
mod tasks;
mod waiting;
mod waiting_rows;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ::provider::model::{Account, ApiKey, Application, Attempt, Endpoint, EventType, Id, Message};
use ::provider::port::{
    AttemptRecord, Backlog, Delivery, IdempotentAnswer, NewMessage, NodeId, Page, Room, RowKind, Store, StoreResult,
};
use async_trait::async_trait;
use jiff::Timestamp;
use runtime::signal::Signal;

use self::config::Config;
use self::deliveries::Work;
use self::operational::Told;
use self::pauses::PauseTable;
use self::tasks::TaskTable;

/// A new, empty provider store in memory.
pub fn provider() -> Arc<dyn Store> {
    Arc::new(Memory::default())
}

#[derive(Default)]
struct Memory {
    tables: Mutex<Tables>,
    changed: Signal,
}

/// Everything that is kept.
#[derive(Default)]
struct Tables {
    config: Config,
    work: Work,
    background: TaskTable,
    told: Told,
    pauses: PauseTable,
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
    async fn heartbeat(&self, node: &NodeId, now: Timestamp, dead_before: Timestamp) -> StoreResult<()> {
        self.tables().work.heartbeat(node, now, dead_before);
        Ok(())
    }

    fn changed_elsewhere(&self) -> Signal {
        self.changed.clone()
    }

    async fn ping(&self) -> StoreResult<()> {
        Ok(())
    }

    async fn create_account(&self, account: Account) -> StoreResult<()> {
        self.tables().config.create_account(account)
    }

    async fn account(&self, id: &str) -> StoreResult<Option<Account>> {
        Ok(self.tables().config.account(id))
    }

    async fn accounts(&self, page: Page) -> StoreResult<Vec<Account>> {
        Ok(self.tables().config.accounts(&page))
    }

    async fn create_api_key(&self, key: ApiKey) -> StoreResult<()> {
        self.tables().config.create_api_key(key)
    }

    async fn api_key_by_hash(&self, hash: [u8; 32]) -> StoreResult<Option<ApiKey>> {
        Ok(self.tables().config.api_key_by_hash(hash))
    }

    async fn api_keys(&self, account: &str, page: Page) -> StoreResult<Vec<ApiKey>> {
        Ok(self.tables().config.api_keys(account, &page))
    }

    async fn delete_api_key(&self, account: &str, id: &str) -> StoreResult<bool> {
        Ok(self.tables().config.delete_api_key(account, id))
    }

    async fn idempotent_answer(&self, account: &str, key: &str) -> StoreResult<Option<IdempotentAnswer>> {
        Ok(self.tables().config.answer(account, key))
    }

    async fn forget_answers(&self, before: Timestamp, limit: usize) -> StoreResult<usize> {
        Ok(self.tables().config.forget_answers(before, limit))
    }

    async fn create_application(&self, application: Application, answer: Option<IdempotentAnswer>) -> StoreResult<()> {
        self.tables().config.create_application(application, answer)
    }

    async fn application(&self, account: &str, id_or_uid: &str) -> StoreResult<Option<Application>> {
        Ok(self.tables().config.application(account, id_or_uid))
    }

    async fn applications(&self, account: &str, page: Page) -> StoreResult<Vec<Application>> {
        Ok(self.tables().config.applications(account, &page))
    }

    async fn update_application(&self, application: Application) -> StoreResult<()> {
        self.tables().config.update_application(application)
    }

    async fn delete_application(&self, account: &str, id: &str) -> StoreResult<bool> {
        Ok(self.tables().delete_application(account, id))
    }

    async fn create_event_type(&self, event_type: EventType, answer: Option<IdempotentAnswer>) -> StoreResult<()> {
        self.tables().config.create_event_type(event_type, answer)
    }

    async fn event_type(&self, account: &str, name: &str) -> StoreResult<Option<EventType>> {
        Ok(self.tables().config.event_type(account, name))
    }

    async fn event_types(&self, account: &str, page: Page) -> StoreResult<Vec<EventType>> {
        Ok(self.tables().config.event_types(account, &page))
    }

    async fn put_event_type(&self, event_type: EventType, answer: Option<IdempotentAnswer>) -> StoreResult<()> {
        self.tables().config.put_event_type(event_type, answer)
    }

    async fn delete_event_type(&self, account: &str, name: &str) -> StoreResult<bool> {
        Ok(self.tables().config.delete_event_type(account, name))
    }

    async fn create_endpoint(&self, endpoint: Endpoint, answer: Option<IdempotentAnswer>) -> StoreResult<()> {
        self.tables().create_endpoint(endpoint, answer)
    }

    async fn endpoint(&self, application: &str, id_or_uid: &str) -> StoreResult<Option<Endpoint>> {
        Ok(self.tables().config.endpoint(application, id_or_uid))
    }

    async fn endpoints(&self, application: &str, page: Page) -> StoreResult<Vec<Endpoint>> {
        Ok(self.tables().config.endpoints(application, &page))
    }

    async fn update_endpoint(&self, endpoint: Endpoint) -> StoreResult<()> {
        self.tables().update_endpoint(endpoint)
    }

    async fn delete_endpoint(&self, application: &str, id: &str) -> StoreResult<bool> {
        Ok(self.tables().delete_endpoint(application, id))
    }

    async fn snapshot(&self, application: &str) -> StoreResult<Option<(Application, Vec<Endpoint>)>> {
        Ok(self.tables().config.snapshot(application))
    }

    async fn accept(&self, messages: Vec<NewMessage>, now: Timestamp) -> StoreResult<Vec<StoreResult<()>>> {
        let mut tables = self.tables();
        Ok(messages.into_iter().map(|message| tables.accept(message, now)).collect())
    }

    async fn message(&self, application: &str, id_or_event_id: &str) -> StoreResult<Option<Message>> {
        Ok(self.tables().message(application, id_or_event_id))
    }

    async fn messages(&self, application: &str, page: Page) -> StoreResult<Vec<Message>> {
        Ok(self.tables().messages(application, &page))
    }

    async fn endpoints_with_due(&self, now: Timestamp, limit: usize) -> StoreResult<Vec<(Id, Id)>> {
        Ok(self.tables().work.endpoints_with_due(now, limit))
    }

    async fn claim(
        &self,
        node: &NodeId,
        endpoint: &str,
        kind: RowKind,
        now: Timestamp,
        room: Room,
    ) -> StoreResult<Vec<Delivery>> {
        Ok(self.tables().work.claim(node, endpoint, kind, now, room))
    }

    async fn next_due(&self) -> StoreResult<Option<Timestamp>> {
        Ok(self.tables().work.next_due())
    }

    async fn record_attempts(&self, records: Vec<AttemptRecord>) -> StoreResult<()> {
        let mut tables = self.tables();
        for record in records {
            tables.record(record);
        }
        Ok(())
    }

    async fn release(&self, node: &NodeId, rows: Vec<(Id, Id)>, now: Timestamp) -> StoreResult<()> {
        self.tables().work.release(node, &rows, now);
        Ok(())
    }

    async fn drop_deliveries(&self, rows: Vec<(Id, Id)>) -> StoreResult<()> {
        self.tables().work.drop_deliveries(&rows);
        Ok(())
    }

    async fn backlog(&self, endpoint: &str) -> StoreResult<Backlog> {
        Ok(self.tables().work.backlog(endpoint))
    }

    async fn attempts_of_message(&self, application: &str, message: &str, page: Page) -> StoreResult<Vec<Attempt>> {
        Ok(self.tables().attempts_of_message(application, message, &page))
    }

    async fn attempts_at_endpoint(&self, application: &str, endpoint: &str, page: Page) -> StoreResult<Vec<Attempt>> {
        Ok(self.tables().attempts_at_endpoint(application, endpoint, &page))
    }

    async fn attempt(&self, application: &str, message: &str, id: &str) -> StoreResult<Option<Attempt>> {
        Ok(self.tables().attempt(application, message, id))
    }
}
