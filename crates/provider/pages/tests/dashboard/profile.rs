//! The user's own name, password, second factor and sessions.

use data_encoding::BASE32_NOPAD;

use crate::fixture::{Fixture, PASSWORD};
use testkit::web::Browser;

/// The code that an authenticator shows (RFC 6238), `steps` of 30 seconds from now.
fn code(fixture: &Fixture, secret: &str, steps: i64) -> String {
    use kit_runtime::clock::Clock as _;
    let secret = BASE32_NOPAD.decode(secret.as_bytes()).unwrap();
    let step = fixture.clock.now().as_second().div_euclid(30) + steps;
    let key = ring::hmac::Key::new(ring::hmac::HMAC_SHA1_FOR_LEGACY_USE_ONLY, &secret);
    let tag = ring::hmac::sign(&key, &step.to_be_bytes());
    let tag = tag.as_ref();
    let offset = usize::from(tag[tag.len() - 1] & 0x0f);
    let number = u32::from_be_bytes(tag[offset..offset + 4].try_into().unwrap()) & 0x7fff_ffff;
    format!("{:06}", number % 1_000_000)
}

#[tokio::test]
async fn a_user_changes_name_and_password() {
    let fixture = Fixture::new().await;
    let mut ann = fixture.admin().await;
    let mut elsewhere = fixture.browser();
    elsewhere.post("/sign-in", &[("email", "ann@example.com"), ("password", PASSWORD)]).await.leads_to("/");
    ann.post("/profile/name", &[("name", "")]).await.is(422).shows("must not be empty");
    ann.post("/profile/name", &[("name", &"Ann".repeat(50))]).await.is(422).shows(&"Ann".repeat(50));
    ann.submit("/profile/name", &[("name", "Ann <i>B.</i>")]).await.is(200).shows("Ann &#60;i&#62;B.&#60;/i&#62;");

    let new = "a much longer password";
    let change = [("old-password", "not the password"), ("password", new)];
    ann.post("/profile/password", &change).await.is(422).shows("the password is wrong").hides(new);
    let change = [("old-password", "not the password"), ("password", "short")];
    let both = ann.post("/profile/password", &change).await;
    both.is(422).shows("href=\"#old-password\"").shows("href=\"#password\"").shows("at least 12 characters");
    let change = [("old-password", PASSWORD), ("password", "short")];
    ann.post("/profile/password", &change).await.is(422).shows("at least 12 characters");
    let change = [("old-password", PASSWORD), ("password", new)];
    ann.submit("/profile/password", &change).await.is(200).shows("your other sessions have ended");
    elsewhere.get("/").await.is(401);
    ann.get("/").await.is(200);
    elsewhere.post("/sign-in", &[("email", "ann@example.com"), ("password", PASSWORD)]).await.is(422);
    elsewhere.post("/sign-in", &[("email", "ann@example.com"), ("password", new)]).await.leads_to("/");
}

#[tokio::test]
async fn a_user_ends_their_own_sessions() {
    let fixture = Fixture::new().await;
    let mut ann = fixture.admin().await;
    let (mut second, mut third) = (sign_in(&fixture).await, sign_in(&fixture).await);
    let page = ann.get("/profile").await;
    page.is(200).shows("This session");
    let (_, rest) = page.text.split_once("/profile/sessions/").unwrap();
    let newest = rest.split_once('/').unwrap().0;
    ann.submit(&format!("/profile/sessions/{newest}/end"), &[]).await.is(200).shows("The session has ended.");
    third.get("/").await.is(401);
    second.get("/").await.is(200);
    ann.submit("/profile/sessions/end-others", &[]).await.is(200).shows("Your other sessions have ended.");
    second.get("/").await.is(401);
    ann.get("/").await.is(200);
}

async fn sign_in(fixture: &Fixture) -> Browser {
    let mut browser = fixture.browser();
    browser.post("/sign-in", &[("email", "ann@example.com"), ("password", PASSWORD)]).await.leads_to("/");
    browser
}

#[tokio::test]
async fn the_second_factor_is_required_after_the_password() {
    let fixture = Fixture::new().await;
    let mut ann = fixture.admin().await;
    ann.post("/profile/second-factor", &[("password", "not the password")]).await.is(422);
    let page = ann.submit("/profile/second-factor", &[("password", PASSWORD)]).await;
    let secret = page.is(200).shows("otpauth://totp/").text_of("totp");
    ann.post("/profile/second-factor/confirm", &[("code", "000000")]).await.is(422).shows("The code is wrong");
    let on = ann.post("/profile/second-factor/confirm", &[("code", &code(&fixture, &secret, 0))]).await;
    on.is(200).shows("Your second factor is on").hides(&secret);
    let recovery: Vec<&str> = on.text.split("<li><code>").skip(1).map(|rest| &rest[..19]).collect();
    assert_eq!(recovery.len(), 10);

    let mut browser = fixture.browser();
    browser.post("/sign-in/code", &[("code", recovery[0])]).await.is(401).shows("Sign in again");
    let right = [("email", "ann@example.com"), ("password", PASSWORD), ("next", "/users")];
    browser.post("/sign-in", &right).await.leads_to("/sign-in/code?next=%2Fusers");
    assert!(!browser.cookies.contains_key("lotwire_dashboard"), "the password alone began a session");
    browser.get("/users").await.is(303);
    browser.get("/sign-in/code?next=%2Fusers").await.is(200).shows("The six digits");
    browser.post("/sign-in/code", &[("code", "123456")]).await.is(422).shows("The code is wrong");
    // The code that turned the factor on was used.
    browser.post("/sign-in/code", &[("code", &code(&fixture, &secret, 0))]).await.is(422);
    let next = code(&fixture, &secret, 1);
    browser.post("/sign-in/code", &[("code", &next), ("next", "/users")]).await.leads_to("/users");
    browser.get("/users").await.is(200);

    for status in [303, 422] {
        let mut other = fixture.browser();
        other.post("/sign-in", &right).await.is(303);
        other.post("/sign-in/code", &[("code", recovery[1])]).await.is(status);
    }
    ann.get("/profile").await.is(200).shows("9 unused recovery codes");
    let mut late = fixture.browser();
    late.post("/sign-in", &right).await.is(303);
    fixture.clock.advance(std::time::Duration::from_secs(300));
    late.post("/sign-in/code", &[("code", recovery[2])]).await.is(401).shows("five minutes");

    ann.post("/profile/second-factor/off", &[("code", recovery[1])]).await.is(422);
    ann.submit("/profile/second-factor/off", &[("code", recovery[2])]).await.is(200).shows("second factor is off");
    fixture.browser().post("/sign-in", &right).await.leads_to("/users");
}

/// An attacker knows the password and tries codes: through the sign-in, and with a stolen session.
#[tokio::test]
async fn codes_of_a_known_password_are_limited() {
    let fixture = Fixture::new().await;
    let mut ann = fixture.admin().await;
    let secret = ann.submit("/profile/second-factor", &[("password", PASSWORD)]).await.text_of("totp");
    ann.post("/profile/second-factor/confirm", &[("code", &code(&fixture, &secret, 0))]).await.is(200);

    let right = [("email", "ann@example.com"), ("password", PASSWORD)];
    let (mut tried, mut refused) = (0, 0);
    for guess in 0..60 {
        let mut thief = fixture.browser();
        match thief.post("/sign-in", &right).await.status {
            303 => {
                let guess = format!("{guess:06}");
                let answer = thief.post("/sign-in/code", &[("code", &guess)]).await;
                tried += usize::from(answer.status == 422);
                refused += usize::from(answer.status == 429);
            }
            status => {
                assert_eq!(status, 429);
                refused += 1;
            }
        }
    }
    assert!(tried <= 3 && refused >= 57, "{tried} codes were tried");

    // The owner's device has a separate limit, and its right code resets the limit of the account.
    ann.submit("/sign-out", &[]).await.is(200);
    ann.post("/sign-in", &right).await.leads_to("/sign-in/code?next=%2F");
    ann.post("/sign-in/code", &[("code", &code(&fixture, &secret, 1))]).await.leads_to("/");

    fixture.clock.advance(std::time::Duration::from_secs(900));
    let mut tried = 0;
    for guess in 0..60 {
        // The right password alone must not restore the attempts at the code.
        ann.post("/profile/second-factor", &[("password", PASSWORD)]).await;
        let answer = ann.post("/profile/second-factor/off", &[("code", &format!("{guess:06}"))]).await;
        tried += usize::from(answer.status == 422 && answer.text.contains("The code is wrong"));
    }
    assert!(tried <= 5, "{tried} codes were tried with a session");
}
