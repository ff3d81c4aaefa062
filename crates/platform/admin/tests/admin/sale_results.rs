//! Ends, registrations, and what follows a sale.

use contract::{AuctionStatus, ItemStatus};
use platform_core::sales::items::hammer_price::HammerPrice;
use platform_core::sales::items::post_sale::PostSaleOffer;

use crate::sale_fixture::{Sale, staff};

#[tokio::test]
async fn ends_are_shown_before_they_move() {
    let mut sale = Sale::new(AuctionStatus::Live, &["A jug", "A bowl", "A spoon"]).await;
    sale.operator.get(&sale.path("/ends")).await.is(200).shows("Extend or shift").shows("value=\"2026-12-04T19:00\"");
    let before = sale.item(1).await.end_time;
    let preview = sale.operator.get(&sale.path("/ends?do=shift&minutes=30&range=2-3")).await;
    preview.is(200).shows("Not possible: Lot 2: A reason is required");
    let preview = sale.operator.get(&sale.path("/ends?do=shift&minutes=30&range=2-3,9&reason=Slow+site")).await;
    preview.shows("2 ends move").shows("Fri 4 Dec 2026, 19:30").shows("No lot has these numbers: 9");
    assert_eq!(sale.item(1).await.end_time, before, "a preview changes nothing");
    let version = preview.between("name=\"version\" value=\"", "\"");
    let fields =
        [("do", "shift"), ("minutes", "30"), ("range", "2-3"), ("reason", "Slow site"), ("version", version.as_str())];
    sale.operator.submit(&sale.path("/ends"), &fields).await.shows("The ends were moved.");
    assert_eq!(sale.item(1).await.end_time, Some("2026-12-04T19:30:00Z".parse().unwrap()));
    assert_eq!(sale.item(0).await.end_time, Some("2026-12-04T19:00:00Z".parse().unwrap()));
    let preview = sale.operator.get(&sale.path("/ends?do=shift&minutes=-5&reason=x")).await;
    preview.shows("Not possible").hides("<button>Move ends</button>");
    sale.operator.get(&sale.path("/ends?do=shift&minutes=soon")).await.is(422).shows("Write a whole number of minutes");
    let plan = sale
        .operator
        .get(&sale.path("/ends?do=plan&endsAt=2026-12-05T10:00&staggerSeconds=60&staggerItems=1&reason=New+day"))
        .await;
    plan.is(200).shows("3 ends move").shows("Sat 5 Dec 2026, 10:02");
}

#[tokio::test]
async fn registrations_are_approved_in_bulk_and_declined_with_a_reason() {
    let mut sale = Sale::new(AuctionStatus::Preview, &["A jug"]).await;
    for (name, limit) in [("Ada", "1,000"), ("Ben", ""), ("Cy <i>", "")] {
        let fields = [("name", name), ("limit", limit), ("status", "pending")];
        sale.operator.submit(&sale.path("/registrations/new"), &fields).await.shows("was registered.");
    }
    let list = sale.operator.get(&sale.path("/registrations?status=pending")).await;
    list.shows("Ada").shows("£1,000").shows("Cy &#60;i&#62;").hides("Cy <i>").shows("Approve selected");
    let ids: Vec<String> = list
        .text
        .split("form=\"approve\" name=\"registration\" value=\"")
        .skip(1)
        .map(|rest| rest.split('"').next().unwrap().to_owned())
        .collect();
    assert_eq!(ids.len(), 3);
    sale.operator.get(&sale.path("")).await.shows("3 registrations wait");
    let place = [("list", "status=pending")];
    let fields = [&place[..], &[("registration", ids[0].as_str()), ("registration", ids[1].as_str())]].concat();
    let approved = sale.operator.submit(&sale.path("/registrations/approve"), &fields).await;
    approved.shows("2 registrations were approved.").shows("Cy &#60;i&#62;").hides("Ada");
    // A second press, and a page that was opened before someone decided, change nothing and say so.
    let again = sale.operator.submit(&sale.path("/registrations/approve"), &fields).await;
    again.is(200).shows("2 registrations were not approved: decided on since you opened the page");
    let none = sale.operator.submit(&sale.path("/registrations/approve"), &place).await;
    none.is(200).shows("No registration was selected.");
    let ids: Vec<&str> = ids.iter().map(|id| id.split('.').next().unwrap()).collect();
    let decide = sale.path(&format!("/registrations/{}/decide", ids[2]));
    let page = sale.operator.get(&format!("{decide}?to=refused")).await;
    let version = page
        .is(200)
        .shows("Decline registration")
        .shows("The identity could not be confirmed")
        .between("name=\"version\" value=\"", "\"");
    sale.operator.post(&decide, &[("to", "refused"), ("version", &version)]).await.is(422).shows("Give a reason.");
    let fields = [("to", "refused"), ("version", version.as_str()), ("reason", "Registered twice")];
    sale.operator.submit(&decide, &fields).await.shows("Declined").shows("Registered twice");
    let edit = sale.path(&format!("/registrations/{}/edit", ids[0]));
    let version = sale.operator.get(&edit).await.shows("value=\"1000\"").between("name=\"version\" value=\"", "\"");
    let fields = [("version", version.as_str()), ("name", "Ada"), ("paddle", "117"), ("limit", "2500")];
    sale.operator.submit(&edit, &fields).await.shows("<b>117</b>").shows("£2,500");
    sale.operator.get(&sale.path("/registrations?paddle=117")).await.shows("Ada").hides("Ben");
}

#[tokio::test]
async fn results_show_amounts_and_a_sale_is_reopened_with_its_consequence_shown_first() {
    let mut sale = Sale::new(AuctionStatus::Live, &["A jug", "A bowl"]).await;
    sale.bid(0, "7", 8_000).await;
    sale.end().await;
    sale.operator = sale.sign_in_again().await;
    assert_eq!([sale.item(0).await.status, sale.item(1).await.status], [ItemStatus::Sold, ItemStatus::Unsold]);
    let results = sale.operator.get(&sale.path("/results")).await;
    results.is(200).shows("1 of 2 (50\u{a0}%)").shows("Paddle 7").shows("£50.00").shows("Buyers: 1");
    sale.operator.get(&sale.path("/results?show=unsold")).await.shows("A bowl").hides("A jug");
    sale.operator.get(&sale.path("/lots/results.csv")).await.is(200).shows("SOLD,7,50.00");
    let timeline = sale.operator.get(&sale.path("/timeline")).await;
    timeline.shows("Its end was reached").shows("Lot 1").shows("The clock").shows(&format!("{}.", sale.items[0].uuid));
    sale.operator.get(&sale.lot(0, "")).await.shows("Its end was reached").shows("Show deliveries");
    sale.operator
        .get(&sale.lot(0, "/deliveries?sequence=2"))
        .await
        .is(200)
        .shows("Not sent: the customer is not connected.");
    // What did not sell is relisted in another auction.
    let copied =
        sale.operator.submit(&sale.path("/copy"), &[("title", "Next"), ("shiftDays", "30"), ("items", "none")]).await;
    let into = copied.between("<code id=\"auction-id\">", "<");
    sale.operator
        .get(&sale.path("/results/relist"))
        .await
        .is(200)
        .shows("Next (Draft")
        .shows("<b>1 lot</b> ended unsold");
    let lots = sale.operator.submit(&sale.path("/results/relist"), &[("into", &into)]).await;
    lots.shows("1 unsold lot was relisted.").shows("A bowl").hides("A jug");
    sale.operator
        .get(&sale.path("/results/relist"))
        .await
        .is(200)
        .shows("No lot to relist")
        .hides("<button>Relist lots");
}

#[tokio::test]
async fn an_unpaid_lot_is_unsold_and_a_post_sale_offer_sells_it_again() {
    let mut sale = Sale::new(AuctionStatus::Live, &["A jug"]).await;
    sale.bid(0, "7", 8_000).await;
    sale.end().await;
    sale.operator = sale.sign_in_again().await;
    let fields = [("name", "Ada"), ("paddle", "12"), ("status", "approved")];
    sale.operator.submit(&sale.path("/registrations/new"), &fields).await;
    let confirm = sale.operator.get(&sale.lot(0, "/status?to=UNSOLD")).await;
    let version = confirm
        .is(200)
        .shows("The buyer did not pay £50.00 (Paddle 7)")
        .shows("No event is sent: Hammer &#38; Sons is not connected")
        .between("name=\"version\" value=\"", "\"");
    let fields = [("to", "UNSOLD"), ("version", version.as_str()), ("reason", "Never paid")];
    sale.operator.submit(&sale.lot(0, "/status"), &fields).await.shows("Unsold").shows("Never paid");
    for page in [sale.path("/timeline"), sale.lot(0, "")] {
        sale.operator.get(&page).await.is(200).shows("<div>Unpaid <p").shows("Never paid").hides("<div>Changed <p");
    }
    let form = sale.operator.get(&sale.lot(0, "/offer")).await;
    let version = form.is(200).shows("The reserve is £50.00; an offer may lie below it.");
    let version = version.between("name=\"version\" value=\"", "\"");
    let fields = [("version", version.as_str()), ("buyer", "99"), ("amount", "45"), ("reason", "Telephone")];
    sale.operator.post(&sale.lot(0, "/offer"), &fields).await.is(422).shows("aria-invalid=\"true\"");
    let fields = [("version", version.as_str()), ("buyer", "12"), ("amount", "£45"), ("reason", "Telephone")];
    let sold = sale.operator.submit(&sale.lot(0, "/offer"), &fields).await;
    sold.shows("The post-sale offer was recorded").shows("Paddle 12").shows("£45");
    sold.shows("<td data-of=\"From\">Post-sale offer</td>");
    sale.operator.get(&sale.path("/results")).await.shows("£45.00").shows("Paddle 12");
}

#[tokio::test]
async fn several_unpaid_lots_of_a_buyer_are_recorded_at_once() {
    let mut sale = Sale::new(AuctionStatus::Live, &["A jug", "A bowl", "A spoon"]).await;
    for (place, paddle) in [(0, "7"), (1, "7"), (2, "8")] {
        sale.bid(place, paddle, 8_000).await;
    }
    sale.end().await;
    sale.operator = sale.sign_in_again().await;
    let page = sale.path("/results/unpaid");
    sale.operator.get(&sale.path("/results")).await.shows("/results/unpaid?buyer=7").shows("/results/unpaid?buyer=8");
    let form = sale.operator.get(&format!("{page}?buyer=7")).await;
    form.is(200).shows("A jug").shows("A bowl").hides("A spoon").shows("asks once").hides(" checked");
    sale.operator.get(&format!("{page}?buyer=8")).await.is(200).shows(" checked");
    let [jug, bowl, spoon] = [0, 1, 2].map(|place| sale.items[place].uuid.to_string());
    let fields = [("buyer", "7"), ("reason", "Never paid")];
    sale.operator.post(&page, &fields).await.is(422).shows("Select at least one lot.");
    let fields = [("buyer", "7"), ("lot", &*jug), ("lot", &*spoon), ("reason", "Never paid")];
    sale.operator.post(&page, &fields).await.is(422).shows("Lot 3 is not sold to this buyer");
    let fields = [("buyer", "7"), ("lot", &*jug), ("lot", &*bowl), ("reason", "")];
    sale.operator.post(&page, &fields).await.is(422).shows("Give a reason.");
    assert_eq!(sale.item(0).await.status, ItemStatus::Sold);
    let fields = [("buyer", "7"), ("lot", &*jug), ("lot", &*bowl), ("reason", "Never paid")];
    let asked = sale.operator.post(&page, &fields).await;
    asked.is(200).shows("2 lots, £100.00").shows("A jug").shows("A bowl").hides("A spoon").shows("This is final.");
    assert_eq!(sale.item(0).await.status, ItemStatus::Sold, "nothing is recorded before it is confirmed");
    let back = [fields.as_slice(), &[("back", "yes")]].concat();
    sale.operator.post(&page, &back).await.is(200).shows(" checked").hides("A spoon");
    let other_sum = [fields.as_slice(), &[("confirmed", "5000")]].concat();
    sale.operator.post(&page, &other_sum).await.is(200).shows("This is final.");
    let confirmed = [fields.as_slice(), &[("confirmed", "10000")]].concat();
    sale.operator.submit(&page, &confirmed).await.shows("2 lots are unsold, £100.00 in all: their buyer did not pay.");
    assert_eq!([sale.item(0).await.status, sale.item(1).await.status], [ItemStatus::Unsold; 2]);
    assert_eq!(sale.item(2).await.status, ItemStatus::Sold);
    sale.operator.get(&format!("{page}?buyer=7")).await.is(200).shows("No lot is sold to paddle 7");
}

#[tokio::test]
async fn a_paddle_that_looks_like_another_is_registered_after_a_confirmation() {
    let mut sale = Sale::new(AuctionStatus::Live, &["A jug"]).await;
    let page = sale.path("/registrations/new");
    sale.operator.submit(&page, &[("name", "Jane"), ("paddle", "101"), ("status", "approved")]).await;
    let fields = [("name", "Ben"), ("paddle", " 0101 "), ("status", "approved")];
    sale.operator.post(&page, &fields).await.is(422).shows("Paddle 101 (Jane) is registered. Did you mean it?");
    let fields = [("name", "Ben"), ("paddle", "00101"), ("status", "approved"), ("confirmed", "0101")];
    sale.operator.post(&page, &fields).await.is(422).shows("Yes, 00101 is another bidder");
    let fields = [("name", "Ben"), ("paddle", "0101"), ("status", "approved"), ("confirmed", "0101")];
    sale.operator.submit(&page, &fields).await.shows("was registered.");
}

#[tokio::test]
async fn the_price_of_a_sale_to_an_offer_is_corrected() {
    let mut sale = Sale::new(AuctionStatus::Live, &["A jug"]).await;
    sale.end().await;
    sale.operator = sale.sign_in_again().await;
    let fields = [("name", "Ada"), ("paddle", "12"), ("status", "approved")];
    sale.operator.submit(&sale.path("/registrations/new"), &fields).await;
    let version = sale.operator.get(&sale.lot(0, "/offer")).await.between("name=\"version\" value=\"", "\"");
    let fields = [("version", version.as_str()), ("buyer", "12"), ("amount", "45000"), ("reason", "Telephone")];
    let asked = sale.operator.post(&sale.lot(0, "/offer"), &fields).await;
    asked
        .is(422)
        .shows("£45,000.00 is more than five times the high estimate, £90.00.")
        .shows("An offer of £45,000.00 is right");
    let fields = [("version", version.as_str()), ("buyer", "12"), ("amount", "450"), ("reason", "Telephone")];
    sale.operator.submit(&sale.lot(0, "/offer"), &fields).await.shows("The post-sale offer was recorded");
    let results = sale.operator.get(&sale.path("/results")).await;
    results.shows("Correct hammer price").shows("Change buyer");
    // What can be corrected is behind one button of the row.
    let menu = results.between("<details class=\"row-menu\"", "</details>");
    assert!(menu.contains("Correct lot 1") && menu.contains("Change buyer 1"), "{menu}");
    let form = sale.operator.get(&sale.lot(0, "/hammer-price?results=show%3Dsold")).await;
    form.shows("name=\"results\" value=\"show=sold\"").shows(&sale.path("/results?show=sold#lot-0"));
    let version = form.is(200).shows("Now: £450.00 to Paddle 12").between("name=\"version\" value=\"", "\"");
    let fields = [("version", version.as_str()), ("amount", "4x"), ("reason", "Misread")];
    sale.operator.post(&sale.lot(0, "/hammer-price"), &fields).await.is(422);
    let fields = [("version", version.as_str()), ("amount", "45"), ("reason", "A zero too many")];
    let asked = sale.operator.post(&sale.lot(0, "/hammer-price"), &fields).await;
    asked
        .is(422)
        .shows("£45.00 is less than a fifth of the price, £450.00.")
        .shows("£45.00 instead of £450.00 is right");
    let confirmed = asked.between("type=\"checkbox\" value=\"", "\"");
    // The tick is for this amount only.
    let fields = [("version", &*version), ("amount", "4"), ("reason", "A zero too many"), ("unusual", &*confirmed)];
    sale.operator.post(&sale.lot(0, "/hammer-price"), &fields).await.is(422).shows("£4.00 instead of £450.00");
    let fields = [("version", &*version), ("amount", "45"), ("reason", "A zero too many"), ("unusual", &*confirmed)];
    let from_results = [&[("results", "show=sold")], &fields[..]].concat();
    let results = sale.operator.submit(&sale.lot(0, "/hammer-price"), &from_results).await;
    results.shows("Lot 1. The hammer price was corrected").shows("Sold</a>").shows("Correct hammer price");
    sale.operator.get(&sale.path("/results")).await.shows("£45.00").hides("£450.00");
    // The timeline of the sale and the page of the lot show the correction in the same words, with who made it.
    for page in [sale.path("/timeline"), sale.lot(0, "")] {
        let shown = sale.operator.get(&page).await;
        shown.is(200).shows("Price corrected: £450 to £45").shows("A zero too many").shows("operator@example.com");
        shown.shows("Sold to an offer after the sale").hides("<div>Changed <p");
    }
    let (form, path) = (sale.operator.get(&sale.lot(0, "/buyer")).await, sale.lot(0, "/buyer"));
    let fields = [("name", "Bea"), ("paddle", "15"), ("status", "approved")];
    sale.operator.submit(&sale.path("/registrations/new"), &fields).await;
    let version = form.is(200).between("name=\"version\" value=\"", "\"");
    let fields = [("version", version.as_str()), ("buyer", "15"), ("reason", "Misheard")];
    sale.operator.submit(&path, &fields).await.shows("The buyer was recorded");
    let timeline = sale.operator.get(&sale.path("/timeline")).await;
    timeline.shows("Buyer corrected: paddle 12 to 15");
    assert!(
        timeline.text.as_str().find("Buyer corrected") < timeline.text.as_str().find("Price corrected"),
        "the latest is not first"
    );
    let nothing = sale.operator.get(&sale.path("/timeline?before=1&until=2020-01-01T00:00:00Z")).await;
    nothing.is(200).hides("corrected");
}

#[tokio::test]
async fn a_mistaken_auction_is_archived_with_a_reason() {
    let mut sale = Sale::new(AuctionStatus::Preview, &["A jug"]).await;
    sale.operator.get(&sale.path("")).await.shows("Archive a mistaken auction");
    let confirm = sale.operator.get(&sale.path("/status?to=ARCHIVED")).await;
    let version = confirm.is(200).shows("1 lot is withdrawn").between("name=\"version\" value=\"", "\"");
    let fields = [("to", "ARCHIVED"), ("version", version.as_str())];
    sale.operator.post(&sale.path("/status"), &fields).await.is(409).shows("Give a reason.");
    let fields = [("to", "ARCHIVED"), ("version", version.as_str()), ("reason", "Entered twice")];
    sale.operator.submit(&sale.path("/status"), &fields).await.shows("Archived").hides("Edit auction");
    assert_eq!(sale.item(0).await.status, ItemStatus::Withdrawn);
}

#[tokio::test]
async fn the_timeline_shows_a_correction_once_however_many_pages_it_has() {
    let mut sale = Sale::new(AuctionStatus::Live, &["A jug"]).await;
    sale.end().await;
    sale.operator = sale.sign_in_again().await;
    let fields = [("name", "Ada"), ("paddle", "12"), ("status", "approved")];
    sale.operator.submit(&sale.path("/registrations/new"), &fields).await;
    let (platform, item) = (sale.fixture.platform.clone(), sale.items[0].uuid);
    // Each round makes two rows of the journal, and the rounds 3 and 39 have a correction between them.
    for round in 1..=40_i64 {
        let offer = PostSaleOffer {
            buyer: "12".into(),
            amount: 6_000 + round,
            reason: "Telephone".into(),
            unusual_amount: false,
        };
        platform.accept_offer(&staff(), item, &offer, None, None).await.unwrap().fresh().unwrap();
        sale.fixture.clock.advance(std::time::Duration::from_secs(1));
        if [3, 39].contains(&round) {
            let right = HammerPrice { amount: 7_000 + round, reason: format!("Round {round}"), unusual_amount: false };
            platform.correct_hammer_price(&staff(), item, &right, None, None).await.unwrap().fresh().unwrap();
        }
        sale.fixture.clock.advance(std::time::Duration::from_secs(1));
        let reason = Some("Never paid".to_owned());
        let unsold = platform.change_item_status(&staff(), item, ItemStatus::Unsold, reason, None, None).await;
        unsold.unwrap().fresh().unwrap();
    }
    let newest = sale.operator.get(&sale.path("/timeline")).await;
    newest.is(200).shows("Price corrected: £60.39 to £70.39").shows("Round 39").hides("Round 3<");
    let older = newest.between("rel=\"next\" href=\"/admin", "\"").replace("&#38;", "&").replace("&amp;", "&");
    let older = sale.operator.get(&older).await;
    older.is(200).shows("Price corrected: £60.03 to £70.03").shows("Round 3<").hides("Round 39").hides("rel=\"next\"");
}
