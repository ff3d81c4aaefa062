//! Magic links and application tokens, and how they end.

use std::time::Duration;

use base64::Engine as _;
use provider_core::ProviderConfig;
use serde_json::{Value, json};

use crate::fixture::Fixture;

async fn status_of(fixture: &Fixture, token: &str) -> u16 {
    fixture.call_as(Some(token), "GET", "/app/app/endpoint", &[], "").await.status
}

#[tokio::test]
async fn a_magic_link_opens_the_portal_with_the_token_in_its_fragment() {
    let config = ProviderConfig {
        public_url: "https://hooks.example/".into(),
        key_region: Some("eu".into()),
        ..ProviderConfig::default()
    };
    let fixture = Fixture::with(config).await;
    let application = fixture.application("app").await;
    let access = fixture.post("/auth/app-portal-access/app", r#"{"featureFlags": [], "sessionId": "user_1"}"#).await;
    assert_eq!(access.status, 200, "{}", access.text);
    let (url, token) = (access.field("url"), access.field("token"));
    let key = url.strip_prefix("https://hooks.example/app-portal/login#key=").expect(&url);
    let key: Value = serde_json::from_slice(&base64::engine::general_purpose::STANDARD.decode(key).unwrap()).unwrap();
    assert_eq!(key, json!({"appId": application, "token": token}));
    assert!(token.starts_with("appsk_") && token.ends_with(".eu"), "the token has no prefix or region for clients");

    for token in [token.as_str(), token.strip_suffix(".eu").unwrap()] {
        let whoami = fixture.call_as(Some(token), "GET", "/auth/whoami", &[], "").await.json();
        assert_eq!((&whoami["appId"], &whoami["sessionId"]), (&json!(application), &json!("user_1")));
        assert_eq!(status_of(&fixture, token).await, 200);
        let by_id = format!("/app/{application}");
        assert_eq!(fixture.call_as(Some(token), "GET", &by_id, &[], "").await.status, 200);
    }
    assert!(fixture.get("/auth/whoami").await.json()["appId"].is_null());
    let legacy = fixture.post("/auth/dashboard-access/app", "").await;
    assert_eq!((legacy.status, status_of(&fixture, &legacy.field("token")).await), (200, 200));
}

#[tokio::test]
async fn a_response_with_a_secret_is_not_stored_for_an_idempotency_key() {
    let fixture = Fixture::new().await;
    fixture.application("app").await;
    let ask = async || {
        let headers = [("idempotency-key", "auto_1")];
        let path = "/auth/app-portal-access/app";
        fixture.call_as(Some(&fixture.key), "POST", path, &headers, "{}").await.field("token")
    };
    assert_ne!(ask().await, ask().await);
    let account = fixture.get("/account").await.field("id");
    assert_eq!(fixture.store.idempotent_answer(&account, "auto_1").await.unwrap(), None);
}

#[tokio::test]
async fn a_link_can_create_its_application() {
    let fixture = Fixture::new().await;
    let missing = fixture.post("/auth/app-portal-access/new", "{}").await;
    assert_eq!(missing.status, 404);
    for name in ["First", "Ignored"] {
        let body = json!({"application": {"name": name, "uid": "new"}});
        assert_eq!(fixture.post("/auth/app-portal-access/new", body).await.status, 200);
    }
    assert_eq!(fixture.get("/app/new").await.field("name"), "First");
    let msg = |uid: &str| json!({"loc": ["body", "application", "uid"], "msg": format!("must be {uid:?}, the uid in the path"), "type": "value_error"});
    // Whether the application exists makes no difference.
    for uid in ["newer", "new"] {
        for application in
            [json!({"name": "n", "uid": "another"}), json!({"name": "n"}), json!({"name": "n", "uid": null})]
        {
            let refused =
                fixture.post(&format!("/auth/app-portal-access/{uid}"), json!({ "application": application })).await;
            refused.expect(422, &json!({"detail": [msg(uid)]}));
        }
    }
    assert_eq!(fixture.get("/app/newer").await.status, 404);
}

#[tokio::test]
async fn logging_out_ends_the_token_and_no_other() {
    let fixture = Fixture::new().await;
    fixture.application("app").await;
    let one = fixture.token("{}").await;
    let other = fixture.token("{}").await;
    let logout = async |key: &str| fixture.call_as(Some(key), "POST", "/auth/logout", &[], "").await.status;
    assert_eq!(status_of(&fixture, &one).await, 200);
    assert_eq!(logout(&one).await, 204);
    assert_eq!((status_of(&fixture, &one).await, logout(&one).await), (401, 401));
    assert_eq!(status_of(&fixture, &other).await, 200);
    assert_eq!(logout(&fixture.key).await, 403, "an API key was logged out");
    assert_eq!(fixture.get("/app/app").await.status, 200);
}

#[tokio::test]
async fn a_token_expires() {
    let fixture = Fixture::new().await;
    fixture.application("app").await;
    let (hour, week) = (fixture.token(r#"{"expiry": 3600}"#).await, fixture.token("{}").await);
    fixture.clock.advance(Duration::from_secs(3_599));
    assert_eq!(status_of(&fixture, &hour).await, 200);
    fixture.clock.advance(Duration::from_secs(1));
    assert_eq!((status_of(&fixture, &hour).await, status_of(&fixture, &week).await), (401, 200));
    fixture.clock.advance(Duration::from_secs(7 * 86_400 - 3_600));
    assert_eq!(status_of(&fixture, &week).await, 401);
}

#[tokio::test]
async fn tokens_are_ended_all_together_or_by_session() {
    let fixture = Fixture::new().await;
    fixture.application("app").await;
    let token = async |session: &str| fixture.token(json!({"sessionId": session})).await;
    let tokens = [token("ann").await, token("bob").await, fixture.token("{}").await];
    let statuses = async || {
        [
            status_of(&fixture, &tokens[0]).await,
            status_of(&fixture, &tokens[1]).await,
            status_of(&fixture, &tokens[2]).await,
        ]
    };
    let expire = async |body: &str| fixture.post("/auth/app/app/expire-all", body).await.status;
    assert_eq!(expire(r#"{"sessionIds": ["bob", "unknown"]}"#).await, 204);
    assert_eq!(statuses().await, [200, 401, 200]);
    assert_eq!(expire(r#"{"expiry": 60}"#).await, 204);
    fixture.clock.advance(Duration::from_secs(59));
    assert_eq!(statuses().await, [200, 401, 200]);
    fixture.clock.advance(Duration::from_secs(1));
    assert_eq!(statuses().await, [401, 401, 401]);
    let another = fixture.token("{}").await;
    assert_eq!((expire("{}").await, status_of(&fixture, &another).await), (204, 401));
    assert_eq!(fixture.post("/auth/app/nowhere/expire-all", "{}").await.status, 404);
}

#[tokio::test]
async fn a_token_ends_with_its_application() {
    let fixture = Fixture::new().await;
    fixture.application("app").await;
    let token = fixture.token("{}").await;
    assert_eq!(fixture.delete("/app/app").await.status, 204);
    assert_eq!(fixture.call_as(Some(&token), "GET", "/event-type", &[], "").await.status, 401);
}

#[tokio::test]
async fn an_endpoint_can_keep_but_not_add_a_hidden_event_type() {
    let fixture = Fixture::new().await;
    fixture.application("app").await;
    for (name, flag) in [("a.open", Value::Null), ("b.beta", json!("beta")), ("c.alpha", json!("alpha"))] {
        let body = json!({"name": name, "description": "d", "featureFlag": flag});
        assert_eq!(fixture.post("/event-type", body).await.status, 201);
    }
    let token = fixture.token(json!({"featureFlags": ["beta"]})).await;
    let body = |types: &[&str]| json!({"url": "https://example.com/", "uid": "e", "eventTypes": types}).to_string();
    let ask =
        async |method: &str, path: &str, body: String| fixture.call_as(Some(&token), method, path, &[], &body).await;
    let (all, one) = ("/app/app/endpoint", "/app/app/endpoint/e");
    let refused = |name: &str| {
        json!({"detail": [{"loc": ["body", "eventTypes", "1"], "msg": format!("there is no event type {name}"),
            "type": "value_error"}]})
    };
    ask("POST", all, body(&["b.beta", "c.alpha"])).await.expect(422, &refused("c.alpha"));
    ask("POST", all, body(&["b.beta", "no.such"])).await.expect(422, &refused("no.such"));
    ask("PUT", one, body(&["b.beta", "c.alpha"])).await.expect(422, &refused("c.alpha"));
    assert_eq!(ask("POST", all, body(&["b.beta", "a.open"])).await.status, 201);
    ask("PUT", one, body(&["b.beta", "c.alpha"])).await.expect(422, &refused("c.alpha"));
    ask("PATCH", one, body(&["b.beta", "c.alpha"])).await.expect(422, &refused("c.alpha"));
    // An event type that the account set stays until it is removed.
    assert_eq!(fixture.put(one, body(&["b.beta", "c.alpha"])).await.status, 200);
    for method in ["PUT", "PATCH"] {
        let kept = ask(method, one, body(&["a.open", "c.alpha"])).await;
        assert_eq!((kept.status, &kept.json()["eventTypes"]), (200, &json!(["a.open", "c.alpha"])));
    }
    assert_eq!(ask("PUT", one, body(&["a.open"])).await.status, 200);
    ask("PATCH", one, body(&["a.open", "c.alpha"])).await.expect(422, &refused("c.alpha"));
}

#[tokio::test]
async fn event_types_with_a_flag_require_that_flag() {
    let fixture = Fixture::new().await;
    fixture.application("app").await;
    for (name, flag) in [("a.open", Value::Null), ("b.beta", json!("beta")), ("c.alpha", json!("alpha"))] {
        let body = json!({"name": name, "description": "d", "featureFlag": flag});
        assert_eq!(fixture.post("/event-type", body).await.status, 201);
    }
    for (body, expected) in
        [(json!({}), vec!["a.open"]), (json!({"featureFlags": ["beta", "gamma"]}), vec!["a.open", "b.beta"])]
    {
        let token = fixture.token(body).await;
        for query in ["", "?include_archived=true"] {
            let path = format!("/event-type{query}");
            let list = fixture.call_as(Some(&token), "GET", &path, &[], "").await.json();
            let names: Vec<_> =
                list["data"].as_array().unwrap().iter().map(|row| row["name"].as_str().unwrap()).collect();
            assert_eq!(names, expected);
        }
        let hidden = fixture.call_as(Some(&token), "GET", "/event-type/c.alpha", &[], "").await;
        assert_eq!(hidden.status, 404);
    }
    assert_eq!(fixture.get("/event-type").await.json()["data"].as_array().unwrap().len(), 3);
}

#[tokio::test]
async fn a_token_that_may_recover_sees_its_own_tasks_only() {
    let fixture = Fixture::new().await;
    for uid in ["app", "other"] {
        fixture.application(uid).await;
        let endpoint = json!({"uid": "hook", "url": "https://example.com/hook"});
        assert_eq!(fixture.post(&format!("/app/{uid}/endpoint"), endpoint).await.status, 201);
    }
    let since = json!({"since": "2026-11-20T00:00:00Z"}).to_string();
    let token = fixture.token(json!({"capabilities": ["ViewBase", "CreateAttempts"]})).await;
    let call = async |method, path: &str, body| fixture.call_as(Some(&token), method, path, &[], body).await;
    let ours = call("POST", "/app/app/endpoint/hook/recover", &since).await;
    let theirs = fixture.post("/app/other/endpoint/hook/recover", &since).await;
    call("GET", &format!("/background-task/{}", ours.field("id")), "").await.expect(200, &ours.json());
    let of_other = format!("/background-task/{}", theirs.field("id"));
    assert_eq!(call("GET", &of_other, "").await.status, 404);
    assert_eq!(fixture.get(&of_other).await.status, 200, "the account can't read its task");
    assert_eq!(call("GET", "/background-task", "").await.status, 403, "a token lists the tasks of all applications");
}

#[tokio::test]
async fn blocked_keys_are_listed_with_view_base_skipped_with_manage_endpoint_and_retried_with_create_attempts() {
    let fixture = Fixture::new().await;
    fixture.application("app").await;
    let path = format!("/app/app/endpoint/{}/blocked-key", fixture.endpoint().await);
    let skip = json!({"key": "lot", "messageId": "msg_1"}).to_string();
    for (capability, expected) in [("ManageEndpoint", [200, 404, 403]), ("CreateAttempts", [200, 403, 404])] {
        let token = fixture.token(json!({"capabilities": ["ViewBase", capability]})).await;
        let list = fixture.call_as(Some(&token), "GET", &path, &[], "").await.status;
        let skipped = fixture.call_as(Some(&token), "POST", &format!("{path}/skip"), &[], &skip).await.status;
        let retried = fixture.call_as(Some(&token), "POST", &format!("{path}/retry"), &[], &skip).await.status;
        assert_eq!([list, skipped, retried], expected, "{capability}");
    }
}

#[tokio::test]
async fn an_invalid_request_for_access_is_refused() {
    let fixture = Fixture::new().await;
    fixture.application("app").await;
    let flags: Vec<String> = (0..26).map(|number| format!("flag-{number}")).collect();
    for (body, field) in [
        (json!({"expiry": 3_599}), "expiry"),
        (json!({"expiry": 604_801}), "expiry"),
        (json!({"sessionId": "two words"}), "sessionId"),
        (json!({"sessionId": ""}), "sessionId"),
        (json!({"featureFlags": flags}), "featureFlags"),
        (json!({"featureFlags": ["a b"]}), "featureFlags"),
        (json!({"capabilities": []}), "capabilities"),
        (json!({"capabilities": ["ManageEndpoint"]}), "capabilities"),
        (json!({"capabilities": ["ViewBase", "Everything"]}), "capabilities"),
        // Also if the application exists; it stays unchanged.
        (json!({"application": {"name": ""}}), "application"),
    ] {
        let refused = fixture.post("/auth/app-portal-access/app", &body).await;
        assert_eq!((refused.status, &refused.json()["detail"][0]["loc"][1]), (422, &json!(field)), "{body}");
    }
    for body in [json!({"expiry": -1}), json!({"expiry": 259_201}), json!({"sessionIds": ["a b"]})] {
        assert_eq!(fixture.post("/auth/app/app/expire-all", &body).await.status, 422, "{body}");
    }
}
