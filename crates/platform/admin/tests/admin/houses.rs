//! The house: its form and logo, conditions of sale, and what bidders read about a sale.

use contract::AuctionStatus;
use platform_core::Role;
use testkit::picture::picture;

use crate::fixture::Fixture;
use crate::sale_fixture::{Sale, staff};

const HOUSE: [(&str, &str); 9] = [
    ("currency", "eur"),
    ("timeZone", "Europe/Berlin"),
    ("email", "hello@hammer.example"),
    ("website", "https://hammer.example"),
    ("line1", "Königsallee 1"),
    ("postcode", "40212"),
    ("country", "de"),
    ("payment", "By transfer.\r\n\r\nWithin a week."),
    ("version", "0"),
];

#[tokio::test]
async fn a_house_gets_contact_texts_and_a_logo() {
    let fixture = Fixture::new();
    let house = fixture.customer("Hammer & Sons").await;
    let (page, form) = (format!("/customers/{house}"), format!("/customers/{house}/house"));
    let mut support = fixture.signed_in(Role::Support).await;
    support.get(&page).await.is(200).shows("None of them is entered yet").shows("none yet");
    let wrong = HOUSE.map(|(name, value)| match name {
        "currency" => (name, "euros"),
        "website" => (name, "hammer.example"),
        _ => (name, value),
    });
    let refused = support.upload_fields(&form, &wrong, "logo", &[]).await;
    refused.is(422).shows("three letters").shows("address of a web site").shows("Königsallee 1");

    let logo = picture(1);
    support.upload_fields(&form, &HOUSE, "logo", &[("logo.jpg", &logo)]).await.is(303);
    let shown = support.get(&page).await;
    shown.is(200).shows("Königsallee 1, 40212, DE").shows("By transfer.\n\nWithin a week.").shows("EUR");
    let address = shown.between("house-logo\"><img src=\"/admin", "\"");
    let image = support.get(&address).await;
    assert_eq!(image.is(200).header("content-type"), Some("image/jpeg"));
    let old = support.upload_fields(&form, &HOUSE, "logo", &[]).await;
    old.is(422).shows("Someone else changed the house");

    let again = support.get(&form).await;
    let version = again.is(200).shows("Remove the logo").between("name=\"version\" value=\"", "\"");
    let kept: Vec<_> = HOUSE.iter().copied().filter(|(name, _)| *name != "version").collect();
    let removed = [&kept[..], &[("version", version.as_str()), ("removeLogo", "yes")]].concat();
    support.upload_fields(&form, &removed, "logo", &[("", b"")]).await.is(303);
    support.get(&page).await.is(200).shows("Europe/Berlin").hides("house-logo");
    support.get(&address).await.is(404);

    let mut operator = fixture.signed_in(Role::Operator).await;
    operator.get(&page).await.is(200).shows("Königsallee").hides("Edit house");
    operator.get(&form).await.is(403);
}

#[tokio::test]
async fn conditions_are_added_as_versions_and_read() {
    let fixture = Fixture::new();
    let house = fixture.customer("Hammer & Sons").await;
    let path = format!("/customers/{house}/conditions");
    let mut support = fixture.signed_in(Role::Support).await;
    support.get(&path).await.is(200).shows("No conditions yet");
    let text = "1. <b>The buyer</b> pays.\r\n2. Within a week.";
    support.submit(&path, &[("text", text)]).await.is(200).shows("The version was added.").shows("Version 1");
    support.post(&path, &[("text", text)]).await.is(422).shows("is the same as version 1").shows("Within a week.");
    support.post(&path, &[("text", " ")]).await.is(422).shows("is empty");
    support.submit(&path, &[("text", "The buyer pays at once.")]).await.shows("Version 2");
    let mut viewer = fixture.signed_in(Role::Viewer).await;
    viewer.get(&path).await.is(200).shows("Version 2").hides("Add a version");
    let first = viewer.get(&format!("{path}/1")).await;
    first.is(200).shows("&#60;b&#62;The buyer&#60;/b&#62; pays.\n2. Within a week.");
    for unknown in ["3", "0", "x", "-1", "99999999999"] {
        viewer.get(&format!("{path}/{unknown}")).await.is(404);
    }
}

#[tokio::test]
async fn a_sale_follows_its_house_and_shows_what_bidders_read() {
    let mut sale = Sale::new(AuctionStatus::Draft, &["A spoon"]).await;
    let platform = sale.fixture.platform.clone();
    let customer = platform.auction(&staff(), sale.auction).await.unwrap().customer;
    let mut support = sale.fixture.signed_in(Role::Support).await;
    support.upload_fields(&format!("/customers/{customer}/house"), &HOUSE, "logo", &[]).await.is(303);
    for text in ["first", "second"] {
        platform.add_conditions(&staff(), customer, text).await.unwrap();
    }
    let operator = &mut sale.operator;
    operator.get("/auctions/new").await.is(200).shows("value=\"EUR\"").shows("value=\"Europe/Berlin\"");
    let auctioneer = sale.auctioneer.to_string();
    let fields = [
        ("auctioneer", auctioneer.as_str()),
        ("kind", "timed"),
        ("title", "Watches"),
        ("currency", ""),
        ("timeZone", ""),
        ("conditions", "latest"),
        ("description", "Pocket watches <i>and</i> clocks.\r\nFrom one owner."),
        ("viewing", "Friday, 10 to 18 h"),
        ("line1", "Hofgarten 3"),
        ("postcode", "40213"),
        ("country", "de"),
    ];
    let page = operator.submit("/auctions/new", &fields).await;
    page.is(200).shows("Hofgarten 3, 40213, DE").shows("Friday, 10 to 18 h").shows(">Version 2</a>");
    page.shows("Pocket watches &#60;i&#62;and&#60;/i&#62; clocks.\nFrom one owner.");
    let id = page.between("<code id=\"auction-id\">", "<");
    let auction = platform.auction(&staff(), id.parse().unwrap()).await.unwrap();
    assert_eq!((auction.currency.as_str(), auction.time_zone.as_str()), ("EUR", "Europe/Berlin"));

    let path = format!("/auctions/{id}/edit");
    let form = operator.get(&path).await;
    form.is(200).shows("Friday, 10 to 18 h").shows("value=\"Hofgarten 3\"");
    let version = form.between("name=\"version\" value=\"", "\"");
    let facts_version = form.between("name=\"factsVersion\" value=\"", "\"");
    let edited = |conditions: &'static str, registration: &'static str| {
        vec![
            ("version", version.clone()),
            ("factsVersion", facts_version.clone()),
            ("title", "Watches".to_owned()),
            ("currency", "EUR".to_owned()),
            ("timeZone", "Europe/Berlin".to_owned()),
            ("registration", registration.to_owned()),
            ("conditions", conditions.to_owned()),
            ("viewing", "Saturday".to_owned()),
            ("line1", String::new()),
            ("postcode", String::new()),
        ]
    };
    let fields = edited("1", "open");
    let fields: Vec<_> = fields.iter().map(|(name, value)| (*name, value.as_str())).collect();
    let page = operator.submit(&path, &fields).await;
    page.is(200)
        .shows("Saturday")
        .shows(">Version 1</a>")
        .shows("Any bidder")
        .hides("Hofgarten")
        .hides("Pocket watches");
    operator.post(&path, &fields).await.is(422).shows("Someone else changed the auction");
    let catalogue = operator.get(&format!("/auctions/{id}/print/catalogue")).await;
    catalogue
        .is(200)
        .shows("Conditions of sale, version 1")
        .shows("first")
        .shows("Saturday")
        .shows("hello@hammer.example");
}
