//! The way from the dashboard's first page to the request and response of a failed delivery, in a real browser on a desktop and
//! on a phone, with the clicks counted.

use http::StatusCode;
use svix::models::{ApplicationIn, EndpointIn, MessageIn};
use testkit::browser::{Browser, Page};

use crate::portal::{DESK, PortalFixture, assert_accessible};

const EVENT_TYPE: &str = "ITEM_STATUS_CHANGE";
const PHONE: u32 = 390;
/// Messages of each application, among them one that is looked for.
const MESSAGES: usize = 60;
const WANTED: &str = "00000000-0000-7000-8000-000000000001.17";

/// A visitor whose clicks are counted.
struct Visitor<'a> {
    page: &'a Page,
    clicks: usize,
}

impl Visitor<'_> {
    async fn click(&mut self, words: &str) {
        self.page.click(words).await.unwrap();
        self.clicks += 1;
    }

    async fn shows(&self, text: &str) {
        self.page.wait_until_shown(text).await.unwrap();
    }

    /// Clicks on the cause of the first message of the list.
    async fn opens_the_failure(&mut self) {
        let link = "document.querySelector('#messages a[aria-label^=\"Show the attempt\"]')";
        self.page.wait_until(&format!("{link} !== null")).await.unwrap();
        let label = self.page.text(&format!("{link}.getAttribute('aria-label')")).await.unwrap();
        self.click(&label).await;
    }

    /// The failed request and response are on the screen, open.
    async fn sees_the_failure(&self) {
        let is_open = "[...document.querySelectorAll('#attempts details[open]')].some((details) => \
             details.textContent.includes('webhook-id') && details.textContent.includes('503'))";
        self.page.wait_until(is_open).await.unwrap();
        self.shows("503: The receiver, or a proxy in front of it, is unavailable.").await;
        let is_wide = self.page.text("String(document.documentElement.scrollWidth > innerWidth)").await.unwrap();
        assert_eq!(is_wide, "false", "the page scrolls sideways");
    }
}

/// Two applications: the receiver of one fails, the other has no endpoint.
async fn prepare(shop: &PortalFixture) -> String {
    shop.receiver.respond_with(StatusCode::SERVICE_UNAVAILABLE);
    let endpoint = EndpointIn::new(shop.receiver.url());
    shop.svix.endpoint().create(shop.app.clone(), endpoint, None).await.unwrap();
    let other = shop.svix.application().create(ApplicationIn::new("Another house".into()), None).await.unwrap().id;
    for number in 0..MESSAGES {
        for app in [&shop.app, &other] {
            let mut message = MessageIn::new(EVENT_TYPE.into(), serde_json::json!({ "number": number }));
            message.event_id = Some(match number {
                17 if *app == shop.app => WANTED.to_owned(),
                number => format!("event-{number}"),
            });
            shop.svix.message().create(app.clone(), message, None).await.unwrap();
        }
    }
    let of_account = ["provider", "account", "sign-in-code", &shop.account, "--json"];
    let code = shop.launch.run_command(&of_account).unwrap();
    let code = code["url"].as_str().unwrap().split_once('#').unwrap().1.to_owned();
    format!("{}/dashboard/join#{code}", shop.launch.provider_url())
}

#[tokio::test(flavor = "multi_thread")]
async fn the_failing_delivery_of_an_event_is_found_from_the_first_page_on_a_desktop_and_a_phone() {
    let shop = PortalFixture::open().await;
    let link = prepare(&shop).await;
    let browser = Browser::start().await.unwrap();
    let page = browser.page().await.unwrap();
    page.resize(DESK).await.unwrap();
    page.open(&link).await.unwrap();
    page.wait_until_at("/dashboard/join/account").await.unwrap();
    for (field, text) in [("name", "Ann"), ("email", "ann@example.com"), ("password", "correct horse battery")] {
        page.fill(field, text).await.unwrap();
    }
    page.click("Join account").await.unwrap();
    page.wait_until_shown("Endpoints that need attention").await.unwrap();
    let first_page = format!("{}/dashboard/", shop.launch.provider_url());

    for (width, clicks_max) in [(DESK, 3), (PHONE, 4)] {
        page.resize(width).await.unwrap();
        page.open(&first_page).await.unwrap();
        page.wait_until_shown("Endpoints that need attention").await.unwrap();
        let mut ann = Visitor { page: &page, clicks: 0 };
        if width == PHONE {
            ann.click("Menu").await;
        }
        ann.click("Messages").await;
        page.wait_until_at("/dashboard/messages").await.unwrap();
        page.fill("id", WANTED).await.unwrap();
        ann.click("Find messages").await;
        ann.shows(WANTED).await;
        page.wait_until("document.querySelectorAll('#messages tbody tr').length === 1").await.unwrap();
        ann.opens_the_failure().await;
        ann.sees_the_failure().await;
        println!("find_a_message: {} clicks at {width} px by event id", ann.clicks);
        assert!(ann.clicks <= clicks_max, "{} clicks at {width} px", ann.clicks);

        // From the failing endpoint in two clicks.
        page.open(&first_page).await.unwrap();
        page.wait_until_shown("Endpoints that need attention").await.unwrap();
        let mut ann = Visitor { page: &page, clicks: 0 };
        ann.click(&format!("Show failing messages to {}", shop.receiver.url())).await;
        page.wait_until_at("/dashboard/messages").await.unwrap();
        ann.opens_the_failure().await;
        ann.sees_the_failure().await;
        assert_eq!(ann.clicks, 2);
    }
    assert_accessible(&page).await;

    // The list reports newer messages that its filter matches, and no others.
    page.open(&format!("{}/dashboard/messages?eventType=AUCTION_STATUS_CHANGE", shop.launch.provider_url()))
        .await
        .unwrap();
    page.wait_until_shown("No matching messages").await.unwrap();
    assert_accessible(&page).await;
    let send = async |event_type: &str| {
        let message = MessageIn::new(event_type.into(), serde_json::json!({}));
        shop.svix.message().create(shop.app.clone(), message, None).await.unwrap();
    };
    send(EVENT_TYPE).await;
    send("AUCTION_STATUS_CHANGE").await;
    page.wait_until_shown("1 new: show").await.unwrap();
    page.click("1 new: show").await.unwrap();
    page.wait_until("document.querySelectorAll('#messages tbody tr').length === 1").await.unwrap();

    // So does the log: another user's sign-in is a new entry.
    page.open(&format!("{}/dashboard/activity", shop.launch.provider_url())).await.unwrap();
    page.wait_until_at("/dashboard/activity").await.unwrap();
    page.wait_until("document.querySelector('[data-tail]') !== null").await.unwrap();
    shop.launch.run_command(&["provider", "account", "sign-in-code", &shop.account, "--json"]).unwrap();
    page.wait_until_shown("1 new: show").await.unwrap();
    assert_eq!(page.console_errors(), [] as [String; 0]);
}
