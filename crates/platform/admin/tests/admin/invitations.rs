//! Invitations, and a new password that an administrator requires.

use std::time::Duration;

use platform_core::Role;

use crate::fixture::{Fixture, PASSWORD};

/// The code of the link that an administrator creates.
async fn invite(fixture: &Fixture, email: &str, role: &str) -> String {
    let mut administrator = fixture.visitor();
    let credentials = [("email", "administrator@example.com"), ("password", PASSWORD)];
    administrator.post("/sign-in", &credentials).await.is(303);
    let page = administrator.post("/users/invite", &[("email", email), ("role", role)]).await;
    page.is(200).shows("is shown only now").shows("data-copy=\"link\"");
    page.between("<code id=\"link\">http://admin.test/admin/join#key=", "<")
}

#[tokio::test]
async fn an_invited_person_chooses_a_password_and_has_the_role() {
    let fixture = Fixture::new();
    let mut administrator = fixture.signed_in(Role::Administrator).await;
    administrator.get("/users/invite").await.is(200).shows("works once, for 7 days");
    administrator.post("/users/invite", &[("email", "no address"), ("role", "clerk")]).await.is(422);
    let taken = [("email", "ADMINISTRATOR@example.com"), ("role", "clerk")];
    administrator.post("/users/invite", &taken).await.is(409).shows("already taken");
    let code = invite(&fixture, " Ann@Example.com ", "clerk").await;
    administrator.get("/users").await.is(200).shows("Open invitations").shows("ann@example.com").hides(&code);

    let mut ann = fixture.visitor();
    ann.get("/join").await.is(200).shows("It works once");
    ann.get("/join/account").await.leads_to("/join");
    ann.post("/join", &[("key", "lwi_guess")]).await.is(422).shows("used or withdrawn, or has expired");
    let link = format!("http://admin.test/admin/join#key={code}");
    let form = ann.submit("/join", &[("key", &link)]).await;
    form.is(200).shows("ann@example.com").shows("Clerk").hides(&code);
    let choose = |password, repeated| [("password", password), ("repeated", repeated)];
    ann.post("/join/account", &choose("short", "short")).await.is(422).shows("at least 12");
    ann.post("/join/account", &choose(PASSWORD, "another")).await.is(422).shows("not the same");
    let fields = [("password", PASSWORD), ("repeated", PASSWORD), ("second-factor", "yes")];
    ann.submit("/join/account", &fields).await.is(200).shows("Turn on a second factor");
    ann.get("/users").await.is(403);
    ann.get("/account").await.is(200).shows("ann@example.com").shows("Clerk");

    let mut second = fixture.visitor();
    second.post("/join", &[("key", &code)]).await.is(422);
    administrator.get("/users").await.hides("Open invitations").shows("ann@example.com");
    let log = administrator.get("/audit").await;
    log.is(200).shows("User invited").shows("Invitation accepted").hides(&code);
}

#[tokio::test]
async fn an_invitation_is_withdrawn_replaced_or_expires() {
    let fixture = Fixture::new();
    let mut administrator = fixture.signed_in(Role::Administrator).await;
    let first = invite(&fixture, "ann@example.com", "viewer").await;
    let second = invite(&fixture, "ann@example.com", "support").await;
    let mut ann = fixture.visitor();
    ann.post("/join", &[("key", &first)]).await.is(422);
    ann.submit("/join", &[("key", &second)]).await.is(200).shows("Support");
    let id = administrator.get("/users").await.between("/users/invitations/", "/withdraw");
    let withdraw = format!("/users/invitations/{id}/withdraw");
    administrator.submit(&withdraw, &[]).await.is(200).shows("no longer works").hides("Open invitations");
    let fields = [("password", PASSWORD), ("repeated", PASSWORD)];
    ann.post("/join/account", &fields).await.is(422).shows("used or withdrawn");

    let third = invite(&fixture, "ann@example.com", "viewer").await;
    fixture.clock.advance(Duration::from_secs(7 * 24 * 3_600));
    fixture.visitor().post("/join", &[("key", &third)]).await.is(422).shows("has expired");
    let mut viewer = fixture.signed_in(Role::Viewer).await;
    viewer.post("/users/invite", &[("email", "bob@example.com"), ("role", "administrator")]).await.is(403);
}

#[tokio::test]
async fn a_user_who_has_to_choose_another_password_sees_nothing_else_before() {
    let fixture = Fixture::new();
    let mut administrator = fixture.signed_in(Role::Administrator).await;
    let made = administrator.post("/users/new", &[("email", "bob@example.com"), ("role", "operator")]).await;
    let password = made.is(200).between("id=\"secret-1\">", "<");
    let bob_page = made.between("href=\"/admin/users/0", "\"");
    let bob_page = format!("/users/0{bob_page}");
    administrator.get(&bob_page).await.is(200).shows("has to choose another one");
    administrator.get("/users").await.shows("New password due");

    let mut bob = fixture.visitor();
    bob.post("/sign-in", &[("email", "bob@example.com"), ("password", &password)]).await.is(303);
    bob.get("/auctions").await.leads_to("/account/password");
    bob.post("/auctions/new", &[("title", "A sale")]).await.is(403).shows("Choose a new password first");
    let first = bob.get("/account/password").await;
    first.is(200).shows("requires that you choose a new password").hides(">Cancel<").hides("Your account</a>");
    let again = [("old", password.as_str()), ("new", password.as_str()), ("repeated", password.as_str())];
    bob.post("/account/password", &again).await.is(422).shows("is the present password");
    let change = [("old", password.as_str()), ("new", PASSWORD), ("repeated", PASSWORD)];
    bob.submit("/account/password", &change).await.is(200).shows("Your password was changed");
    bob.get("/auctions").await.is(200);
    bob.get("/account/password").await.is(200).shows(">Cancel<");

    // An administrator requires it again, and the session that goes on asks for it.
    administrator.get(&bob_page).await.shows("Require a new password");
    let required = administrator.submit(&format!("{bob_page}/require-password"), &[]).await;
    required.is(200).shows("has to choose another password").hides("Require a new password");
    bob.get("/").await.leads_to("/account/password");
    administrator.get("/audit").await.shows("New password required");
}
