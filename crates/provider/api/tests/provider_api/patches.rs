//! PATCH of an application, an endpoint or an event type.

use serde_json::{Value, json};

use crate::fixture::Fixture;

const URL: &str = "https://example.com/hook";

/// The fields of the body with these names; null for an absent one.
fn picked(body: &Value, names: &[&str]) -> Value {
    names.iter().map(|name| ((*name).to_owned(), body[name].clone())).collect::<serde_json::Map<_, _>>().into()
}

/// Sends each patch in turn and compares the result with the expected one.
async fn tell(fixture: &Fixture, path: &str, steps: &[(Value, Value)]) {
    for (patch, expected) in steps {
        let names: Vec<&str> = expected.as_object().unwrap().keys().map(String::as_str).collect();
        let answer = fixture.patch(path, patch).await;
        assert_eq!((answer.status, &picked(&answer.json(), &names)), (200, expected), "{patch}");
        assert_eq!(fixture.get(path).await.text, answer.text);
    }
}

#[tokio::test]
async fn a_patch_of_an_application_changes_the_given_fields() {
    let fixture = Fixture::new().await;
    fixture
        .post("/app", json!({"name": "n", "uid": "house", "throttleRate": 5, "metadata": {"a": "1", "b": "2"}}))
        .await;
    let id = fixture.get("/app/house").await.field("id");
    let all = |name: &str, uid: Value, rate: Value, metadata: Value| json!({"name": name, "uid": uid, "throttleRate": rate, "rateLimit": rate, "metadata": metadata, "id": id});
    let both = json!({"a": "1", "b": "2"});
    let steps = [
        (json!({}), all("n", json!("house"), json!(5), both.clone())),
        (json!({"name": "new"}), all("new", json!("house"), json!(5), both.clone())),
        (json!({"uid": null}), all("new", Value::Null, json!(5), both.clone())),
        (json!({"uid": "barn", "rateLimit": 7}), all("new", json!("barn"), json!(7), both.clone())),
        (json!({"throttleRate": 8, "rateLimit": 8}), all("new", json!("barn"), json!(8), both.clone())),
        (json!({"throttleRate": null}), all("new", json!("barn"), Value::Null, both)),
        (json!({"metadata": {"c": "3"}}), all("new", json!("barn"), Value::Null, json!({"c": "3"}))),
    ];
    tell(&fixture, &format!("/app/{id}"), &steps).await;
}

#[tokio::test]
async fn a_patch_of_an_endpoint_changes_the_given_fields_and_keeps_secret_and_headers() {
    let fixture = Fixture::new().await;
    fixture.application("app").await;
    for name in ["a.b", "c.d"] {
        fixture.put(&format!("/event-type/{name}"), json!({"description": ""})).await;
    }
    let given = json!({"url": URL, "uid": "hook", "filterTypes": ["a.b"], "channels": ["c1"], "rateLimit": 3,
        "headers": {"X-Key": "1"}, "metadata": {"k": "v"}, "version": 1});
    let created = fixture.post("/app/app/endpoint", given).await;
    let path = format!("/app/app/endpoint/{}", created.field("id"));
    let secret = fixture.get(&format!("{path}/secret")).await.text;
    // An event type of the endpoint may have been deleted.
    fixture.delete("/event-type/a.b?expunge=true").await;
    let steps = [
        (json!({}), json!({"eventTypes": ["a.b"], "filterTypes": ["a.b"], "throttleRate": 3, "rateLimit": 3})),
        (json!({"description": "d", "disabled": true}), json!({"description": "d", "disabled": true, "uid": "hook"})),
        (json!({"url": "https://example.org/"}), json!({"url": "https://example.org/", "description": "d"})),
        (json!({"filterTypes": ["c.d"]}), json!({"eventTypes": ["c.d"], "channels": ["c1"]})),
        (json!({"eventTypes": null}), json!({"eventTypes": null, "filterTypes": null, "channels": ["c1"]})),
        (json!({"channels": ["x", "y"]}), json!({"channels": ["x", "y"]})),
        (json!({"channels": null, "uid": null}), json!({"channels": null, "uid": null, "metadata": {"k": "v"}})),
        (json!({"throttleRate": 9, "version": 1}), json!({"throttleRate": 9, "version": 1})),
        (json!({"rateLimit": null, "metadata": {}}), json!({"throttleRate": null, "rateLimit": null, "metadata": {}})),
        (json!({"disabled": false}), json!({"disabled": false, "url": "https://example.org/"})),
    ];
    tell(&fixture, &path, &steps).await;
    assert_eq!(fixture.get(&format!("{path}/secret")).await.text, secret);
    fixture.get(&format!("{path}/headers")).await.expect(200, &json!({"headers": {"X-Key": "1"}, "sensitive": []}));
}

#[tokio::test]
async fn a_patch_of_an_event_type_changes_the_given_fields() {
    let fixture = Fixture::new().await;
    let schemas = json!({"1": {"type": "object"}});
    let given =
        json!({"name": "a.b", "description": "d", "schemas": schemas, "featureFlags": ["f", "e"], "groupName": "g"});
    assert_eq!(fixture.post("/event-type", given).await.status, 201);
    let steps = [
        (json!({}), json!({"description": "d", "schemas": schemas, "featureFlags": ["e", "f"], "featureFlag": "e"})),
        (json!({"description": "new"}), json!({"description": "new", "schemas": schemas, "groupName": "g"})),
        (json!({"archived": true, "deprecated": true}), json!({"archived": true, "deprecated": true})),
        (json!({"archived": false}), json!({"archived": false, "deprecated": true})),
        (json!({"schemas": {"2": {"type": "string"}}}), json!({"schemas": {"2": {"type": "string"}}})),
        (json!({"schemas": null}), json!({"schemas": null, "featureFlags": ["e", "f"]})),
        (json!({"featureFlag": "h"}), json!({"featureFlags": ["h"], "featureFlag": "h"})),
        (json!({"featureFlags": ["j"], "groupName": null}), json!({"featureFlags": ["j"], "groupName": null})),
        (json!({"featureFlags": null}), json!({"featureFlags": null, "featureFlag": null})),
    ];
    tell(&fixture, "/event-type/a.b", &steps).await;
}

#[tokio::test]
async fn a_patch_of_an_unknown_record_returns_404() {
    let fixture = Fixture::new().await;
    fixture.application("app").await;
    for path in ["/app/none", "/app/app/endpoint/none", "/app/none/endpoint/none", "/event-type/none"] {
        fixture.patch(path, "{}").await.expect(404, &json!({"code": "not_found", "detail": "not found"}));
    }
    let filter = json!({"eventTypes": ["none"]});
    assert_eq!(fixture.patch("/app/app/endpoint/none", filter).await.status, 404);
}

#[tokio::test]
async fn an_invalid_patch_changes_nothing() {
    let fixture = Fixture::new().await;
    fixture.application("app").await;
    fixture.application("other").await;
    let endpoint = format!("/app/app/endpoint/{}", fixture.endpoint().await);
    fixture.post("/app/app/endpoint", json!({"url": URL, "uid": "taken"})).await;
    fixture.post("/event-type", json!({"name": "a.b", "description": ""})).await;
    for (path, field, patch) in [
        ("/app/app", "name", json!({"name": ""})),
        ("/app/app", "name", json!({"name": null})),
        ("/app/app", "name", json!({"name": "bell \u{7}"})),
        ("/app/app", "metadata", json!({"metadata": null})),
        ("/app/app", "throttleRate", json!({"throttleRate": 0})),
        ("/app/app", "rateLimit", json!({"rateLimit": 70_000})),
        ("/app/app", "rateLimit", json!({"rateLimit": 0})),
        ("/app/app", "uid", json!({"uid": "app_x"})),
        (&endpoint, "url", json!({"url": "nowhere"})),
        (&endpoint, "url", json!({"url": null})),
        (&endpoint, "disabled", json!({"disabled": null})),
        (&endpoint, "description", json!({"description": null})),
        (&endpoint, "eventTypes", json!({"eventTypes": []})),
        (&endpoint, "filterTypes", json!({"filterTypes": ["no.such"]})),
        (&endpoint, "filterTypes", json!({"filterTypes": []})),
        (&endpoint, "rateLimit", json!({"rateLimit": 0})),
        (&endpoint, "channels", json!({"channels": []})),
        (&endpoint, "version", json!({"version": 0})),
        (&endpoint, "version", json!({"version": "two"})),
        ("/event-type/a.b", "description", json!({"description": null})),
        ("/event-type/a.b", "archived", json!({"archived": "yes"})),
        ("/event-type/a.b", "schemas", json!({"schemas": {"1": {"type": "words"}}})),
        ("/event-type/a.b", "featureFlag", json!({"featureFlag": "a", "featureFlags": ["b"]})),
        ("/event-type/a.b", "featureFlags", json!({"featureFlags": ["two words"]})),
    ] {
        let before = fixture.get(path).await.text;
        let refused = fixture.patch(path, &patch).await;
        assert_eq!(refused.status, 422, "{patch}: {}", refused.text);
        assert_eq!(refused.json()["detail"][0]["loc"][1], field, "{patch}: {}", refused.text);
        assert_eq!(fixture.get(path).await.text, before);
    }
    let twice = fixture.patch(&endpoint, json!({"filterTypes": null, "eventTypes": ["a.b"]})).await;
    assert_eq!(twice.status, 422, "two lists for one: {}", twice.text);
    for (path, uid) in [("/app/app", "other"), (&endpoint, "taken")] {
        assert_eq!(fixture.patch(path, json!({"uid": uid})).await.status, 409);
    }
}

#[tokio::test]
async fn applications_are_left_out_of_a_list_by_their_endpoints() {
    let fixture = Fixture::new().await;
    for (uid, endpoints) in [
        ("none", vec![]),
        ("disabled", vec![json!({"url": URL, "disabled": true})]),
        ("play", vec![json!({"url": "https://play.svix.com/in/c_1/"})]),
        ("used", vec![json!({"url": URL}), json!({"url": URL, "disabled": true})]),
    ] {
        fixture.application(uid).await;
        for endpoint in endpoints {
            assert_eq!(fixture.post(&format!("/app/{uid}/endpoint"), endpoint).await.status, 201);
        }
    }
    let list = async |query: &str| {
        let page = fixture.get(&format!("/app?{query}")).await.json();
        let uids: Vec<String> =
            page["data"].as_array().unwrap().iter().map(|row| row["uid"].as_str().unwrap().to_owned()).collect();
        uids.join(" ")
    };
    assert_eq!(list("").await, "none disabled play used");
    assert_eq!(list("exclude_apps_with_no_endpoints=true").await, "disabled play used");
    assert_eq!(list("exclude_apps_with_disabled_endpoints=true").await, "none play used");
    assert_eq!(list("exclude_apps_with_svix_play_endpoints=true&order=descending").await, "used disabled none");
    assert_eq!(list("exclude_apps_with_no_endpoints=false").await, "none disabled play used");
    assert_eq!(fixture.get("/app?exclude_apps_with_no_endpoints=perhaps").await.status, 422);
}
