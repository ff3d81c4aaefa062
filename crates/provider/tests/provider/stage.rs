//! A provider with an account and an application, ready to play on.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use outbound::{AddressPolicy, Client, ClientConfig};
use provider::model::{Attempt, Endpoint, Message};
use provider::port::Store;
use provider::retry::RetrySchedule;
use provider::*;
use runtime::clock::SystemClock;
use runtime::random::{SeededRandom, SystemRandom};
use runtime::tasks::Tasks;
use runtime::vault::{Key, Vault};
use serde_json::value::RawValue;

pub const PAYLOAD: &str = "{ \"status\" : \"SOLD\" }";

pub struct Stage {
    pub store: Arc<dyn Store>,
    pub provider: Provider,
    pub tasks: Tasks,
    pub caller: Caller,
    pub key: String,
}

pub fn store() -> Arc<dyn Store> {
    store::memory::provider()
}

/// Milliseconds where the default has seconds and hours.
pub fn quick() -> ProviderConfig {
    let retry_schedule = RetrySchedule::new([20, 40, 60].map(Duration::from_millis).to_vec());
    ProviderConfig { retry_schedule, request_timeout: Duration::from_secs(5), ..ProviderConfig::default() }
}

pub fn provider(store: Arc<dyn Store>, config: ProviderConfig) -> Provider {
    let key = Key::generate(&SeededRandom::new(1));
    Provider::new(Parts {
        store,
        clock: Arc::new(SystemClock),
        random: Arc::new(SystemRandom),
        vault: Arc::new(Vault::new(vec![(key.id(), key)]).unwrap()),
        transport: Arc::new(Client::new(ClientConfig { policy: AddressPolicy::any(), ..ClientConfig::default() })),
        config,
    })
}

impl Stage {
    /// Workers run.
    pub async fn new(config: ProviderConfig) -> Self {
        Self::on(store(), config).await
    }

    pub async fn on(store: Arc<dyn Store>, config: ProviderConfig) -> Self {
        let stage = Self::without_workers(store, config).await;
        stage.provider.spawn_workers(&stage.tasks);
        stage
    }

    pub async fn without_workers(store: Arc<dyn Store>, config: ProviderConfig) -> Self {
        let provider = provider(Arc::clone(&store), config);
        let account = provider.create_account("Customer").await.unwrap();
        let key = provider.create_api_key(&account.id, "key").await.unwrap().text;
        let caller = provider.authenticate(&key).await.unwrap();
        let stage = Self { store, provider, tasks: Tasks::new(), caller, key };
        stage.application("app").await;
        stage
    }

    pub async fn application(&self, uid: &str) {
        let input = ApplicationInput { name: uid.into(), uid: Some(uid.into()), ..ApplicationInput::default() };
        let created = self.provider.create_application(&self.caller, input, IfTaken::Refuse, None, |_| String::new());
        assert!(matches!(created.await.unwrap(), Created::New(_)));
    }

    pub async fn endpoint(&self, url: &str) -> Endpoint {
        self.endpoint_with(EndpointInput { url: url.into(), ..EndpointInput::default() }).await
    }

    pub async fn endpoint_with(&self, input: EndpointInput) -> Endpoint {
        match self.provider.create_endpoint(&self.caller, "app", input, None, |_| String::new()).await.unwrap() {
            Created::New(endpoint) => endpoint,
            other => panic!("{other:?}"),
        }
    }

    pub async fn send(&self) -> Message {
        self.try_send(message(), None).await.unwrap()
    }

    pub async fn try_send(
        &self,
        input: MessageInput,
        idempotency: Option<&Idempotency>,
    ) -> Result<Message, ProviderError> {
        self.provider.create_message(&self.caller, "app", input, idempotency).await
    }

    /// Attempts of a message, oldest first, when there are `count` of them.
    pub async fn attempts(&self, message: &Message, count: usize) -> Vec<Attempt> {
        let page = PageRequest::first(250);
        eventually(async || {
            let list = self.provider.list_attempts_of_message(&self.caller, "app", &message.id, &page);
            let mut attempts = list.await.unwrap().data;
            attempts.reverse();
            (attempts.len() >= count).then_some(attempts)
        })
        .await
    }

    /// Waits until nothing waits for the endpoint.
    pub async fn finished(&self, endpoint: &Endpoint) {
        eventually(async || (self.store.backlog(&endpoint.id).await.unwrap().deliveries == 0).then_some(())).await;
    }
}

pub fn message() -> MessageInput {
    MessageInput {
        event_type: "ITEM_STATUS_CHANGE".into(),
        payload: payload(PAYLOAD),
        event_id: None,
        channels: None,
        tags: None,
        payload_retention_days: None,
        application: None,
    }
}

pub fn payload(text: &str) -> Payload {
    Payload::from_raw(serde_json::from_str::<Box<RawValue>>(text).unwrap()).unwrap()
}

pub fn idempotency(key: &str, body: &str) -> Idempotency {
    Idempotency::new(key, "POST", "/api/v1/app/app/msg", &Bytes::copy_from_slice(body.as_bytes())).unwrap()
}

/// Asks again and again, for what only a look at the store can tell.
pub async fn eventually<T>(mut ask: impl AsyncFnMut() -> Option<T>) -> T {
    let ask = async {
        loop {
            if let Some(answer) = ask().await {
                return answer;
            }
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(20), ask).await.expect("it did not happen")
}
