//! Attempts.

use provider_core::model::{Attempt, AttemptStatus, AttemptTrigger};
use provider_core::port::{AttemptEvent, AttemptRecord, DeliveryOutcome, EndpointEffect};
use serde_json::json;

use crate::fixture::{Fixture, NOW};

#[tokio::test]
async fn an_attempt_is_listed_by_message_and_by_endpoint_and_shown() {
    let fixture = Fixture::new().await;
    let application = fixture.application("app").await;
    let (endpoint, message) = (fixture.endpoint().await, fixture.message().await);
    let id = provider_core::ids::lowest_id_at(provider_core::ids::ATTEMPT, NOW.parse().unwrap());
    let attempt = Attempt {
        id: id.as_str().into(),
        message: message.as_str().into(),
        endpoint: endpoint.as_str().into(),
        application: application.as_str().into(),
        url: "https://example.com/hook".into(),
        status: AttemptStatus::Fail,
        response_status_code: 503,
        response: "busy".into(),
        failure_detail: None,
        response_headers: String::new(),
        times: None,
        response_duration_ms: 12,
        trigger: AttemptTrigger::Scheduled,
        at: NOW.parse().unwrap(),
    };
    let record = AttemptRecord {
        attempt,
        outcome: DeliveryOutcome::Done,
        endpoint: EndpointEffect::None,
        notice: AttemptEvent::None,
    };
    fixture.store.record_attempts(vec![record].into(), std::time::Duration::ZERO).await.unwrap();
    let whole = json!({"url": "https://example.com/hook", "response": "busy", "responseStatusCode": 503,
        "responseDurationMs": 12, "status": 2, "statusText": "fail", "triggerType": 0, "msgId": message,
        "endpointId": endpoint, "id": id, "timestamp": NOW});
    fixture.get(&format!("/app/app/msg/{message}/attempt/{id}")).await.expect(200, &whole);
    let page = json!({"data": [whole], "iterator": id, "prevIterator": format!("-{id}"), "done": true});
    for path in [format!("/app/app/attempt/msg/{message}/"), format!("/app/app/attempt/endpoint/{endpoint}")] {
        fixture.get(&path).await.expect(200, &page);
        let bare = fixture.get(&format!("{path}?with_content=false&expanded_statuses=true")).await.json();
        assert_eq!(bare["data"][0]["response"], "{}");
    }
    let unknown = format!("/app/app/msg/{message}/attempt/atmpt_{}", "1".repeat(27));
    assert_eq!(fixture.get(&unknown).await.status, 404);
}
