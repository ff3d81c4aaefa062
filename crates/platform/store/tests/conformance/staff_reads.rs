//! The lists of the administration pages.

use contract::ItemStatus;
use platform_core::port::JournalWindow;

use super::given::{Shared, auction, auction_uuid, commit, created, customer_uuid, ends, sale};

pub(super) async fn auctions_are_read_newest_first(store: Shared) {
    for number in 1..=4 {
        let mut auction = auction(number);
        auction.customer = customer_uuid(1 + number % 2);
        commit(&store, created(auction)).await.unwrap();
    }
    let latest = |customer: Option<usize>, before: Option<usize>, limit| {
        let store = store.clone();
        async move {
            let found = store.latest_auctions(customer.map(customer_uuid), before.map(auction_uuid), limit).await;
            found.unwrap().into_iter().map(|auction| auction.uuid).collect::<Vec<_>>()
        }
    };
    assert_eq!(latest(None, None, 9).await, [4, 3, 2, 1].map(auction_uuid));
    assert_eq!(latest(None, Some(4), 2).await, [3, 2].map(auction_uuid));
    assert_eq!(latest(Some(2), None, 9).await, [3, 1].map(auction_uuid));
    assert_eq!(latest(Some(1), Some(4), 9).await, [2].map(auction_uuid));
    assert!(latest(Some(9), None, 9).await.is_empty());
}

pub(super) async fn the_journal_of_an_auction_includes_only_its_items(store: Shared) {
    sale(&store, 2).await;
    let first = ends(&store, 1, ItemStatus::Sold).await;
    commit(&store, created(auction(2))).await.unwrap();
    let second = ends(&store, 2, ItemStatus::Unsold).await;
    let journal = |before, from, limit| {
        let store = store.clone();
        async move {
            let found = store.journal_of_auction(auction_uuid(1), JournalWindow { before, from, limit }).await.unwrap();
            found.into_iter().map(|row| row.cursor).collect::<Vec<_>>()
        }
    };
    let all = journal(second + 1, 0, 99).await;
    assert_eq!(all[..2], [second, first], "the order is not newest first, or includes another auction");
    assert_eq!(journal(second + 1, 0, 1).await, [second]);
    assert_eq!(journal(second, 0, 1).await, [first]);
    assert_eq!(journal(second + 1, second, 99).await, [second], "the window includes a later row");
    let other = store.journal_of_auction(auction_uuid(2), JournalWindow { before: second, from: 0, limit: 9 });
    assert_eq!(other.await.unwrap().len(), 1);
}
