//! A sale or a pass over a higher bid needs a confirmation, and a repeated key does not confirm it.

use std::time::Duration;

use serde_json::json;
use testkit::browser::Browser;

use crate::clerks_desk::{Desk, DeskFixture};

/// Longer than the desk refuses to sell after the highest waiting bid has changed.
const READ: Duration = Duration::from_millis(300);

async fn until_asked(desk: &Desk, question: &str) {
    let question = json!(question);
    let asked = format!(
        "document.getElementById('confirm').open && document.querySelector('[data-slot=confirm-name]').textContent === {question}"
    );
    desk.page.wait_until(&asked).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_sale_over_a_higher_web_bid_asks_once_and_a_repeated_key_does_not_answer() {
    let sale = DeskFixture::open(3).await;
    let browser = Browser::start().await.unwrap();
    let desk = sale.desk(&browser).await;
    desk.does("n", "Lot 1 is in the ring").await;
    // The story waits for "Saved", because the answer to the bid may arrive with the web bid and replace the line.
    desk.does("+", "£100 from the room. Asking £110. Saved.").await;

    // The desk ignores the hammer until the clerk has had time to read the new bid.
    desk.page.evaluate("window.refused = 0; const line = document.querySelector('[data-slot=say]'); new MutationObserver(() => { if (line.textContent.includes('Look, then press again')) window.refused += 1; }).observe(line, { childList: true, characterData: true, subtree: true }); const adopted = adopt; adopt = (state) => { const was = truth.waiting; const done = adopted(state); if (!was && truth.waiting) document.dispatchEvent(new KeyboardEvent('keydown', { key: 'F9', bubbles: true })); return done; }; null").await.unwrap();
    let bid = sale.web_bid(1, "W-9", 50_000).await;
    desk.page.wait_until("window.refused > 0").await.unwrap();
    assert_eq!(desk.page.text("String(document.getElementById('confirm').open)").await.unwrap(), "false");
    tokio::time::sleep(READ).await;
    desk.does("F8", "Fair warning given. £500 waits on the internet.").await;

    // The desk asks once; another F9, Enter and a held F9 do not answer.
    desk.presses("F9").await;
    until_asked(&desk, "Lot 1: £500 waits on the internet.").await;
    assert_eq!(desk.slot("confirm-first").await, "Take it at £500 T");
    assert_eq!(desk.slot("confirm-yes").await, "Sell at £100 Y");
    desk.presses("F9").await;
    desk.page.hold("F9", READ).await.unwrap();
    until_asked(&desk, "Lot 1: £500 waits on the internet.").await;
    assert_eq!(sale.item(1).await["status"], "LIVE");
    desk.does("t", "£500 from paddle W-9").await;
    tokio::time::sleep(READ).await;
    desk.does("F9", "Lot 1 sold at £500 to paddle W-9").await;
    let path = format!("/api/v1/items/{}/internet-bids/{bid}", sale.lots[0]);
    assert_eq!(sale.site.platform.get(&path).await.unwrap().body["state"], "accepted");

    // Lot 2: the clerk sells over the bid, which stays listed with its reason.
    desk.does("n", "Lot 2 is in the ring").await;
    desk.does("+", "£100 from the room").await;
    let bid = sale.web_bid(2, "W-10", 30_000).await;
    desk.until_slot("web-amount", "£300").await;
    tokio::time::sleep(READ).await;
    desk.presses("F9").await;
    until_asked(&desk, "Lot 2: £300 waits on the internet.").await;
    desk.does("y", "Lot 2 sold at £100").await;
    desk.until_slot("late", "£300 · paddle W-10Lot 2: not taken before the hammer").await;
    let path = format!("/api/v1/items/{}/internet-bids/{bid}", sale.lots[1]);
    let lost = sale.site.platform.get(&path).await.unwrap().body;
    assert_eq!((&lost["state"], &lost["reason"]), (&json!("lost"), &json!("sold_in_ring")));

    // Lot 3: a pass over a higher bid asks, too.
    desk.does("n", "Lot 3 is in the ring").await;
    sale.web_bid(3, "W-11", 20_000).await;
    desk.until_slot("web-amount", "£200").await;
    tokio::time::sleep(READ).await;
    desk.presses("F2").await;
    until_asked(&desk, "Lot 3: £200 waits on the internet.").await;
    desk.presses("Escape").await;
    assert_eq!(sale.item(3).await["status"], "LIVE");
    desk.presses("F2").await;
    until_asked(&desk, "Lot 3: £200 waits on the internet.").await;
    desk.does("y", "Lot 3 passed").await;
    assert_eq!(desk.page.console_errors(), Vec::<String>::new());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_room_bid_names_the_web_bid_that_waited_at_its_price() {
    let sale = DeskFixture::open(1).await;
    let browser = Browser::start().await.unwrap();
    let desk = sale.desk(&browser).await;
    desk.does("n", "Lot 1 is in the ring").await;
    sale.web_bid(1, "W-9", 10_000).await;
    desk.until_slot("web-amount", "£100").await;
    let said = "£100 from the room. A web bid of £100 waited at this price. Saved.";
    desk.does("+", said).await;
    desk.until_slot("late", "outbid while it waited").await;
}
