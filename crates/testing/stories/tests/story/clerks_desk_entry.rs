//! Typing errors at the desk: a refused entry blocks nothing, an entry that begins too early is refused as a whole, and a price
//! that is far off, or that cancels bids, needs a confirmation.

use serde_json::json;
use testkit::browser::Browser;

use crate::clerks_desk::{Desk, DeskFixture};

/// Holds commands until `release()`.
const SLOW: &str = "window.real = fetch; window.fetch = async (...given) => { if (String(given[0]).endsWith('/commands')) await new Promise((resolve) => { window.release = resolve; }); return window.real(...given); }; null";

async fn value(desk: &Desk, field: &str) -> String {
    desk.page.text(&format!("document.getElementById('{field}').value")).await.unwrap()
}

async fn until_asked(desk: &Desk, name: &str) -> String {
    let name = json!(name);
    let asked = format!(
        "document.getElementById('confirm').open && document.querySelector('[data-slot=confirm-name]').textContent === {name}"
    );
    desk.page.wait_until(&asked).await.unwrap();
    desk.slot("confirm-text").await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refused_entry_is_cleared_and_a_price_far_off_needs_a_confirmation() {
    let sale = DeskFixture::open_with(2, json!({}), json!({ "highEstimate": 30_000 })).await;
    sale.register(&["117"]).await;
    let browser = Browser::start().await.unwrap();
    let desk = sale.desk(&browser).await;
    desk.does("Enter", "Lot 1 is in the ring").await;
    desk.types("200", "+", "£200 from the room").await;
    desk.types("300", "+", "£300 from the room. Asking £310").await;

    // The message keeps what was typed, and the field is empty for the next entry.
    desk.types("303", "+", "“303” is not taken. Bid at least £310.").await;
    assert_eq!(value(&desk, "price").await, "");
    desk.page.type_keys("30000").await.unwrap();
    desk.presses("+").await;
    let text = until_asked(&desk, "Lot 1: bid £30,000?").await;
    assert!(text.contains("The asking price is £310. The estimate is £300."), "{text}");
    desk.presses("+").await;
    desk.presses("Escape").await;
    assert_eq!(sale.item(1).await["price"], 30_000);
    // A confirmed price is set, even an asking price above five times the estimate.
    desk.page.type_keys("1501").await.unwrap();
    desk.presses("Enter").await;
    until_asked(&desk, "Lot 1: ask £1,501?").await;
    desk.does("y", "Asking £1,501").await;
    desk.does("+", "£1,501 from the room").await;
    desk.does("-", "Undone. £300 from the room stands").await;
    desk.types("3,5.1", "Enter", "“3,5.1” is not an amount").await;
    desk.types("99999999999999", "Enter", "is too much. Type at most £10,000,000,000,000.").await;
    assert_eq!(value(&desk, "price").await, "");

    // A price below bids names what it cancels, and undo brings all of them back.
    desk.types("310", "Enter", "Asking £310").await;
    desk.types("330", "+", "£330 from the room").await;
    desk.page.type_keys("117").await.unwrap();
    desk.presses("Enter").await;
    let text = until_asked(&desk, "Lot 1: ask £117, below the bid of £330?").await;
    let named = "This cancels 3 bids: £330 from the room, £300 from the room, £200 from the room. Undo brings all of them back.";
    assert_eq!(text, named);
    desk.presses("Escape").await;
    assert_eq!(sale.item(1).await["price"], 33_000);
    desk.page.type_keys("117").await.unwrap();
    desk.presses("Enter").await;
    until_asked(&desk, "Lot 1: ask £117, below the bid of £330?").await;
    desk.does("y", "Asking £117. Bids from there on are cancelled").await;
    desk.until_slot("bid", "No bid").await;
    desk.does("-", "The cancelled bids count again. £330 from the room stands").await;
    desk.does("F9", "Lot 1 sold at £330").await;

    // After the hammer the paddle has its own field.
    desk.page.type_keys("117").await.unwrap();
    assert_eq!((value(&desk, "price").await, value(&desk, "buyer").await), (String::new(), "117".to_owned()));
    desk.does("Enter", "The buyer is paddle 117").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_entry_that_begins_during_a_command_is_refused_as_a_whole() {
    let sale = DeskFixture::open(2).await;
    sale.register(&["117"]).await;
    let browser = Browser::start().await.unwrap();
    let (desk, other) = (sale.desk(&browser).await, sale.desk(&browser).await);
    desk.does("Enter", "Lot 1 is in the ring").await;
    desk.page.evaluate(SLOW).await.unwrap();
    desk.presses("+").await;
    desk.page.type_keys("15").await.unwrap();
    desk.says("What you type is not taken").await;
    desk.page.evaluate("window.release(); null").await.unwrap();
    desk.says("£100 from the room. Asking £110. Saved. What you type is not taken").await;
    // F9 does not sell over the refused entry.
    desk.does("F9", "What you type is not taken").await;
    // The desk ignores the remaining digits and the key after them.
    desk.page.type_keys("00").await.unwrap();
    desk.does("+", "What you type is not taken: press Esc, then type it again.").await;
    assert_eq!((value(&desk, "price").await, sale.item(1).await["price"].clone()), (String::new(), json!(10_000)));
    desk.does("Enter", "The entry is cleared").await;
    desk.page.evaluate("window.fetch = window.real; null").await.unwrap();
    desk.types("150", "F9", "“150” is typed and not used. Press + to bid it, Enter to ask it, or Esc to clear it.")
        .await;
    desk.does("+", "£150 from the room").await;

    // The price of a lot that another desk sold is not taken as a paddle.
    other.until_slot("bid", "£150").await;
    desk.page.type_keys("1").await.unwrap();
    other.does("F9", "Lot 1 sold at £150").await;
    desk.says("“1” is not taken: lot 1 is sold at £150").await;
    desk.page.type_keys("17").await.unwrap();
    desk.does("Enter", "The entry is cleared").await;
    assert_eq!(sale.item(1).await["leader"], json!(null));
    desk.types("117", "n", "“117” is typed and not used. Press Enter to set the paddle").await;
    desk.does("Enter", "The buyer is paddle 117").await;
    desk.does("Enter", "Lot 2 is in the ring").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_question_closes_when_its_subject_has_changed() {
    let sale = DeskFixture::open(1).await;
    let browser = Browser::start().await.unwrap();
    let (desk, other) = (sale.desk(&browser).await, sale.desk(&browser).await);
    desk.does("Enter", "Lot 1 is in the ring").await;
    desk.does("+", "£100 from the room").await;
    desk.page.type_keys("9000").await.unwrap();
    desk.presses("+").await;
    until_asked(&desk, "Lot 1: bid £9,000?").await;
    other.until_slot("bid", "£100").await;
    other.does("+", "£110 from the room").await;
    desk.says("Not bid: £110 from the room stands. Look, then press again.").await;
    assert_eq!(desk.page.text("String(document.getElementById('confirm').open)").await.unwrap(), "false");
    desk.presses("y").await;
    desk.presses("t").await;
    desk.does("F9", "Lot 1 sold at £110").await;
    desk.does("n", "No lot waits").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_change_that_arrives_while_the_desk_connects_again_is_shown() {
    let sale = DeskFixture::open(1).await;
    let browser = Browser::start().await.unwrap();
    let (desk, other) = (sale.desk(&browser).await, sale.desk(&browser).await);
    other.does("Enter", "Lot 1 is in the ring").await;
    desk.until_slot("lot-number", "Lot 1").await;
    // The desk loses its connection, and receives a state that is outdated by then.
    let late = "window.real = fetch; window.held = []; window.fetch = async (...given) => { const answer = await window.real(...given); if (String(given[0]).endsWith('/state')) await new Promise((resolve) => window.held.push(resolve)); return answer; }; lose(); null";
    desk.page.evaluate(late).await.unwrap();
    desk.page.wait_until("window.held.length === 1").await.unwrap();
    desk.page.evaluate("window.held.shift()(); null").await.unwrap();
    desk.page.wait_until("window.held.length === 1").await.unwrap();
    desk.page.evaluate("source.addEventListener('changed', () => { window.changed = true; }); null").await.unwrap();
    other.does("+", "£100 from the room").await;
    desk.page.wait_until("window.changed === true").await.unwrap();
    desk.page.evaluate("window.fetch = window.real; window.held.shift()(); null").await.unwrap();
    desk.until_slot("bid", "£100").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_paddle_keeps_its_letters_and_a_paddle_typed_as_a_price_needs_a_confirmation() {
    let sale = DeskFixture::open(2).await;
    sale.register(&["B12", "12"]).await;
    let browser = Browser::start().await.unwrap();
    let desk = sale.desk(&browser).await;
    desk.does("n", "Lot 1 is in the ring").await;
    desk.does("+", "£100 from the room").await;
    desk.does("F9", "Lot 1 sold at £100").await;
    // No lot accepts a room bid now, so B is a letter.
    desk.types("B12", "Enter", "The buyer is paddle B12").await;
    assert_eq!(sale.item(1).await["leader"], "B12");

    // Below a fifth of the asking price. A web bid that reaches the lower price still waits.
    desk.does("n", "Lot 2 is in the ring").await;
    sale.web_bid(2, "W-1", 15_000).await;
    desk.until_slot("web-amount", "£150").await;
    desk.types("19", "Enter", "").await;
    until_asked(&desk, "Lot 2: ask £19?").await;
    desk.does("Escape", "Not asked").await;
    desk.types("20", "Enter", "Asking £20").await;
    desk.until_slot("web-amount", "£150").await;
}
