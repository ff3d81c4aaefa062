//! Background tasks: asked for, listed and seen.

use provider_core::ids;
use serde_json::{Value, json};

use crate::stage::{NOW, Stage};

const SINCE: &str = "2026-11-20T00:00:00.000Z";
/// Nothing that happened at `NOW` is left out.
const UNTIL: &str = "2026-11-21T06:28:03.127Z";

/// The application `app` with an endpoint; its path and id.
async fn endpoint(stage: &Stage) -> (String, String) {
    stage.application("app").await;
    let id = stage.endpoint().await;
    (format!("/app/app/endpoint/{id}"), id)
}

#[tokio::test]
async fn each_request_makes_a_task_that_says_how_far_it_is() {
    let stage = Stage::new().await;
    let (path, endpoint) = endpoint(&stage).await;
    let app = stage.get("/app/app").await.field("id");
    let mut made = Vec::new();
    for (operation, task, prefix) in [
        ("recover", "endpoint.recover", ids::ATTEMPT),
        ("replay-missing", "endpoint.replay", ids::MESSAGE),
        ("bulk-replay", "endpoint.bulk-replay", ids::MESSAGE),
    ] {
        let created = stage.post(&format!("{path}/{operation}/"), json!({"since": SINCE})).await;
        let id = created.field("id");
        assert!(ids::is_id(&id, "qtask_"), "{id}");
        let position = ids::first_at(prefix, SINCE.parse().unwrap());
        let whole = json!({"id": id, "status": "running", "task": task, "updatedAt": NOW, "data": {
            "appId": app, "endpointId": endpoint, "since": SINCE, "until": UNTIL, "messagesFound": 0, "messagesSent": 0,
            "position": &*position}});
        created.expect(202, &whole);
        stage.get(&format!("/background-task/{id}/")).await.expect(200, &whole);
        made.push(whole);
    }
    made.reverse();
    let listed = async |query: &str| stage.get(&format!("/background-task{query}")).await.json()["data"].clone();
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
async fn what_selects_nothing_sensible_is_refused() {
    let stage = Stage::new().await;
    let (path, _) = endpoint(&stage).await;
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
        let refused = stage.post(&format!("{path}/{operation}"), body).await;
        let text = refused.json()["detail"][0].to_string();
        assert!(refused.status == 422 && text.contains(field), "{}", refused.text);
    }
    for query in ["?status=paused", "?task=nothing", "?order=up", "?iterator=x", "?limit=251"] {
        assert_eq!(stage.get(&format!("/background-task{query}")).await.status, 422, "{query}");
    }
    for path in ["/app/app/endpoint/none/recover", "/app/none/endpoint/none/bulk-replay"] {
        assert_eq!(stage.post(path, json!({"since": SINCE})).await.status, 404);
    }
}

#[tokio::test]
async fn a_task_is_its_accounts_and_asked_for_once() {
    let stage = Stage::new().await;
    let (path, _) = endpoint(&stage).await;
    let ask = async |since: &str| {
        let body = json!({"since": since}).to_string();
        let headers = [("idempotency-key", "auto_1")];
        stage.call_as(Some(&stage.key), "POST", &format!("{path}/recover"), &headers, &body).await
    };
    let first = ask(SINCE).await;
    ask(SINCE).await.expect(202, &first.json());
    assert_eq!(ask("2026-11-20T00:00:00.001Z").await.status, 422);
    let listed: Value = stage.get("/background-task").await.json();
    assert_eq!(listed["data"].as_array().unwrap().len(), 1);
    let task = format!("/background-task/{}", first.field("id"));
    let stranger = stage.call_as(Some(&stage.other_key), "GET", &task, &[], "").await;
    assert_eq!(stranger.status, 404);
    assert_eq!(stage.call_as(None, "GET", &task, &[], "").await.status, 401);
}
