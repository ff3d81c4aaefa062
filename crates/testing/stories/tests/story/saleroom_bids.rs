//! Bidders in the saleroom, in real browsers: they open accounts by a mailed link, register, bid against each other, and read in
//! words what became of each press.

use serde_json::json;
use testkit::browser::{Accessibility, Browser, Page};
use testkit::mail_server::MailServer;
use testkit::site::CustomerSite;

use crate::administration::{Administration, desk_page};
use crate::every_page;
use crate::official_clients::installed_clients;
use crate::support::{WAIT_MAX, launch};

const PASSWORD: &str = "three green lamps";
/// What no bidder may read: the reserve, and the name of the other one.
const RESERVE: u64 = 271_828;

/// A house with an open saleroom and a LIVE timed auction.
struct House {
    administration: Administration,
    site: CustomerSite,
    mails: MailServer,
    /// The staff's page, signed in.
    staff: Page,
    url: String,
    auction: String,
    lots: Vec<String>,
    accessibility: Accessibility,
    /// One for each bidder: pages of one browser share its cookies.
    browsers: Vec<Browser>,
}

impl House {
    async fn open(database: Option<String>, rule: &str) -> Self {
        let mails = MailServer::start().await.unwrap();
        let data = tempfile::tempdir().unwrap();
        let mut launch = launch(data.path())
            .set("PROVIDER__ALLOW_SUBNETS", "127.0.0.0/8")
            .set("MAIL__SMTP_URL", &mails.url)
            .set("MAIL__FROM", "Lotwire <mails@example.org>");
        if let Some(database) = &database {
            launch = launch.database(database);
        }
        let listen = launch.second_node().unwrap().platform;
        let base = format!("http://saleroom.localhost:{}", listen.port());
        launch = launch.set("SALEROOM__LISTEN", &listen.to_string()).set("SALEROOM__PUBLIC_URL", &base);
        let administration = Administration::open_on(launch, data).await;
        let site = CustomerSite::set_up(&administration.launch, &administration.launch).await.unwrap();
        let lot = |number: usize| {
            json!({
                "lotNumber": number.to_string(), "title": format!("Clock {number}"), "status": "LIVE",
                "openingBid": 50_000, "reserve": if number == 2 { Some(RESERVE) } else { None }, "buyNow": 900_000,
            })
        };
        let auction = json!({
            "kind": "timed", "title": "Clocks", "status": "LIVE", "endsAt": site.in_ms(3_600_000),
            "items": [lot(1), lot(2)], "charges": { "premiumBasisPoints": 2_500, "hammerTaxBasisPoints": 0, "premiumTaxBasisPoints": 2_000 },
        });
        let auction = site.create_auction(auction).await.unwrap();
        let items = site.items(&auction).await.unwrap();
        let lots = items.iter().map(|item| item["uuid"].as_str().unwrap().to_owned()).collect();
        let staff = desk_page(&administration.browser).await;
        administration.set_up(&staff).await;
        staff.open(&administration.url(&format!("/customers/{}/saleroom", site.customer))).await.unwrap();
        staff.wait_until_shown("Who may bid online").await.unwrap();
        staff.fill("address", "hartley").await.unwrap();
        staff.evaluate(&format!("document.querySelector('[value={rule}]').click()")).await.unwrap();
        staff.evaluate("document.querySelector('[name=outageEnds][value=at_their_time]').click()").await.unwrap();
        staff.evaluate("document.querySelector('[name=open]').click()").await.unwrap();
        staff.click("Save saleroom").await.unwrap();
        staff.wait_until_shown("The saleroom was saved.").await.unwrap();
        let accessibility = Accessibility::from_clients(&installed_clients()).unwrap();
        Self {
            administration,
            site,
            mails,
            staff,
            url: format!("{base}/hartley"),
            auction,
            lots,
            accessibility,
            browsers: Vec::new(),
        }
    }

    fn lot(&self, place: usize) -> String {
        format!("{}/sales/{}/lots/{}", self.url, self.auction, self.lots[place])
    }

    async fn assert_faultless(&self, page: &Page) {
        let faults = every_page::check(page, &self.accessibility).await;
        assert!(faults.is_empty(), "{}: {faults:?}", page.text("location.href").await.unwrap());
    }

    /// A bidder with an account, in a browser of their own, on the page of the first lot.
    async fn bidder(&mut self, name: &str, email: &str) -> Page {
        let browser = Browser::start().await.unwrap();
        let page = desk_page(&browser).await;
        self.browsers.push(browser);
        page.open(&self.lot(0)).await.unwrap();
        page.wait_until_shown("Sign in to bid").await.unwrap();
        self.assert_faultless(&page).await;
        page.click_through("Open an account").await.unwrap();
        page.fill("email", email).await.unwrap();
        page.click_through("Send the link").await.unwrap();
        page.wait_until_shown("Look into your mailbox").await.unwrap();
        let link = self.next_link(email).await;
        page.open(&link).await.unwrap();
        page.wait_until_shown("Open your account").await.unwrap();
        self.assert_faultless(&page).await;
        page.fill("name", name).await.unwrap();
        page.fill("password", PASSWORD).await.unwrap();
        page.click_through("Open the account").await.unwrap();
        page.wait_until_shown("Welcome. You are signed in.").await.unwrap();
        self.assert_faultless(&page).await;
        // The link works once.
        let other = desk_page(&self.administration.browser).await;
        other.open(&link).await.unwrap();
        other.wait_until_shown("This link can’t be used").await.unwrap();
        page.open(&self.lot(0)).await.unwrap();
        page
    }

    async fn next_link(&mut self, email: &str) -> String {
        let mail = tokio::time::timeout(WAIT_MAX, self.mails.next()).await.expect("no mail arrived").unwrap();
        assert_eq!(mail.to, email);
        assert!(mail.subject.starts_with("Your account at "), "{}", mail.subject);
        let link = mail.text.lines().find(|line| line.starts_with("http")).unwrap_or_else(|| panic!("{}", mail.text));
        assert!(link.starts_with(&self.url), "{link}");
        link.to_owned()
    }

    async fn register(&self, page: &Page) {
        page.click_through("Register for this sale to bid").await.unwrap();
        page.wait_until_shown("You register as").await.unwrap();
        self.assert_faultless(page).await;
        page.click_through("Register").await.unwrap();
    }
}

/// Presses a button of the bid box.
async fn press(page: &Page, form: &str) {
    page.evaluate(&format!("document.querySelector('[data-bid={form}] button').click()")).await.unwrap();
}

/// Presses the button, and again after the pause in which a second press is taken for a double one.
async fn press_twice(page: &Page, form: &str, confirm: &str) {
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
    bob.fill("amount", "800").await.unwrap();
    press_twice(&bob, "max", "Confirm 800").await;
    bob.wait_until_shown("✓ You lead at £550. Your maximum is £800.").await.unwrap();
    ann.reload().await.unwrap();
    ann.wait_until_shown("↓ Outbid. Someone else leads at £550.").await.unwrap();
    ann.fill("amount", "£ 700").await.unwrap();
    press_twice(&ann, "max", "Confirm £ 700").await;
    ann.wait_until_shown("↓ Outbid. Someone else leads at £750.").await.unwrap();
    house.assert_faultless(&ann).await;
    ann.fill("amount", "a lot").await.unwrap();
    press_twice(&ann, "max", "Confirm a lot").await;
    ann.wait_until("!!document.querySelector('#bid-box .fault')").await.unwrap();

    // The same key is the same bid: a phone that sent it twice is told so.
    let repeated = "(async () => { const form = document.querySelector('[data-bid=max]'); const body = new URLSearchParams(new FormData(form)); \
        body.set('confirmed', 'yes'); body.set('typed', 'yes'); body.set('amount', '1000'); \
        const send = async () => (await fetch(form.action, { method: 'POST', body })).text(); await send(); \
        const page = new DOMParser().parseFromString(await send(), 'text/html'); return page.getElementById('bid-answer').textContent })()";
    assert_eq!(ann.text(repeated).await.unwrap(), "Already received: £1,000.");
    let item = house.site.items(&house.auction).await.unwrap()[0].clone();
    assert_eq!((&item["leader"], &item["price"]), (&json!("1"), &json!(85_000)), "{item}");

    // Each sees their own maximum only, nobody the reserve or a name.
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
        ann.open(&format!("{}/{path}", house.url)).await.unwrap();
        ann.wait_until_shown("Account").await.unwrap();
        house.assert_faultless(&ann).await;
    }

    // The house sees who they are, and no session works after the account was left.
    let path = format!("/auctions/{}/registrations", house.auction);
    house.staff.open(&house.administration.url(&path)).await.unwrap();
    house.staff.wait_until_shown("Bob Müller").await.unwrap();
    bob.click_through("Account").await.unwrap();
    bob.click_through("Sign out").await.unwrap();
    bob.wait_until_shown("You are signed out.").await.unwrap();
    bob.open(&format!("{}/my-bids", house.url)).await.unwrap();
    bob.wait_until_at("/hartley/sign-in").await.unwrap();
    bob.fill("email", "BOB@example.com").await.unwrap();
    bob.fill("password", "wrong horse battery").await.unwrap();
    bob.evaluate("document.querySelector('main form button').click()").await.unwrap();
    bob.wait_until_shown("E-mail address or password is wrong.").await.unwrap();
    bob.fill("password", PASSWORD).await.unwrap();
    bob.evaluate("document.querySelector('main form button').click()").await.unwrap();
    bob.wait_until_shown("You are outbid").await.unwrap();

    // Everything is there after a kill, and the sessions go on.
    let House { administration, url, browsers: _browsers, .. } = house;
    let _administration = administration.kill_and_restart().await;
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
        "(async () => (await fetch('{}/bid', {{ method: 'POST', body: new URLSearchParams({{ kind: 'max', amount: '90000', key: 'k', confirmed: 'yes' }}) }})).status.toString())()",
        house.lot(0)
    );
    assert_eq!(ann.text(&bid).await.unwrap(), "409");
    let path = format!("/auctions/{}/registrations", house.auction);
    house.staff.open(&house.administration.url(&path)).await.unwrap();
    house.staff.click_through("Approve paddle 1").await.unwrap();
    ann.reload().await.unwrap();
    ann.wait_until_shown("Bid £500").await.unwrap();
}
