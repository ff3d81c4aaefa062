//! The clerk writes to all visitors from the desk: the pages of the sale show the message at once, also after the server was killed,
//! without script, and at another node.

use consumer::ApiClient;
use serde_json::json;
use testkit::browser::Page;
use testkit::site::http_client;

use crate::administration::{Administration, assert_accessible, desk_page};
use crate::saleroom_bids::House;
use crate::saleroom_live::IS_LIVE;
use crate::support::Clerk;

const HOSTILE: &str = "<b>We go on</b> at 14:30 & not before.";

/// The message under the stage, without its time; empty without one.
const SHOWN: &str = "document.querySelector('[data-message] span')?.textContent ?? ''";

async fn until_shown(page: &Page, text: &str) {
    page.wait_until(&format!("({SHOWN}) === {}", json!(text))).await.unwrap();
}

/// Writes at the desk, from the button to the answer.
async fn write(desk: &Page, text: &str) {
    desk.evaluate("document.querySelector('[data-message=write]').click()").await.unwrap();
    desk.wait_until("document.getElementById('message').open").await.unwrap();
    desk.evaluate(&format!("document.getElementById('message-text').value = {}", json!(text))).await.unwrap();
    desk.evaluate("document.querySelector('#message [type=submit]').click()").await.unwrap();
    desk.wait_until("!document.getElementById('message').open").await.unwrap();
    let slot = format!("document.querySelector('[data-slot=message]').textContent.endsWith({})", json!(text));
    desk.wait_until(&slot).await.unwrap();
}

/// The page as a browser without script gets it.
async fn without_script(url: &str) -> String {
    let port = url.split(':').nth(2).and_then(|rest| rest.split('/').next()).unwrap();
    let resolve = format!("saleroom.localhost:{port}:127.0.0.1");
    let output = std::process::Command::new("curl").args(["--silent", "--resolve", &resolve, url]).output().unwrap();
    String::from_utf8(output.stdout).unwrap()
}

async fn the_clerk_writes_to_all_visitors(database: Option<String>) {
    let mut house = House::open_webcast(database.clone()).await;
    let lot = house.bidder("Ann Hartley", "ann@example.com").await;
    let catalogue = house.other_device().await;
    let sale_url = format!("{}/sales/{}", house.open.url(), house.auction);
    catalogue.open(&sale_url).await.unwrap();
    let desk = desk_page(&house.open.administration.browser).await;
    desk.open(&house.open.administration.url(&format!("/webcasts/{}/desk", house.auction))).await.unwrap();
    desk.wait_until("document.getElementById('desk')?.dataset.link === 'connected'").await.unwrap();
    let clerk = Clerk::new(house.open.site.platform.clone(), &house.auction);
    clerk.command("send", &json!({ "item": house.lots[0] })).await;
    clerk.command("bid", &json!({ "source": "room", "bidder": "12" })).await;
    for page in [&lot, &catalogue] {
        page.wait_until(IS_LIVE).await.unwrap();
        until_shown(page, "").await;
    }
    lot.wait_until("document.querySelectorAll('.bid-feed li').length === 1").await.unwrap();

    // A pasted text that is too long stays whole, and no visitor sees it.
    desk.evaluate("document.querySelector('[data-message=write]').click()").await.unwrap();
    desk.fill("message-text", &"ö".repeat(230)).await.unwrap();
    let fault = "document.querySelector('[data-slot=message-fault]').textContent";
    let too_long = "The message has 230 characters: shorten it to at most 200.";
    desk.wait_until(&format!("{fault} === '{too_long}'")).await.unwrap();
    assert_eq!(desk.text("document.getElementById('message-text').value.length.toString()").await.unwrap(), "230");
    desk.click("Cancel Esc").await.unwrap();

    // The message is text in these words, under the stage and among the bids of the lot. The stage itself stays.
    write(&desk, HOSTILE).await;
    for page in [&lot, &catalogue] {
        until_shown(page, HOSTILE).await;
        let role = page.text("document.querySelector('[data-message]').getAttribute('role')").await.unwrap();
        assert_eq!(role, "status", "a screen reader speaks it");
        assert_accessible(page).await;
        house.assert_faultless(page).await;
    }
    let stage = catalogue.text("document.querySelector('[data-stage]').textContent").await.unwrap();
    assert_eq!(stage, "Lot 1 is in the ring. Asking price £550.");
    let feed = "[...document.querySelectorAll('[data-feed] li')].map((row) => row.firstChild.textContent).join(' | ')";
    lot.wait_until(&format!("({feed}) === {}", json!(format!("{HOSTILE} | £500")))).await.unwrap();
    let page = without_script(&sale_url).await;
    assert!(page.contains("We go on") && !page.contains("<b>We go on"), "{page}");

    // The next message takes its place, and the list keeps both.
    write(&desk, "Lot 1: the key is lost.").await;
    for page in [&lot, &catalogue] {
        until_shown(page, "Lot 1: the key is lost.").await;
    }
    let list =
        "[...document.querySelectorAll('[data-messages] li')].map((row) => row.firstChild.textContent).join(' | ')";
    assert_eq!(catalogue.text(list).await.unwrap(), format!("Lot 1: the key is lost. | {HOSTILE}"));

    // A killed server has lost nothing, and says it once: the region does not change when the page is live again.
    catalogue
        .evaluate("window.changes = 0; new MutationObserver(() => { window.changes += 1; }).observe(document.querySelector('[data-message]'), { childList: true, subtree: true })")
        .await
        .unwrap();
    house.open.administration = house.open.administration.kill_and_restart().await;
    let administration: &Administration = &house.open.administration;
    for page in [&lot, &catalogue] {
        page.wait_until(IS_LIVE).await.unwrap();
        until_shown(page, "Lot 1: the key is lost.").await;
    }
    assert_eq!(catalogue.evaluate("window.changes").await.unwrap(), 0);
    for page in [&lot, &catalogue] {
        page.reload().await.unwrap();
        until_shown(page, "Lot 1: the key is lost.").await;
        page.wait_until(IS_LIVE).await.unwrap();
    }
    assert_eq!(lot.text(feed).await.unwrap(), format!("Lot 1: the key is lost. | {HOSTILE} | £500"));

    // Another node shows what this one wrote, and the other way round.
    let data = tempfile::tempdir().unwrap();
    let second = match database {
        None => None,
        Some(_) => {
            let listen = administration.launch.second_node().unwrap().platform;
            let launch = administration.launch.node_in(data.path()).unwrap();
            let launch = launch.set("SALEROOM__LISTEN", &listen.to_string());
            Some((launch.start(&http_client()).await.unwrap(), launch))
        }
    };
    if let Some((_, launch)) = &second {
        let key = launch.create_staff_key("second").unwrap();
        let api = ApiClient::new(http_client(), launch.platform_url(), &key).unwrap();
        let path = format!("/api/v1/auctions/{}/ring/message", house.auction);
        api.put(&path, &json!({ "text": "From the other node." })).await.unwrap();
        for page in [&lot, &catalogue] {
            until_shown(page, "From the other node.").await;
        }
        desk.wait_until("document.querySelector('[data-slot=message]').textContent.endsWith('From the other node.')")
            .await
            .unwrap();
    }

    // Cleared, it leaves the stage and stays in the list. No customer's endpoint has received a message.
    desk.wait_until("document.getElementById('desk').dataset.link === 'connected'").await.unwrap();
    desk.evaluate("document.querySelector('[data-message=write]').click()").await.unwrap();
    desk.evaluate("document.querySelector('[data-message=clear]').click()").await.unwrap();
    desk.wait_until("document.querySelector('[data-slot=message]').textContent === 'No message is shown.'")
        .await
        .unwrap();
    for page in [&lot, &catalogue] {
        until_shown(page, "").await;
    }
    assert!(catalogue.text(list).await.unwrap().contains(HOSTILE));
    let events = house.open.site.announced_events().await.unwrap();
    assert!(!format!("{events:?}").contains("We go on"), "{events:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_clerk_writes_to_all_visitors_on_sqlite() {
    the_clerk_writes_to_all_visitors(None).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_clerk_writes_to_all_visitors_on_postgres() {
    the_clerk_writes_to_all_visitors(Some(testkit::postgres::fresh_database().await.unwrap())).await;
}
