//! The journal, and the events that customers read from it.

use contract::ItemStatus;
use platform_core::journal::{JournalRow, SubjectKind};
use platform_core::port::Change;

use super::given::{
    Shared, announced, at, auction, auction_uuid, commit, created, customer_uuid, ends, item_uuid, page, sale, whole,
};

fn told(rows: &[JournalRow]) -> Vec<(i64, &str, bool)> {
    rows.iter().map(|row| (row.sequence, row.to.as_str(), row.body.is_some())).collect()
}

pub(super) async fn a_history_lists_every_change_of_status(store: Shared) {
    sale(&store, 1).await;
    let found = store.item(item_uuid(1)).await.unwrap().unwrap();
    let mut unannounced: Change = announced(found, ItemStatus::Draft, at(5));
    unannounced.journal[0].event = None;
    unannounced.journal[0].reason = Some("Rahmen fehlt".into());
    let first = commit(&store, unannounced.clone()).await.unwrap();
    // One commit with two changes of status.
    let found = store.item(item_uuid(1)).await.unwrap().unwrap();
    let mut two_changes = announced(found, ItemStatus::Live, at(6));
    let mut second = announced(two_changes.items[0].state.clone(), ItemStatus::Sold, at(6));
    two_changes.journal.append(&mut second.journal);
    two_changes.items[0].state.sequence = 3;
    two_changes.items[0].state.status = ItemStatus::Sold;
    let receipt = commit(&store, two_changes.clone()).await.unwrap();
    assert_eq!(receipt.cursors.len(), 2);
    assert!(first.cursors[0] < receipt.cursors[0] && receipt.cursors[0] < receipt.cursors[1]);

    let history = store.history(item_uuid(1), whole()).await.unwrap();
    assert_eq!(told(&history), [(1, "DRAFT", false), (2, "LIVE", true), (3, "SOLD", true)]);
    let entry = &unannounced.journal[0];
    let expected = JournalRow {
        cursor: first.cursors[0],
        subject: item_uuid(1),
        kind: SubjectKind::Item,
        sequence: 1,
        from: Some("LIVE".into()),
        to: "DRAFT".into(),
        cause: entry.cause.into(),
        actor: entry.actor.clone(),
        at: at(5),
        reason: entry.reason.clone(),
        body: None,
        restore_number: None,
    };
    assert_eq!(history[0], expected);
    assert_eq!(history[2].body, two_changes.journal[1].event.map(|event| event.to_json()));
    assert_eq!(told(&store.history(item_uuid(1), page(Some(1), 1)).await.unwrap()), [(2, "LIVE", true)]);
    assert_eq!(store.history(item_uuid(2), whole()).await.unwrap(), []);
}

pub(super) async fn only_a_customers_announced_events_are_replayed(store: Shared) {
    assert_eq!(store.last_cursor().await.unwrap(), 0);
    sale(&store, 3).await;
    let mut others = auction(2);
    others.customer = customer_uuid(2);
    let others = commit(&store, created(others)).await.unwrap().cursors;
    let mut cursors = vec![ends(&store, 2, ItemStatus::Sold).await];
    let found = store.item(item_uuid(3)).await.unwrap().unwrap();
    let mut unannounced = announced(found, ItemStatus::Draft, at(5));
    unannounced.journal[0].event = None;
    commit(&store, unannounced).await.unwrap();
    cursors.push(ends(&store, 1, ItemStatus::Unsold).await);

    let replay = |of: usize, after: Option<i64>, limit| {
        let store = store.clone();
        async move {
            let rows = store.events_after(customer_uuid(of), page(after, limit)).await.unwrap();
            rows.into_iter().map(|row| row.cursor).collect::<Vec<_>>()
        }
    };
    assert_eq!(store.last_cursor().await.unwrap(), cursors[1]);
    assert_eq!(replay(1, None, 9).await, cursors);
    assert_eq!(replay(1, Some(0), 1).await, cursors[..1]);
    assert_eq!(replay(1, Some(cursors[0]), 9).await, cursors[1..]);
    assert_eq!(replay(2, None, 9).await, others);
    let row = store.events_after(customer_uuid(2), whole()).await.unwrap().remove(0);
    assert_eq!((row.kind, row.from, row.subject), (SubjectKind::Auction, None, auction_uuid(2)));
    assert!(row.body.unwrap().contains("auctioneerUuid"));
}
