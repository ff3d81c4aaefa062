//! No secret and no payload appears in the log, even at the most detailed level, or in an error.

use std::path::Path;

use consumer::{ApiClient, ApiError};
use http::header::{CONTENT_TYPE, COOKIE, ORIGIN, SET_COOKIE};
use http::{HeaderMap, HeaderValue, Method};
use kit_outbound::Request;
use serde_json::{Value, json};
use testkit::server::Launch;
use testkit::site::{CustomerSite, http_client};

use crate::support::{WAIT_MAX, launch, received, webcast};

/// Texts that must not appear in the log.
const PAYLOAD: &str = "Paddle-4242-of-Mrs-Alderton";
const HEADER: &str = "header-secret-7f3a";
const WRONG_KEY: &str = "lwp_ThisKeyIsWrongAndMustNotBeInAnyLogOrError4";

#[tokio::test(flavor = "multi_thread")]
async fn no_secret_and_no_payload_is_in_the_log_with_sqlite() {
    let data = tempfile::tempdir().unwrap();
    let log = data.path().join("log");
    exercise_everything_and_search_the_log(launch(data.path()).trace_to(&log), &log).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn no_secret_and_no_payload_is_in_the_log_with_postgresql() {
    let data = tempfile::tempdir().unwrap();
    let log = data.path().join("log");
    let database = testkit::postgres::fresh_database().await.unwrap();
    exercise_everything_and_search_the_log(launch(data.path()).database(&database).trace_to(&log), &log).await;
}

async fn exercise_everything_and_search_the_log(launch: Launch, log: &Path) {
    let server = launch.start(&http_client()).await.unwrap();
    let site = CustomerSite::set_up(&launch, &launch).await.unwrap();
    let mut secrets = vec![site.provider_key.clone(), PAYLOAD.into(), HEADER.into(), WRONG_KEY.into()];
    secrets.extend(exercise_provider(&site, &launch).await);
    // An event of the platform passes through publisher and provider.
    webcast(&site, 1).await;
    received(&site, 1).await;
    drop(server);

    let lines = std::fs::read_to_string(log).unwrap();
    assert!(lines.contains("TRACE") && lines.contains("DEBUG"), "the log lacks the most detailed levels");
    for secret in secrets {
        // The prefix of a key is not secret.
        let hidden = secret.split_once('_').map_or(secret.as_str(), |(_, hidden)| hidden);
        assert!(hidden.len() >= 12, "{hidden} is too short to search for");
        let found = lines.lines().find(|line| line.contains(hidden));
        assert_eq!(found, None, "{secret} is in the log");
    }
}

/// Uses the provider's API, and returns the secrets that were involved.
async fn exercise_provider(site: &CustomerSite, launch: &Launch) -> Vec<String> {
    let (api, app) = (&site.provider, format!("/api/v1/app/{}", site.application));
    let schema = json!({ "name": "BID", "description": "d", "schemas": { "1": { "required": ["lot"] } } });
    api.post("/api/v1/event-type", &schema).await.unwrap();
    let endpoint = json!({ "url": site.receiver.url(), "uid": "hook", "headers": { "x-api-key": HEADER },
        "secret": "whsec_QWxkZXJ0b24tYW5kLVNvbnMtYXJlLXNlY3JldA==", "eventTypes": ["BID"] });
    api.post(&format!("{app}/endpoint"), &endpoint).await.unwrap();
    let old = text(api.get(&format!("{app}/endpoint/hook/secret")).await.unwrap().body, "key");
    let rotated = api.post(&format!("{app}/endpoint/hook/secret/rotate"), &json!({})).await.unwrap();
    let access = api.post(&format!("/api/v1/auth/app-portal-access/{}", site.application), &json!({})).await.unwrap();
    let (token, url) = (text(access.body.clone(), "token"), text(access.body, "url"));
    let portal = ApiClient::new(http_client(), launch.provider_url(), &token).unwrap();
    portal.get(&format!("{app}/endpoint")).await.unwrap();

    let message = |payload: Value| json!({ "eventType": "BID", "payload": payload });
    let before = site.receiver.requests();
    api.post(&format!("{app}/msg"), &message(json!({ "lot": PAYLOAD }))).await.unwrap();
    assert!(site.receiver.wait_until(WAIT_MAX, |_| site.receiver.requests() > before).await);

    // Errors contain the reason, but not the refused values.
    let account = text(api.get("/api/v1/account").await.unwrap().body, "id");
    let check = ["provider", "account", "set", &account, "--payload-check", "reject", "--json"];
    assert_eq!(launch.run_command(&check).unwrap()["payloadCheck"], "reject");
    // The server applies the account's setting within seconds.
    let mismatch = message(json!({ "bidder": PAYLOAD }));
    let followed = async { while api.post(&format!("{app}/msg"), &mismatch).await.is_ok() {} };
    tokio::time::timeout(WAIT_MAX, followed).await.expect("the server did not apply the setting");
    let wrong = ApiClient::new(http_client(), launch.provider_url(), WRONG_KEY).unwrap();
    let refused = [
        (wrong.get(&app).await, 401),
        (portal.post(&format!("{app}/msg"), &message(json!({ "lot": PAYLOAD }))).await, 403),
        (api.post(&format!("{app}/msg"), &mismatch).await, 422),
        (api.post(&format!("{app}/msg"), &json!({ "eventType": "BID", "payload": PAYLOAD })).await, 422),
        (api.post(&format!("{app}/endpoint"), &json!({ "url": PAYLOAD, "secret": HEADER })).await, 422),
    ];
    for (answer, status) in refused {
        let error: ApiError = answer.unwrap_err();
        assert_eq!(error.status().map(|status| status.as_u16()), Some(status), "{error}");
        for secret in [PAYLOAD, HEADER, WRONG_KEY, &token] {
            assert!(!error.to_string().contains(secret), "{error}");
        }
    }
    let key = url.split_once("#key=").unwrap().1.to_owned();
    let portal_secret = exercise_portal(site, launch, &key).await;
    portal.post("/api/v1/auth/logout", &json!({})).await.unwrap();
    vec![old, text(rotated.body, "key"), token, key, portal_secret]
}

/// Signs in to the App Portal with a magic link's key and rotates a secret to a chosen one, which it returns.
async fn exercise_portal(site: &CustomerSite, launch: &Launch, key: &str) -> String {
    let send = async |path: &str, cookie: &str, form: String| {
        let mut headers = HeaderMap::new();
        headers.insert(ORIGIN, launch.provider_url().parse().unwrap());
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/x-www-form-urlencoded"));
        headers.insert(COOKIE, cookie.parse().unwrap());
        let to = format!("{}/app-portal{path}", launch.provider_url()).parse().unwrap();
        let deadline = WAIT_MAX;
        let response_bytes_max = 1_000_000;
        let headers = headers.into();
        let request = Request { method: Method::POST, to, headers, body: form.into(), deadline, response_bytes_max };
        site.http.send(request).await.unwrap()
    };
    let escaped = key.replace('+', "%2B").replace('/', "%2F").replace('=', "%3D");
    let opened = send("/login", "a=b", format!("key={escaped}")).await;
    assert_eq!(opened.status.as_u16(), 303);
    let cookie = opened.headers[SET_COOKIE].to_str().unwrap().split(';').next().unwrap().to_owned();
    let page = format!("/endpoints/{}/secret", site.endpoint);
    let own = "whsec_UG9ydGFsLXNlY3JldHMtYXJlLXNlY3JldC10b28=";
    let rotated = send(&format!("{page}/rotate"), &cookie, format!("key={}", own.replace('=', "%3D"))).await;
    assert_eq!(rotated.status.as_u16(), 303);
    let revealed = send(&format!("{page}/reveal"), &cookie, String::new()).await;
    assert!(String::from_utf8_lossy(&revealed.body).contains(own));
    site.receiver.set_secret(own).unwrap();
    own.to_owned()
}

fn text(body: Value, field: &str) -> String {
    body[field].as_str().unwrap().to_owned()
}
