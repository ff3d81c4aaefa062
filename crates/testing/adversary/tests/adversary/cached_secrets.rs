//! No cache and no browser may store a response that contains a secret.

use http::{HeaderMap, Method};
use kit_outbound::{Headers, Request};
use serde_json::{Value, json};
use testkit::site::http_client;

use crate::browser::{PASSWORD, dashboard_user, portal_visitor};
use crate::support::{Account, Running, WAIT_MAX};

/// Sends a request, and returns its headers and body.
async fn call(url: String, key: &str, method: Method, body: &Value) -> (HeaderMap, Value) {
    let mut headers = Headers::default();
    headers.add(&http::header::AUTHORIZATION, format!("Bearer {key}").as_bytes());
    headers.add(&http::header::CONTENT_TYPE, b"application/json");
    let text = if body.is_null() { String::new() } else { body.to_string() };
    let request = || Request {
        method: method.clone(),
        to: url.parse().unwrap(),
        headers: headers.clone(),
        body: text.clone().into(),
        deadline: WAIT_MAX,
        response_bytes_max: 1 << 20,
    };
    let answer = http_client().send_idempotent(request).await.unwrap();
    assert!(answer.status.is_success(), "{method} {url}: {} {:?}", answer.status, answer.body);
    (answer.headers, serde_json::from_slice(&answer.body).unwrap_or_default())
}

#[tokio::test(flavor = "multi_thread")]
async fn no_response_with_a_secret_may_be_stored() {
    let running = Running::new(&[]).await;
    let (platform, provider) = (running.launch.platform_url(), running.launch.provider_url());
    let staff = running.launch.create_staff_key("staff").unwrap();
    let account = Account::new(&running, "secrets").await;
    let endpoint = account.endpoint("https://example.com/hook").await;
    let application = format!("{provider}/api/v1/app/{}", account.application);
    let get = Method::GET;
    let post = Method::POST;
    let mut answers = 0;
    let mut is_not_kept = |what: &str, headers: &HeaderMap| {
        assert_eq!(headers.get("cache-control").map(|value| value.to_str().unwrap()), Some("no-store"), "{what}");
        answers += 1;
    };

    // The platform: keys, passwords, sessions, second factors, recovery codes.
    let wanted = json!({ "name": "k", "scopes": ["auctions:read"] });
    let (headers, key) = call(format!("{platform}/api/v1/api-keys"), &staff, post.clone(), &wanted).await;
    assert!(key.to_string().contains("lw_"), "{key}");
    is_not_kept("an API key", &headers);
    let user = json!({ "email": "ann@example.com", "role": "administrator" });
    let (headers, user) = call(format!("{platform}/api/v1/users"), &staff, post.clone(), &user).await;
    let password = user["password"].as_str().unwrap_or_else(|| panic!("{user}"));
    is_not_kept("a password", &headers);
    let credentials = json!({ "email": "ann@example.com", "password": password });
    let (headers, session) = call(format!("{platform}/api/v1/sessions"), "", post.clone(), &credentials).await;
    let session = session["token"].as_str().unwrap_or_else(|| panic!("{session}")).to_owned();
    is_not_kept("a session", &headers);
    // A user who was created with a password chooses another one first.
    let chosen = json!({ "old": password, "new": PASSWORD });
    let (headers, _) = call(format!("{platform}/api/v1/me/password"), &session, post.clone(), &chosen).await;
    is_not_kept("a new password", &headers);
    let credentials = json!({ "email": "ann@example.com", "password": PASSWORD });
    let (_, again) = call(format!("{platform}/api/v1/sessions"), "", post.clone(), &credentials).await;
    let session = again["token"].as_str().unwrap();
    let enrolling = json!({ "password": PASSWORD });
    let (headers, _) = call(format!("{platform}/api/v1/me/second-factor"), session, post.clone(), &enrolling).await;
    is_not_kept("the secret of a second factor", &headers);

    // The provider: secrets of endpoints, links and tokens of portals.
    for (what, path, method, body) in [
        ("a signing secret", format!("{application}/endpoint/{endpoint}/secret"), &get, Value::Null),
        ("a rotated secret", format!("{application}/endpoint/{endpoint}/secret/rotate"), &post, json!({})),
        ("custom headers", format!("{application}/endpoint/{endpoint}/headers"), &get, Value::Null),
        (
            "a link to a portal",
            format!("{provider}/api/v1/auth/app-portal-access/{}", account.application),
            &post,
            json!({}),
        ),
        (
            "an older link to a portal",
            format!("{provider}/api/v1/auth/dashboard-access/{}", account.application),
            &post,
            json!({}),
        ),
        ("a message", format!("{application}/msg"), &post, json!({ "eventType": "a", "payload": {} })),
    ] {
        let (headers, _) = call(path, &account.key, method.clone(), &body).await;
        is_not_kept(what, &headers);
    }

    // Pages.
    let mut visitor = portal_visitor(&running, &account, &account.application).await;
    let revealed = visitor.post(&format!("/endpoints/{endpoint}/secret/reveal"), &[]).await;
    assert!(revealed.status == 200 && revealed.body.contains("whsec_"), "{}", revealed.body);
    assert_eq!(revealed.header("cache-control"), "no-store");
    let account = running.launch.create_provider_account("users").unwrap();
    let (mut ann, _) = dashboard_user(&running, &account).await;
    for path in ["/api-access", "/users", "/profile"] {
        let page = ann.get(path).await;
        assert_eq!((page.status, page.header("cache-control")), (200, "no-store"), "{path}");
    }
    println!("cached_secrets: {} answers", answers + 4);
}
