//! Background tasks: starting, listing and reading them.

use provider_core::ids;
use serde_json::{Value, json};

use crate::fixture::{Fixture, NOW};

const SINCE: &str = "2026-11-20T00:00:00.000Z";
/// An end of the time range after everything that happened at `NOW`.
const UNTIL: &str = "2026-11-21T06:28:03.127Z";

/// The application `app` with an endpoint; its path and id.
async fn endpoint(fixture: &Fixture) -> (String, String) {
    fixture.application("app").await;
    let id = fixture.endpoint().await;
    (format!("/app/app/endpoint/{id}"), id)
}

#[tokio::test]
async fn each_request_starts_a_task_that_reports_its_progress() {
    let fixture = Fixture::new().await;
    let (path, endpoint) = endpoint(&fixture).await;
    let app = fixture.get("/app/app").await.field("id");
    let mut made = Vec::new();
    for (operation, task, prefix) in [
        ("recover", "endpoint.recover", ids::ATTEMPT),
        ("replay-missing", "endpoint.replay", ids::MESSAGE),
        ("bulk-replay", "endpoint.bulk-replay", ids::MESSAGE),
    ] {
        let created = fixture.post(&format!("{path}/{operation}/"), json!({"since": SINCE})).await;
        let id = created.field("id");
        assert!(ids::is_id(&id, "qtask_"), "{id}");
        let position = ids::lowest_id_at(prefix, SINCE.parse().unwrap());
        let whole = json!({"id": id, "status": "running", "task": task, "updatedAt": NOW, "data": {
            "appId": app, "endpointId": endpoint, "since": SINCE, "until": UNTIL, "messagesFound": 0, "messagesSent": 0,
            "messagesDelivered": 0, "messagesFailed": 0, "messagesCancelled": 0, "messagesTakenOver": 0,
            "messagesWaiting": 0, "position": &*position}});
        created.expect(202, &whole);
        fixture.get(&format!("/background-task/{id}/")).await.expect(200, &whole);
        made.push(whole);
    }
    made.reverse();
    let listed = async |query: &str| fixture.get(&format!("/background-task{query}")).await.json()["data"].clone();
    assert_eq!(listed("").await, json!(made));
    assert_eq!(listed("?order=ascending&limit=1").await, json!([made[2]]));
    assert_eq!(listed("?task=endpoint.replay&status=running").await, json!([made[1]]));
    let after = format!("?limit=1&iterator={}", made[0]["id"].as_str().unwrap());
    assert_eq!(listed(&after).await, json!([made[1]]));
    for none in ["?status=finished", "?task=sdk.generate"] {
        assert_eq!(listed(none).await, json!([]));
    }
}

#[tokio::test]
async fn an_invalid_selection_is_refused() {
    let fixture = Fixture::new().await;
    let (path, _) = endpoint(&fixture).await;
    for (operation, body, field) in [
        ("recover", json!({}), "since"),
        ("recover", json!({"since": "yesterday"}), "since"),
        ("recover", json!({"since": "2026-11-01T00:00:00Z"}), "since"),
        ("recover", json!({"since": SINCE, "until": "2026-11-19T00:00:00Z"}), "since"),
        ("bulk-replay", json!({"since": SINCE, "status": 5}), "status"),
        ("bulk-replay", json!({"since": SINCE, "statusCodeClass": 404}), "statusCodeClass"),
        ("bulk-replay", json!({"since": SINCE, "eventTypes": []}), "eventTypes"),
        ("bulk-replay", json!({"since": SINCE, "channel": "a b"}), "channel"),
        ("bulk-replay", json!({"since": SINCE, "channels": ["c1"]}), "channels"),
        ("replay-missing", json!({"since": SINCE, "channel": "c1"}), "channel"),
        ("recover", json!({"since": SINCE, "untill": SINCE}), "untill"),
    ] {
        let refused = fixture.post(&format!("{path}/{operation}"), body).await;
        let text = refused.json()["detail"][0].to_string();
        assert!(refused.status == 422 && text.contains(field), "{}", refused.text);
    }
    for query in ["?status=paused", "?task=nothing", "?order=up", "?iterator=x", "?limit=251"] {
        assert_eq!(fixture.get(&format!("/background-task{query}")).await.status, 422, "{query}");
    }
    for path in ["/app/app/endpoint/none/recover", "/app/none/endpoint/none/bulk-replay"] {
        assert_eq!(fixture.post(path, json!({"since": SINCE})).await.status, 404);
    }
}

#[tokio::test]
async fn a_task_belongs_to_its_account_and_starts_once_for_an_idempotency_key() {
    let fixture = Fixture::new().await;
    let (path, _) = endpoint(&fixture).await;
    let request = async |since: &str| {
        let body = json!({"since": since}).to_string();
        let headers = [("idempotency-key", "auto_1")];
        fixture.call_as(Some(&fixture.key), "POST", &format!("{path}/recover"), &headers, &body).await
    };
    let first = request(SINCE).await;
    request(SINCE).await.expect(202, &first.json());
    assert_eq!(request("2026-11-20T00:00:00.001Z").await.status, 422);
    let listed: Value = fixture.get("/background-task").await.json();
    assert_eq!(listed["data"].as_array().unwrap().len(), 1);
    let task = format!("/background-task/{}", first.field("id"));
    let stranger = fixture.call_as(Some(&fixture.other_key), "GET", &task, &[], "").await;
    assert_eq!(stranger.status, 404);
    assert_eq!(fixture.call_as(None, "GET", &task, &[], "").await.status, 401);
}
