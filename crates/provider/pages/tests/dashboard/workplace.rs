//! A provider with its dashboard on a port, an account with users who signed in.

use std::sync::Arc;

use axum::Router;
use axum::routing::post;
use kit_http::serve::{Limits, serve};
use kit_outbound::{AddressPolicy, Client, ClientConfig};
use kit_runtime::clock::TestClock;
use kit_runtime::random::SeededRandom;
use kit_runtime::tasks::Tasks;
use kit_runtime::vault::{Key, Secret, Vault};
use provider_core::model::Role;
use provider_core::model::{Application, Endpoint, Message};
use provider_core::users::Joining;
use provider_core::*;
use provider_pages::dashboard::{ReadyEventType, ReadyEventTypes};
use serde_json::json;
use testkit::web::Browser;
use tokio::net::TcpListener;

/// A text that would run as a script if a page did not escape it.
pub(crate) const HOSTILE: &str = "\"><script>alert('x')</script>";

pub(crate) struct Workplace {
    pub(crate) provider: Provider,
    pub(crate) clock: Arc<TestClock>,
    /// The account, authenticated by its API key.
    pub(crate) account: Caller,
    server: String,
    _tasks: Tasks,
}

impl Workplace {
    pub(crate) async fn open() -> Self {
        Self::open_with(ProviderConfig::default()).await
    }

    pub(crate) async fn open_with(config: ProviderConfig) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let server = format!("http://{}", listener.local_addr().unwrap());
        let config = ProviderConfig { public_url: server.clone(), ..config };
        let clock = Arc::new(TestClock::new("2026-11-21T06:28:03.123Z".parse().unwrap()));
        let random = Arc::new(SeededRandom::new(1));
        let seal = Key::generate(random.as_ref());
        let provider = Provider::new(ProviderParts {
            store: provider_store::sqlite::open_temporary().unwrap(),
            clock: clock.clone(),
            random,
            vault: Arc::new(Vault::new(vec![(seal.id(), seal)]).unwrap()),
            transport: Arc::new(Client::new(ClientConfig { policy: AddressPolicy::any(), ..ClientConfig::default() })),
            config,
        });
        let tasks = Tasks::new();
        provider.spawn_workers(&tasks);
        let surface = kit_http::finish(Router::new());
        let surface = provider_pages::dashboard::add_to(surface, provider.clone(), clock.clone(), ready());
        tokio::spawn(serve(listener, surface, std::future::pending(), Limits::default()));
        let account = provider.create_account("Hartley").await.unwrap();
        let account = Caller::operator(&account);
        Self { provider, clock, account, server, _tasks: tasks }
    }

    /// A user with this role who signed in.
    pub(crate) async fn user(&self, role: Role) -> Browser {
        let account = self.provider.account(&self.account.account).await.unwrap();
        let link = if role == Role::Admin {
            self.provider.create_sign_in_code(&account).await.unwrap()
        } else {
            self.provider.invite(&self.account, role, "A colleague", None).await.unwrap()
        };
        let code = link.url.split_once('#').unwrap().1;
        let code = code.split_once('=').map_or(code, |(_, code)| code);
        let joining = Joining {
            name: "Ann".into(),
            email: format!("{}@example.com", role.name()),
            password: Secret::new(b"a long enough passphrase".to_vec()),
            client: provider_core::users::Client::default(),
        };
        let signed_in = self.provider.join(code, joining).await.unwrap();
        let mut browser = Browser::of_server(&self.server, "/dashboard");
        browser.set_cookie("lotwire_dashboard", signed_in.token.expose_str().unwrap());
        browser
    }

    pub(crate) async fn application(&self, name: &str) -> Application {
        let input = ApplicationInput { name: name.into(), ..ApplicationInput::default() };
        let created =
            self.provider.create_application(&self.account, input, IfExists::Refuse, None, |_| String::new()).await;
        let Created::New(application) = created.unwrap() else { panic!("no new application") };
        application
    }

    pub(crate) async fn endpoint(&self, application: &str, input: EndpointInput) -> Endpoint {
        let created = self.provider.create_endpoint(&self.account, application, input, None, |_| String::new()).await;
        let Created::New(endpoint) = created.unwrap() else { panic!("no new endpoint") };
        endpoint
    }

    pub(crate) async fn event_type(&self, name: &str) {
        let input = EventTypeInput::default();
        self.provider.create_event_type(&self.account, name, input, None, |_| String::new()).await.unwrap();
    }

    pub(crate) async fn send(&self, application: &str, event_type: &str, payload: &str) {
        self.send_event(application, event_type, payload, None).await;
    }

    pub(crate) async fn send_event(
        &self,
        application: &str,
        event_type: &str,
        payload: &str,
        event_id: Option<&str>,
    ) -> Message {
        self.create_message(application, event_type, payload, event_id, None, None).await
    }

    /// Sends an empty message with an event id and an ordering key.
    pub(crate) async fn send_in_order(&self, application: &str, event_id: &str, key: &str) -> Message {
        self.create_message(application, "a.b", "{}", Some(event_id), None, Some(key)).await
    }

    /// Sends an empty message to the endpoints of these channels.
    pub(crate) async fn send_to(&self, application: &str, channels: Vec<String>) {
        self.create_message(application, "a.b", "{}", None, Some(channels), None).await;
    }

    async fn create_message(
        &self,
        application: &str,
        event_type: &str,
        payload: &str,
        event_id: Option<&str>,
        channels: Option<Vec<String>>,
        ordering_key: Option<&str>,
    ) -> Message {
        let input = MessageInput {
            event_type: event_type.into(),
            payload: Payload::from_text(payload.into()).unwrap(),
            event_id: event_id.map(str::to_owned),
            channels,
            tags: None,
            payload_retention_days: None,
            payload_retention_hours: None,
            deliver_at: None,
            application: None,
            ordering_key: ordering_key.map(|key| OrderingKey::parse(key).unwrap()),
            disk: DiskUse::default(),
        };
        let account = self.provider.account(&self.account.account).await.unwrap();
        self.provider.create_message(&Caller::operator(&account), application, input, None).await.unwrap()
    }
}

/// A ready event type, as the binary passes it.
fn ready() -> ReadyEventTypes {
    let schema = json!({"1": {"description": "An item changed", "title": "Item status changed", "type": "object",
        "properties": {"itemUuid": {"description": "The item", "type": "STRING"}, "status": {"type": "STRING"}},
        "required": ["itemUuid"], "examples": [{"itemUuid": "019c22c6", "status": "SOLD"}]}});
    ReadyEventTypes {
        sender: "the auction platform".into(),
        event_types: vec![ReadyEventType {
            name: "ITEM_STATUS_CHANGE".into(),
            description: "Event triggered when an item status changes".into(),
            schemas: schema,
        }],
    }
}

pub(crate) fn at(url: &str) -> EndpointInput {
    EndpointInput { url: url.into(), ..EndpointInput::default() }
}

/// Starts a receiver that returns this status and body; returns its address.
pub(crate) async fn receiver(status: u16, body: &'static str) -> String {
    let answer = async move || (http::StatusCode::from_u16(status).unwrap(), body);
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let router = Router::new().route("/hook", post(answer));
    tokio::spawn(serve(listener, kit_http::finish(router), std::future::pending(), Limits::default()));
    format!("http://{address}/hook")
}
