//! An invalid iterator, limit or header returns an error; the open-source server closes the connection.

use serde_json::json;

use crate::fixture::Fixture;

#[tokio::test]
async fn limits_and_iterators_are_checked() {
    let fixture = Fixture::new().await;
    fixture.application("app").await;
    let (endpoint, message) = (fixture.endpoint().await, fixture.message().await);
    for path in [
        "/app".to_owned(),
        "/event-type".to_owned(),
        "/app/app/endpoint".to_owned(),
        "/app/app/msg".to_owned(),
        format!("/app/app/attempt/msg/{message}"),
        format!("/app/app/attempt/endpoint/{endpoint}"),
    ] {
        for (query, status) in [
            ("limit=250", 200),
            ("limit=0", 200),
            ("limit=251", 422),
            ("limit=-1", 400),
            ("limit=many", 400),
            ("limit=", 400),
            ("limit=99999999999999999999", 422),
            ("limit=1&limit=2", 422),
            ("iterator=a%20b", 422),
            ("iterator=%00", 422),
            ("iterator=%ff%fe", 422),
            ("iterator=%0d%0a", 422),
            ("with_content=perhaps", 422),
            ("unknown=1&&=&%zz", 200),
        ] {
            let answer = fixture.get(&format!("{path}?{query}")).await;
            let status = if path == "/app" || path.ends_with("/app/endpoint") {
                // These lists have no content to leave out.
                if query.starts_with("with_content") { 200 } else { status }
            } else {
                status
            };
            assert_eq!(answer.status, status, "{path}?{query}: {}", answer.text);
        }
    }
    fixture.get("/app?limit=251").await.expect(
        422,
        &json!({"detail": [{"loc": ["query", "limit"], "msg": "must be at most 250", "type": "value_error"}]}),
    );
    let refused = fixture.get("/app?limit=x").await;
    refused.expect(400, &json!({"code": "invalid_limit", "detail": "limit must be a number from 0 to 250"}));
}

#[tokio::test]
async fn a_header_of_an_endpoint_with_a_line_break_is_refused() {
    let fixture = Fixture::new().await;
    fixture.application("app").await;
    let body = json!({"url": "https://example.com/", "headers": {"X-A": "b\r\nX-C: d"}});
    let refused = fixture.post("/app/app/endpoint", body).await;
    assert_eq!((refused.status, &refused.json()["detail"][0]["loc"]), (422, &json!(["body", "headers", "X-A"])));
}

#[tokio::test]
async fn a_patch_of_headers_with_a_line_break_is_refused_and_changes_nothing() {
    let fixture = Fixture::new().await;
    fixture.application("app").await;
    let path = format!("/app/app/endpoint/{}/headers", fixture.endpoint().await);
    for value in ["a\r\nb: c", "a\n", "\u{0}", "a\u{7f}"] {
        let refused = fixture.patch(&path, json!({"headers": {"x-a": value}})).await;
        assert_eq!((refused.status, &refused.json()["detail"][0]["loc"]), (422, &json!(["body", "headers", "x-a"])));
    }
    fixture.get(&path).await.expect(200, &json!({"headers": {}, "sensitive": []}));
}
