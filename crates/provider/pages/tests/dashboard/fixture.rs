//! A provider with its dashboard, one account, and a test clock.

use std::sync::Arc;

use axum::Router;
use kit_http::Surface;
use kit_outbound::{AddressPolicy, Client, ClientConfig};
use kit_runtime::clock::TestClock;
use kit_runtime::random::SeededRandom;
use kit_runtime::vault::{Key, Vault};
use provider_core::model::Account;
use provider_core::{Caller, Provider, ProviderConfig, ProviderParts};
use provider_pages::dashboard::ReadyEventTypes;

use testkit::web::Browser;

pub(crate) const ORIGIN_OF_SERVER: &str = "https://hooks.example";
pub(crate) const PASSWORD: &str = "correct horse battery";

pub(crate) struct Fixture {
    pub(crate) provider: Provider,
    pub(crate) clock: Arc<TestClock>,
    pub(crate) surface: Arc<Surface>,
    pub(crate) account: Account,
    /// The account, authenticated by an API key.
    pub(crate) key_caller: Caller,
}

impl Fixture {
    pub(crate) async fn new() -> Self {
        let clock = Arc::new(TestClock::new("2026-11-21T06:28:03.123Z".parse().unwrap()));
        let random = Arc::new(SeededRandom::new(1));
        let seal = Key::generate(random.as_ref());
        let mut config = ProviderConfig { public_url: ORIGIN_OF_SERVER.to_owned(), ..ProviderConfig::default() };
        config.identity.attempts_max = 5;
        let provider = Provider::new(ProviderParts {
            store: provider_store::sqlite::open_temporary().unwrap(),
            clock: clock.clone(),
            random,
            vault: Arc::new(Vault::new(vec![(seal.id(), seal)]).unwrap()),
            transport: Arc::new(Client::new(ClientConfig { policy: AddressPolicy::any(), ..ClientConfig::default() })),
            config,
        });
        let surface = kit_http::finish(Router::new());
        let ready = ReadyEventTypes::default();
        let surface = provider_pages::dashboard::add_to(surface, provider.clone(), clock.clone(), ready);
        let surface = provider_pages::portal::add_to(surface, provider.clone(), clock.clone());
        let account = provider.create_account("Hartley & <Sons>").await.unwrap();
        let key = provider.create_api_key(&account.id, "platform").await.unwrap().text;
        let key_caller = provider.authenticate(&key).await.unwrap();
        Self { provider, clock, surface: Arc::new(surface), account, key_caller }
    }

    /// A browser that is not signed in.
    pub(crate) fn browser(&self) -> Browser {
        Browser::of_surface(&self.surface, ORIGIN_OF_SERVER, "/dashboard")
    }

    /// The browser of Ann, an Admin who joined with a sign-in code.
    pub(crate) async fn admin(&self) -> Browser {
        let link = self.provider.create_sign_in_code(&self.account).await.unwrap();
        self.join(&link.url, "Ann", "ann@example.com").await
    }

    /// The browser of a user whom the Admin invites with this role.
    pub(crate) async fn invited(&self, admin: &mut Browser, role: &str, name: &str) -> Browser {
        let page = admin.post("/users/invite", &[("note", name), ("role", role)]).await;
        let url = page.is(200).text_of("link");
        self.join(&url, name, &format!("{}@example.com", name.to_lowercase())).await
    }

    pub(crate) async fn join(&self, url: &str, name: &str, email: &str) -> Browser {
        let mut browser = self.browser();
        let (page, code) = url.split_once("#key=").unwrap();
        assert_eq!(page, format!("{ORIGIN_OF_SERVER}/dashboard/join"));
        browser.post("/join", &[("key", code)]).await.leads_to("/join/account");
        let joining = [("name", name), ("email", email), ("password", PASSWORD)];
        browser.post("/join/account", &joining).await.leads_to("/");
        browser
    }
}
