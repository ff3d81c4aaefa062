//! The first page.

use contract::AuctionStatus;
use platform_core::bidders::NewRegistration;
use platform_core::images::ImageUpload;
use platform_core::port::RegistrationStatus;
use platform_core::{Caller, Role};
use platform_rules::item::ItemEdit;
use uuid::Uuid;

use crate::fixture::{Fixture, sale};
use crate::sale_fixture::{Sale, staff};

/// An image of one pixel.
const PNG: &[u8] = b"iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

#[tokio::test]
async fn the_first_page_shows_what_needs_doing_to_those_who_can_do_it() {
    let fixture = Fixture::new();
    let mut operator = fixture.signed_in(Role::Operator).await;
    operator.get("/").await.is(200).shows("No sales yet").shows("All done");
    let (auction, _) = sale(&fixture, |_| {}).await;
    let new = NewRegistration {
        paddle: None,
        party: None,
        name: Some("Bea Bidder".into()),
        email: None,
        limit: None,
        note: None,
        status: RegistrationStatus::Pending,
    };
    fixture.platform.register_bidder(&Caller::command_line(), auction, &new, None).await.unwrap();
    let page = operator.get("/").await;
    page.is(200)
        .shows("registration waits for approval")
        .shows("lot is still a draft")
        .shows("customer is not connected");
    page.shows("Prints").shows("ends <time").shows("in 1 day").hides("All done").hides("Bea Bidder");
    page.shows(&format!("/admin/auctions/{auction}/registrations?status=pending"));
    let mut viewer = fixture.signed_in(Role::Viewer).await;
    let page = viewer.get("/").await;
    page.is(200).shows("Prints").hides("registration waits").hides("still a draft").hides("Create auction");
    let mut clerk = fixture.signed_in(Role::Clerk).await;
    clerk.get("/").await.is(200).shows("No sales yet").hides("Webhooks").hides("Prints");
}

#[tokio::test]
async fn lots_that_lack_a_field_are_counted_for_each_coming_sale_and_lead_to_the_grid() {
    let mut fixture = Sale::new(AuctionStatus::Draft, &["A jug", "A bowl"]).await;
    let first = fixture.operator.get("/").await;
    first.is(200).shows("data-fragment=\"/admin/missing-fields?fragment=yes\"").shows("Show lots that lack a field");
    let edit = ItemEdit { low_estimate: Some(None), high_estimate: Some(None), ..ItemEdit::default() };
    fixture.fixture.platform.change_item(&staff(), fixture.items[0].uuid, &edit, None).await.unwrap();
    let (auction, counts) = (fixture.auction, fixture.operator.get("/missing-fields?fragment=yes").await);
    counts
        .is(200)
        .shows("<b>1</b> <span>lot without an estimate</span>")
        .shows("<b>2</b> <span>lots without an image</span>");
    counts.hides("without a title").hides("without an opening bid").hides("<html");
    counts.shows(&format!("/admin/auctions/{auction}/lots?missing=estimate"));
    let grid = fixture.operator.get(&format!("/auctions/{auction}/lots?missing=estimate")).await;
    grid.is(200).shows("A jug").hides("A bowl");
    fixture
        .operator
        .get("/missing-fields")
        .await
        .is(200)
        .shows("<h1>Lots that lack a field</h1>")
        .shows("December silver");
    // An uploaded image counts.
    let content = data_encoding::BASE64.decode(PNG).unwrap().into();
    let upload = ImageUpload { uuid: Uuid::from_u128(7), file_name: "1.png".into(), content };
    fixture.fixture.platform.add_image(&staff(), fixture.items[0].uuid, upload).await.unwrap();
    let counts = fixture.operator.get("/missing-fields?fragment=yes").await;
    counts.shows("<b>1</b> <span>lot without an image</span>");
    let grid = fixture.operator.get(&format!("/auctions/{auction}/lots?missing=image")).await;
    grid.is(200).shows("A bowl").hides("A jug");
    let mut viewer = fixture.fixture.signed_in(Role::Viewer).await;
    viewer.get("/").await.is(200).hides("missing-fields");
    viewer.get("/missing-fields").await.is(403);
}
