//! The live pages of the saleroom in a real browser: prices, clocks and results change without a reload, only the server ends a
//! lot, and a page whose link is lost or that slept says so.

use std::process::Command;

use serde_json::{Value, json};
use testkit::browser::{Browser, Page};

use crate::open_saleroom::OpenHouse;
use crate::support::Clerk;

/// An amount that no stream of the saleroom may show.
const RESERVE: u64 = 271_828;
const MAXIMUM: u64 = 260_117;

impl OpenHouse {
    /// Creates a LIVE sale. Its premium and taxes make 30 % of a hammer price.
    async fn sale(&self, fields: Value) -> (String, Vec<String>) {
        let charges = json!({ "premiumBasisPoints": 2500, "premiumTaxBasisPoints": 2000 });
        let mut sale = json!({ "auctioneer": self.site.auctioneer, "currency": "GBP", "timeZone": "Europe/London", "kind": "timed", "title": "Clocks & watches", "status": "LIVE", "charges": charges });
        sale.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        let created = self.site.platform.post("/api/v1/auctions", &sale).await.unwrap();
        let auction = created.text("/uuid").unwrap().to_owned();
        let items = self.site.items(&auction).await.unwrap();
        (auction, items.iter().map(|item| item["uuid"].as_str().unwrap().to_owned()).collect())
    }

    fn catalogue(&self, auction: &str) -> String {
        format!("http://{}/hartley/sales/{auction}", self.host)
    }

    fn lot(&self, auction: &str, lot: &str) -> String {
        format!("{}/lots/{lot}", self.catalogue(auction))
    }

    async fn bid(&self, lot: &str, bidder: &str, amount: u64) {
        let bid = json!({ "bidder": bidder, "amount": amount });
        self.site.platform.post(&format!("/api/v1/items/{lot}/bids"), &bid).await.unwrap();
    }

    /// Opens a page and waits until it is live.
    async fn open_live(&self, page: &Page, url: &str) {
        page.open(url).await.unwrap();
        page.wait_until(IS_LIVE).await.unwrap();
    }

    fn signal(&self, name: &str) {
        let id = self.administration.server_id().to_string();
        assert!(Command::new("kill").args([name, &id]).status().unwrap().success(), "kill {name}");
    }
}

/// The page shows a state of the server, and follows it.
pub const IS_LIVE: &str = "document.getElementById('live')?.dataset.link === 'live'";
/// Texts of the page as the server wrote them now, and as the script shows them: `name: server's / script's` where they differ.
pub const DIFFERENCES: &str = r#"(async () => {
    const answer = await fetch(location.href, { cache: "no-store" });
    const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
    const texts = (from) => [...from.querySelectorAll("[data-live], .bid-feed li")]
        .filter((element) => !["ends", "note", "spoken"].includes(element.dataset.live))
        .filter((element) => !element.closest("[hidden]"))
        .map((element) => [element.dataset.live ?? "bid", element.textContent]);
    const [written, shown] = [texts(fresh), texts(document)];
    if (written.length !== shown.length) return `${JSON.stringify(written)} / ${JSON.stringify(shown)}`;
    return written.map(([name, text], place) => (text === shown[place][1] ? "" : `${name}: ${text} / ${shown[place][1]}`)).join("");
})()"#;

async fn shows(page: &Page, name: &str, text: &str) {
    let expected = json!(text);
    let slot = format!("document.querySelector('[data-live=\"{name}\"]')");
    page.wait_until(&format!("{slot}?.textContent === {expected} && !{slot}.closest('[hidden]')")).await.unwrap();
}

async fn top_of_price(page: &Page) -> Value {
    page.evaluate("document.querySelector('[data-live=\"price\"]').getBoundingClientRect().top").await.unwrap()
}

fn two_lots() -> Value {
    let lot = |number: u32, reserve: Value| json!({ "lotNumber": number.to_string(), "title": format!("Clock {number}"), "status": "LIVE", "openingBid": 100_000, "reserve": reserve });
    json!([lot(1, Value::Null), lot(2, json!(RESERVE))])
}

async fn a_bid_is_seen_without_a_reload(database: Option<String>) {
    let house = OpenHouse::on(database, "closed").await;
    // Every bid is within the last two hours, so it extends the end.
    let sale = json!({ "endsAt": house.site.in_ms(3_600_000), "extensionSeconds": 7_200, "items": two_lots() });
    let (sale, lots) = house.sale(sale).await;
    let lot = &house.staff;
    let catalogue = house.administration.browser.page().await.unwrap();
    house.open_live(lot, &house.lot(&sale, &lots[0])).await;
    house.open_live(&catalogue, &house.catalogue(&sale)).await;
    assert_eq!(lot.text(DIFFERENCES).await.unwrap(), "");
    assert_eq!(catalogue.text(DIFFERENCES).await.unwrap(), "");
    shows(lot, "bids", "Starts at").await;
    lot.wait_until("document.querySelector('[data-live-static]').textContent === 'Prices on this page are live.'")
        .await
        .unwrap();
    lot.wait_until("/^(1 h 0|59:\\d\\d)/.test(document.querySelector('.lot-clock').textContent)").await.unwrap();
    lot.wait_until("document.body.innerText.includes('A bid in the last 2 hours extends the end')").await.unwrap();
    let before = top_of_price(lot).await;

    house.bid(&lots[0], "214", MAXIMUM).await;
    for page in [lot, &catalogue] {
        shows(page, "bids", "Current bid, 1 bid").await;
        shows(page, "price", "£1,000").await;
        shows(page, "price-total", "£1,300 with premium and taxes").await;
    }
    shows(lot, "next", "£1,100").await;
    shows(lot, "next-total", "£1,430 with premium and taxes").await;
    lot.wait_until("document.querySelector('.bid-feed li').textContent.includes('Paddle 214')").await.unwrap();
    lot.wait_until("/^Extended to \\d\\d:\\d\\d:\\d\\d\\. A bid came in\\.$/.test(document.querySelector('[data-live=note]').textContent)")
        .await
        .unwrap();
    assert_eq!(top_of_price(lot).await, before, "the price moved");
    house.bid(&lots[0], "7", 150_000).await;
    shows(&catalogue, "bids", "Current bid, 2 bids").await;
    shows(lot, "price", "£1,600").await;
    assert_eq!(lot.text(DIFFERENCES).await.unwrap(), "", "the script and the server show the same");
    assert_eq!(catalogue.text(DIFFERENCES).await.unwrap(), "");
    house.checks.assert_faultless(lot).await;
    house.checks.assert_faultless(&catalogue).await;

    // A stream says that no proxy may buffer it, and has nothing that bidders may not know.
    for path in [
        format!("{}/live", house.lot(&sale, &lots[0])),
        format!("{}/live?lots={}", house.catalogue(&sale), lots.join(",")),
    ] {
        let resolve = format!("{}:127.0.0.1", house.host);
        let curl = ["--silent", "--include", "--max-time", "2", "--resolve", &resolve, &path];
        let output = Command::new("curl").args(curl).output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap().to_lowercase();
        assert!(text.starts_with("http/1.1 200") && text.contains("x-accel-buffering: no"), "{text}");
        assert!(text.contains("event: snapshot") && text.contains("\"pricetotal\":"), "{text}");
        for secret in [RESERVE.to_string(), MAXIMUM.to_string(), "reserve".to_owned()] {
            assert!(!text.contains(&secret), "{secret}: {text}");
        }
    }

    // Without the saleroom, no page stays live.
    let settings = house.administration.browser.page().await.unwrap();
    settings.open(&house.administration.url(&format!("/customers/{}/saleroom", house.site.customer))).await.unwrap();
    settings.wait_until("document.querySelector('[name=open]')?.checked").await.unwrap();
    settings.evaluate("document.querySelector('[name=open]').click()").await.unwrap();
    settings.click("Save saleroom").await.unwrap();
    settings.wait_until_shown("The saleroom was saved.").await.unwrap();
    lot.wait_until_shown("This page is not on view any more.").await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_bid_is_seen_without_a_reload_on_sqlite() {
    a_bid_is_seen_without_a_reload(None).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_bid_is_seen_without_a_reload_on_postgres() {
    a_bid_is_seen_without_a_reload(Some(testkit::postgres::fresh_database().await.unwrap())).await;
}

/// Time until the lots of a sale end, long enough to open its pages on a busy machine.
const ENDS_IN_MS: i64 = 25_000;

async fn only_the_server_ends_a_lot(database: Option<String>) {
    let house = OpenHouse::on(database, "closed").await;
    let sale = json!({ "endsAt": house.site.in_ms(ENDS_IN_MS), "extensionSeconds": null, "items": two_lots() });
    let (sale, lots) = house.sale(sale).await;
    house.bid(&lots[0], "214", 100_000).await;
    let page = &house.staff;
    house.open_live(page, &house.lot(&sale, &lots[0])).await;
    page.wait_until_shown("Bids do not extend the end.").await.unwrap();
    page.wait_until("document.querySelector('[data-live=spoken]').textContent === '10 seconds left.'").await.unwrap();
    // The server is silent when the clock is at zero: the page does not know the result, and says so.
    house.signal("-STOP");
    page.wait_until_shown("Link lost. Prices may be old.").await.unwrap();
    shows(page, "standing", "Checking final bids…").await;
    assert_eq!(page.text("document.getElementById('live').dataset.link").await.unwrap(), "lost");
    assert_eq!(
        page.text("document.querySelector('[data-live-static]').textContent").await.unwrap(),
        "Link lost. Prices may be old."
    );
    house.signal("-CONT");
    shows(page, "standing", "Sold").await;
    shows(page, "bids", "Hammer price").await;
    page.wait_until(IS_LIVE).await.unwrap();
    page.wait_until("document.querySelector('[data-link-notice]').textContent === ''").await.unwrap();
    assert_eq!(page.text(DIFFERENCES).await.unwrap(), "");
    house.open_live(page, &house.lot(&sale, &lots[1])).await;
    shows(page, "standing", "Not sold").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn only_the_server_ends_a_lot_on_sqlite() {
    only_the_server_ends_a_lot(None).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn only_the_server_ends_a_lot_on_postgres() {
    only_the_server_ends_a_lot(Some(testkit::postgres::fresh_database().await.unwrap())).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_that_slept_shows_the_present_state_before_it_is_live() {
    let house = OpenHouse::on(None, "closed").await;
    let (sale, lots) = house.sale(json!({ "endsAt": house.site.in_ms(3_600_000), "items": two_lots() })).await;
    let browser = Browser::with_windows().await.unwrap();
    let page = browser.tab().await.unwrap();
    house.open_live(&page, &house.lot(&sale, &lots[0])).await;
    page.evaluate("addEventListener('visibilitychange', () => { window.woke = document.querySelector('[data-link-notice]').textContent; })")
        .await
        .unwrap();
    // A tab in front hides it.
    let front = browser.tab().await.unwrap();
    front.show().await.unwrap();
    page.wait_until("document.hidden && document.getElementById('live').dataset.link === 'lost'").await.unwrap();
    house.bid(&lots[0], "214", 100_000).await;
    assert_eq!(page.text("document.querySelector('[data-live=bids]').textContent").await.unwrap(), "Starts at");
    page.show().await.unwrap();
    page.wait_until("window.woke === 'Welcome back. Updating…'").await.unwrap();
    page.wait_until(IS_LIVE).await.unwrap();
    assert_eq!(
        page.text("document.querySelector('[data-live=bids]').textContent").await.unwrap(),
        "Current bid, 1 bid"
    );
    assert_eq!(page.text("document.querySelector('[data-link-notice]').textContent").await.unwrap(), "");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_script_writes_money_and_times_as_the_server_does() {
    let house = OpenHouse::on(None, "closed").await;
    for (currency, time_zone, amount, price) in [
        ("EUR", "Europe/Berlin", 123_456_u64, "€1,234.56"),
        ("JPY", "Asia/Tokyo", 1_234_567, "JPY\u{a0}1,234,567"),
        ("KWD", "America/New_York", 1_234_567, "KWD\u{a0}1,234.567"),
        ("USD", "UTC", 123_400, "US$1,234"),
    ] {
        let items = json!([{ "lotNumber": "1", "title": "Clock", "status": "LIVE", "openingBid": amount }]);
        let fields = json!({
            "currency": currency, "timeZone": time_zone, "endsAt": house.site.in_ms(200_000_000), "extensionSeconds": null,
            "items": items,
        });
        let (sale, lots) = house.sale(fields).await;
        house.open_live(&house.staff, &house.lot(&sale, &lots[0])).await;
        house.bid(&lots[0], "214", amount).await;
        shows(&house.staff, "bids", "Current bid, 1 bid").await;
        shows(&house.staff, "price", price).await;
        assert_eq!(house.staff.text(DIFFERENCES).await.unwrap(), "", "{currency}");
        house
            .staff
            .wait_until("/^2 d \\d+ h$/.test(document.querySelector('.lot-clock .clock').textContent)")
            .await
            .unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_lot_in_the_ring_is_seen_on_the_catalogue_and_its_page() {
    let house = OpenHouse::on(None, "closed").await;
    let (sale, lots) =
        house.sale(json!({ "kind": "webcast", "startsAt": house.site.in_ms(0), "items": two_lots() })).await;
    let (catalogue, lot) = (&house.staff, house.administration.browser.page().await.unwrap());
    house.open_live(catalogue, &house.catalogue(&sale)).await;
    house.open_live(&lot, &house.lot(&sale, &lots[0])).await;
    let stage = async |text: &str| {
        let text = json!(text);
        catalogue.wait_until(&format!("document.querySelector('[data-stage]').textContent === {text}")).await.unwrap();
    };
    stage("No lot is in the ring.").await;
    let clerk = Clerk::new(house.site.platform.clone(), &sale);
    clerk.command("send", &json!({ "item": lots[0] })).await;
    stage("Lot 1 is in the ring. Asking price £1,000.").await;
    shows(&lot, "standing", "In the ring now").await;
    shows(&lot, "next-label", "Asking price").await;
    shows(&lot, "next-total", "£1,300 with premium and taxes").await;
    clerk.command("bid", &json!({ "source": "room", "bidder": "12", "amount": 100_000 })).await;
    lot.wait_until("document.querySelector('.bid-feed').textContent.includes('Paddle 12')").await.unwrap();
    clerk.command("fair-warning", &json!({})).await;
    stage("Lot 1: fair warning. Asking price £1,100.").await;
    shows(&lot, "standing", "In the ring now. Fair warning").await;
    house.checks.assert_faultless(catalogue).await;
    clerk.command("sell", &json!({})).await;
    stage("Lot 1 sold at £1,000.").await;
    shows(&lot, "standing", "Sold").await;
    assert_eq!(lot.text(DIFFERENCES).await.unwrap(), "");
}
