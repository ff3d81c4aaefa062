//! A key whose call was refused, or cut off, answers no 500 afterwards: it is free, or has its answer.

use serde_json::json;

use crate::fixture::Fixture;

#[tokio::test]
async fn a_key_of_a_refused_call_is_free_and_one_of_a_call_that_was_dropped_works() {
    let fixture = Fixture::new().await;
    fixture.application("app").await;
    let ask = async |body: &serde_json::Value| {
        let headers = [("idempotency-key", "auto_1")];
        fixture.call_as(Some(&fixture.key), "POST", "/app/app/msg", &headers, &body.to_string()).await
    };
    assert_eq!(ask(&json!({"eventType": "two words", "payload": {}})).await.status, 422);
    let body = json!({"eventType": "a.b", "payload": {}});
    // The client goes away before it is answered.
    drop(tokio::time::timeout(std::time::Duration::ZERO, ask(&body)).await);
    let first = ask(&body).await;
    assert_eq!(first.status, 202, "{}", first.text);
    first.expect(202, &ask(&body).await.json());
    assert_eq!(fixture.get("/app/app/msg").await.json()["data"].as_array().unwrap().len(), 1);
    assert_eq!(ask(&json!({"eventType": "a.b", "payload": {"another": 1}})).await.status, 422);
}
