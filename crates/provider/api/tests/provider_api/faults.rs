//! Internal errors, the isolation of applications, and deeply nested payloads.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use axum::body::Body;
use http::Request;
use http_body_util::BodyExt as _;
use kit_outbound::{AddressPolicy, Client, ClientConfig};
use kit_runtime::clock::SystemClock;
use kit_runtime::random::{Random, SeededRandom};
use kit_runtime::vault::{Key, Vault};
use provider_core::{Provider, ProviderConfig, ProviderParts};
use serde_json::{Value, json};
use tower::ServiceExt as _;

use crate::fixture::{self, Fixture};

/// A clock that panics when the test arms it, like a bug in a use case.
struct Breakable {
    random: SeededRandom,
    broken: AtomicBool,
}

impl Random for Breakable {
    fn fill(&self, bytes: &mut [u8]) {
        assert!(!self.broken.load(Ordering::Relaxed), "hidden from the response");
        self.random.fill(bytes);
    }
}

#[tokio::test]
async fn a_panic_returns_500_in_the_apis_shape_and_stops_no_other_request() {
    let random = Arc::new(Breakable { random: SeededRandom::new(1), broken: AtomicBool::new(false) });
    let key = Key::generate(random.as_ref());
    let provider = Provider::new(ProviderParts {
        store: provider_store::sqlite::open_temporary().unwrap(),
        clock: Arc::new(SystemClock),
        random: Arc::clone(&random) as _,
        vault: Arc::new(Vault::new(vec![(key.id(), key)]).unwrap()),
        transport: Arc::new(Client::new(ClientConfig { policy: AddressPolicy::any(), ..ClientConfig::default() })),
        config: ProviderConfig::default(),
    });
    let key = fixture::key(&provider, "ours").await;
    let surface = provider_api::surface(provider);
    let create = async || {
        let request = Request::post("/api/v1/app").header("authorization", format!("Bearer {key}"));
        let request = request.header("x-request-id", "r-1").body(Body::from(r#"{"name":"n"}"#)).unwrap();
        let (parts, body) = surface.clone().oneshot(request).await.unwrap().into_parts();
        let body: Value = serde_json::from_slice(&body.collect().await.unwrap().to_bytes()).unwrap();
        assert_eq!(
            (parts.headers["content-type"].as_bytes(), parts.headers["x-request-id"].as_bytes()),
            (&b"application/json"[..], &b"r-1"[..])
        );
        (parts.status.as_u16(), body)
    };
    random.broken.store(true, Ordering::Relaxed);
    let detail = "the server could not complete the request; it logged the error with the request id";
    assert_eq!(create().await, (500, json!({"code": "internal", "detail": detail})));
    random.broken.store(false, Ordering::Relaxed);
    assert_eq!(create().await.0, 201);
}

#[tokio::test]
async fn records_of_another_application_return_404() {
    let fixture = Fixture::new().await;
    fixture.application("app").await;
    fixture.application("beside").await;
    let (endpoint, message) = (fixture.endpoint().await, fixture.message().await);
    for path in [
        format!("/endpoint/{endpoint}"),
        format!("/endpoint/{endpoint}/secret"),
        format!("/msg/{message}"),
        format!("/attempt/msg/{message}"),
        format!("/attempt/endpoint/{endpoint}"),
    ] {
        assert_eq!(fixture.get(&format!("/app/app{path}")).await.status, 200, "{path}");
        assert_eq!(fixture.get(&format!("/app/beside{path}")).await.status, 404, "{path}");
    }
    assert_eq!(fixture.delete(&format!("/app/beside/endpoint/{endpoint}")).await.status, 404);
    assert_eq!(fixture.post(&format!("/app/beside/endpoint/{endpoint}/secret/rotate"), "{}").await.status, 404);
    assert_eq!(fixture.get(&format!("/app/app/endpoint/{endpoint}")).await.status, 200);
}

#[test]
fn every_reference_of_the_document_resolves() {
    fn references<'a>(value: &'a Value, found: &mut Vec<&'a str>) {
        match value {
            Value::Object(map) => {
                found.extend(map.get("$ref").and_then(Value::as_str));
                map.values().for_each(|value| references(value, found));
            }
            Value::Array(list) => list.iter().for_each(|value| references(value, found)),
            _ => {}
        }
    }
    let document = serde_json::to_value(provider_api::openapi()).unwrap();
    let mut found = Vec::new();
    references(&document, &mut found);
    assert!(found.len() > 25, "{found:?}");
    for reference in found {
        let pointer = reference.strip_prefix('#').expect(reference);
        assert!(document.pointer(pointer).is_some(), "{reference}");
    }
}

/// The API does not parse a payload into a tree, so a deep payload needs no stack.
#[tokio::test]
async fn a_payload_is_accepted_up_to_the_depth_that_every_client_can_read() {
    let fixture = Fixture::new().await;
    let application = fixture.application("app").await;
    let send = async |levels: usize| {
        let payload = format!(r#"{{"a":{}{}}}"#, "[".repeat(levels), "]".repeat(levels));
        let created = fixture.post("/app/app/msg", format!(r#"{{"eventType":"a","payload":{payload}}}"#)).await;
        (created, payload)
    };
    let (kept, payload) = send(100).await;
    assert_eq!(kept.status, 202, "{}", kept.text);
    let message = fixture.store.message(&application, &kept.field("id")).await.unwrap().unwrap();
    assert!(message.payload.unwrap().text() == payload.as_bytes());
    assert_eq!(fixture.get(&format!("/app/app/msg/{}", kept.field("id"))).await.status, 200);
    for levels in [200, 100_000] {
        assert_eq!(send(levels).await.0.status, 422, "{levels}");
    }
}
