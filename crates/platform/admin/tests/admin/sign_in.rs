//! Signing in and out, and what each role may open.

use platform_core::Role;

use crate::fixture::{Fixture, PASSWORD};

#[tokio::test]
async fn a_user_signs_in_sees_the_requested_page_and_signs_out() {
    let fixture = Fixture::new();
    fixture.user("ann@example.com", Role::Administrator).await;
    let mut visitor = fixture.visitor();
    visitor.get("/customers?after=1").await.leads_to("/sign-in?next=%2Fcustomers%3Fafter%3D1");
    visitor.get("/sign-in?next=%2Fcustomers").await.is(200).shows("value=\"/customers\"").hides("no users yet");
    let fields = [("email", "Ann@example.com"), ("password", PASSWORD), ("next", "/customers")];
    visitor.post("/sign-in", &fields).await.leads_to("/customers");
    let page = visitor.get("/").await;
    page.is(200).shows("ann@example.com").shows("Administrator").shows("Staging").shows("aria-current=\"page\"");
    assert!(page.headers["content-security-policy"].to_str().unwrap().contains("default-src 'none'"));
    visitor.post("/sign-out", &[]).await.leads_to("/sign-in?done=signed-out");
    assert!(!visitor.cookies.contains_key("lotwire_admin"), "{:?}", visitor.cookies);
    assert!(visitor.cookies.contains_key("lotwire_admin_device"), "the device stays known");
    visitor.get("/").await.leads_to("/sign-in");
}

#[tokio::test]
async fn a_wrong_password_is_refused_in_words_and_the_page_keeps_the_address() {
    let fixture = Fixture::new();
    fixture.user("ann@example.com", Role::Viewer).await;
    let mut visitor = fixture.visitor();
    let refused = visitor.post("/sign-in", &[("email", "ann@example.com"), ("password", "wrong")]).await;
    refused
        .is(422)
        .shows("is wrong, or the user is disabled")
        .shows("value=\"ann@example.com\"")
        .hides("value=\"wrong\"");
    for _ in 0..9 {
        visitor.post("/sign-in", &[("email", "ann@example.com"), ("password", "wrong")]).await.is(422);
    }
    let throttled = visitor.post("/sign-in", &[("email", "ann@example.com"), ("password", PASSWORD)]).await;
    throttled.is(429).shows("Try again in 2 minutes.");
}

#[tokio::test]
async fn a_session_that_has_ended_leads_back_to_the_sign_in_page() {
    let fixture = Fixture::new();
    let mut visitor = fixture.signed_in(Role::Viewer).await;
    fixture.clock.advance(std::time::Duration::from_secs(2 * 3_600));
    visitor.get("/").await.is(401).shows("Your session has ended").shows("/admin/sign-in");
    assert!(!visitor.cookies.contains_key("lotwire_admin"));
}

#[tokio::test]
async fn a_role_sees_its_own_pages_and_a_refusal_names_the_roles_that_may() {
    let fixture = Fixture::new();
    let customer = fixture.customer("Hartley & Sons").await;
    for (role, may_read, may_write) in [
        (Role::Administrator, true, true),
        (Role::Support, true, true),
        (Role::Operator, true, false),
        (Role::Viewer, true, false),
        (Role::Clerk, false, false),
    ] {
        let mut visitor = fixture.signed_in(role).await;
        let home = visitor.get("/").await;
        assert_eq!(home.is(200).text.contains("href=\"/admin/customers\""), may_read, "{role:?}");
        visitor.get("/customers").await.is(if may_read { 200 } else { 403 });
        let path = format!("/customers/{customer}");
        for form in ["rename", "connection"] {
            visitor.get(&format!("{path}/{form}")).await.is(if may_write { 200 } else { 403 });
        }
        let refused = visitor.post(&format!("{path}/rename"), &[("name", "Hartley & Sons")]).await;
        refused.is(if may_write { 303 } else { 403 });
        if !may_write {
            refused.shows(&format!("Your role is {}", role.name())).shows("the role administrator or support");
        }
    }
    let mut viewer = fixture.visitor();
    viewer.post("/sign-in", &[("email", "viewer@example.com"), ("password", PASSWORD)]).await.is(303);
    viewer.get(&format!("/customers/{customer}")).await.hides("Connect customer").hides("Rename");
    viewer.get("/nothing").await.is(404).shows("Page not found");
    viewer.get("/customers/not-a-uuid").await.is(404);
}

#[tokio::test]
async fn a_form_of_another_site_is_refused() {
    let fixture = Fixture::new();
    let mut visitor = fixture.signed_in(Role::Administrator).await;
    for origin in [None, Some("https://evil.example")] {
        visitor.origin = origin.map(str::to_owned);
        visitor.post("/customers/new", &[("name", "Forged")]).await.is(403).shows("sent by another site");
        visitor.post("/sign-in", &[("email", "a@b"), ("password", "x")]).await.is(403);
    }
    visitor.get("/customers").await.hides("Forged");
}
