//! What the house and its bidders settle with each other, in real browsers: a bidder asks for a higher limit and the house answers, staff
//! read what a bidder sent and write to the bidders of a sale, and a bidder exports what the house holds of them.

use testkit::browser::Page;

use crate::saleroom_bids::{House, bid_up_to};

impl House {
    async fn staff_opens(&self, path: &str, shown: &str) {
        let staff = &self.open.staff;
        staff.open(&self.open.administration.url(path)).await.unwrap();
        staff.wait_until_shown(shown).await.unwrap();
        self.assert_faultless(staff).await;
    }

    fn registrations(&self) -> String {
        format!("/auctions/{}/registrations", self.auction)
    }

    /// Opens the page of the bidder's registration.
    async fn opens_registration(&self, page: &Page) {
        page.open(&format!("{}/sales/{}/register", self.open.url(), self.auction)).await.unwrap();
        page.wait_until_shown("Your paddle is").await.unwrap();
        self.assert_faultless(page).await;
    }
}

async fn a_bidder_asks_for_a_higher_limit(database: Option<String>) {
    let mut house = House::open(database, "at_once").await;
    let ann = house.bidder("Ann Hartley", "ann@example.com").await;
    house.register(&ann).await;
    ann.wait_until_shown("Your paddle is 1.").await.unwrap();
    let staff = &house.open.staff;
    house.staff_opens(&house.registrations(), "Ann Hartley").await;
    staff.click_through("Edit paddle 1").await.unwrap();
    staff.wait_until_shown("Spending limit, GBP").await.unwrap();
    staff.fill("limit", "600").await.unwrap();
    staff.click_through("Save registration").await.unwrap();
    staff.wait_until_shown("£600").await.unwrap();

    ann.open(&house.lot(0)).await.unwrap();
    ann.wait_until_shown("Bid £500").await.unwrap();
    bid_up_to(&ann, "580", "Confirm your maximum of £580").await;
    ann.wait_until_shown("✓ You lead at £500. Your maximum is £580.").await.unwrap();
    house.opens_registration(&ann).await;
    ann.wait_until_shown("Your limit in this sale is £600. £580 of it is taken by lots that you lead or won.")
        .await
        .unwrap();

    // A typed amount that is no higher limit stays in the form, with what is wrong.
    ann.fill("amount", "600").await.unwrap();
    ann.click_through("Ask the house").await.unwrap();
    ann.wait_until_shown("must be more than your limit of £600").await.unwrap();
    house.assert_faultless(&ann).await;
    ann.fill("amount", "5,000").await.unwrap();
    ann.fill("words", "For the second clock, please").await.unwrap();
    ann.click_through("Ask the house").await.unwrap();
    ann.wait_until_shown("You asked for £5,000. The house has not decided yet.").await.unwrap();
    house.assert_faultless(&ann).await;

    // Staff see it on Today, above the registrations, and with what Ann sent.
    house.staff_opens("/", "bidder asks for a higher limit").await;
    house.staff_opens(&house.registrations(), "For the second clock, please").await;
    staff.click_through("Decline higher limit of paddle 1").await.unwrap();
    staff.wait_until_shown("The bidder reads it.").await.unwrap();
    house.assert_faultless(staff).await;
    staff.fill("reason", "We need a deposit first: contact us").await.unwrap();
    staff.click_through("Decline higher limit").await.unwrap();
    staff.wait_until_shown("was told that the limit stays").await.unwrap();
    ann.wait_until_shown("The house did not raise your limit: We need a deposit first: contact us").await.unwrap();
    house.opens_registration(&ann).await;
    ann.fill("amount", "2000").await.unwrap();
    ann.click_through("Ask the house").await.unwrap();
    ann.wait_until_shown("You asked for £2,000.").await.unwrap();

    house.staff_opens(&house.registrations(), "£2,000").await;
    staff.click_through("1").await.unwrap();
    staff.wait_until_shown("What the bidder sent").await.unwrap();
    staff.wait_until_shown("Asks for a limit of £2,000").await.unwrap();
    house.assert_faultless(staff).await;
    staff.click_through("Raise limit").await.unwrap();
    staff.wait_until_shown("New limit, GBP").await.unwrap();
    house.assert_faultless(staff).await;
    staff.evaluate("document.querySelector('main form button').click()").await.unwrap();
    staff.wait_until_shown("was given another limit").await.unwrap();
    ann.wait_until_shown("Your limit in this sale is now £2,000.").await.unwrap();
    ann.open(&format!("{}/my-bids", house.open.url())).await.unwrap();
    ann.wait_until_shown("Your limit in this sale is £2,000. £580 of it is taken").await.unwrap();
    house.assert_faultless(&ann).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_bidder_asks_for_a_higher_limit_on_sqlite() {
    a_bidder_asks_for_a_higher_limit(None).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_bidder_asks_for_a_higher_limit_on_postgres() {
    a_bidder_asks_for_a_higher_limit(Some(testkit::postgres::fresh_database().await.unwrap())).await;
}

async fn staff_write_to_bidders_and_a_bidder_exports_their_data(database: Option<String>) {
    let mut house = House::open(database, "at_once").await;
    let ann = house.bidder("Ann Hartley", "ann@example.com").await;
    house.register(&ann).await;
    ann.wait_until_shown("Your paddle is 1.").await.unwrap();
    ann.open(&house.lot(0)).await.unwrap();
    ann.wait_until_shown("Bid £500").await.unwrap();
    bid_up_to(&ann, "580", "Confirm your maximum of £580").await;
    ann.wait_until_shown("✓ You lead at £500.").await.unwrap();
    let bob = house.bidder("Bob Müller", "bob@example.com").await;
    house.register(&bob).await;
    bob.wait_until_shown("Your paddle is 2.").await.unwrap();

    let staff = &house.open.staff;
    house.staff_opens(&house.registrations(), "Bob Müller").await;
    staff.click_through("Shared addresses").await.unwrap();
    staff.wait_until_shown("Nothing is shared").await.unwrap();
    house.assert_faultless(staff).await;
    house.staff_opens(&house.registrations(), "Bob Müller").await;
    staff.click_through("Write to bidders").await.unwrap();
    staff.wait_until_shown("2 approved bidders: 2 on the pages of the saleroom, 2 by mail.").await.unwrap();
    staff.fill("subject", "Viewing on Friday").await.unwrap();
    staff.fill("text", "From nine to five.\nCome to the back door.").await.unwrap();
    house.assert_faultless(staff).await;
    staff.click_through("Preview message").await.unwrap();
    staff.wait_until_shown("Come to the back door.").await.unwrap();
    house.assert_faultless(staff).await;
    staff.click_through("Send message").await.unwrap();
    staff.wait_until_shown("The message was sent.").await.unwrap();
    house.assert_faultless(staff).await;
    for page in [&ann, &bob] {
        page.wait_until_shown(": Viewing on Friday").await.unwrap();
        page.open(&format!("{}/notices", house.open.url())).await.unwrap();
        page.wait_until_shown("Come to the back door.").await.unwrap();
        house.assert_faultless(page).await;
    }
    let mut mailed = Vec::new();
    while mailed.len() < 2 {
        let mail = tokio::time::timeout(crate::support::WAIT_MAX, house.open.mails.next()).await.unwrap().unwrap();
        if mail.subject == "Viewing on Friday" {
            assert!(mail.text.contains("From nine to five.\nCome to the back door.\n"), "{}", mail.text);
            mailed.push(mail.to);
        }
    }
    mailed.sort();
    assert_eq!(mailed, ["ann@example.com", "bob@example.com"]);

    ann.open(&format!("{}/account", house.open.url())).await.unwrap();
    ann.wait_until_shown("Export my data").await.unwrap();
    house.assert_faultless(&ann).await;
    let file = "(async () => { const form = document.querySelector('form[action$=\"/account/export\"]'); \
         return (await fetch(form.action, { method: 'POST', headers: { 'content-type': 'application/x-www-form-urlencoded' } })).text() })()";
    let text = ann.text(file).await.unwrap();
    let export: serde_json::Value = serde_json::from_str(&text).unwrap_or_else(|_| panic!("{text}"));
    assert_eq!(export["format"], "lotwire.bidder.1");
    let own = (&export["email"], &export["sales"][0]["paddle"], &export["sales"][0]["bids"][0]["maximum"]);
    assert_eq!(own, (&"ann@example.com".into(), &"1".into(), &58_000.into()), "{text}");
    assert!(text.contains("Come to the back door.") && !text.contains("Bob"), "{text}");
}

#[tokio::test(flavor = "multi_thread")]
async fn staff_write_to_bidders_on_sqlite() {
    staff_write_to_bidders_and_a_bidder_exports_their_data(None).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn staff_write_to_bidders_on_postgres() {
    let database = testkit::postgres::fresh_database().await.unwrap();
    staff_write_to_bidders_and_a_bidder_exports_their_data(Some(database)).await;
}
