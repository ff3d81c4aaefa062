//! Pages: a list of 120 rows walked in both directions, in either order.

use provider_core::port::{Cursor, NewMessage, Order, Page};

use super::given::*;

const ROWS: usize = 120;
const PAGE_ROWS: usize = 50;

/// Walks a list forwards from its start to its end, and back from there. `keys` are all of its keys, in its direction.
async fn walks(name: &str, keys: &[String], order: Order, list: impl AsyncFn(Page) -> Vec<String>) {
    let mut from = None;
    let mut forwards = Vec::new();
    for rows in [50, 50, 20, 0] {
        let slice = list(page(from.clone(), order, PAGE_ROWS)).await;
        assert_eq!(slice.len(), rows, "{name} {order:?}");
        from = slice.last().map(|key| Cursor::After(key.clone())).or(from);
        forwards.extend(slice);
    }
    assert_eq!(forwards, keys, "{name} {order:?} forwards");

    let mut from = keys[ROWS - 1].clone();
    let mut backwards = vec![from.clone()];
    for rows in [50, 50, 19, 0] {
        let slice = list(page(Some(Cursor::Before(from.clone())), order, PAGE_ROWS)).await;
        assert_eq!(slice.len(), rows, "{name} {order:?} back");
        from = slice.first().cloned().unwrap_or(from);
        backwards.splice(0..0, slice);
    }
    assert_eq!(backwards, keys, "{name} {order:?} backwards");
    assert_eq!(list(page(None, order, 0)).await, [""; 0], "{name}: an empty page");
}

/// Walks a list in both orders; `ascending` are its keys.
async fn walks_both_ways(name: &str, ascending: Vec<String>, list: impl AsyncFn(Page) -> Vec<String>) {
    walks(name, &ascending, Order::Ascending, &list).await;
    let descending: Vec<String> = ascending.into_iter().rev().collect();
    walks(name, &descending, Order::Descending, &list).await;
}

fn ids(prefix: &str) -> Vec<String> {
    (1..=ROWS).map(|number| id(prefix, number).to_string()).collect()
}

pub(super) async fn configuration_is_listed_in_slices(store: Shared) {
    routes(&store, 1).await;
    let name = |number: usize| format!("TYPE.{number:03}");
    for number in 1..=ROWS {
        if number > 1 {
            store.create_account(account(number)).await.unwrap();
            store.create_application(application(number), None).await.unwrap();
            store.create_endpoint(endpoint(number), usize::MAX, None).await.unwrap();
        }
        store.create_event_type(event_type(&name(number)), None).await.unwrap();
    }
    // Neighbours whose rows belong to none of these lists.
    for account in ["org", "orh"] {
        let elsewhere =
            provider_core::model::Application { account: account.into(), id: id(account, 1), ..application(1) };
        store.create_application(elsewhere, None).await.unwrap();
    }
    walks_both_ways("accounts", ids("org"), async |page| {
        store.accounts(page).await.unwrap().into_iter().map(|row| row.id.to_string()).collect()
    })
    .await;
    walks_both_ways("applications", ids("app"), async |page| {
        let rows = store.applications(&id("org", 1), page).await.unwrap();
        rows.into_iter().map(|row| row.id.to_string()).collect()
    })
    .await;
    walks_both_ways("endpoints", ids("ep"), async |page| {
        let rows = store.endpoints(&id("app", 1), page).await.unwrap();
        rows.into_iter().map(|row| row.id.to_string()).collect()
    })
    .await;
    walks_both_ways("event types", (1..=ROWS).map(name).collect(), async |page| {
        store.event_types(&id("org", 1), page).await.unwrap().into_iter().map(|row| row.name).collect()
    })
    .await;
}

pub(super) async fn attempts_at_an_endpoint_are_listed_in_slices(store: Shared) {
    let version = routes(&store, 1).await;
    let batch: Vec<NewMessage> = (1..=ROWS).map(|number| sent(number, version, &[(1, Some(1))])).collect();
    accepted(&store, batch, at(0)).await;
    let of_one = (1..=ROWS).map(|number| succeeded(attempt(number, 7, 1, at(5))));
    store.record_attempts(of_one.collect(), NO_DELAY).await.unwrap();

    let newest_first: Vec<String> = ids("atmpt").into_iter().rev().collect();
    walks("attempts at an endpoint", &newest_first, Order::Descending, async |page| {
        let rows = store.attempts_at_endpoint(&id("app", 1), &id("ep", 1), page).await.unwrap();
        rows.into_iter().map(|row| row.id.to_string()).collect()
    })
    .await;
}
