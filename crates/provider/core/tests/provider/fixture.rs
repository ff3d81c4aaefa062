//! A provider with an account and an application, and helpers that send messages and read their attempts.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use kit_outbound::{AddressPolicy, Client, ClientConfig};
use kit_runtime::clock::{Clock as _, SharedClock, SystemClock};
use kit_runtime::random::{SeededRandom, SystemRandom};
use kit_runtime::tasks::Tasks;
use kit_runtime::vault::{Key, Vault};
use provider_core::config::retry_schedule::RetrySchedule;
use provider_core::dispatcher::Transport;
use provider_core::model::{Attempt, Endpoint, Message};
use provider_core::port::Store;
use provider_core::*;
use serde_json::value::RawValue;

pub(crate) const PAYLOAD: &str = "{ \"status\" : \"SOLD\" }";

pub(crate) struct Fixture {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) provider: Provider,
    pub(crate) tasks: Tasks,
    pub(crate) caller: Caller,
    pub(crate) key: String,
}

pub(crate) fn store() -> Arc<dyn Store> {
    provider_store::sqlite::open_temporary().unwrap()
}

/// A configuration with milliseconds where the default has seconds and hours.
pub(crate) fn quick() -> ProviderConfig {
    let retry_schedule = RetrySchedule::new([20, 40, 60].map(Duration::from_millis).to_vec());
    let request_timeout = Duration::from_secs(5);
    ProviderConfig { retry_schedule, request_timeout, endpoints_max: 1_000, ..ProviderConfig::default() }
}

pub(crate) fn provider(store: Arc<dyn Store>, config: ProviderConfig) -> Provider {
    provider_at(Arc::new(SystemClock), store, config)
}

fn provider_at(clock: SharedClock, store: Arc<dyn Store>, config: ProviderConfig) -> Provider {
    let client = Client::new(ClientConfig { policy: AddressPolicy::any(), ..ClientConfig::default() });
    provider_with(clock, store, config, Arc::new(client))
}

pub(crate) fn provider_with(
    clock: SharedClock,
    store: Arc<dyn Store>,
    config: ProviderConfig,
    transport: Arc<dyn Transport>,
) -> Provider {
    let key = Key::generate(&SeededRandom::new(1));
    Provider::new(ProviderParts {
        store,
        clock,
        random: Arc::new(SystemRandom),
        vault: Arc::new(Vault::new(vec![(key.id(), key)]).unwrap()),
        transport,
        config,
    })
}

impl Fixture {
    /// A fixture whose workers run.
    pub(crate) async fn new(config: ProviderConfig) -> Self {
        Self::on(store(), config).await
    }

    pub(crate) async fn on(store: Arc<dyn Store>, config: ProviderConfig) -> Self {
        let fixture = Self::without_workers(store, config).await;
        fixture.provider.spawn_workers(&fixture.tasks);
        fixture
    }

    pub(crate) async fn without_workers(store: Arc<dyn Store>, config: ProviderConfig) -> Self {
        let provider = provider(Arc::clone(&store), config);
        Self::of(provider, store).await
    }

    /// A fixture with the given clock and without workers.
    pub(crate) async fn at(clock: SharedClock, config: ProviderConfig) -> Self {
        let store = store();
        Self::of(provider_at(clock, Arc::clone(&store), config), store).await
    }

    pub(crate) async fn of(provider: Provider, store: Arc<dyn Store>) -> Self {
        let account = provider.create_account("Customer").await.unwrap();
        let key = provider.create_api_key(&account.id, "key").await.unwrap().text;
        let caller = provider.authenticate(&key).await.unwrap();
        let fixture = Self { store, provider, tasks: Tasks::new(), caller, key };
        fixture.application("app").await;
        fixture
    }

    pub(crate) async fn application(&self, uid: &str) {
        let input = ApplicationInput { name: uid.into(), uid: Some(uid.into()), ..ApplicationInput::default() };
        let created = self.provider.create_application(&self.caller, input, IfExists::Refuse, None, |_| String::new());
        assert!(matches!(created.await.unwrap(), Created::New(_)));
    }

    pub(crate) async fn endpoint(&self, url: &str) -> Endpoint {
        self.endpoint_with(EndpointInput { url: url.into(), ..EndpointInput::default() }).await
    }

    pub(crate) async fn endpoint_with(&self, input: EndpointInput) -> Endpoint {
        match self.provider.create_endpoint(&self.caller, "app", input, None, |_| String::new()).await.unwrap() {
            Created::New(endpoint) => endpoint,
            other => panic!("{other:?}"),
        }
    }

    pub(crate) async fn send(&self) -> Message {
        self.try_send(message(), None).await.unwrap()
    }

    pub(crate) async fn try_send(
        &self,
        input: MessageInput,
        idempotency: Option<&Idempotency>,
    ) -> Result<Message, ProviderError> {
        self.provider.create_message(&self.caller, "app", input, idempotency).await
    }

    /// Waits until a message has `count` attempts, and returns them, oldest first.
    pub(crate) async fn attempts(&self, message: &Message, count: usize) -> Vec<Attempt> {
        let page = PageRequest::first(250);
        eventually(async || {
            let list = self.provider.list_attempts_of_message(&self.caller, "app", &message.id, &page);
            let mut attempts = list.await.unwrap().data;
            attempts.reverse();
            (attempts.len() >= count).then_some(attempts)
        })
        .await
    }

    /// Waits until no delivery to the endpoint is outstanding.
    pub(crate) async fn finished(&self, endpoint: &Endpoint) {
        eventually(async || (self.store.backlog(&endpoint.id).await.unwrap().deliveries == 0).then_some(())).await;
    }
}

pub(crate) fn message() -> MessageInput {
    MessageInput {
        event_type: "ITEM_STATUS_CHANGE".into(),
        payload: payload(PAYLOAD),
        event_id: None,
        channels: None,
        tags: None,
        payload_retention_days: None,
        payload_retention_hours: None,
        deliver_at: None,
        application: None,
        ordering_key: None,
        disk: DiskUse::default(),
    }
}

pub(crate) fn payload(text: &str) -> Payload {
    Payload::from_raw(serde_json::from_str::<Box<RawValue>>(text).unwrap()).unwrap()
}

pub(crate) fn idempotency(key: &str, body: &str) -> Idempotency {
    Idempotency::new(key, "POST", "/api/v1/app/app/msg", &Bytes::copy_from_slice(body.as_bytes())).unwrap()
}

/// Waits in real time. For receivers and nodes whose slowness is the subject of a test.
pub(crate) async fn real_pause(pause: Duration) {
    SystemClock.sleep_until(SystemClock.now() + pause).await;
}

/// Polls until `read` returns a value, for a state that only the store shows. Panics after 20 seconds.
pub(crate) async fn eventually<T>(mut read: impl AsyncFnMut() -> Option<T>) -> T {
    let poll = async {
        loop {
            if let Some(value) = read().await {
                return value;
            }
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(20), poll)
        .await
        .expect("the expected state was not reached within 20 seconds")
}
