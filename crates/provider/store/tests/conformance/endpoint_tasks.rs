//! The background tasks of one endpoint.

use provider_core::model::{BackgroundTask, TaskKind, TaskStatus};
use provider_core::port::{Cursor, Order, StoreError};

use super::given::*;
use super::tasks::{leased, step, task};

pub(super) async fn an_endpoints_tasks_are_listed_without_those_of_others(store: Shared) {
    for (number, endpoint) in [(1, 1), (2, 2), (3, 1), (4, 1)] {
        let task = BackgroundTask { endpoint: id("ep", endpoint), ..task(number, TaskKind::Recover) };
        store.create_task(task, usize::MAX, None).await.unwrap();
    }
    let listed = async |endpoint, from, order, limit| -> Vec<usize> {
        let found = store.endpoint_tasks(&id("ep", endpoint), page(from, order, limit)).await.unwrap();
        found.iter().map(|found| (1..5).find(|number| id("qtask", *number) == found.id).unwrap()).collect()
    };
    assert_eq!(listed(1, None, Order::Descending, 10).await, [4, 3, 1]);
    assert_eq!(listed(1, None, Order::Descending, 2).await, [4, 3]);
    let after = Some(Cursor::After(id("qtask", 3).to_string()));
    assert_eq!(listed(1, after, Order::Descending, 10).await, [1]);
    assert_eq!(listed(2, None, Order::Ascending, 10).await, [2]);
    assert_eq!(listed(3, None, Order::Ascending, 10).await, [0_usize; 0]);
    let whole = store.endpoint_tasks(&id("ep", 2), page(None, Order::Ascending, 1)).await.unwrap();
    assert_eq!(whole, [BackgroundTask { endpoint: id("ep", 2), ..task(2, TaskKind::Recover) }]);
}

pub(super) async fn a_running_task_of_the_endpoint_is_stopped_and_takes_no_further_step(store: Shared) {
    for (number, endpoint) in [(1, 1), (2, 2)] {
        let task = BackgroundTask { endpoint: id("ep", endpoint), ..task(number, TaskKind::Recover) };
        store.create_task(task, usize::MAX, None).await.unwrap();
    }
    leased(&store, 1, 10, 9).await;
    let stop = async |of| store.stop_task(&id("ep", 1), &id("qtask", of), "stopped", at(20)).await.unwrap();
    assert!(!stop(2).await, "it is another endpoint's");
    assert!(stop(1).await);
    assert!(!stop(1).await, "it is stopped already");
    let late = store.advance_task(step(1, 1, 0, 5, &[], at(21))).await;
    assert!(matches!(late, Err(StoreError::Conflict)), "{late:?}");
    let stopped = store.task(&id("org", 1), &id("qtask", 1)).await.unwrap().unwrap();
    assert_eq!((stopped.status, stopped.error.as_deref()), (TaskStatus::Failed, Some("stopped")));
    assert_eq!((stopped.updated_at, stopped.progress), (at(20), task(1, TaskKind::Recover).progress));
    assert_eq!(leased(&store, 2, 500, 9).await.len(), 1, "only the other one is still running");
}
