//! Messages to visitors: each number once, and cleared once.

use platform_core::port::{StoreError, VisitorMessage};

use super::given::{Shared, at, auction_uuid, item_uuid};

pub(super) async fn messages_to_visitors_are_numbered_in_their_sale(store: Shared) {
    let message = |sale: usize, number: i64| VisitorMessage {
        auction: auction_uuid(sale),
        number,
        item: (number > 1).then(|| item_uuid(1)),
        actor: "user:1".into(),
        text: format!("Größe '{number}'"),
        at: at(number),
        cleared: None,
    };
    for (sale, number) in [(1, 1), (1, 2), (2, 1)] {
        store.put_visitor_message(message(sale, number)).await.unwrap();
    }
    let again = store.put_visitor_message(VisitorMessage { text: "Another".into(), ..message(1, 2) }).await;
    assert!(matches!(again, Err(StoreError::Conflict)), "{again:?}");
    assert_eq!(store.visitor_messages(auction_uuid(1), 9).await.unwrap(), [message(1, 2), message(1, 1)]);
    assert_eq!(store.visitor_messages(auction_uuid(1), 1).await.unwrap(), [message(1, 2)]);
    assert_eq!(store.visitor_messages(auction_uuid(3), 9).await.unwrap(), []);

    // Who cleared it first is kept, and no other message is changed.
    for (actor, second) in [("user:2", 5), ("user:3", 6)] {
        store.clear_visitor_message(auction_uuid(1), 2, actor, at(second)).await.unwrap();
    }
    store.clear_visitor_message(auction_uuid(1), 9, "user:2", at(7)).await.unwrap();
    let cleared = VisitorMessage { cleared: Some(("user:2".into(), at(5))), ..message(1, 2) };
    assert_eq!(store.visitor_messages(auction_uuid(1), 9).await.unwrap(), [cleared, message(1, 1)]);
    assert_eq!(store.visitor_messages(auction_uuid(2), 9).await.unwrap(), [message(2, 1)]);
}
