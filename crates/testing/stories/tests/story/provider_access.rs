//! Management of the provider on the command line while it runs, and App Portal tokens on two nodes.

use std::process::Command;

use consumer::ApiClient;
use http::StatusCode;
use serde_json::{Value, json};
use testkit::server::{Launch, built_binary};
use testkit::site::{CustomerSite, http_client};

use crate::support::{WAIT_MAX, launch};

/// The status of a request with this key.
async fn status(launch: &Launch, key: &str, path: &str) -> u16 {
    let api = ApiClient::new(http_client(), launch.provider_url(), key).unwrap();
    match api.get(path).await {
        Ok(_) => 200,
        Err(error) => error.status().map_or(0, |status| status.as_u16()),
    }
}

/// Runs a command of `lotwire provider`: whether it succeeded, and its output.
fn provider(data: &std::path::Path, arguments: &[&str]) -> (bool, String) {
    let mut command = Command::new(built_binary("lotwire").unwrap());
    command.arg("provider").args(arguments).arg("--data-dir").arg(data).env("LOTWIRE_SECRETS__KEY", "07".repeat(32));
    let result = command.output().unwrap();
    let text = if result.status.success() { result.stdout } else { result.stderr };
    (result.status.success(), String::from_utf8(text).unwrap())
}

fn objects(lines: &str) -> Vec<Value> {
    lines.lines().map(|line| serde_json::from_str(line).expect(line)).collect()
}

/// Polls until the status is as expected. A running server applies a command's change within seconds.
async fn wait_for_status(expected: u16, ask: impl AsyncFn() -> u16) {
    let polling = async {
        while ask().await != expected {
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(WAIT_MAX, polling).await.expect("the server did not apply the change");
}

#[tokio::test(flavor = "multi_thread")]
async fn accounts_and_keys_are_managed_while_the_server_runs() {
    let data = tempfile::tempdir().unwrap();
    let launch = launch(data.path());
    let _server = launch.start(&http_client()).await.unwrap();
    let account = launch.run_command(&["provider", "account", "create", "Hartley", "--json"]).unwrap();
    let account = account["id"].as_str().unwrap();
    let create =
        ["provider", "key", "create", "--account", account, "--name", "trial", "--expires-in-days", "30", "--json"];
    let key = launch.run_command(&create).unwrap();
    let (id, key) = (key["id"].as_str().unwrap(), key["key"].as_str().unwrap());
    assert_eq!(status(&launch, key, "/api/v1/app").await, 200);

    let (_, listed) = provider(data.path(), &["key", "list", "--account", account, "--json"]);
    let listed = objects(&listed);
    assert_eq!((listed.len(), &listed[0]["id"], &listed[0]["name"]), (1, &json!(id), &json!("trial")));
    assert!(listed[0]["expiresAt"].is_string() && listed[0]["lastUsedAt"].is_string(), "{listed:?}");
    assert!(!listed[0].to_string().contains(key));

    let set = ["account", "set", account, "--endpoints-per-application", "2", "--payload-check", "warn", "--json"];
    let (_, set) = provider(data.path(), &set);
    let (_, shown) = provider(data.path(), &["account", "show", account, "--json"]);
    assert_eq!(set, shown);
    let expected = (json!(2), json!("warn"), json!(null));
    let shown = &objects(&shown)[0];
    let found = ["endpointsPerApplication", "payloadCheck", "requestsPerSecond"].map(|name| shown[name].clone());
    assert_eq!((found[0].clone(), found[1].clone(), found[2].clone()), expected);
    let api = ApiClient::new(http_client(), launch.provider_url(), key).unwrap();
    wait_for_status(200, async || {
        let seen = api.get("/api/v1/account").await.unwrap().body;
        if seen["endpointsMax"] == 2 && seen["payloadCheck"] == "warn" { 200 } else { 0 }
    })
    .await;
    let (succeeded, output) = provider(data.path(), &["account", "set", account, "--requests-per-second", "many"]);
    assert!(!succeeded && output.contains("--requests-per-second takes a number"), "{output}");

    let revoke = ["key", "revoke", "--account", account, id];
    let (succeeded, output) = provider(data.path(), &revoke);
    assert!(
        !succeeded && output.contains(id) && output.contains("--yes"),
        "the command ran without a confirmation: {output}"
    );
    let revoke = [&revoke[..], &["--yes"]].concat();
    let (succeeded, output) = provider(data.path(), &revoke);
    assert!(succeeded, "{output}");
    wait_for_status(401, async || status(&launch, key, "/api/v1/app").await).await;
    assert!(!provider(data.path(), &revoke).0, "a deleted key was revoked again");
}

#[test]
fn an_invalid_name_is_refused_with_the_error_of_the_api() {
    let data = tempfile::tempdir().unwrap();
    let (_, made) = provider(data.path(), &["account", "create", "Hartley", "--json"]);
    let account = objects(&made)[0]["id"].as_str().unwrap().to_owned();
    for (name, wrong) in [("", "name: must not be empty"), ("a\nb", "name: must not hold a line break")] {
        for arguments in [
            &["account", "create", name][..],
            &["account", "set", &account, "--name", name],
            &["key", "create", "--account", &account, "--name", name],
        ] {
            let (succeeded, output) = provider(data.path(), arguments);
            assert!(!succeeded && output.contains(wrong), "{arguments:?}: {output}");
        }
    }
    assert_eq!(provider(data.path(), &["account", "list"]), (true, format!("{account}  Hartley\n")));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_portal_link_is_printed_alone_and_opens_the_application_of_the_running_server() {
    let data = tempfile::tempdir().unwrap();
    let launch = launch(data.path());
    let _server = launch.start(&http_client()).await.unwrap();
    let (_, made) = provider(data.path(), &["account", "create", "Hartley", "--json"]);
    let account = objects(&made)[0]["id"].as_str().unwrap().to_owned();
    let create = ["application", "create", "Web site", "--account", &account, "--uid", "customer-17", "--json"];
    let (_, made) = provider(data.path(), &create);
    let application = objects(&made)[0]["id"].as_str().unwrap().to_owned();
    let token = |url: &str| {
        let key = url.split_once("/app-portal/login#key=").unwrap().1;
        let key: Value = serde_json::from_slice(&data_encoding::BASE64.decode(key.as_bytes()).unwrap()).unwrap();
        assert_eq!(key["appId"], json!(application));
        key["token"].as_str().unwrap().to_owned()
    };
    let endpoints = format!("/api/v1/app/{application}/endpoint");
    let add = async |key: &str| {
        let api = ApiClient::new(http_client(), launch.provider_url(), key).unwrap();
        let added = api.post(&endpoints, &json!({ "url": "https://receiver.example/" })).await;
        added.map_or_else(|error| error.status().map_or(0, |status| status.as_u16()), |_| 201)
    };
    let (succeeded, url) = provider(data.path(), &["application", "portal-link", "customer-17"]);
    assert!(succeeded && url.lines().count() == 1 && url.starts_with(&launch.provider_url()), "{url}");
    let read = token(url.trim_end());
    assert_eq!((status(&launch, &read, &endpoints).await, add(&read).await), (200, 403));

    let more = ["--capability", "ManageEndpoint", "--expires-in-hours", "24", "--json"];
    let (_, shown) = provider(data.path(), &[&["application", "portal-link", &application], &more[..]].concat());
    let shown = &objects(&shown)[0];
    assert_eq!(shown["capabilities"], json!(["ViewBase", "ManageEndpoint"]));
    assert!(shown["expiresAt"].is_string(), "{shown}");
    assert_eq!(add(&token(shown["url"].as_str().unwrap())).await, 201);

    for (arguments, said) in [
        (&["portal-link", "nowhere"][..], "there is no application with the id or uid"),
        (&["portal-link", "customer-17", "--capability", "Everything"], "it must be one of ViewBase"),
        (&["portal-link", "customer-17", "--expires-in-hours", "169"], "169 is not in 1..=168"),
    ] {
        let (succeeded, output) = provider(data.path(), &[&["application"], arguments].concat());
        assert!(!succeeded && output.contains(said), "{output}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn stuck_deliveries_are_listed_and_an_endpoint_is_disabled_and_enabled_while_the_server_runs() {
    let data = tempfile::tempdir().unwrap();
    let launch = launch(data.path()).set("PROVIDER__RETRY_SCHEDULE", "1h");
    let _server = launch.start(&http_client()).await.unwrap();
    let site = CustomerSite::set_up(&launch, &launch).await.unwrap();
    assert_eq!(provider(data.path(), &["stuck"]), (true, "No delivery waits.\n".to_owned()));

    site.receiver.respond_with(StatusCode::SERVICE_UNAVAILABLE);
    let message = json!({ "eventType": "ITEM_STATUS_CHANGE", "payload": { "status": "SOLD" } });
    site.provider.post(&format!("/api/v1/app/{}/msg", site.application), &message).await.unwrap();
    let stuck = async || {
        let (_, output) = provider(data.path(), &["stuck", "--json"]);
        objects(&output)
    };
    wait_for_status(200, async || if stuck().await[0]["why"] == "failing" { 200 } else { 0 }).await;
    let listed = stuck().await;
    assert_eq!((listed.len(), &listed[0]["endpoint"], &listed[0]["waiting"]), (1, &json!(site.endpoint), &json!(1)));
    assert_eq!((&listed[0]["lastCode"], &listed[0]["application"]), (&json!(503), &json!(site.application)));
    assert!(listed[0]["nextAt"].as_str() > listed[0]["oldestAt"].as_str(), "{listed:?}");
    let (_, output) = provider(data.path(), &["stuck"]);
    assert!(output.contains("failing since") && output.contains("last status 503"), "{output}");
    assert_eq!(provider(data.path(), &["stuck", "--older-than-minutes", "5"]).1, "No delivery waits.\n");

    let (_, shown) = provider(data.path(), &["endpoint", "show", &site.endpoint, "--json"]);
    let shown = &objects(&shown)[0];
    assert_eq!((&shown["waiting"], &shown["disabled"]), (&json!(1), &json!(false)));
    let seen = async || {
        let path = format!("/api/v1/app/{}/endpoint/{}", site.application, site.endpoint);
        site.provider.get(&path).await.unwrap().body["disabled"] == true
    };
    let (succeeded, output) = provider(data.path(), &["endpoint", "disable", &site.endpoint]);
    assert!(
        !succeeded && output.contains("drop 1 waiting delivery") && output.contains("--yes"),
        "no waiting delivery is listed: {output}"
    );
    for (command, yes, disabled) in [("disable", &["--yes"][..], true), ("enable", &[], false)] {
        let (succeeded, output) = provider(data.path(), &[&["endpoint", command, &site.endpoint], yes].concat());
        assert!(succeeded && output.contains(&format!("is {command}d")), "{output}");
        assert_eq!(seen().await, disabled);
    }
    let (_, listed) = provider(data.path(), &["endpoint", "list", &site.application, "--json"]);
    assert_eq!(objects(&listed).len(), 1);
    let delete = ["endpoint", "delete", &site.endpoint];
    let (succeeded, output) = provider(data.path(), &delete);
    assert!(!succeeded && output.contains("with its secret") && output.contains("--yes"), "{output}");
    assert!(provider(data.path(), &[&delete[..], &["--yes"]].concat()).0);
    assert_eq!(provider(data.path(), &["endpoint", "list", &site.application]), (true, String::new()));
    assert!(!provider(data.path(), &["endpoint", "show", &site.endpoint]).0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_token_revoked_at_one_node_is_refused_at_the_other_immediately() {
    let data = tempfile::tempdir().unwrap();
    let first = launch(data.path()).database(&testkit::postgres::fresh_database().await.unwrap());
    let second = first.second_node().unwrap();
    let _first = first.start(&http_client()).await.unwrap();
    let _second = second.start(&http_client()).await.unwrap();
    let site = CustomerSite::set_up(&first, &first).await.unwrap();
    let endpoints = format!("/api/v1/app/{}/endpoint", site.application);
    let token = async || {
        let path = format!("/api/v1/auth/app-portal-access/{}", site.application);
        site.provider.post(&path, &json!({})).await.unwrap().text("/token").unwrap().to_owned()
    };
    let (one, other) = (token().await, token().await);
    for node in [&first, &second] {
        assert_eq!([status(node, &one, &endpoints).await, status(node, &other, &endpoints).await], [200, 200]);
    }
    let second_api = ApiClient::new(http_client(), second.provider_url(), &one).unwrap();
    second_api.post("/api/v1/auth/logout", &json!({})).await.unwrap();
    for node in [&first, &second] {
        assert_eq!([status(node, &one, &endpoints).await, status(node, &other, &endpoints).await], [401, 200]);
    }
    let expire = format!("/api/v1/auth/app/{}/expire-all", site.application);
    site.provider.post(&expire, &json!({})).await.unwrap();
    assert_eq!(status(&second, &other, &endpoints).await, 401);
}
