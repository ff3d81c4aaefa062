//! A webcast as bidders see it: bidding pauses while no desk holds its live stream, and a bidder who chose it bids with one tap.

use serde_json::json;
use testkit::browser::Page;

use crate::administration::desk_page;
use crate::saleroom_bids::{House, press};
use crate::saleroom_live::IS_LIVE;
use crate::support::Clerk;

const LOST: &str = "The saleroom has lost its link. Bidding is paused.";

impl House {
    async fn registered_bidder(&mut self) -> Page {
        let ann = self.bidder("Ann Hartley", "ann@example.com").await;
        self.register(&ann).await;
        ann.wait_until_shown("Your paddle is 1.").await.unwrap();
        ann.open(&self.lot(0)).await.unwrap();
        ann
    }
}

async fn bidding_pauses_while_no_desk_holds_its_stream(database: Option<String>) {
    let mut house = House::open_webcast(database).await;
    let ann = house.registered_bidder().await;
    let catalogue = house.other_device().await;
    catalogue.open(&format!("{}/sales/{}", house.open.url(), house.auction)).await.unwrap();
    let desk = desk_page(&house.open.administration.browser).await;
    let path = house.open.administration.url(&format!("/webcasts/{}/desk", house.auction));
    desk.open(&path).await.unwrap();
    desk.wait_until("document.getElementById('desk')?.dataset.link === 'connected'").await.unwrap();
    let clerk = Clerk::new(house.open.site.platform.clone(), &house.auction);
    clerk.command("send", &json!({ "item": house.lots[0] })).await;
    ann.wait_until_shown("Bid £500").await.unwrap();
    // The desk has reported: it receives what the clerk did.
    desk.wait_until("performance.getEntriesByType('resource').some(({ name }) => name.endsWith('/held'))")
        .await
        .unwrap();

    // The clerk's machine is gone. The page and the stage of the catalogue say so, and no bid is taken.
    desk.open("about:blank").await.unwrap();
    ann.wait_until_shown(LOST).await.unwrap();
    ann.wait_until("!document.querySelector('[data-bid=next]')").await.unwrap();
    house.assert_faultless(&ann).await;
    let stage = format!("document.querySelector('[data-stage]').textContent === {}", json!(LOST));
    catalogue.wait_until(&stage).await.unwrap();
    let kept = format!(
        "(async () => {{ const body = new URLSearchParams({{ kind: 'next', amount: '50000', key: 'kept', rates: '0-0-0', confirmed: 'yes' }}); \
        const answer = await fetch('{}/bid', {{ method: 'POST', body }}); \
        const page = new DOMParser().parseFromString(await answer.text(), 'text/html'); \
        return `${{answer.status}} ${{page.getElementById('bid-answer').textContent}}`; }})()",
        house.lot(0)
    );
    assert_eq!(ann.text(&kept).await.unwrap(), format!("409 {LOST}"));
    // The lot is where the clerk left it: only a clerk sells.
    let item = house.open.site.items(&house.auction).await.unwrap()[0].clone();
    assert_eq!((&item["status"], &item["bidCount"]), (&json!("LIVE"), &json!(0)), "{item}");

    // A desk is back, and so is the button.
    desk.open(&path).await.unwrap();
    ann.wait_until_shown("Bid £500").await.unwrap();
    catalogue
        .wait_until("document.querySelector('[data-stage]').textContent === 'Lot 1 is in the ring. Asking price £500.'")
        .await
        .unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn bidding_pauses_while_no_desk_holds_its_stream_on_sqlite() {
    bidding_pauses_while_no_desk_holds_its_stream(None).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn bidding_pauses_while_no_desk_holds_its_stream_on_postgres() {
    bidding_pauses_while_no_desk_holds_its_stream(Some(testkit::postgres::fresh_database().await.unwrap())).await;
}

/// Notes each text that the button with the next bid has had.
const NOTE_BUTTON: &str = "window.had = new Set(); setInterval(() => { const button = document.querySelector('[data-bid=next] button'); \
    if (button) window.had.add(button.firstChild.textContent); }, 15)";

#[tokio::test(flavor = "multi_thread")]
async fn a_bidder_who_chose_it_bids_with_one_tap() {
    let mut house = House::open_webcast(None).await;
    let ann = house.registered_bidder().await;
    let clerk = Clerk::new(house.open.site.platform.clone(), &house.auction);
    clerk.command("send", &json!({ "item": house.lots[0] })).await;
    ann.wait_until_shown("Bid £500").await.unwrap();
    ann.wait_until_shown("Bid with one tap in this sale").await.unwrap();
    let is_on = "document.querySelector('[data-one-tap] input').checked";
    assert!(!ann.evaluate(is_on).await.unwrap().as_bool().unwrap(), "the choice is the bidder's");
    press(&ann, "next").await;
    ann.wait_until_shown("Confirm £500").await.unwrap();

    ann.click("Bid with one tap in this sale").await.unwrap();
    ann.wait_until_shown("Bid £500").await.unwrap();
    ann.reload().await.unwrap();
    ann.wait_until(&format!("document.querySelector('[data-one-tap] input') && {is_on}")).await.unwrap();
    ann.wait_until(IS_LIVE).await.unwrap();
    house.assert_faultless(&ann).await;
    press(&ann, "next").await;
    ann.wait_until_shown("Sent £500. Waiting for the auctioneer.").await.unwrap();
    clerk.command("accept", &json!({ "bid": house.waiting_bid().await })).await;
    ann.wait_until_shown("✓ You lead at £500.").await.unwrap();

    // Outbid: for a second the button says so, and takes no press.
    ann.evaluate(NOTE_BUTTON).await.unwrap();
    let pressed = "new Promise((resolve) => { const wait = setInterval(() => { const button = document.querySelector('[data-bid=next] button'); \
        if (!button) return; clearInterval(wait); button.click(); setTimeout(() => resolve(button.firstChild.textContent), 100); }, 5) })";
    let room = json!({ "source": "room", "bidder": "12", "amount": 55_000 });
    let (shown, ()) = tokio::join!(ann.text(pressed), clerk.command("bid", &room));
    assert_eq!(shown.unwrap(), "Outbid");
    ann.wait_until_shown("↓ Outbid. Someone else leads at £550.").await.unwrap();
    ann.wait_until_shown("Bid £600").await.unwrap();

    // The ask moves under the finger: a press at that moment is not one for the new amount.
    let amount = "document.querySelector('[data-bid=next] [name=amount]')?.value";
    let pressed = format!(
        "new Promise((resolve) => {{ const before = {amount}; const wait = setInterval(() => {{ \
        const button = document.querySelector('[data-bid=next] button'); if (!button || {amount} === before) return; \
        clearInterval(wait); button.click(); setTimeout(() => resolve(button.firstChild.textContent), 100); }}, 5) }})"
    );
    let room = json!({ "source": "room", "bidder": "14", "amount": 60_000 });
    let (shown, ()) = tokio::join!(ann.text(&pressed), clerk.command("bid", &room));
    assert_eq!(shown.unwrap(), "Bid £650");
    let ring = house.open.site.platform.get(&format!("/api/v1/auctions/{}/ring", house.auction)).await.unwrap();
    assert_eq!(ring.body["desk"]["pending"], json!([]), "no press was taken for a bid");
    ann.evaluate("new Promise((resolve) => setTimeout(resolve, 450))").await.unwrap();
    press(&ann, "next").await;
    ann.wait_until_shown("Sent £650. Waiting for the auctioneer.").await.unwrap();
    let had = ann.text("[...window.had].join()").await.unwrap();
    assert!(!had.contains("Confirm"), "{had}");

    // Another sale has its own choice.
    let other = json!({ "kind": "webcast", "title": "Clocks, again", "status": "LIVE", "startsAt": house.open.site.in_ms(0),
        "items": [{ "lotNumber": "1", "title": "Clock", "status": "LIVE", "openingBid": 50_000 }] });
    house.follow(house.open.site.create_auction(other).await.unwrap()).await;
    ann.open(&house.lot(0)).await.unwrap();
    house.register(&ann).await;
    ann.wait_until_shown("You are registered.").await.unwrap();
    ann.open(&house.lot(0)).await.unwrap();
    ann.wait_until_shown("Bid with one tap in this sale").await.unwrap();
    assert!(!ann.evaluate(is_on).await.unwrap().as_bool().unwrap(), "a choice of another sale");
}
