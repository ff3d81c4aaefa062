//! Single sign-on in a real browser, at npm's `oidc-provider`: both wings, from the button to the user's page.

use std::io::{BufRead as _, BufReader};
use std::process::{ChildStdout, Command, Stdio};

use bytes::Bytes;
use http::Method;
use kit_outbound::{Headers, Request};
use serde_json::{Value, json};
use testkit::browser::Page;
use testkit::server::Launch;
use testkit::site::http_client;

use crate::administration::{Administration, EMAIL, PASSWORD, assert_accessible, desk_page};
use crate::official_clients::installed_clients;
use crate::support::{Started, launch};

/// npm's `oidc-provider` as a process.
struct Issuer {
    _process: Started,
    url: String,
    /// Open until the end, because the process fails when it can't print.
    _output: BufReader<ChildStdout>,
}

impl Issuer {
    /// Starts it on a free port, for the wings of this launch.
    fn start(launch: &Launch) -> Self {
        let script = installed_clients().join("javascript/issuer.mjs");
        assert!(script.exists(), "{} does not exist; run `cargo xtask clients` first", script.display());
        let uris = format!(
            "{}/admin/sign-in/openid/callback {}/dashboard/sign-in/openid/callback",
            launch.platform_url(),
            launch.provider_url()
        );
        let mut command = Command::new("node");
        command.arg(script).env("REDIRECT_URIS", uris).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut process = Started(command.spawn().unwrap());
        let mut output = BufReader::new(process.0.stdout.take().unwrap());
        let mut line = String::new();
        while !line.starts_with("http://") {
            line.clear();
            assert!(output.read_line(&mut line).unwrap() > 0, "the issuer ended");
        }
        Self { _process: process, url: line.trim().to_owned(), _output: output }
    }

    /// The people of the issuer, by their ids.
    async fn people(&self, people: Value) {
        self.post("/test/people", people.to_string()).await;
    }

    /// The issuer signs with another key from now on, and knows the old one no more.
    async fn rotate(&self) {
        self.post("/test/keys", String::new()).await;
    }

    async fn post(&self, path: &str, body: String) {
        let request = Request {
            method: Method::POST,
            to: format!("{}{path}", self.url).parse().unwrap(),
            headers: Headers::default(),
            body: Bytes::from(body),
            deadline: crate::support::WAIT_MAX,
            response_bytes_max: 1_024,
        };
        assert!(http_client().send(request).await.unwrap().status.is_success());
    }
}

/// Goes to the issuer with the button of a wing's sign-in page.
async fn leave(page: &Page, sign_in_page: &str) {
    page.open(sign_in_page).await.unwrap();
    page.wait_until_shown("Sign in with Hartley").await.unwrap();
    page.click("Sign in with Hartley").await.unwrap();
}

/// Signs in at the issuer with the button of a wing's sign-in page.
async fn sign_in(page: &Page, sign_in_page: &str, id: &str) {
    leave(page, sign_in_page).await;
    page.wait_until_shown("The issuer").await.unwrap();
    page.fill("id", id).await.unwrap();
    page.click("Continue").await.unwrap();
}

fn people() -> Value {
    let verified = |name: &str, groups: &[&str]| {
        let email = format!("{}@hartley.example", name.to_lowercase());
        json!({ "email": email, "email_verified": true, "name": format!("{name} Hartley"), "groups": groups })
    };
    let mut unverified = verified("Eve", &["admins"]);
    unverified["email_verified"] = json!(false);
    json!({
        "1": verified("Ann", &["staff", "admins"]), "2": verified("Bea", &["clerks"]), "3": verified("Cleo", &["buyers"]),
        "4": unverified, "5": verified("Dan", &["admins"]),
    })
}

async fn people_sign_in_at_the_issuer(database: Option<String>) {
    let data = tempfile::tempdir().unwrap();
    let mut launch = launch(data.path());
    if let Some(url) = database {
        launch = launch.database(&url);
    }
    let account = launch.create_provider_account("Hartley & Sons").unwrap();
    let issuer = Issuer::start(&launch);
    issuer.people(people()).await;
    for section in ["PLATFORM_OPENID", "PROVIDER_OPENID"] {
        for (key, value) in [
            ("ISSUER", issuer.url.as_str()),
            ("CLIENT_ID", "lotwire"),
            ("CLIENT_SECRET", "secret of: the client+1"),
            ("NAME", "Hartley"),
            ("SCOPES", "email,profile,groups"),
            ("CREATE_USERS", "true"),
        ] {
            launch = launch.set(&format!("{section}__{key}"), value);
        }
    }
    launch = launch.set("PLATFORM_OPENID__ROLES", "admins=administrator,clerks=clerk");
    launch = launch.set("PROVIDER_OPENID__ROLES", "admins=admin,clerks=viewer");
    launch = launch.set("PROVIDER_OPENID__ACCOUNT", &account);
    let administration = Administration::open_on(launch, data).await;
    let doctor = administration.launch.command().arg("doctor").output().unwrap();
    let doctor = String::from_utf8(doctor.stdout).unwrap();
    assert!(doctor.contains(&format!("the issuer {} answers", issuer.url)), "{doctor}");
    let page = desk_page(&administration.browser).await;
    administration.set_up(&page).await;
    page.click("Sign out").await.unwrap();
    page.wait_until_shown("You are signed out.").await.unwrap();
    let platform = administration.url("/sign-in?next=%2Fusers");
    page.open(&platform).await.unwrap();
    page.wait_until_shown("Sign in with Hartley").await.unwrap();
    assert_accessible(&page).await;

    // Ann's user is linked, Bea's is made, and Cleo and Eve are refused in words.
    sign_in(&page, &platform, "1").await;
    page.wait_until_at("/admin/users").await.unwrap();
    page.wait_until_shown("Single sign-on, password").await.unwrap();
    assert_accessible(&page).await;
    page.evaluate("document.querySelector('td a').click()").await.unwrap();
    page.wait_until_shown(&format!("Single sign-on, password ({})", issuer.url)).await.unwrap();
    assert_accessible(&page).await;
    sign_in(&page, &administration.url("/sign-in"), "2").await;
    page.wait_until_at("/admin/").await.unwrap();
    page.wait_until_shown("Bea Hartley").await.unwrap();
    page.wait_until_shown("Clerk").await.unwrap();
    for (id, words) in
        [("3", "You are in no group that may sign in here"), ("4", "has not verified your e-mail address")]
    {
        sign_in(&page, &platform, id).await;
        page.wait_until_shown(words).await.unwrap();
        assert_accessible(&page).await;
    }
    leave(&page, &platform).await;
    page.wait_until_shown("The issuer").await.unwrap();
    page.click("Refuse").await.unwrap();
    page.wait_until_shown("Hartley did not sign you in (access_denied)").await.unwrap();

    // The dashboard has a client of its own at the same issuer.
    let dashboard = format!("{}/dashboard/sign-in?next=%2Fusers", administration.launch.provider_url());
    page.open(&dashboard).await.unwrap();
    page.wait_until_shown("Sign in with Hartley").await.unwrap();
    assert_accessible(&page).await;
    sign_in(&page, &dashboard, "5").await;
    page.wait_until_at("/dashboard/users").await.unwrap();
    page.wait_until_shown("Dan Hartley").await.unwrap();
    assert_accessible(&page).await;

    // The issuer has new keys, then it is gone. Passwords work.
    issuer.rotate().await;
    issuer.people(people()).await;
    sign_in(&page, &platform, "1").await;
    page.wait_until_at("/admin/users").await.unwrap();
    page.click("Sign out").await.unwrap();
    page.wait_until_shown("You are signed out.").await.unwrap();
    drop(issuer);
    // A server that starts meanwhile has no discovery document.
    let administration = administration.kill_and_restart().await;
    leave(&page, &platform).await;
    page.wait_until_shown("Hartley does not answer as it should").await.unwrap();
    assert_accessible(&page).await;
    administration.sign_in(&page, EMAIL, PASSWORD).await;
    let doctor = administration.launch.command().arg("doctor").output().unwrap();
    let text = String::from_utf8(doctor.stdout).unwrap();
    assert!(!doctor.status.success() && text.contains("so single sign-on does not work"), "{text}");
    assert_eq!(page.console_errors().iter().filter(|error| !error.contains("Failed to load resource")).count(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn people_sign_in_at_the_issuer_on_sqlite() {
    people_sign_in_at_the_issuer(None).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn people_sign_in_at_the_issuer_on_postgresql() {
    people_sign_in_at_the_issuer(Some(testkit::postgres::fresh_database().await.unwrap())).await;
}
