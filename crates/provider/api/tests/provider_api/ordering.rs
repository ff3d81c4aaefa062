//! Ordering keys in the API.

use serde_json::{Value, json};

use crate::fixture::Fixture;

const MESSAGE: &str = r#"{"eventType":"a.b","payload":{}}"#;

#[tokio::test]
async fn a_put_without_ordering_keeps_it() {
    let fixture = Fixture::new().await;
    fixture.application("app").await;
    let free = fixture.post("/app/app/endpoint", r#"{"url":"https://example.com/free","ordering":"none"}"#).await;
    assert_eq!((free.status, free.json().get("ordering")), (201, None));
    let created = fixture.post("/app/app/endpoint", r#"{"url":"https://example.com/","ordering":"key"}"#).await;
    assert_eq!(created.json()["ordering"], "key");
    let path = format!("/app/app/endpoint/{}", created.field("id"));
    let put = fixture.put(&path, r#"{"url":"https://example.com/other"}"#).await;
    assert_eq!(put.json()["ordering"], "key", "a PUT without the field changed the ordering");
    let put = fixture.put(&path, r#"{"url":"https://example.com/other","ordering":"none"}"#).await;
    assert_eq!(put.json().get("ordering"), None);
    assert_eq!(fixture.post("/app/app/endpoint", r#"{"url":"https://e.com/","ordering":"time"}"#).await.status, 422);
}

#[tokio::test]
async fn an_ordering_key_is_a_header_with_visible_characters() {
    let fixture = Fixture::new().await;
    fixture.application("app").await;
    let long = "k".repeat(257);
    let twice = [("lotwire-ordering-key", "a"), ("lotwire-ordering-key", "b")];
    let one = |key| [("lotwire-ordering-key", key)];
    let send = async |headers: &[(&str, &str)]| {
        fixture.call_as(Some(&fixture.key), "POST", "/app/app/msg", headers, MESSAGE).await
    };
    assert_eq!(send(&one("0193-a.b:c")).await.status, 202);
    for headers in [&one("")[..], &one("a b"), &one(&long), &twice] {
        let refused = send(headers).await;
        assert_eq!(refused.status, 422, "{headers:?}");
        assert_eq!(refused.json()["detail"][0]["loc"], json!(["header", "lotwire-ordering-key"]));
    }
}

#[tokio::test]
async fn another_ordering_key_is_another_request_for_an_idempotency_key() {
    let fixture = Fixture::new().await;
    fixture.application("app").await;
    let send = async |key: Option<&str>| {
        let key = key.map(|key| ("lotwire-ordering-key", key));
        let headers: Vec<_> = std::iter::once(("idempotency-key", "once")).chain(key).collect();
        fixture.call_as(Some(&fixture.key), "POST", "/app/app/msg", &headers, MESSAGE).await
    };
    let first = send(Some("a")).await;
    assert_eq!((first.status, send(Some("a")).await.field("id")), (202, first.field("id")));
    assert_eq!((send(Some("b")).await.status, send(None).await.status), (422, 422));
}

#[tokio::test]
async fn keys_that_are_not_blocked_are_neither_listed_nor_skipped() {
    let fixture = Fixture::new().await;
    fixture.application("app").await;
    let path = format!("/app/app/endpoint/{}/blocked-key", fixture.endpoint().await);
    fixture.get(&path).await.expect(200, &json!({"data": [], "iterator": Value::Null, "done": true}));
    for query in ["limit=0", "limit=251", "limit=x"] {
        assert_eq!(fixture.get(&format!("{path}?{query}")).await.status, 422, "{query}");
    }
    let skip = async |body: Value| fixture.post(&format!("{path}/skip"), body).await.status;
    assert_eq!(skip(json!({"key": "lot", "messageId": "msg_1"})).await, 404);
    assert_eq!(skip(json!({"key": "a lot", "messageId": "msg_1"})).await, 422);
    assert_eq!(skip(json!({"key": "lot"})).await, 422);
    let other = fixture.call_as(Some(&fixture.other_key), "GET", &path, &[], "").await;
    assert_eq!(other.status, 404);
}
