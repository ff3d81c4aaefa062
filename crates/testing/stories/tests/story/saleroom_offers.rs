//! Offers after the sale, in real browsers: staff offer a passed lot to a bidder, who reads it among their bids, in a notice and in a mail,
//! and accepts or declines it on the page of the lot.

use serde_json::json;
use testkit::browser::Page;

use crate::saleroom_bids::{House, press, press_twice};
use crate::saleroom_live::IS_LIVE;
use crate::support::{Clerk, WAIT_MAX};

impl House {
    /// Staff offer a lot to a paddle, and see it on the lot.
    async fn staff_offer(&self, lot: usize, paddle: &str, amount: &str) {
        let staff = &self.open.staff;
        staff.open(&self.open.administration.url(&self.staff_lot(lot))).await.unwrap();
        staff.click_through("Offer to a bidder").await.unwrap();
        staff.wait_until_shown("You can withdraw the offer until the bidder answers.").await.unwrap();
        self.assert_faultless(staff).await;
        staff.fill("buyer", paddle).await.unwrap();
        staff.fill("amount", amount).await.unwrap();
        staff.click_through("Offer to a bidder").await.unwrap();
    }

    fn staff_lot(&self, lot: usize) -> String {
        format!("/auctions/{}/lots/{}", self.auction, self.lots[lot])
    }

    /// A LIVE webcast with premium and taxes, whose two lots were passed.
    async fn with_passed_lots(database: Option<String>) -> Self {
        let mut house = Self::open(database, "at_once").await;
        let lot = |number: &str| json!({ "lotNumber": number, "title": format!("Clock {number}"), "status": "LIVE", "openingBid": 50_000 });
        let webcast = json!({
            "kind": "webcast", "title": "Clocks, live", "status": "LIVE", "items": [lot("1"), lot("2")],
            "startsAt": house.open.site.in_ms(0),
            "charges": { "premiumBasisPoints": 2_500, "hammerTaxBasisPoints": 0, "premiumTaxBasisPoints": 2_000 },
        });
        house.follow(house.open.site.create_auction(webcast).await.unwrap()).await;
        house
    }

    async fn pass_lots(&self) {
        let clerk = Clerk::new(self.open.site.platform.clone(), &self.auction);
        for item in self.open.site.items(&self.auction).await.unwrap() {
            clerk.pass(&item).await;
        }
    }

    async fn status(&self, lot: usize) -> String {
        let items = self.open.site.items(&self.auction).await.unwrap();
        items[lot]["status"].as_str().unwrap().to_owned()
    }
}

async fn opens_lot(page: &Page, house: &House, lot: usize, shown: &str) {
    page.open(&house.lot(lot)).await.unwrap();
    page.wait_until_shown(shown).await.unwrap();
    house.assert_faultless(page).await;
}

/// A script that accepts an offer, and returns the status and the words of the answer.
fn acceptance(lot: &str, offer: &str) -> String {
    format!(
        "(async () => {{ const body = new URLSearchParams({{ offer: {}, answer: 'accept', confirmed: 'yes' }}); \
        const answer = await fetch('{lot}/offer', {{ method: 'POST', body }}); \
        const page = new DOMParser().parseFromString(await answer.text(), 'text/html'); \
        return `${{answer.status}} ${{page.getElementById('bid-answer').textContent}}`; }})()",
        json!(offer),
    )
}

async fn a_bidder_answers_offers_of_the_house(database: Option<String>) {
    let mut house = House::with_passed_lots(database).await;
    let ann = house.bidder("Ann Hartley", "ann@example.com").await;
    house.register(&ann).await;
    ann.wait_until_shown("Your paddle is 1.").await.unwrap();
    house.pass_lots().await;
    let staff = &house.open.staff;

    // A paddle without a registration is refused beside the field, and nothing is offered.
    house.staff_offer(0, "77", "480").await;
    staff.wait_until_shown("Paddle 77 is not registered").await.unwrap();
    house.assert_faultless(staff).await;
    house.staff_offer(0, "1", "480").await;
    staff.wait_until_shown("The lot was offered to the bidder, who receives a notice.").await.unwrap();
    staff.wait_until_shown("Waits for the bidder").await.unwrap();
    house.assert_faultless(staff).await;
    let actions = staff.text("document.querySelector('main').innerText").await.unwrap();
    assert!(!actions.contains("Offer to a bidder"), "a second offer while one is open: {actions}");
    staff.open(&house.open.administration.url(&format!("/auctions/{}", house.auction))).await.unwrap();
    staff.wait_until_shown("Offers to bidders").await.unwrap();
    house.assert_faultless(staff).await;

    // Ann never bid on the lot. The page that she looks at says so by itself, and My bids has it first.
    let offered = "The house offers you lot 1 at £480. £624 with premium and taxes. Answer before ";
    ann.wait_until_shown(offered).await.unwrap();
    ann.open(&format!("{}/my-bids", house.open.url())).await.unwrap();
    ann.wait_until_shown(offered).await.unwrap();
    assert_eq!(ann.text("document.querySelector('main h2').innerText").await.unwrap(), "Offered to you");
    house.assert_faultless(&ann).await;
    ann.click_through("Answer the offer").await.unwrap();
    ann.wait_until_shown("Accept: buy for £480").await.unwrap();
    house.assert_faultless(&ann).await;
    press(&ann, "accept").await;
    ann.wait_until_shown("Confirm: buy for £480").await.unwrap();
    assert_eq!(house.status(0).await, "PASSED", "the first press buys nothing");
    let later = house.other_device().await;
    opens_lot(&later, &house, 0, "Accept: buy for £480").await;
    let offer = later.text("document.querySelector('[data-bid=accept] [name=offer]').value").await.unwrap();
    // A tab behind another one has slow timers.
    ann.show().await.unwrap();
    ann.open(&house.lot(0)).await.unwrap();
    ann.wait_until_shown("Accept: buy for £480").await.unwrap();
    ann.wait_until(IS_LIVE).await.unwrap();
    // While the link is lost, the page says so; the same answer is sent again.
    ann.evaluate("{ const real = fetch; let lost = 2; window.fetch = (...call) => (lost-- > 0 ? Promise.reject(new TypeError('lost')) : real(...call)); }")
        .await
        .unwrap();
    press_twice(&ann, "accept", "Confirm: buy for £480").await;
    ann.wait_until_shown("✓ You bought the lot for £480. My bids says how to pay and collect.").await.unwrap();
    house.assert_faultless(&ann).await;
    assert_eq!(house.status(0).await, "SOLD");
    // The page on the other device says so by itself. A press that was on its way gets the same answer, and sells nothing twice.
    later.wait_until_shown("✓ Yours at £480, paddle 1.").await.unwrap();
    let answer = later.text(&acceptance(&house.lot(0), &offer)).await.unwrap();
    assert_eq!(answer, "200 ✓ You bought the lot for £480. My bids says how to pay and collect.");
    staff.open(&house.open.administration.url(&house.staff_lot(0))).await.unwrap();
    staff.wait_until_shown("Accepted").await.unwrap();
    house.assert_faultless(staff).await;

    // Without script, the first press loads a page that asks.
    house.staff_offer(1, "1", "300").await;
    staff.wait_until_shown("Waits for the bidder").await.unwrap();
    let plain = house.other_device().await;
    plain.disable_script().await.unwrap();
    plain.open(&house.lot(1)).await.unwrap();
    plain.wait_until_shown("Accept: buy for £300").await.unwrap();
    plain.click_through("Decline").await.unwrap();
    plain.wait_until_shown("Confirm: decline").await.unwrap();
    plain.click_through("Confirm: decline").await.unwrap();
    plain.wait_until_shown("You declined the offer.").await.unwrap();
    staff.open(&house.open.administration.url(&house.staff_lot(1))).await.unwrap();
    staff.wait_until_shown("Declined").await.unwrap();

    // Staff withdraw the next one while Ann looks at it.
    house.staff_offer(1, "1", "280").await;
    staff.wait_until_shown("Waits for the bidder").await.unwrap();
    opens_lot(&ann, &house, 1, "Accept: buy for £280").await;
    let offer = ann.text("document.querySelector('[data-bid=accept] [name=offer]').value").await.unwrap();
    staff.click_through("Withdraw offer to paddle 1").await.unwrap();
    staff.wait_until_shown("The bidder can't accept it any more.").await.unwrap();
    house.assert_faultless(staff).await;
    staff.click_through("Withdraw offer").await.unwrap();
    staff.wait_until_shown("The offer was withdrawn.").await.unwrap();
    // Her page says so by itself. A press that was on its way buys nothing.
    let withdrawn = "The house has withdrawn the offer. Nothing was bought.";
    ann.wait_until_shown(withdrawn).await.unwrap();
    assert!(!ann.text("document.body.innerText").await.unwrap().contains("Accept: buy"));
    house.assert_faultless(&ann).await;
    let answer = later.text(&acceptance(&house.lot(1), &offer)).await.unwrap();
    assert_eq!(answer, format!("409 {withdrawn}"));
    assert_eq!(house.status(1).await, "PASSED");

    // Ann signs out elsewhere while a page shows her an offer: the page says why the offer is gone.
    house.staff_offer(1, "1", "270").await;
    staff.wait_until_shown("Waits for the bidder").await.unwrap();
    opens_lot(&ann, &house, 1, "Accept: buy for £270").await;
    later.open(&format!("{}/account", house.open.url())).await.unwrap();
    later.click_through("Sign out").await.unwrap();
    later.wait_until_shown("You are signed out.").await.unwrap();
    ann.show().await.unwrap();
    ann.wait_until_shown("You are signed out. Sign in to see where you stand.").await.unwrap();
    house.assert_faultless(&ann).await;
    ann.click_through("Sign in").await.unwrap();
    ann.wait_until_at("/hartley/sign-in").await.unwrap();

    let mut subjects = Vec::new();
    while !["Offered to you: lot 1 at £480", "Yours: lot 1 at £480"]
        .iter()
        .all(|wanted| subjects.contains(&(*wanted).to_owned()))
    {
        let mail = tokio::time::timeout(WAIT_MAX, house.open.mails.next()).await.expect("a mail is missing").unwrap();
        if mail.subject.starts_with("Offered to you: lot 1") {
            assert!(mail.text.contains("With premium and taxes: £624"), "{}", mail.text);
            assert!(mail.text.contains("Answer before ") && mail.text.contains(&house.lot(0)), "{}", mail.text);
        }
        subjects.push(mail.subject);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_bidder_answers_offers_of_the_house_on_sqlite() {
    a_bidder_answers_offers_of_the_house(None).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_bidder_answers_offers_of_the_house_on_postgres() {
    a_bidder_answers_offers_of_the_house(Some(testkit::postgres::fresh_database().await.unwrap())).await;
}
