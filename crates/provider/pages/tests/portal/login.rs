//! Signing in with a magic link, and the end of a session.

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use provider_core::{PortalAccessInput, ProviderConfig, ProviderError};

use crate::fixture::{Fixture, visitor_of};

#[tokio::test]
async fn a_link_opens_the_portal_of_its_application() {
    let fixture = Fixture::new().await;
    let link = fixture.link(PortalAccessInput::default()).await;
    let (page, key) = link.url.split_once("#key=").unwrap();
    assert_eq!(page, format!("{}/app-portal/login", fixture.server));
    let mut visitor = visitor_of(&fixture.server);
    visitor.get("/login").await.is(200).shows("Link or key");
    // The form accepts the whole link, its key, and the token with or without a region.
    for text in [&link.url, key, &link.token, &format!("{}.eu", link.token), &format!("  {key}\n")] {
        visitor.cookies.clear();
        let answer = visitor.post("/login", &[("key", text)]).await;
        answer.leads_to("/endpoints");
        let set = answer.headers["set-cookie"].to_str().unwrap();
        assert!(set.ends_with("; Path=/app-portal; Max-Age=604800; HttpOnly; SameSite=Lax"), "{set}");
        visitor.get("/endpoints").await.is(200).shows("Hammer &#38; ").shows("No endpoints yet");
    }
    for path in ["", "/"] {
        visitor.get(path).await.leads_to("/endpoints");
    }
    visitor.get("/endpoints/").await.is(200);
}

#[tokio::test]
async fn the_cookie_and_links_follow_the_public_url() {
    let config = ProviderConfig { public_url: "https://hooks.example/webhooks/".into(), ..ProviderConfig::default() };
    let fixture = Fixture::with(config).await;
    let link = fixture.link(PortalAccessInput::default()).await;
    assert!(link.url.starts_with("https://hooks.example/webhooks/app-portal/login#key="), "{}", link.url);
    // A proxy removes the prefix of the path.
    let mut visitor = visitor_of(&fixture.server);
    visitor.origin = Some("https://hooks.example".into());
    visitor.removed_by_proxy = "/webhooks";
    let answer = visitor.post("/login", &[("key", &link.token)]).await;
    assert_eq!(answer.is(303).header("location"), Some("/webhooks/app-portal/endpoints"));
    let set = answer.headers["set-cookie"].to_str().unwrap();
    assert!(set.ends_with("; Path=/webhooks/app-portal; Max-Age=604800; HttpOnly; SameSite=Lax; Secure"), "{set}");
    visitor.get("/endpoints").await.is(200).shows("href=\"/webhooks/app-portal/endpoints/new\"");
}

#[tokio::test]
async fn an_invalid_link_or_key_is_refused_with_an_explanation() {
    let fixture = Fixture::new().await;
    let mut visitor = visitor_of(&fixture.server);
    let unknown = STANDARD.encode(r#"{"appId":"app_1","token":"appsk_unknown"}"#);
    for (key, said) in [
        ("", "This is not a link or key"),
        ("two words", "This is not a link or key"),
        ("e30=", "This is not a link or key"),
        ("appsk_unknown", "This link has expired"),
        (&unknown, "This link has expired"),
        (&fixture.key, "This is an API key"),
    ] {
        let answer = visitor.post("/login", &[("key", key)]).await;
        answer.is(422).shows(said);
        assert!(visitor.cookies.is_empty(), "{key}");
        assert!(key.is_empty() || !answer.text.contains(key), "the page repeats the refused key");
    }
}

#[tokio::test]
async fn too_many_wrong_keys_are_rate_limited() {
    let fixture = Fixture::new().await;
    let mut visitor = visitor_of(&fixture.server);
    for number in 0..20 {
        visitor.post("/login", &[("key", &format!("appsk_{number}"))]).await.is(422);
    }
    let refused = visitor.post("/login", &[("key", "appsk_20")]).await;
    refused.is(429).shows("Too many requests");
    assert!(refused.headers.contains_key("retry-after"));
}

#[tokio::test]
async fn a_large_sign_in_form_is_refused() {
    let fixture = Fixture::new().await;
    let mut visitor = visitor_of(&fixture.server);
    for (bytes, status) in [(8_000, 422), (8 * 1024, 413)] {
        visitor.post("/login", &[("key", &"a".repeat(bytes))]).await.is(status);
    }
}

#[tokio::test]
async fn pages_require_a_session() {
    let fixture = Fixture::new().await;
    let mut visitor = visitor_of(&fixture.server);
    for path in ["/endpoints", "/endpoints/new", "/messages", "/event-types", "/endpoints/ep_1/secret"] {
        visitor.get(path).await.leads_to("/login");
    }
    visitor.post("/endpoints/new", &[("url", "https://example.com")]).await.is(401).shows("Your session has ended");
    for token in ["appsk_unknown", &fixture.key] {
        visitor.set_cookie("lotwire_app_portal", token);
        visitor.get("/endpoints").await.is(401).shows("Sign in with a link or key");
        assert!(visitor.cookies.is_empty(), "the response removes an invalid cookie");
    }
}

#[tokio::test]
async fn logging_out_ends_the_token_and_leaves_others() {
    let fixture = Fixture::new().await;
    let (mut one, mut other) = (fixture.visitor().await, fixture.visitor().await);
    let token = one.cookie("lotwire_app_portal");
    one.submit("/logout", &[]).await.is(200).shows("You are logged out");
    assert!(one.cookies.is_empty());
    assert!(matches!(fixture.provider.authenticate(&token).await, Err(ProviderError::Unauthenticated)));
    one.set_cookie("lotwire_app_portal", &token);
    one.get("/endpoints").await.is(401);
    // Logging out twice succeeds.
    one.submit("/logout", &[]).await.is(200);
    other.get("/endpoints").await.is(200);
}

#[tokio::test]
async fn a_session_ends_with_its_token() {
    let fixture = Fixture::new().await;
    let mut hour = visitor_of(&fixture.server);
    let input = PortalAccessInput { expiry_seconds: Some(3_600), ..PortalAccessInput::default() };
    let answer = hour.post("/login", &[("key", &fixture.link(input).await.token)]).await;
    assert!(answer.headers["set-cookie"].to_str().unwrap().contains("Max-Age=3600;"));
    let mut week = fixture.visitor().await;
    fixture.clock.advance(Duration::from_secs(3_599));
    hour.get("/endpoints").await.is(200);
    fixture.clock.advance(Duration::from_secs(1));
    hour.get("/endpoints").await.is(401).shows("Your session has ended");
    week.get("/endpoints").await.is(200);
    fixture.provider.end_app_tokens(&fixture.account, &fixture.app.id, None, None).await.unwrap();
    week.get("/endpoints").await.is(401).shows("Your session has ended");
    let mut gone = fixture.visitor().await;
    fixture.provider.delete_application(&fixture.account, &fixture.app.id).await.unwrap();
    gone.get("/endpoints").await.is(401);
}
