//! Statistics of an endpoint, and sending it an example.

use provider_core::ids;
use provider_core::model::{Attempt, AttemptStatus, AttemptTrigger};
use provider_core::port::{AttemptEvent, AttemptRecord, DeliveryOutcome, EndpointEffect};
use serde_json::{Value, json};

use crate::fixture::{Fixture, NOW};

async fn fixture() -> (Fixture, String) {
    let fixture = Fixture::new().await;
    fixture.application("app").await;
    let id = fixture.endpoint().await;
    (fixture, id)
}

#[tokio::test]
async fn attempts_and_waiting_deliveries_are_counted_within_the_time_range() {
    let (fixture, endpoint) = fixture().await;
    let path = format!("/app/app/endpoint/{endpoint}/stats");
    let counted = |success, fail, pending, sending| json!({"success": success, "pending": pending, "sending": sending, "fail": fail, "canceled": 0});
    fixture.get(&path).await.expect(200, &counted(0, 0, 0, 0));
    let messages = [fixture.message().await, fixture.message().await, fixture.message().await];
    let application = fixture.get("/app/app").await.field("id");
    let attempt = |message: &str, ended: &str, status, next| AttemptRecord {
        attempt: Attempt {
            id: ids::lowest_id_at(ids::ATTEMPT, ended.parse().unwrap()).into(),
            message: message.into(),
            endpoint: endpoint.as_str().into(),
            application: application.as_str().into(),
            url: "https://example.com/hook".into(),
            status,
            response_status_code: 200,
            response: String::new(),
            failure_detail: None,
            response_headers: String::new(),
            times: None,
            response_duration_ms: 1,
            trigger: AttemptTrigger::Scheduled,
            at: ended.parse().unwrap(),
        },
        outcome: next,
        endpoint: EndpointEffect::None,
        notice: AttemptEvent::None,
    };
    let again = DeliveryOutcome::Retry { at: NOW.parse().unwrap(), attempts: 1 };
    let records = vec![
        attempt(&messages[0], "2026-11-21T06:00:00Z", AttemptStatus::Success, DeliveryOutcome::Done),
        attempt(&messages[1], "2026-11-20T06:00:00Z", AttemptStatus::Fail, again),
        attempt(&messages[1], "2026-10-20T06:00:00Z", AttemptStatus::Fail, again),
    ];
    fixture.store.record_attempts(records.into(), std::time::Duration::ZERO).await.unwrap();
    fixture.get(&format!("{path}/")).await.expect(200, &counted(1, 1, 1, 1));
    for (query, expected) in [
        ("since=2026-11-21T00:00:00Z", counted(1, 0, 1, 1)),
        ("since=2026-11-20T00:00:00.000Z&until=2026-11-21T00:00:00%2B00:00", counted(0, 1, 0, 0)),
        ("since=2026-10-20T06:00:00+00:00&until=2026-11-01T00:00:00Z", counted(0, 1, 0, 0)),
        ("until=2026-10-20T06:00:00Z", counted(0, 0, 0, 0)),
    ] {
        fixture.get(&format!("{path}?{query}")).await.expect(200, &expected);
    }
}

#[tokio::test]
async fn an_invalid_time_range_is_refused() {
    let (fixture, endpoint) = fixture().await;
    let path = format!("/app/app/endpoint/{endpoint}/stats");
    for query in [
        "since=2026-10-01T00:00:00Z",
        "until=2026-11-22T00:00:00Z",
        "since=2026-11-20T00:00:00Z&until=2026-11-19T00:00:00Z",
    ] {
        let refused = fixture.get(&format!("{path}?{query}")).await;
        assert_eq!((refused.status, refused.field("code")), (400, "invalid_range".into()), "{query}");
    }
    let refused = fixture.get(&format!("{path}?until=yesterday")).await;
    assert_eq!((refused.status, &refused.json()["detail"][0]["loc"]), (422, &json!(["query", "until"])));
    assert_eq!(fixture.get("/app/app/endpoint/none/stats").await.status, 404);
}

#[tokio::test]
async fn an_example_comes_from_the_event_type_or_is_generated_from_its_schema() {
    let (fixture, endpoint) = fixture().await;
    let path = format!("/app/app/endpoint/{endpoint}/send-example");
    let schema = json!({"type": "object", "properties": {"status": {"enum": ["SOLD", "UNSOLD"]}}});
    let mut with_examples = schema.clone();
    with_examples["examples"] = json!([{"status": "SOLD", "n": 1}, {"status": "UNSOLD"}]);
    for (name, schemas) in [
        ("given", json!({"1": with_examples})),
        ("made", json!({"1": schema})),
        ("later", json!({"2": schema})),
        ("bare", Value::Null),
    ] {
        let created = fixture.post("/event-type", json!({"name": name, "description": "", "schemas": schemas})).await;
        assert_eq!(created.status, 201, "{}", created.text);
    }
    for (body, payload) in [
        (json!({"eventType": "svix.ping"}), json!({"success": true})),
        (json!({"eventType": "given"}), json!({"status": "SOLD", "n": 1})),
        (json!({"eventType": "given", "exampleIndex": 1}), json!({"status": "UNSOLD"})),
        (json!({"eventType": "made", "exampleIndex": 5}), json!({"status": "SOLD"})),
    ] {
        let sent = fixture.post(&path, &body).await;
        let message = sent.json();
        assert_eq!((sent.status, &message["payload"], &message["eventType"]), (200, &payload, &body["eventType"]));
        fixture.get(&format!("/app/app/msg/{}", message["id"].as_str().unwrap())).await.expect(200, &message);
    }
    for name in ["later", "bare"] {
        let refused = fixture.post(&path, json!({"eventType": name})).await;
        assert_eq!((refused.status, refused.field("code")), (400, "invalid_scheme".into()), "{name}");
    }
    for (body, field) in [
        (json!({"eventType": "given", "exampleIndex": 2}), "exampleIndex"),
        (json!({"eventType": "two words"}), "eventType"),
    ] {
        let refused = fixture.post(&path, body).await;
        assert_eq!((refused.status, &refused.json()["detail"][0]["loc"]), (422, &json!(["body", field])));
    }
    assert_eq!(fixture.post(&path, json!({"eventType": "none"})).await.status, 404);
    assert_eq!(
        fixture.post("/app/app/endpoint/none/send-example", json!({"eventType": "svix.ping"})).await.status,
        404
    );
    fixture.patch(&format!("/app/app/endpoint/{endpoint}"), json!({"disabled": true})).await;
    let refused = fixture.post(&path, json!({"eventType": "svix.ping"})).await;
    assert_eq!((refused.status, refused.field("code")), (400, "endpoint_disabled".into()));
}

#[tokio::test]
async fn an_example_is_sent_to_its_endpoint_only_and_once_for_an_idempotency_key() {
    let (fixture, endpoint) = fixture().await;
    let other = fixture.endpoint().await;
    fixture.put("/event-type/a.b", json!({"description": ""})).await;
    let filtered = json!({"eventTypes": ["a.b"], "channels": ["c"]});
    assert_eq!(fixture.patch(&format!("/app/app/endpoint/{endpoint}"), filtered).await.status, 200);
    let path = format!("/app/app/endpoint/{endpoint}/send-example");
    let key = [("idempotency-key", "auto_1")];
    let send = async || fixture.call_as(Some(&fixture.key), "POST", &path, &key, r#"{"eventType":"svix.ping"}"#).await;
    let (first, second) = (send().await, send().await);
    assert_eq!((first.status, &first.text), (200, &second.text));
    assert_eq!(fixture.store.backlog(&endpoint).await.unwrap().deliveries, 1);
    assert_eq!(fixture.store.backlog(&other).await.unwrap().deliveries, 0);
}
