//! A customer is connected with one button: account, key, application, event types and test, each step repeatable.

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use kit_outbound::AddressPolicy;
use kit_runtime::random::SeededRandom;
use kit_runtime::vault::{Key, KeyId, Secret, Vault};
use platform_core::access::access_log::AccessEvent;
use platform_core::customers::connections::{
    ConnectConsumer, ConnectionState, EndedConnection, PortalRights, ProviderChoice, SetUpStep,
};
use platform_core::port::{Page, ProviderAddress, StartFrom};
use platform_core::provider_access::{EmbeddedAccounts, EmbeddedProvider, ProviderAccess};
use platform_core::{Caller, Platform, PlatformConfig, PlatformError, PlatformParts, Role};
use uuid::Uuid;

use crate::fixture::TestPlatform;
use crate::provider::{Provider, Reply};

/// An embedded provider whose API is a [`Provider`]; it remembers the accounts that it opened.
struct Embedded {
    url: String,
    /// Customer, name and key of each call.
    opened: Mutex<Vec<(Uuid, String, String)>>,
    keys_made: Mutex<u32>,
    /// The keys of each call that revoked one.
    revoked: Mutex<Vec<String>>,
    /// The next call fails with this text.
    refusal: Mutex<Option<&'static str>>,
}

#[async_trait]
impl EmbeddedProvider for Embedded {
    async fn base_urls(&self) -> Vec<String> {
        vec![self.url.clone()]
    }

    fn usual_url(&self) -> String {
        self.url.clone()
    }

    fn accounts(&self) -> Option<&dyn EmbeddedAccounts> {
        Some(self)
    }
}

#[async_trait]
impl EmbeddedAccounts for Embedded {
    fn new_key(&self) -> Secret {
        let mut keys_made = self.keys_made.lock().unwrap();
        *keys_made += 1;
        Secret::new(format!("lwp_made{keys_made}").into_bytes())
    }

    async fn open(&self, customer: Uuid, name: &str, key: &Secret) -> Result<(), &'static str> {
        // Two calls at the same time meet here.
        tokio::task::yield_now().await;
        if let Some(refusal) = self.refusal.lock().unwrap().take() {
            return Err(refusal);
        }
        self.opened.lock().unwrap().push((customer, name.to_owned(), key.expose_str().unwrap().to_owned()));
        Ok(())
    }

    async fn revoke(&self, _customer: Uuid, key: &Secret) -> Result<(), &'static str> {
        if let Some(refusal) = self.refusal.lock().unwrap().take() {
            return Err(refusal);
        }
        self.revoked.lock().unwrap().push(key.expose_str().unwrap().to_owned());
        Ok(())
    }
}

struct Given {
    fixture: TestPlatform,
    embedded: Arc<Embedded>,
    provider: Provider,
    platform: Platform,
}

async fn given(replies: impl IntoIterator<Item = Reply>) -> Given {
    let (fixture, provider) = (TestPlatform::new().await, Provider::start(replies).await);
    let embedded = Arc::new(Embedded {
        url: provider.url.clone(),
        opened: Mutex::default(),
        keys_made: Mutex::default(),
        revoked: Mutex::default(),
        refusal: Mutex::default(),
    });
    let platform = node(&fixture, embedded.clone(), 3);
    Given { fixture, embedded, provider, platform }
}

/// A node whose process runs the embedded provider.
fn node(fixture: &TestPlatform, embedded: Arc<Embedded>, seed: u64) -> Platform {
    let vault = Vault::new(vec![(KeyId::new("k1").unwrap(), Key::generate(&SeededRandom::new(9)))]).unwrap();
    Platform::new(PlatformParts {
        store: fixture.store.clone(),
        clock: Arc::new(fixture.clock.clone()),
        random: Arc::new(SeededRandom::new(seed)),
        vault: Arc::new(vault),
        providers: ProviderAccess::new(embedded, None, AddressPolicy::any()),
        config: PlatformConfig::default(),
    })
}

fn application(id: &str) -> Reply {
    Reply::With(201, "body", format!("{{\"id\":\"{id}\"}}"))
}

impl Given {
    async fn set_up(&self) -> Option<(SetUpStep, String)> {
        self.platform.set_up_connection(&self.fixture.caller, self.customer()).await.unwrap().failed
    }

    fn customer(&self) -> Uuid {
        self.fixture.customer.uuid
    }

    fn keys(&self) -> Vec<String> {
        self.embedded.opened.lock().unwrap().iter().map(|(.., key)| key.clone()).collect()
    }

    /// Method and path of the requests that change something.
    fn lines(&self) -> Vec<String> {
        self.provider.requests().into_iter().map(|request| request.line).collect()
    }

    async fn events(&self) -> Vec<AccessEvent> {
        let page = Page { after: None, limit: 50 };
        let rows = self.platform.access_log(&self.fixture.caller, page).await.unwrap();
        rows.into_iter().rev().map(|row| row.content.event).collect()
    }
}

#[tokio::test]
async fn one_call_connects_a_customer_and_a_second_one_makes_nothing_twice() {
    let given = given([application("app_1")]).await;
    assert_eq!(given.set_up().await, None);
    let state = given.platform.consumer(&given.fixture.caller, given.customer()).await.unwrap();
    assert_eq!(state.state().0, ConnectionState::Working);
    assert_eq!((state.provider, state.application_id.as_deref()), (ProviderAddress::Embedded, Some("app_1")));
    assert_eq!(*given.embedded.opened.lock().unwrap(), [(given.customer(), "Smith & Sons".into(), "lwp_made1".into())]);
    let requests = given.provider.requests();
    assert!(requests.iter().all(|request| request.authorization == "Bearer lwp_made1"), "{requests:?}");
    let body: serde_json::Value = serde_json::from_str(&requests[0].body).unwrap();
    assert_eq!(body, serde_json::json!({ "name": "Smith & Sons", "uid": given.customer() }));
    let made = ["POST /api/v1/app/?get_if_exists=true", "POST /api/v1/event-type/", "POST /api/v1/event-type/"];
    assert_eq!(given.lines(), made);
    assert_eq!(given.provider.credential_tests(), ["GET /api/v1/app/app_1/"]);

    assert_eq!(given.set_up().await, None);
    assert_eq!((given.keys().len(), given.lines().len()), (1, 5), "only the event types are looked at again");
    let entered = |event: &AccessEvent| match event {
        AccessEvent::ConnectionEntered { application_id, api_key_made, api_key_entered, .. } => {
            Some((application_id.clone(), *api_key_made, *api_key_entered))
        }
        _ => None,
    };
    let entered: Vec<_> = given.events().await.iter().filter_map(entered).collect();
    assert_eq!(entered, [(None, true, false), (Some("app_1".to_owned()), false, false)]);
}

#[tokio::test]
async fn each_step_that_fails_is_named_and_a_repeated_call_goes_on_there() {
    let given = given([
        Reply::With(429, "retry-after", "30".into()),
        Reply::Status(503),
        application("not an application"),
        application("app_1"),
        Reply::Status(201),
        Reply::Close,
    ])
    .await;
    *given.embedded.refusal.lock().unwrap() = Some("the disk is full");
    for (step, cause) in [
        (SetUpStep::Account, "the disk is full"),
        (SetUpStep::Application, "limits the requests of the account. Repeat this in 30 seconds"),
        (SetUpStep::Application, "the provider answered 503"),
        (SetUpStep::Application, "did not answer with an application"),
        (SetUpStep::EventTypes, "the connection was closed"),
    ] {
        let (failed, text) = given.set_up().await.unwrap();
        assert!(failed == step && text.contains(cause), "{failed:?} {text}, not {step:?} {cause}");
    }
    given.provider.otherwise(Reply::Status(401));
    let (failed, text) = given.set_up().await.unwrap();
    assert!(failed == SetUpStep::EventTypes && text.contains("it does not accept the API key"), "{text}");
    given.provider.otherwise(Reply::Status(202));
    assert_eq!(given.set_up().await, None);
    let keys = given.keys();
    assert!(keys.iter().all(|key| key == "lwp_made1"), "the stored key is the one of the account: {keys:?}");
    assert_eq!(*given.embedded.keys_made.lock().unwrap(), 1);
}

#[tokio::test]
async fn calls_at_the_same_time_on_two_nodes_enter_one_key_and_one_application() {
    let given = given([]).await;
    // The requests of both nodes can arrive in any order.
    given.provider.otherwise(application("app_1"));
    let other = node(&given.fixture, given.embedded.clone(), 4);
    let caller = &given.fixture.caller;
    let (one, two) = tokio::join!(
        given.platform.set_up_connection(caller, given.customer()),
        other.set_up_connection(caller, given.customer())
    );
    assert_eq!((one.unwrap().failed, two.unwrap().failed), (None, None));
    let keys = given.keys();
    assert!(!keys.is_empty() && keys.iter().all(|key| *key == keys[0]), "{keys:?}");
    let requests = given.provider.requests();
    let bearer = format!("Bearer {}", keys[0]);
    assert!(requests.iter().all(|request| request.authorization == bearer), "{requests:?}");
}

#[tokio::test]
async fn a_key_that_a_person_entered_opens_no_account_and_a_revoked_one_is_not_accepted_again() {
    let given = given([application("app_1")]).await;
    let connect = async |provider, key: Option<&str>| {
        let connect = ConnectConsumer {
            provider,
            application_id: None,
            api_key: key.map(|key| Secret::new(key.as_bytes().to_vec())),
            start: StartFrom::Now,
        };
        given.platform.connect_consumer(&given.fixture.caller, given.customer(), &connect).await.unwrap()
    };
    connect(ProviderChoice::Embedded, Some("lwp_known_to_a_person")).await;
    assert_eq!(given.set_up().await, None);
    assert_eq!(given.keys(), [""; 0], "the text that a person entered became a key");
    assert_eq!(given.provider.requests()[0].authorization, "Bearer lwp_known_to_a_person");

    // After the end of that connection, a new key is made for the same account.
    given.platform.disconnect_consumer(&given.fixture.caller, given.customer()).await.unwrap();
    given.provider.otherwise(application("app_1"));
    assert_eq!(given.set_up().await, None);
    assert_eq!(given.keys(), ["lwp_made1"]);
    // The key is revoked at the provider, and support tries to connect again: the account is not opened with the old key.
    given.provider.otherwise(Reply::Status(401));
    assert_eq!(given.set_up().await.unwrap().0, SetUpStep::EventTypes);
    assert_eq!(given.keys(), ["lwp_made1"]);
    // A person enters a key in its place, without an application at another provider.
    given.platform.disconnect_consumer(&given.fixture.caller, given.customer()).await.unwrap();
    connect(ProviderChoice::Of(given.provider.url.clone()), None).await;
    let refused = given.platform.set_up_connection(&given.fixture.caller, given.customer()).await.unwrap_err();
    assert!(matches!(refused, PlatformError::NotConnected), "{refused:?}");
}

#[tokio::test]
async fn the_end_of_a_connection_revokes_the_key_that_the_platform_made() {
    let given = given([application("app_1")]).await;
    let caller = &given.fixture.caller;
    let ends = async |platform: &Platform| platform.disconnect_consumer(caller, given.customer()).await;
    let revoked = || given.embedded.revoked.lock().unwrap().clone();
    given.provider.otherwise(application("app_1"));
    assert_eq!(given.set_up().await, None);
    // While the provider can't revoke the key, the connection stays, so that the call can be repeated.
    *given.embedded.refusal.lock().unwrap() = Some("the database is away");
    let refused = ends(&given.platform).await.unwrap_err();
    assert!(refused.to_string().contains("the database is away"), "{refused}");
    assert!(given.platform.consumer(caller, given.customer()).await.unwrap().is_connected());
    assert_eq!(ends(&given.platform).await.unwrap(), EndedConnection { waited: 0, made_key_remains: false });
    assert_eq!(revoked(), ["lwp_made1"]);
    // A node that does not run the provider can't revoke a key, and says so.
    assert_eq!(given.set_up().await, None);
    assert!(ends(&given.fixture.platform).await.unwrap().made_key_remains);
    // A key that a person entered is not the platform's to revoke.
    let connect = ConnectConsumer {
        provider: ProviderChoice::Embedded,
        application_id: None,
        api_key: Some(Secret::new(b"lwp_known_to_a_person".to_vec())),
        start: StartFrom::Now,
    };
    given.platform.connect_consumer(caller, given.customer(), &connect).await.unwrap();
    assert!(!ends(&given.platform).await.unwrap().made_key_remains);
    assert_eq!(revoked(), ["lwp_made1"]);
    // A key that a person enters takes the place of a made one, which is revoked.
    assert_eq!(given.set_up().await, None);
    given.platform.connect_consumer(caller, given.customer(), &connect).await.unwrap();
    assert_eq!(revoked(), ["lwp_made1", "lwp_made3"]);
    assert!(!ends(&given.platform).await.unwrap().made_key_remains);
    assert_eq!(revoked(), ["lwp_made1", "lwp_made3"]);
}

#[tokio::test]
async fn an_application_is_created_at_a_remote_provider_and_found_again() {
    let given = given([Reply::Status(409)]).await;
    // A node without the embedded provider, and a provider that knows no `get_if_exists`.
    let (platform, caller) = (&given.fixture.platform, &given.fixture.caller);
    assert!(!platform.opens_accounts() && given.platform.opens_accounts());
    let refused = platform.set_up_connection(caller, given.customer()).await.unwrap_err();
    assert!(matches!(refused, PlatformError::NotConnected), "{refused:?}");
    let connect = ConnectConsumer {
        provider: ProviderChoice::Of(given.provider.url.clone()),
        application_id: None,
        api_key: Some(Secret::new(b"sk_remote".to_vec())),
        start: StartFrom::Now,
    };
    platform.connect_consumer(caller, given.customer(), &connect).await.unwrap();
    given.provider.otherwise(application("app_remote"));
    assert_eq!(platform.set_up_connection(caller, given.customer()).await.unwrap().failed, None);
    let state = platform.consumer(caller, given.customer()).await.unwrap();
    assert_eq!((state.application_id.as_deref(), state.is_connected()), (Some("app_remote"), true));
    assert_eq!(given.provider.credential_tests()[0], format!("GET /api/v1/app/{}/", given.customer()));
    assert_eq!(given.keys(), [""; 0]);
}

#[tokio::test]
async fn only_staff_who_look_after_customers_connect_them() {
    let given = given([application("app_1")]).await;
    for role in Role::ALL {
        let caller = Caller { scopes: role.scopes(), ..given.fixture.caller.clone() };
        let is_support = matches!(role, Role::Support | Role::Administrator);
        let result = given.platform.set_up_connection(&caller, given.customer()).await;
        assert_eq!(result.is_ok(), is_support, "{role:?}: {result:?}");
    }
    let own = Caller { customer: Some(given.customer()), ..given.fixture.caller.clone() };
    given.platform.disconnect_consumer(&given.fixture.caller, given.customer()).await.unwrap();
    let refused = given.platform.set_up_connection(&own, given.customer()).await.unwrap_err();
    assert_eq!(refused.code(), "forbidden", "the customer's own API key opened an account");
}

#[tokio::test]
async fn a_link_to_the_portal_says_what_its_owner_may_do_and_is_in_the_access_log() {
    let given = given([application("app_1")]).await;
    assert_eq!(given.set_up().await, None);
    let url = "https://hooks.example/app-portal/login#key=secret";
    given.provider.otherwise(Reply::With(200, "body", format!("{{\"url\":\"{url}\",\"token\":\"t\"}}")));
    for (rights, body) in [
        (PortalRights::View, serde_json::json!({"capabilities": ["ViewBase"], "readOnly": true, "expiry": 3_600})),
        (PortalRights::Manage, serde_json::json!({"expiry": 3_600})),
        (PortalRights::ManageLong, serde_json::json!({})),
    ] {
        let link = given.platform.portal_link(&given.fixture.caller, given.customer(), rights).await.unwrap();
        assert_eq!(link.expose_str(), Some(url));
        let request = given.provider.requests().pop().unwrap();
        assert_eq!(request.line, "POST /api/v1/auth/app-portal-access/app_1/");
        assert_eq!(serde_json::from_str::<serde_json::Value>(&request.body).unwrap(), body);
    }
    let events = given.events().await;
    let made: Vec<_> = events
        .iter()
        .filter_map(|event| match event {
            AccessEvent::PortalLinkCreated { rights, expires_at, .. } => Some((rights.as_str(), *expires_at)),
            _ => None,
        })
        .collect();
    let in_an_hour = Some(given.platform.now() + std::time::Duration::from_secs(3_600));
    assert_eq!(made, [("view", in_an_hour), ("all", in_an_hour), ("all", None)]);
    assert!(!format!("{events:?}").contains("secret"), "{events:?}");
    given.provider.otherwise(Reply::Status(403));
    given.platform.portal_link(&given.fixture.caller, given.customer(), PortalRights::View).await.unwrap_err();
    assert_eq!(given.events().await.len(), events.len(), "a link that was refused is in the log");
}
