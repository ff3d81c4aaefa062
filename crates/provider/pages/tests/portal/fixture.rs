//! A provider with its portal on a port, one application, and a test clock.

use std::sync::Arc;

use axum::Router;
use axum::routing::post;
use kit_http::serve::{Limits, serve};
use kit_mail::Mailer;
use kit_outbound::{AddressPolicy, Client, ClientConfig};
use kit_runtime::clock::{Clock as _, TestClock};
use kit_runtime::random::SeededRandom;
use kit_runtime::tasks::Tasks;
use kit_runtime::vault::{Key, Vault};
use provider_core::model::{Application, Capability, Endpoint, Message};
use provider_core::port::Store;
use provider_core::{
    ApplicationInput, Caller, Created, DiskUse, EndpointInput, EventTypeInput, IfExists, MessageInput, OrderingKey,
    Payload, PortalAccess, PortalAccessInput, Provider, ProviderConfig, ProviderParts,
};
use serde_json::Value;
use tokio::net::TcpListener;

use testkit::web::Browser;

/// Name of the application, which contains a script element.
pub(crate) const NAME: &str = "Hammer & <script>alert('name')</script>";

pub(crate) struct Fixture {
    pub(crate) provider: Provider,
    store: Arc<dyn Store>,
    pub(crate) clock: Arc<TestClock>,
    /// The account, authenticated by its API key.
    pub(crate) account: Caller,
    pub(crate) key: String,
    pub(crate) app: Application,
    pub(crate) server: String,
    _tasks: Tasks,
}

impl Fixture {
    pub(crate) async fn new() -> Self {
        Self::with(ProviderConfig::default()).await
    }

    pub(crate) async fn with(mut config: ProviderConfig) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let server = format!("http://{}", listener.local_addr().unwrap());
        if config.public_url == ProviderConfig::default().public_url {
            config.public_url = server.clone();
        }
        let clock = Arc::new(TestClock::new("2026-11-21T06:28:03.123Z".parse().unwrap()));
        let random = Arc::new(SeededRandom::new(1));
        let seal = Key::generate(random.as_ref());
        let store: Arc<dyn Store> = provider_store::sqlite::open_temporary().unwrap();
        let provider = Provider::new(ProviderParts {
            store: Arc::clone(&store),
            clock: clock.clone(),
            random,
            vault: Arc::new(Vault::new(vec![(seal.id(), seal)]).unwrap()),
            transport: Arc::new(Client::new(ClientConfig { policy: AddressPolicy::any(), ..ClientConfig::default() })),
            config,
        });
        let tasks = Tasks::new();
        provider.spawn_workers(&tasks);
        let surface = provider_pages::portal::add_to(kit_http::finish(Router::new()), provider.clone(), clock.clone());
        tokio::spawn(serve(listener, surface, std::future::pending(), Limits::default()));
        let account = provider.create_account("customer").await.unwrap();
        let key = provider.create_api_key(&account.id, "key").await.unwrap().text;
        let account = provider.authenticate(&key).await.unwrap();
        let app = application(&provider, &account, NAME).await;
        Self { provider, store, clock, account, key, app, server, _tasks: tasks }
    }

    /// A fixture whose operator set a mail server.
    pub(crate) async fn with_mail() -> Self {
        let mailer = Some(Mailer::new("smtp://127.0.0.1:9", "alerts@example.org").unwrap());
        Self::with(ProviderConfig { mailer, ..ProviderConfig::default() }).await
    }

    /// The text of the only mail that waits for its server.
    pub(crate) async fn mail(&self) -> String {
        let now = self.clock.now();
        let mut mails = self.store.claim_mails(now, now, 10).await.unwrap();
        assert_eq!(mails.len(), 1);
        let mail = mails.remove(0);
        self.store.delete_mail(mail.no).await.unwrap();
        mail.mail.body
    }

    pub(crate) async fn link(&self, input: PortalAccessInput) -> PortalAccess {
        self.provider.create_portal_access(&self.account, &self.app.id, input).await.unwrap()
    }

    /// A visitor whose link has all capabilities.
    pub(crate) async fn visitor(&self) -> Browser {
        self.visitor_with(PortalAccessInput::default()).await
    }

    pub(crate) async fn visitor_who_may(&self, capabilities: &[Capability]) -> Browser {
        let capabilities = Some([Capability::ViewBase].iter().chain(capabilities).copied().collect());
        self.visitor_with(PortalAccessInput { capabilities, ..PortalAccessInput::default() }).await
    }

    async fn visitor_with(&self, input: PortalAccessInput) -> Browser {
        let link = self.link(input).await;
        let mut visitor = visitor_of(&self.server);
        let key = link.url.split_once("#key=").unwrap().1;
        visitor.post("/login", &[("key", key)]).await.leads_to("/endpoints");
        visitor
    }

    pub(crate) async fn endpoint(&self, input: EndpointInput) -> Endpoint {
        let created = self.provider.create_endpoint(&self.account, &self.app.id, input, None, |_| String::new()).await;
        let Created::New(endpoint) = created.unwrap() else { panic!("no new endpoint") };
        endpoint
    }

    pub(crate) async fn event_type(&self, name: &str, description: &str, schemas: Option<Value>) {
        let input = EventTypeInput { description: description.into(), schemas, ..EventTypeInput::default() };
        self.provider.create_event_type(&self.account, name, input, None, |_| String::new()).await.unwrap();
    }

    pub(crate) async fn message(&self, event_type: &str, payload: &str, ordering_key: Option<&str>) -> Message {
        self.send(event_type, Payload::from_text(payload.into()).unwrap(), ordering_key).await
    }

    pub(crate) async fn send(&self, event_type: &str, payload: Payload, ordering_key: Option<&str>) -> Message {
        self.send_to(event_type, payload, ordering_key, None).await
    }

    /// Sends a message to the endpoints of these channels.
    pub(crate) async fn send_to(
        &self,
        event_type: &str,
        payload: Payload,
        ordering_key: Option<&str>,
        channels: Option<Vec<String>>,
    ) -> Message {
        let input = MessageInput {
            event_type: event_type.into(),
            payload,
            event_id: None,
            channels,
            tags: None,
            payload_retention_days: None,
            payload_retention_hours: None,
            deliver_at: None,
            application: None,
            ordering_key: ordering_key.map(|key| OrderingKey::parse(key).unwrap()),
            disk: DiskUse::default(),
        };
        self.provider.create_message(&self.account, &self.app.id, input, None).await.unwrap()
    }
}

/// A visitor of the portal without a session.
pub(crate) fn visitor_of(server: &str) -> Browser {
    Browser::of_server(server, "/app-portal")
}

pub(crate) async fn application(provider: &Provider, account: &Caller, name: &str) -> Application {
    let input = ApplicationInput { name: name.into(), ..ApplicationInput::default() };
    let created = provider.create_application(account, input, IfExists::Refuse, None, |_| String::new()).await.unwrap();
    let Created::New(application) = created else { panic!("no new application") };
    application
}

pub(crate) fn at(url: &str) -> EndpointInput {
    EndpointInput { url: url.into(), ..EndpointInput::default() }
}

/// Starts a receiver that returns this status and body, and a cookie; returns its address.
pub(crate) async fn receiver(status: u16, body: &'static str) -> String {
    let cookie = [("set-cookie", "session=a-secret-cookie; Path=/")];
    let answer = async move || (http::StatusCode::from_u16(status).unwrap(), cookie, body);
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let router = Router::new().route("/hook", post(answer));
    tokio::spawn(serve(listener, kit_http::finish(router), std::future::pending(), Limits::default()));
    format!("http://{address}/hook")
}
