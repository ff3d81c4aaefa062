//! The first administrator of an empty installation.

use platform_core::Role;

use crate::fixture::Fixture;

#[tokio::test]
async fn the_code_of_the_server_creates_the_first_administrator_once() {
    let fixture = Fixture::new();
    let code = fixture.platform.create_setup_code().await.unwrap().unwrap();
    let other = fixture.platform.create_setup_code().await.unwrap().unwrap();
    let code = code.expose_str().unwrap();
    let mut visitor = fixture.visitor();
    visitor.get("/sign-in").await.is(200).shows("Set up the first administrator");
    visitor.get("/set-up").await.is(200).shows("One-time code");
    let fields = |code, password, repeated| {
        [("code", code), ("email", "Ann@Example.com"), ("password", password), ("repeated", repeated)]
    };
    visitor
        .post("/set-up", &fields("lwc_wrong", "correct horse", "correct horse"))
        .await
        .is(422)
        .shows("wrong, expired or used");
    visitor.post("/set-up", &fields(code, "correct horse", "correct house")).await.is(422).shows("not the same");
    visitor.post("/set-up", &fields(code, "short", "short")).await.is(422).shows("at least 12 characters");
    let made = visitor.submit("/set-up", &fields(code, "correct horse", "correct horse")).await;
    made.is(200).shows("first administrator").shows("ann@example.com").shows("Administrator");
    let mut late = fixture.visitor();
    late.get("/set-up").await.leads_to("/sign-in");
    late.get("/sign-in").await.hides("Set up the first administrator");
    for code in [code, other.expose_str().unwrap()] {
        late.post("/set-up", &fields(code, "correct horse", "correct horse")).await.is(422);
    }
    assert!(fixture.platform.create_setup_code().await.unwrap().is_none());
}

#[tokio::test]
async fn an_installation_with_users_offers_no_set_up() {
    let fixture = Fixture::new();
    let code = fixture.platform.create_setup_code().await.unwrap().unwrap();
    fixture.user("viewer@example.com", Role::Viewer).await;
    let fields = [
        ("code", code.expose_str().unwrap()),
        ("email", "a@b"),
        ("password", "correct horse"),
        ("repeated", "correct horse"),
    ];
    fixture.visitor().post("/set-up", &fields).await.is(422);
}
