//! Clerks are assigned to webcasts on the page of the sale and on that of the user.

use contract::AuctionStatus;
use platform_core::Role;
use platform_core::port::Page;
use platform_core::ring::{ClerkCommand, Confirmed};
use platform_rules::AuctionKind;

use crate::fixture::{Fixture, sale};
use crate::sale_fixture::staff;

#[tokio::test]
async fn clerks_are_assigned_on_the_page_of_the_sale_and_on_that_of_the_user() {
    let fixture = Fixture::new();
    let (webcast, _) = sale(&fixture, |new| {
        new.kind = AuctionKind::Webcast;
        new.starts_at = new.ends_at.take();
    })
    .await;
    let mut administrator = fixture.signed_in(Role::Administrator).await;
    let overview = format!("/auctions/{webcast}");
    administrator.get(&overview).await.is(200).shows("No clerk is assigned").shows("No other user has the role clerk");
    let mut clerk = fixture.signed_in(Role::Clerk).await;
    let desk = format!("/webcasts/{webcast}/desk");
    clerk.get(&desk).await.is(403);
    let users = fixture.platform.users_with_clerk_role(&staff(), Page { after: None, limit: 9 }).await.unwrap();
    let user = users[0].id.to_string();

    let clerks = format!("{overview}/clerks");
    let page = administrator.submit(&clerks, &[("do", "assign"), ("user", &user)]).await;
    page.is(200).shows("The clerk is assigned to the webcast.").shows(&format!("href=\"/admin/users/{user}\""));
    clerk.get(&desk).await.is(200);
    let of_user = format!("/users/{user}");
    administrator.get(&of_user).await.is(200).shows("Prints (Live)").shows("No other webcast is open.");
    let webcast_id = webcast.to_string();
    let removed = [("do", "remove"), ("auction", &*webcast_id)];
    administrator.submit(&format!("{of_user}/webcasts"), &removed).await.shows("not assigned to the webcast any more");
    clerk.get(&desk).await.is(403);
    let assigned = [("do", "assign"), ("auction", &*webcast_id)];
    administrator.submit(&format!("{of_user}/webcasts"), &assigned).await.shows("The clerk is assigned");
    clerk.get(&desk).await.is(200);

    // Only users with the role clerk are assigned, and only by those who run auctions.
    let mut operator = fixture.signed_in(Role::Operator).await;
    operator.get(&overview).await.is(200).shows("clerk@example.com").hides("/admin/users/");
    let own = administrator.get("/users").await.between("href=\"/admin/users/0", "\"");
    operator.post(&clerks, &[("do", "assign"), ("user", &format!("0{own}"))]).await.is(409).shows("role clerk");
    clerk.get(&overview).await.is(200).hides("Remove clerk");
    clerk.post(&clerks, &[("do", "remove"), ("user", &user)]).await.is(403);
    operator.submit(&clerks, &[("do", "remove"), ("user", &user)]).await.shows("No clerk is assigned");
}

#[tokio::test]
async fn an_auction_with_open_buyers_is_archived_with_a_tick_that_names_their_lots() {
    let fixture = Fixture::new();
    let (webcast, item) = sale(&fixture, |new| {
        new.kind = AuctionKind::Webcast;
        new.starts_at = new.ends_at.take();
        new.items.truncate(1);
    })
    .await;
    let platform = &fixture.platform;
    for command in [
        ClerkCommand::Send { item: None },
        ClerkCommand::OpenRoomBid { amount: Some(100_000), large_jump: true },
        ClerkCommand::Sell { confirmed: Confirmed { below_reserve: true, over_waiting_bid: false } },
    ] {
        let seen = platform.ring(&staff(), webcast).await.unwrap().version();
        platform.clerk(&staff(), webcast, &command, seen, None).await.unwrap();
    }
    platform.change_auction_status(&staff(), webcast, AuctionStatus::Reconciliation, None, None).await.unwrap();
    let mut administrator = fixture.signed_in(Role::Administrator).await;
    let base = format!("/auctions/{webcast}");
    administrator.get(&format!("{base}/results")).await.is(200).shows("1 of 1 (100\u{a0}%)<small>1 buyer open</small>");

    // A limit, in words for staff.
    let fields = [("name", "Ada"), ("paddle", "12"), ("limit", "500"), ("status", "approved")];
    administrator.submit(&format!("{base}/registrations/new"), &fields).await.is(200);
    let lot = format!("{base}/lots/{item}/buyer");
    let version = administrator.get(&lot).await.between("name=\"version\" value=\"", "\"");
    let fields = [("version", version.as_str()), ("buyer", "12")];
    let refused = administrator.post(&lot, &fields).await;
    refused.is(422).shows("Paddle 12 is above its limit: £1,000.00 for this lot, limit £500.00.");
    refused.shows("Sell lot 1 to paddle 12 above its limit").shows("name=\"reason\"");

    let page = administrator.get(&format!("{base}/status?to=ARCHIVED")).await;
    let version = page.is(200).shows("Archive with 1 buyer open: lot 1").between("name=\"version\" value=\"", "\"");
    let status = format!("{base}/status");
    let archive = [("to", "ARCHIVED"), ("version", version.as_str())];
    administrator.post(&status, &archive).await.is(409).shows("Name the buyers on Results first, or tick this.");
    let ticked = [archive.as_slice(), &[("buyersOpen", "yes")]].concat();
    administrator.submit(&status, &ticked).await.is(200).shows("Archived");
    administrator.post(&lot, &fields).await.is(422).shows("nothing about it can change");
}

#[tokio::test]
async fn an_archived_sale_offers_nothing_that_can_not_be_done() {
    let fixture = Fixture::new();
    let (webcast, item) = sale(&fixture, |new| {
        new.kind = AuctionKind::Webcast;
        new.starts_at = new.ends_at.take();
        new.items.truncate(1);
    })
    .await;
    let mut administrator = fixture.signed_in(Role::Administrator).await;
    let base = format!("/auctions/{webcast}");
    let fields = [("name", "Ada"), ("paddle", "12"), ("status", "pending")];
    administrator.submit(&format!("{base}/registrations/new"), &fields).await.is(200);
    let withdrawn = contract::ItemStatus::Withdrawn;
    fixture.platform.change_item_status(&staff(), item, withdrawn, None, None, None).await.unwrap();
    for to in [AuctionStatus::Reconciliation, AuctionStatus::Archived] {
        fixture.platform.change_auction_status(&staff(), webcast, to, None, None).await.unwrap();
    }
    let overview = administrator.get(&base).await;
    overview.is(200).shows("Copy auction").hides("Edit auction").hides("Import lots").hides(">Desk<").hides(">Book<");
    overview.hides("Assign clerk").hides(">Screens<").hides("registration waits").hides("Next steps");
    let lots = administrator.get(&format!("{base}/lots")).await;
    lots.is(200).shows("A print").shows("Export CSV").hides("type=\"checkbox\" form=\"bulk\"").hides("edit=");
    administrator.get(&format!("{base}/lots/{item}")).await.is(200).hides("Edit lot").hides("Reinstate lot");
    let registrations = administrator.get(&format!("{base}/registrations")).await;
    registrations.is(200).shows("Ada").hides("Register bidder").hides("Approve selected").hides(">Edit<");
    let results = administrator.get(&format!("{base}/results")).await;
    results.is(200).hides("Correct hammer price").hides("Record unpaid lots");
    let book = administrator.get(&format!("/webcasts/{webcast}/book")).await;
    book.is(200).hides("Enter bids").hides("Withdraw bid");
}
