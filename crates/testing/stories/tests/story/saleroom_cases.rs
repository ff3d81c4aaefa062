//! Cases in which a bidder must not be misled: another device, a clock that is wrong, a bid after the end, and a bid over the limit.

use serde_json::json;
use testkit::browser::Page;

use crate::saleroom_bids::{House, bid_up_to, press_twice};
use crate::saleroom_live::IS_LIVE;

async fn registered(house: &mut House) -> Page {
    let ann = house.bidder("Ann Hartley", "ann@example.com").await;
    house.register(&ann).await;
    ann.wait_until_shown("Your paddle is 1.").await.unwrap();
    ann.open(&house.lot(0)).await.unwrap();
    ann.wait_until_shown("Bid £500").await.unwrap();
    ann
}

#[tokio::test(flavor = "multi_thread")]
async fn a_bid_of_another_device_is_named_on_this_one() {
    let mut house = House::open(None, "at_once").await;
    let phone = registered(&mut house).await;
    let laptop = house.other_device().await;
    laptop.open(&house.lot(0)).await.unwrap();
    laptop.wait_until(IS_LIVE).await.unwrap();
    laptop.wait_until_shown("Bid £500").await.unwrap();
    press_twice(&phone, "next", "Confirm £500").await;
    phone.wait_until_shown("✓ You lead at £500.").await.unwrap();
    laptop.wait_until_shown("✓ Placed on your other device. You lead at £500.").await.unwrap();
    house.assert_faultless(&laptop).await;
    let on_phone = phone.text("document.getElementById('bid-box').innerText").await.unwrap();
    assert!(!on_phone.contains("other device"), "{on_phone}");

    // Outbid by another bidder is no bid of this bidder, and a maximum of the other device is.
    let bid = json!({ "bidder": "77", "amount": 60_000 });
    house.open.site.platform.post(&format!("/api/v1/items/{}/bids", house.lots[0]), &bid).await.unwrap();
    laptop.wait_until_shown("↓ Outbid. Someone else leads at £550.").await.unwrap();
    bid_up_to(&phone, "800", "Confirm your maximum of £800").await;
    laptop.wait_until_shown("✓ Placed on your other device. You lead at £650.").await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_wrong_clock_of_the_device_changes_nothing() {
    let house = House::open(None, "closed").await;
    let page = &house.open.staff;
    page.run_first("{ const real = Date.now; Date.now = () => real() + 3 * 3600 * 1000; }").await.unwrap();
    page.open(&house.lot(0)).await.unwrap();
    page.wait_until(IS_LIVE).await.unwrap();
    page.wait_until_shown("Saleroom clock").await.unwrap();
    assert!(page.evaluate("Date.now() - performance.timeOrigin > 3600 * 1000").await.unwrap().as_bool().unwrap());
    page.wait_until("/^(1 h 0|5\\d:\\d\\d)/.test(document.querySelector('.clock').textContent)").await.unwrap();
    page.wait_until("document.querySelector('[data-live=standing]').textContent.startsWith('Ends ')").await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_bid_that_arrives_after_the_end_reads_how_late_it_was() {
    let mut house = House::open(None, "at_once").await;
    let ann = registered(&mut house).await;
    let lot = json!({ "lotNumber": "1", "title": "Clock", "status": "LIVE", "openingBid": 50_000 });
    let sale = json!({ "kind": "timed", "title": "Clocks, soon over", "status": "LIVE", "endsAt": house.open.site.in_ms(25_000),
        "extensionSeconds": null, "items": [lot] });
    house.follow(house.open.site.create_auction(sale).await.unwrap()).await;
    ann.open(&house.lot(0)).await.unwrap();
    house.register(&ann).await;
    ann.wait_until_shown("You are registered.").await.unwrap();
    ann.open(&house.lot(0)).await.unwrap();
    ann.wait_until_shown("Bid £500").await.unwrap();
    // What the page would have sent at the last moment.
    ann.evaluate("{ const body = new URLSearchParams(new FormData(document.querySelector('[data-bid=next]'))); body.set('confirmed', 'yes'); \
        window.late = [document.querySelector('[data-bid=next]').action, body]; }")
        .await
        .unwrap();
    ann.wait_until("document.querySelector('[data-live=standing]').textContent === 'Not sold'").await.unwrap();
    let answer = "(async () => { const [action, body] = window.late; const answer = await fetch(action, { method: 'POST', body }); \
        const page = new DOMParser().parseFromString(await answer.text(), 'text/html'); \
        return `${answer.status} ${page.getElementById('bid-answer').textContent}`; })()";
    let answer = ann.text(answer).await.unwrap();
    let seconds =
        answer.strip_prefix("409 Arrived ").and_then(|rest| rest.strip_suffix(" s after close. Not counted."));
    let seconds: f64 = seconds.unwrap_or_else(|| panic!("{answer}")).parse().unwrap();
    assert!(seconds > 0.0 && seconds < 30.0, "{answer}");
    let item = house.open.site.items(&house.auction).await.unwrap()[0].clone();
    assert_eq!((&item["status"], &item["bidCount"]), (&json!("UNSOLD"), &json!(0)), "{item}");
    // Staff read it with the paddle and how late it was.
    let staff = &house.open.staff;
    staff.open(&house.open.administration.url(&format!("/auctions/{}/late-bids", house.auction))).await.unwrap();
    staff.wait_until_shown("None of them counted.").await.unwrap();
    let row = staff.text("document.querySelector('table tbody tr').innerText").await.unwrap();
    assert!(row.contains("Lot 1") && row.contains("£500") && row.contains(" s"), "{row}");
    house.assert_faultless(staff).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_bid_over_the_limit_reads_what_to_do() {
    let mut house = House::open(None, "at_once").await;
    let ann = registered(&mut house).await;
    let registrations = format!("/api/v1/auctions/{}/registrations", house.auction);
    let found = house.open.site.platform.get(&registrations).await.unwrap();
    let own = format!("/auctions/{}/registrations/{}/edit", house.auction, found.text("/data/0/uuid").unwrap());
    let staff = &house.open.staff;
    staff.open(&house.open.administration.url(&own)).await.unwrap();
    staff.wait_until("!!document.getElementById('limit')").await.unwrap();
    staff.fill("limit", "2000").await.unwrap();
    staff.evaluate("document.getElementById('limit').form.requestSubmit()").await.unwrap();
    staff.wait_until("!document.getElementById('limit') && document.readyState === 'complete'").await.unwrap();
    bid_up_to(&ann, "2,500", "Confirm your maximum of £2,500").await;
    ann.wait_until_shown("Over your £2,000 limit. Ask the house.").await.unwrap();
    house.assert_faultless(&ann).await;
    // The button is not off: a lower bid is possible at once.
    press_twice(&ann, "next", "Confirm £500").await;
    ann.wait_until_shown("✓ You lead at £500.").await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_bid_is_not_placed_at_a_total_that_the_page_did_not_show() {
    let mut house = House::open(None, "at_once").await;
    let ann = registered(&mut house).await;
    ann.wait_until_shown("£650 with premium and taxes").await.unwrap();
    // The form as the bidder saw it, which is on its way while the house edits the sale.
    ann.evaluate("window.seen = new URLSearchParams(new FormData(document.querySelector('[data-bid=next]')))")
        .await
        .unwrap();
    let charges = json!({ "charges": { "premiumBasisPoints": 9_000, "premiumTaxBasisPoints": 2_000 } });
    let auction = format!("/api/v1/auctions/{}", house.auction);
    house.open.site.platform.change(&auction, &charges).await.unwrap();
    let send = format!(
        "(async () => {{ seen.set('confirmed', 'yes'); const answer = await fetch('{}/bid', {{ method: 'POST', body: seen }}); \
        const page = new DOMParser().parseFromString(await answer.text(), 'text/html'); \
        return `${{answer.status}} ${{page.getElementById('bid-answer').textContent}}`; }})()",
        house.lot(0)
    );
    let answer = ann.text(&send).await.unwrap();
    assert_eq!(answer, "409 Premium or taxes have changed. Nothing was sent. Read the new total.");
    let lot = house.open.site.platform.get(&format!("/api/v1/items/{}", house.lots[0])).await.unwrap();
    assert_eq!(lot.body["bidCount"], 0, "{}", lot.body);
    // The open page shows the new total by itself.
    ann.wait_until_shown("£1,040 with premium and taxes").await.unwrap();
    ann.wait_until("document.querySelector('[data-bid=next] [name=rates]').value === '9000-0-2000'").await.unwrap();
    press_twice(&ann, "next", "Confirm £500").await;
    ann.wait_until_shown("✓ You lead at £500.").await.unwrap();
}
