//! A store that does what it is asked and doesn't say so, or fails, or panics: nothing acknowledged or committed is lost.

mod access;
mod background;
mod configuration;
mod history;
mod limits;
mod sealings;
mod supervision;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use jiff::Timestamp;
use kit_runtime::signal::Signal;
use provider_core::ProviderConfig;
use provider_core::model::{Account, ApiKey, Application, Attempt, Endpoint, EventType, Id, Message};
use provider_core::port::operations::NodeStore;
use provider_core::port::ordering::{BlockedKeyRow, OrderingStore, SkipResult};
use provider_core::port::{
    AttemptRecord, Backlog, ClaimLimit, Delivery, DeliveryKind, IdempotentAnswer, NewMessage, NodeId, Page, Store,
    StoreError, StoreResult,
};

use crate::fixture::{Fixture, quick, store};
use crate::receiver::{Receiver, Reply};

#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Fault {
    /// It is done, and then the connection breaks.
    CommittedUnacknowledged,
    NotDone,
    Panic,
    /// Somebody else makes the same just before.
    ConcurrentInsert,
}

/// Answers so many calls of one method with a fault.
pub(crate) struct Faulty {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) method: &'static str,
    pub(crate) fault: Fault,
    pub(crate) left: AtomicUsize,
}

impl Faulty {
    async fn call<T>(&self, method: &str, call: impl Future<Output = StoreResult<T>>) -> StoreResult<T> {
        let faulty = self.fault != Fault::ConcurrentInsert && self.is_faulted(method);
        let broken = || Err(StoreError::Unavailable("the connection broke".into()));
        match self.fault {
            _ if !faulty => call.await,
            Fault::NotDone => broken(),
            Fault::CommittedUnacknowledged => call.await.and_then(|_| broken()),
            Fault::Panic => panic!("a bug in the store, for a test"),
            Fault::ConcurrentInsert => call.await,
        }
    }

    /// Whether this call is one of those that something happens to.
    fn is_faulted(&self, method: &str) -> bool {
        method == self.method
            && self.left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1)).is_ok()
    }
}

pub(crate) async fn fixture(method: &'static str, fault: Fault, calls: usize) -> Fixture {
    let config = ProviderConfig { node_dead_after: Duration::from_millis(300), ..quick() };
    Fixture::on(Arc::new(Faulty { store: store(), method, fault, left: AtomicUsize::new(calls) }), config).await
}

#[tokio::test]
async fn rows_that_were_claimed_without_an_answer_are_claimed_again() {
    for fault in [Fault::CommittedUnacknowledged, Fault::NotDone] {
        let fixture = fixture("claim", fault, 2).await;
        let mut receiver = Receiver::start(|n| Reply::Status(if n == 0 { 500 } else { 200 })).await;
        let endpoint = fixture.endpoint(&receiver.url()).await;
        let message = fixture.send().await;
        fixture.attempts(&message, 2).await;
        fixture.finished(&endpoint).await;
        assert_eq!(receiver.count_now(), 2);
    }
}

#[tokio::test]
async fn attempts_are_recorded_as_soon_as_the_store_is_there_again() {
    for fault in [Fault::CommittedUnacknowledged, Fault::NotDone] {
        let fixture = fixture("record_attempts", fault, 3).await;
        let mut receiver = Receiver::start(|_| Reply::Status(200)).await;
        let endpoint = fixture.endpoint(&receiver.url()).await;
        let message = fixture.send().await;
        fixture.finished(&endpoint).await;
        assert_eq!(fixture.attempts(&message, 1).await.len(), 1);
        assert_eq!(receiver.count_now(), 1);
    }
}

#[tokio::test]
async fn while_attempts_are_not_recorded_ping_fails_and_metrics_show_it() {
    let config = ProviderConfig { recording_late_after: Duration::from_millis(20), ..quick() };
    let (fault, left) = (Fault::NotDone, AtomicUsize::new(5));
    let fixture =
        Fixture::on(Arc::new(Faulty { store: store(), method: "record_attempts", fault, left }), config).await;
    let receiver = Receiver::start(|_| Reply::Status(200)).await;
    let endpoint = fixture.endpoint(&receiver.url()).await;
    let figure = async || {
        let text = fixture.provider.metrics(&[]).await;
        let line = text.lines().find_map(|line| line.strip_prefix("lotwire_provider_attempts_unrecorded "));
        line.expect(&text).to_owned()
    };
    assert_eq!((figure().await.as_str(), fixture.provider.ping().await.is_ok()), ("0", true));
    fixture.send().await;
    let refused = crate::fixture::eventually(async || fixture.provider.ping().await.err()).await;
    assert!(refused.to_string().contains("1 attempts are not recorded"), "{refused}");
    assert_eq!(figure().await, "1");
    fixture.finished(&endpoint).await;
    crate::fixture::eventually(async || fixture.provider.ping().await.ok()).await;
    assert_eq!(figure().await, "0");
}

#[tokio::test]
async fn an_attempt_lost_in_a_panic_is_made_again() {
    let fixture = fixture("record_attempts", Fault::Panic, 1).await;
    let mut receiver = Receiver::start(|_| Reply::Status(200)).await;
    let endpoint = fixture.endpoint(&receiver.url()).await;
    let message = fixture.send().await;
    fixture.finished(&endpoint).await;
    assert_eq!(fixture.attempts(&message, 1).await.len(), 1);
    assert_eq!(receiver.count_now(), 2);
}

#[async_trait]
impl OrderingStore for Faulty {
    async fn blocked_keys(&self, endpoint: &str, after: Option<&str>, limit: usize) -> StoreResult<Vec<BlockedKeyRow>> {
        self.store.blocked_keys(endpoint, after, limit).await
    }

    async fn skip_head(&self, endpoint: &str, key: &str, message: &str) -> StoreResult<SkipResult> {
        self.store.skip_head(endpoint, key, message).await
    }
}

#[async_trait]
impl NodeStore for Faulty {
    async fn total_backlog(&self) -> StoreResult<Backlog> {
        self.call("total_backlog", self.store.total_backlog()).await
    }

    async fn live_node_count(&self, alive_since: Timestamp) -> StoreResult<usize> {
        self.store.live_node_count(alive_since).await
    }

    async fn release_node(&self, node: &NodeId, now: Timestamp) -> StoreResult<()> {
        self.store.release_node(node, now).await
    }
}

#[async_trait]
impl Store for Faulty {
    async fn heartbeat(&self, node: &NodeId, now: Timestamp, dead_before: Timestamp) -> StoreResult<()> {
        self.store.heartbeat(node, now, dead_before).await
    }

    fn remote_changes(&self) -> Signal {
        self.store.remote_changes()
    }

    async fn ping(&self) -> StoreResult<()> {
        self.store.ping().await
    }

    async fn create_account(&self, account: Account) -> StoreResult<()> {
        self.store.create_account(account).await
    }

    async fn account(&self, id: &str) -> StoreResult<Option<Account>> {
        self.store.account(id).await
    }

    async fn accounts(&self, page: Page) -> StoreResult<Vec<Account>> {
        self.store.accounts(page).await
    }

    async fn create_api_key(&self, key: ApiKey) -> StoreResult<()> {
        self.store.create_api_key(key).await
    }

    async fn api_key_by_hash(&self, hash: [u8; 32]) -> StoreResult<Option<ApiKey>> {
        self.store.api_key_by_hash(hash).await
    }

    async fn api_keys(&self, account: &str, page: Page) -> StoreResult<Vec<ApiKey>> {
        self.store.api_keys(account, page).await
    }

    async fn delete_api_key(&self, account: &str, id: &str) -> StoreResult<bool> {
        self.store.delete_api_key(account, id).await
    }

    async fn idempotent_answer(&self, account: &str, key: &str) -> StoreResult<Option<IdempotentAnswer>> {
        self.store.idempotent_answer(account, key).await
    }

    async fn delete_expired_answers(&self, before: Timestamp, limit: usize) -> StoreResult<usize> {
        self.store.delete_expired_answers(before, limit).await
    }

    async fn create_application(&self, application: Application, answer: Option<IdempotentAnswer>) -> StoreResult<()> {
        if self.fault == Fault::ConcurrentInsert && self.is_faulted("create_application") {
            let other = Application { id: "app_beaten".into(), name: "Theirs".into(), ..application.clone() };
            self.store.create_application(other, None).await?;
        }
        self.store.create_application(application, answer).await
    }

    async fn application(&self, account: &str, id_or_uid: &str) -> StoreResult<Option<Application>> {
        self.store.application(account, id_or_uid).await
    }

    async fn applications(&self, account: &str, page: Page) -> StoreResult<Vec<Application>> {
        self.store.applications(account, page).await
    }

    async fn update_application(&self, application: Application) -> StoreResult<()> {
        self.store.update_application(application).await
    }

    async fn delete_application(&self, account: &str, id: &str) -> StoreResult<bool> {
        self.store.delete_application(account, id).await
    }

    async fn create_event_type(&self, event_type: EventType, answer: Option<IdempotentAnswer>) -> StoreResult<()> {
        self.store.create_event_type(event_type, answer).await
    }

    async fn event_type(&self, account: &str, name: &str) -> StoreResult<Option<EventType>> {
        self.store.event_type(account, name).await
    }

    async fn event_types(&self, account: &str, page: Page) -> StoreResult<Vec<EventType>> {
        self.store.event_types(account, page).await
    }

    async fn upsert_event_type(&self, event_type: EventType, answer: Option<IdempotentAnswer>) -> StoreResult<()> {
        self.store.upsert_event_type(event_type, answer).await
    }

    async fn delete_event_type(&self, account: &str, name: &str) -> StoreResult<bool> {
        self.store.delete_event_type(account, name).await
    }

    async fn create_endpoint(&self, endpoint: Endpoint, answer: Option<IdempotentAnswer>) -> StoreResult<()> {
        self.store.create_endpoint(endpoint, answer).await
    }

    async fn endpoint(&self, application: &str, id_or_uid: &str) -> StoreResult<Option<Endpoint>> {
        self.store.endpoint(application, id_or_uid).await
    }

    async fn endpoints(&self, application: &str, page: Page) -> StoreResult<Vec<Endpoint>> {
        self.store.endpoints(application, page).await
    }

    async fn update_endpoint(&self, endpoint: Endpoint) -> StoreResult<()> {
        self.store.update_endpoint(endpoint).await
    }

    async fn delete_endpoint(&self, application: &str, id: &str) -> StoreResult<bool> {
        self.store.delete_endpoint(application, id).await
    }

    async fn snapshot(&self, application: &str) -> StoreResult<Option<(Application, Vec<Endpoint>)>> {
        self.store.snapshot(application).await
    }

    async fn accept(&self, messages: Vec<NewMessage>, now: Timestamp) -> StoreResult<Vec<StoreResult<()>>> {
        self.call("accept", self.store.accept(messages, now)).await
    }

    async fn message(&self, application: &str, id_or_event_id: &str) -> StoreResult<Option<Message>> {
        self.store.message(application, id_or_event_id).await
    }

    async fn messages(&self, application: &str, page: Page) -> StoreResult<Vec<Message>> {
        self.store.messages(application, page).await
    }

    async fn endpoints_with_due(&self, now: Timestamp, limit: usize) -> StoreResult<Vec<(Id, Id)>> {
        self.store.endpoints_with_due(now, limit).await
    }

    async fn claim(
        &self,
        node: &NodeId,
        endpoint: &str,
        kind: DeliveryKind,
        now: Timestamp,
        room: ClaimLimit,
    ) -> StoreResult<Vec<Delivery>> {
        self.call("claim", self.store.claim(node, endpoint, kind, now, room)).await
    }

    async fn next_due(&self) -> StoreResult<Option<Timestamp>> {
        self.store.next_due().await
    }

    async fn record_attempts(&self, records: Vec<AttemptRecord>) -> StoreResult<()> {
        self.call("record_attempts", self.store.record_attempts(records)).await
    }

    async fn backlog(&self, endpoint: &str) -> StoreResult<Backlog> {
        self.store.backlog(endpoint).await
    }

    async fn attempts_of_message(&self, application: &str, message: &str, page: Page) -> StoreResult<Vec<Attempt>> {
        self.store.attempts_of_message(application, message, page).await
    }

    async fn attempts_at_endpoint(&self, application: &str, endpoint: &str, page: Page) -> StoreResult<Vec<Attempt>> {
        self.store.attempts_at_endpoint(application, endpoint, page).await
    }

    async fn attempt(&self, application: &str, message: &str, id: &str) -> StoreResult<Option<Attempt>> {
        self.store.attempt(application, message, id).await
    }

    async fn release(&self, node: &NodeId, rows: Vec<(Id, Id)>, now: Timestamp) -> StoreResult<()> {
        self.store.release(node, rows, now).await
    }

    async fn drop_deliveries(&self, rows: Vec<(Id, Id)>) -> StoreResult<()> {
        self.store.drop_deliveries(rows).await
    }
}
