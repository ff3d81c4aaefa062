//! A failed delivery in a real browser: found, explained, repaired and recovered; and a replay with progress that is stopped.

use http::StatusCode;
use svix::models::EndpointIn;
use testkit::browser::{Browser, Page};

use crate::portal::{DESK, PortalFixture, assert_accessible};
use crate::support::WAIT_MAX;

#[tokio::test(flavor = "multi_thread")]
async fn a_failed_delivery_is_found_explained_repaired_and_recovered() {
    let shop = PortalFixture::open().await;
    let endpoint = EndpointIn::new(shop.receiver.url());
    let endpoint = shop.svix.endpoint().create(shop.app.clone(), endpoint, None).await.unwrap().id;
    let secret = shop.svix.endpoint().get_secret(shop.app.clone(), endpoint).await.unwrap().key;
    shop.receiver.set_secret(&secret).unwrap();
    shop.receiver.respond_with(StatusCode::INTERNAL_SERVER_ERROR);
    let message = shop.send("SOLD").await;
    // The last attempt of the schedule.
    while shop.receiver.requests() < 8 {
        tokio::task::yield_now().await;
    }
    let browser = Browser::start().await.unwrap();
    let page = browser.page().await.unwrap();
    page.resize(DESK).await.unwrap();
    page.open(&shop.link().await.0).await.unwrap();
    page.wait_until_at("/app-portal/endpoints").await.unwrap();

    // The overview names the endpoint, and the endpoint's page lists the messages.
    page.click_through("Overview").await.unwrap();
    page.wait_until_shown("Endpoints that need attention").await.unwrap();
    assert_accessible(&page).await;
    page.click_through(&shop.receiver.url()).await.unwrap();
    page.wait_until_shown("none has succeeded since then").await.unwrap();
    assert_accessible(&page).await;
    reload_until(&page, "Show failed messages", &message).await;
    page.wait_until_shown("State: Failed").await.unwrap();

    // The failed attempt is open, with the cause, the request and the response.
    page.click_through(&message).await.unwrap();
    page.wait_until_shown("500: The receiver's own code failed").await.unwrap();
    page.wait_until_shown("webhook-signature: v1,MASKED").await.unwrap();
    assert_accessible(&page).await;

    // The receiver is repaired, and the messages are recovered.
    shop.receiver.respond_with(StatusCode::NO_CONTENT);
    page.click_through(&shop.receiver.url()).await.unwrap();
    page.click_through("Replay missed messages").await.unwrap();
    page.click_through("Count messages").await.unwrap();
    page.wait_until_shown("Send 1 message again?").await.unwrap();
    assert_accessible(&page).await;
    page.click_through("Send messages again").await.unwrap();
    // The page updates itself.
    page.wait_until_shown("1 delivered, 0 failed").await.unwrap();
    assert!(shop.receiver.wait_until(WAIT_MAX, |record| record.arrivals().len() == 1).await);
    assert_eq!(page.console_errors(), [""; 0]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_replay_shows_its_progress_and_is_stopped() {
    const MESSAGES: usize = 40;
    let shop = PortalFixture::open().await;
    for _ in 0..MESSAGES {
        shop.send("SOLD").await;
    }
    // A second passes between two deliveries.
    let endpoint = EndpointIn { throttle_rate: Some(1), ..EndpointIn::new(shop.receiver.url()) };
    let endpoint = shop.svix.endpoint().create(shop.app.clone(), endpoint, None).await.unwrap().id;
    let secret = shop.svix.endpoint().get_secret(shop.app.clone(), endpoint.clone()).await.unwrap().key;
    shop.receiver.set_secret(&secret).unwrap();
    let browser = Browser::start().await.unwrap();
    let page = browser.page().await.unwrap();
    page.resize(DESK).await.unwrap();
    page.open(&shop.link().await.0).await.unwrap();
    page.wait_until_at("/app-portal/endpoints").await.unwrap();
    page.open(&format!("{}/app-portal/endpoints/{endpoint}/replay", shop.launch.provider_url())).await.unwrap();
    page.wait_until_shown("Send missed messages").await.unwrap();
    page.evaluate("document.querySelector('input[value=missing]').click()").await.unwrap();
    page.click_through("Count messages").await.unwrap();
    page.wait_until_shown(&format!("Send {MESSAGES} messages again?")).await.unwrap();
    page.wait_until_shown("they take about 40 s").await.unwrap();
    page.click_through("Send messages again").await.unwrap();
    page.wait_until_shown("Running").await.unwrap();
    page.wait_until("/\\b[1-9]\\d* delivered, 0 failed/.test(document.body.innerText)").await.unwrap();
    assert_accessible(&page).await;
    page.click_through("Stop replay").await.unwrap();
    page.wait_until_shown("The replay was stopped.").await.unwrap();
    page.wait_until_shown("Stopped").await.unwrap();
    page.wait_until("!document.body.innerText.includes('Running')").await.unwrap();
    assert!(shop.receiver.read(|record| record.arrivals().len()) < MESSAGES);
}

/// Reloads the page until it shows the text: a list shows the messages at the time of its request.
async fn reload_until(page: &Page, link: &str, text: &str) {
    let from = page.text("location.href").await.unwrap();
    loop {
        page.click_through(link).await.unwrap();
        if page.text("document.body.innerText").await.unwrap().contains(text) {
            return;
        }
        page.open(&from).await.unwrap();
        page.wait_until_shown(link).await.unwrap();
    }
}
