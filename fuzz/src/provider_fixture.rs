//! The provider's API in this process, on a temporary SQLite store. It is replaced every 500 inputs, to bound its size.

use std::cell::RefCell;
use std::sync::Arc;

use axum::body::Body;
use http::{HeaderMap, Request, StatusCode};
use http_body_util::BodyExt as _;
use kit_http::Surface;
use kit_outbound::{AddressPolicy, Client, ClientConfig};
use kit_runtime::clock::TestClock;
use kit_runtime::random::SeededRandom;
use kit_runtime::vault::{Key, Vault};
use provider_core::{Provider, ProviderConfig, ProviderParts};
use tower::ServiceExt as _;

/// Inputs after which the fixture is replaced.
const REQUESTS_MAX: usize = 500;

pub(crate) struct ProviderFixture {
    runtime: tokio::runtime::Runtime,
    surface: Surface,
    pub(crate) provider: Provider,
    pub(crate) key: String,
    requests: usize,
}

thread_local! {
    static FIXTURE: RefCell<Option<ProviderFixture>> = const { RefCell::new(None) };
}

/// Runs `act` with the fixture, which has an application `app`, an endpoint `ep` and a message with event id `m`.
pub(crate) fn with<T>(act: impl FnOnce(&ProviderFixture) -> T) -> T {
    FIXTURE.with_borrow_mut(|fixture| {
        if fixture.as_ref().is_some_and(|fixture| fixture.requests >= REQUESTS_MAX) {
            *fixture = None;
        }
        let fixture = fixture.get_or_insert_with(ProviderFixture::new);
        fixture.requests += 1;
        act(fixture)
    })
}

impl ProviderFixture {
    fn new() -> Self {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let runtime_context = runtime.enter();
        let random = Arc::new(SeededRandom::new(1));
        let sealing = Key::generate(random.as_ref());
        let provider = Provider::new(ProviderParts {
            store: provider_store::sqlite::open_temporary().unwrap(),
            clock: Arc::new(TestClock::new("2026-11-21T06:28:03.123Z".parse().unwrap())),
            random,
            vault: Arc::new(Vault::new(vec![(sealing.id(), sealing)]).unwrap()),
            transport: Arc::new(Client::new(ClientConfig { policy: AddressPolicy::any(), ..ClientConfig::default() })),
            config: ProviderConfig { requests_per_second_max: u32::MAX, ..ProviderConfig::default() },
        });
        drop(runtime_context);
        let key = runtime.block_on(async {
            let account = provider.create_account("account").await.unwrap();
            provider.create_api_key(&account.id, "key").await.unwrap().text
        });
        let fixture = Self { runtime, surface: provider_api::surface(provider.clone()), provider, key, requests: 0 };
        for (path, body) in [
            ("/app", r#"{"name":"app","uid":"app"}"#),
            ("/event-type", r#"{"name":"a.b","description":"","schemas":{"1":{"type":"object"}}}"#),
            ("/app/app/endpoint", r#"{"url":"https://example.com/","uid":"ep"}"#),
            ("/app/app/msg", r#"{"eventType":"a.b","eventId":"m","payload":{}}"#),
        ] {
            let request = fixture.request("POST", path).body(body.into()).unwrap();
            assert!(fixture.send(request).0.is_success(), "{path}");
        }
        fixture
    }

    pub(crate) fn request(&self, method: &str, path: &str) -> http::request::Builder {
        let request = Request::builder().method(method).uri(format!("/api/v1{path}"));
        request.header("authorization", format!("Bearer {}", self.key))
    }

    pub(crate) fn block_on<T>(&self, future: impl Future<Output = T>) -> T {
        self.runtime.block_on(future)
    }

    /// Sends a request and asserts what holds for every response: no server error, and a JSON body wherever a client
    /// error or the content type promises one.
    pub(crate) fn send(&self, request: Request<Body>) -> (StatusCode, HeaderMap, Vec<u8>) {
        let (method, uri) = (request.method().clone(), request.uri().clone());
        let (parts, body) = self.block_on(async {
            let (parts, body) = self.surface.clone().oneshot(request).await.unwrap().into_parts();
            (parts, body.collect().await.unwrap().to_bytes())
        });
        assert!(!parts.status.is_server_error(), "{method} {uri}: {} {body:?}", parts.status);
        let is_json = parts.headers.get("content-type").is_some_and(|kind| kind == "application/json");
        if is_json || parts.status.is_client_error() {
            assert!(
                method == http::Method::HEAD || serde_json::from_slice::<serde::de::IgnoredAny>(&body).is_ok(),
                "{method} {uri}: {} {body:?}",
                parts.status
            );
        }
        (parts.status, parts.headers, body.to_vec())
    }
}
