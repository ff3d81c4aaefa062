//! API keys: listing with their last use, and revoking.

use http::Method;
use platform_core::{Scope, Scopes};
use serde_json::{Value, json};

use crate::fixture::Fixture;

#[tokio::test]
async fn a_key_is_listed_with_its_last_use_before_and_after_it_is_revoked() {
    let fixture = Fixture::new();
    let customer = fixture.customer("First").await;
    let owner = fixture.key(Some(customer), Scopes::all()).await;
    let key =
        json!({ "name": "web site", "scopes": ["events:read", "auctions:read"], "expiresAt": "2099-01-01T00:00:00Z" });
    let made = fixture.make("/api/v1/api-keys", &owner, key).await;
    let (uuid, key) = (made["uuid"].as_str().unwrap(), made["key"].as_str().unwrap());
    let path = format!("/api/v1/api-keys/{uuid}");
    let one = async || fixture.call(&Method::GET, &path, &owner, &Value::Null).await.json();
    let unused = json!({
        "uuid": uuid, "name": "web site", "scopes": ["auctions:read", "events:read"], "customer": customer,
        "createdAt": made["createdAt"], "expiresAt": "2099-01-01T00:00:00.000Z", "lastUsedAt": null, "revokedAt": null,
    });
    assert_eq!(one().await, unused);
    let call = async || fixture.call(&Method::GET, "/api/v1/events", key, &Value::Null).await;
    assert_eq!(call().await.status, 200);
    assert_eq!(one().await["lastUsedAt"], made["createdAt"], "the last use is not at the time of the test clock");

    let first = fixture.call(&Method::GET, "/api/v1/api-keys?limit=1", &owner, &Value::Null).await.json();
    assert_eq!(first["data"][0]["name"], "test");
    let next = first["next"].as_str().unwrap();
    let rest = fixture.call(&Method::GET, &format!("/api/v1/api-keys?after={next}"), &owner, &Value::Null).await;
    let rest = rest.json();
    assert_eq!((&rest["data"], &rest["next"]), (&json!([one().await]), &Value::Null));
    for secret in [key, "hash"] {
        assert!(!first.to_string().contains(secret) && !rest.to_string().contains(secret), "{rest}");
    }

    for _ in 0..2 {
        let revoked = fixture.call(&Method::DELETE, &path, &owner, &Value::Null).await;
        assert_eq!((revoked.status, revoked.text.as_str()), (204, ""));
        let refused = call().await;
        assert_eq!((refused.status, refused.code().as_str()), (401, "unauthenticated"));
    }
    assert_eq!(one().await["revokedAt"], made["createdAt"]);
}

#[tokio::test]
async fn a_key_needs_the_scope_to_revoke_keys_and_may_revoke_itself() {
    let fixture = Fixture::new();
    let reader = fixture.key(None, [Scope::KeysRead].into_iter().collect()).await;
    let writer = fixture.key(None, [Scope::KeysWrite].into_iter().collect()).await;
    let listed = fixture.call(&Method::GET, "/api/v1/api-keys", &reader, &Value::Null).await.json();
    let path = |index: usize| format!("/api/v1/api-keys/{}", listed["data"][index]["uuid"].as_str().unwrap());
    let forbidden = fixture.call(&Method::DELETE, &path(1), &reader, &Value::Null).await;
    assert_eq!((forbidden.status, forbidden.code().as_str()), (403, "forbidden"));
    assert_eq!(fixture.call(&Method::DELETE, &path(1), &writer, &Value::Null).await.status, 204);
    assert_eq!(fixture.call(&Method::GET, "/api/v1/api-keys", &writer, &Value::Null).await.status, 401);
    assert_eq!(fixture.call(&Method::GET, &path(1), &reader, &Value::Null).await.status, 200);
}

#[tokio::test]
async fn a_repeated_key_creation_makes_one_key_and_its_answer_is_sealed() {
    let fixture = Fixture::new();
    let owner = fixture.key(None, Scopes::all()).await;
    let bearer = format!("Bearer {owner}");
    let call = async |body: &Value| {
        let headers = [("authorization", bearer.as_str()), ("idempotency-key", "once")];
        fixture.send(&Method::POST, "/api/v1/api-keys", &headers, &body.to_string()).await
    };
    let wanted = json!({ "name": "web site", "scopes": ["events:read"] });
    let (first, again) = (call(&wanted).await, call(&wanted).await);
    assert_eq!((first.status, again.status, &first.text), (201, 201, &again.text));
    assert_eq!((first.header("idempotent-replayed"), again.header("idempotent-replayed")), (None, Some("true")));
    let key = first.json()["key"].as_str().unwrap().to_owned();
    assert_eq!(fixture.call(&Method::GET, "/api/v1/reference-data/countries", &key, &Value::Null).await.status, 200);
    let other = call(&json!({ "name": "other", "scopes": ["events:read"] })).await;
    assert_eq!((other.status, other.code().as_str()), (422, "idempotency_mismatch"));
    let listed = fixture.call(&Method::GET, "/api/v1/api-keys", &owner, &Value::Null).await.json();
    assert_eq!(listed["data"].as_array().unwrap().len(), 2, "{listed}");
    let kept = fixture.store.idempotent_answer(owner_of(&listed), "once").await.unwrap().unwrap();
    assert!(!kept.body.contains("lw_") && !kept.body.contains(&key[3..]), "{}", kept.body);
}

/// The first key.
fn owner_of(listed: &Value) -> uuid::Uuid {
    listed["data"][0]["uuid"].as_str().unwrap().parse().unwrap()
}
