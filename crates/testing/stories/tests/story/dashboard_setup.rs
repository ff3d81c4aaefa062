//! The set-up of an account in a real browser, by clicking only: from an empty account to an event that a receiver verified.

use consumer::{ApiClient, Receiver};
use kit_runtime::clock::SystemClock;
use std::sync::Arc;
use std::time::Duration;
use testkit::browser::{Browser, Page};
use testkit::site::http_client;

use crate::portal::assert_accessible;
use crate::support::{WAIT_MAX, launch};

const EVENT_TYPE: &str = "ITEM_STATUS_CHANGE";
const DESK: u32 = 1_200;

async fn join(page: &Page, link: &str) {
    page.open(link).await.unwrap();
    page.wait_until_at("/dashboard/join/account").await.unwrap();
    page.fill("name", "Ann").await.unwrap();
    page.fill("email", "ann@example.com").await.unwrap();
    page.fill("password", "correct horse battery").await.unwrap();
    page.click("Join account").await.unwrap();
}

/// The text of the element with this id.
async fn text_of(page: &Page, id: &str) -> String {
    page.text(&format!("document.getElementById('{id}').textContent")).await.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn an_empty_account_is_set_up_by_clicking_until_an_event_is_received_and_verified() {
    let data = tempfile::tempdir().unwrap();
    let launch = launch(data.path()).roles(&["provider"]);
    let _server = launch.start(&http_client()).await.unwrap();
    let receiver = Receiver::bind("127.0.0.1:0".parse().unwrap(), Arc::new(SystemClock)).await.unwrap();
    let account = launch.run_command(&["provider", "account", "create", "Hammer & Sons", "--json"]).unwrap();
    let account = account["id"].as_str().unwrap().to_owned();
    let code = launch.run_command(&["provider", "account", "sign-in-code", &account, "--json"]).unwrap();
    let browser = Browser::start().await.unwrap();
    let page = browser.page().await.unwrap();
    page.resize(DESK).await.unwrap();

    // The checklist of an empty account. The command does not know the port that the test chose.
    let code = code["url"].as_str().unwrap().split_once('#').unwrap().1.to_owned();
    join(&page, &format!("{}/dashboard/join#{code}", launch.provider_url())).await;
    page.wait_until_shown("0 of 5 steps done").await.unwrap();
    assert_accessible(&page).await;

    // An API key, which is shown once and works.
    page.click_through("Open API access").await.unwrap();
    page.click_through("Create key").await.unwrap();
    page.fill("name", "Auction platform").await.unwrap();
    page.click_through("Create key").await.unwrap();
    page.wait_until_shown("is shown only now").await.unwrap();
    let key = text_of(&page, "key").await;
    let api = ApiClient::new(http_client(), launch.provider_url(), &key).unwrap();

    // The platform's two event types, which are ready.
    page.click_through("Overview").await.unwrap();
    page.wait_until_shown("1 of 5 steps done").await.unwrap();
    page.click_through("Open event types").await.unwrap();
    assert_accessible(&page).await;
    page.click_through("Add these 2 event types").await.unwrap();
    page.wait_until_shown("The event types were added").await.unwrap();
    page.click_through(EVENT_TYPE).await.unwrap();
    page.wait_until_shown("Item status changed").await.unwrap();
    assert_accessible(&page).await;
    page.click_through("Edit event type").await.unwrap();
    assert_accessible(&page).await;
    page.click_through("Check schema").await.unwrap();
    page.wait_until_shown("The schema is valid").await.unwrap();

    // An application, whose identifier the API accepts.
    page.click_through("Overview").await.unwrap();
    page.click_through("Create application").await.unwrap();
    page.fill("name", "Hammer & Sons web site").await.unwrap();
    assert_accessible(&page).await;
    page.click_through("Create application").await.unwrap();
    page.wait_until_shown("Copy application id").await.unwrap();
    let application = text_of(&page, "application-id").await;
    assert!(application.starts_with("app_"), "{application}");
    let found = api.get(&format!("/api/v1/app/{application}")).await.unwrap();
    assert_eq!(found.text("/name").unwrap(), "Hammer & Sons web site");
    assert_accessible(&page).await;

    // The App Portal of the application in a new tab, with an endpoint for one of the event types.
    page.click("Preview App Portal").await.unwrap();
    let portal = browser.opened("/app-portal/endpoints").await.unwrap();
    portal.wait_until_at("/app-portal/endpoints").await.unwrap();
    portal.click_through("Add endpoint").await.unwrap();
    portal.fill("url", &receiver.url()).await.unwrap();
    portal.click("Only these").await.unwrap();
    portal.click(&format!("{EVENT_TYPE}Event triggered when an item status changes")).await.unwrap();
    portal.click_through("Add endpoint").await.unwrap();
    portal.wait_until_shown("The endpoint was added.").await.unwrap();
    portal.click_through("Signing secret").await.unwrap();
    portal.click_through("Reveal secret").await.unwrap();
    receiver.set_secret(&text_of(&portal, "secret").await).unwrap();

    // An example, received and verified.
    portal.click_through("Send example").await.unwrap();
    portal.evaluate("document.querySelector('form[method=post][action$=\"/example\"] button').click()").await.unwrap();
    assert!(receiver.wait_until(WAIT_MAX, |record| record.arrivals().len() == 1).await);
    portal.wait_until("document.querySelector('#answer .status.good') !== null").await.unwrap();
    portal.click("Back to dashboard").await.unwrap();
    portal.wait_until_at(&format!("/dashboard/applications/{application}")).await.unwrap();

    // The page shows the figures instead of the checklist.
    show_figures(&page, &format!("{}/dashboard/", launch.provider_url())).await;
    assert!(!page.text("document.body.innerText").await.unwrap().contains("Set up your account"));
    assert_accessible(&page).await;
    for path in ["/applications", "/event-types", "/usage", "/tasks", "/operational-webhooks", "/payload-check"] {
        page.open(&format!("{}/dashboard{path}", launch.provider_url())).await.unwrap();
        page.wait_until_at(&format!("/dashboard{path}")).await.unwrap();
        assert_accessible(&page).await;
    }
    assert_eq!(page.console_errors(), [] as [String; 0]);
}

/// Opens the overview again until the figures are counted, which takes longer on a busy machine.
async fn show_figures(page: &Page, url: &str) {
    let opening = async {
        loop {
            page.open(url).await.unwrap();
            page.wait_until("document.readyState === 'complete'").await.unwrap();
            if page.text("document.body.innerText").await.unwrap().contains("1 succeeded, 0 failed") {
                return;
            }
            tokio::time::sleep(Duration::from_millis(200)).await;
        }
    };
    tokio::time::timeout(WAIT_MAX, opening).await.expect("the figures were not shown");
}
