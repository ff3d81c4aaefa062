//! A platform with two customers, the first with an auction, and a client for it.

use std::sync::Arc;

use http::Method;
use kit_http::Surface;
use kit_runtime::clock::TestClock;
use kit_runtime::random::SeededRandom;
use kit_runtime::vault::{Key, KeyId, Secret, Vault};
use platform_core::access::NewApiKey;
use platform_core::port::Store;
use platform_core::provider_access::ProviderAccess;
use platform_core::users::{Client, NewUser, SignIn};
use platform_core::{Caller, Platform, PlatformConfig, PlatformParts, Role, Scopes};
use serde_json::{Value, json};
use testkit::web;
pub(crate) use testkit::web::Answer;
use uuid::Uuid;

/// A platform and a client of its API. Clones share one platform.
#[derive(Clone)]
pub(crate) struct Fixture {
    pub(crate) surface: Surface,
    pub(crate) platform: Platform,
    pub(crate) clock: TestClock,
    pub(crate) store: Arc<dyn Store>,
}

impl Fixture {
    pub(crate) fn new() -> Self {
        Self::with(PlatformConfig::default())
    }

    pub(crate) fn with(config: PlatformConfig) -> Self {
        let store = platform_store::sqlite::open_temporary().unwrap();
        Self::node(store, TestClock::default(), 1, config)
    }

    /// Another node of the same platform, with empty caches.
    pub(crate) fn another_node(&self) -> Self {
        Self::node(Arc::clone(&self.store), self.clock.clone(), 2, PlatformConfig::default())
    }

    fn node(store: Arc<dyn Store>, clock: TestClock, seed: u64, config: PlatformConfig) -> Self {
        let vault = Vault::new(vec![(KeyId::new("k1").unwrap(), Key::generate(&SeededRandom::new(9)))]).unwrap();
        let platform = Platform::new(PlatformParts {
            store: Arc::clone(&store),
            clock: Arc::new(clock.clone()),
            random: Arc::new(SeededRandom::new(seed)),
            vault: Arc::new(vault),
            providers: ProviderAccess::unfiltered(),
            config,
        });
        Fixture { surface: platform_api::surface(platform.clone()), platform, clock, store }
    }

    /// A key with these scopes; without a customer it is one of the platform's own staff.
    pub(crate) async fn key(&self, customer: Option<Uuid>, scopes: Scopes) -> String {
        let new = NewApiKey { name: "test".into(), customer, scopes, expires_at: None };
        let created = self.platform.create_api_key(&Caller::command_line(), &new).await.unwrap();
        created.key.expose_str().unwrap().to_owned()
    }

    /// The token of a signed-in administrator.
    pub(crate) async fn session(&self) -> String {
        let email = "root@example.com".to_owned();
        let password = Secret::new(b"correct horse battery".to_vec());
        let new = NewUser {
            name: None,
            email: email.clone(),
            role: Role::Administrator,
            password: Some(password.clone()),
            must_change_password: false,
        };
        self.platform.create_user(&Caller::command_line(), new, None).await.unwrap();
        let sign_in = SignIn { email, password, code: None, client: Client::default() };
        let signed_in = self.platform.sign_in(&sign_in, None).await.unwrap().fresh().unwrap();
        signed_in.token.expose_str().unwrap().to_owned()
    }

    pub(crate) async fn customer(&self, name: &str) -> Uuid {
        self.platform.create_customer(&Caller::command_line(), name, None).await.unwrap().fresh().unwrap().uuid
    }

    pub(crate) async fn send(&self, method: &Method, path: &str, headers: &[(&str, &str)], body: &str) -> Answer {
        web::send(&self.surface, method, path, headers, body).await
    }

    pub(crate) async fn call(&self, method: &Method, path: &str, key: &str, body: &Value) -> Answer {
        let bearer = format!("Bearer {key}");
        let text = if body.is_null() { String::new() } else { body.to_string() };
        self.send(method, path, &[("authorization", &bearer), ("content-type", "application/json")], &text).await
    }

    /// Posts, and returns the new record.
    pub(crate) async fn make(&self, path: &str, key: &str, body: Value) -> Value {
        let answer = self.call(&Method::POST, path, key, &body).await;
        assert_eq!(answer.status, 201, "{path}: {}", answer.text);
        answer.json()
    }

    /// A LIVE webcast of a customer, with an item to send into the ring.
    pub(crate) async fn sale(&self, key: &str, auctioneer: &str) -> (String, String) {
        let auction = json!({
            "auctioneer": auctioneer, "kind": "webcast", "title": "Prints", "currency": "GBP",
            "timeZone": "Europe/London", "startsAt": "2099-01-01T10:00:00.000Z", "status": "LIVE",
            "items": [{ "lotNumber": "1", "title": "A print", "status": "LIVE" }],
        });
        let auction = self.make("/api/v1/auctions", key, auction).await["uuid"].as_str().unwrap().to_owned();
        let items = self.call(&Method::GET, &format!("/api/v1/auctions/{auction}/items"), key, &Value::Null).await;
        (auction, items.json()["data"][0]["uuid"].as_str().unwrap().to_owned())
    }
}
