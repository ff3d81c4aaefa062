//! Every operation returns each status that the OpenAPI document declares for it, and each response matches the
//! declared schema (`our_document`, `document`). Statuses that these tests can't provoke are listed here.

use std::collections::{BTreeMap, BTreeSet};

use provider_core::ids;
use provider_core::model::{Attempt, AttemptStatus, AttemptTrigger};
use provider_core::port::{AttemptEvent, AttemptRecord, DeliveryOutcome, EndpointEffect};
use serde_json::{Value, json};

use crate::document::operations;
use crate::fixture::{Answer, Fixture, NOW};
use crate::our_document::{self, OURS};
use crate::refusals::{guarded, text};

/// Bytes of a body above every limit except that of an import.
const TOO_LARGE: usize = 3 * 1024 * 1024;
const TOO_LARGE_TO_IMPORT: usize = 9 * 1024 * 1024;

/// A fixture that records the statuses of the responses.
struct SeenStatuses {
    fixture: Fixture,
    seen: BTreeMap<String, BTreeSet<u16>>,
    /// A request that may have changed a record of the fixture was accepted.
    is_changed: bool,
}

impl SeenStatuses {
    async fn ask(
        &mut self,
        key: Option<&str>,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &str,
    ) -> Answer {
        let answer = self.fixture.call_as(key, method, path, headers, body).await;
        let path = format!("/api/v1{}", path.split('?').next().unwrap());
        let name = our_document::name(&method.parse().unwrap(), &path).unwrap_or_else(|| panic!("{method} {path}"));
        self.seen.entry(name).or_default().insert(answer.status);
        self.is_changed |= method != "GET" && answer.status < 400;
        answer
    }

    /// Makes a request with the account's key.
    async fn call(&mut self, status: u16, method: &str, path: &str, body: Value) -> Answer {
        let key = self.fixture.key.clone();
        let answer = self.ask(Some(&key), method, path, &[], &text(&body)).await;
        assert_eq!(answer.status, status, "{method} {path} {body}: {}", answer.text);
        answer
    }
}

/// Statuses that the test does not provoke, and why.
fn can_not_be_provoked(name: &str, status: u16) -> bool {
    match status {
        // Other tests provoke a slow body and a failing store.
        408 | 503 => true,
        // Every valid token may call these operations.
        403 => matches!(
            name,
            "v1.application.get"
                | "v1.event-type.get"
                | "v1.event-type.list"
                | "v1.endpoint.get"
                | "v1.endpoint.list"
                | "v1.endpoint.get-stats"
                | "v1.endpoint.get-attempt-stats"
                | "v1.message.get"
                | "v1.message.list"
                | "v1.message-attempt.get"
                | "v1.message-attempt.list-by-msg"
                | "v1.message-attempt.list-by-endpoint"
                | "v1.message-attempt.list-attempted-messages"
                | "v1.message-attempt.list-attempted-destinations"
                | "v1.authentication.whoami"
                | "v1.background-task.get"
                | "lotwire.endpoint.blocked-keys"
        ),
        // Needs an attempt in progress.
        409 => matches!(name, "lotwire.endpoint.skip-blocked-key" | "lotwire.endpoint.retry-blocked-key"),
        _ => false,
    }
}

#[tokio::test]
async fn every_operation_returns_each_status_that_the_document_declares() {
    let mut ledger = SeenStatuses { fixture: Fixture::new().await, seen: BTreeMap::new(), is_changed: false };
    succeed(&mut ledger).await;
    conflict(&mut ledger).await;
    refuse(&mut ledger).await;
    let mut missing = Vec::new();
    for (_, _, operation) in operations(&OURS) {
        let name = operation["operationId"].as_str().unwrap();
        for status in operation["responses"].as_object().unwrap().keys() {
            let status: u16 = status.parse().unwrap();
            let seen = ledger.seen.get(name).is_some_and(|seen| seen.contains(&status));
            if !seen && !can_not_be_provoked(name, status) {
                missing.push(format!("{name} {status}"));
            }
        }
    }
    assert!(missing.is_empty(), "never answered:\n{}", missing.join("\n"));
}

/// Calls every operation successfully.
async fn succeed(ledger: &mut SeenStatuses) {
    for path in ["/health", "/health/ping"] {
        ledger.call(204, "GET", path, Value::Null).await;
    }
    ledger.call(200, "GET", "/account", Value::Null).await;
    ledger.call(200, "PATCH", "/account", json!({"payloadCheck": "off", "unknownEventTypes": "warn"})).await;
    ledger.call(200, "GET", "/auth/whoami", Value::Null).await;
    event_types(ledger).await;
    let application = json!({"name": "House", "uid": "app"});
    let id = ledger.call(201, "POST", "/app", application.clone()).await.field("id");
    ledger.call(200, "POST", "/app?get_if_exists=true", application.clone()).await;
    ledger.call(201, "PUT", "/app/spare", json!({"name": "Spare", "uid": "spare"})).await;
    ledger.call(200, "PUT", "/app/spare", json!({"name": "Spare", "uid": "spare"})).await;
    ledger.call(200, "PATCH", "/app/app", json!({"throttleRate": 9})).await;
    ledger.call(200, "GET", "/app/app", Value::Null).await;
    ledger.call(200, "GET", "/app", Value::Null).await;
    let endpoint = endpoints(ledger).await;
    messages(ledger, &id, &endpoint).await;
    operational(ledger).await;
    tokens(ledger).await;
    ledger.call(204, "DELETE", "/app/spare", Value::Null).await;
}

async fn event_types(ledger: &mut SeenStatuses) {
    ledger.call(201, "POST", "/event-type", json!({"name": "a.b", "description": "d"})).await;
    ledger.call(201, "PUT", "/event-type/c.d", json!({"description": "d", "schemas": {"1": {"type": "object"}}})).await;
    ledger.call(200, "PUT", "/event-type/c.d", json!({"description": "d", "featureFlags": ["early"]})).await;
    ledger.call(200, "PATCH", "/event-type/c.d", json!({"deprecated": true})).await;
    ledger.call(200, "GET", "/event-type/c.d", Value::Null).await;
    ledger.call(200, "GET", "/event-type?with_content=true&include_archived=true", Value::Null).await;
    ledger.call(204, "DELETE", "/event-type/c.d?expunge=true", Value::Null).await;
    let spec = json!({"openapi": "3.1.0", "webhooks": {"e.f": {"post": {"description": "d", "requestBody":
        {"content": {"application/json": {"schema": {"type": "object"}}}}}}}});
    ledger.call(200, "POST", "/event-type/import/openapi", json!({"spec": spec, "dryRun": true})).await;
    ledger.call(200, "POST", "/event-type/import/openapi", json!({"spec": spec})).await;
}

/// The remaining endpoint.
async fn endpoints(ledger: &mut SeenStatuses) -> String {
    let hook = json!({"url": "https://example.com/hook", "uid": "hook", "eventTypes": ["a.b"], "channels": ["lots"],
        "throttleRate": 5, "ordering": "key", "headers": {"x-a": "1"}, "metadata": {"a": "b"}, "description": "d"});
    let endpoint = ledger.call(201, "POST", "/app/app/endpoint", hook.clone()).await.field("id");
    let path = format!("/app/app/endpoint/{endpoint}");
    let spare = json!({"url": "https://example.com/spare", "uid": "spare"});
    ledger.call(201, "PUT", "/app/app/endpoint/spare", spare.clone()).await;
    ledger.call(200, "PUT", "/app/app/endpoint/spare", spare).await;
    ledger.call(200, "GET", &path, Value::Null).await;
    ledger.call(200, "GET", "/app/app/endpoint", Value::Null).await;
    ledger.call(200, "PATCH", &path, json!({"eventTypes": null, "channels": null, "ordering": "none"})).await;
    ledger.call(204, "PUT", &format!("{path}/headers"), json!({"headers": {"x-b": "1", "authorization": "x"}})).await;
    ledger.call(204, "PATCH", &format!("{path}/headers"), json!({"headers": {"x-b": null}})).await;
    ledger.call(200, "GET", &format!("{path}/headers"), Value::Null).await;
    ledger.call(200, "GET", &format!("{path}/secret"), Value::Null).await;
    ledger.call(200, "POST", &format!("{path}/secret/rotate"), json!({})).await;
    ledger.call(200, "GET", &format!("{path}/stats"), Value::Null).await;
    ledger.call(200, "GET", &format!("{path}/attempt-stats"), Value::Null).await;
    ledger.call(200, "GET", &format!("{path}/blocked-key"), Value::Null).await;
    ledger.call(200, "POST", &format!("{path}/send-example"), json!({"eventType": "svix.ping"})).await;
    ledger.call(204, "DELETE", "/app/app/endpoint/spare", Value::Null).await;
    endpoint
}

async fn messages(ledger: &mut SeenStatuses, application: &str, endpoint: &str) {
    let whole = json!({"eventType": "a.b", "eventId": "m.1", "payload": {"a": 1}, "channels": ["lots"], "tags": ["t"],
        "payloadRetentionPeriod": 5});
    let message = ledger.call(202, "POST", "/app/app/msg", whole).await.field("id");
    let of_endpoint = format!("/app/app/endpoint/{endpoint}");
    blocked(ledger, application, &of_endpoint).await;
    ledger.call(200, "GET", &format!("/app/app/msg/{message}"), Value::Null).await;
    ledger.call(200, "GET", "/app/app/msg?channel=lots&tag=t&event_types=a.b", Value::Null).await;
    ledger.call(200, "POST", "/app/app/msg/precheck/active", json!({"eventType": "a.b"})).await;
    let attempt = ids::lowest_id_at(ids::ATTEMPT, NOW.parse().unwrap());
    record(&ledger.fixture, [application, endpoint, &message], &attempt, DeliveryOutcome::Done).await;
    ledger.call(200, "GET", &format!("/app/app/msg/{message}/attempt/{attempt}"), Value::Null).await;
    ledger
        .call(200, "GET", &format!("/app/app/attempt/msg/{message}?status=2&status_code_class=500"), Value::Null)
        .await;
    ledger.call(200, "GET", &format!("/app/app/attempt/endpoint/{endpoint}?with_msg=true"), Value::Null).await;
    ledger.call(200, "GET", &format!("{of_endpoint}/msg"), Value::Null).await;
    ledger.call(200, "GET", &format!("/app/app/msg/{message}/endpoint"), Value::Null).await;
    let since = json!({"since": "2026-11-20T00:00:00Z"});
    for word in ["recover", "replay-missing", "bulk-replay"] {
        let task = ledger.call(202, "POST", &format!("{of_endpoint}/{word}"), since.clone()).await.field("id");
        ledger.call(200, "GET", &format!("/background-task/{task}"), Value::Null).await;
    }
    ledger.call(202, "POST", &format!("/app/app/msg/{message}/endpoint/{endpoint}/resend"), Value::Null).await;
    ledger.call(204, "DELETE", &format!("/app/app/msg/{message}/attempt/{attempt}/content"), Value::Null).await;
    ledger.call(204, "DELETE", &format!("/app/app/msg/{message}/content"), Value::Null).await;
    // An expunged message can't be resent.
    ledger.call(400, "POST", &format!("/app/app/msg/{message}/endpoint/{endpoint}/resend"), Value::Null).await;
    let some = ledger.call(200, "POST", "/app/app/msg/bulk-expunge", json!({"ids": ["m.1", "m.2"]})).await;
    assert_eq!(some.json(), json!({"results": {"m.1": "expunged", "m.2": "not-found"}}));
    let task = ledger.call(202, "POST", "/app/app/msg/expunge-all-contents", Value::Null).await.json();
    assert_eq!((&task["task"], &task["data"]["messagesPurged"]), (&json!("application.purge_content"), &json!(0)));
    ledger.call(200, "GET", "/background-task?task=application.purge_content", Value::Null).await;
    ledger.call(400, "GET", &format!("{of_endpoint}/stats?since=2020-01-01T00:00:00Z"), Value::Null).await;
    ledger.call(400, "GET", &format!("{of_endpoint}/attempt-stats?since=2020-01-01T00:00:00Z"), Value::Null).await;
}

/// An ordering key is blocked by a failed message, which is then retried and skipped.
async fn blocked(ledger: &mut SeenStatuses, application: &str, of_endpoint: &str) {
    ledger.call(200, "PATCH", of_endpoint, json!({"ordering": "key"})).await;
    let key = ledger.fixture.key.clone();
    let order = [("lotwire-ordering-key", "lot")];
    let body = r#"{"eventType":"a.b","payload":{}}"#;
    let sent = ledger.ask(Some(&key), "POST", "/app/app/msg", &order, body).await.field("id");
    let endpoint = of_endpoint.rsplit('/').next().unwrap().to_owned();
    let retry = DeliveryOutcome::Retry { at: NOW.parse().unwrap(), attempts: 1 };
    let attempt = ids::lowest_id_at(ids::ATTEMPT, NOW.parse().unwrap());
    record(&ledger.fixture, [application, &endpoint, &sent], &attempt, retry).await;
    let listed = ledger.call(200, "GET", &format!("{of_endpoint}/blocked-key"), Value::Null).await.json();
    assert_eq!(listed["data"][0]["messageId"], json!(sent));
    let head = json!({"key": "lot", "messageId": sent});
    let retry = format!("{of_endpoint}/blocked-key/retry");
    ledger.call(200, "PATCH", of_endpoint, json!({"disabled": true})).await;
    ledger.call(400, "POST", &retry, head.clone()).await;
    ledger.call(200, "PATCH", of_endpoint, json!({"disabled": false})).await;
    ledger.call(204, "POST", &retry, head.clone()).await;
    ledger.call(204, "POST", &format!("{of_endpoint}/blocked-key/skip"), head).await;
}

async fn record(fixture: &Fixture, [application, endpoint, message]: [&str; 3], id: &str, next: DeliveryOutcome) {
    let attempt = Attempt {
        id: id.into(),
        message: message.into(),
        endpoint: endpoint.into(),
        application: application.into(),
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
    let record = AttemptRecord { attempt, outcome: next, endpoint: EndpointEffect::None, notice: AttemptEvent::None };
    fixture.store.record_attempts(vec![record].into(), std::time::Duration::ZERO).await.unwrap();
}

async fn operational(ledger: &mut SeenStatuses) {
    let hook = json!({"url": "https://example.com/ours", "uid": "ours"});
    ledger.call(201, "POST", "/operational-webhook/endpoint", hook.clone()).await;
    ledger
        .call(201, "PUT", "/operational-webhook/endpoint/b", json!({"url": "https://example.com/b", "uid": "b"}))
        .await;
    ledger.call(200, "PUT", "/operational-webhook/endpoint/ours", hook).await;
    ledger.call(200, "GET", "/operational-webhook/endpoint", Value::Null).await;
    let path = "/operational-webhook/endpoint/ours";
    ledger.call(200, "GET", path, Value::Null).await;
    ledger.call(200, "GET", &format!("{path}/secret"), Value::Null).await;
    ledger.call(204, "POST", &format!("{path}/secret/rotate"), json!({})).await;
    ledger.call(204, "PUT", &format!("{path}/headers"), json!({"headers": {"x-a": "1"}})).await;
    ledger.call(200, "GET", &format!("{path}/headers"), Value::Null).await;
    ledger.call(204, "DELETE", "/operational-webhook/endpoint/b", Value::Null).await;
}

async fn tokens(ledger: &mut SeenStatuses) {
    let token = ledger.call(200, "POST", "/auth/app-portal-access/app", json!({})).await.field("token");
    assert_eq!(ledger.ask(Some(&token), "POST", "/auth/logout", &[], "").await.status, 204);
    ledger.call(204, "POST", "/auth/app/app/expire-all", json!({})).await;
}

/// Calls every operation without a key, with a read-only token, for unknown records, above the rate limit, and with an
/// unreadable body.
async fn refuse(ledger: &mut SeenStatuses) {
    let (mut hurried, mut reader) = (String::new(), String::new());
    ledger.is_changed = true;
    for (method, path, body) in guarded() {
        // Each operation finds unchanged records.
        if std::mem::take(&mut ledger.is_changed) {
            ledger.fixture = Fixture::new().await;
            ledger.fixture.application("app").await;
            hurried = hurried_key(&ledger.fixture).await;
            reader = ledger.fixture.token(json!({"readOnly": true})).await;
        }
        let key = ledger.fixture.key.clone();
        let body = text(&body);
        let filled = |app: &str| path.replace("{app_id}", app).replace(['{', '}'], "");
        let there = filled("app");
        ledger.ask(None, &method, &there, &[], &body).await;
        ledger.ask(Some(&reader), &method, &there, &[], &body).await;
        assert_eq!(ledger.ask(Some(&hurried), &method, &there, &[], &body).await.status, 429, "{method} {there}");
        // A PUT creates the record, and a list of the account exists.
        if method != "PUT" || path.matches('{').count() > 1 || path.ends_with("/headers") {
            ledger.ask(Some(&key), &method, &filled("nowhere"), &[], &body).await;
        }
        ledger.ask(Some(&key), &method, &there, &[], &body).await;
        ledger.ask(Some(&key), &method, &there, &[("idempotency-key", "a b")], &body).await;
        ledger.ask(Some(&key), &method, &format!("{there}?limit=x"), &[], &body).await;
        ledger.ask(Some(&key), &method, &format!("{there}?limit=251"), &[], &body).await;
        if path.contains('{') {
            let nonsense = path.replace("{app_id}", "a%20b").replace('{', "%7B").replace('}', "");
            assert_eq!(ledger.ask(Some(&key), &method, &nonsense, &[], &body).await.status, 422, "{method} {nonsense}");
        }
        if !body.is_empty() {
            let bytes = if path.contains("/import/") { TOO_LARGE_TO_IMPORT } else { TOO_LARGE };
            let large = format!("{{\"name\":\"{}\"}}", "n".repeat(bytes));
            for (headers, sent) in
                [(&[("content-encoding", "gzip")][..], body.as_str()), (&[], "["), (&[], large.as_str())]
            {
                ledger.ask(Some(&key), &method, &there, headers, sent).await;
            }
        }
    }
}

/// A key of an account that has reached its rate limit.
async fn hurried_key(fixture: &Fixture) -> String {
    let account = fixture.provider.create_account("hurried").await.unwrap();
    let key = fixture.provider.create_api_key(&account.id, "key").await.unwrap().text;
    let mut account = fixture.provider.account(&account.id).await.unwrap();
    account.settings.requests_per_second_max = Some(1);
    fixture.provider.update_account(account).await.unwrap();
    fixture.call_as(Some(&key), "GET", "/app", &[], "").await;
    key
}

/// Conflicts with existing records, and limits that are reached.
async fn conflict(ledger: &mut SeenStatuses) {
    let (taken, other) = (json!({"name": "n", "uid": "app"}), json!({"name": "n", "uid": "other"}));
    ledger.call(409, "POST", "/app", taken.clone()).await;
    ledger.call(201, "POST", "/app", other).await;
    ledger.call(409, "PUT", "/app/other", taken.clone()).await;
    ledger.call(409, "PATCH", "/app/other", json!({"uid": "app"})).await;
    let hook = json!({"url": "https://example.com/", "uid": "hook"});
    ledger.call(409, "POST", "/app/app/endpoint", hook.clone()).await;
    let beside = json!({"url": "https://example.com/", "uid": "beside"});
    ledger.call(201, "POST", "/app/app/endpoint", beside).await;
    ledger.call(409, "PUT", "/app/app/endpoint/beside", hook).await;
    ledger.call(409, "PATCH", "/app/app/endpoint/beside", json!({"uid": "hook"})).await;
    ledger.call(409, "POST", "/event-type", json!({"name": "a.b", "description": "d"})).await;
    ledger.call(409, "POST", "/app/app/msg", json!({"eventType": "a.b", "eventId": "m.1", "payload": {}})).await;
    let ours = json!({"url": "https://example.com/", "uid": "ours"});
    ledger.call(409, "POST", "/operational-webhook/endpoint", ours.clone()).await;
    ledger.call(201, "POST", "/operational-webhook/endpoint", json!({"url": "https://example.com/", "uid": "c"})).await;
    ledger.call(409, "PUT", "/operational-webhook/endpoint/c", ours).await;
}
