//! The App Portal in a real browser, from the magic link of the official client to the end of the session.

use std::sync::Arc;

use consumer::{ApiClient, Receiver};
use kit_runtime::clock::SystemClock;
use serde_json::json;
use svix::api::{Svix, SvixOptions};
use svix::models::{AppPortalAccessIn, ApplicationIn, EndpointIn, EventTypeIn, MessageIn};
use testkit::browser::{Browser, Page};
use testkit::server::{Launch, Server};
use testkit::site::http_client;

use crate::support::{WAIT_MAX, launch};

const EVENT_TYPE: &str = "ITEM_STATUS_CHANGE";
/// CSS pixels across phones and a tablet.
const SMALL: [u32; 3] = [320, 390, 768];
pub(crate) const DESK: u32 = 1_200;

/// A provider with an application, set up by the official client.
pub(crate) struct PortalFixture {
    pub(crate) svix: Svix,
    pub(crate) account: String,
    pub(crate) app: String,
    pub(crate) launch: Launch,
    pub(crate) receiver: Receiver,
    _server: Server,
    _data: tempfile::TempDir,
}

impl PortalFixture {
    pub(crate) async fn open() -> Self {
        let data = tempfile::tempdir().unwrap();
        let launch = launch(data.path()).roles(&["provider"]);
        let server = launch.start(&http_client()).await.unwrap();
        let text = |words: &[&str], field| launch.run_command(words).unwrap()[field].as_str().unwrap().to_owned();
        let account = text(&["provider", "account", "create", "House", "--json"], "id");
        let key = text(&["provider", "key", "create", "--account", &account, "--name", "House", "--json"], "key");
        let options = SvixOptions { server_url: Some(launch.provider_url()), ..SvixOptions::default() };
        let svix = Svix::new(key, Some(options));
        let app = svix.application().create(ApplicationIn::new("Hammer & Sons".into()), None).await.unwrap().id;
        for name in [EVENT_TYPE, "AUCTION_STATUS_CHANGE"] {
            svix.event_type().create(EventTypeIn::new(name.into(), "It changed.".into()), None).await.unwrap();
        }
        let receiver = Receiver::bind("127.0.0.1:0".parse().unwrap(), Arc::new(SystemClock)).await.unwrap();
        PortalFixture { svix, account, app, launch, receiver, _server: server, _data: data }
    }

    pub(crate) async fn link(&self) -> (String, String) {
        let asked = AppPortalAccessIn::new();
        let access = self.svix.authentication().app_portal_access(self.app.clone(), asked, None).await.unwrap();
        (access.url, access.token)
    }

    pub(crate) async fn send(&self, status: &str) -> String {
        let [item, house, auction] = ["1", "2", "3"].map(|digit| format!("00000000-0000-7000-8000-00000000000{digit}"));
        let payload = json!({ "itemUuid": item, "auctioneerUuid": house, "auctionUuid": auction, "status": status });
        let message = MessageIn::new(EVENT_TYPE.into(), payload);
        self.svix.message().create(self.app.clone(), message, None).await.unwrap().id
    }

    async fn endpoints(&self) -> Vec<svix::models::EndpointOut> {
        self.svix.endpoint().list(self.app.clone(), None).await.unwrap().data
    }
}

/// Finds faults that hinder use on a phone, by keyboard or with a screen reader.
const ACCESSIBILITY_CHECKS: &str = r#"(() => {
    const found = [], all = (selector) => [...document.querySelectorAll(selector)];
    const ids = all("[id]").map((element) => element.id);
    found.push(...ids.filter((id, place) => ids.indexOf(id) !== place).map((id) => "twice: " + id));
    const unnamed = all("input:not([type=hidden]), select, textarea").filter((field) => field.labels.length === 0);
    found.push(...unnamed.map((field) => "without label: " + field.name));
    const nameOf = (element) => (element.getAttribute("aria-label") ?? element.textContent).trim();
    found.push(...all("a, button").filter((element) => !nameOf(element)).map((element) => "without words: " + element.outerHTML));
    const described = all("[aria-describedby]").flatMap((field) => field.getAttribute("aria-describedby").split(" "));
    found.push(...described.filter((id) => !ids.includes(id)).map((id) => "not there: " + id));
    if (all("h1").length !== 1) found.push(all("h1").length + " main headings");
    const width = document.documentElement.scrollWidth;
    if (width > innerWidth) found.push(width + " pixels wide");
    return found.join("; ");
})()"#;

/// Finds names and ids that wrap although the line has room for them.
const BROKEN_WORDS: &str = r#"(() => {
    const lines = (element) => element.getBoundingClientRect().height / parseFloat(getComputedStyle(element).lineHeight);
    const whole = [...document.querySelectorAll(".whole code")];
    return whole.filter((element) => lines(element) > 1.5).map((element) => element.textContent).join("; ");
})()"#;

pub(super) async fn assert_accessible(page: &Page) {
    for width in SMALL {
        page.resize(width).await.unwrap();
        page.wait_until(&format!("innerWidth === {width}")).await.unwrap();
        let obstacles = page.text(ACCESSIBILITY_CHECKS).await.unwrap();
        assert_eq!(obstacles, "", "{width}: {}", page.text("location.href").await.unwrap());
    }
    page.resize(DESK).await.unwrap();
    page.wait_until(&format!("innerWidth === {DESK}")).await.unwrap();
    assert_eq!(page.text(BROKEN_WORDS).await.unwrap(), "", "{}", page.text("location.href").await.unwrap());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_customer_adds_an_endpoint_sees_deliveries_resends_rotates_the_secret_and_logs_out() {
    let shop = PortalFixture::open().await;
    let browser = Browser::start().await.unwrap();
    let page = browser.page().await.unwrap();
    page.resize(DESK).await.unwrap();

    // Sign in by the link. Afterwards, its key is not in the browser's address.
    let (link, token) = shop.link().await;
    page.open(&link).await.unwrap();
    page.wait_until_at("/app-portal/endpoints").await.unwrap();
    page.wait_until_shown("Hammer & Sons").await.unwrap();
    assert!(!page.text("location.href").await.unwrap().contains('#'));
    assert_eq!(page.text("document.cookie").await.unwrap(), "", "a script can read the session");
    assert_accessible(&page).await;

    // Add an endpoint for one of the two event types.
    page.click("Add endpoint").await.unwrap();
    page.wait_until_at("/app-portal/endpoints/new").await.unwrap();
    page.fill("url", &shop.receiver.url()).await.unwrap();
    page.fill("description", "The house's web site").await.unwrap();
    page.click("Only these").await.unwrap();
    page.click(&format!("{EVENT_TYPE}It changed.")).await.unwrap();
    assert_accessible(&page).await;
    page.click("Add endpoint").await.unwrap();
    page.wait_until_shown("The endpoint was added.").await.unwrap();
    let endpoint = shop.endpoints().await.remove(0);
    assert_eq!(endpoint.event_types, Some([EVENT_TYPE.to_owned()].into()));
    assert_accessible(&page).await;

    // Copy its secret to the receiver.
    let secret = reveal(&page).await;
    shop.receiver.set_secret(&secret).unwrap();
    assert_accessible(&page).await;

    // A message is delivered and shown.
    let message = shop.send("SOLD").await;
    assert!(shop.receiver.wait_until(WAIT_MAX, |record| record.arrivals().len() == 1).await);
    page.click("Messages").await.unwrap();
    page.wait_until_at("/app-portal/messages").await.unwrap();
    assert_accessible(&page).await;
    page.click(&message).await.unwrap();
    page.wait_until_at(&format!("/app-portal/messages/{message}")).await.unwrap();
    // The page updates by itself when the delivery finishes.
    page.wait_until_shown("Delivered").await.unwrap();
    page.wait_until_shown("\"status\": \"SOLD\"").await.unwrap();
    assert_accessible(&page).await;

    // Resend it.
    page.click(&format!("Resend message to {}", shop.receiver.url())).await.unwrap();
    page.wait_until_shown("The message is being sent once more.").await.unwrap();
    assert!(shop.receiver.wait_until(WAIT_MAX, |record| record.duplicates() == 1).await);
    page.wait_until_shown("manual").await.unwrap();
    page.wait_until("document.querySelectorAll('#attempts > li').length === 2").await.unwrap();

    // Rotate the secret. The next message is signed with both, and verified with the new one.
    page.open(&format!("{}/app-portal/endpoints/{}/secret", shop.launch.provider_url(), endpoint.id)).await.unwrap();
    page.wait_until_shown("The old secret also signs").await.unwrap();
    page.click("Rotate secret").await.unwrap();
    page.wait_until_shown("The endpoint has a new signing secret.").await.unwrap();
    let rotated = reveal(&page).await;
    assert_ne!(rotated, secret);
    shop.receiver.set_secret(&rotated).unwrap();
    shop.send("UNSOLD").await;
    assert!(shop.receiver.wait_until(WAIT_MAX, |record| record.arrivals().len() == 2).await);
    assert_eq!(shop.receiver.read(|record| record.invalid()), 0);

    // Log out. The token is revoked.
    page.click("Log out").await.unwrap();
    page.wait_until_shown("You are logged out").await.unwrap();
    page.open(&format!("{}/app-portal/endpoints", shop.launch.provider_url())).await.unwrap();
    page.wait_until_at("/app-portal/login").await.unwrap();
    let api = ApiClient::new(http_client(), shop.launch.provider_url(), &token).unwrap();
    let refused = api.get(&format!("/api/v1/app/{}/endpoint", shop.app)).await.unwrap_err();
    assert_eq!(refused.status().map(|status| status.as_u16()), Some(401));
    assert_eq!(page.console_errors(), [""; 0]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_link_opens_the_portal_from_the_sign_in_page() {
    let shop = PortalFixture::open().await;
    let browser = Browser::start().await.unwrap();
    let page = browser.page().await.unwrap();
    let login = format!("{}/app-portal/login", shop.launch.provider_url());
    page.open(&login).await.unwrap();
    page.wait_until_shown("Link or key").await.unwrap();

    // A truncated link opens nothing, and the sign-in page stays.
    page.open(&format!("{login}#key=%E0%A4%A")).await.unwrap();
    page.wait_until("location.hash === '' && document.getElementById('entering').hidden").await.unwrap();
    assert_eq!(page.text("location.pathname").await.unwrap(), "/app-portal/login");

    page.open(&shop.link().await.0).await.unwrap();
    page.wait_until_at("/app-portal/endpoints").await.unwrap();
    assert!(!page.text("location.href").await.unwrap().contains('#'));
    // The browser's history does not contain the key.
    page.evaluate("void setTimeout(() => history.back())").await.unwrap();
    page.wait_until_at("/app-portal/login").await.unwrap();
    assert_eq!(page.text("location.hash").await.unwrap(), "");
    assert_eq!(page.console_errors(), [""; 0]);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_portal_works_without_script() {
    let shop = PortalFixture::open().await;
    let browser = Browser::start().await.unwrap();
    let page = browser.page().await.unwrap();
    page.resize(DESK).await.unwrap();
    page.disable_script().await.unwrap();
    let (link, _) = shop.link().await;
    page.open(&link).await.unwrap();
    page.wait_until_shown("Scripts are turned off in this browser.").await.unwrap();
    page.fill("key", &link).await.unwrap();
    page.click("Sign in").await.unwrap();
    page.wait_until_at("/app-portal/endpoints").await.unwrap();

    page.click("Add endpoint").await.unwrap();
    page.wait_until_at("/app-portal/endpoints/new").await.unwrap();
    page.fill("url", "https://example.com/hook").await.unwrap();
    page.fill("description", "Kept").await.unwrap();
    page.click("Channels, throttle rate, ordering, tracing").await.unwrap();
    page.fill("throttleRate", "many").await.unwrap();
    page.click("Add endpoint").await.unwrap();
    page.wait_until_shown("ust be a whole number").await.unwrap();
    assert_eq!(page.text("document.getElementById('description').value").await.unwrap(), "Kept");
    page.fill("throttleRate", "5").await.unwrap();
    page.click("Add endpoint").await.unwrap();
    page.wait_until_shown("The endpoint was added.").await.unwrap();
    page.click("Disable endpoint").await.unwrap();
    page.wait_until_shown("Disable this endpoint?").await.unwrap();
    page.click("Disable endpoint").await.unwrap();
    page.wait_until_shown("The endpoint is disabled").await.unwrap();
    let endpoint = shop.endpoints().await.remove(0);
    assert_eq!(
        (endpoint.disabled, endpoint.throttle_rate, endpoint.description.as_str()),
        (Some(true), Some(5), "Kept")
    );
    page.click("Log out").await.unwrap();
    page.wait_until_shown("You are logged out").await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn every_page_is_accessible_on_small_screens_and_by_keyboard() {
    let shop = PortalFixture::open().await;
    let long = format!("https://example.com/{}", "a-long-address/".repeat(20));
    let mut endpoint = EndpointIn::new(long);
    endpoint.headers = Some([("X-Tenant".to_owned(), "hartley".repeat(30))].into());
    let endpoint = shop.svix.endpoint().create(shop.app.clone(), endpoint, None).await.unwrap().id;
    let message = shop.send("SOLD").await;
    let mut auction = MessageIn::new("AUCTION_STATUS_CHANGE".into(), json!({}));
    auction.event_id = Some("00000000-0000-7000-8000-000000000003.17".to_owned());
    shop.svix.message().create(shop.app.clone(), auction, None).await.unwrap();
    let browser = Browser::start().await.unwrap();
    let page = browser.page().await.unwrap();
    page.open(&shop.link().await.0).await.unwrap();
    page.wait_until_at("/app-portal/endpoints").await.unwrap();
    let mut paths = ["/login", "/overview", "/endpoints", "/endpoints/new", "/messages", "/event-types", "/nowhere"]
        .map(str::to_owned)
        .to_vec();
    paths.push("/messages?state=not-sent&q=SOLD".to_owned());
    paths.push(format!("/endpoints/{endpoint}/replay/confirm?what=missing&hours=24"));
    paths.push(format!("/messages/{message}"));
    paths.push(format!("/event-types/{EVENT_TYPE}"));
    for of_endpoint in
        ["", "/settings", "/secret", "/verify", "/headers", "/example", "/replay", "/ordering", "/delete"]
    {
        paths.push(format!("/endpoints/{endpoint}{of_endpoint}"));
    }
    for path in paths {
        page.open(&format!("{}/app-portal{path}", shop.launch.provider_url())).await.unwrap();
        let (pathname, _) = path.split_once('?').unwrap_or((&path, ""));
        page.wait_until_at(&format!("/app-portal{pathname}")).await.unwrap();
        assert_accessible(&page).await;
    }
    // Also with a validation error.
    page.open(&format!("{}/app-portal/endpoints/new", shop.launch.provider_url())).await.unwrap();
    page.wait_until_at("/app-portal/endpoints/new").await.unwrap();
    page.fill("url", "ftp://example.com").await.unwrap();
    page.click("Only these").await.unwrap();
    page.click("Add endpoint").await.unwrap();
    page.wait_until_shown("Nothing was saved").await.unwrap();
    assert_accessible(&page).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_list_of_messages_reports_newer_ones_and_shows_them_on_request() {
    let shop = PortalFixture::open().await;
    let browser = Browser::start().await.unwrap();
    let page = browser.page().await.unwrap();
    page.resize(DESK).await.unwrap();
    page.open(&shop.link().await.0).await.unwrap();
    page.wait_until_at("/app-portal/endpoints").await.unwrap();
    page.click("Messages").await.unwrap();
    page.wait_until_shown("No messages yet").await.unwrap();
    let message = shop.send("SOLD").await;
    page.wait_until_shown("1 new: show").await.unwrap();
    let listed = format!("document.body.textContent.includes('{message}')");
    assert_eq!(page.text(&format!("String({listed})")).await.unwrap(), "false", "the list changed without a request");
    page.click("1 new: show").await.unwrap();
    page.wait_until(&listed).await.unwrap();
}

pub(super) async fn reveal(page: &Page) -> String {
    // The link may lead to the present page.
    page.click_through("Signing secret").await.unwrap();
    page.click("Reveal secret").await.unwrap();
    page.wait_until_shown("whsec_").await.unwrap();
    page.text("document.getElementById('secret').textContent").await.unwrap()
}
