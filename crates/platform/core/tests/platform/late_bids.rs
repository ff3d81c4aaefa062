//! Bids that arrive after the end of their lot are kept for staff, with those that no longer count.

use std::time::Duration;

use platform_core::PlatformError;
use platform_core::access::access_log::AccessEvent;
use platform_core::bidders::LateAndWithdrawn;
use platform_core::bidding::bids::NewBid;
use platform_core::port::{Page, RegistrationRule};
use platform_core::saleroom::SaleroomBid;
use platform_core::sales::item_ends::ItemEndWorker;
use platform_rules::StrikeReason;

use crate::saleroom_accounts::House;

impl House {
    async fn late_and_withdrawn(&self) -> LateAndWithdrawn {
        let (platform, caller) = (&self.fixture.platform, &self.fixture.caller);
        platform.late_and_withdrawn_bids(caller, self.items[0].auction).await.unwrap()
    }
}

#[tokio::test]
async fn late_bids_are_kept_with_how_late_they_were_and_listed_with_an_entry_in_the_access_log() {
    let house = House::open(RegistrationRule::AtOnce).await;
    let platform = house.fixture.platform.clone();
    let (ann, registration) = house.registered("ann@example.com").await;
    house.bid(&ann, 0, SaleroomBid::Next(100)).await.unwrap();
    assert_eq!(house.late_and_withdrawn().await, LateAndWithdrawn::default(), "bids in time are not among them");
    let end = house.items[0].effective_end_time.unwrap();
    house.fixture.clock.advance(end.duration_since(platform.now()).unsigned_abs() + Duration::from_millis(400));
    // Before and after the server has ended the lot.
    assert_eq!(house.bid(&ann, 0, SaleroomBid::UpTo(500)).await, Err("item_ended"));
    ItemEndWorker::new(platform.clone()).run_once(platform.now()).await.unwrap();
    house.fixture.clock.advance(Duration::from_millis(900));
    let refused = house.bid(&ann, 0, SaleroomBid::UpTo(600)).await.unwrap_err();
    // A caller of the API who bids for a bidder is refused and kept alike.
    let new = NewBid { bidder: "1".to_owned(), amount: 700 };
    let late = platform.place_bid(&house.fixture.caller, house.items[0].uuid, &new, None, None).await;
    assert_eq!(late.err().map(|error: PlatformError| error.code()), Some(refused));
    house.fixture.clock.advance(Duration::from_secs(2 * 60 * 60));
    let _ = house.bid(&ann, 0, SaleroomBid::UpTo(800)).await.unwrap_err();

    let found = house.late_and_withdrawn().await.late;
    let kept: Vec<_> =
        found.iter().map(|(lot, bid)| (lot.as_str(), bid.paddle.as_str(), bid.amount, bid.late_ms)).collect();
    let expected = [("1", "1", 700, 1_300), ("1", "1", 600, 1_300), ("1", "1", 500, 400)];
    assert_eq!(kept, expected, "the latest first; one that came hours later is not kept");
    assert_eq!(registration.paddle, "1");
    let exported = platform.export_own_data(&house.saleroom, &ann).await.unwrap();
    assert_eq!(exported.sales[0].late_bids.iter().map(|bid| bid.amount).collect::<Vec<_>>(), [700, 600, 500]);
    let rows = platform.access_log(&house.fixture.caller, Page { after: None, limit: 9 }).await.unwrap();
    let auction = house.items[0].auction;
    assert_eq!(rows[0].content.event, AccessEvent::LateBidsListed { auction, records: 3 });
}

#[tokio::test]
async fn withdrawn_bids_are_listed_with_why_and_by_whom() {
    let house = House::open(RegistrationRule::AtOnce).await;
    let (platform, caller) = (&house.fixture.platform, &house.fixture.caller);
    let (ann, _) = house.registered("ann@example.com").await;
    house.bid(&ann, 1, SaleroomBid::Next(100)).await.unwrap();
    let item = house.items[1].uuid;
    let bid = platform.bids(caller, item, Page { after: None, limit: 9 }).await.unwrap().1.remove(0).uuid;
    platform.cancel_bid(caller, (item, bid), "Typed by a child", None, None).await.unwrap();
    let found = house.late_and_withdrawn().await;
    assert_eq!(found.late, []);
    let (lot, struck) = &found.withdrawn[0];
    assert_eq!((lot.as_str(), struck.paddle.as_str(), struck.amount), ("2", "1", 100));
    assert_eq!((struck.strike, struck.reason.as_deref()), (StrikeReason::Cancelled, Some("Typed by a child")));
    assert_eq!((found.withdrawn.len(), &struck.actor), (1, &caller.actor));
}
