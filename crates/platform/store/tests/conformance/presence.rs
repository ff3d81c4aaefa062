//! Item counts of auctions, each capped at 1.

use contract::ItemStatus;
use platform_core::port::Change;
use platform_rules::{Auction, Item, ItemCounts};

use super::given::{Shared, auction, auction_uuid, bid, commit, created, item, item_uuid, next};

pub(super) async fn capped_item_counts_are_read_for_many_auctions_in_one_call(store: Shared) {
    let of = |number: usize, lot: usize, status| {
        let lot = 10 * number + lot;
        let uuid = auction_uuid(number);
        next(Item { auction: uuid, status, position: lot as i64, lot_number: lot.to_string(), ..item(lot) })
    };
    let put = async |state: Auction, items| commit(&store, Change { items, ..created(state) }).await.unwrap();
    put(auction(1), vec![of(1, 1, ItemStatus::Live), of(1, 2, ItemStatus::Live), of(1, 3, ItemStatus::Sold)]).await;
    put(auction(2), vec![of(2, 1, ItemStatus::Suspended), of(2, 2, ItemStatus::Passed)]).await;
    put(auction(3), Vec::new()).await;
    let capped_item_counts = async |numbers: &[usize]| {
        let uuids: Vec<_> = numbers.iter().map(|number| auction_uuid(*number)).collect();
        let found = store.capped_item_counts(&uuids).await.unwrap();
        found.iter().map(|there| (there.live, there.suspended, there.with_bids)).collect::<Vec<_>>()
    };
    assert_eq!(capped_item_counts(&[3, 2, 1, 4, 1]).await, [(0, 0, 0), (0, 1, 0), (1, 0, 0), (0, 0, 0), (1, 0, 0)]);
    assert!(capped_item_counts(&[]).await.is_empty());
    let lot = store.item(item_uuid(11)).await.unwrap().unwrap();
    commit(&store, bid(lot, 100)).await.unwrap();
    assert_eq!(capped_item_counts(&[1, 2]).await, [(1, 0, 1), (0, 1, 0)]);
    // Capped counts agree with the full counts.
    for number in 1..=3 {
        let ItemCounts { live, suspended, with_bids, .. } = store.item_counts(auction_uuid(number)).await.unwrap();
        assert_eq!(
            capped_item_counts(&[number]).await,
            [(live.min(1), suspended.min(1), with_bids.min(1))],
            "{number}"
        );
    }
}
