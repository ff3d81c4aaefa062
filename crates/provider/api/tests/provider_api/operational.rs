//! Operational endpoints.

use provider_core::ids;
use serde_json::json;

use crate::fixture::{Fixture, NOW};

const PATH: &str = "/operational-webhook/endpoint";
const URL: &str = "https://example.com/operations";
const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

#[tokio::test]
async fn an_operational_endpoint_is_created_read_replaced_and_deleted() {
    let fixture = Fixture::new().await;
    assert_eq!(fixture.get(PATH).await.json()["data"], json!([]));
    let created = fixture.post(PATH, json!({"url": URL})).await;
    let id = created.field("id");
    assert!(ids::is_id(&id, "ep_"), "{id}");
    created.expect(
        201,
        &json!({"id": id, "url": URL, "description": "", "disabled": false, "createdAt": NOW, "updatedAt": NOW,
            "metadata": {}, "uid": null, "throttleRate": null, "rateLimit": null, "eventTypes": null, "filterTypes": null}),
    );
    let path = format!("{PATH}/{id}");
    let given = json!({"url": URL, "uid": "ops", "description": "d", "disabled": true, "throttleRate": 7,
        "eventTypes": ["endpoint.disabled", "message.attempt.failing"], "metadata": {"k": "v"}});
    let mut whole = given.clone();
    for (name, value) in [
        ("id", json!(id)),
        ("createdAt", json!(NOW)),
        ("updatedAt", json!(NOW)),
        // The former names of older clients.
        ("rateLimit", json!(7)),
        ("filterTypes", given["eventTypes"].clone()),
    ] {
        whole[name] = value;
    }
    fixture.put(&path, &given).await.expect(200, &whole);
    fixture.get(&format!("{PATH}/ops/")).await.expect(200, &whole);
    let other = fixture.put(&format!("{PATH}/unknown"), json!({"url": URL})).await;
    assert_eq!(other.status, 201);
    let listed = fixture.get(PATH).await.json();
    assert_eq!(listed["data"], json!([other.json(), whole]), "newest first");
    for status in [204, 404] {
        assert_eq!(fixture.delete(&path).await.status, status);
    }
}

#[tokio::test]
async fn an_operational_endpoint_has_a_throttle_rate_and_an_ordering() {
    let fixture = Fixture::new().await;
    let created = fixture.post(PATH, json!({"url": URL, "uid": "ops", "rateLimit": 5, "ordering": "key"})).await.json();
    assert_eq!((&created["throttleRate"], &created["rateLimit"]), (&json!(5), &json!(5)));
    assert_eq!(created["ordering"], "key");
    let path = format!("{PATH}/ops");
    for (given, rate, ordering) in [
        (json!({"url": URL, "throttleRate": 6}), json!(6), json!("key")),
        (json!({"url": URL, "ordering": "none"}), json!(null), json!(null)),
    ] {
        let put = fixture.put(&path, given).await.json();
        assert_eq!((&put["rateLimit"], &put["ordering"]), (&rate, &ordering));
        fixture.put(&path, json!({"url": URL, "uid": "ops", "ordering": ordering, "rateLimit": rate})).await;
    }
    for wrong in [json!({"url": URL, "rateLimit": 0}), json!({"url": URL, "ordering": "time"})] {
        assert_eq!(fixture.post(PATH, wrong).await.status, 422);
    }
}

#[tokio::test]
async fn the_secret_and_headers_are_read_and_changed() {
    let fixture = Fixture::new().await;
    let given = json!({"url": URL, "secret": SECRET, "headers": {"X-Key": "1", "Authorization": "hidden"}});
    let created = fixture.post(PATH, given).await;
    let path = format!("{PATH}/{}", created.field("id"));
    fixture.get(&format!("{path}/secret")).await.expect(200, &json!({"key": SECRET}));
    let rotated = fixture.post(&format!("{path}/secret/rotate"), json!({"gracePeriodSeconds": 60})).await;
    assert_eq!((rotated.status, rotated.text.as_str()), (204, ""));
    assert_ne!(fixture.get(&format!("{path}/secret")).await.field("key"), SECRET);
    let headers = format!("{path}/headers");
    fixture.get(&headers).await.expect(200, &json!({"headers": {"X-Key": "1"}, "sensitive": ["Authorization"]}));
    assert_eq!(fixture.put(&headers, json!({"headers": {"x-other": "2"}})).await.status, 204);
    fixture.get(&headers).await.expect(200, &json!({"headers": {"x-other": "2"}, "sensitive": []}));
    assert_eq!(fixture.put(&headers, json!({"headers": {"svix-id": "2"}})).await.status, 422);
}

#[tokio::test]
async fn only_operational_event_types_are_accepted() {
    let fixture = Fixture::new().await;
    fixture.put("/event-type/a.b", json!({"description": ""})).await;
    // Also under the former name of older clients.
    for (name, event_type, status) in [
        ("eventTypes", "a.b", 422),
        ("eventTypes", "endpoint.created", 201),
        ("filterTypes", "a.b", 422),
        ("filterTypes", "endpoint.created", 201),
    ] {
        let answer = fixture.post(PATH, json!({"url": URL, name: [event_type]})).await;
        assert_eq!(answer.status, status, "{}", answer.text);
    }
    let own = fixture.get("/event-type").await.json();
    assert_eq!(own["data"].as_array().unwrap().len(), 1, "operational event types are listed among the account's own");
}

#[tokio::test]
async fn another_account_and_an_application_can_not_read_an_operational_endpoint() {
    let fixture = Fixture::new().await;
    let created = fixture.post(PATH, json!({"url": URL, "uid": "ops"})).await;
    let path = format!("{PATH}/{}", created.field("id"));
    for (method, path) in [("GET", path.clone()), ("DELETE", path.clone()), ("GET", format!("{path}/secret"))] {
        let stranger = fixture.call_as(Some(&fixture.other_key), method, &path, &[], "").await;
        assert_eq!(stranger.status, 404, "{method} {path}");
    }
    let theirs = fixture.call_as(Some(&fixture.other_key), "GET", PATH, &[], "").await;
    assert_eq!(theirs.json()["data"], json!([]));
    assert_eq!(fixture.get("/app").await.json()["data"], json!([]));
    for path in ["/app/operational", "/app/operational/endpoint", "/app/operational/msg"] {
        assert_eq!(fixture.get(path).await.status, 404, "{path}");
    }
}
