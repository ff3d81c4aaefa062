//! Notices in real browsers: a bidder who is outbid reads so on any page, in a mail that one click ends, and while no page is open.

use serde_json::Value;
use testkit::browser::Page;
use testkit::push_service::{PushBrowser, PushService, ReceivedPush};

use crate::saleroom_attacks::Sender;
use crate::saleroom_bids::{House, press_twice};
use crate::support::WAIT_MAX;

async fn pushed(service: &mut PushService) -> ReceivedPush {
    tokio::time::timeout(WAIT_MAX, service.next()).await.expect("nothing was pushed").unwrap()
}

/// Opens a lot, and bids what its button says.
async fn bid(page: &Page, house: &House, lot: usize, amount: &str) {
    page.open(&house.lot(lot)).await.unwrap();
    page.wait_until_shown(&format!("Bid {amount}")).await.unwrap();
    press_twice(page, "next", &format!("Confirm {amount}")).await;
    page.wait_until_shown(&format!("✓ You lead at {amount}.")).await.unwrap();
}

/// No push service can be reached from here, so the page's browser says that it is another one, whose keys the test has.
async fn pretend(page: &Page, browser: &PushBrowser) {
    let bytes = |bytes: &[u8]| format!("new Uint8Array({}).buffer", serde_json::to_string(bytes).unwrap());
    let script = format!(
        "Notification.requestPermission = async () => 'granted'; \
         PushManager.prototype.subscribe = async () => ({{ endpoint: {:?}, \
         getKey: (name) => (name === 'auth' ? {} : {}) }})",
        browser.endpoint,
        bytes(&browser.auth),
        bytes(&browser.key)
    );
    page.evaluate(&format!("(() => {{ {script} }})()")).await.unwrap();
}

async fn a_bidder_hears_that_they_were_outbid(database: Option<String>) {
    let mut service = PushService::start().await.unwrap();
    let phone = service.browser("phone");
    let mut house = House::open(database, "at_once").await;
    let ann = house.bidder("Ann Hartley", "ann@example.com").await;
    house.register(&ann).await;
    ann.wait_until_shown("Your paddle is 1.").await.unwrap();
    house.open.mail("ann@example.com", "Your registration for Clocks: paddle 1").await;
    bid(&ann, &house, 0, "£500").await;

    // The browser is asked for notices after the first bid, and only when the bidder wishes.
    // A browser without windows allows none.
    let is_open = "Object.defineProperty(Notification, 'permission', { get: () => 'default' })";
    ann.evaluate(&format!("void {is_open}")).await.unwrap();
    ann.wait_until_shown("Be told when you are outbid, also while this page is closed?").await.unwrap();
    house.assert_faultless(&ann).await;
    pretend(&ann, &phone).await;
    ann.click("Show notices in this browser").await.unwrap();
    ann.wait_until("document.getElementById('push-offer').hidden").await.unwrap();

    // Bob outbids her while she looks at other pages: the page says so by itself.
    ann.open(&house.open.url()).await.unwrap();
    ann.wait_until_shown("Clocks").await.unwrap();
    let bob = house.bidder("Bob Müller", "bob@example.com").await;
    house.register(&bob).await;
    bob.wait_until_shown("Your paddle is 2.").await.unwrap();
    bid(&bob, &house, 0, "£550").await;
    ann.wait_until_shown("Outbid on lot 1. The price is £550.").await.unwrap();
    house.assert_faultless(&ann).await;
    let spoken = "document.getElementById('new-notices').getAttribute('role') === 'status'";
    assert_eq!(ann.evaluate(spoken).await.unwrap(), Value::Bool(true));
    let mut message = pushed(&mut service).await;
    while !phone.read(&message).unwrap_or_default().contains("Outbid") {
        message = pushed(&mut service).await;
    }
    let shown: Value = serde_json::from_str(&phone.read(&message).unwrap()).unwrap();
    assert_eq!((&shown["title"], &shown["body"]), (&"Outbid on lot 1: Clocks".into(), &"Clock 1".into()));
    assert!(house.lot(0).ends_with(&format!("/hartley/{}", shown["path"].as_str().unwrap())), "{shown}");

    // The mail says the same. Its link ends mails of its kind without a sign-in.
    let outbid = house.open.mail("ann@example.com", "Outbid on lot 1: Clocks").await;
    assert!(outbid.text.contains("Clock 1") && outbid.text.contains(&house.lot(0)), "{}", outbid.text);
    for hidden in ["Bob", "271828", "2,718"] {
        assert!(!outbid.text.contains(hidden), "{}", outbid.text);
    }
    let link = outbid.text.lines().find_map(|line| line.split_once(" of this kind: ")).unwrap().1.to_owned();
    let stranger = house.open.administration.browser.page().await.unwrap();
    stranger.open(&link).await.unwrap();
    stranger.wait_until_shown("End mails of this kind: Outbid?").await.unwrap();
    house.assert_faultless(&stranger).await;
    stranger.click_through("End these mails").await.unwrap();
    stranger.wait_until_shown("You receive no more mails of this kind: Outbid.").await.unwrap();
    // Mail programs end them with one POST that has no origin (RFC 8058), and may do so again.
    let sender = Sender::of(&house.open);
    let one_click = |link: &str| {
        let (_, path) = link.split_once(&house.open.host).unwrap();
        let form: &[(&str, &str)] = &[("List-Unsubscribe", "One-Click")];
        let answer = sender.send(&format!("{path}/one-click"), Some(form), &["Origin:", "Sec-Fetch-Site:"]);
        (answer.status, answer.body)
    };
    assert_eq!(one_click(&link), (200, "You receive no more mails of this kind.\n".to_owned()));
    let (start, last) = link.split_at(link.len() - 1);
    let other = if last == "0" { "1" } else { "0" };
    assert_eq!(one_click(&format!("{start}{other}")).0, 404);

    // The list has it until she has read it, and her choices show what she ended.
    ann.open(&format!("{}/notices", house.open.url())).await.unwrap();
    ann.wait_until_shown("Outbid on lot 1. The price is £550.").await.unwrap();
    house.assert_faultless(&ann).await;
    ann.click_through("Mails and notices").await.unwrap();
    ann.wait_until_shown("Send me a mail when").await.unwrap();
    house.assert_faultless(&ann).await;
    let chosen = "[...document.querySelectorAll('[name=mails]:checked')].map((box) => box.value).join()";
    let all_but_outbid = "won,not_won,sale_began,lot_soon,registration_decided,limit_decided,message,offer";
    assert_eq!(ann.text(chosen).await.unwrap(), all_but_outbid);

    // Bob buys lot 1 now: she reads that it is not hers, and he that it is his.
    bob.open(&house.lot(0)).await.unwrap();
    bob.wait_until_shown("Buy now for £9,000").await.unwrap();
    press_twice(&bob, "buy", "Confirm").await;
    house.open.mail("bob@example.com", "Yours: lot 1 at £9,000").await;
    ann.wait_until_shown("Lot 1 was sold for £9,000, not to you.").await.unwrap();
    house.open.mail("ann@example.com", "Lot 1 has ended: Clocks").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_bidder_hears_that_they_were_outbid_on_sqlite() {
    a_bidder_hears_that_they_were_outbid(None).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_bidder_hears_that_they_were_outbid_on_postgresql() {
    a_bidder_hears_that_they_were_outbid(Some(testkit::postgres::fresh_database().await.unwrap())).await;
}
