//! Users: invitations, roles, lost passwords and removal.

use std::time::Duration;

use crate::fixture::{Fixture, PASSWORD};

#[tokio::test]
async fn an_invited_user_joins_with_the_role_of_the_link() {
    let fixture = Fixture::new().await;
    let mut ann = fixture.admin().await;
    ann.get("/users").await.is(200).shows("ann@example.com").shows("have not joined yet appear here");
    let refused = ann.post("/users/invite", &[("note", " "), ("role", "support")]).await;
    refused.is(422).shows("must not be empty");
    ann.post("/users/invite", &[("note", "Bob"), ("role", "owner")]).await.is(422).shows("Choose a role.");
    let page = ann.post("/users/invite", &[("note", "Bob <of> sales"), ("role", "support")]).await;
    page.is(200).shows("is shown only now").shows("Bob &#60;of&#62; sales");
    let url = page.text_of("link");
    let listed = ann.get("/users").await;
    listed.is(200).shows("Bob &#60;of&#62; sales").shows("Withdraw link").hides("lwpi_");

    let mut bob = fixture.join(&url, "Bob", "bob@example.com").await;
    bob.get("/users").await.is(200).shows("bob@example.com").shows("Support").hides("Invite user");
    ann.get("/users").await.shows("have not joined yet appear here");

    let taken = ann.post("/users/invite", &[("note", "Eve"), ("role", "viewer")]).await.text_of("link");
    let mut eve = fixture.browser();
    eve.post("/join", &[("key", &taken)]).await.leads_to("/join/account");
    let joining = [("name", "Eve"), ("email", "BOB@example.com"), ("password", PASSWORD)];
    eve.post("/join/account", &joining).await.is(422).shows("Another user has this e-mail address already");
}

#[tokio::test]
async fn a_withdrawn_link_does_not_work() {
    let fixture = Fixture::new().await;
    let mut ann = fixture.admin().await;
    let url = ann.post("/users/invite", &[("note", "Bob"), ("role", "member")]).await.text_of("link");
    let list = ann.get("/users").await.text;
    let (_, rest) = list.split_once("/users/invitations/").unwrap();
    let id = rest.split_once('/').unwrap().0;
    let path = format!("/users/invitations/{id}/withdraw");
    ann.submit(&path, &[("note", "Bob")]).await.is(200).shows("The link was withdrawn");
    fixture.browser().post("/join", &[("key", &url)]).await.is(422);
    ann.post(&path, &[]).await.is(404);
}

#[tokio::test]
async fn a_refusal_names_the_role_that_is_needed() {
    let fixture = Fixture::new().await;
    let mut ann = fixture.admin().await;
    for role in ["viewer", "support", "member"] {
        let mut user = fixture.invited(&mut ann, role, role).await;
        for path in ["/users", "/activity", "/api-access", "/account", "/profile"] {
            user.get(path).await.is(200);
        }
        for path in ["/users/invite", "/api-access/new"] {
            user.get(path).await.is(403).shows("This needs the role Admin");
        }
        for path in ["/users/invite", "/api-access/new", "/account", "/users/per_1/remove"] {
            user.post(path, &[]).await.is(403).shows("This needs the role Admin");
        }
    }
}

#[tokio::test]
async fn a_new_role_applies_from_the_next_request() {
    let fixture = Fixture::new().await;
    let mut ann = fixture.admin().await;
    let mut bob = fixture.invited(&mut ann, "viewer", "Bob").await;
    let bobs = id_of(&mut ann, "Bob").await;
    bob.get("/users/invite").await.is(403);
    ann.submit(&format!("{bobs}/role"), &[("role", "admin")]).await.is(200).shows("The role was changed");
    bob.get("/users/invite").await.is(200);
    ann.post(&format!("{bobs}/role"), &[("role", "owner")]).await.is(400);
    let anns = id_of(&mut bob, "Ann").await;
    bob.submit(&format!("{anns}/role"), &[("role", "viewer")]).await.is(200);
    ann.get("/users/invite").await.is(403);
    let page = bob.get(&bobs).await;
    page.is(200).shows("the only Admin of the account").hides("Change role").hides("Remove user");
    let page = bob.get(&format!("{bobs}/remove")).await;
    page.is(200).shows("the only Admin of the account").hides("class=\"danger\"");
    bob.post(&format!("{bobs}/role"), &[("role", "viewer")]).await.is(409).shows("This is the last Admin");
    bob.post(&format!("{bobs}/remove"), &[]).await.is(409).shows("This is the last Admin");
}

#[tokio::test]
async fn a_removed_user_is_signed_out_and_can_not_sign_in() {
    let fixture = Fixture::new().await;
    let mut ann = fixture.admin().await;
    let mut bob = fixture.invited(&mut ann, "member", "Bob").await;
    let bobs = id_of(&mut ann, "Bob").await;
    let page = ann.get(&format!("{bobs}/remove")).await;
    page.is(200).shows("bob@example.com will not be able to sign in").shows("Their session ends at once");
    ann.submit(&format!("{bobs}/remove"), &[]).await.is(200).shows("The user was removed");
    bob.get("/").await.is(401);
    bob.post("/sign-in", &[("email", "bob@example.com"), ("password", PASSWORD)]).await.is(422);
    ann.get(&bobs).await.is(404);
}

#[tokio::test]
async fn an_admin_ends_sessions_and_creates_a_link_for_a_new_password() {
    let fixture = Fixture::new().await;
    let mut ann = fixture.admin().await;
    let mut bob = fixture.invited(&mut ann, "member", "Bob").await;
    let bobs = id_of(&mut ann, "Bob").await;
    ann.get(&bobs).await.is(200).shows("Test browser");
    ann.submit(&format!("{bobs}/sessions/end"), &[]).await.is(200).shows("sessions have ended");
    bob.get("/").await.is(401);

    let page = ann.post(&format!("{bobs}/password-link"), &[]).await;
    let url = page.is(200).shows("chooses a new password").text_of("link");
    bob.post("/join", &[("key", &url)]).await.leads_to("/join/account");
    bob.get("/join/account").await.is(200).shows("Choose a new password").shows("bob@example.com");
    let joined = bob.post("/join/account", &[("password", "another horse battery")]).await;
    joined.leads_to("/");
    bob.get("/users").await.is(200).hides("Invite user");
    let mut other = fixture.browser();
    other.post("/sign-in", &[("email", "bob@example.com"), ("password", PASSWORD)]).await.is(422);
    let new = [("email", "bob@example.com"), ("password", "another horse battery")];
    other.post("/sign-in", &new).await.leads_to("/");
    fixture.browser().post("/join", &[("key", &url)]).await.is(422);
}

#[tokio::test]
async fn users_of_another_account_do_not_exist() {
    let fixture = Fixture::new().await;
    let mut ann = fixture.admin().await;
    let anns = id_of(&mut ann, "Ann").await;
    let other = fixture.provider.create_account("Other").await.unwrap();
    let link = fixture.provider.create_sign_in_code(&other).await.unwrap();
    let mut eve = fixture.join(&link.url, "Eve", "eve@example.com").await;
    eve.get("/users").await.is(200).hides("ann@example.com");
    eve.get(&anns).await.is(404);
    for action in ["role", "remove", "sessions/end", "password-link"] {
        eve.post(&format!("{anns}/{action}"), &[("role", "viewer")]).await.is(404);
    }
    fixture.clock.advance(Duration::from_secs(1));
    ann.get("/users/invite").await.is(200);
}

/// Path of a user's page.
pub(crate) async fn id_of(browser: &mut testkit::web::Browser, name: &str) -> String {
    let list = browser.get("/users").await.text;
    let (before, _) = list.split_once(&format!("<strong>{name}</strong>")).expect("the user is listed");
    let (_, path) = before.rsplit_once("href=\"/dashboard").unwrap();
    path.split_once('"').unwrap().0.to_owned()
}
