//! Custom headers of endpoints.

use serde_json::{Value, json};

use crate::fixture::Fixture;

async fn fixture() -> (Fixture, String) {
    let fixture = Fixture::new().await;
    fixture.application("app").await;
    let path = format!("/app/app/endpoint/{}/headers", fixture.endpoint().await);
    (fixture, path)
}

#[tokio::test]
async fn headers_are_replaced_and_sensitive_values_are_hidden() {
    let (fixture, path) = fixture().await;
    fixture.get(&path).await.expect(200, &json!({"headers": {}, "sensitive": []}));
    let given =
        json!({"headers": {"X-Example": "123", "Authorization": "Bearer x", "x-api-key": "k", "Accept": "a/b"}});
    fixture.put(&path, &given).await.expect(204, &Value::Null);
    let shown = json!({"headers": {"Accept": "a/b", "X-Example": "123"}, "sensitive": ["Authorization", "x-api-key"]});
    fixture.get(&path).await.expect(200, &shown);
    fixture.put(&format!("{path}/"), json!({"headers": {"X-Other": ""}})).await.expect(204, &Value::Null);
    fixture.get(&path).await.expect(200, &json!({"headers": {"X-Other": ""}, "sensitive": []}));
}

#[tokio::test]
async fn a_patch_sets_and_removes_headers() {
    let (fixture, path) = fixture().await;
    for (patch, headers) in [
        (
            json!({"headers": {"X-One": "1", "X-Two": "2", "X-Three": "3"}}),
            json!({"X-One": "1", "X-Two": "2", "X-Three": "3"}),
        ),
        (json!({"headers": {"x-one": "new", "x-two": null}}), json!({"x-one": "new", "X-Three": "3"})),
        (json!({"headers": {}, "deleteHeaders": ["X-ONE", "x-none"]}), json!({"X-Three": "3"})),
        (json!({"deleteHeaders": ["x-three"]}), json!({})),
    ] {
        fixture.patch(&path, &patch).await.expect(204, &Value::Null);
        fixture.get(&path).await.expect(200, &json!({"headers": headers, "sensitive": []}));
    }
}

#[tokio::test]
async fn invalid_headers_are_refused_with_their_names() {
    let (fixture, path) = fixture().await;
    fixture.put(&path, json!({"headers": {"X-Kept": "1"}})).await;
    let long = "x".repeat(4_097);
    for (name, value) in [
        ("Svix-Id", "1"),
        ("X-Svix-Any", "1"),
        ("Webhook-Signature", "1"),
        ("X-Amz-Date", "1"),
        ("Lotwire-Ordering-Key", "1"),
        ("Accept-Encoding", "gzip"),
        ("User-Agent", "1"),
        ("Transfer-Encoding", "chunked"),
        ("Content-Length", "1"),
        ("Host", "elsewhere"),
        ("two words", "1"),
        ("", "1"),
        ("X-Break", "line\r\nX-Injected: yes"),
        ("X-Break", "line\nbreak"),
        ("X-Nul", "\0"),
        ("X-Long", &long),
    ] {
        for method in ["PUT", "PATCH"] {
            let body = json!({"headers": {name: value}}).to_string();
            let refused = fixture.call(method, &path, &body).await;
            assert_eq!(refused.status, 422, "{method} {name:?}: {}", refused.text);
            assert_eq!(refused.json()["detail"][0]["loc"], json!(["body", "headers", name]), "{}", refused.text);
        }
    }
    for body in [json!({}), json!({"headers": null}), json!({"headers": {"X-A": 1}}), json!({"headers": {"X-A": null}})]
    {
        assert_eq!(fixture.put(&path, &body).await.status, 422, "{body}");
    }
    let twice = fixture.put(&path, json!({"headers": {"X-A": "1", "x-a": "2"}})).await;
    assert_eq!(twice.status, 422);
    let both = fixture.patch(&path, json!({"headers": {"X-A": "1"}, "deleteHeaders": ["x-a"]})).await;
    assert_eq!((both.status, &both.json()["detail"][0]["loc"]), (422, &json!(["body", "deleteHeaders", "0"])));
    fixture.get(&path).await.expect(200, &json!({"headers": {"X-Kept": "1"}, "sensitive": []}));
    for method in ["GET", "PUT", "PATCH"] {
        let body = if method == "GET" { "" } else { r#"{"headers":{}}"# };
        assert_eq!(fixture.call(method, "/app/app/endpoint/none/headers", body).await.status, 404);
    }
}
