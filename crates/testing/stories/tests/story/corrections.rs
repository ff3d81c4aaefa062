//! Corrections of a sale's results in a real browser: an offer for a passed lot, a hammer price, unpaid lots; and which of
//! them cause webhooks.

use serde_json::{Value, json};
use testkit::browser::{Browser, Page};

use crate::clerks_desk::DeskFixture;

/// Follows an action of a lot on the page Results, and fills in its form.
async fn correct(page: &Page, results: &str, action: &str, lot: &str, fields: &[(&str, &str)], done: &str) {
    // The page names the buyer whether one was known before or not.
    let button = if action == "Change buyer" { "Record buyer" } else { action };
    page.evaluate(&format!("location.href = {}", json!(results))).await.unwrap();
    page.wait_until_at(results).await.unwrap();
    let link = format!("document.querySelector('[aria-label=\"{action} {lot}\"]')");
    page.wait_until(&format!("{link} !== null")).await.unwrap();
    page.evaluate(&format!("{link}.click()")).await.unwrap();
    page.wait_until(&format!("document.querySelector('h1')?.textContent === '{button}: lot {lot}'")).await.unwrap();
    for (field, value) in fields {
        page.fill(field, value).await.unwrap();
    }
    page.click_through(button).await.unwrap();
    page.wait_until_shown(done).await.unwrap();
}

/// The statuses that were announced for a lot, in order.
async fn announced(sale: &DeskFixture, lot: usize) -> Vec<Value> {
    let path = format!("/api/v1/events?customer={}", sale.site.customer);
    let events = sale.site.platform.get(&path).await.unwrap().body;
    let about = |event: &&Value| event["eventId"].as_str().unwrap().starts_with(&sale.lots[lot - 1]);
    events["data"].as_array().unwrap().iter().filter(about).map(|event| event["payload"]["status"].clone()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_manager_corrects_the_results_of_a_sale() {
    let sale = DeskFixture::open(4).await;
    let bidder = json!({ "paddle": "8", "name": "Dee", "status": "approved" });
    let registrations = format!("/api/v1/auctions/{}/registrations", sale.webcast);
    sale.site.platform.post(&registrations, &bidder).await.unwrap();
    sale.register(&["7"]).await;
    let browser = Browser::start().await.unwrap();
    let desk = sale.desk(&browser).await;
    for lot in 1..=2 {
        desk.does("n", &format!("Lot {lot} is in the ring")).await;
        desk.does("+", "£100 from the room").await;
        desk.does("F9", &format!("Lot {lot} sold at £100")).await;
        desk.types("7", "Enter", "The buyer is paddle 7").await;
    }
    desk.does("n", "Lot 3 is in the ring").await;
    desk.does("F2", "Lot 3 passed").await;
    desk.does("n", "Lot 4 is in the ring").await;

    // While lot 4 is in the ring, an offer for the passed lot is recorded.
    let page = sale.desk(&browser).await.page;
    let results = format!("/admin/auctions/{}/results", sale.webcast);
    let offer = [("buyer", "8"), ("amount", "80"), ("reason", "Agreed after the lot")];
    correct(&page, &results, "Record post-sale offer", "3", &offer, "The post-sale offer was recorded").await;
    assert_eq!(announced(&sale, 3).await, ["PASSED", "SOLD"]);
    assert_eq!((&sale.item(3).await["price"], &sale.item(4).await["status"]), (&json!(8_000), &json!("LIVE")));

    // A hammer price and a buyer are corrected: nothing is announced.
    let price = [("amount", "40"), ("reason", "Misheard")];
    correct(&page, &results, "Correct hammer price", "1", &price, "The hammer price was corrected").await;
    let buyer = [("buyer", "8"), ("reason", "The paddle was misread")];
    correct(&page, &results, "Change buyer", "1", &buyer, "The buyer was recorded").await;
    let corrected = sale.item(1).await;
    assert_eq!(
        (&corrected["price"], &corrected["leader"], &corrected["status"]),
        (&json!(4_000), &json!("8"), &json!("SOLD"))
    );
    assert_eq!(announced(&sale, 1).await, ["SOLD"]);

    // Paddle 8 pays for none of its two lots.
    page.evaluate(&format!("location.href = {}", json!(results))).await.unwrap();
    page.wait_until_at(&results).await.unwrap();
    page.wait_until("document.querySelector('[aria-label=\"Record unpaid lots of paddle 8\"]') !== null")
        .await
        .unwrap();
    page.evaluate("document.querySelector('[aria-label=\"Record unpaid lots of paddle 8\"]').click()").await.unwrap();
    page.wait_until_shown("Record unpaid lots: paddle 8").await.unwrap();
    page.evaluate("document.querySelectorAll('[name=lot]:not(:checked)').forEach((lot) => lot.click())").await.unwrap();
    page.fill("reason", "The card was refused").await.unwrap();
    page.wait_until("document.querySelector('[data-chosen]').textContent === '2 lots, £120.00'").await.unwrap();
    page.click_through("Check unpaid lots").await.unwrap();
    page.wait_until_shown("Record 2 lots of paddle 8 as unpaid?").await.unwrap();
    page.click_through("Record 2 lots, £120.00").await.unwrap();
    page.wait_until_shown("2 lots are unsold, £120.00 in all").await.unwrap();
    assert_eq!(announced(&sale, 1).await, ["SOLD", "UNSOLD"]);
    assert_eq!(announced(&sale, 3).await, ["PASSED", "SOLD", "UNSOLD"]);
    assert_eq!(announced(&sale, 2).await, ["SOLD"]);
    // The timeline of the sale has all of it, with what a correction replaced.
    let timeline = format!("/admin/auctions/{}/timeline", sale.webcast);
    page.evaluate(&format!("location.href = {}", json!(timeline))).await.unwrap();
    page.wait_until_at(&timeline).await.unwrap();
    for words in ["Price corrected: £100 to £40", "Misheard", "Buyer corrected: paddle 7 to 8", "Unpaid"] {
        page.wait_until_shown(words).await.unwrap();
    }
    sale.launch.run_command(&["verify", "--all", "--json"]).unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_manager_assigns_a_clerk_on_the_page_of_the_sale() {
    let sale = DeskFixture::open(1).await;
    sale.launch.run_command(&["user", "create", "bea@example.com", "--role", "clerk", "--json"]).unwrap();
    let browser = Browser::start().await.unwrap();
    let page = sale.desk(&browser).await.page;
    let overview = format!("/admin/auctions/{}", sale.webcast);
    page.evaluate(&format!("location.href = {}", json!(overview))).await.unwrap();
    page.wait_until_at(&overview).await.unwrap();
    page.wait_until_shown("No clerk is assigned").await.unwrap();
    page.click_through("Assign clerk").await.unwrap();
    page.wait_until_shown("The clerk is assigned to the webcast.").await.unwrap();
    let remove = "document.querySelector('[aria-label=\"Remove clerk bea@example.com\"]')";
    page.wait_until(&format!("{remove} !== null")).await.unwrap();
    page.evaluate(&format!("{remove}.click()")).await.unwrap();
    page.wait_until_shown("No clerk is assigned").await.unwrap();
}
