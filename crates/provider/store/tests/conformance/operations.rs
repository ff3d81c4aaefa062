//! What those who run the provider ask.

use provider_core::port::Backlog;

use super::given::*;

pub(super) async fn what_a_node_that_leaves_had_is_due_at_once(store: Shared) {
    let version = routes(&store, 1).await;
    let batch =
        vec![sent(1, version, &[(1, Some(1))]), sent(2, version, &[(1, Some(2))]), sent(3, version, &[(1, None)])];
    accepted(&store, batch, at(5)).await;
    store.release_node(&node(1), at(10)).await.unwrap();
    store.release_node(&node(7), at(11)).await.unwrap();
    let claimed = claim_all(&*store, 2, 1, 10, 10).await;
    assert_eq!(claimed.iter().map(|row| row.message.id.clone()).collect::<Vec<_>>(), [id("msg", 3), id("msg", 1)]);
}

pub(super) async fn the_whole_backlog_is_counted_with_its_oldest_message(store: Shared) {
    assert_eq!(store.total_backlog().await.unwrap(), Backlog::default());
    let version = routes(&store, 3).await;
    let batch = [(5, 1), (4, 3), (7, 2), (6, 2)].map(|(number, to)| sent(number, version, &[(to, Some(1))]));
    accepted(&store, batch.into(), at(9)).await;
    assert_eq!(store.total_backlog().await.unwrap(), Backlog { deliveries: 4, oldest_at: Some(at(4)) });
    store
        .record_attempts(
            vec![succeeded(attempt(1, 4, 3, at(10))), succeeded(attempt(2, 5, 1, at(10)))].into(),
            NO_DELAY,
        )
        .await
        .unwrap();
    assert_eq!(store.total_backlog().await.unwrap(), Backlog { deliveries: 2, oldest_at: Some(at(6)) });
}

pub(super) async fn due_deliveries_without_an_owner_are_counted(store: Shared) {
    assert_eq!(store.due_deliveries(at(99)).await.unwrap(), 0);
    let version = routes(&store, 3).await;
    let batch = vec![
        sent(1, version, &[(1, Some(1)), (2, None)]),
        sent(2, version, &[(2, None), (3, None)]),
        sent(3, version, &[(3, None)]),
    ];
    accepted(&store, batch, at(5)).await;
    assert_eq!(store.due_deliveries(at(99)).await.unwrap(), 4, "a node has one of the five");
    assert_eq!(store.due_deliveries(at(0)).await.unwrap(), 0);
    store.release_node(&node(1), at(10)).await.unwrap();
    assert_eq!(store.due_deliveries(at(99)).await.unwrap(), 5);
}

pub(super) async fn the_provider_database_reports_its_version_and_size(store: Shared) {
    let figures = store.database_figures().await.unwrap();
    assert_eq!(figures.schema_version, 3);
    assert!(figures.size_bytes > 100_000, "{figures:?}");
    // Only a database in a file shows its log.
    let is_file = store.database_time().await.unwrap().is_none();
    assert_eq!(figures.wal_bytes.is_some_and(|bytes| bytes > 0), is_file, "{figures:?}");
}

pub(super) async fn living_nodes_are_those_heard_of_lately(store: Shared) {
    for (number, heard_ms) in [(1, 5), (2, 10), (3, 20)] {
        store.heartbeat(&node(number), at(heard_ms), at(0)).await.unwrap();
    }
    assert_eq!(store.live_node_count(at(10)).await.unwrap(), 2);
    for number in [1, 3, 4] {
        store.set_node_address(&node(number), &format!("http://10.0.0.{number}:8071")).await.unwrap();
    }
    assert_eq!(store.node_addresses(at(10), 9).await.unwrap(), ["http://10.0.0.3:8071"], "node 4 has no heartbeat");
    store.set_node_address(&node(2), "http://10.0.0.2:8071").await.unwrap();
    store.heartbeat(&node(2), at(30), at(0)).await.unwrap();
    assert_eq!(store.node_addresses(at(10), 9).await.unwrap(), ["http://10.0.0.2:8071", "http://10.0.0.3:8071"]);
    assert_eq!(store.node_addresses(at(10), 1).await.unwrap(), ["http://10.0.0.2:8071"]);
    store.release_node(&node(3), at(20)).await.unwrap();
    assert_eq!(store.live_node_count(at(0)).await.unwrap(), 2);
}
