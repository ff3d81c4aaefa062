//! The users of an account in a real browser: the first sign-in by a code, an invitation, and a role that is refused.

use data_encoding::BASE32_NOPAD;
use kit_runtime::clock::{Clock as _, SystemClock};
use testkit::browser::{Browser, Page};
use testkit::server::{Launch, Server};
use testkit::site::http_client;

use crate::portal::assert_accessible;
use crate::support::launch;

const PASSWORD: &str = "correct horse battery";
const DESK: u32 = 1_200;

/// A provider with an account without users.
struct AccountFixture {
    launch: Launch,
    account: String,
    _server: Server,
    _data: tempfile::TempDir,
}

impl AccountFixture {
    async fn open() -> Self {
        let data = tempfile::tempdir().unwrap();
        let launch = launch(data.path()).roles(&["provider"]);
        let server = launch.start(&http_client()).await.unwrap();
        let created = launch.run_command(&["provider", "account", "create", "Hammer & Sons", "--json"]).unwrap();
        assert_eq!(
            created.as_object().unwrap().len(),
            1,
            "the command created a sign-in code that was not requested: {created}"
        );
        let account = created["id"].as_str().unwrap().to_owned();
        Self { launch, account, _server: server, _data: data }
    }

    /// The path below the provider's address.
    fn url(&self, path: &str) -> String {
        format!("{}/dashboard{path}", self.launch.provider_url())
    }
}

async fn join(page: &Page, link: &str, name: &str) {
    page.open(link).await.unwrap();
    page.wait_until_at("/dashboard/join/account").await.unwrap();
    // The code is not in the browser's address or in its history.
    assert!(!page.text("location.href").await.unwrap().contains('#'));
    assert_accessible(page).await;
    page.fill("name", name).await.unwrap();
    page.fill("email", &format!("{}@example.com", name.to_lowercase())).await.unwrap();
    page.fill("password", PASSWORD).await.unwrap();
    page.click("Join account").await.unwrap();
    page.wait_until_shown("Overview").await.unwrap();
    assert_eq!(page.text("document.cookie").await.unwrap(), "", "a script can read the session");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_first_user_invites_a_second_whose_role_is_refused_where_it_should_be() {
    let fixture = AccountFixture::open().await;
    let browser = Browser::start().await.unwrap();
    let ann = browser.page().await.unwrap();
    ann.resize(DESK).await.unwrap();
    ann.open(&fixture.url("/users")).await.unwrap();
    ann.wait_until_shown("Nobody can sign in yet").await.unwrap();
    assert_accessible(&ann).await;

    let code =
        fixture.launch.run_command(&["provider", "account", "sign-in-code", &fixture.account, "--json"]).unwrap();
    let code = code["url"].as_str().unwrap().to_owned();
    join(&ann, &code, "Ann").await;
    ann.click("Users").await.unwrap();
    ann.wait_until_shown("ann@example.com").await.unwrap();
    assert_accessible(&ann).await;
    ann.click("Invite user").await.unwrap();
    ann.wait_until_at("/dashboard/users/invite").await.unwrap();
    assert_accessible(&ann).await;
    ann.fill("note", "Bob of the warehouse").await.unwrap();
    ann.click("ViewerReads everything except secrets.").await.unwrap();
    ann.click("Make link").await.unwrap();
    ann.wait_until_shown("is shown only now").await.unwrap();
    assert_accessible(&ann).await;
    let invitation = ann.text("document.getElementById('link').textContent").await.unwrap();

    let second = Browser::start().await.unwrap();
    let bob = second.page().await.unwrap();
    bob.resize(DESK).await.unwrap();
    bob.open(&code).await.unwrap();
    bob.wait_until_shown("was used before").await.unwrap();
    join(&bob, &invitation, "Bob").await;
    bob.click("API access").await.unwrap();
    bob.wait_until_shown("An Admin of the account creates keys.").await.unwrap();
    bob.open(&fixture.url("/users/invite")).await.unwrap();
    bob.wait_until_shown("This needs the role Admin").await.unwrap();
    assert_accessible(&bob).await;

    ann.click("Users").await.unwrap();
    ann.wait_until_shown("bob@example.com").await.unwrap();
    ann.click("Bob").await.unwrap();
    ann.wait_until_shown("Make link for a new password").await.unwrap();
    assert_accessible(&ann).await;
    ann.click("AdminAlso manages users, API keys and the account's settings.").await.unwrap();
    ann.click("Change role").await.unwrap();
    ann.wait_until_shown("The role was changed.").await.unwrap();
    bob.open(&fixture.url("/users/invite")).await.unwrap();
    bob.wait_until_shown("Who is the link for?").await.unwrap();

    for (link, words) in
        [("API access", "No API keys yet"), ("Activity", "Joined as"), ("Account settings", "Save App Portal")]
    {
        ann.click(link).await.unwrap();
        ann.wait_until_shown(words).await.unwrap();
        assert_accessible(&ann).await;
    }
    ann.click("Ann").await.unwrap();
    ann.wait_until_shown("Your profile").await.unwrap();
    assert_accessible(&ann).await;
    ann.click("Sign out").await.unwrap();
    ann.wait_until_shown("You are signed out.").await.unwrap();
    ann.fill("email", "ann@example.com").await.unwrap();
    ann.fill("password", PASSWORD).await.unwrap();
    ann.click("Sign in").await.unwrap();
    ann.wait_until_shown("Overview").await.unwrap();
    assert_eq!(ann.console_errors(), [""; 0]);
}

/// What an authenticator shows for this key (RFC 6238), `steps` steps of 30 seconds from now.
fn authenticator_code(key: &str, steps: i64) -> String {
    let key = BASE32_NOPAD.decode(key.as_bytes()).unwrap();
    let step = SystemClock.now().as_second().div_euclid(30) + steps;
    let key = ring::hmac::Key::new(ring::hmac::HMAC_SHA1_FOR_LEGACY_USE_ONLY, &key);
    let tag = ring::hmac::sign(&key, &step.to_be_bytes());
    let tag = tag.as_ref();
    let offset = usize::from(tag[tag.len() - 1] & 0x0f);
    let number = u32::from_be_bytes(tag[offset..offset + 4].try_into().unwrap()) & 0x7fff_ffff;
    format!("{:06}", number % 1_000_000)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_user_turns_on_a_second_factor_and_signs_in_with_the_authenticator() {
    let fixture = AccountFixture::open().await;
    let code =
        fixture.launch.run_command(&["provider", "account", "sign-in-code", &fixture.account, "--json"]).unwrap();
    let browser = Browser::start().await.unwrap();
    let ann = browser.page().await.unwrap();
    ann.resize(DESK).await.unwrap();
    join(&ann, code["url"].as_str().unwrap(), "Ann").await;
    ann.open(&fixture.url("/profile/second-factor")).await.unwrap();
    ann.wait_until_shown("With a second factor").await.unwrap();
    ann.fill("password", PASSWORD).await.unwrap();
    ann.click("Set up second factor").await.unwrap();
    ann.wait_until_shown("Scan the code").await.unwrap();
    assert_accessible(&ann).await;
    let key = ann.text("document.getElementById('totp').textContent").await.unwrap();
    ann.fill("code", &authenticator_code(&key, 0)).await.unwrap();
    ann.click("Turn on second factor").await.unwrap();
    ann.wait_until_shown("Your second factor is on").await.unwrap();
    assert_accessible(&ann).await;

    ann.click("Sign out").await.unwrap();
    ann.wait_until_shown("You are signed out.").await.unwrap();
    ann.fill("email", "ann@example.com").await.unwrap();
    ann.fill("password", PASSWORD).await.unwrap();
    ann.click("Sign in").await.unwrap();
    ann.wait_until_shown("The six digits of your authenticator").await.unwrap();
    assert_accessible(&ann).await;
    ann.fill("code", "000000").await.unwrap();
    ann.click("Sign in").await.unwrap();
    ann.wait_until_shown("The code is wrong").await.unwrap();
    // A code signs in only once, so this uses the next one, which the tolerance of one step allows.
    ann.fill("code", &authenticator_code(&key, 1)).await.unwrap();
    ann.click("Sign in").await.unwrap();
    ann.wait_until_shown("Overview").await.unwrap();
    // The browser reports the refusal of the wrong code as an error of the network.
    let errors = ann.console_errors();
    assert!(errors.iter().all(|error| error.contains("status of 422")), "{errors:?}");
}
