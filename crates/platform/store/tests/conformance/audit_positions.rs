//! The audit log across subjects: its order of writing, and numbering without gaps.

use contract::ItemStatus;
use platform_core::audit::LogEntry;
use platform_core::port::{Change, PositionNumbering, StoreError};
use platform_rules::LogHash;

use super::given::{
    Shared, announced, at, bid, commit, connected_sale, ends, item_uuid, next, page, sale, silent, whole,
};

fn entry(item: usize, number: i64) -> LogEntry {
    LogEntry {
        subject: item_uuid(item),
        number,
        content: format!("{{\"number\":{number}}}"),
        concealed: None,
        hash: LogHash([u8::try_from(item).unwrap(); 32]),
    }
}

pub(super) async fn the_log_is_read_in_the_order_in_which_it_was_written(store: Shared) {
    assert_eq!(store.last_log_position().await.unwrap(), 0);
    sale(&store, 2).await;
    let written = [(2, vec![entry(2, 1), entry(2, 2)]), (1, vec![entry(1, 1)]), (2, vec![entry(2, 3)])];
    for (item, log) in written {
        let found = store.item(item_uuid(item)).await.unwrap().unwrap();
        let stale = Change { log: vec![entry(item, 99)], ..silent(found.clone()) };
        commit(&store, Change { log, ..silent(found) }).await.unwrap();
        assert!(matches!(commit(&store, stale).await, Err(StoreError::Conflict)));
    }
    let placed = store.entries_by_position(whole()).await.unwrap();
    let read: Vec<_> = placed.iter().map(|entry| (entry.subject, entry.number, entry.hash.0[0])).collect();
    assert_eq!(read, [(item_uuid(2), 1, 2), (item_uuid(2), 2, 2), (item_uuid(1), 1, 1), (item_uuid(2), 3, 2)]);
    assert_eq!(placed[3].content, entry(2, 3).content);
    let positions: Vec<i64> = placed.iter().map(|entry| entry.position).collect();
    match store.position_numbering() {
        PositionNumbering::Gapless => assert_eq!(positions, [1, 2, 3, 4]),
        PositionNumbering::MayHaveGaps => assert!(positions.is_sorted_by(|one, next| one < next), "{positions:?}"),
    }
    assert_eq!(store.last_log_position().await.unwrap(), positions[3]);
    assert_eq!(store.entries_by_position(page(Some(positions[0]), 2)).await.unwrap(), placed[1..3]);
    assert!(store.entries_by_position(page(Some(positions[3]), 2)).await.unwrap().is_empty());
}

pub(super) async fn refused_changes_leave_no_gaps_in_cursors(store: Shared) {
    connected_sale(&store, 4).await;
    ends(&store, 1, ItemStatus::Sold).await;
    let of = async |number: usize| store.item(item_uuid(number)).await.unwrap().unwrap();
    // Of three changes in one transaction, one is refused. A refused change that is committed alone is rolled back.
    let stale = announced(of(1).await, ItemStatus::Live, at(2));
    ends(&store, 1, ItemStatus::Withdrawn).await;
    let changes = vec![
        announced(of(2).await, ItemStatus::Sold, at(3)),
        stale.clone(),
        announced(of(3).await, ItemStatus::Sold, at(3)),
    ];
    let answers = store.commit(changes, None).await.unwrap();
    assert_eq!(answers.iter().map(Result::is_ok).collect::<Vec<_>>(), [true, false, true]);
    assert!(matches!(commit(&store, stale).await, Err(StoreError::Conflict)));
    // The write detects that another item has the lot number.
    let mut taken = announced(of(4).await, ItemStatus::Sold, at(4));
    taken.items.push(next(of(3).await));
    taken.items[1].state.lot_number = of(2).await.lot_number;
    assert!(matches!(commit(&store, taken).await, Err(StoreError::Taken("lotNumber"))));
    ends(&store, 4, ItemStatus::Sold).await;
    assert_eq!(store.cursors(whole()).await.unwrap(), [1, 2, 3, 4, 5]);
    assert_eq!(store.cursors(page(Some(2), 2)).await.unwrap(), [3, 4]);
    assert_eq!(store.last_cursor().await.unwrap(), 5);
}

pub(super) async fn writes_through_the_port_leave_no_orphan_rows(store: Shared) {
    connected_sale(&store, 2).await;
    commit(&store, bid(store.item(item_uuid(1)).await.unwrap().unwrap(), 100)).await.unwrap();
    ends(&store, 1, ItemStatus::Sold).await;
    ends(&store, 2, ItemStatus::Unsold).await;
    assert_eq!(store.orphan_rows(10).await.unwrap(), []);
}
