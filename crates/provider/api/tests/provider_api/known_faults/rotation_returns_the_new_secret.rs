//! The response to a rotation contains the new secret, which current clients read, also when they repeat the request.

use serde_json::json;

use crate::fixture::Fixture;

const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

#[tokio::test]
async fn a_rotation_returns_the_new_secret() {
    let fixture = Fixture::new().await;
    fixture.application("app").await;
    let path = format!("/app/app/endpoint/{}/secret", fixture.endpoint().await);
    let given = fixture.post(&format!("{path}/rotate"), json!({"key": SECRET, "gracePeriodSeconds": 0})).await;
    given.expect(200, &json!({"key": SECRET}));
    fixture.get(&path).await.expect(200, &json!({"key": SECRET}));
    // A client may send an empty body.
    let made = fixture.post(&format!("{path}/rotate/"), "").await;
    assert_eq!((made.status, made.field("key") != SECRET), (200, true));
    fixture.get(&path).await.expect(200, &made.json());
    for (body, field) in
        [(json!({"gracePeriodSeconds": 604_801}), "gracePeriodSeconds"), (json!({"key": "short"}), "key")]
    {
        let refused = fixture.post(&format!("{path}/rotate"), body).await;
        assert_eq!((refused.status, &refused.json()["detail"][0]["loc"]), (422, &json!(["body", field])));
    }
}

#[tokio::test]
async fn a_repeated_rotation_with_an_idempotency_key_happens_once_and_stores_no_plain_secret() {
    let fixture = Fixture::new().await;
    fixture.application("app").await;
    let path = format!("/app/app/endpoint/{}/secret", fixture.endpoint().await);
    let rotate = async |body: &str| {
        let headers = [("idempotency-key", "auto_1")];
        fixture.call_as(Some(&fixture.key), "POST", &format!("{path}/rotate"), &headers, body).await
    };
    let first = rotate("{}").await;
    assert_eq!(first.status, 200, "{}", first.text);
    first.expect(200, &rotate("{}").await.json());
    fixture.get(&path).await.expect(200, &first.json());
    assert_eq!(rotate(r#"{"gracePeriodSeconds": 0}"#).await.status, 422, "another request under the key");
    let account = fixture.get("/account").await.field("id");
    let kept = format!("{:?}", fixture.store.idempotent_answer(&account, "auto_1").await.unwrap());
    assert!(kept.contains("Body") && !kept.contains(&first.field("key")), "{kept}");
    // Later rotations change neither the response nor that the request can be repeated.
    for _ in 0..9 {
        assert_eq!(fixture.post(&format!("{path}/rotate"), "{}").await.status, 200);
    }
    assert_eq!(fixture.post(&format!("{path}/rotate"), "{}").await.field("code"), "limit_reached");
    first.expect(200, &rotate("{}").await.json());
}
