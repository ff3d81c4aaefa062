//! An idempotency key whose request was refused or aborted works afterwards. With the open-source server it returns
//! 500.

use serde_json::json;

use crate::fixture::Fixture;

#[tokio::test]
async fn the_idempotency_key_of_a_refused_or_aborted_request_can_be_used_again() {
    let fixture = Fixture::new().await;
    fixture.application("app").await;
    let ask = async |body: &serde_json::Value| {
        let headers = [("idempotency-key", "auto_1")];
        fixture.call_as(Some(&fixture.key), "POST", "/app/app/msg", &headers, &body.to_string()).await
    };
    assert_eq!(ask(&json!({"eventType": "two words", "payload": {}})).await.status, 422);
    let body = json!({"eventType": "a.b", "payload": {}});
    // The client closes the connection before the response.
    drop(tokio::time::timeout(std::time::Duration::ZERO, ask(&body)).await);
    let first = ask(&body).await;
    assert_eq!(first.status, 202, "{}", first.text);
    first.expect(202, &ask(&body).await.json());
    assert_eq!(fixture.get("/app/app/msg").await.json()["data"].as_array().unwrap().len(), 1);
    assert_eq!(ask(&json!({"eventType": "a.b", "payload": {"another": 1}})).await.status, 422);
}
