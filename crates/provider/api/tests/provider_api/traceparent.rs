//! The header `traceparent`: an option of an endpoint, and the caller's position in a trace.

use crate::fixture::Fixture;

const HOOK: &str = r#"{"url":"https://example.com/hook"}"#;

#[tokio::test]
async fn an_endpoint_asks_for_the_header_and_a_put_without_the_field_keeps_it() {
    let fixture = Fixture::new().await;
    fixture.application("app").await;
    let silent = fixture.post("/app/app/endpoint", HOOK).await;
    assert_eq!((silent.status, silent.json().get("traceparent")), (201, None));
    let asks = r#"{"url":"https://example.com/asks","traceparent":true}"#;
    let created = fixture.post("/app/app/endpoint", asks).await;
    assert_eq!(created.json()["traceparent"], true);
    let path = format!("/app/app/endpoint/{}", created.field("id"));
    assert_eq!(fixture.put(&path, HOOK).await.json()["traceparent"], true, "a PUT without the field changed it");
    let patched = fixture.patch(&path, r#"{"traceparent":false}"#).await;
    assert_eq!((patched.status, patched.json().get("traceparent")), (200, None));
    assert_eq!(fixture.patch(&path, r#"{"description":"x"}"#).await.json().get("traceparent"), None);
    assert_eq!(fixture.patch(&path, r#"{"traceparent":"yes"}"#).await.status, 422);
}
