//! The API in process on a temporary store, with two customers and a test clock.

use std::sync::Arc;

use http::Method;
use kit_http::Surface;
use kit_runtime::clock::TestClock;
use kit_runtime::random::SeededRandom;
use kit_runtime::vault::{Key, Vault};
use platform_core::access::NewApiKey;
use platform_core::provider_access::ProviderAccess;
use platform_core::{Caller, Platform, PlatformConfig, PlatformParts, Scopes};
use serde_json::Value;
use testkit::web::{self, Answer};
use uuid::Uuid;

pub(crate) const NOW: &str = "2026-11-21T06:28:03.123Z";

pub(crate) struct Fixture {
    surface: Surface,
    /// The customer whose key the calls use.
    pub(crate) customer: Uuid,
    key: String,
    other_key: String,
}

impl Fixture {
    pub(crate) async fn new() -> Self {
        let random = SeededRandom::new(9);
        let key = Key::generate(&random);
        let platform = Platform::new(PlatformParts {
            store: platform_store::sqlite::open_temporary().unwrap(),
            clock: Arc::new(TestClock::new(NOW.parse().unwrap())),
            random: Arc::new(random),
            vault: Arc::new(Vault::new(vec![(key.id(), key)]).unwrap()),
            providers: ProviderAccess::unfiltered(),
            config: PlatformConfig::default(),
        });
        let (customer, key) = sign_up(&platform, "Ours").await;
        let (_, other_key) = sign_up(&platform, "Theirs").await;
        Self { surface: platform_api::surface(platform), customer, key, other_key }
    }

    pub(crate) async fn get(&self, path: &str) -> Answer {
        self.call("GET", path, &self.key, &[], None).await
    }

    /// Calls with the other customer's key.
    pub(crate) async fn get_as_other(&self, path: &str) -> Answer {
        self.call("GET", path, &self.other_key, &[], None).await
    }

    pub(crate) async fn get_unless(&self, path: &str, tag: &str) -> Answer {
        self.call("GET", path, &self.key, &[("if-none-match", tag)], None).await
    }

    pub(crate) async fn post(&self, path: &str, body: Value) -> Answer {
        self.call("POST", path, &self.key, &[], Some(body.to_string())).await
    }

    pub(crate) async fn post_once(&self, path: &str, key: &str, body: Value) -> Answer {
        self.call("POST", path, &self.key, &[("idempotency-key", key)], Some(body.to_string())).await
    }

    pub(crate) async fn post_as_other(&self, path: &str, body: Value) -> Answer {
        self.call("POST", path, &self.other_key, &[], Some(body.to_string())).await
    }

    pub(crate) async fn patch(&self, path: &str, body: Value) -> Answer {
        self.call("PATCH", path, &self.key, &[], Some(body.to_string())).await
    }

    pub(crate) async fn patch_if(&self, path: &str, tag: &str, body: Value) -> Answer {
        self.call("PATCH", path, &self.key, &[("if-match", tag)], Some(body.to_string())).await
    }

    async fn call(
        &self,
        method: &str,
        path: &str,
        key: &str,
        headers: &[(&str, &str)],
        body: Option<String>,
    ) -> Answer {
        let bearer = format!("Bearer {key}");
        let mut all = vec![("authorization", bearer.as_str()), ("content-type", "application/json")];
        all.extend(headers);
        let method = Method::try_from(method).unwrap();
        let path = format!("/api/v1{path}");
        web::send(&self.surface, &method, &path, &all, &body.unwrap_or_default()).await
    }
}

async fn sign_up(platform: &Platform, name: &str) -> (Uuid, String) {
    let staff = Caller::command_line();
    let customer = platform.create_customer(&staff, name, None).await.unwrap().fresh().unwrap().uuid;
    let new = NewApiKey { name: "key".into(), customer: Some(customer), scopes: Scopes::all(), expires_at: None };
    let key = platform.create_api_key(&staff, &new).await.unwrap();
    (customer, String::from_utf8(key.key.expose().to_vec()).unwrap())
}
