//! An endpoint that fails is seen on Today, mended by the customer, and the event is sent again from its lot by support.

use std::time::{Duration, Instant};

use http::StatusCode;
use testkit::browser::Page;
use testkit::site::CustomerSite;

use crate::administration::{Administration, assert_accessible, desk_page};
use crate::support::{WAIT_MAX, launch_with_defaults, timed_auction};

const SUPPORT: &str = "sue@hartley.example";
/// The promise: what an endpoint does shows within this time.
const SEEN_MAX: Duration = Duration::from_secs(60);
/// Time until the lot ends.
const ENDS_MS: i64 = 2_000;

/// Opens the page again and again until it shows a text. Returns the time since `since`.
async fn shown(page: &Page, url: &str, (text, hidden): (&str, &str), since: Instant) -> Duration {
    let expression = format!(
        "document.body.innerText.includes({text}) && !document.body.innerText.includes({hidden})",
        text = serde_json::json!(text),
        hidden = serde_json::json!(hidden)
    );
    loop {
        page.open(url).await.unwrap();
        page.wait_until_shown("Needs doing").await.unwrap();
        if page.evaluate(&expression).await.unwrap().as_bool() == Some(true) {
            return since.elapsed();
        }
        assert!(
            since.elapsed() < WAIT_MAX,
            "{text} does not show: {}",
            page.text("document.body.innerText").await.unwrap()
        );
        tokio::time::sleep(Duration::from_millis(500)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_endpoint_that_fails_is_seen_on_today_mended_and_sent_to_again_from_the_lot() {
    let data = tempfile::tempdir().unwrap();
    let administration = Administration::open_on(launch_with_defaults(data.path()), data).await;
    let launch = &administration.launch;
    let user = launch.run_command(&["user", "create", SUPPORT, "--role", "support", "--json"]).unwrap();
    let site = CustomerSite::set_up(launch, launch).await.unwrap();
    let page = desk_page(&administration.browser).await;
    administration.sign_in(&page, SUPPORT, user["password"].as_str().unwrap()).await;
    let today = administration.url("/");

    // The receiver answers 500 to the events of the auction and of its lot.
    site.receiver.respond_with(StatusCode::INTERNAL_SERVER_ERROR);
    let auction = timed_auction(&site, 1, ENDS_MS).await;
    let lot = site.items(&auction).await.unwrap()[0]["uuid"].as_str().unwrap().to_owned();
    assert!(site.receiver.wait_until(WAIT_MAX, |_| site.receiver.requests() >= 2).await, "the events did not arrive");
    let took = shown(&page, &today, ("of 1 endpoint fails", "All done"), Instant::now()).await;
    assert!(took < SEEN_MAX, "the failure showed after {took:?}");
    page.wait_until_shown("the receiver answered 500").await.unwrap();
    assert_accessible(&page).await;
    page.open(&administration.url(&format!("/customers/{}", site.customer))).await.unwrap();
    page.wait_until_shown("the receiver answered 500").await.unwrap();
    assert_accessible(&page).await;
    page.open(&administration.url(&format!("/auctions/{auction}"))).await.unwrap();
    page.wait_until_shown("1 of 1 endpoint fails").await.unwrap();
    assert_accessible(&page).await;

    // The customer mends its receiver. The next retry is minutes away; support does not wait for it.
    site.receiver.respond_with(StatusCode::OK);
    page.open(&administration.url(&format!("/auctions/{auction}/lots/{lot}"))).await.unwrap();
    page.wait_until("document.querySelector('.deliveries button') !== null").await.unwrap();
    assert_accessible(&page).await;
    let sent = Instant::now();
    page.click_through(&format!("Send again to {}", site.receiver.url())).await.unwrap();
    page.wait_until_shown("The provider is sending the event once more.").await.unwrap();
    let took = shown(&page, &today, ("Working", "endpoint fails"), sent).await;
    assert!(took < SEEN_MAX, "Today was calm after {took:?}");
    assert!(site.receiver.read(|record| !record.arrivals().is_empty()), "the event was not accepted");
    page.open(&administration.url(&format!("/customers/{}", site.customer))).await.unwrap();
    page.wait_until_shown("Delivering").await.unwrap();
    assert_eq!(page.console_errors(), [""; 0]);
}
