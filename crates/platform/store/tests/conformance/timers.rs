//! Items that end by the server's clock.

use contract::ItemStatus;
use jiff::SignedDuration;

use super::given::{Shared, at, auction_uuid, commit, ends, item, item_uuid, sale, silent};

async fn due(store: &Shared, ms: i64, limit: usize) -> Vec<String> {
    let due = store.due_items(at(ms), limit).await.unwrap();
    assert!(due.iter().all(|(item, auction)| item.auction == auction.uuid));
    due.into_iter().map(|(item, _)| item.lot_number).collect()
}

pub(super) async fn items_are_due_at_their_end_earliest_first(store: Shared) {
    assert_eq!(store.next_end().await.unwrap(), None);
    sale(&store, 4).await;
    // Item 1 is extended beyond item 2, item 3 is suspended, and another item has no end, as in a webcast.
    let mut first = store.item(item_uuid(1)).await.unwrap().unwrap();
    first.effective_end_time = Some(at(2_500));
    commit(&store, silent(first)).await.unwrap();
    ends(&store, 3, ItemStatus::Suspended).await;
    let mut endless = item(5);
    endless.effective_end_time = None;
    commit(&store, silent(endless)).await.unwrap();

    assert_eq!(store.next_end().await.unwrap(), Some(at(2_000)));
    assert_eq!(due(&store, 1_999, 9).await, [""; 0]);
    assert_eq!(due(&store, 2_000, 9).await, ["2A"]);
    assert_eq!(due(&store, 9_000, 9).await, ["2A", "1A", "4A"]);
    assert_eq!(due(&store, 9_000, 2).await, ["2A", "1A"]);
    ends(&store, 2, ItemStatus::Sold).await;
    assert_eq!(store.next_end().await.unwrap(), Some(at(2_500)));
    ends(&store, 1, ItemStatus::Unsold).await;
    ends(&store, 4, ItemStatus::Unsold).await;
    assert_eq!(due(&store, 9_000, 9).await, [""; 0]);
    assert_eq!(store.next_end().await.unwrap(), None);
    // The suspended item is LIVE again, with another end.
    let mut third = store.item(item_uuid(3)).await.unwrap().unwrap();
    third.status = ItemStatus::Live;
    third.effective_end_time = Some(at(7_000));
    commit(&store, silent(third)).await.unwrap();
    assert_eq!(store.next_end().await.unwrap(), Some(at(7_000)));
    assert_eq!(store.auction(auction_uuid(1)).await.unwrap().unwrap().version, 1);
}

pub(super) async fn nothing_is_due_before_its_time_to_the_nanosecond(store: Shared) {
    sale(&store, 0).await;
    let mut precise = item(1);
    precise.effective_end_time = Some(at(1_000) + SignedDuration::from_nanos(1));
    commit(&store, silent(precise)).await.unwrap();
    assert_eq!(due(&store, 1_000, 9).await, [""; 0]);
    assert_eq!(due(&store, 1_001, 9).await, ["1A"]);
    assert!(store.next_end().await.unwrap().unwrap() > at(1_000));
}
