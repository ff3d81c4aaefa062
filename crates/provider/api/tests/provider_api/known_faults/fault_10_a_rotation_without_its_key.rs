//! Current clients read the new key from the answer to a rotation; it is there, also when they ask twice.

use serde_json::json;

use crate::stage::Stage;

const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

#[tokio::test]
async fn a_rotation_answers_with_the_new_secret() {
    let stage = Stage::new().await;
    stage.application("app").await;
    let path = format!("/app/app/endpoint/{}/secret", stage.endpoint().await);
    let given = stage.post(&format!("{path}/rotate"), json!({"key": SECRET, "gracePeriodSeconds": 0})).await;
    given.expect(200, &json!({"key": SECRET}));
    stage.get(&path).await.expect(200, &json!({"key": SECRET}));
    // A client may send nothing at all.
    let made = stage.post(&format!("{path}/rotate/"), "").await;
    assert_eq!((made.status, made.field("key") != SECRET), (200, true));
    stage.get(&path).await.expect(200, &made.json());
    for (body, field) in
        [(json!({"gracePeriodSeconds": 604_801}), "gracePeriodSeconds"), (json!({"key": "short"}), "key")]
    {
        let refused = stage.post(&format!("{path}/rotate"), body).await;
        assert_eq!((refused.status, &refused.json()["detail"][0]["loc"]), (422, &json!(["body", field])));
    }
}

#[tokio::test]
async fn a_rotation_asked_for_twice_with_a_key_is_one_and_its_secret_is_not_kept_in_the_clear() {
    let stage = Stage::new().await;
    stage.application("app").await;
    let path = format!("/app/app/endpoint/{}/secret", stage.endpoint().await);
    let rotate = async |body: &str| {
        let headers = [("idempotency-key", "auto_1")];
        stage.call_as(Some(&stage.key), "POST", &format!("{path}/rotate"), &headers, body).await
    };
    let first = rotate("{}").await;
    assert_eq!(first.status, 200, "{}", first.text);
    first.expect(200, &rotate("{}").await.json());
    stage.get(&path).await.expect(200, &first.json());
    assert_eq!(rotate(r#"{"gracePeriodSeconds": 0}"#).await.status, 422, "another request under the key");
    let account = stage.get("/account").await.field("id");
    let kept = format!("{:?}", stage.store.idempotent_answer(&account, "auto_1").await.unwrap());
    assert!(kept.contains("Body") && !kept.contains(&first.field("key")), "{kept}");
    // Others that were made since don't change what this one was answered with, nor that it can be repeated.
    for _ in 0..9 {
        assert_eq!(stage.post(&format!("{path}/rotate"), "{}").await.status, 200);
    }
    assert_eq!(stage.post(&format!("{path}/rotate"), "{}").await.field("code"), "limit_reached");
    first.expect(200, &rotate("{}").await.json());
}
