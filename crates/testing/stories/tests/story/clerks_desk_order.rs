//! No lot is skipped: the next lot stays next, and the desk lists the open tasks at the end of the sale.

use serde_json::json;
use testkit::browser::Browser;

use crate::clerks_desk::DeskFixture;

#[tokio::test(flavor = "multi_thread")]
async fn no_lot_is_skipped_and_the_end_lists_the_open_tasks() {
    let sale = DeskFixture::open(4).await;
    let browser = Browser::start().await.unwrap();
    let desk = sale.desk(&browser).await;
    desk.does("n", "Lot 1 is in the ring").await;
    desk.does("+", "£100 from the room").await;
    desk.does("F9", "Lot 1 sold at £100").await;

    // Lot 3 is sent out of turn and removed. Lot 2 is still next, and lot 3 comes after the last one.
    let etag = sale.site.platform.get(&format!("/api/v1/auctions/{}/ring", sale.webcast)).await.unwrap().etag;
    let ring = format!("/api/v1/auctions/{}/ring", sale.webcast);
    let out_of_turn = json!({ "item": sale.lots[2] });
    let sent = sale.site.platform.post_if_match(&format!("{ring}/send"), etag.as_ref(), &out_of_turn).await.unwrap();
    sale.site.platform.post_if_match(&format!("{ring}/remove"), sent.etag.as_ref(), &json!({})).await.unwrap();
    desk.until_slot("next", "2 Lot of the story 2").await;
    desk.until_slot("next", "3 Lot of the story 3Waits again").await;
    for lot in [2, 4, 3] {
        desk.does("n", &format!("Lot {lot} is in the ring")).await;
        desk.does("F2", &format!("Lot {lot} passed")).await;
    }
    desk.until_slot("end-text", "All done: 3 passed, 1 buyer open, nothing skipped.").await;

    // The buyer is named and a lot offered again from there.
    desk.page.evaluate("document.querySelector('[data-end=open]').click()").await.unwrap();
    let listed =
        "[...document.querySelectorAll('#lots tbody tr')].map((row) => row.cells[0].textContent).join() === '1'";
    desk.page.wait_until(listed).await.unwrap();
    desk.presses("Escape").await;
    desk.page.evaluate("document.querySelector('[data-end=passed]').click()").await.unwrap();
    let listed =
        "[...document.querySelectorAll('#lots tbody tr')].map((row) => row.cells[0].textContent).join() === '2,3,4'";
    desk.page.wait_until(listed).await.unwrap();
    desk.page
        .evaluate(
            "[...document.querySelectorAll('#lots tbody button')].find((b) => b.textContent === 'Offer again').click()",
        )
        .await
        .unwrap();
    desk.says("The lot is offered again and waits").await;
    desk.until_slot("next", "2 Lot of the story 2Waits again").await;
    assert_eq!(desk.page.text("String(document.querySelector('[data-slot=end]').hidden)").await.unwrap(), "true");
}

#[tokio::test(flavor = "multi_thread")]
async fn digits_after_the_last_lot_show_where_to_enter_a_paddle() {
    let sale = DeskFixture::open(2).await;
    sale.register(&["117"]).await;
    let browser = Browser::start().await.unwrap();
    let desk = sale.desk(&browser).await;
    desk.does("n", "Lot 1 is in the ring").await;
    desk.does("+", "£100 from the room").await;
    desk.does("F9", "Lot 1 sold at £100").await;
    desk.does("n", "Lot 2 is in the ring").await;
    desk.does("F2", "Lot 2 passed").await;
    desk.until_slot("end-text", "All done: 1 passed, 1 buyer open").await;
    let place = "No lot takes a price or a paddle now. Choose “Name the buyer” for a lot whose buyer is open.";
    desk.page.type_keys("11").await.unwrap();
    desk.says(&format!("{place} Press Esc.")).await;
    desk.does("Enter", &format!("The entry is cleared. {place}")).await;
    desk.does("Enter", "No lot waits.").await;

    // The list is opened from there, with a label for a lot without a buyer.
    desk.page.evaluate("document.querySelector('[data-end=open]').click()").await.unwrap();
    let named = "[...document.querySelectorAll('#lots tbody button')].find((b) => b.textContent === 'Name buyer')";
    desk.page.wait_until(&format!("{named} !== undefined")).await.unwrap();
    desk.page.evaluate(&format!("{named}.click()")).await.unwrap();
    desk.page.wait_until("document.getElementById('reason').open").await.unwrap();
    assert_eq!(desk.slot("reason-name").await, "Name the buyer of lot 1");
    desk.page.type_keys("117").await.unwrap();
    desk.does("Enter", "The buyer is paddle 117").await;

    // The list opens without its last search.
    desk.presses("l").await;
    let opened = "document.getElementById('lots').open && document.getElementById('lot-status').value === '' && document.querySelectorAll('#lots tbody tr').length === 2";
    desk.page.wait_until(opened).await.unwrap();
    desk.page.type_keys("2").await.unwrap();
    desk.presses("Enter").await;
    desk.page.wait_until("document.querySelectorAll('#lots tbody tr').length === 1").await.unwrap();
    desk.presses("Escape").await;
    desk.presses("l").await;
    desk.page.wait_until(opened).await.unwrap();
    assert_eq!(desk.page.text("document.getElementById('lot-find').value").await.unwrap(), "");
    desk.presses("Escape").await;

    // An archived sale offers nothing of it.
    for status in ["RECONCILIATION", "ARCHIVED"] {
        sale.change_status(status).await;
    }
    desk.until_slot("sale-status", "archived").await;
    desk.until_slot("next", "Lots are sent while the sale is live.").await;
    desk.presses("l").await;
    desk.page.wait_until("document.querySelectorAll('#lots tbody tr').length === 2").await.unwrap();
    let buttons = "String(document.querySelectorAll('#lots tbody button, [data-slot=done] button').length)";
    assert_eq!(desk.page.text(buttons).await.unwrap(), "0");
    desk.presses("Escape").await;
    desk.page.type_keys("1").await.unwrap();
    desk.says("The sale is archived").await;
    assert_eq!(desk.page.console_errors(), Vec::<String>::new());
}
