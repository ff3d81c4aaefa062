//! Rate limits and limits on the number of records.

use std::time::Duration;

use axum::body::Body;
use http::Request;
use kit_http::client_ip::Peer;
use provider_core::ProviderConfig;
use provider_core::model::AccountSettings;
use serde_json::json;

use crate::fixture::{Answer, Fixture};

async fn call_from(fixture: &Fixture, address: &str, key: &str) -> Answer {
    let request = Request::get("/api/v1/app").header("authorization", format!("Bearer {key}"));
    let request = request.extension(Peer(address.parse().unwrap())).body(Body::empty()).unwrap();
    fixture.send(request).await
}

fn retry_after(answer: &Answer) -> &str {
    answer.headers["retry-after"].to_str().unwrap()
}

/// The rate limit policy and the remaining requests.
fn limit(answer: &Answer) -> [&str; 2] {
    ["ratelimit-policy", "ratelimit"].map(|name| answer.headers[name].to_str().unwrap())
}

#[tokio::test]
async fn an_address_that_tries_keys_is_rate_limited_and_other_addresses_are_not() {
    let fixture = Fixture::new().await;
    let bad = format!("lwp_{}", "x".repeat(43));
    let good = fixture.key.clone();
    assert_eq!(call_from(&fixture, "192.0.2.1", &good).await.status, 200);
    for _ in 0..20 {
        assert_eq!(call_from(&fixture, "192.0.2.1", &bad).await.status, 401);
    }
    let refused = call_from(&fixture, "192.0.2.1", &bad).await;
    assert_eq!((refused.status, refused.field("code").as_str()), (429, "too_many_requests"));
    assert_eq!(retry_after(&refused), "3");
    assert_eq!(limit(&refused), [r#""address";q=20;w=60"#, r#""address";r=0;t=3"#]);
    assert_eq!(call_from(&fixture, "192.0.2.1", "nonsense").await.status, 429);
    assert_eq!(call_from(&fixture, "192.0.2.2", &bad).await.status, 401);
    // A valid key works from the limited address, even if it is not in the cache or was never used before.
    fixture.clock.advance(Duration::from_secs(2));
    fixture.provider.update_account(fixture.provider.account(&account(&fixture).await).await.unwrap()).await.unwrap();
    assert_eq!(call_from(&fixture, "192.0.2.1", &good).await.status, 200);
    assert_eq!(call_from(&fixture, "192.0.2.1", &fixture.other_key).await.status, 200);
    assert_eq!(call_from(&fixture, "192.0.2.1", &bad).await.status, 429);
    fixture.clock.advance(Duration::from_secs(1));
    assert_eq!(call_from(&fixture, "192.0.2.1", &bad).await.status, 401);
}

async fn account(fixture: &Fixture) -> String {
    fixture.get("/account").await.field("id")
}

#[tokio::test]
async fn an_account_is_rate_limited_per_second() {
    let fixture = Fixture::with(ProviderConfig { requests_per_second_max: 5, ..ProviderConfig::default() }).await;
    for _ in 0..5 {
        assert_eq!(fixture.get("/app").await.status, 200);
    }
    let refused = fixture.get("/app").await;
    assert_eq!(
        (refused.status, refused.field("code").as_str(), retry_after(&refused)),
        (429, "too_many_requests", "1")
    );
    assert_eq!(limit(&refused), [r#""account";q=5;w=1"#, r#""account";r=0;t=1"#]);
    let of_other = fixture.call_as(Some(&fixture.other_key), "GET", "/app", &[], "").await;
    assert_eq!(of_other.status, 200, "the limit of one account applied to another");
    fixture.clock.advance(Duration::from_secs(1));
    let mut ours = fixture.provider.account(&account(&fixture).await).await.unwrap();
    ours.settings = AccountSettings { requests_per_second_max: Some(1_000), ..ours.settings };
    fixture.provider.update_account(ours).await.unwrap();
    for _ in 0..50 {
        assert_eq!(fixture.get("/app").await.status, 200, "the account's setting does not override the configuration");
    }
}

#[tokio::test]
async fn an_application_has_a_number_of_endpoints_unless_the_account_allows_more() {
    assert_eq!(ProviderConfig::default().endpoints_max, 1_000);
    let fixture = Fixture::with(ProviderConfig { endpoints_max: 50, ..ProviderConfig::default() }).await;
    fixture.application("app").await;
    for _ in 0..50 {
        fixture.endpoint().await;
    }
    let refused = fixture.post("/app/app/endpoint", r#"{"url":"https://example.com/hook"}"#).await;
    assert_eq!((refused.status, refused.field("code").as_str()), (400, "limit_reached"));
    assert!(refused.field("detail").contains("50"), "{}", refused.text);
    let mut ours = fixture.provider.account(&account(&fixture).await).await.unwrap();
    ours.settings.endpoints_max = Some(51);
    fixture.provider.update_account(ours).await.unwrap();
    fixture.endpoint().await;
    assert_eq!(fixture.post("/app/app/endpoint", r#"{"url":"https://example.com/hook"}"#).await.status, 400);
}

#[tokio::test]
async fn event_types_and_metadata_are_limited() {
    let fixture = Fixture::with(ProviderConfig { event_types_max: 2, ..ProviderConfig::default() }).await;
    let create = async |name: &str| fixture.post("/event-type", json!({"name": name, "description": "d"})).await.status;
    assert_eq!([create("a").await, create("b").await, create("c").await], [201, 201, 400]);
    assert_eq!(fixture.put("/event-type/c", json!({"description": "d"})).await.status, 400);
    assert_eq!(fixture.put("/event-type/b", json!({"description": "e"})).await.status, 200);
    assert_eq!(fixture.delete("/event-type/b").await.status, 204);
    assert_eq!(create("b").await, 201, "an archived event type counts towards the limit");

    let metadata = |entries: usize, bytes: usize| -> serde_json::Value {
        (0..entries).map(|number| (format!("key-{number}"), json!("x".repeat(bytes)))).collect()
    };
    for (entries, bytes, status) in [(256, 10, 201), (257, 10, 422), (9, 7_000, 201), (10, 7_000, 422)] {
        let body = json!({"name": "n", "metadata": metadata(entries, bytes)});
        assert_eq!(fixture.post("/app", body).await.status, status, "{entries} entries of {bytes} bytes");
    }
}
