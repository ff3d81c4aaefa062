//! Single sign-on with an issuer that misbehaves: the sign-ins that both wings refuse, and the users who get a session in the
//! administration, on both stores.

use http::Method;
use serde_json::{Value, json};
use testkit::server::{Launch, Server};
use testkit::site::http_client;
use testkit::web::{Answer, Browser};

use crate::misbehaving_issuer::{MisbehavingIssuer, Token};
use crate::support::launch;

pub const ANN: &str = "ann@hartley.example";

/// A node with both wings, whose users can sign in at the issuer.
pub struct Installation {
    pub launch: Launch,
    pub issuer: MisbehavingIssuer,
    /// The provider's account whose users sign in.
    pub account: String,
    pub server: Server,
    _data: tempfile::TempDir,
}

impl Installation {
    pub async fn open(database: Option<String>) -> Self {
        let (issuer, data) = (MisbehavingIssuer::start().await, tempfile::tempdir().unwrap());
        let mut launch = launch(data.path());
        if let Some(url) = database {
            launch = launch.database(&url);
        }
        // The account exists before the setting names it.
        let account = launch.create_provider_account("Hartley & Sons").unwrap();
        let ann = ["user", "create", ANN, "--role", "administrator", "--name", "Ann", "--json"];
        launch.run_command(&ann).unwrap();
        for section in ["PLATFORM_OPENID", "PROVIDER_OPENID"] {
            let set = |launch: Launch, key: &str, value: &str| launch.set(&format!("{section}__{key}"), value);
            launch = set(launch, "ISSUER", &issuer.url);
            launch = set(launch, "CLIENT_ID", "lotwire");
            launch = set(launch, "CLIENT_SECRET", "secret");
            launch = set(launch, "NAME", "Hartley");
            launch = set(launch, "CREATE_USERS", "true");
        }
        launch = launch.set("PLATFORM_OPENID__ROLES", "admins=administrator,sales=operator");
        launch = launch.set("PROVIDER_OPENID__ROLES", "admins=admin,sales=member");
        launch = launch.set("PROVIDER_OPENID__ACCOUNT", &account);
        let server = launch.start(&http_client()).await.unwrap();
        Self { launch, issuer, account, server, _data: data }
    }

    pub fn administration(&self) -> Browser {
        Browser::of_server(&self.launch.platform_url(), "/admin")
    }

    pub fn dashboard(&self) -> Browser {
        Browser::of_server(&self.launch.provider_url(), "/dashboard")
    }

    /// Goes to the issuer, which answers with this token. Returns the address to which it sends the browser back.
    pub async fn begin(&self, browser: &mut Browser, token: Token) -> String {
        self.begin_at(browser, "/sign-in/openid?next=/users", token).await
    }

    /// The same, by the link to this page.
    pub async fn begin_at(&self, browser: &mut Browser, path: &str, token: Token) -> String {
        let begun = browser.get(path).await;
        let location = begun.is(303).location.clone().unwrap();
        assert!(location.starts_with(&format!("{}/authorize?", self.issuer.url)), "{location}");
        let state = self.issuer.sign_in(&location, token);
        format!("/sign-in/openid/callback?code={state}&state={state}")
    }

    async fn sign_in(&self, browser: &mut Browser, token: Token) -> Answer {
        let back = self.begin(browser, token).await;
        browser.get(&back).await
    }

    pub async fn sign_in_as(&self, browser: &mut Browser, claims: Value) -> Answer {
        self.sign_in(browser, Token::Claims(claims)).await
    }
}

/// What is refused before it matters who the person is.
async fn answers_that_do_not_count_are_refused(installation: &Installation, open: impl Fn() -> Browser) {
    let mut browser = open();
    browser.get("/sign-in").await.is(200).shows("Sign in with Hartley").shows("/sign-in/openid?next=%2F");
    let unverifiable = "What Hartley says of you can&#39;t be verified";
    for (token, status, shown) in [
        (Token::Claims(json!({ "nonce": "another" })), 422, unverifiable),
        (Token::Claims(json!({ "aud": "another" })), 422, unverifiable),
        (Token::Claims(json!({ "iss": "https://id.example.com" })), 422, unverifiable),
        (Token::Claims(json!({ "exp": 1 })), 422, unverifiable),
        (Token::Claims(json!({ "iat": 4_000_000_000_u64, "exp": 4_000_000_060_u64 })), 422, unverifiable),
        (Token::Claims(json!({ "nbf": 4_000_000_000_u64, "exp": 4_000_000_060_u64 })), 422, unverifiable),
        (Token::Claims(json!({ "sub": "" })), 422, unverifiable),
        (Token::ForgedKey, 422, unverifiable),
        (Token::Unsigned, 422, unverifiable),
        (Token::Refused, 422, "Hartley did not accept the sign-in"),
        (Token::Broken, 502, "Hartley does not answer as it should"),
    ] {
        let refused = installation.sign_in(&mut browser, token.clone()).await;
        assert_eq!(refused.status, status, "{token:?} {}", refused.text);
        refused.shows(shown).shows("E-mail address");
        assert!(browser.cookies.is_empty(), "{token:?}: {:?}", browser.cookies);
    }

    // The answer has to belong to the browser, and counts once.
    let good =
        Token::Claims(json!({ "sub": "stranger", "email_verified": false, "email": "stranger@hartley.example" }));
    let back = installation.begin(&mut browser, good.clone()).await;
    let begun = "This sign-in began in another browser";
    open().get(&back).await.is(422).shows(begun);
    let other = back.replace("&state=", "&state=x");
    browser.get(&other).await.is(422).shows("does not belong to the sign-in");
    browser.get(&back).await.is(422).shows(begun);
    let back = installation.begin(&mut browser, good.clone()).await;
    let kept = browser.cookies.clone();
    browser.get(&back).await.is(422).shows("Hartley has not verified your e-mail address");
    browser.cookies = kept;
    let exchanges = installation.issuer.requests().0;
    browser.get(&back).await.is(422).shows("This sign-in was used before");
    assert_eq!(installation.issuer.requests().0, exchanges, "a used answer reached the issuer");
    let back = installation.begin(&mut browser, good).await;
    let denied = back.replace("code=", "error=access_denied&ignored=");
    browser.get(&denied).await.is(422).shows("Hartley did not sign you in (access_denied)");
    // A page of another site is no page to return to.
    let begun = browser.get("/sign-in/openid?next=//evil.example").await;
    let state = installation.issuer.sign_in(begun.location.as_deref().unwrap(), Token::Broken);
    browser.get(&format!("/sign-in/openid/callback?code={state}&state={state}")).await.is(502).hides("evil.example");
}

async fn the_issuer_decides_who_signs_in(database: Option<String>) {
    let installation = Installation::open(database).await;
    let (mut ann, mut bea) = (installation.administration(), installation.administration());

    // Ann has a user with a password, and is linked to it by her verified address.
    let unverified = installation.sign_in_as(&mut ann, json!({ "email_verified": false })).await;
    unverified.is(422).shows("Hartley has not verified your e-mail address");
    let outside = installation.sign_in_as(&mut ann, json!({ "groups": ["buyers"] })).await;
    outside.is(422).shows("You are in no group that may sign in here");
    installation.sign_in_as(&mut ann, json!({})).await.leads_to("/users");
    ann.get("/users").await.is(200).shows("Single sign-on, password");
    ann.get("/audit").await.is(200).shows("Single sign-on linked").shows("ann-at-the-issuer");

    // The issuer's keys change, and a token with the new key counts at once.
    installation.issuer.rotate();
    let renamed = json!({ "email": "ann.hartley@elsewhere.example", "email_verified": false });
    installation.sign_in_as(&mut ann, renamed).await.leads_to("/users");
    let (_, key_requests) = installation.issuer.requests();
    installation.sign_in(&mut ann, Token::ForeignKey).await.is(422).shows("can&#39;t be verified");
    assert_eq!(installation.issuer.requests().1, key_requests, "unknown keys cause requests without limit");

    // The groups would leave no administrator. Then they leave Bea, who had no user.
    let demoted = json!({ "groups": ["sales"] });
    installation.sign_in_as(&mut ann, demoted.clone()).await.is(422).shows("you are the last one who can sign in");
    let bea_claims =
        json!({ "sub": "bea", "email": "bea@hartley.example", "name": "Bea Hartley", "groups": ["x", "admins"] });
    installation.sign_in_as(&mut bea, bea_claims.clone()).await.leads_to("/users");
    bea.get("/users").await.is(200).shows("Bea Hartley");
    bea.get("/account").await.is(200).shows("You have none and sign in by single sign-on");
    installation.sign_in_as(&mut ann, demoted.clone()).await.leads_to("/users");
    ann.get("/users").await.is(403).shows("Your role is operator");

    // Another person with Ann's address, an address of no user, and a disabled user.
    let other = installation.sign_in_as(&mut installation.administration(), json!({ "sub": "impostor" })).await;
    other.is(422).shows("linked to another account");
    let users = installation.launch.command().args(["user", "list", "--json"]).output().unwrap();
    let users = String::from_utf8(users.stdout).unwrap();
    let of_ann =
        users.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()).find(|user| user["email"] == ANN);
    let uuid = of_ann.unwrap()["uuid"].as_str().unwrap().to_owned();
    bea.post(&format!("/users/{uuid}/disable"), &[]).await.is(303);
    installation.sign_in_as(&mut ann, demoted.clone()).await.is(422).shows("Your user is disabled");
    bea.post(&format!("/users/{uuid}/enable"), &[]).await.is(303);

    // Without the link, the verified address links again.
    bea.get(&format!("/users/{uuid}/unlink")).await.is(200).shows("signs in with the password only");
    bea.post(&format!("/users/{uuid}/unlink"), &[]).await.is(303);
    bea.get(&format!("/users/{uuid}")).await.is(200).hides("Remove the link to single sign-on");
    let again = json!({ "sub": "ann-again", "groups": ["admins"] });
    installation.sign_in_as(&mut ann, again).await.leads_to("/users");
    ann.get("/users").await.is(200);
    bea.get("/audit").await.shows("Single sign-on unlinked").shows("single-sign-on").shows("last_administrator");
    installation.server.kill();
}

#[tokio::test(flavor = "multi_thread")]
async fn answers_that_do_not_count_are_refused_in_the_administration_and_on_the_dashboard() {
    let installation = Installation::open(None).await;
    answers_that_do_not_count_are_refused(&installation, || installation.administration()).await;
    answers_that_do_not_count_are_refused(&installation, || installation.dashboard()).await;
    // A sign-in that began in one wing does not end in the other.
    let (mut administration, mut dashboard) = (installation.administration(), installation.dashboard());
    let back = installation.begin(&mut administration, Token::Claims(json!({}))).await;
    let cookie = administration.cookie("lotwire_admin_openid");
    dashboard.set_cookie("lotwire_dashboard_openid", &cookie);
    dashboard.get(&back).await.is(422).shows("began in another browser");
    let unused = administration.call(Method::POST, "/sign-in/openid", "", Vec::new()).await;
    unused.is(405);
    installation.server.kill();
}

#[tokio::test(flavor = "multi_thread")]
async fn the_issuer_decides_who_signs_in_on_sqlite() {
    the_issuer_decides_who_signs_in(None).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_issuer_decides_who_signs_in_on_postgresql() {
    the_issuer_decides_who_signs_in(Some(testkit::postgres::fresh_database().await.unwrap())).await;
}
