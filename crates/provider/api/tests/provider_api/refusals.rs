//! Requests that operations refuse: without a key, of another account, with an invalid body, path or header.

use axum::body::Body;
use http::{HeaderValue, Request};
use serde_json::{Value, json};

use crate::document::operations;
use crate::fixture::{Answer, Fixture};
use crate::our_document::OURS;

/// Every operation that requires a key: method, path with its parameters, and a valid body.
pub(crate) fn guarded() -> Vec<(String, String, Value)> {
    let open = |operation: &Value| operation["security"] == json!([{}]);
    let body = |name: &str| match name {
        "v1.application.create" | "v1.application.update" => json!({"name": "n"}),
        "v1.event-type.create" => json!({"name": "n", "description": "d"}),
        "v1.event-type.update" => json!({"description": "d"}),
        "v1.endpoint.create" | "v1.endpoint.update" => json!({"url": "https://example.com/"}),
        "v1.endpoint.rotate-secret" | "patch_application" | "patch_endpoint" | "patch_event_type" => json!({}),
        "v1.authentication.app-portal-access" | "v1.authentication.expire-all" | "v1.account.patch" => json!({}),
        "v1.endpoint.update-headers" | "v1.endpoint.patch-headers" => json!({"headers": {}}),
        "v1.endpoint.send-example" => json!({"eventType": "svix.ping"}),
        "v1.event-type.import-openapi" => json!({"spec": {"webhooks": {"a": {"post": {}}}}}),
        "v1.message.bulk-expunge-content" => json!({"ids": ["a"]}),
        "v1.message.precheck" => json!({"eventType": "a"}),
        "lotwire.endpoint.skip-blocked-key" | "lotwire.endpoint.retry-blocked-key" => {
            json!({"key": "k", "messageId": "msg_1"})
        }
        "v1.endpoint.recover" | "v1.endpoint.replay-missing" | "v1.endpoint.bulk-replay" => {
            json!({"since": "2026-11-20T00:00:00Z"})
        }
        "v1.operational-webhook.endpoint.create" | "v1.operational-webhook.endpoint.upsert" => {
            json!({"url": "https://example.com/"})
        }
        "v1.operational-webhook.endpoint.rotate-secret" => json!({}),
        "v1.operational-webhook.endpoint.set-headers" => json!({"headers": {}}),
        "v1.message.create" => json!({"eventType": "a", "payload": {}}),
        _ => Value::Null,
    };
    let all: Vec<_> = operations(&OURS)
        .into_iter()
        .filter(|(.., operation)| !open(operation))
        .map(|(method, path, operation)| {
            (method, path.replace("/api/v1", ""), body(operation["operationId"].as_str().unwrap()))
        })
        .collect();
    assert!(all.len() >= 37, "{} operations", all.len());
    all
}

pub(crate) fn text(body: &Value) -> String {
    if body.is_null() { String::new() } else { body.to_string() }
}

#[tokio::test]
async fn every_operation_refuses_a_request_without_a_valid_key() {
    let fixture = Fixture::new().await;
    fixture.application("app").await;
    for (method, path, body) in guarded() {
        let path = path.replace("{app_id}", "app").replace(['{', '}'], "");
        let unknown = format!("lwp_{}", "x".repeat(43));
        let missing = "the Authorization header is missing; send it as `Authorization: Bearer <key>`";
        let wrong = "Invalid token";
        for (key, detail) in [(None, missing), (Some("nonsense"), wrong), (Some(unknown.as_str()), wrong)] {
            // The server checks the key before it reads the body.
            for body in [text(&body).as_str(), "{"] {
                let answer = fixture.call_as(key, &method, &path, &[], body).await;
                answer.expect(401, &json!({"code": "authentication_failed", "detail": detail}));
                assert_eq!(answer.headers["www-authenticate"], "Bearer");
            }
        }
    }
}

#[tokio::test]
async fn records_of_another_account_return_404() {
    let fixture = Fixture::new().await;
    let application = fixture.application("app").await;
    let (endpoint, message) = (fixture.endpoint().await, fixture.message().await);
    let before = fixture.get("/app/app").await.text;
    for (method, path, body) in guarded().into_iter().filter(|(_, path, _)| path.contains("{app_id}")) {
        for application in [&application, "app"] {
            let path = path.replace("{app_id}", application).replace("{endpoint_id}", &endpoint);
            let path = path.replace("{msg_id}", &message).replace("{attempt_id}", "atmpt_1");
            let answer = fixture.call_as(Some(&fixture.other_key), &method, &path, &[], &text(&body)).await;
            // A PUT creates a record in the caller's own account.
            let expected = if (method.as_str(), path.matches('/').count()) == ("PUT", 2) { 201 } else { 404 };
            assert_eq!(answer.status, expected, "{method} {path}: {}", answer.text);
            assert!(!answer.text.contains(application) || expected == 201, "{}", answer.text);
        }
    }
    assert_eq!(fixture.get("/app/app").await.text, before);
    assert_eq!(fixture.get(&format!("/app/app/endpoint/{endpoint}")).await.status, 200);
}

#[tokio::test]
async fn an_invalid_body_returns_the_place_of_the_error() {
    let fixture = Fixture::new().await;
    fixture.application("app").await;
    let check = async |path: &str, body: &str, loc: Value, kind: &str| {
        let answer = fixture.call("POST", path, body).await;
        let fault = &answer.json()["detail"][0];
        assert_eq!(
            (answer.status, &fault["loc"], &fault["type"]),
            (422, &loc, &json!(kind)),
            "{body}: {}",
            answer.text
        );
    };
    for body in ["{", "nonsense", r#"{"name":"a"} {}"#, "{\"name\":\"\u{0}\"}"] {
        check("/app", body, json!(["body"]), "value_error.jsondecode").await;
    }
    check("/app", "", json!(["body", "name"]), "value_error").await;
    check("/app", "[]", json!(["body"]), "value_error").await;
    check("/app", r#"{"name":7}"#, json!(["body", "name"]), "value_error").await;
    check("/app", r#"{"name":""}"#, json!(["body", "name"]), "value_error").await;
    check("/app", r#"{"name":"n","throttleRate":-1}"#, json!(["body", "throttleRate"]), "value_error").await;
    check("/app", r#"{"name":"n","metadata":{"a/b":1}}"#, json!(["body", "metadata", "a/b"]), "value_error").await;
    check("/app/app/msg", r#"{"payload":{}}"#, json!(["body", "eventType"]), "value_error").await;
    check("/app/app/msg", r#"{"eventType":"a","payload":{"x"}}"#, json!(["body"]), "value_error.jsondecode").await;
    check(
        "/app/app/msg",
        r#"{"eventType":"a","payload":{},"channels":[1]}"#,
        json!(["body", "channels", "0"]),
        "value_error",
    )
    .await;
    let deep = format!(r#"{{"name":"n","metadata":{}{}}}"#, "[".repeat(5_000), "]".repeat(5_000));
    assert_eq!(fixture.post("/app", deep).await.status, 422);
}

#[tokio::test]
async fn a_path_parameter_that_can_not_be_an_id_is_refused_with_its_place() {
    let fixture = Fixture::new().await;
    for (path, loc) in [
        ("/app/a%20b", json!(["path", "app_id"])),
        ("/app/a%00b", json!(["path", "app_id"])),
        ("/app/%0d%0aX-Injected:1", json!(["path", "app_id"])),
        ("/event-type/a%2Fb", json!(["path", "event_type_name"])),
        ("/app/%ff", json!(["path"])),
    ] {
        let answer = fixture.get(path).await;
        assert_eq!((answer.status, &answer.json()["detail"][0]["loc"]), (422, &loc), "{path}: {}", answer.text);
    }
    assert_eq!(fixture.get(&format!("/app/{}", "a".repeat(300))).await.status, 422);
}

#[tokio::test]
async fn invalid_headers_are_refused() {
    let fixture = Fixture::new().await;
    let send = async |name: &'static str, value: &[u8]| -> Answer {
        let request = Request::post("/api/v1/app").header("authorization", format!("Bearer {}", fixture.key));
        let request = request.header(name, HeaderValue::from_bytes(value).unwrap());
        fixture.send(request.body(Body::from(r#"{"name":"n"}"#)).unwrap()).await
    };
    for (name, value, status) in [
        ("idempotency-key", &b"\xff\xfe"[..], 400),
        ("idempotency-key", b"", 400),
        ("idempotency-key", &[b'k'; 300], 400),
        ("content-type", b"text/plain", 201),
        ("content-type", b"\xff", 201),
        ("content-type", b"application/json; charset=utf-8", 201),
        ("content-encoding", b"gzip", 415),
        ("content-encoding", b"identity", 201),
        ("authorization", b"Bearer \xff", 401),
        ("x-request-id", b"\xff", 201),
    ] {
        let answer = send(name, value).await;
        assert_eq!(answer.status, status, "{name} {value:?}: {}", answer.text);
        assert!(answer.json().is_object());
    }
}

#[tokio::test]
async fn unknown_routes_and_methods_return_json() {
    let fixture = Fixture::new().await;
    let nowhere = json!({"code": "not_found", "detail": "no operation has this path"});
    for path in ["", "/", "/nowhere", "/app/a/b/c", "//app"] {
        fixture.get(path).await.expect(404, &nowhere);
    }
    let refused = fixture.call("PATCH", "/app", "{}").await;
    assert_eq!((refused.status, refused.field("code")), (405, "method_not_allowed".into()));
    let mut allowed: Vec<&str> = refused.headers["allow"].to_str().unwrap().split(',').collect();
    allowed.sort_unstable();
    assert_eq!(allowed, ["GET", "HEAD", "POST"]);
}

#[tokio::test]
async fn health_needs_no_key_and_every_response_has_a_request_id() {
    let fixture = Fixture::new().await;
    for path in ["/health", "/health/", "/health/ping", "/health/ping/"] {
        for method in ["GET", "HEAD"] {
            let answer = fixture.call_as(None, method, path, &[("x-request-id", "r-1")], "").await;
            assert_eq!((answer.status, answer.text.as_str()), (204, ""), "{method} {path}");
            assert_eq!(answer.headers["x-request-id"], "r-1");
        }
    }
}

/// These operations grant or end access, or change a secret: ignoring a misspelt field would do more than the caller
/// meant.
#[tokio::test]
async fn an_unknown_field_is_refused_where_ignoring_it_would_do_more_than_the_caller_meant() {
    let fixture = Fixture::new().await;
    fixture.application("app").await;
    let endpoint = format!("/app/app/endpoint/{}", fixture.endpoint().await);
    let secret = fixture.get(&format!("{endpoint}/secret")).await.text;
    let token = fixture.token("{}").await;
    let spec = json!({"openapi": "3.1.0", "info": {"title": "t", "version": "1"}, "webhooks": {}});
    for (method, path, body, field) in [
        ("POST", "/auth/app-portal-access/app", json!({"readonly": true}), "readonly"),
        ("POST", "/auth/app/app/expire-all", json!({"sessionId": "one"}), "sessionId"),
        ("POST", &format!("{endpoint}/secret/rotate"), json!({"secret": "whsec_x"}), "secret"),
        ("POST", "/event-type/import/openapi", json!({"spec": spec, "dryrun": true}), "dryrun"),
        ("PATCH", &format!("{endpoint}/headers"), json!({"deleteHeader": ["x"]}), "deleteHeader"),
        ("PATCH", &endpoint, json!({"description": "new", "headers": {"x": "1"}}), "headers"),
        ("POST", &format!("{endpoint}/send-example"), json!({"eventType": "svix.ping", "payload": {}}), "payload"),
        ("POST", &format!("{endpoint}/send-example"), json!({"eventType": "svix.ping", "index": 1}), "index"),
    ] {
        let refused = fixture.call(method, path, &body.to_string()).await;
        assert_eq!(refused.status, 422, "{method} {path} {body}: {}", refused.text);
        assert!(refused.text.contains(field), "{method} {path} {body}: {}", refused.text);
    }
    assert_eq!(fixture.get(&format!("{endpoint}/secret")).await.text, secret);
    assert_eq!(fixture.call_as(Some(&token), "GET", "/app/app/endpoint", &[], "").await.status, 200);
    let message = fixture.message().await;
    let list = fixture.get(&format!("/app/app/msg/{message}/endpoint?status=2")).await;
    assert_eq!((list.status, &list.json()["detail"][0]["loc"]), (422, &json!(["query", "status"])));
}
