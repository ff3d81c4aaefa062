//! A double press of a key sends one command.

use serde_json::json;
use testkit::browser::Browser;

use crate::clerks_desk::{Desk, DeskFixture};

/// Presses a key twice in one task of the page, so that a slow machine can't separate the two presses.
async fn presses_twice(desk: &Desk, key: &str) {
    let key = json!(key);
    let press = format!("document.dispatchEvent(new KeyboardEvent('keydown', {{ key: {key}, bubbles: true }}))");
    desk.page.evaluate(&format!("{press}; {press}; null")).await.unwrap();
}

/// Presses a key 250 ms after its last press, by the clock of the page.
async fn presses_again(desk: &Desk, id: &str, key: &str) {
    let (id, key) = (json!(id), json!(key));
    let press = format!(
        "pressedAt.set({id}, performance.now() - 250); document.dispatchEvent(new KeyboardEvent('keydown', {{ key: {key}, bubbles: true }})); null"
    );
    desk.page.evaluate(&press).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_double_press_of_a_key_sends_one_command() {
    let sale = DeskFixture::open(3).await;
    sale.register(&["117", "118"]).await;
    let browser = Browser::start().await.unwrap();
    let desk = sale.desk(&browser).await;
    desk.does("n", "Lot 1 is in the ring").await;

    // A double press is ignored during the first command and after its answer, also with the other key of the command.
    presses_twice(&desk, "+").await;
    desk.says("Pressed twice: the second + is not taken. £100 from the room. Asking £110. Saved.").await;
    presses_again(&desk, "room-bid", "b").await;
    desk.says("Pressed twice: the second B is not taken.").await;
    assert_eq!(sale.item(1).await["price"], 10_000);
    desk.does("+", "£110 from the room").await;
    presses_twice(&desk, "-").await;
    desk.says("Pressed twice: the second − is not taken. Undone. £100 from the room stands.").await;
    assert_eq!(sale.item(1).await["price"], 10_000);

    // A second web bid is not taken with the first one.
    sale.web_bid(1, "W-1", 11_000).await;
    sale.web_bid(1, "W-2", 15_000).await;
    desk.until_slot("web-more", "£150 from paddle W-2").await;
    desk.page.wait_until("performance.now() - Math.max(webBoxChangedAt, waitingChangedAt) > 260").await.unwrap();
    presses_twice(&desk, "*").await;
    desk.says("Pressed twice: the second * is not taken. £110 from paddle W-1").await;
    assert_eq!(sale.item(1).await["price"], 11_000);
    desk.page.wait_until("performance.now() - Math.max(webBoxChangedAt, waitingChangedAt) > 260").await.unwrap();
    desk.does("*", "£150 from paddle W-2").await;
    desk.page.wait_until("performance.now() - waitingChangedAt > 260").await.unwrap();

    // The state of the lot guards the hammer, the pass and the next lot.
    presses_twice(&desk, "F9").await;
    desk.says("Lot 1 sold at £150 to paddle W-2").await;
    presses_twice(&desk, "n").await;
    desk.says("Lot 2 is in the ring").await;
    assert_eq!(sale.item(2).await["status"], "LIVE");

    // An Enter that sets the paddle, or that answers a question, sends no lot.
    desk.does("+", "£100 from the room").await;
    desk.does("F9", "Lot 2 sold at £100 to an open buyer").await;
    desk.page.type_keys("117").await.unwrap();
    presses_twice(&desk, "Enter").await;
    desk.says("The buyer is paddle 117").await;
    presses_again(&desk, "enter", "Enter").await;
    desk.says("Pressed twice: the second Enter is not taken.").await;
    assert_eq!(desk.page.text("String(truth.lot)").await.unwrap(), "null");
    // The second click of a double click on an answer activates no button below it.
    desk.page.evaluate("changeBuyer(lastSold())").await.unwrap();
    desk.page.evaluate("document.getElementById('paddle').value = '118'; document.querySelector('[data-slot=reason-yes]').click(); document.querySelector('[data-do=next]').click(); null").await.unwrap();
    desk.says("A question has just closed. Look, then press again. The buyer is paddle 118").await;
    assert_eq!(desk.page.text("String(truth.lot)").await.unwrap(), "null");
    desk.does("Enter", "Lot 3 is in the ring").await;
    assert_eq!(desk.page.console_errors(), Vec::<String>::new());
}
