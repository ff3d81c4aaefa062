//! The page of a lot on a phone, its pictures, and the filters of a catalogue.

use serde_json::json;
use testkit::browser::{ColorScheme, Page};

use crate::saleroom_bids::{House, press_twice};
use crate::saleroom_live::IS_LIVE;

/// Variable with a folder for pictures of these pages, to look at.
const VARIABLE_OF_PICTURES: &str = "LOTWIRE_TEST_PICTURES";

/// What is covered by the bar, or lies outside the screen, when it has the focus.
const COVERED: &str = r#"(() => {
    const bar = document.querySelector(".bid-bar.is-fixed");
    const all = [...document.querySelectorAll("main a, main button, main input, main summary, footer a, footer button")];
    const seen = all.filter((element) => element.getClientRects().length > 0 && !bar.contains(element) && !element.matches(".unseen"));
    return seen.filter((element) => {
        element.focus();
        const [own, over] = [element.getBoundingClientRect(), bar.getBoundingClientRect()];
        return own.bottom > over.top && own.top >= over.top;
    }).map((element) => element.outerHTML.slice(0, 90)).join(" ");
})()"#;

async fn picture(page: &Page, name: &str) {
    if let Ok(folder) = std::env::var(VARIABLE_OF_PICTURES) {
        std::fs::write(format!("{folder}/{name}.png"), page.screenshot().await.unwrap()).unwrap();
    }
}

/// Where on the screen the button, the price and the standing are: `true` when all of them are seen without scrolling.
const IS_AT_HAND: &str = r#"(() => ["[data-bid=next] button, .bid-bar .stand:not(:empty)", "[data-live=bar-price]"].every((what) => {
    const own = document.querySelector(what)?.getBoundingClientRect();
    return scrollY === 0 && own && own.height > 0 && own.top >= 0 && own.bottom <= innerHeight && own.left >= 0 && own.right <= innerWidth;
}))()"#;

#[tokio::test(flavor = "multi_thread")]
async fn price_standing_and_button_stay_on_the_screen_of_a_phone() {
    let mut house = House::open(None, "at_once").await;
    let ann = house.bidder("Ann Hartley", "ann@example.com").await;
    house.register(&ann).await;
    ann.wait_until_shown("Your paddle is 1.").await.unwrap();
    for (width, height, scheme) in [(390, 844, ColorScheme::Light), (320, 568, ColorScheme::Dark)] {
        ann.resize_to(width, height).await.unwrap();
        ann.prefer(scheme).await.unwrap();
        ann.open(&house.lot(0)).await.unwrap();
        ann.wait_until(IS_LIVE).await.unwrap();
        ann.wait_until(IS_AT_HAND).await.unwrap();
        assert_eq!(ann.text(COVERED).await.unwrap(), "", "{width} x {height}: the focus is under the bar");
        ann.evaluate("scrollTo(0, 0)").await.unwrap();
        picture(&ann, &format!("bar-{width}")).await;
    }
    house.assert_faultless(&ann).await;

    // A bid and its answer move nothing on the page.
    ann.resize_to(320, 568).await.unwrap();
    ann.open(&house.lot(0)).await.unwrap();
    ann.wait_until(IS_LIVE).await.unwrap();
    ann.evaluate("window.shift = 0; new PerformanceObserver((list) => { for (const entry of list.getEntries()) window.shift += entry.value; }).observe({ type: 'layout-shift' })")
        .await
        .unwrap();
    press_twice(&ann, "next", "Confirm £500").await;
    ann.wait_until_shown("✓ You lead at £500.").await.unwrap();
    ann.wait_until("document.querySelector('[data-live=bar-price]').textContent === '£500'").await.unwrap();
    let bid = json!({ "bidder": "77", "amount": 60_000 });
    house.open.site.platform.post(&format!("/api/v1/items/{}/bids", house.lots[0]), &bid).await.unwrap();
    ann.wait_until_shown("↓ Outbid. Someone else leads at £550.").await.unwrap();
    ann.wait_until(IS_AT_HAND).await.unwrap();
    picture(&ann, "bar-outbid").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn pictures_open_as_large_as_the_screen() {
    let house = House::open(None, "closed").await;
    for number in 1..=2 {
        let image = format!("00000000-0000-7000-8000-00000000000{number}").parse().unwrap();
        let jpeg = testkit::picture::picture(number);
        house.open.site.platform.put_image(&house.lots[0], image, "clock.jpg", jpeg).await.unwrap();
    }
    let page = &house.open.staff;
    page.open(&house.lot(0)).await.unwrap();
    page.wait_until("document.readyState === 'complete' && document.querySelectorAll('.pictures img').length === 2")
        .await
        .unwrap();
    page.evaluate("document.querySelector('.pictures a').focus()").await.unwrap();
    page.press("Enter").await.unwrap();
    page.wait_until("document.getElementById('zoom').open && document.querySelector('#zoom img').naturalWidth > 0")
        .await
        .unwrap();
    let shown = "document.querySelector('#zoom img').src";
    let first = page.text(shown).await.unwrap();
    house.assert_faultless(page).await;
    picture(page, "zoom").await;
    page.click("Next picture").await.unwrap();
    page.wait_until(&format!("{shown} !== {}", json!(first))).await.unwrap();
    page.evaluate("document.getElementById('zoom').dispatchEvent(new KeyboardEvent('keydown', { key: 'ArrowRight' }))")
        .await
        .unwrap();
    page.wait_until(&format!("{shown} === {}", json!(first))).await.unwrap();
    page.press("Escape").await.unwrap();
    page.wait_until("!document.getElementById('zoom').open && document.activeElement.matches('.pictures a')")
        .await
        .unwrap();
    // Without script the picture is a link to its file.
    page.disable_script().await.unwrap();
    page.open(&house.lot(0)).await.unwrap();
    page.wait_until("document.querySelector('.pictures a')?.href.includes('/images/')").await.unwrap();
}

/// Lot numbers of the cards.
async fn shows(page: &Page, numbers: &str) {
    let cards =
        "[...document.querySelectorAll('.lot-cards .lot-title b')].map((number) => number.textContent).join(' ')";
    page.wait_until(&format!("document.readyState === 'complete' && {cards} === {}", json!(numbers))).await.unwrap();
}

async fn a_catalogue_is_filtered(database: Option<String>) {
    let mut house = House::open(database, "at_once").await;
    let lot = |number: &str, opening: u64, category: Option<&str>| {
        json!({ "lotNumber": number, "title": format!("Clock {number}"),
        "status": "LIVE", "openingBid": opening, "category": category })
    };
    let sale = json!({ "kind": "timed", "title": "Clocks & watches", "status": "LIVE", "endsAt": house.open.site.in_ms(1_800_000),
        "items": [lot("9", 10_000, Some("Clocks & dials")), lot("10", 20_000, Some("clocks & Dials")),
            lot("10A", 120_000, Some("Watches")), lot("11", 50_000, None)] });
    house.follow(house.open.site.create_auction(sale).await.unwrap()).await;
    let catalogue = format!("{}/sales/{}", house.open.url(), house.auction);
    let ann = house.bidder("Ann Hartley", "ann@example.com").await;
    house.register(&ann).await;
    ann.wait_until_shown("Your paddle is 1.").await.unwrap();
    ann.open(&house.lot(0)).await.unwrap();
    ann.wait_until_shown("Bid £100").await.unwrap();
    press_twice(&ann, "next", "Confirm £100").await;
    ann.wait_until_shown("✓ You lead at £100.").await.unwrap();
    ann.open(&house.lot(3)).await.unwrap();
    ann.wait_until_shown("☆ Watch").await.unwrap();
    ann.click_through("☆ Watch").await.unwrap();
    ann.open(&catalogue).await.unwrap();
    shows(&ann, "9 10 10A 11").await;
    house.assert_faultless(&ann).await;

    // The address has the filters, and a lot leads back to them.
    ann.click("Filter by price").await.unwrap();
    ann.fill("from", "£ 150").await.unwrap();
    ann.fill("to", "1,000").await.unwrap();
    ann.evaluate("document.querySelector('form.search').requestSubmit()").await.unwrap();
    shows(&ann, "10 11").await;
    house.assert_faultless(&ann).await;
    picture(&ann, "catalogue").await;
    ann.click_through("Ends in the next hour").await.unwrap();
    shows(&ann, "10 11").await;
    ann.click_through("Watched").await.unwrap();
    shows(&ann, "11").await;
    let search = ann.text("location.search").await.unwrap();
    assert!(["from=", "to=", "ends=hour", "own=watched"].iter().all(|filter| search.contains(filter)), "{search}");
    ann.evaluate("document.querySelector('.lot-cards a').click()").await.unwrap();
    ann.wait_until("document.querySelector('.crumbs a') && location.pathname.includes('/lots/')").await.unwrap();
    ann.evaluate("document.querySelector('.crumbs a').click()").await.unwrap();
    shows(&ann, "11").await;
    assert_eq!(ann.text("location.search").await.unwrap(), search);
    ann.open(&format!("{catalogue}?own=bids")).await.unwrap();
    shows(&ann, "9").await;
    ann.open(&format!("{catalogue}?from=a%20lot")).await.unwrap();
    ann.wait_until("!!document.querySelector('.search .fault')").await.unwrap();
    shows(&ann, "9 10 10A 11").await;

    // A category is chosen beside the search, and a lot leads to the others of its category.
    ann.open(&catalogue).await.unwrap();
    shows(&ann, "9 10 10A 11").await;
    let choices =
        "[...document.querySelectorAll('[name=category] option')].map((choice) => choice.textContent).join('|')";
    assert_eq!(ann.text(choices).await.unwrap(), "All categories|Clocks & dials|Watches");
    ann.evaluate("document.querySelector('[name=category]').value = 'Watches'").await.unwrap();
    ann.evaluate("document.querySelector('form.search').requestSubmit()").await.unwrap();
    shows(&ann, "10A").await;
    house.assert_faultless(&ann).await;
    picture(&ann, "catalogue-category").await;
    ann.open(&house.lot(0)).await.unwrap();
    ann.wait_until_shown("Clocks & dials").await.unwrap();
    ann.click_through("Clocks & dials").await.unwrap();
    shows(&ann, "9 10").await;

    // A visitor has no own lots, and an address that a bidder sent shows all.
    let visitor = &house.open.staff;
    visitor.open(&format!("{catalogue}?own=bids&from=150")).await.unwrap();
    shows(visitor, "10 10A 11").await;
    assert!(!visitor.text("document.body.innerText").await.unwrap().contains("My bids"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_catalogue_is_filtered_on_sqlite() {
    a_catalogue_is_filtered(None).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_catalogue_is_filtered_on_postgres() {
    a_catalogue_is_filtered(Some(testkit::postgres::fresh_database().await.unwrap())).await;
}
