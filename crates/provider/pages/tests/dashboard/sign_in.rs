//! Signing in: the first user, links that work once, passwords, throttling and the end of a session.

use std::time::Duration;

use crate::fixture::{Fixture, PASSWORD};

#[tokio::test]
async fn the_first_user_joins_with_a_code_that_works_once() {
    let fixture = Fixture::new().await;
    let mut browser = fixture.browser();
    browser.get("").await.leads_to("/sign-in");
    let page = browser.get("/sign-in").await;
    page.is(200).shows("Nobody can sign in yet").shows("lotwire provider account sign-in-code");

    let link = fixture.provider.create_sign_in_code(&fixture.account).await.unwrap();
    assert!(!format!("{link:?}").contains("lwpi_"), "{link:?}");
    let (_, code) = link.url.split_once("#key=").unwrap();
    // The form accepts the whole link and the code alone. Opening the page does not use the code.
    for text in [link.url.as_str(), code, &format!(" {code}\n")] {
        browser.post("/join", &[("key", text)]).await.leads_to("/join/account");
    }
    browser.get("/join/account").await.is(200).shows("Hartley &#38; &#60;Sons&#62;").shows("the role Admin");
    let refused = browser.post("/join/account", &[("name", ""), ("email", "ann"), ("password", "short")]).await;
    refused.is(422).shows("must not be empty").shows("must be an e-mail address").shows("at least 12 characters");
    let joining = [("name", "Ann"), ("email", "Ann@Example.com"), ("password", PASSWORD)];
    let joined = browser.post("/join/account", &joining).await;
    joined.leads_to("/");
    let set: Vec<_> = joined.headers.get_all("set-cookie").iter().map(|set| set.to_str().unwrap()).collect();
    assert!(set.iter().all(|set| set.ends_with("; HttpOnly; SameSite=Lax; Secure")), "{set:?}");
    browser.get("/").await.is(200).shows("Overview").shows("Ann");

    let mut other = fixture.browser();
    other.post("/join", &[("key", code)]).await.is(422).shows("was used before");
    fixture.browser().get("/sign-in").await.is(200).hides("Nobody can sign in yet");
}

#[tokio::test]
async fn an_unknown_withdrawn_or_expired_link_is_refused() {
    let fixture = Fixture::new().await;
    let mut browser = fixture.browser();
    let long = "a".repeat(200);
    for key in ["", "lwpi_unknown", "https://hooks.example/dashboard/join#key=lwpi_unknown", &long] {
        let page = browser.post("/join", &[("key", key)]).await;
        page.is(422).shows("This link has expired, was withdrawn or was used before");
        assert!(key.is_empty() || !page.text.contains(key), "the page repeats the refused key");
    }
    let link = fixture.provider.create_sign_in_code(&fixture.account).await.unwrap();
    browser.post("/join", &[("key", &link.url)]).await.leads_to("/join/account");
    fixture.clock.advance(Duration::from_secs(24 * 3_600));
    browser.get("/join/account").await.is(422).shows("has expired");
    let joining = [("name", "Ann"), ("email", "ann@example.com"), ("password", PASSWORD)];
    browser.post("/join/account", &joining).await.is(422).shows("has expired");
}

#[tokio::test]
async fn a_password_signs_in_and_leads_to_the_wanted_page() {
    let fixture = Fixture::new().await;
    fixture.admin().await;
    let mut browser = fixture.browser();
    browser.get("/activity?q=ann").await.leads_to("/sign-in?next=%2Factivity%3Fq%3Dann");
    let wrong = [("email", "ann@example.com"), ("password", "wrong horse battery"), ("next", "/activity?q=ann")];
    let refused = browser.post("/sign-in", &wrong).await;
    refused.is(422).shows("The e-mail address or the password is wrong.").shows("value=\"ann@example.com\"");
    refused.hides("wrong horse battery");
    let unknown = browser.post("/sign-in", &[("email", "bob@example.com"), ("password", PASSWORD)]).await;
    unknown.is(422).shows("The e-mail address or the password is wrong.");
    let right = [("email", " ANN@example.com "), ("password", PASSWORD), ("next", "/activity?q=ann")];
    browser.post("/sign-in", &right).await.leads_to("/activity?q=ann");
    let elsewhere = [("email", "ann@example.com"), ("password", PASSWORD), ("next", "//evil.example")];
    fixture.browser().post("/sign-in", &elsewhere).await.leads_to("/");
}

#[tokio::test]
async fn too_many_attempts_are_delayed_but_not_for_a_device_that_signed_in_before() {
    let fixture = Fixture::new().await;
    let mut ann = fixture.admin().await;
    ann.submit("/sign-out", &[]).await.is(200).shows("You are signed out.");
    // The browser sends the device token to the sign-in pages only. Joining has set it.
    let mut stranger = fixture.browser();
    for _ in 0..5 {
        let guess = [("email", "ann@example.com"), ("password", "a guess of a password")];
        stranger.post("/sign-in", &guess).await.is(422);
    }
    let right = [("email", "ann@example.com"), ("password", PASSWORD)];
    stranger.post("/sign-in", &right).await.is(429).shows("Try again in 3 minutes.");
    ann.post("/sign-in", &right).await.leads_to("/");
    fixture.clock.advance(Duration::from_secs(180));
    stranger.post("/sign-in", &right).await.leads_to("/");
}

#[tokio::test]
async fn a_session_ends_when_it_is_unused_expired_or_signed_out() {
    let fixture = Fixture::new().await;
    let mut ann = fixture.admin().await;
    fixture.clock.advance(Duration::from_secs(3_599));
    ann.get("/").await.is(200);
    fixture.clock.advance(Duration::from_secs(3_600));
    ann.get("/").await.is(401).shows("Your session has ended");
    assert!(!ann.cookies.contains_key("lotwire_dashboard"));

    let right = [("email", "ann@example.com"), ("password", PASSWORD)];
    ann.post("/sign-in", &right).await.leads_to("/");
    for _ in 0..12 {
        ann.get("/").await.is(200);
        fixture.clock.advance(Duration::from_secs(3_599));
    }
    fixture.clock.advance(Duration::from_secs(12));
    ann.get("/").await.is(401);

    ann.post("/sign-in", &right).await.leads_to("/");
    let session = ann.cookie("lotwire_dashboard");
    ann.submit("/sign-out", &[]).await.is(200);
    ann.set_cookie("lotwire_dashboard", &session);
    ann.get("/").await.is(401);
    // Signing out twice succeeds.
    ann.submit("/sign-out", &[]).await.is(200);
}

#[tokio::test]
async fn pages_have_security_headers_and_refuse_forms_of_other_sites() {
    let fixture = Fixture::new().await;
    let mut ann = fixture.admin().await;
    let page = ann.get("/users").await;
    let policy = page.is(200).headers["content-security-policy"].to_str().unwrap();
    assert!(policy.starts_with("default-src 'none'") && policy.ends_with("frame-ancestors 'none'"), "{policy}");
    assert_eq!(page.headers["cache-control"], "no-store");
    page.hides("style=").hides("<script>").hides("onclick");
    for cookie in
        ["lotwire_dashboard=lwps_unknown", "lotwire_dashboard=", &format!("lotwire_dashboard={}", "a".repeat(300))]
    {
        let mut other = fixture.browser();
        let (name, value) = cookie.split_once('=').unwrap();
        other.set_cookie(name, value);
        let page = other.get("/users").await;
        assert!(matches!(page.status, 303 | 401), "{cookie}: {}", page.status);
    }
}

#[tokio::test]
async fn every_page_begins_with_the_chosen_colour_scheme() {
    let fixture = Fixture::new().await;
    let mut browser = fixture.browser();
    browser.get("/sign-in").await.is(200).shows("<html lang=\"en\" data-colours=\"system\">");
    browser.post("/colours", &[("colours", "dark")]).await.leads_to("/");
    let page = browser.get("/sign-in").await;
    page.is(200).shows("data-colours=\"dark\"").shows("name=\"color-scheme\" content=\"dark\"");
    page.shows("value=\"dark\" aria-pressed=\"true\"");
    browser.get("/nothing").await.is(404).shows("data-colours=\"dark\"");
    let mut ann = fixture.admin().await;
    ann.post("/colours", &[("colours", "light")]).await.leads_to("/");
    ann.get("/applications").await.is(200).shows("data-colours=\"light\"");
    ann.post("/colours", &[("colours", "odd")]).await.leads_to("/");
    ann.get("/applications").await.is(200).shows("data-colours=\"system\"");
}
