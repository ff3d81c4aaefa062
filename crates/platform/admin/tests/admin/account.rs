//! The user's own settings: password, second factor, sessions.

use data_encoding::BASE32_NOPAD;
use platform_core::Role;

use crate::fixture::{Fixture, PASSWORD};

/// The code of a secret at a time (RFC 6238).
fn code(secret: &str, at: jiff::Timestamp) -> String {
    let key = ring::hmac::Key::new(
        ring::hmac::HMAC_SHA1_FOR_LEGACY_USE_ONLY,
        &BASE32_NOPAD.decode(secret.as_bytes()).unwrap(),
    );
    let tag = ring::hmac::sign(&key, &(at.as_second() / 30).to_be_bytes());
    let tag = tag.as_ref();
    let offset = usize::from(tag[tag.len() - 1] & 15);
    let number = u32::from_be_bytes(tag[offset..offset + 4].try_into().unwrap()) & 0x7fff_ffff;
    format!("{:06}", number % 1_000_000)
}

#[tokio::test]
async fn a_second_factor_is_turned_on_asked_for_and_turned_off_with_a_recovery_code() {
    let fixture = Fixture::new();
    let mut visitor = fixture.signed_in(Role::Operator).await;
    visitor.get("/account").await.is(200).shows("Turn on a second factor").shows("This session");
    visitor.post("/account/second-factor", &[("password", "wrong")]).await.is(422).shows("is wrong");
    let page = visitor.post("/account/second-factor", &[("password", PASSWORD)]).await;
    page.is(200).shows("otpauth://totp/").shows("<svg class=\"qr\"");
    let secret = page.between("id=\"totp-secret\">", "<");
    visitor.post("/account/second-factor/confirm", &[("code", "000000")]).await.is(422).hides(&secret);
    let now = code(&secret, fixture.platform.now());
    let codes = visitor.post("/account/second-factor/confirm", &[("code", &now)]).await;
    codes.is(200).shows("Recovery codes");
    assert_eq!(codes.text.matches("<li><code>").count(), 10);
    let recovery = codes.between("<li><code>", "<");
    visitor.get("/account").await.shows("10 unused recovery codes").hides(&recovery);

    let mut again = fixture.visitor();
    let credentials = [("email", "operator@example.com"), ("password", PASSWORD)];
    again.post("/sign-in", &credentials).await.is(422).shows("the code that your authenticator shows");
    fixture.clock.advance(std::time::Duration::from_secs(60));
    let now = code(&secret, fixture.platform.now());
    again.post("/sign-in", &[credentials[0], credentials[1], ("code", &now)]).await.is(303);
    again.post("/account/second-factor/off", &[("code", "000000")]).await.is(422).shows("code is wrong");
    again.submit("/account/second-factor/off", &[("code", &recovery)]).await.is(200).shows("The second factor is off.");
}

#[tokio::test]
async fn a_new_password_ends_the_other_sessions() {
    let fixture = Fixture::new();
    let mut visitor = fixture.signed_in(Role::Viewer).await;
    let mut other = fixture.visitor();
    other.post("/sign-in", &[("email", "viewer@example.com"), ("password", PASSWORD)]).await.is(303);
    let change = |old, new, repeated| [("old", old), ("new", new), ("repeated", repeated)];
    visitor
        .post("/account/password", &change("wrong", "another horse battery", "another horse battery"))
        .await
        .is(422)
        .shows("is wrong");
    visitor.post("/account/password", &change(PASSWORD, "short", "short")).await.is(422).shows("at least 12");
    visitor
        .post("/account/password", &change(PASSWORD, "another horse battery", "another"))
        .await
        .is(422)
        .shows("not the same");
    let changed =
        visitor.submit("/account/password", &change(PASSWORD, "another horse battery", "another horse battery")).await;
    changed.is(200).shows("Your password was changed");
    other.get("/").await.is(401);
}

#[tokio::test]
async fn a_user_ends_another_session_and_then_all() {
    let fixture = Fixture::new();
    let mut visitor = fixture.signed_in(Role::Viewer).await;
    let mut other = fixture.visitor();
    other.post("/sign-in", &[("email", "viewer@example.com"), ("password", PASSWORD)]).await.is(303);
    let other_session = visitor.get("/account").await.between("/admin/account/sessions/0", "/end\"");
    let path = format!("/account/sessions/0{other_session}/end");
    visitor.submit(&path, &[]).await.is(200).shows("The session has ended.");
    other.get("/").await.is(401);
    visitor.post("/account/sessions/end", &[]).await.leads_to("/sign-in?done=signed-out");
    visitor.get("/").await.leads_to("/sign-in");
}
