//! How endpoints and messages fare.

use provider_core::model::AttemptStatus;
use provider_core::port::{EndpointWaiting, MessageKey, ProgressFilter};

use super::given::*;

pub(super) async fn a_message_has_the_progress_of_all_endpoints(store: Shared) {
    let version = routes(&store, 2).await;
    let both = &[(1, Some(1)), (2, Some(1))];
    accepted(&store, vec![sent(1, version, both), sent(2, version, both), sent(3, version, &[])], at(0)).await;
    let records = vec![
        failed(attempt(1, 1, 1, at(10)), 1, 5),
        succeeded(attempt(2, 1, 2, at(11))),
        succeeded(attempt(3, 2, 1, at(12))),
        succeeded(attempt(4, 2, 2, at(13))),
    ];
    let retried = records[0].attempt.clone();
    store.record_attempts(records.into(), NO_DELAY).await.unwrap();

    let waiting = store.endpoint_waiting(&id("ep", 1), None).await.unwrap();
    assert_eq!((waiting.first, waiting.retries), (0, 1));
    assert!(waiting.next_at.is_some());
    assert_eq!(store.endpoint_waiting(&id("ep", 2), None).await.unwrap(), EndpointWaiting::default());

    let messages = [3, 1, 2].map(|number| id("msg", number));
    let keys = messages.clone().map(|message| MessageKey { application: id("app", 1), id: message });
    let found = store.message_progress(&keys, &ProgressFilter::default()).await.unwrap();
    let counts = found.iter().map(|row| (row.message.clone(), row.endpoints, row.succeeded, row.waiting, row.attempts));
    let [third, first, second] = messages.clone();
    assert_eq!(counts.collect::<Vec<_>>(), [(third, 0, 0, 0, 0), (first, 2, 1, 1, 2), (second, 2, 2, 0, 2)]);
    assert_eq!((found[0].latest, found[0].next_at), (None, None));
    assert_eq!(found[1].next_at, waiting.next_at);
    assert_eq!(found[2].latest.map(|(status, _)| status), Some(AttemptStatus::Success));
    assert_eq!(found[1].latest.map(|(status, _)| status), Some(AttemptStatus::Success));
    assert_ne!(retried.status, AttemptStatus::Success);

    let at_first = ProgressFilter { endpoint: Some(id("ep", 1)), failure: None };
    let at_first = store.message_progress(&keys, &at_first).await.unwrap();
    let counts = at_first.iter().map(|row| (row.endpoints, row.succeeded, row.waiting, row.attempts));
    assert_eq!(counts.collect::<Vec<_>>(), [(0, 0, 0, 0), (1, 0, 1, 1), (1, 1, 0, 1)]);
    assert_eq!(at_first[1].latest.map(|(status, _)| status), Some(AttemptStatus::Fail));
}
