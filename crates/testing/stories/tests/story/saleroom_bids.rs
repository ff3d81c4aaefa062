//! Bidders in the saleroom, in real browsers: they open accounts by a mailed link, register, bid against each other, and read in
//! words what became of each press.

use serde_json::json;
use testkit::browser::{Browser, Page};

use crate::administration::desk_page;
use crate::open_saleroom::OpenHouse;
use crate::saleroom_live::IS_LIVE;
use crate::support::{Clerk, WAIT_MAX};

const PASSWORD: &str = "three green lamps";
/// What no bidder may read: the reserve, and the name of the other one.
const RESERVE: u64 = 271_828;

/// A house with an open saleroom and a LIVE timed auction of two lots.
pub struct House {
    pub open: OpenHouse,
    pub auction: String,
    pub lots: Vec<String>,
    /// One for each bidder.
    visitors: Vec<Browser>,
}

impl House {
    pub async fn open(database: Option<String>, rule: &str) -> Self {
        let open = OpenHouse::on(database, rule).await;
        let lot = |number: usize| {
            json!({
                "lotNumber": number.to_string(), "title": format!("Clock {number}"), "status": "LIVE",
                "openingBid": 50_000, "reserve": if number == 2 { Some(RESERVE) } else { None }, "buyNow": 900_000,
            })
        };
        let auction = json!({
            "kind": "timed", "title": "Clocks", "status": "LIVE", "endsAt": open.site.in_ms(3_600_000),
            "items": [lot(1), lot(2)], "charges": { "premiumBasisPoints": 2_500, "hammerTaxBasisPoints": 0, "premiumTaxBasisPoints": 2_000 },
        });
        let auction = open.site.create_auction(auction).await.unwrap();
        let items = open.site.items(&auction).await.unwrap();
        let lots = items.iter().map(|item| item["uuid"].as_str().unwrap().to_owned()).collect();
        Self { open, auction, lots, visitors: Vec::new() }
    }

    /// The same sale as a LIVE webcast of two lots.
    pub async fn open_webcast(database: Option<String>) -> Self {
        let mut house = Self::open(database, "at_once").await;
        let lot = |number: &str| json!({ "lotNumber": number, "title": format!("Clock {number}"), "status": "LIVE", "openingBid": 50_000 });
        let webcast = json!({
            "kind": "webcast", "title": "Clocks, live", "status": "LIVE", "items": [lot("1"), lot("2")],
            "startsAt": house.open.site.in_ms(0),
        });
        house.follow(house.open.site.create_auction(webcast).await.unwrap()).await;
        house
    }

    /// From now on the pages are those of this sale.
    pub async fn follow(&mut self, auction: String) {
        let items = self.open.site.items(&auction).await.unwrap();
        self.lots = items.iter().map(|item| item["uuid"].as_str().unwrap().to_owned()).collect();
        self.auction = auction;
    }

    /// Another page of the bidder who came last, as on another device: it shares the sign-in.
    pub async fn other_device(&self) -> Page {
        desk_page(self.visitors.last().unwrap()).await
    }

    pub fn lot(&self, place: usize) -> String {
        format!("{}/sales/{}/lots/{}", self.open.url(), self.auction, self.lots[place])
    }

    pub async fn assert_faultless(&self, page: &Page) {
        self.open.checks.assert_faultless(page).await;
    }

    /// A bidder with an account, who shares the browser and nothing else with the others, on the page of the first lot. The story
    /// `saleroom_languages` checks the pages on the way.
    pub async fn bidder(&mut self, name: &str, email: &str) -> Page {
        let visitor = self.open.administration.browser.other_visitor().await.unwrap();
        let page = desk_page(&visitor).await;
        self.visitors.push(visitor);
        page.open(&self.lot(0)).await.unwrap();
        page.wait_until_shown("Sign in to bid").await.unwrap();
        page.click_through("Open an account").await.unwrap();
        page.fill("email", email).await.unwrap();
        page.click_through("Send the link").await.unwrap();
        page.wait_until_shown("Look into your mailbox").await.unwrap();
        let link = self.next_link(email).await;
        page.open(&link).await.unwrap();
        page.wait_until_shown("Open your account").await.unwrap();
        page.fill("name", name).await.unwrap();
        page.fill("password", PASSWORD).await.unwrap();
        page.click_through("Open the account").await.unwrap();
        page.wait_until_shown("Welcome. You are signed in.").await.unwrap();
        // The link works once.
        let other = desk_page(&self.open.administration.browser).await;
        other.open(&link).await.unwrap();
        other.wait_until_shown("This link can’t be used").await.unwrap();
        page.open(&self.lot(0)).await.unwrap();
        page
    }

    async fn next_link(&mut self, email: &str) -> String {
        // Notices are mailed, too.
        let mail = loop {
            let mail = tokio::time::timeout(WAIT_MAX, self.open.mails.next()).await.expect("no mail arrived").unwrap();
            if mail.subject.starts_with("Your account at ") {
                break mail;
            }
        };
        assert_eq!(mail.to, email);
        let link = mail.text.lines().find(|line| line.starts_with("http")).unwrap_or_else(|| panic!("{}", mail.text));
        assert!(link.starts_with(&self.open.url()), "{link}");
        link.to_owned()
    }

    /// The internet bid that waits for the clerk.
    pub async fn waiting_bid(&self) -> String {
        let ring = self.open.site.platform.get(&format!("/api/v1/auctions/{}/ring", self.auction)).await.unwrap();
        ring.text("/desk/pending/0/uuid").unwrap().to_owned()
    }

    pub async fn register(&self, page: &Page) {
        page.wait_until_shown("Register for this sale to bid").await.unwrap();
        page.click_through("Register for this sale to bid").await.unwrap();
        page.wait_until_shown("You register as").await.unwrap();
        page.click_through("Register").await.unwrap();
    }
}

/// Presses a button of the bid box.
pub async fn press(page: &Page, form: &str) {
    page.evaluate(&format!("document.querySelector('[data-bid={form}] button').click()")).await.unwrap();
}

/// Enters a maximum, and confirms the amount that the server has read.
pub async fn bid_up_to(page: &Page, typed: &str, confirm: &str) {
    page.fill("amount", typed).await.unwrap();
    press(page, "max").await;
    page.wait_until_shown(confirm).await.unwrap();
    page.evaluate("new Promise((resolve) => setTimeout(resolve, 450))").await.unwrap();
    press(page, "asked").await;
}

/// Presses the button, and again after the pause in which a second press is taken for a double one.
pub async fn press_twice(page: &Page, form: &str, confirm: &str) {
    press(page, form).await;
    page.wait_until_shown(confirm).await.unwrap();
    page.evaluate("new Promise((resolve) => setTimeout(resolve, 450))").await.unwrap();
    press(page, form).await;
}

async fn bidders_bid_against_each_other(database: Option<String>) {
    let mut house = House::open(database, "at_once").await;
    let ann = house.bidder("Ann Hartley", "ann@example.com").await;
    house.register(&ann).await;
    ann.wait_until_shown("You are registered. Your paddle is 1.").await.unwrap();
    house.assert_faultless(&ann).await;
    ann.open(&house.lot(0)).await.unwrap();
    ann.wait_until_shown("Bid £500").await.unwrap();
    house.assert_faultless(&ann).await;

    // The first press asks, the second places the bid. The total is on the button.
    let button = ann.text("document.querySelector('[data-bid=next] button').innerText").await.unwrap();
    assert!(button.contains("Bid £500") && button.contains("£650 with premium and taxes"), "{button}");
    press_twice(&ann, "next", "Confirm £500").await;
    ann.wait_until_shown("✓ You lead at £500.").await.unwrap();
    house.assert_faultless(&ann).await;
    let box_text = ann.text("document.getElementById('bid-box').innerText").await.unwrap();
    assert!(!box_text.contains("Bid £"), "a leading bidder is offered to bid against themselves: {box_text}");

    // Bob bids what was bid before him: the price that he saw has moved, and nothing is placed.
    let bob = house.bidder("Bob Müller", "bob@example.com").await;
    house.register(&bob).await;
    bob.wait_until_shown("Your paddle is 2.").await.unwrap();
    bob.open(&house.lot(0)).await.unwrap();
    bob.wait_until_shown("Bid £550").await.unwrap();
    bob.evaluate("document.querySelector('[data-bid=next] [name=amount]').value = '50000'").await.unwrap();
    press_twice(&bob, "next", "Confirm £550").await;
    bob.wait_until_shown("£500 was bid before you. Next £550.").await.unwrap();

    // A maximum beats hers, and hers raises the price up to it.
    bid_up_to(&bob, "800", "Confirm your maximum of £800").await;
    bob.wait_until_shown("✓ You lead at £550. Your maximum is £800.").await.unwrap();
    // Her page says so by itself, and keeps what she types.
    ann.wait_until_shown("↓ Outbid. Someone else leads at £550.").await.unwrap();
    bid_up_to(&ann, "£ 700", "Confirm your maximum of £700").await;
    ann.wait_until_shown("↓ Outbid. Someone else leads at £750.").await.unwrap();
    house.assert_faultless(&ann).await;
    ann.fill("amount", "a lot").await.unwrap();
    press(&ann, "max").await;
    ann.wait_until("!!document.querySelector('#bid-box .fault')").await.unwrap();

    // The same key is the same bid: a phone that sent it twice reads so.
    let repeated = "(async () => { const form = document.querySelector('[data-bid=max]'); const body = new URLSearchParams(new FormData(form)); \
        body.set('confirmed', 'yes'); body.set('amount', '100000'); \
        const send = async () => (await fetch(form.action, { method: 'POST', body })).text(); await send(); \
        const page = new DOMParser().parseFromString(await send(), 'text/html'); return page.getElementById('bid-answer').textContent })()";
    assert_eq!(ann.text(repeated).await.unwrap(), "Already received: £1,000.");
    let item = house.open.site.items(&house.auction).await.unwrap()[0].clone();
    assert_eq!((&item["leader"], &item["price"]), (&json!("1"), &json!(85_000)), "{item}");

    // Each sees their own maximum only, and no reserve or name.
    ann.reload().await.unwrap();
    ann.wait_until_shown("Your maximum is £1,000.").await.unwrap();
    bob.reload().await.unwrap();
    bob.wait_until_shown("↓ Outbid. Someone else leads at £850.").await.unwrap();
    for (page, hidden) in [(&ann, ["Bob Müller", "£800"]), (&bob, ["Ann Hartley", "£1,000"])] {
        let html = page.text("document.documentElement.outerHTML").await.unwrap();
        for hidden in hidden.into_iter().chain(["271828", "2,718.28"]) {
            assert!(!html.contains(hidden), "the page has {hidden}");
        }
    }

    // Without script each press loads the page, and says the same.
    bob.disable_script().await.unwrap();
    bob.open(&house.lot(1)).await.unwrap();
    bob.wait_until_shown("Bid £500").await.unwrap();
    press(&bob, "next").await;
    bob.wait_until_shown("Confirm £500").await.unwrap();
    bob.evaluate("document.querySelector('.bid-form button').click()").await.unwrap();
    bob.wait_until_shown("✓ You lead at £500.").await.unwrap();
    bob.click_through("☆ Watch").await.unwrap();
    bob.wait_until_shown("★ Watched").await.unwrap();
    bob.click_through("My bids").await.unwrap();
    bob.wait_until_shown("You are outbid").await.unwrap();
    bob.wait_until_shown("You lead").await.unwrap();

    for path in ["my-bids", "account", "account/delete", &format!("sales/{}/register", house.auction)] {
        ann.open(&format!("{}/{path}", house.open.url())).await.unwrap();
        let is_there = format!("location.pathname.endsWith('{path}') && document.readyState === 'complete'");
        ann.wait_until(&is_there).await.unwrap();
        house.assert_faultless(&ann).await;
    }

    // The house sees who they are, and no session works after the account was left.
    let path = format!("/auctions/{}/registrations", house.auction);
    house.open.staff.open(&house.open.administration.url(&path)).await.unwrap();
    house.open.staff.wait_until_shown("Bob Müller").await.unwrap();
    let forgotten = house.other_device().await;
    forgotten.open(&house.lot(0)).await.unwrap();
    forgotten.wait_until_shown("Bid £900").await.unwrap();
    forgotten.wait_until(IS_LIVE).await.unwrap();
    bob.click_through("Account").await.unwrap();
    bob.click_through("Sign out").await.unwrap();
    bob.wait_until_shown("You are signed out.").await.unwrap();
    // A press on a page that is still open says that nothing was sent, and what to do.
    forgotten.show().await.unwrap();
    press_twice(&forgotten, "next", "Confirm £900").await;
    forgotten.wait_until_shown("You are signed out. Nothing was sent.").await.unwrap();
    forgotten.wait_until_shown("Sign in to bid").await.unwrap();
    house.assert_faultless(&forgotten).await;
    bob.open(&format!("{}/my-bids", house.open.url())).await.unwrap();
    bob.wait_until_at("/hartley/sign-in").await.unwrap();
    bob.fill("email", "BOB@example.com").await.unwrap();
    bob.fill("password", "wrong horse battery").await.unwrap();
    bob.evaluate("document.querySelector('main form button').click()").await.unwrap();
    bob.wait_until_shown("E-mail address or password is wrong.").await.unwrap();
    bob.fill("password", PASSWORD).await.unwrap();
    bob.evaluate("document.querySelector('main form button').click()").await.unwrap();
    bob.wait_until_shown("You are outbid").await.unwrap();

    // Everything is there after a kill, and the sessions go on.
    let (url, _visitors) = (house.open.url(), house.visitors);
    let _administration = house.open.administration.kill_and_restart().await;
    ann.open(&format!("{url}/my-bids")).await.unwrap();
    ann.wait_until_shown("Your maximum £1,000").await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn bidders_bid_against_each_other_on_sqlite() {
    bidders_bid_against_each_other(None).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn bidders_bid_against_each_other_on_postgres() {
    bidders_bid_against_each_other(Some(testkit::postgres::fresh_database().await.unwrap())).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_bidder_waits_for_the_house() {
    let mut house = House::open(None, "by_staff").await;
    let ann = house.bidder("Ann Hartley", "ann@example.com").await;
    house.register(&ann).await;
    ann.wait_until_shown("The house is checking your registration.").await.unwrap();
    ann.open(&house.lot(0)).await.unwrap();
    ann.wait_until_shown("The house is checking your registration.").await.unwrap();
    house.assert_faultless(&ann).await;
    // A form that was kept from another page changes nothing.
    let bid = format!(
        "(async () => (await fetch('{}/bid', {{ method: 'POST', body: new URLSearchParams({{ kind: 'max', amount: '90000', key: 'k', rates: '2500-0-2000', confirmed: 'yes' }}) }})).status.toString())()",
        house.lot(0)
    );
    assert_eq!(ann.text(&bid).await.unwrap(), "409");
    let path = format!("/auctions/{}/registrations", house.auction);
    house.open.staff.open(&house.open.administration.url(&path)).await.unwrap();
    house.open.staff.wait_until_shown("ann@example.com").await.unwrap();
    house.open.staff.click_through("Approve paddle 1").await.unwrap();
    ann.reload().await.unwrap();
    ann.wait_until_shown("Bid £500").await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_bidder_follows_the_ring() {
    let mut house = House::open_webcast(None).await;
    let ann = house.bidder("Ann Hartley", "ann@example.com").await;
    house.register(&ann).await;
    ann.wait_until_shown("Your paddle is 1.").await.unwrap();
    ann.open(&house.lot(0)).await.unwrap();
    ann.wait_until_shown("Leave a commission bid").await.unwrap();
    house.assert_faultless(&ann).await;
    bid_up_to(&ann, "900", "Confirm your maximum of £900").await;
    ann.wait_until_shown("Your commission bid is £900.").await.unwrap();
    press_twice(&ann, "withdraw", "Confirm: withdraw").await;
    ann.wait_until_shown("Your commission bid is withdrawn.").await.unwrap();

    // The lot comes into the ring: one button with the asking price, and no word of success before the clerk took the bid.
    let clerk = Clerk::new(house.open.site.platform.clone(), &house.auction);
    clerk.command("send", &json!({ "item": house.lots[0] })).await;
    ann.wait_until_shown("Bid £500").await.unwrap();
    house.assert_faultless(&ann).await;
    press_twice(&ann, "next", "Confirm £500").await;
    ann.wait_until_shown("Sent £500. Waiting for the auctioneer.").await.unwrap();
    clerk.command("accept", &json!({ "bid": house.waiting_bid().await })).await;
    ann.wait_until_shown("✓ You lead at £500.").await.unwrap();
    clerk.command("bid", &json!({ "source": "room", "bidder": "12", "amount": 55_000 })).await;
    ann.wait_until_shown("↓ Outbid. Someone else leads at £550.").await.unwrap();
    // For a second the button says "Outbid".
    ann.wait_until_shown("Bid £600").await.unwrap();
    press_twice(&ann, "next", "Confirm £600").await;
    ann.wait_until_shown("Sent £600. Waiting for the auctioneer.").await.unwrap();
    clerk.command("accept", &json!({ "bid": house.waiting_bid().await })).await;
    clerk.command("sell", &json!({})).await;
    ann.wait_until_shown("✓ Yours at £600, paddle 1.").await.unwrap();
    ann.click_through("My bids").await.unwrap();
    ann.wait_until_shown("Won").await.unwrap();
    house.assert_faultless(&ann).await;
}
