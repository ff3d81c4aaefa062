//! Buyers in the room: the desk asks once about an unregistered paddle or a limit and leaves no buyer open, and shows names
//! beside paddles.

use serde_json::{Value, json};
use testkit::browser::Browser;

use crate::clerks_desk::{Desk, DeskFixture};

const VENDOR: &str = "019a0000-0000-7000-8000-00000000000a";

async fn sold(desk: &Desk, lot: usize) {
    desk.does("n", &format!("Lot {lot} is in the ring")).await;
    desk.does("+", "£100 from the room").await;
    desk.does("F9", &format!("Lot {lot} sold at £100 to an open buyer")).await;
}

async fn until_open(desk: &Desk, dialog: &str) {
    desk.page.wait_until(&format!("document.getElementById('{dialog}').open")).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unregistered_paddle_and_a_limit_leave_no_buyer_open() {
    let sale = DeskFixture::open_with(5, json!({ "registration": "required" }), json!({ "vendor": VENDOR })).await;
    let path = format!("/api/v1/auctions/{}/registrations", sale.webcast);
    let register = async |bidder: Value| sale.site.platform.post(&path, &bidder).await.unwrap().body;
    register(json!({ "paddle": "118", "name": "Lim Ited", "limit": 5_000, "status": "approved" })).await;
    register(json!({ "paddle": "119", "name": "Pen Ding" })).await;
    register(json!({ "paddle": "120", "name": "Vendor", "party": VENDOR, "status": "approved" })).await;
    let browser = Browser::start().await.unwrap();
    let desk = sale.desk(&browser).await;

    // Two keys register the paddle: Enter, and Y.
    sold(&desk, 1).await;
    desk.page.type_keys("117").await.unwrap();
    desk.presses("Enter").await;
    until_open(&desk, "confirm").await;
    assert_eq!(desk.slot("confirm-name").await, "Lot 1: paddle 117?");
    let text = desk.slot("confirm-text").await;
    assert_eq!(text, "Paddle 117 is not registered. It is registered for this sale now, and named later.");
    desk.does("y", "The buyer is paddle 117; the price is kept. Enter the name under Registrations.").await;
    let found = sale.site.platform.get(&format!("{path}?paddle=117")).await.unwrap().body["data"][0].clone();
    assert_eq!((&found["status"], &found["name"]), (&json!("approved"), &Value::Null), "{found}");
    assert_eq!(sale.item(1).await["leader"], "117");

    // A price above a limit needs a reason. Enter, the key that opened the question, does not answer it.
    sold(&desk, 2).await;
    desk.page.type_keys("118").await.unwrap();
    desk.presses("Enter").await;
    until_open(&desk, "reason").await;
    let text = desk.slot("reason-text").await;
    assert_eq!(text, "Paddle 118 is above its limit: £100 for this lot, limit £50.");
    desk.does("Enter", "No paddle set").await;
    assert_eq!(sale.item(2).await["leader"], json!(null));
    desk.types("118", "Enter", "The desk asks first").await;
    until_open(&desk, "reason").await;
    desk.does("y", "The buyer is paddle 118 (Lim Ited)").await;
    desk.until_slot("done", "paddle 118 · Lim Ited").await;

    // A registration that waits for approval.
    sold(&desk, 3).await;
    desk.page.type_keys("119").await.unwrap();
    desk.presses("Enter").await;
    until_open(&desk, "confirm").await;
    assert!(desk.slot("confirm-text").await.starts_with("The registration of paddle 119 waits for approval."));
    desk.does("y", "The buyer is paddle 119 (Pen Ding)").await;

    // The vendor and a suspended bidder stay refused, and the field is free for the right paddle.
    sold(&desk, 4).await;
    desk.types("120", "Enter", "“120” is not taken. Paddle 120 is the vendor of lot 4 or the auctioneer").await;
    let status = format!("{path}/{}/status", found["uuid"].as_str().unwrap());
    let suspended = json!({ "status": "suspended", "reason": "did not pay" });
    let etag = sale.site.platform.get(&format!("{path}/{}", found["uuid"].as_str().unwrap())).await.unwrap().etag;
    sale.site.platform.post_if_match(&status, etag.as_ref(), &suspended).await.unwrap();
    desk.types("117", "Enter", "“117” is not taken. Paddle 117 is suspended from this sale").await;
    desk.page.type_keys("121").await.unwrap();
    desk.presses("Enter").await;
    until_open(&desk, "confirm").await;
    desk.does("y", "The buyer is paddle 121").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_paddle_that_differs_in_case_or_zeros_proposes_the_registered_one() {
    // Registration is open; the desk asks about an unregistered paddle nevertheless.
    let sale = DeskFixture::open(3).await;
    let path = format!("/api/v1/auctions/{}/registrations", sale.webcast);
    let jane = json!({ "paddle": "101", "name": "Jane Smith", "status": "approved" });
    sale.site.platform.post(&path, &jane).await.unwrap();
    let browser = Browser::start().await.unwrap();
    let desk = sale.desk(&browser).await;
    let asks = async |paddle: &str, words: &str| {
        desk.page.type_keys(paddle).await.unwrap();
        desk.presses("Enter").await;
        until_open(&desk, "confirm").await;
        assert_eq!(desk.slot("confirm-text").await, words);
    };
    let text = "Paddle 0101 is not registered. Paddle 101 (Jane Smith) is registered. Did you mean it?";

    sold(&desk, 1).await;
    asks("999", "Paddle 999 is not registered. It is registered for this sale now, and named later.").await;
    desk.does("Escape", "No paddle set.").await;
    asks("0101", text).await;
    assert_eq!(desk.slot("confirm-first").await, "Paddle 101 Y");
    assert_eq!(desk.slot("confirm-yes").await, "Register 0101 R");
    desk.does("y", "The buyer is paddle 101 (Jane Smith)").await;
    assert_eq!(sale.item(1).await["leader"], "101");

    sold(&desk, 2).await;
    asks("0101", text).await;
    desk.does("r", "The buyer is paddle 0101").await;
    assert_eq!(sale.item(2).await["leader"], "0101");

    // Now both are registered.
    sold(&desk, 3).await;
    desk.types("101", "Enter", "The buyer is paddle 101 (Jane Smith)").await;
}
