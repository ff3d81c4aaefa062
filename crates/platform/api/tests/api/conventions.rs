//! Conventions of all responses.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use http::Method;
use platform_core::{PlatformConfig, Scope, Scopes};
use serde_json::{Value, json};

use crate::fixture::Fixture;

#[tokio::test]
async fn every_response_shows_the_rate_limit_and_requests_above_it_are_refused() {
    let fixture = Fixture::with(PlatformConfig { key_requests_per_min_max: 6, ..PlatformConfig::default() });
    let key = fixture.key(None, [Scope::AuctionsRead].into_iter().collect()).await;
    let call = async |path: &str| fixture.call(&Method::GET, path, &key, &Value::Null).await;
    for (path, status, left) in [
        ("/api/v1/auctions", 200, "\"key\";r=5;t=10"),
        ("/api/v1/auctions?limit=0", 400, "\"key\";r=4;t=20"),
        ("/api/v1/customers", 403, "\"key\";r=3;t=30"),
        ("/api/v1/auctions/nonsense", 400, "\"key\";r=2;t=40"),
        ("/api/v1/auctions/019a0000-0000-7000-8000-000000000000", 404, "\"key\";r=1;t=50"),
        ("/api/v1/reference-data/item-statuses", 200, "\"key\";r=0;t=60"),
    ] {
        let answer = call(path).await;
        assert_eq!((answer.status, answer.header("ratelimit")), (status, Some(left)), "{path}");
        assert_eq!(answer.header("ratelimit-policy"), Some("\"key\";q=6;w=60"));
    }
    let refused = call("/api/v1/auctions").await;
    assert_eq!((refused.status, refused.code().as_str()), (429, "rate_limited"), "{}", refused.text);
    assert_eq!(refused.header("retry-after"), Some("10"));
    assert_eq!(refused.header("ratelimit"), Some("\"key\";r=0;t=60"));
    assert_eq!(refused.header("content-type"), Some("application/problem+json"));

    let other = fixture.key(None, Scopes::all()).await;
    assert_eq!(fixture.call(&Method::GET, "/api/v1/auctions", &other, &Value::Null).await.status, 200);
    let newcomer = fixture.send(&Method::GET, "/api/v1/auctions", &[], "").await;
    assert_eq!((newcomer.status, newcomer.header("ratelimit")), (401, None));

    fixture.clock.advance(std::time::Duration::from_secs(10));
    assert_eq!(call("/api/v1/auctions").await.status, 200);
}

#[tokio::test]
async fn without_a_rate_limit_its_headers_are_absent() {
    let fixture = Fixture::with(PlatformConfig { key_requests_per_min_max: 0, ..PlatformConfig::default() });
    let key = fixture.key(None, Scopes::all()).await;
    let answer = fixture.call(&Method::GET, "/api/v1/auctions", &key, &Value::Null).await;
    assert_eq!((answer.status, answer.header("ratelimit"), answer.header("ratelimit-policy")), (200, None, None));
}

#[tokio::test]
async fn a_malformed_path_is_reported_as_a_problem() {
    let fixture = Fixture::new();
    let key = fixture.key(None, Scopes::all()).await;
    for (path, status, code) in [
        ("/auctions/1", 400, "path_invalid"),
        ("/items/%FF", 400, "path_invalid"),
        ("/items/x/history", 400, "path_invalid"),
        ("/reference/auctioneers/x", 404, "not_found"),
        ("/reference/auctioneers/1.5", 404, "not_found"),
        ("/reference/auctioneers/%FF", 404, "not_found"),
    ] {
        let answer = fixture.call(&Method::GET, &format!("/api/v1{path}"), &key, &Value::Null).await;
        assert_eq!((answer.status, answer.code().as_str()), (status, code), "{path}: {}", answer.text);
    }
}

#[tokio::test]
async fn an_unknown_tag_matches_no_state() {
    let fixture = Fixture::new();
    let customer = fixture.customer("First").await;
    let key = fixture.key(Some(customer), Scopes::all()).await;
    let auctioneer = fixture.make("/api/v1/auctioneers", &key, json!({ "name": "Smith" })).await;
    let (auction, item) = fixture.sale(&key, auctioneer["uuid"].as_str().unwrap()).await;
    let bearer = format!("Bearer {key}");
    for (path, body) in [
        (format!("/auctions/{auction}/status"), r#"{"status":"PREVIEW"}"#),
        (format!("/auctions/{auction}/items"), r#"{"lotNumber":"9","title":"Nine"}"#),
        (format!("/auctions/{auction}/ring/send"), "{}"),
        (format!("/items/{item}/status"), r#"{"status":"WITHDRAWN"}"#),
    ] {
        let headers = [("authorization", bearer.as_str()), ("if-match", "\"abc\"")];
        let answer = fixture.send(&Method::POST, &format!("/api/v1{path}"), &headers, body).await;
        assert_eq!((answer.status, answer.code().as_str()), (412, "precondition_failed"), "{path}: {}", answer.text);
    }
}

#[tokio::test]
async fn every_post_accepts_an_idempotency_key() {
    let fixture = Fixture::new();
    let key = fixture.key(None, Scopes::all()).await;
    let (key, session) = (format!("Bearer {key}"), format!("Bearer {}", fixture.session().await));
    let document = serde_json::to_value(platform_api::openapi()).unwrap();
    for (path, operations) in document["paths"].as_object().unwrap() {
        let Some(operation) = operations.get("post") else { continue };
        let bearer = if path.starts_with("/api/v1/me/") { &session } else { &key };
        let uuid = "019a0000-0000-7000-8000-000000000000";
        let filled = path.split('/').map(|part| if part.starts_with('{') { uuid } else { part });
        let path = filled.collect::<Vec<_>>().join("/");
        let kind = if path.ends_with("/catalogue") { "text/csv" } else { "application/json" };
        let headers = [("authorization", bearer.as_str()), ("content-type", kind), ("idempotency-key", "not one")];
        let answer = fixture.send(&Method::POST, &path, &headers, "{}").await;
        assert_eq!(
            (answer.status, answer.code().as_str()),
            (400, "idempotency_key_invalid"),
            "{path}: {}",
            answer.text
        );
        assert!(operation["parameters"].to_string().contains("Idempotency-Key"), "{path}");
    }
}

/// A provider that accepts every request, and the number of requests.
async fn provider() -> (String, Arc<AtomicUsize>) {
    let request_count = Arc::new(AtomicUsize::new(0));
    let count = request_count.clone();
    let answer = async move || {
        count.fetch_add(1, Ordering::Relaxed);
        (http::StatusCode::CREATED, "{}")
    };
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let router = axum::Router::new().route("/{*path}", axum::routing::any(answer));
    let surface = kit_http::finish(router);
    let limits = kit_http::serve::Limits::default();
    tokio::spawn(kit_http::serve::serve(listener, surface, std::future::pending(), limits));
    (url, request_count)
}

#[tokio::test]
async fn a_repeated_idempotency_key_calls_the_provider_once() {
    let fixture = Fixture::new();
    let (url, request_count) = provider().await;
    let key = fixture.key(None, Scopes::all()).await;
    let bearer = format!("Bearer {key}");
    let consumer = format!("/api/v1/customers/{}/consumer", fixture.customer("First").await);
    let connect = json!({ "providerUrl": url, "applicationId": "app_1", "apiKey": "sk_1" });
    assert_eq!(fixture.call(&Method::PUT, &consumer, &key, &connect).await.status, 200);
    for call in ["event-types", "resume"] {
        let path = format!("{consumer}/{call}");
        let headers = [("authorization", bearer.as_str()), ("idempotency-key", call)];
        let first = fixture.send(&Method::POST, &path, &headers, "").await;
        let requests_before = request_count.load(Ordering::Relaxed);
        let again = fixture.send(&Method::POST, &path, &headers, "").await;
        assert_eq!((first.status, again.status, &first.text), (200, 200, &again.text), "{call}");
        assert_eq!(
            (again.header("idempotent-replayed"), request_count.load(Ordering::Relaxed)),
            (Some("true"), requests_before)
        );
        let other = fixture.send(&Method::POST, &path.replace("event-types", "resume"), &headers, "{ }").await;
        assert_eq!((other.status, other.code().as_str()), (422, "idempotency_mismatch"));
    }
    assert!(request_count.load(Ordering::Relaxed) >= 3);
}
