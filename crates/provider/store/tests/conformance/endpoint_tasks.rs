//! The background tasks of one endpoint.

use provider_core::model::{BackgroundTask, TaskKind};
use provider_core::port::{Cursor, Order};

use super::given::*;
use super::tasks::task;

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
