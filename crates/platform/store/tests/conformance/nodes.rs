//! Heartbeats, and the rows of dead nodes.

use contract::ItemStatus;
use platform_core::port::PublishResult;

use super::given::{
    Shared, announced, at, claims, commit_to, connected_sale, customer_uuid, ends, item_uuid, node, outcome,
};

pub(super) async fn rows_of_a_dead_node_are_released(store: Shared) {
    connected_sale(&store, 3).await;
    let claimed = ends(&store, 1, ItemStatus::Sold).await;
    assert_eq!(claims(&store, 1, at(9)).await, [claimed]);
    let found = store.item(item_uuid(2)).await.unwrap().unwrap();
    let handed = commit_to(&store, announced(found, ItemStatus::Sold, at(2)), Some(node(1))).await.unwrap().cursors[0];

    store.heartbeat(node(1), at(1_000), at(0)).await.unwrap();
    store.heartbeat(node(2), at(2_000), at(1_000)).await.unwrap();
    assert_eq!(claims(&store, 2, at(2_000)).await, [0; 0], "rows of a live node were released");
    let own = ends(&store, 3, ItemStatus::Sold).await;
    assert_eq!(claims(&store, 2, at(2_000)).await, [own]);
    store.heartbeat(node(2), at(3_000), at(1_001)).await.unwrap();
    assert_eq!(claims(&store, 3, at(3_000)).await, [claimed, handed], "the wrong rows were released");

    // The dead node continues: its outcomes are recorded, and it can claim rows again.
    store.record_outbox_outcomes(vec![outcome(claimed, PublishResult::Published)], at(3_001)).await.unwrap();
    assert_eq!(store.backlog(customer_uuid(1)).await.unwrap().pending, 2);
    store.heartbeat(node(1), at(3_100), at(3_000)).await.unwrap();
    assert_eq!(claims(&store, 1, at(3_100)).await, [handed], "a claim counted as a heartbeat");
    store.heartbeat(node(2), at(3_200), at(3_000)).await.unwrap();
    assert_eq!(claims(&store, 3, at(3_200)).await, [0; 0]);
}

pub(super) async fn a_node_without_a_heartbeat_is_dead(store: Shared) {
    connected_sale(&store, 1).await;
    let found = store.item(item_uuid(1)).await.unwrap().unwrap();
    let receipt = commit_to(&store, announced(found, ItemStatus::Sold, at(2)), Some(node(7))).await.unwrap();
    assert_eq!(receipt.assigned.len(), 1);
    store.heartbeat(node(1), at(10), at(0)).await.unwrap();
    assert_eq!(claims(&store, 1, at(10)).await, receipt.cursors);
}
