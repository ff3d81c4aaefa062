//! Authorisation: every route of the document with each kind of credential.

use provider_core::model::KeyScope;
use serde_json::{Value, json};

use crate::document::operations;
use crate::fixture::Fixture;
use crate::our_document::OURS;

/// Operations that an application token with all capabilities may call. All other operations require an API key.
const FOR_TOKENS: &[&str] = &[
    "lotwire.endpoint.blocked-keys",
    "lotwire.endpoint.retry-blocked-key",
    "lotwire.endpoint.skip-blocked-key",
    "v1.application.get",
    "v1.authentication.logout",
    "v1.authentication.whoami",
    "v1.background-task.get",
    "v1.endpoint.create",
    "v1.endpoint.delete",
    "v1.endpoint.get",
    "v1.endpoint.get-attempt-stats",
    "v1.endpoint.get-headers",
    "v1.endpoint.get-secret",
    "v1.endpoint.get-stats",
    "v1.endpoint.list",
    "v1.endpoint.patch",
    "v1.endpoint.patch-headers",
    "v1.endpoint.recover",
    "v1.endpoint.replay-missing",
    "v1.endpoint.rotate-secret",
    "v1.endpoint.send-example",
    "v1.endpoint.update",
    "v1.endpoint.update-headers",
    "v1.event-type.get",
    "v1.event-type.list",
    "v1.message-attempt.get",
    "v1.message-attempt.list-attempted-destinations",
    "v1.message-attempt.list-attempted-messages",
    "v1.message-attempt.list-by-endpoint",
    "v1.message-attempt.list-by-msg",
    "v1.message-attempt.resend",
    "v1.message.get",
    "v1.message.list",
    "patch_endpoint",
];

/// Reading operations of these that a read-only token may not call.
const HIDDEN_FROM_READERS: &[&str] = &["v1.endpoint.get-secret", "v1.endpoint.get-headers"];

/// Operations that act on the caller's own account, whatever the path contains.
const OWN: &[&str] = &["v1.application.update", "v1.event-type.update"];

struct Route {
    name: String,
    method: String,
    path: String,
    body: String,
    /// The body is valid for the route.
    body_is_right: bool,
    is_open: bool,
}

/// Every route of the document, with the ids of the fixture's records in its path.
async fn routes(fixture: &Fixture) -> Vec<Route> {
    fixture.application("app").await;
    fixture.application("other").await;
    let (endpoint, message) = (fixture.endpoint().await, fixture.message().await);
    assert_eq!(fixture.post("/event-type", json!({"name": "a.b", "description": "d"})).await.status, 201);
    let routes = operations(&OURS).into_iter().map(|(method, path, operation)| {
        let name = operation["operationId"].as_str().unwrap().to_owned();
        let path = path.strip_prefix("/api/v1").unwrap().replace("{app_id}", "app");
        let path = path.replace("{endpoint_id}", &endpoint).replace("{msg_id}", &message);
        let path = path.replace("{event_type_name}", "a.b").replace(['{', '}'], "");
        let body = body(&name);
        let needs_body = !operation["requestBody"].is_null();
        Route {
            body: match &body {
                Some(body) => body.to_string(),
                None if needs_body => "{}".to_owned(),
                None => String::new(),
            },
            body_is_right: body.is_some() || !needs_body,
            is_open: operation["security"] == json!([{}]),
            name,
            method,
            path,
        }
    });
    routes.collect()
}

fn body(name: &str) -> Option<Value> {
    match name {
        "v1.application.create" | "v1.application.update" => Some(json!({"name": "n"})),
        "v1.event-type.create" => Some(json!({"name": "n", "description": "d"})),
        "v1.event-type.update" => Some(json!({"description": "d"})),
        "v1.endpoint.create" | "v1.endpoint.update" => Some(json!({"url": "https://example.com/"})),
        "v1.message.create" => Some(json!({"eventType": "a", "payload": {}})),
        "v1.endpoint.rotate-secret" | "v1.authentication.app-portal-access" => Some(json!({})),
        "v1.authentication.expire-all" | "v1.account.patch" => Some(json!({})),
        _ => None,
    }
}

/// Calls each route with the key that `credential` returns, and passes the status to `check`. A call that was accepted and may
/// have changed a record leaves a new fixture to the next route.
async fn ask_all(credential: impl AsyncFn(&Fixture) -> Option<String>, check: impl Fn(&Route, u16)) {
    let mut unchanged = None;
    for index in 0.. {
        let (fixture, routes, credential) = match unchanged.take() {
            Some(unchanged) => unchanged,
            None => {
                let fixture = Fixture::new().await;
                let routes = routes(&fixture).await;
                let credential = credential(&fixture).await;
                (fixture, routes, credential)
            }
        };
        let Some(route) = routes.get(index) else {
            assert!(index > 20, "only {index} routes");
            return;
        };
        let answer = fixture.call_as(credential.as_deref(), &route.method, &route.path, &[], &route.body).await;
        assert!(answer.status < 500, "{} {}: {}", route.method, route.path, answer.text);
        check(route, answer.status);
        if route.method == "GET" || answer.status >= 400 {
            unchanged = Some((fixture, routes, credential));
        }
    }
}

fn says(route: &Route) -> String {
    format!("{} ({} {})", route.name, route.method, route.path)
}

#[tokio::test]
async fn every_route_but_public_ones_refuses_a_request_without_credentials() {
    let check = |route: &Route, status: u16| {
        assert_eq!(status == 401, !route.is_open, "{}: {status}", says(route));
        assert!(!route.is_open || route.name.starts_with("v1.health."), "{} is open to anybody", says(route));
    };
    ask_all(async |_| None, check).await;
    ask_all(async |_| Some(format!("lwp_{}", "x".repeat(43))), check).await;
    ask_all(async |_| Some(format!("appsk_{}", "x".repeat(43))), check).await;
}

#[tokio::test]
async fn records_of_one_account_return_404_to_another() {
    let check = |route: &Route, status: u16| {
        let is_about_ours = route.path.contains("/app/") || route.path.contains("app-portal-access/");
        let is_about_ours = is_about_ours || route.path.ends_with("/event-type/a.b");
        if is_about_ours && !OWN.contains(&route.name.as_str()) {
            let refused = status == 404 || (status == 422 && !route.body_is_right);
            assert!(refused, "{}: {status}", says(route));
        }
    };
    ask_all(async |fixture| Some(fixture.other_key.clone()), check).await;
}

#[tokio::test]
async fn a_token_may_call_the_operations_listed_for_tokens_only() {
    let check = |route: &Route, status: u16| {
        if route.is_open {
            return;
        }
        let refused = status == 403;
        assert_eq!(refused, !FOR_TOKENS.contains(&route.name.as_str()), "{}: {status}", says(route));
        assert!(status != 401, "{}", says(route));
    };
    ask_all(async |fixture| Some(fixture.token("{}").await), check).await;
}

#[tokio::test]
async fn the_token_of_another_application_gets_404() {
    let check = |route: &Route, status: u16| {
        if route.path.contains("/app/") || route.path.contains("app-portal-access/") {
            assert!(matches!(status, 403 | 404), "{}: {status}", says(route));
        }
    };
    let token_of_other = async |fixture: &Fixture| {
        let access = fixture.post("/auth/app-portal-access/other", "{}").await;
        Some(access.field("token"))
    };
    ask_all(token_of_other, check).await;
}

#[tokio::test]
async fn a_read_only_token_changes_nothing() {
    let check = |route: &Route, status: u16| {
        if route.is_open || route.name == "v1.authentication.logout" {
            return;
        }
        let name = route.name.as_str();
        let may = route.method == "GET" && FOR_TOKENS.contains(&name) && !HIDDEN_FROM_READERS.contains(&name);
        assert_eq!(status != 403, may, "{}: {status}", says(route));
    };
    ask_all(async |fixture| Some(fixture.token(r#"{"readOnly": true}"#).await), check).await;
    ask_all(async |fixture| Some(fixture.token(r#"{"capabilities": ["ViewBase"]}"#).await), check).await;
}

#[tokio::test]
async fn each_capability_allows_its_operations() {
    let (manage, secret) = ("/app/app/endpoint", "/app/app/endpoint/hook/secret");
    let new = r#"{"url": "https://example.com/"}"#;
    for (capability, expected) in [
        ("ViewEndpointSecret", [403, 200, 403]),
        ("ManageEndpointSecret", [403, 200, 200]),
        ("ManageEndpoint", [201, 200, 200]),
        ("CreateAttempts", [403, 403, 403]),
        ("ManageTransformations", [403, 403, 403]),
    ] {
        let fixture = Fixture::new().await;
        fixture.application("app").await;
        fixture.post(manage, r#"{"url": "https://example.com/", "uid": "hook"}"#).await;
        let token = fixture.token(json!({"capabilities": ["ViewBase", capability]})).await;
        let call = async |method, path: &str, body| fixture.call_as(Some(&token), method, path, &[], body).await.status;
        let rotate = format!("{secret}/rotate");
        let answers =
            [call("POST", manage, new).await, call("GET", secret, "").await, call("POST", &rotate, "{}").await];
        assert_eq!(answers, expected, "{capability}");
    }
}

#[tokio::test]
async fn a_key_with_scopes_may_do_what_they_allow_and_a_refusal_names_the_missing_one() {
    let fixture = Fixture::new().await;
    fixture.application("app").await;
    let account = fixture.provider.authenticate(&fixture.key).await.unwrap().account;
    let send = r#"{"eventType": "a.b", "payload": {}}"#;
    let calls = [
        ("GET", "/app", ""),
        ("POST", "/app/app/msg", send),
        ("POST", "/app", r#"{"name": "Another"}"#),
        ("POST", "/auth/app-portal-access/app", "{}"),
        ("GET", "/auth/whoami", ""),
    ];
    for (scope, expected) in [
        (KeyScope::Read, [200, 403, 403, 403, 200]),
        (KeyScope::Send, [403, 202, 403, 403, 200]),
        (KeyScope::Configure, [403, 403, 201, 403, 200]),
        (KeyScope::Portal, [403, 403, 403, 200, 200]),
        (KeyScope::Resend, [403, 403, 403, 403, 200]),
    ] {
        let key = fixture.provider.create_api_key_with(&account, scope.name(), None, Some([scope].into())).await;
        let key = key.unwrap().text;
        let mut statuses = Vec::new();
        for (method, path, body) in calls {
            let answer = fixture.call_as(Some(&key), method, path, &[], body).await;
            if answer.status == 403 {
                assert_eq!(answer.field("code"), "insufficient_access");
                assert!(answer.field("detail").contains("an API key with the scope"), "{}", answer.text);
            }
            statuses.push(answer.status);
        }
        assert_eq!(statuses, expected, "{scope:?}");
    }
}
