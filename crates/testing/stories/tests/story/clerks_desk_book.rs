//! The commission book in a real browser: entered as a list while the sale runs, bid with one key, never against itself.

use serde_json::json;
use testkit::browser::Browser;

use crate::clerks_desk::DeskFixture;

#[tokio::test(flavor = "multi_thread")]
async fn the_book_is_entered_during_the_sale_and_one_key_bids_no_more_than_needed() {
    let sale = DeskFixture::open(3).await;
    sale.register(&["11", "12", "13"]).await;
    let browser = Browser::start().await.unwrap();
    let desk = sale.desk(&browser).await;
    desk.does("n", "Lot 1 is in the ring").await;

    // On the page of the sale, a list is pasted; one of its lines is refused.
    let book = sale.desk(&browser).await.page;
    let path = format!("/admin/webcasts/{}/book", sale.webcast);
    book.evaluate(&format!("location.href = {}", json!(path))).await.unwrap();
    book.wait_until_at(&path).await.unwrap();
    let list = "Lot,Paddle,Maximum\n2,11,300\n2,12,200.00\n1,13,500\n3;14;150,000.00";
    book.fill("list", list).await.unwrap();
    book.click_through("Enter bids").await.unwrap();
    book.wait_until_shown("New bids: 2.").await.unwrap();
    book.wait_until_shown("These lines were not entered:").await.unwrap();
    book.wait_until_shown("Lot 1 is in the ring, so its commission bids are closed").await.unwrap();
    // An unregistered paddle and an unusual maximum are entered after a confirmation each.
    book.wait_until_shown("Paddle 14 is not registered.").await.unwrap();
    book.evaluate("document.querySelector('[name=unregistered][value=\"3;14;150,000.00\"]').click()").await.unwrap();
    book.click_through("Enter bids").await.unwrap();
    book.wait_until_shown("£150,000.00 is more than 1,000 times the opening bid, £100.00.").await.unwrap();
    book.evaluate("document.querySelector('[name=unusual][value=\"3;14;150,000.00\"]').click()").await.unwrap();
    book.click_through("Enter bids").await.unwrap();
    book.wait_until_shown("New bids: 1.").await.unwrap();
    book.fill("list", "1,13,500").await.unwrap();
    book.click_through("Enter bids").await.unwrap();
    book.wait_until_shown("Lot 1 is in the ring, so its commission bids are closed").await.unwrap();
    // A list of which no bid was entered is reported as an error.
    book.wait_until("document.querySelector('.notice') === null").await.unwrap();
    book.fill("list", "3,14,160\n3,14,12.505").await.unwrap();
    book.click_through("Enter bids").await.unwrap();
    book.wait_until_shown("Lot 3, paddle 14: £160.00, instead of £150,000.00.").await.unwrap();
    book.wait_until_shown("“12.505” can be read in two ways").await.unwrap();
    let withdraw = "document.querySelector('[aria-label=\"Withdraw the bid of paddle 14 on lot 3\"]').click()";
    book.evaluate(withdraw).await.unwrap();
    book.wait_until_shown("The commission bid of £160.00 of paddle 14 on lot 3 was withdrawn.").await.unwrap();

    // One key bids a step above the next maximum, and never against the absentee's own bid.
    desk.does("F2", "Lot 1 passed").await;
    desk.does("n", "Lot 2 is in the ring at £100").await;
    // The lot in the ring is no longer listed as coming, and its absentee bids are closed.
    book.evaluate(&format!("location.href = {}", json!(path))).await.unwrap();
    book.wait_until("document.readyState === 'complete' && document.querySelector('.notice') === null").await.unwrap();
    book.wait_until_shown("The commission bids on lots that are to come appear here.").await.unwrap();
    tokio::time::sleep(std::time::Duration::from_millis(300)).await;
    desk.presses("F2").await;
    desk.page
        .wait_until(
            "document.querySelector('[data-slot=confirm-name]').textContent === 'Lot 2: £210 waits in the book.'",
        )
        .await
        .unwrap();
    desk.does("t", "£210 from paddle 11. Asking £220").await;
    desk.does("/", "No commission bid is above the bid that stands").await;
    tokio::time::sleep(std::time::Duration::from_millis(300)).await;
    desk.does("F9", "Lot 2 sold at £210 to paddle 11").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn telephone_bids_are_booked_on_the_page_of_the_book_and_shown_at_the_desk() {
    let sale = DeskFixture::open(2).await;
    let browser = Browser::start().await.unwrap();
    let desk = sale.desk(&browser).await;
    let book = sale.desk(&browser).await.page;
    let path = format!("/admin/webcasts/{}/book", sale.webcast);
    book.evaluate(&format!("location.href = {}", json!(path))).await.unwrap();
    book.wait_until_at(&path).await.unwrap();
    for (lot, number, shown) in
        [("9", "+44 20 7946 0018", "No lot of this sale has the number 9."), ("1", "no", "no telephone")]
    {
        for (field, value) in [("lot", lot), ("paddle", "117"), ("number", number), ("line", "Ann, line 2")] {
            book.fill(&format!("telephone-{field}"), value).await.unwrap();
        }
        book.click_through("Book telephone bid").await.unwrap();
        book.wait_until_shown(shown).await.unwrap();
    }
    book.fill("telephone-number", "+44 20 7946 0018").await.unwrap();
    book.click_through("Book telephone bid").await.unwrap();
    book.wait_until_shown("The telephone bid was booked.").await.unwrap();

    // A booking that replaces another names both callers.
    for (field, value) in [("lot", "1"), ("paddle", "117"), ("number", "+44 20 7946 0018"), ("line", "")] {
        book.fill(&format!("telephone-{field}"), value).await.unwrap();
    }
    book.click_through("Book telephone bid").await.unwrap();
    book.wait_until_shown("was changed to +44 20 7946 0018, no line. It was +44 20 7946 0018, Ann, line 2.")
        .await
        .unwrap();
    for (field, value) in [("lot", "1"), ("paddle", "117"), ("number", "+44 20 7946 0018"), ("line", "Ann, line 2")] {
        book.fill(&format!("telephone-{field}"), value).await.unwrap();
    }
    book.click_through("Book telephone bid").await.unwrap();
    book.wait_until_shown("It was +44 20 7946 0018, no line.").await.unwrap();

    // The desk names the caller, and blocks no command because of the call.
    desk.does("n", "Lot 1 is in the ring").await;
    desk.until_slot("book", "Telephone, paddle 117: Ann, line 2").await;
    desk.until_slot("book", "+44 20 7946 0018").await;
    desk.does("+", "£100 from the room").await;
    desk.does("F9", "Lot 1 sold at £100").await;
    desk.does("n", "Lot 2 is in the ring").await;
    desk.until_slot("book", "No commission bid on this lot").await;
    let withdraw =
        "document.querySelector('[aria-label=\"Withdraw the telephone bid of paddle 117 on lot 1\"]').click()";
    book.evaluate(withdraw).await.unwrap();
    book.wait_until_shown("The telephone bid was withdrawn.").await.unwrap();
    for (field, value) in [("lot", "1"), ("paddle", "118"), ("number", "12345")] {
        book.fill(&format!("telephone-{field}"), value).await.unwrap();
    }
    book.click_through("Book telephone bid").await.unwrap();
    book.wait_until_shown("Lot 1 is sold. Telephone bids are booked until the lot has ended.").await.unwrap();
}
