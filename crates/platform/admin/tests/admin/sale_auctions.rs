//! Auctions: created, filtered, edited, copied, and taken from draft to live with the consequences shown first.

use contract::AuctionStatus;
use platform_core::Role;

use crate::sale_fixture::{Sale, staff};

#[tokio::test]
async fn an_operator_creates_an_auction_and_opens_its_preview() {
    let mut sale = Sale::new(AuctionStatus::Draft, &[]).await;
    let (form, auctioneer) = (sale.operator.get("/auctions/new").await, sale.auctioneer.to_string());
    form.is(200).shows("Hammer &#38; Sons").shows("Hammer London");
    // What may stay empty says so, and only that.
    for label in ["Currency", "Closing time", "Soft close, seconds", "Increments", "Viewing times", "Postcode"] {
        form.shows(&format!("{label} <span class=\"soft\">(optional)</span></label>"));
    }
    form.shows("Title</label>");
    let fields = [
        ("auctioneer", auctioneer.as_str()),
        ("kind", "timed"),
        ("title", "<b>Watches</b>"),
        ("currency", "gbp"),
        ("timeZone", "Europe/London"),
        ("endsAt", "2027-07-04T19:00"),
        ("extensionSeconds", "120"),
        ("staggerSeconds", "30"),
        ("staggerItems", "2"),
        ("premium", "25"),
        ("increments", "0: 1\n100: 10"),
        ("registration", "required"),
    ];
    let page = sale.operator.submit("/auctions/new", &fields).await;
    page.is(200).shows("The auction was created as a draft.").shows("&#60;b&#62;Watches").hides("<b>Watches");
    page.shows("Sun 4 Jul 2027, 19:00\u{a0}BST").shows("25\u{a0}%").shows("Add lots.");

    let id = page.between("<code id=\"auction-id\">", "<");
    let confirm = sale.operator.get(&format!("/auctions/{id}/status?to=PREVIEW")).await;
    confirm
        .is(200)
        .shows("It has no lots yet.")
        .shows("Bidding stays closed")
        .shows("No event is sent: Hammer &#38; Sons is not connected");
    let version = confirm.between("name=\"version\" value=\"", "\"");
    let fields = [("to", "PREVIEW"), ("version", version.as_str())];
    sale.operator.submit(&format!("/auctions/{id}/status"), &fields).await.shows("The status was changed.");
    // A second click with the old version changes nothing.
    let again = sale.operator.post(&format!("/auctions/{id}/status"), &[("to", "DRAFT"), ("version", &version)]).await;
    again.is(409).shows("Someone else changed it");
    sale.operator
        .get(&format!("/auctions/{id}/timeline"))
        .await
        .is(200)
        .shows("Changed by hand")
        .shows("operator@example.com");
}

#[tokio::test]
async fn mistakes_in_the_form_are_shown_beside_their_fields_with_what_was_typed() {
    let mut sale = Sale::new(AuctionStatus::Draft, &[]).await;
    let auctioneer = sale.auctioneer.to_string();
    let fields = [
        ("auctioneer", auctioneer.as_str()),
        ("kind", "timed"),
        ("title", "Clocks"),
        ("currency", "XXQ"),
        ("timeZone", "Mars/Olympus"),
        ("endsAt", "soon"),
        ("premium", "200"),
        ("increments", "5"),
    ];
    let page = sale.operator.post("/auctions/new", &fields).await;
    page.is(422)
        .shows("value=\"Clocks\"")
        .shows("is not a date and time")
        .shows("“200” is not a rate")
        .shows("has no colon");
    let fields = [
        ("auctioneer", auctioneer.as_str()),
        ("kind", "timed"),
        ("title", "Clocks"),
        ("currency", "XXQ"),
        ("timeZone", "Mars/Olympus"),
    ];
    sale.operator.post("/auctions/new", &fields).await.is(422).shows("Is not an ISO 4217 code").shows("IANA time zone");
}

#[tokio::test]
async fn the_list_is_searched_and_filtered_and_says_what_blocks_going_live() {
    let mut sale = Sale::new(AuctionStatus::Draft, &[]).await;
    sale.operator
        .get("/auctions")
        .await
        .is(200)
        .shows("December silver")
        .shows("Add lots.")
        .shows("Ends from Fri 4 Dec 2026, 19:00");
    sale.operator
        .get("/auctions?q=SILVER&kind=timed&status=DRAFT")
        .await
        .shows("December silver")
        .shows("Clear filters");
    for query in ["q=gold", "kind=webcast", "status=LIVE"] {
        sale.operator
            .get(&format!("/auctions?{query}"))
            .await
            .is(200)
            .shows("No matching auctions")
            .hides("December silver</b>");
    }
    sale.operator.get("/auctions?status=NONSENSE&before=x&customer=y").await.is(200).shows("December silver");
}

#[tokio::test]
async fn an_auction_is_edited_and_copied_with_its_lots() {
    let mut sale = Sale::new(AuctionStatus::Draft, &["A jug", "A bowl"]).await;
    let form = sale.operator.get(&sale.path("/edit")).await;
    let version = form.is(200).shows("value=\"2026-12-04T19:00\"").between("name=\"version\" value=\"", "\"");
    let fields = [
        ("version", version.as_str()),
        ("title", "January silver"),
        ("currency", "GBP"),
        ("timeZone", "Europe/London"),
        ("endsAt", "2027-01-08T18:00"),
    ];
    sale.operator
        .submit(&sale.path("/edit"), &fields)
        .await
        .shows("The changes were saved.")
        .shows("Fri 8 Jan 2027, 18:00");
    let stale = sale.operator.post(&sale.path("/edit"), &fields).await;
    stale.is(422).shows("Someone else changed the auction since").shows("If you save again");
    // Saving again replaces the other change, as the page says.
    let versions = ["version", "factsVersion"].map(|name| stale.between(&format!("name=\"{name}\" value=\""), "\""));
    let mut again = fields.to_vec();
    again.retain(|(name, _)| !name.contains("ersion"));
    again.extend([("version", versions[0].as_str()), ("factsVersion", versions[1].as_str())]);
    sale.operator.submit(&sale.path("/edit"), &again).await.is(200).shows("The changes were saved.");
    let fields = [("title", "February silver"), ("shiftDays", "28"), ("items", "all")];
    let copy = sale.operator.submit(&sale.path("/copy"), &fields).await;
    copy.shows("The auction was copied").shows("Fri 5 Feb 2027, 18:00").shows("2 lots");
}

#[tokio::test]
async fn before_a_preview_opens_staff_read_which_lots_it_has() {
    let mut sale = Sale::new(AuctionStatus::Draft, &["A jug", "A bowl"]).await;
    let confirm = sale.path("/status?to=PREVIEW");
    sale.operator.get(&confirm).await.is(200).shows("with 0 of 2 lots: visitors see only lots in preview.");
    let apply = sale.path("/lots/bulk/apply");
    for (place, shown) in [(0, "with 1 of 2 lots:"), (1, "The catalogue can be viewed, with 2 lots.")] {
        let item = sale.item(place).await;
        let lot = format!("{}.{}.DRAFT", item.uuid, item.version);
        sale.operator.post(&apply, &[("action", "PREVIEW"), ("lot", &lot)]).await.is(200).shows("1 lot was changed.");
        sale.operator.get(&confirm).await.is(200).shows(shown);
    }
}

#[tokio::test]
async fn a_viewer_sees_sales_and_changes_nothing() {
    let sale = Sale::new(AuctionStatus::Draft, &["A jug"]).await;
    let mut viewer = sale.fixture.signed_in(Role::Viewer).await;
    viewer.get("/auctions").await.is(200).shows("December silver").hides("Create auction");
    viewer.get(&sale.path("")).await.is(200).hides("Open preview").hides("Edit auction");
    viewer.get(&sale.path("/lots")).await.is(200).shows("A jug").hides("£50").hides("edit=");
    for page in ["/edit", "/copy", "/status?to=PREVIEW", "/lots/new"] {
        viewer.get(&sale.path(page)).await.is(403).shows("Your role is viewer");
    }
    viewer.post(&sale.path("/status"), &[("to", "PREVIEW"), ("version", "1")]).await.is(403);
    let auction = sale.fixture.platform.auction(&staff(), sale.auction).await.unwrap();
    assert_eq!(auction.status, AuctionStatus::Draft);
    // A clerk may not see events, and registrations only to read.
    let mut clerk = sale.fixture.signed_in(Role::Clerk).await;
    clerk.get(&sale.path("")).await.is(200).hides("Timeline");
    clerk.get(&sale.path("/timeline")).await.is(403);
}

#[tokio::test]
async fn a_long_title_is_shortened_with_the_whole_of_it_in_its_title() {
    let mut sale = Sale::new(AuctionStatus::Draft, &["A jug"]).await;
    let title = "Furniture and works of art ".repeat(5).trim().to_owned();
    let form = sale.operator.get(&sale.path("/edit")).await;
    let (version, facts) =
        (form.is(200).between("name=\"version\" value=\"", "\""), form.between("name=\"factsVersion\" value=\"", "\""));
    let fields = [
        ("version", version.as_str()),
        ("factsVersion", facts.as_str()),
        ("title", title.as_str()),
        ("currency", "GBP"),
        ("timeZone", "Europe/London"),
    ];
    let page = sale.operator.submit(&sale.path("/edit"), &fields).await;
    page.is(200).shows(&format!("<h1><span class=\"long\" title=\"{title}\">{title}</span>"));
    let lot = sale.operator.get(&sale.lot(0, "")).await;
    lot.is(200).shows(&format!("title=\"{title}\">{title}</a> ›"));
    sale.operator.get("/auctions").await.shows(&format!("<a class=\"long\" title=\"{title}\""));
}
