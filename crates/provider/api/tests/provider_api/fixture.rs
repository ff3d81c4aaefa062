//! The API in process on a temporary store, with two accounts and a test clock.

use std::sync::Arc;

use axum::body::Body;
use http::header::{AUTHORIZATION, CONTENT_TYPE};
use http::{Method, Request};
use kit_http::Surface;
use kit_outbound::{AddressPolicy, Client, ClientConfig};
use kit_runtime::clock::{SharedClock, TestClock};
use kit_runtime::random::SeededRandom;
use kit_runtime::vault::{Key, Vault};
use provider_core::port::Store;
use provider_core::{Provider, ProviderConfig, ProviderParts};
pub(crate) use testkit::web::Answer;

use crate::{document, our_document};

/// The time of the test clock.
pub(crate) const NOW: &str = "2026-11-21T06:28:03.123Z";

pub(crate) struct Fixture {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) clock: Arc<TestClock>,
    pub(crate) provider: Provider,
    surface: Surface,
    /// API key of the calling account.
    pub(crate) key: String,
    /// API key of another account.
    pub(crate) other_key: String,
}

pub(crate) fn provider(store: Arc<dyn Store>, clock: SharedClock, config: ProviderConfig) -> Provider {
    let random = Arc::new(SeededRandom::new(1));
    let key = Key::generate(random.as_ref());
    Provider::new(ProviderParts {
        store,
        clock,
        random,
        vault: Arc::new(Vault::new(vec![(key.id(), key)]).unwrap()),
        transport: Arc::new(Client::new(ClientConfig { policy: AddressPolicy::any(), ..ClientConfig::default() })),
        config,
    })
}

pub(crate) async fn key(provider: &Provider, account: &str) -> String {
    let account = provider.create_account(account).await.unwrap();
    provider.create_api_key(&account.id, "key").await.unwrap().text
}

impl Fixture {
    pub(crate) async fn new() -> Self {
        Self::with(ProviderConfig::default()).await
    }

    pub(crate) async fn with(config: ProviderConfig) -> Self {
        Self::on(provider_store::sqlite::open_temporary().unwrap(), config).await
    }

    pub(crate) async fn on(store: Arc<dyn Store>, config: ProviderConfig) -> Self {
        let clock = Arc::new(TestClock::new(NOW.parse().unwrap()));
        let provider = provider(Arc::clone(&store), clock.clone(), config);
        let (key, other_key) = (key(&provider, "ours").await, key(&provider, "theirs").await);
        Self { store, clock, surface: provider_api::surface(provider.clone()), provider, key, other_key }
    }

    /// A token of the application `app`, requested with this body.
    pub(crate) async fn token(&self, body: impl ToString) -> String {
        let access = self.post("/auth/app-portal-access/app", body).await;
        assert_eq!(access.status, 200, "{}", access.text);
        access.field("token")
    }

    pub(crate) async fn get(&self, path: &str) -> Answer {
        self.call("GET", path, "").await
    }

    pub(crate) async fn post(&self, path: &str, body: impl ToString) -> Answer {
        self.call("POST", path, &body.to_string()).await
    }

    pub(crate) async fn put(&self, path: &str, body: impl ToString) -> Answer {
        self.call("PUT", path, &body.to_string()).await
    }

    pub(crate) async fn patch(&self, path: &str, body: impl ToString) -> Answer {
        self.call("PATCH", path, &body.to_string()).await
    }

    pub(crate) async fn delete(&self, path: &str) -> Answer {
        self.call("DELETE", path, "").await
    }

    pub(crate) async fn call(&self, method: &str, path: &str, body: &str) -> Answer {
        self.call_as(Some(&self.key), method, path, &[], body).await
    }

    pub(crate) async fn call_as(
        &self,
        key: Option<&str>,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &str,
    ) -> Answer {
        let mut request = Request::builder().method(Method::try_from(method).unwrap()).uri(format!("/api/v1{path}"));
        if let Some(key) = key {
            request = request.header(AUTHORIZATION, format!("Bearer {key}"));
        }
        if !body.is_empty() && !headers.iter().any(|(name, _)| *name == "content-type") {
            request = request.header(CONTENT_TYPE, "application/json");
        }
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        self.send(request.body(Body::from(body.to_owned())).unwrap()).await
    }

    pub(crate) async fn send(&self, request: Request<Body>) -> Answer {
        let (method, path) = (request.method().clone(), request.uri().path().to_owned());
        let answer = Answer::read(self.surface.answer(request).await).await;
        document::check(&method, &path, &answer);
        our_document::check(&method, &path, &answer);
        answer
    }

    /// Creates an application with this uid; returns its id.
    pub(crate) async fn application(&self, uid: &str) -> String {
        let created = self.post("/app", serde_json::json!({"name": uid, "uid": uid})).await;
        assert_eq!(created.status, 201, "{}", created.text);
        created.field("id")
    }

    /// Creates an endpoint of the application `app`; returns its id.
    pub(crate) async fn endpoint(&self) -> String {
        let created = self.post("/app/app/endpoint", r#"{"url":"https://example.com/hook"}"#).await;
        assert_eq!(created.status, 201, "{}", created.text);
        created.field("id")
    }

    /// Sends a message to the application `app`; returns its id.
    pub(crate) async fn message(&self) -> String {
        let created = self.post("/app/app/msg", r#"{"eventType":"a.b","payload":{}}"#).await;
        assert_eq!(created.status, 202, "{}", created.text);
        created.field("id")
    }
}
