//! The first page.

use platform_core::bidders::NewRegistration;
use platform_core::port::RegistrationStatus;
use platform_core::{Caller, Role};

use crate::fixture::{Fixture, sale};

#[tokio::test]
async fn the_first_page_shows_what_needs_doing_to_those_who_can_do_it() {
    let fixture = Fixture::new();
    let mut operator = fixture.signed_in(Role::Operator).await;
    operator.get("/").await.is(200).shows("No sales yet").shows("All done");
    let (auction, _) = sale(&fixture, |_| {}).await;
    let new = NewRegistration {
        paddle: None,
        party: None,
        name: "Bea Bidder".into(),
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
