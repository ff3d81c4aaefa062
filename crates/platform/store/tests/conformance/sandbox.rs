//! Sandbox auctions, and the items that their clocks end.

use contract::ItemStatus;
use jiff::SignedDuration;
use platform_core::port::Change;
use platform_rules::{Auction, Item, TestClock};

use super::given::{
    Shared, at, auction, auction_uuid, commit, customer, ends, item, item_uuid, next, next_auction, silent,
};

fn sandbox(number: usize) -> Auction {
    Auction { clock: Some(TestClock::at(at(1))), ..auction(number) }
}

fn sandboxed(number: usize) -> Item {
    Item { sandbox: true, ..item(number) }
}

/// A sandbox auction with items that end a second after the other.
async fn sandbox_sale(store: &Shared, items: usize) {
    store.create_customer(customer(1), None).await.unwrap();
    let items = (1..=items).map(|number| next(sandboxed(number))).collect();
    let change = Change { auction: Some(next_auction(sandbox(1))), items, ..Change::default() };
    commit(store, change).await.unwrap();
}

async fn due(store: &Shared, number: usize, ms: i64, limit: usize) -> Vec<String> {
    let due = store.due_sandbox_items(auction_uuid(number), at(ms), limit).await.unwrap();
    due.into_iter().map(|item| item.lot_number).collect()
}

pub(super) async fn the_timer_of_real_sales_ignores_sandboxes(store: Shared) {
    sandbox_sale(&store, 3).await;
    assert_eq!(store.next_end().await.unwrap(), None);
    assert_eq!(store.due_items(at(9_000), 9).await.unwrap(), []);
    // The sandbox clock ignores real items in the same table.
    commit(&store, Change { auction: Some(next_auction(auction(2))), ..Change::default() }).await.unwrap();
    let real = Item { auction: auction_uuid(2), ..item(4) };
    commit(&store, silent(real)).await.unwrap();
    assert_eq!(store.next_end().await.unwrap(), Some(at(4_000)));
    assert_eq!(store.due_items(at(9_000), 9).await.unwrap().len(), 1);
    assert_eq!(due(&store, 2, 9_000, 9).await, [""; 0]);
    assert_eq!(due(&store, 1, 9_000, 9).await, ["1A", "2A", "3A"]);
    // A bid changes the end, and the timer still ignores the item.
    let mut first = store.item(item_uuid(1)).await.unwrap().unwrap();
    first.effective_end_time = Some(at(2_500));
    commit(&store, silent(first)).await.unwrap();
    assert_eq!(store.next_end().await.unwrap(), Some(at(4_000)));
    assert_eq!(due(&store, 1, 9_000, 9).await, ["2A", "1A", "3A"]);
}

pub(super) async fn items_of_a_sandbox_are_due_by_end_and_then_by_position(store: Shared) {
    sandbox_sale(&store, 4).await;
    let mut last = store.item(item_uuid(4)).await.unwrap().unwrap();
    last.effective_end_time = Some(at(2_000));
    commit(&store, silent(last)).await.unwrap();
    assert_eq!(due(&store, 1, 999, 9).await, [""; 0]);
    assert_eq!(due(&store, 1, 1_000, 9).await, ["1A"]);
    assert_eq!(due(&store, 1, 9_000, 9).await, ["1A", "2A", "4A", "3A"]);
    assert_eq!(due(&store, 1, 9_000, 2).await, ["1A", "2A"]);
    ends(&store, 1, ItemStatus::Unsold).await;
    ends(&store, 4, ItemStatus::Suspended).await;
    assert_eq!(due(&store, 1, 9_000, 9).await, ["2A", "3A"]);
    let mut precise = store.item(item_uuid(2)).await.unwrap().unwrap();
    precise.effective_end_time = Some(at(5_000) + SignedDuration::from_nanos(1));
    commit(&store, silent(precise)).await.unwrap();
    assert_eq!(due(&store, 1, 5_000, 9).await, ["3A"]);
    assert_eq!(due(&store, 1, 5_001, 9).await, ["3A", "2A"]);
}

pub(super) async fn a_clock_is_advancing_until_it_reaches_its_target(store: Shared) {
    sandbox_sale(&store, 0).await;
    commit(&store, Change { auction: Some(next_auction(sandbox(2))), ..Change::default() }).await.unwrap();
    let advancing_sandboxes = async || -> Vec<_> {
        store.advancing_sandboxes(9).await.unwrap().into_iter().map(|auction| auction.uuid).collect()
    };
    assert!(advancing_sandboxes().await.is_empty());
    let set = async |number: usize, target: Option<i64>| {
        let mut auction = store.auction(auction_uuid(number)).await.unwrap().unwrap();
        auction.clock = auction.clock.map(|clock| TestClock { target: target.map(at), ended: 3, ..clock });
        commit(&store, Change { auction: Some(next_auction(auction.clone())), ..Change::default() }).await.unwrap();
        auction.clock
    };
    let clock = set(2, Some(8_000)).await;
    assert_eq!(advancing_sandboxes().await, [auction_uuid(2)]);
    assert_eq!(store.auction(auction_uuid(2)).await.unwrap().unwrap().clock, clock);
    set(1, Some(9_000)).await;
    assert_eq!(advancing_sandboxes().await, [auction_uuid(1), auction_uuid(2)]);
    assert_eq!(store.advancing_sandboxes(1).await.unwrap().len(), 1);
    set(2, None).await;
    assert_eq!(advancing_sandboxes().await, [auction_uuid(1)]);
}
