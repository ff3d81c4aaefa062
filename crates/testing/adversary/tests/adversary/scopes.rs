//! Every operation of both APIs, with keys that lack its scope and without a key.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::call::Operation;
use crate::support::{Account, Running};

/// A record that does not exist. A caller without the scope must not learn even that.
const NO_RECORD: &str = "019a0000-0000-7000-8000-000000000000";

fn path_of(operation: &Operation) -> String {
    operation.path_with(|_| NO_RECORD.to_owned())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_without_the_scope_of_an_operation_is_refused() {
    let running = Running::new(&[]).await;
    let api = running.platform();
    let operations = api.operations().await;
    let named = operations.iter().flat_map(|operation| &operation.security).flat_map(|(_, scopes)| scopes);
    let scopes: BTreeSet<&str> = named.map(String::as_str).collect();
    assert!(scopes.len() >= 14, "{scopes:?}");
    let (mut refused, mut allowed) = (0, 0);
    for scope in &scopes {
        let key = running.launch.run_command(&["key", "create", "--name", scope, "--scope", scope, "--json"]).unwrap();
        let key = key["key"].as_str().unwrap();
        for operation in operations.iter().filter(|operation| !operation.is_public) {
            // A live stream that the key may open does not end.
            if operation.allows(scope) && operation.path.ends_with("/live") {
                continue;
            }
            let answer = api.call(&operation.method, &path_of(operation), key, &operation.body).await;
            if operation.allows(scope) {
                // The example of a new key requests a scope that this key can't grant.
                let gives_scopes = operation.path == "/api/v1/api-keys";
                assert!(gives_scopes || !matches!(answer.status, 401 | 403), "{operation} with {scope}: {answer:?}");
                allowed += 1;
            } else {
                assert_eq!((answer.status, answer.code()), (403, "forbidden"), "{operation} with {scope}");
                refused += 1;
            }
        }
    }
    println!("scopes: {refused} pairs refused, {allowed} allowed");
    assert!(refused > 1_000 && allowed > 100, "{refused} {allowed}");
}

#[tokio::test(flavor = "multi_thread")]
async fn no_operation_answers_a_caller_without_a_valid_key() {
    let running = Running::new(&[("PROVIDER__REQUESTS_PER_SECOND", "1000000")]).await;
    let mut tried = 0;
    for (api, wrong_keys) in [
        (running.platform(), ["", "lw_000000000000000000000000000000000", "lwp_0", "lws_0", "x"]),
        (running.provider(), ["", "lwp_00000000000000000000000000000000", "lw_0", "appsk_0", "x"]),
    ] {
        for operation in api.operations().await.iter().filter(|operation| !operation.is_public) {
            for key in wrong_keys {
                let answer = api.call(&operation.method, &path_of(operation), key, &operation.body).await;
                // The provider delays an address that has sent many wrong keys.
                assert!(matches!(answer.status, 401 | 429), "{operation} with {key:?}: {answer:?}");
                tried += 1;
            }
        }
    }
    println!("scopes: {tried} calls without a valid key refused");
    assert!(tried > 800, "{tried}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_can_not_grant_a_scope_that_it_lacks() {
    let running = Running::new(&[]).await;
    let api = running.platform();
    let create = ["key", "create", "--name", "k", "--scope", "keys:write", "--json"];
    let key = running.launch.run_command(&create).unwrap();
    let key = key["key"].as_str().unwrap();
    for scopes in [json!(["users:write"]), json!(["keys:write", "auctions:read"]), json!(["all"]), json!([])] {
        let answer = api.call("post", "/api/v1/api-keys", key, &json!({ "name": "more", "scopes": scopes })).await;
        assert!(matches!(answer.status, 403 | 422), "{scopes}: {answer:?}");
    }
    api.make("post", "/api/v1/api-keys", key, &json!({ "name": "same", "scopes": ["keys:write"] })).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_application_token_may_call_only_the_operations_of_its_capabilities() {
    let running = Running::new(&[]).await;
    let account = Account::new(&running, "one").await;
    let endpoint = account.endpoint("http://127.0.0.1:1/").await;
    let portal = format!("/api/v1/auth/app-portal-access/{}", account.application);
    let read_only = account.api.make("post", &portal, &account.key, &json!({ "readOnly": true })).await.text("token");
    let full = account.api.make("post", &portal, &account.key, &json!({})).await.text("token");
    let of_account = |operation: &Operation| {
        let path = operation.path.trim_start_matches("/api/v1/");
        let sends = operation.method == "post" && path == "app/{app_id}/msg";
        let changes = path == "app/{app_id}" && operation.method != "get";
        let event_types = path.starts_with("event-type") && operation.method != "get";
        let rest = ["account", "operational-webhook", "auth/app"].iter().any(|start| path.starts_with(start));
        sends || changes || event_types || rest || matches!(path, "app" | "background-task") || path.contains("bulk-")
    };
    let (mut tried, mut reached) = (0, 0);
    for operation in account.api.operations().await.iter().filter(|operation| !operation.is_public) {
        let path = operation.path_with(|name| match name {
            "app_id" => account.application.clone(),
            "endpoint_id" => endpoint.clone(),
            _ => "none".to_owned(),
        });
        let is_own = operation.path.starts_with("/api/v1/auth/");
        if of_account(operation) {
            for token in [&read_only, &full] {
                let answer = account.api.call(&operation.method, &path, token, &operation.body).await;
                assert_eq!(answer.status, 403, "{operation}: {answer:?}");
                tried += 1;
            }
        } else if operation.method != "get" && !is_own {
            let answer = account.api.call(&operation.method, &path, &read_only, &operation.body).await;
            assert_eq!(answer.status, 403, "{operation} with a read-only token: {answer:?}");
            tried += 1;
        } else if operation.method == "get" {
            let answer = account.api.call(&operation.method, &path, &full, &Value::Null).await;
            reached += usize::from(answer.status == 200);
        }
    }
    let secret = account.path(&format!("endpoint/{endpoint}/secret"));
    assert_eq!(account.api.call("get", &secret, &read_only, &Value::Null).await.status, 403);
    assert_eq!(account.api.call("get", &secret, &full, &Value::Null).await.status, 200);
    println!("scopes: {tried} operations refused to tokens");
    assert!(tried > 50 && reached > 5, "{tried} {reached}");
}
