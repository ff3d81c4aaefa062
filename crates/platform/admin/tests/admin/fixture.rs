//! A platform with its administration and a test clock.

use std::sync::Arc;

use axum::Router;
use kit_http::Surface;
use kit_runtime::clock::TestClock;
use kit_runtime::random::SeededRandom;
use kit_runtime::vault::{Key, KeyId, Secret, Vault};
use platform_admin::AdminConfig;
use platform_core::customers::provider_access::ProviderAccess;
use platform_core::people::NewUser;
use platform_core::{Caller, Platform, PlatformConfig, PlatformParts, Role};
use uuid::Uuid;

use crate::visitor::Visitor;

pub(crate) const PASSWORD: &str = "correct horse battery";

#[derive(Clone)]
pub(crate) struct Fixture {
    pub(crate) surface: Surface,
    pub(crate) platform: Platform,
    pub(crate) clock: TestClock,
}

impl Fixture {
    pub(crate) fn new() -> Self {
        Self::with(AdminConfig { public_url: "http://admin.test".into(), environment: "Staging".into() })
    }

    pub(crate) fn with(config: AdminConfig) -> Self {
        let clock = TestClock::new("2026-11-21T06:28:03.123Z".parse().unwrap());
        let vault = Vault::new(vec![(KeyId::new("k1").unwrap(), Key::generate(&SeededRandom::new(9)))]).unwrap();
        let platform = Platform::new(PlatformParts {
            store: platform_store::sqlite::open_temporary().unwrap(),
            clock: Arc::new(clock.clone()),
            random: Arc::new(SeededRandom::new(1)),
            vault: Arc::new(vault),
            providers: ProviderAccess::unfiltered(),
            config: PlatformConfig::default(),
        });
        let api = kit_http::finish(Router::new());
        let surface = platform_admin::add_to(api, platform.clone(), Arc::new(clock.clone()), config);
        Fixture { surface, platform, clock }
    }

    pub(crate) fn visitor(&self) -> Visitor {
        Visitor::new(self.surface.clone())
    }

    pub(crate) async fn user(&self, email: &str, role: Role) {
        let password = Some(Secret::new(PASSWORD.as_bytes().to_vec()));
        let new = NewUser { email: email.to_owned(), role, password };
        self.platform.create_user(&Caller::command_line(), new, None).await.unwrap();
    }

    /// A visitor who is signed in with a new user of this role.
    pub(crate) async fn signed_in(&self, role: Role) -> Visitor {
        let email = format!("{}@example.com", role.name());
        self.user(&email, role).await;
        let mut visitor = self.visitor();
        visitor.post("/sign-in", &[("email", &email), ("password", PASSWORD)]).await.is(303);
        visitor
    }

    pub(crate) async fn customer(&self, name: &str) -> Uuid {
        self.platform.create_customer(&Caller::command_line(), name, None).await.unwrap().fresh().unwrap().uuid
    }
}
