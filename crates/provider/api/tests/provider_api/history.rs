//! History lists, resending, and expunging content.

use std::time::Duration;

use jiff::Timestamp;
use provider_core::ids;
use provider_core::model::{Attempt, AttemptStatus, AttemptTrigger};
use provider_core::port::{AttemptEvent, AttemptRecord, DeliveryOutcome, EndpointEffect};
use serde_json::{Value, json};

use crate::fixture::{Fixture, NOW};

/// Records an attempt to deliver a message to an endpoint.
async fn record(fixture: &Fixture, number: u32, whose: [&str; 3], code: u16, next: DeliveryOutcome) {
    let [application, endpoint, message] = whose;
    let succeeded = (200..300).contains(&code);
    let attempt = Attempt {
        id: attempt_id(number).as_str().into(),
        message: message.into(),
        endpoint: endpoint.into(),
        application: application.into(),
        url: "https://example.com/hook".into(),
        status: if succeeded { AttemptStatus::Success } else { AttemptStatus::Fail },
        response_status_code: code,
        response: format!("answer {number}"),
        failure_detail: None,
        response_headers: String::new(),
        times: None,
        response_duration_ms: 12,
        trigger: AttemptTrigger::Scheduled,
        at: NOW.parse().unwrap(),
    };
    fixture
        .store
        .record_attempts(
            vec![AttemptRecord { attempt, outcome: next, endpoint: EndpointEffect::None, notice: AttemptEvent::None }]
                .into(),
            Duration::ZERO,
        )
        .await
        .unwrap();
}

/// The id of an attempt made a little after now, ascending with its number.
fn attempt_id(number: u32) -> String {
    let at = NOW.parse::<Timestamp>().unwrap() + Duration::from_millis(4 * u64::from(number));
    ids::lowest_id_at(ids::ATTEMPT, at)
}

async fn listed(fixture: &Fixture, path: &str) -> Vec<String> {
    let answer = fixture.get(path).await;
    assert_eq!(answer.status, 200, "{path}: {}", answer.text);
    answer.json()["data"].as_array().unwrap().iter().map(|row| row["id"].as_str().unwrap().to_owned()).collect()
}

async fn send(fixture: &Fixture, event_type: &str, more: Value) -> String {
    let mut body = json!({"eventType": event_type, "payload": {"a": 1}});
    body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    let sent = fixture.post("/app/app/msg", body).await;
    assert_eq!(sent.status, 202, "{}", sent.text);
    sent.field("id")
}

#[tokio::test]
async fn messages_are_listed_by_channel_tag_type_and_time() {
    let fixture = Fixture::new().await;
    fixture.application("app").await;
    let plain = send(&fixture, "a.b", json!({})).await;
    let channel = send(&fixture, "a.c", json!({"channels": ["one", "two"]})).await;
    let tag = send(&fixture, "a.d", json!({"tags": ["t"], "channels": ["two"]})).await;
    let all = || vec![tag.clone(), channel.clone(), plain.clone()];
    for (query, expected) in [
        ("", all()),
        ("?channel=one", vec![channel.clone()]),
        ("?channel=two&tag=t", vec![tag.clone()]),
        ("?event_types=a.b,a.c", vec![channel.clone(), plain.clone()]),
        ("?event_types=a.b&event_types=a.d", vec![tag.clone(), plain.clone()]),
        ("?event_types[]=a.b&event_types[1]=x", vec![plain.clone()]),
        ("?before=2026-11-21T06:28:03Z", vec![]),
        ("?after=2026-11-21T06:28:03Z", all()),
        ("?after=2026-11-21T06%3A28%3A03%2B00%3A00&before=2026-11-21T07:28:04.000001Z", all()),
        ("?after=2026-11-21T06:28:03+00:00&before=2026-11-21T08:28:04+01:00", all()),
        ("?after=2026-11-21T06:28:03%2000:00", all()),
        ("?after=2026-11-21%2006:28:03%2000:00", all()),
        ("?after=2026-11-21T06:28:04Z", vec![]),
        ("?limit=1&tag=t", vec![tag.clone()]),
        ("?unknown=1", all()),
    ] {
        assert_eq!(listed(&fixture, &format!("/app/app/msg{query}")).await, expected, "{query}");
    }
    let bare = fixture.get("/app/app/msg?with_content=false").await.json();
    assert_eq!(bare["data"][0]["payload"], json!({}));
    // A filtered list is paged like any other.
    let first = fixture.get("/app/app/msg?channel=two&limit=1").await.json();
    assert_eq!((&first["done"], &first["iterator"]), (&json!(false), &json!(tag)));
    let second = fixture.get(&format!("/app/app/msg?channel=two&limit=1&iterator={tag}")).await.json();
    assert_eq!((&second["done"], &second["data"][0]["id"]), (&json!(true), &json!(channel)));
    assert_eq!(listed(&fixture, &format!("/app/app/msg?channel=two&iterator=-{channel}")).await, [tag]);
}

#[tokio::test]
async fn an_invalid_query_is_refused() {
    let fixture = Fixture::new().await;
    fixture.application("app").await;
    let (endpoint, message) = (fixture.endpoint().await, fixture.message().await);
    for (path, parameter) in [
        ("/app/app/msg?before=yesterday".to_owned(), "before"),
        ("/app/app/msg?after=1".to_owned(), "after"),
        ("/app/app/msg?channel=a%20b".to_owned(), "channel"),
        ("/app/app/msg?event_types=a,,b".to_owned(), "event_types"),
        ("/app/app/msg?status=0".to_owned(), "status"),
        ("/app/app/msg?endpoint_id=x".to_owned(), "endpoint_id"),
        (format!("/app/app/attempt/msg/{message}?status=5"), "status"),
        (format!("/app/app/attempt/msg/{message}?status=fail"), "status"),
        (format!("/app/app/attempt/msg/{message}?status_code_class=250"), "status_code_class"),
        (format!("/app/app/attempt/endpoint/{endpoint}?endpoint_id=x"), "endpoint_id"),
        (format!("/app/app/endpoint/{endpoint}/msg?status_code_class=200"), "status_code_class"),
    ] {
        let answer = fixture.get(&path).await;
        assert_eq!(answer.status, 422, "{path}: {}", answer.text);
        assert_eq!(answer.json()["detail"][0]["loc"], json!(["query", parameter]), "{path}");
    }
    assert_eq!(fixture.get("/app/app/msg?with_content=maybe").await.status, 422);
    assert_eq!(fixture.get(&format!("/app/app/attempt/msg/{message}?endpoint_id=none")).await.status, 404);
}

#[tokio::test]
async fn attempts_are_listed_by_outcome_and_with_their_messages() {
    let fixture = Fixture::new().await;
    let application = fixture.application("app").await;
    let endpoint = fixture.endpoint().await;
    let one = send(&fixture, "a.b", json!({"channels": ["one"]})).await;
    let two = fixture.message().await;
    let retry = DeliveryOutcome::Retry { at: NOW.parse().unwrap(), attempts: 1 };
    for (number, message, code, next) in
        [(1, &one, 500, retry), (2, &one, 200, DeliveryOutcome::Done), (3, &two, 0, DeliveryOutcome::Done)]
    {
        record(&fixture, number, [&application, &endpoint, message], code, next).await;
    }
    let id = attempt_id;
    for (query, expected) in [
        (format!("attempt/endpoint/{endpoint}"), vec![id(3), id(2), id(1)]),
        (format!("attempt/endpoint/{endpoint}?status=2"), vec![id(3), id(1)]),
        (format!("attempt/endpoint/{endpoint}?status_code_class=0"), vec![id(3)]),
        (format!("attempt/endpoint/{endpoint}?channel=one&status_code_class=500"), vec![id(1)]),
        (format!("attempt/endpoint/{endpoint}?event_types=a.b&limit=2"), vec![id(3), id(2)]),
        (format!("attempt/endpoint/{endpoint}?before={NOW}"), vec![]),
        (format!("attempt/endpoint/{endpoint}?status=4&expanded_statuses=true"), vec![]),
        (format!("attempt/msg/{one}?endpoint_id={endpoint}&status=0"), vec![id(2)]),
        (format!("attempt/msg/{one}?channel=two"), vec![]),
        (format!("attempt/msg/{one}?channel=one&event_types=a.b"), vec![id(2), id(1)]),
        (format!("msg/{one}/attempt"), vec![id(2), id(1)]),
        (format!("msg/{one}/endpoint/{endpoint}/attempt/"), vec![id(2), id(1)]),
    ] {
        assert_eq!(listed(&fixture, &format!("/app/app/{query}")).await, expected, "{query}");
    }
    let with_messages =
        fixture.get(&format!("/app/app/attempt/endpoint/{endpoint}?with_msg=true&with_content=false")).await;
    let row = &with_messages.json()["data"][2];
    let message = json!({"id": one, "eventType": "a.b", "payload": {}, "channels": ["one"], "timestamp": NOW, "eventId": null, "tags": null,
        "deliverAt": null});
    assert_eq!((&row["msg"], &row["response"]), (&message, &json!("{}")));
    let without = fixture.get(&format!("/app/app/attempt/endpoint/{endpoint}")).await;
    assert_eq!(without.json()["data"][2].get("msg"), None);
}

#[tokio::test]
async fn a_message_has_the_status_that_each_of_its_two_lists_defines() {
    let fixture = Fixture::new().await;
    let application = fixture.application("app").await;
    let (endpoint, message) = (fixture.endpoint().await, fixture.message().await);
    let in_message = format!("/app/app/msg/{message}/endpoint/");
    let at_endpoint = format!("/app/app/endpoint/{endpoint}/msg/");
    let pending = fixture.get(&in_message).await.json();
    let rows = json!([{"id": endpoint, "status": 1, "statusText": "pending", "nextAttempt": NOW, "url": "https://example.com/hook",
        "description": "", "disabled": false, "createdAt": NOW, "updatedAt": NOW, "metadata": {}, "version": 1, "uid": null,
        "throttleRate": null, "rateLimit": null, "eventTypes": null, "filterTypes": null, "channels": null}]);
    let alone = fixture.get(&format!("/app/app/endpoint/{endpoint}")).await.json();
    assert!(alone.as_object().unwrap().iter().all(|(name, value)| pending["data"][0][name] == *value));
    assert_eq!((&pending["data"], &pending["done"]), (&rows, &json!(true)));
    assert_eq!(listed(&fixture, &at_endpoint).await, [""; 0], "a message without an attempt is listed");

    let later = "2026-11-21T06:33:03.123Z";
    let retry = DeliveryOutcome::Retry { at: later.parse().unwrap(), attempts: 1 };
    record(&fixture, 1, [&application, &endpoint, &message], 500, retry).await;
    let destination = &fixture.get(&in_message).await.json()["data"][0];
    assert_eq!((&destination["statusText"], &destination["nextAttempt"]), (&json!("fail"), &json!(later)));
    let attempted = &fixture.get(&at_endpoint).await.json()["data"][0];
    let expected = json!({"id": message, "eventType": "a.b", "payload": {}, "timestamp": NOW, "status": 3,
        "statusText": "sending", "nextAttempt": later, "eventId": null, "channels": null, "tags": null, "deliverAt": null});
    assert_eq!(attempted, &expected);
    for (status, count) in [(0, 0), (1, 0), (2, 0), (3, 1), (4, 0)] {
        assert_eq!(listed(&fixture, &format!("{at_endpoint}?status={status}")).await.len(), count, "{status}");
    }
    record(&fixture, 2, [&application, &endpoint, &message], 204, DeliveryOutcome::Done).await;
    let attempted = &fixture.get(&format!("{at_endpoint}?status=0")).await.json()["data"][0];
    assert_eq!((&attempted["status"], &attempted["nextAttempt"]), (&json!(0), &Value::Null));

    // A deleted endpoint has the fields that its attempts recorded.
    fixture.delete(&format!("/app/app/endpoint/{endpoint}")).await;
    let gone = &fixture.get(&in_message).await.json()["data"][0];
    assert_eq!(
        (&gone["disabled"], &gone["url"], &gone["status"], &gone["version"]),
        (&json!(true), &json!("https://example.com/hook"), &json!(0), &json!(1))
    );
    for path in ["/app/app/msg/none/endpoint", "/app/app/endpoint/none/msg"] {
        assert_eq!(fixture.get(path).await.status, 404);
    }
}

#[tokio::test]
async fn destinations_are_paged_by_endpoint() {
    let fixture = Fixture::new().await;
    fixture.application("app").await;
    let mut endpoints = Vec::new();
    for _ in 0..3 {
        endpoints.push(fixture.endpoint().await);
    }
    let path = format!("/app/app/msg/{}/endpoint", fixture.message().await);
    assert_eq!(listed(&fixture, &path).await, endpoints);
    let first = fixture.get(&format!("{path}?limit=2")).await.json();
    assert_eq!((&first["done"], &first["iterator"]), (&json!(false), &json!(endpoints[1])));
    assert_eq!(listed(&fixture, &format!("{path}?limit=2&iterator={}", endpoints[1])).await, endpoints[2..]);
    assert_eq!(listed(&fixture, &format!("{path}?limit=1&iterator=-{}", endpoints[2])).await, endpoints[1..2]);
    assert_eq!(fixture.get(&format!("{path}?iterator=msg_x")).await.status, 422);
}

#[tokio::test]
async fn expunged_content_is_marked_as_such_and_is_not_resent() {
    let fixture = Fixture::new().await;
    let application = fixture.application("app").await;
    let (endpoint, message) = (fixture.endpoint().await, fixture.message().await);
    record(&fixture, 1, [&application, &endpoint, &message], 500, DeliveryOutcome::Done).await;
    let id = attempt_id(1);
    let attempt = format!("/app/app/msg/{message}/attempt/{id}");
    let resend = format!("/app/app/msg/{message}/endpoint/{endpoint}/resend/");
    fixture.post(&resend, "").await.expect(202, &json!({}));
    assert_eq!(fixture.delete(&format!("{attempt}/content/")).await.status, 204);
    assert_eq!(fixture.get(&attempt).await.json()["response"], "EXPUNGED");
    assert_eq!(fixture.delete(&format!("/app/app/msg/{message}/content")).await.status, 204);
    assert_eq!(fixture.get(&format!("/app/app/msg/{message}")).await.json()["payload"], json!({"expired": true}));
    assert_eq!(fixture.get("/app/app/msg").await.json()["data"][0]["payload"], json!({"expired": true}));
    assert_eq!(fixture.get("/app/app/msg?with_content=false").await.json()["data"][0]["payload"], json!({}));
    let refused = fixture.post(&resend, "").await;
    assert_eq!((refused.status, refused.field("code")), (400, "missing_payload".to_owned()));
    for path in
        [format!("/app/app/msg/{message}/attempt/{}/content", attempt_id(2)), "/app/app/msg/none/content".into()]
    {
        assert_eq!(fixture.delete(&path).await.status, 404, "{path}");
    }
    // Records of another account return 404.
    let answer = fixture.call_as(Some(&fixture.other_key), "POST", &resend, &[], "").await;
    assert_eq!(answer.status, 404);
}

#[tokio::test]
async fn a_resend_with_an_idempotency_key_happens_once() {
    let fixture = Fixture::new().await;
    fixture.application("app").await;
    let (endpoint, message) = (fixture.endpoint().await, fixture.message().await);
    let resend = format!("/app/app/msg/{message}/endpoint/{endpoint}/resend");
    let key = [("idempotency-key", "auto_1")];
    let ask = async |path: &str| fixture.call_as(Some(&fixture.key), "POST", path, &key, "").await;
    ask(&resend).await.expect(202, &json!({}));
    fixture.put(&format!("/app/app/endpoint/{endpoint}"), r#"{"url":"https://example.com","disabled":true}"#).await;
    ask(&resend).await.expect(202, &json!({}));
    let disabled = fixture.post(&resend, "").await;
    assert_eq!((disabled.status, disabled.field("code")), (400, "endpoint_disabled".to_owned()));
    let other = send(&fixture, "a.b", json!({})).await;
    assert_eq!(ask(&format!("/app/app/msg/{other}/endpoint/{endpoint}/resend")).await.status, 422);
}
