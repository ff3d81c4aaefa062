//! Protection against cross-site request forgery, and the security headers of responses.

use provider_core::PortalAccessInput;

use crate::fixture::{Fixture, at, visitor_of};

#[tokio::test]
async fn a_form_of_another_site_changes_nothing() {
    let fixture = Fixture::new().await;
    let endpoint = fixture.endpoint(at("https://example.com/")).await;
    let mut visitor = fixture.visitor().await;
    let path = format!("/endpoints/{}", endpoint.id);
    for origin in [Some("https://evil.example"), Some("null"), None] {
        visitor.origin = origin.map(str::to_owned);
        for (path, fields) in [
            ("/endpoints/new".to_owned(), &[("url", "https://evil.example/")][..]),
            (format!("{path}/settings"), &[("url", "https://evil.example/")]),
            (format!("{path}/disable"), &[]),
            (format!("{path}/delete"), &[]),
            (format!("{path}/secret/rotate"), &[]),
            (format!("{path}/secret/reveal"), &[]),
            (format!("{path}/headers"), &[("name", "x-a"), ("value", "b")]),
            (format!("{path}/example"), &[("eventType", "svix.ping")]),
            (format!("{path}/replay"), &[("what", "failed"), ("hours", "1")]),
            ("/logout".to_owned(), &[]),
        ] {
            visitor.post(&path, fields).await.is(403).shows("sent by another site");
        }
    }
    let list = visitor.get("/endpoints").await;
    list.is(200).shows("https://example.com/").hides("evil").shows("Enabled");
    let same = fixture.provider.endpoint(&fixture.account, &fixture.app.id, &endpoint.id).await.unwrap();
    assert_eq!(same, endpoint);
}

#[tokio::test]
async fn the_form_of_another_site_can_not_sign_in() {
    let fixture = Fixture::new().await;
    let token = fixture.link(PortalAccessInput::default()).await.token;
    let mut visitor = visitor_of(&fixture.server);
    visitor.origin = Some("https://evil.example".into());
    visitor.post("/login", &[("key", &token)]).await.is(403);
    assert!(visitor.cookies.is_empty());
}

#[tokio::test]
async fn every_response_has_security_headers() {
    let fixture = Fixture::new().await;
    let mut visitor = fixture.visitor().await;
    for (path, status) in
        [("/endpoints", 200), ("/nowhere", 404), ("/endpoints/ep_1", 404), ("/logout", 405), ("", 303)]
    {
        let answer = visitor.get(path).await;
        answer.is(status);
        let header = |name: &str| answer.headers[name].to_str().unwrap();
        let policy = header("content-security-policy");
        assert!(policy.starts_with("default-src 'none'; ") && policy.contains("frame-ancestors 'none'"), "{policy}");
        assert!(!policy.contains("unsafe"), "{policy}");
        assert_eq!(header("x-content-type-options"), "nosniff");
        assert_eq!(header("cache-control"), "no-store");
        assert_eq!(header("referrer-policy"), "same-origin");
        assert!(answer.headers.contains_key("x-request-id"));
        assert!(!answer.headers.contains_key("access-control-allow-origin"));
        if status >= 400 {
            assert!(header("content-type").starts_with("text/html"));
            answer.shows("Show endpoints").shows("<h1>");
        }
    }
}

#[tokio::test]
async fn pages_have_no_inline_script_or_style_and_assets_are_cached() {
    let fixture = Fixture::new().await;
    let mut visitor = fixture.visitor().await;
    let page = visitor.get("/endpoints/new").await.text;
    assert!(!page.contains("<style") && !page.contains(" style=") && !page.contains("javascript:"), "{page}");
    assert_eq!(page.matches("<script").count(), page.matches("<script src=").count());
    let mut files = 0;
    for (at, _) in page.match_indices("/app-portal/static/") {
        let path = page[at..].split('"').next().unwrap().strip_prefix("/app-portal").unwrap();
        let file = visitor.get(path).await;
        file.is(200);
        assert_eq!(file.headers["cache-control"], "public, max-age=31536000, immutable");
        assert!(file.text.len() > 100);
        files += 1;
    }
    assert!(files >= 3);
    visitor.get("/static/style.0000000000000000.css").await.is(404);
}
