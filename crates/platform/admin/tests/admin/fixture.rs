//! A platform with its administration and a test clock.

use std::sync::Arc;

use axum::Router;
use kit_http::Surface;
use kit_runtime::clock::TestClock;
use kit_runtime::random::SeededRandom;
use kit_runtime::vault::{Key, KeyId, Secret, Vault};
use platform_admin::AdminConfig;
use platform_core::port::Store;
use platform_core::provider_access::ProviderAccess;
use platform_core::sales::auctions::NewAuction;
use platform_core::sales::new_item::NewItem;
use platform_core::users::NewUser;
use platform_core::{Caller, Platform, PlatformConfig, PlatformParts, Role};
use platform_rules::AuctionKind;
use uuid::Uuid;

use testkit::web::Browser;

pub(crate) const PASSWORD: &str = "correct horse battery";

#[derive(Clone)]
pub(crate) struct Fixture {
    pub(crate) surface: Surface,
    pub(crate) platform: Platform,
    pub(crate) clock: TestClock,
    pub(crate) store: Arc<dyn Store>,
}

impl Fixture {
    pub(crate) fn new() -> Self {
        let (public_url, environment) = ("http://admin.test".into(), "Staging".into());
        Self::with(AdminConfig {
            public_url,
            has_public_url: true,
            environment,
            saleroom_url: "https://bid.example".to_owned(),
        })
    }

    pub(crate) fn with(config: AdminConfig) -> Self {
        Self::of(config, PlatformConfig::default())
    }

    /// With these settings of the platform.
    pub(crate) fn of_platform(platform: PlatformConfig) -> Self {
        let (public_url, environment) = ("http://admin.test".into(), "Staging".into());
        Self::of(
            AdminConfig {
                public_url,
                has_public_url: true,
                environment,
                saleroom_url: "https://bid.example".to_owned(),
            },
            platform,
        )
    }

    fn of(config: AdminConfig, platform: PlatformConfig) -> Self {
        let clock = TestClock::new("2026-11-21T06:28:03.123Z".parse().unwrap());
        let vault = Vault::new(vec![(KeyId::new("k1").unwrap(), Key::generate(&SeededRandom::new(9)))]).unwrap();
        let store = platform_store::sqlite::open_temporary().unwrap();
        let platform = Platform::new(PlatformParts {
            store: Arc::clone(&store),
            clock: Arc::new(clock.clone()),
            random: Arc::new(SeededRandom::new(1)),
            vault: Arc::new(vault),
            providers: ProviderAccess::unfiltered(),
            config: platform,
        });
        let api = kit_http::finish(Router::new());
        let surface = platform_admin::add_to(api, platform.clone(), Arc::new(clock.clone()), config);
        Fixture { surface, platform, clock, store }
    }

    pub(crate) fn visitor(&self) -> Browser {
        Browser::of_surface(&self.surface, "http://admin.test", "/admin")
    }

    pub(crate) async fn user(&self, email: &str, role: Role) {
        let password = Some(Secret::new(PASSWORD.as_bytes().to_vec()));
        let new = NewUser { email: email.to_owned(), name: None, role, password, must_change_password: false };
        self.platform.create_user(&Caller::command_line(), new, None).await.unwrap();
    }

    /// A visitor who is signed in with a new user of this role.
    pub(crate) async fn signed_in(&self, role: Role) -> Browser {
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

/// A LIVE timed sale with one LIVE lot and one that is a draft, ending in a day; `change` may change it before. Returns
/// the ids of the auction and its first lot.
pub(crate) async fn sale(fixture: &Fixture, change: impl FnOnce(&mut NewAuction)) -> (Uuid, Uuid) {
    let customer = fixture.customer("Sale & Sons").await;
    sale_of(fixture, customer, change).await
}

/// The same sale, of this customer.
pub(crate) async fn sale_of(fixture: &Fixture, customer: Uuid, change: impl FnOnce(&mut NewAuction)) -> (Uuid, Uuid) {
    let (platform, caller) = (&fixture.platform, Caller::command_line());
    let auctioneer = platform.create_auctioneer(&caller, customer, "Sale rooms", None).await.unwrap().fresh().unwrap();
    let mut new = NewAuction::new(auctioneer.uuid, AuctionKind::Timed, "Prints", "GBP", "Europe/London");
    new.ends_at = Some(platform.now() + std::time::Duration::from_secs(24 * 3_600));
    new.status = contract::AuctionStatus::Live;
    let live = NewItem { status: contract::ItemStatus::Live, ..NewItem::new("1", "A print") };
    new.items = vec![live, NewItem::new("2", "A late print")];
    change(&mut new);
    let auction = platform.create_auction(&caller, &new, None).await.unwrap().fresh().unwrap().auction.uuid;
    let page = platform_core::port::Page { after: None, limit: 1 };
    (auction, platform.items(&caller, auction, page).await.unwrap()[0].uuid)
}
