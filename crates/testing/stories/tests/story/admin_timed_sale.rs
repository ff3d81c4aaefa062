//! A timed auction in the browser, from a house's own catalogue to the sold event on the page of its lot.

use std::time::Instant;

use serde_json::json;
use testkit::browser::Page;
use testkit::site::CustomerSite;

use crate::administration::{Administration, assert_accessible, desk_page};
use crate::support::WAIT_MAX;

/// A catalogue file of a house: semicolons, its own headers, Windows-1252, currency signs, and a column that Lotwire ignores.
const CATALOGUE: &str = "Lot No;Lead;Description;Low Est;High Est;Start Bid;Reserve Price;Shelf\\r\\n\
     1;Caf\\u00e9 clock;Paris, about 1890;\\u00a325.00;\\u00a340.00;10;\\u00a320,00;A3\\r\\n\
     2;Coffee pot;;1.200,00;1.500,00;;900;B1\\r\\n\
     2A;Toast rack;With <b>arms</b>;30;50;;;B2\\r\\n";

/// Puts a file of this content into the field, one byte for each character, as the file dialog would.
async fn choose_file(page: &Page, content: &str) {
    let script = format!(
        "(() => {{ const bytes = Uint8Array.from(\"{content}\", (char) => char.charCodeAt(0)); \
         const files = new DataTransfer(); files.items.add(new File([bytes], 'house.csv')); \
         document.getElementById('file').files = files.files; return true; }})()"
    );
    page.evaluate(&script).await.unwrap();
}

async fn set(page: &Page, id: &str, value: &str) {
    page.evaluate(&format!("document.getElementById({}).value = {}", json!(id), json!(value))).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_house_sells_its_own_catalogue_and_sees_the_event_delivered() {
    let administration = Administration::open().await;
    let site = CustomerSite::set_up(&administration.launch, &administration.launch).await.unwrap();
    let page = desk_page(&administration.browser).await;
    administration.set_up(&page).await;

    page.click_through("Auctions").await.unwrap();
    assert_accessible(&page).await;
    page.click_through("Create auction").await.unwrap();
    page.evaluate("document.querySelector('details.more').open = true").await.unwrap();
    assert_accessible(&page).await;
    page.fill("title", "Christmas clocks").await.unwrap();
    page.fill("timeZone", "Etc/UTC").await.unwrap();
    // The auction ends in 40 minutes, rounded down to the minute.
    set(&page, "endsAt", &site.in_ms(40 * 60_000)[..16]).await;
    set(&page, "registration", "open").await;
    page.evaluate("document.getElementById('sandbox').checked = true").await.unwrap();
    page.click_through("Create auction").await.unwrap();
    page.wait_until_shown("The auction was created as a draft.").await.unwrap();
    page.wait_until_shown("Add lots.").await.unwrap();
    assert_accessible(&page).await;
    let auction = page.text("location.pathname.split('/').pop()").await.unwrap();

    // The page proposes the columns and shows the changes before the import.
    page.click_through("Import lots").await.unwrap();
    assert_accessible(&page).await;
    choose_file(&page, CATALOGUE).await;
    page.click_through("Upload file").await.unwrap();
    page.wait_until_shown("Check the catalogue").await.unwrap();
    page.wait_until_shown("Lot No").await.unwrap();
    assert_accessible(&page).await;
    page.click_through("Import 3 lots").await.unwrap();
    page.wait_until_shown("The catalogue was imported.").await.unwrap();
    page.wait_until_shown("Café clock").await.unwrap();
    page.wait_until_shown("£1,200").await.unwrap();
    page.wait_until_shown("£25").await.unwrap();
    assert_accessible(&page).await;

    // A second import of the same file changes nothing.
    page.click_through("Import lots").await.unwrap();
    choose_file(&page, CATALOGUE).await;
    page.click_through("Upload file").await.unwrap();
    page.wait_until_shown("Unchanged").await.unwrap();
    assert_eq!(page.text("document.querySelectorAll('.key-figures dd')[3].textContent").await.unwrap(), "3");

    // A cell is edited in place by the keyboard.
    page.open(&administration.url(&format!("/auctions/{auction}/lots"))).await.unwrap();
    page.wait_until_shown("Toast rack").await.unwrap();
    page.click("Toast rack").await.unwrap();
    page.wait_until("document.activeElement.name === 'value'").await.unwrap();
    page.evaluate("document.activeElement.value = 'A toast rack'").await.unwrap();
    let enter = "document.activeElement.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', bubbles: true }))";
    page.evaluate(enter).await.unwrap();
    page.wait_until("document.getElementById('grid-status').textContent === 'Lot 2A saved.'").await.unwrap();

    // Preview, live, and a bid.
    page.click_through("Overview").await.unwrap();
    for step in ["Open preview", "Go live"] {
        page.click_through(step).await.unwrap();
        assert_accessible(&page).await;
        page.click_through(step).await.unwrap();
        page.wait_until_shown("The status was changed.").await.unwrap();
    }
    let items = site.items(&auction).await.unwrap();
    let item = items.iter().find(|item| item["lotNumber"] == "1").unwrap()["uuid"].as_str().unwrap().to_owned();
    let bid = json!({ "bidder": "7", "amount": 5_000 });
    site.platform.post(&format!("/api/v1/items/{item}/bids"), &bid).await.unwrap();

    // An hour later every lot has ended, and the customer has its events.
    page.open(&administration.url("/test-clock")).await.unwrap();
    page.wait_until_at("/admin/test-clock").await.unwrap();
    page.evaluate("document.querySelector('select[name=seconds]').value = '3600'").await.unwrap();
    page.click_through("Advance clock").await.unwrap();
    let arrived = site.receiver.wait_until(WAIT_MAX, |record| record.arrivals().len() >= 6).await;
    assert!(arrived, "the events of the auction and of its lots did not arrive");
    let lot = administration.url(&format!("/auctions/{auction}/lots/{item}"));
    let deadline = Instant::now() + WAIT_MAX;
    // The page reads the deliveries once, and the provider records an attempt after the receiver has responded.
    loop {
        page.open(&lot).await.unwrap();
        page.wait_until("document.querySelector('.deliveries .status') !== null").await.unwrap();
        let is_delivered = page.evaluate("document.querySelector('.deliveries .status.good') !== null").await.unwrap();
        if is_delivered == true {
            break;
        }
        assert!(Instant::now() < deadline, "{}", page.text("document.body.innerText").await.unwrap());
    }
    page.wait_until_shown("Its end was reached").await.unwrap();
    page.wait_until_shown("Paddle 7").await.unwrap();
    page.wait_until_shown("msg_").await.unwrap();
    assert_accessible(&page).await;
    let before = site.receiver.requests();
    page.click_through(&format!("Send again to {}", site.receiver.url())).await.unwrap();
    page.wait_until_shown("The provider is sending the event once more.").await.unwrap();
    assert!(site.receiver.wait_until(WAIT_MAX, |_| site.receiver.requests() > before).await);

    page.click_through("Christmas clocks").await.unwrap();
    for tab in ["Results", "Timeline", "Registrations", "End times", "Lots"] {
        page.click_through(tab).await.unwrap();
        assert_accessible(&page).await;
    }
    assert_eq!(page.console_errors(), Vec::<String>::new());
}
