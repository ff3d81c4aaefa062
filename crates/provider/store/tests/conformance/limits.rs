//! What is made only while there is room for it.

use std::sync::Arc;

use provider_core::model::{BackgroundTask, TaskKind, TaskStatus};
use provider_core::port::{Order, StoreError, StoreResult};
use tokio::task::JoinSet;

use super::given::*;
use super::tasks::task;

const ROOM: usize = 5;
const TRIES: usize = 20;

/// How often each thing came of them.
async fn counted(mut tries: JoinSet<StoreResult<()>>) -> (usize, usize) {
    let (mut made, mut full) = (0, 0);
    while let Some(result) = tries.join_next().await {
        match result.unwrap() {
            Ok(()) => made += 1,
            Err(StoreError::LimitReached) => full += 1,
            Err(error) => panic!("{error}"),
        }
    }
    (made, full)
}

pub(super) async fn an_application_gets_no_more_endpoints_than_it_may_have_however_many_are_made_at_once(
    store: Shared,
) {
    store.create_account(account(1)).await.unwrap();
    store.create_application(application(1), None).await.unwrap();
    let mut tries = JoinSet::new();
    for number in 1..=TRIES {
        let store = Arc::clone(&store);
        let key = answer(&format!("key-{number}"), 1, at(0));
        tries.spawn(async move { store.create_endpoint(endpoint(number), ROOM, Some(key)).await });
    }
    assert_eq!(counted(tries).await, (ROOM, TRIES - ROOM));
    let there = store.endpoints(&id("app", 1), whole(Order::Ascending)).await.unwrap();
    assert_eq!(there.len(), ROOM);
    let first = (1..=TRIES).find(|number| there[0].id == id("ep", *number)).unwrap();
    let key = answer(&format!("key-{first}"), 1, at(0));
    let again = store.create_endpoint(endpoint(first), ROOM, Some(key)).await;
    assert_eq!(again.map_err(reason), Err("replayed".to_owned()), "it was made before there was no room");
    assert!(store.delete_endpoint(&id("app", 1), &id("ep", first)).await.unwrap());
    store.create_endpoint(endpoint(TRIES + 1), ROOM, None).await.unwrap();
    // What was refused left no key behind.
    let refused = (1..=TRIES).find(|number| there.iter().all(|endpoint| endpoint.id != id("ep", *number))).unwrap();
    let key = answer(&format!("key-{refused}"), 1, at(0));
    store.create_endpoint(endpoint(refused), ROOM + 1, Some(key)).await.unwrap();
}

pub(super) async fn an_account_gets_no_more_running_tasks_than_it_may_have(store: Shared) {
    let over = BackgroundTask { status: TaskStatus::Finished, ..task(100, TaskKind::Recover) };
    store.create_task(over, usize::MAX, None).await.unwrap();
    let mut tries = JoinSet::new();
    for number in 1..=TRIES {
        let store = Arc::clone(&store);
        tries.spawn(async move { store.create_task(task(number, TaskKind::Recover), ROOM, None).await });
    }
    assert_eq!(counted(tries).await, (ROOM, TRIES - ROOM));
}
