//! Users and API keys.

use platform_core::Role;

use crate::fixture::{Fixture, sale};

#[tokio::test]
async fn an_administrator_creates_a_user_changes_the_role_and_disables_them() {
    let fixture = Fixture::new();
    let mut visitor = fixture.signed_in(Role::Administrator).await;
    visitor.post("/users/new", &[("email", "nobody"), ("role", "clerk")]).await.is(422).shows("not an e-mail address");
    visitor.post("/users/new", &[("email", "bob@example.com"), ("role", "king")]).await.is(422).shows("is not a role");
    let made = visitor.post("/users/new", &[("email", "Bob@example.com"), ("role", "clerk")]).await;
    made.is(200).shows("bob@example.com signs in with this password").shows("can't be shown again");
    let password = made.between("id=\"secret-1\">", "<");
    let id = made.between("href=\"/admin/users/", "\"");
    visitor.post("/users/new", &[("email", "bob@example.com"), ("role", "clerk")]).await.is(409).shows("already taken");

    let mut bob = fixture.visitor();
    bob.post("/sign-in", &[("email", "bob@example.com"), ("password", &password)]).await.is(303);
    let path = format!("/users/{id}");
    visitor.get(&path).await.is(200).shows("Clerk").hides(&password).hides("Remove user");
    visitor.submit(&format!("{path}/role"), &[("role", "viewer")]).await.is(200).shows("Viewer").shows("was changed");
    bob.get("/").await.is(401);
    bob.post("/sign-in", &[("email", "bob@example.com"), ("password", &password)]).await.is(303);
    visitor.submit(&format!("{path}/end-sessions"), &[]).await.is(200).shows("sessions have ended");
    bob.get("/").await.is(401);
    visitor.get(&format!("{path}/disable")).await.is(200).shows("all their sessions end");
    visitor.submit(&format!("{path}/disable"), &[]).await.is(200).shows("Disabled").shows("Enable user");
    bob.post("/sign-in", &[("email", "bob@example.com"), ("password", &password)]).await.is(422);
    visitor.submit(&format!("{path}/enable"), &[]).await.is(200).shows("Enabled");
    let reset = visitor.post(&format!("{path}/password"), &[]).await;
    let reset = reset.is(200).between("id=\"secret-1\">", "<");
    bob.post("/sign-in", &[("email", "bob@example.com"), ("password", &password)]).await.is(422);
    bob.post("/sign-in", &[("email", "bob@example.com"), ("password", &reset)]).await.is(303);
    visitor.post(&format!("{path}/remove"), &[]).await.is(422).shows("has signed in");
}

#[tokio::test]
async fn a_name_is_shown_to_colleagues_in_place_of_the_address() {
    let fixture = Fixture::new();
    let mut administrator = fixture.signed_in(Role::Administrator).await;
    let fields = |name| [("email", "olga@example.com"), ("role", "operator"), ("name", name), ("after", "keep")];
    administrator.post("/users/new", &fields("Olga\u{202e}")).await.is(422).shows("invisible character U+202E");
    let made = administrator.post("/users/new", &fields("Olga <b>Smith</b>")).await;
    let (password, id) = (made.is(200).between("id=\"secret-1\">", "<"), made.between("href=\"/admin/users/", "\""));
    administrator.get("/users").await.shows("Olga &#60;b&#62;Smith").shows("olga@example.com").hides("<b>Smith");

    // What she changes names her to a viewer, without her address.
    let (auction, _) = sale(&fixture, |new| {
        new.status = contract::AuctionStatus::Draft;
        new.items.iter_mut().for_each(|item| item.status = contract::ItemStatus::Draft);
    })
    .await;
    let mut olga = fixture.visitor();
    olga.post("/sign-in", &[("email", "olga@example.com"), ("password", &password)]).await.is(303);
    let version =
        olga.get(&format!("/auctions/{auction}/status?to=PREVIEW")).await.between("name=\"version\" value=\"", "\"");
    let status = format!("/auctions/{auction}/status");
    olga.submit(&status, &[("to", "PREVIEW"), ("version", &version)]).await.is(200).shows("The status was changed.");
    let timeline = format!("/auctions/{auction}/timeline");
    let mut viewer = fixture.signed_in(Role::Viewer).await;
    viewer.get(&timeline).await.is(200).shows("Olga &#60;b&#62;Smith").hides("olga@example.com");
    olga.get("/account").await.shows("Change name");
    olga.post("/account/name", &[("name", "a@b")]).await.is(422).shows("not an e-mail address");
    olga.submit("/account/name", &[("name", "Olga Miller")])
        .await
        .is(200)
        .shows("The name was saved.")
        .shows("Olga Miller");
    viewer.get(&timeline).await.shows("Olga Miller");
    administrator.get("/audit").await.shows("User named").shows("Olga Miller (olga@example.com)");

    // Without a name, only those who see users see an address.
    let path = format!("/users/{id}");
    administrator.get(&path).await.shows("Change name").shows("olga@example.com");
    administrator.submit(&format!("{path}/name"), &[("name", "")]).await.is(200).shows("The name was saved.");
    viewer.get(&timeline).await.shows("Another user").hides("olga@example.com");
    administrator.get(&timeline).await.shows("olga@example.com");
}

#[tokio::test]
async fn the_last_administrator_stays_and_other_roles_see_no_users() {
    let fixture = Fixture::new();
    let mut visitor = fixture.signed_in(Role::Administrator).await;
    let id = visitor.get("/users").await.between("href=\"/admin/users/0", "\"");
    visitor.get(&format!("/users/0{id}")).await.is(200).shows("This is you").hides("Disable user");
    visitor.get(&format!("/users/0{id}/disable")).await.is(409).shows("last administrator").hides("class=\"danger\"");
    visitor.post(&format!("/users/0{id}/role"), &[("role", "viewer")]).await.is(409).shows("last administrator");
    visitor.get(&format!("/users/0{id}/remove")).await.is(409).shows("has signed in");
    visitor.post(&format!("/users/0{id}/disable"), &[]).await.is(409).shows("last administrator");
    for role in [Role::Operator, Role::Clerk, Role::Support, Role::Viewer] {
        let mut other = fixture.signed_in(role).await;
        other.get("/users").await.is(403).shows("the role administrator");
        other.post("/users/new", &[("email", "eve@example.com"), ("role", "administrator")]).await.is(403);
        other.get("/audit").await.is(403);
    }
    visitor.get("/users").await.hides("eve@example.com").shows("clerk@example.com");
}

#[tokio::test]
async fn a_key_is_shown_once_and_revoked_for_ever() {
    let fixture = Fixture::new();
    let customer = fixture.customer("Hartley & Sons").await.to_string();
    let mut visitor = fixture.signed_in(Role::Support).await;
    visitor.get("/api-keys").await.is(200).shows("No API keys yet");
    visitor
        .get("/api-keys/new")
        .await
        .is(200)
        .shows("<option value=\"\" selected>Choose one</option>")
        .shows("auctions:read")
        .hides("users:write")
        .hides("ring:write");
    visitor
        .post("/api-keys/new", &[("name", "Web site"), ("customer", "staff")])
        .await
        .is(422)
        .shows("name at least one scope");
    let fields = [
        ("name", "Web <b>site</b>"),
        ("customer", customer.as_str()),
        ("scopes", "auctions:read"),
        ("scopes", "events:read"),
    ];
    visitor
        .post("/api-keys/new", &[fields[0], fields[1], fields[2], ("expires", "soon")])
        .await
        .is(422)
        .shows("is not a day");
    visitor
        .post("/api-keys/new", &[fields[0], fields[1], fields[2], ("expires", "2026-11-20")])
        .await
        .is(422)
        .shows("not in the future");
    visitor
        .post("/api-keys/new", &[fields[0], ("customer", "staff"), ("scopes", "users:write")])
        .await
        .is(403)
        .shows("scopes that its creator");
    // A choice that is missing or unknown makes no key, not even one that may do less.
    visitor.post("/api-keys/new", &[fields[0], fields[2]]).await.is(422).shows("is missing");
    visitor.post("/api-keys/new", &[fields[0], ("customer", ""), fields[2]]).await.is(422).shows("is missing");
    let odd = [fields[0], fields[1], fields[2], ("scopes", "auctions:raed")];
    visitor.post("/api-keys/new", &odd).await.is(422).shows("does not exist");
    let made =
        visitor.post("/api-keys/new", &[fields[0], fields[1], fields[2], fields[3], ("expires", "2026-12-31")]).await;
    let key = made.is(200).between("id=\"secret-1\">", "<");
    assert!(key.starts_with("lw_"), "{key}");
    let caller = fixture.platform.authenticate(&key).await.unwrap();
    assert_eq!((caller.customer.unwrap().to_string(), caller.scopes.iter().count()), (customer, 2));
    let list = visitor.get("/api-keys").await;
    list.is(200)
        .shows("auctions:read, events:read")
        .shows("In force")
        .shows("Hartley &#38; Sons")
        .hides(&key)
        .hides("<b>site");
    let path = format!("/api-keys/{}/revoke", list.between("/admin/api-keys/0", "/revoke\"").as_str());
    let path = path.replacen("/api-keys/", "/api-keys/0", 1);
    visitor.get(&path).await.is(200).shows("never works again");
    visitor.submit(&path, &[]).await.is(200).shows("Revoked");
    assert!(fixture.platform.authenticate(&key).await.is_err());
    let mut viewer = fixture.signed_in(Role::Viewer).await;
    viewer.get("/api-keys").await.is(403);
}
