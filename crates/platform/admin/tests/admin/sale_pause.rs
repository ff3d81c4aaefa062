//! A timed sale is paused and resumed: its lots do not end meanwhile, and end later by the length of the pause.

use contract::{AuctionStatus, ItemStatus};
use jiff::{SignedDuration, Timestamp};
use platform_core::sales::item_ends::ItemEndWorker;

use crate::sale_fixture::{ENDS_AT, Sale, staff};

#[tokio::test]
async fn a_paused_sale_does_not_end_and_resumes_with_the_time_that_was_left() {
    let mut sale = Sale::new(AuctionStatus::Live, &["A jug", "A bowl", "A spoon"]).await;
    let ends_at: Timestamp = ENDS_AT.parse().unwrap();
    sale.operator.get(&sale.path("/ends")).await.is(200).shows("pause the sale or some lots");
    let (form, suspended) = (sale.path("/ends/pause"), sale.items[2].uuid);
    let reason = Some("Title in dispute".to_owned());
    let platform = sale.fixture.platform.clone();
    platform.change_item_status(&staff(), suspended, ItemStatus::Suspended, reason, None, None).await.unwrap();

    sale.operator.get(&form).await.is(200).shows("A paused lot is suspended");
    sale.operator.get(&format!("{form}?do=pause&range=1")).await.is(422).shows("Give a reason.");
    sale.operator.get(&format!("{form}?do=pause&range=77&reason=x")).await.is(422).shows("No lot has these numbers.");
    let shown = sale.operator.get(&format!("{form}?do=pause&reason=Power+cut")).await;
    shown.is(200).shows("Pause 2 live lots").shows("Pause lots");
    assert_eq!(sale.item(0).await.status, ItemStatus::Live, "nothing changes before it is applied");
    // Ten minutes before the end.
    let paused_at = ends_at - SignedDuration::from_mins(10);
    sale.fixture.clock.set(paused_at);
    sale.operator = sale.sign_in_again().await;
    let fields = [("do", "pause"), ("range", ""), ("reason", "Power cut")];
    sale.operator.submit(&form, &fields).await.shows("The lots are paused");
    assert_eq!(sale.item(1).await.status, ItemStatus::Suspended);

    // An hour later no lot has ended, although their ends are over.
    let resumed_at = paused_at + SignedDuration::from_hours(1);
    sale.fixture.clock.set(resumed_at);
    ItemEndWorker::new(platform.clone()).run_once(resumed_at).await.unwrap();
    assert_eq!(sale.item(0).await.status, ItemStatus::Suspended);
    sale.operator = sale.sign_in_again().await;
    let shown = sale.operator.get(&format!("{form}?do=resume")).await;
    shown.is(200).shows("Resume 2 paused lots").shows("20:00").hides("A spoon");
    sale.operator.submit(&form, &[("do", "resume")]).await.shows("their ends are later by the length of the pause");
    for place in [0, 1] {
        let lot = sale.item(place).await;
        let later = Some(ends_at + SignedDuration::from_hours(1));
        assert_eq!((lot.status, lot.end_time, lot.effective_end_time), (ItemStatus::Live, later, later));
    }
    assert_eq!(sale.item(2).await.status, ItemStatus::Suspended, "it was suspended for another reason");
    let (auction, at) = (sale.auction, ends_at + SignedDuration::from_hours(1));
    assert_eq!(platform.auction(&staff(), auction).await.unwrap().ends_at, Some(at));
    // Again: nothing is paused any more.
    sale.operator.get(&format!("{form}?do=resume")).await.is(200).shows("No lot is paused.");
    ItemEndWorker::new(platform.clone()).run_once(at).await.unwrap();
    assert_eq!(sale.item(0).await.status, ItemStatus::Unsold);
    assert!(platform.verify_auction(auction, &|_| {}).await.unwrap().broken.is_empty());
}

#[tokio::test]
async fn some_lots_are_paused_and_a_lot_that_is_due_is_not() {
    let mut sale = Sale::new(AuctionStatus::Live, &["A jug", "A bowl"]).await;
    let form = sale.path("/ends/pause");
    sale.operator.submit(&form, &[("do", "pause"), ("range", "1"), ("reason", "A wrong picture")]).await.is(200);
    assert_eq!(sale.item(0).await.status, ItemStatus::Suspended);
    assert_eq!(sale.item(1).await.status, ItemStatus::Live);
    // Lot 2 is due; the timer has not processed it yet.
    sale.fixture.clock.set(ENDS_AT.parse().unwrap());
    sale.operator = sale.sign_in_again().await;
    sale.operator.submit(&form, &[("do", "pause"), ("range", ""), ("reason", "Power cut")]).await.is(200);
    assert_eq!(sale.item(1).await.status, ItemStatus::Live);
}
