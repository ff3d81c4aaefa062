//! Waiting deliveries, as the operator sees them.

use provider_core::port::EndpointBacklog;

use super::given::*;

pub(super) async fn waiting_deliveries_are_counted_by_endpoint(store: Shared) {
    let version = routes(&store, 4).await;
    assert_eq!(store.endpoint_backlogs(None, 9).await.unwrap(), []);
    let messages = vec![
        sent(1, version, &[(1, Some(1)), (3, None)]),
        sent(2, version, &[(1, Some(1)), (3, None), (4, Some(1))]),
        sent(3, version, &[(3, None)]),
    ];
    accepted(&store, messages, at(5)).await;
    store.record_attempts(vec![failed(attempt(1, 2, 4, at(6)), 1, 1_000)].into(), NO_DELAY).await.unwrap();

    let waiting = |number: usize, deliveries: usize, oldest_ms: i64, next_ms: Option<i64>| {
        let mut endpoint = endpoint(number);
        endpoint.failing_since = (number == 4).then(|| at(6));
        let (oldest_at, next_at) = (Some(at(oldest_ms)), next_ms.map(at));
        EndpointBacklog { account: id("org", 1), endpoint, deliveries, oldest_at, next_at }
    };
    let all = [waiting(1, 2, 1, None), waiting(3, 3, 1, Some(5)), waiting(4, 1, 2, Some(1_006))];
    assert_eq!(store.endpoint_backlogs(None, 9).await.unwrap(), all);
    assert_eq!(store.endpoint_backlogs(None, 2).await.unwrap(), all[..2]);
    assert_eq!(store.endpoint_backlogs(Some(&id("ep", 1)), 9).await.unwrap(), all[1..]);
    assert_eq!(store.endpoint_backlogs(Some(&id("ep", 4)), 9).await.unwrap(), []);
}

pub(super) async fn an_endpoint_is_found_by_its_id_alone(store: Shared) {
    routes(&store, 2).await;
    let found = store.endpoint_by_id(&id("ep", 2)).await.unwrap();
    assert_eq!(found, Some((id("org", 1), endpoint(2))));
    assert_eq!(store.endpoint_by_id(&id("ep", 9)).await.unwrap(), None);
    assert_eq!(store.endpoint_by_id("receiver-2").await.unwrap(), None, "a uid is its application's");
}
