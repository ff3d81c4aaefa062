//! Keys over HTTP: listed with their last use, and revoked.

use http::Method;
use platform::{Scope, Scopes};
use serde_json::{Value, json};

use crate::stage::Stage;

#[tokio::test]
async fn a_key_is_listed_with_its_last_use_until_it_is_revoked_and_after() {
    let stage = Stage::new();
    let customer = stage.customer("First").await;
    let owner = stage.key(Some(customer), Scopes::all()).await;
    let key = json!({ "name": "web site", "scopes": ["events:read", "auctions:read"], "expiresAt": "2099-01-01T00:00:00Z" });
    let made = stage.make("/api/v1/api-keys", &owner, key).await;
    let (uuid, key) = (made["uuid"].as_str().unwrap(), made["key"].as_str().unwrap());
    let path = format!("/api/v1/api-keys/{uuid}");
    let one = async || stage.ask(&Method::GET, &path, &owner, &Value::Null).await.json();
    let unused = json!({
        "uuid": uuid, "name": "web site", "scopes": ["auctions:read", "events:read"], "customer": customer,
        "createdAt": made["createdAt"], "expiresAt": "2099-01-01T00:00:00.000Z", "lastUsedAt": null, "revokedAt": null,
    });
    assert_eq!(one().await, unused);
    let ask = async || stage.ask(&Method::GET, "/api/v1/events", key, &Value::Null).await;
    assert_eq!(ask().await.status, 200);
    assert_eq!(one().await["lastUsedAt"], made["createdAt"], "the clock stands still");

    let first = stage.ask(&Method::GET, "/api/v1/api-keys?limit=1", &owner, &Value::Null).await.json();
    assert_eq!(first["data"][0]["name"], "test");
    let next = first["next"].as_str().unwrap();
    let rest = stage.ask(&Method::GET, &format!("/api/v1/api-keys?after={next}"), &owner, &Value::Null).await;
    let rest = rest.json();
    assert_eq!((&rest["data"], &rest["next"]), (&json!([one().await]), &Value::Null));
    for secret in [key, "hash"] {
        assert!(!first.to_string().contains(secret) && !rest.to_string().contains(secret), "{rest}");
    }

    for _ in 0..2 {
        let revoked = stage.ask(&Method::DELETE, &path, &owner, &Value::Null).await;
        assert_eq!((revoked.status, revoked.text.as_str()), (204, ""));
        let refused = ask().await;
        assert_eq!((refused.status, refused.code().as_str()), (401, "unauthenticated"));
    }
    assert_eq!(one().await["revokedAt"], made["createdAt"]);
}

#[tokio::test]
async fn a_key_that_only_reads_keys_revokes_none_and_one_may_revoke_itself() {
    let stage = Stage::new();
    let reader = stage.key(None, [Scope::KeysRead].into_iter().collect()).await;
    let writer = stage.key(None, [Scope::KeysWrite].into_iter().collect()).await;
    let listed = stage.ask(&Method::GET, "/api/v1/api-keys", &reader, &Value::Null).await.json();
    let path = |index: usize| format!("/api/v1/api-keys/{}", listed["data"][index]["uuid"].as_str().unwrap());
    let forbidden = stage.ask(&Method::DELETE, &path(1), &reader, &Value::Null).await;
    assert_eq!((forbidden.status, forbidden.code().as_str()), (403, "forbidden"));
    assert_eq!(stage.ask(&Method::DELETE, &path(1), &writer, &Value::Null).await.status, 204);
    assert_eq!(stage.ask(&Method::GET, "/api/v1/api-keys", &writer, &Value::Null).await.status, 401);
    assert_eq!(stage.ask(&Method::GET, &path(1), &reader, &Value::Null).await.status, 200);
}
