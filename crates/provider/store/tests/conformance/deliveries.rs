//! Delivery rows: who gets them and when.

use std::collections::BTreeSet;

use provider_core::model::Id;
use provider_core::port::{Backlog, ClaimLimit, DeliveryKind, NewMessage, Resend};

use super::given::*;

const NOTHING: [Id; 0] = [];
const NO_MESSAGE: [usize; 0] = [];

/// What `node` is given of an endpoint: numbers of messages.
async fn claimed(store: &Shared, of: usize, endpoint: usize, now_ms: i64, limit: usize) -> Vec<usize> {
    let deliveries = claim_all(&**store, of, endpoint, now_ms, limit).await;
    let numbers = deliveries.into_iter().map(|delivery| {
        assert_eq!(delivery.endpoint, id("ep", endpoint));
        let number = delivery.message.id[4..].parse().unwrap();
        assert_eq!(delivery.message, message(number), "the whole message comes with it");
        number
    });
    numbers.collect()
}

async fn due(store: &Shared, now_ms: i64, limit: usize) -> Vec<(Id, Id)> {
    store.endpoints_with_due(at(now_ms), limit).await.unwrap()
}

fn routed(endpoint: usize) -> (Id, Id) {
    (id("app", 1), id("ep", endpoint))
}

pub(super) async fn a_row_with_an_owner_is_for_nobody_else(store: Shared) {
    let version = routes(&store, 2).await;
    accepted(&store, vec![sent(1, version, &[(1, Some(1)), (2, None)]), sent(2, version, &[(1, None)])], at(5)).await;
    assert_eq!(due(&store, 4, 10).await, []);
    assert_eq!(store.next_due().await.unwrap(), Some(at(5)));
    assert_eq!(due(&store, 5, 10).await, [routed(1), routed(2)]);
    assert_eq!(claimed(&store, 2, 1, 4, 10).await, NO_MESSAGE, "not due yet");
    assert_eq!(claimed(&store, 2, 1, 5, 10).await, [2]);
    assert_eq!(claimed(&store, 1, 1, 5, 10).await, NO_MESSAGE);
    assert_eq!(claimed(&store, 1, 2, 5, 10).await, [1]);
    assert_eq!(due(&store, 9, 10).await, []);
    assert_eq!(store.next_due().await.unwrap(), None);
    let backlog = Backlog { deliveries: 2, oldest_at: Some(at(1)) };
    assert_eq!(store.backlog(&id("ep", 1)).await.unwrap(), backlog, "claimed or not");
}

pub(super) async fn two_nodes_that_claim_at_once_share_the_rows(store: Shared) {
    let version = routes(&store, 1).await;
    let messages = (1..=200).map(|number| sent(number, version, &[(1, None)]));
    accepted(&store, messages.collect(), at(0)).await;
    let claiming = [1, 2].map(|of| {
        let store = store.clone();
        tokio::spawn(async move {
            let mut mine = Vec::new();
            loop {
                let some = claimed(&store, of, 1, 9, 7).await;
                assert!(some.len() <= 7);
                if some.is_empty() {
                    return mine;
                }
                mine.extend(some);
                tokio::task::yield_now().await;
            }
        })
    });
    let mut all = Vec::new();
    for task in claiming {
        all.extend(task.await.unwrap());
    }
    // A node that found every row taken by the other just then has stopped early: it is asked once more.
    all.extend(claimed(&store, 1, 1, 9, 200).await);
    assert_eq!(all.len(), 200, "each once");
    assert_eq!(all.into_iter().collect::<BTreeSet<_>>().len(), 200, "and each");
}

pub(super) async fn rows_of_a_dead_node_are_released_and_due(store: Shared) {
    let version = routes(&store, 1).await;
    store.heartbeat(&node(1), at(0), at(-1_000)).await.unwrap();
    accepted(&store, vec![sent(1, version, &[(1, Some(1))]), sent(2, version, &[(1, Some(2))])], at(10)).await;
    accepted(&store, vec![sent(3, version, &[(1, None)])], at(10)).await;
    assert_eq!(claimed(&store, 1, 1, 10, 10).await, [3]);

    // Node 2 was heard of when it accepted, at 10; node 1 at 0.
    store.heartbeat(&node(3), at(20), at(0)).await.unwrap();
    assert_eq!(due(&store, 30, 10).await, []);
    store.heartbeat(&node(3), at(25), at(5)).await.unwrap();
    assert_eq!(store.next_due().await.unwrap(), Some(at(25)));
    assert_eq!(claimed(&store, 3, 1, 25, 10).await, [1, 3]);
    store.heartbeat(&node(3), at(40), at(20)).await.unwrap();
    assert_eq!(claimed(&store, 3, 1, 40, 10).await, [2]);

    // A node that was only slow is a living one again, and is watched again.
    accepted(&store, vec![sent(4, version, &[(1, Some(1))])], at(50)).await;
    store.heartbeat(&node(3), at(60), at(45)).await.unwrap();
    assert_eq!(claimed(&store, 3, 1, 60, 10).await, NO_MESSAGE);
    store.heartbeat(&node(3), at(70), at(55)).await.unwrap();
    assert_eq!(claimed(&store, 3, 1, 70, 10).await, [4]);
}

pub(super) async fn a_failed_attempt_waits_for_the_next(store: Shared) {
    let version = routes(&store, 1).await;
    accepted(&store, vec![sent(1, version, &[(1, Some(1))]), sent(2, version, &[(1, Some(1))])], at(5)).await;
    let records = vec![failed(attempt(1, 1, 1, at(10)), 1, 300), failed(attempt(2, 2, 1, at(10)), 1, 200)];
    store.record_attempts(records.into(), NO_DELAY).await.unwrap();
    assert_eq!(store.next_due().await.unwrap(), Some(at(210)));
    assert_eq!(due(&store, 209, 10).await, []);
    assert_eq!(claimed(&store, 1, 1, 209, 10).await, NO_MESSAGE);
    assert_eq!(due(&store, 210, 10).await, [routed(1)]);
    assert_eq!(claimed(&store, 1, 1, 400, 1).await, [2], "the longest due first");
    let other = claim_all(&*store, 2, 1, 400, 1).await;
    assert_eq!((other[0].message.id.clone(), other[0].attempts), (id("msg", 1), 1));

    store.record_attempts(vec![failed(attempt(3, 1, 1, at(400)), 2, 100)].into(), NO_DELAY).await.unwrap();
    assert_eq!(claim_all(&*store, 1, 1, 500, 9).await[0].attempts, 2);
    store
        .record_attempts(
            vec![succeeded(attempt(4, 1, 1, at(510))), succeeded(attempt(5, 2, 1, at(510)))].into(),
            NO_DELAY,
        )
        .await
        .unwrap();
    assert_eq!(store.backlog(&id("ep", 1)).await.unwrap(), Backlog::default());
    assert_eq!(store.next_due().await.unwrap(), None);
}

pub(super) async fn a_released_row_is_due_at_once_with_the_attempts_it_had(store: Shared) {
    let version = routes(&store, 1).await;
    accepted(&store, vec![sent(1, version, &[(1, Some(1))]), sent(2, version, &[(1, Some(2))])], at(5)).await;
    store.record_attempts(vec![failed(attempt(1, 1, 1, at(10)), 3, 10)].into(), NO_DELAY).await.unwrap();
    assert_eq!(claimed(&store, 1, 1, 20, 10).await, [1]);
    let rows = vec![(id("msg", 1), id("ep", 1)), (id("msg", 2), id("ep", 1)), (id("msg", 9), id("ep", 1))];
    store.release(&node(1), rows, at(30)).await.unwrap();
    assert_eq!(store.next_due().await.unwrap(), Some(at(30)));
    let again = claim_all(&*store, 3, 1, 30, 10).await;
    assert_eq!(again.len(), 1, "a row of another node is not given back");
    assert_eq!((again[0].message.id.clone(), again[0].attempts), (id("msg", 1), 3));
}

pub(super) async fn dropped_rows_are_gone_without_an_attempt(store: Shared) {
    let version = routes(&store, 1).await;
    accepted(&store, vec![sent(1, version, &[(1, Some(1))]), sent(2, version, &[(1, None)])], at(5)).await;
    store.drop_deliveries(vec![dropped(1, 1), dropped(2, 1), dropped(9, 9)], at(6)).await.unwrap();
    assert_eq!(store.backlog(&id("ep", 1)).await.unwrap(), Backlog::default());
    assert_eq!(due(&store, 9, 10).await, []);
}

pub(super) async fn a_deleted_endpoint_takes_what_waits_for_it(store: Shared) {
    let version = routes(&store, 2).await;
    let messages = (1..=30).map(|number| sent(number, version, &[(1, None), (2, None)]));
    accepted(&store, messages.collect(), at(5)).await;
    assert_eq!(claimed(&store, 1, 1, 9, 5).await.len(), 5);
    assert!(store.delete_endpoint(&id("app", 1), &id("ep", 1)).await.unwrap());
    assert_eq!(due(&store, 9, 10).await, [routed(2)]);
    assert_eq!(claimed(&store, 1, 1, 9, 50).await, NO_MESSAGE);
    assert_eq!(store.backlog(&id("ep", 1)).await.unwrap(), Backlog::default());
    // An attempt that was under way brings nothing back.
    store.record_attempts(vec![failed(attempt(1, 1, 1, at(10)), 1, 10)].into(), NO_DELAY).await.unwrap();
    assert_eq!(store.backlog(&id("ep", 1)).await.unwrap(), Backlog::default());
    assert_eq!(store.backlog(&id("ep", 2)).await.unwrap().deliveries, 30);
}

pub(super) async fn endpoints_with_due_rows_come_once_and_the_longest_due_first(store: Shared) {
    let mut version = routes(&store, 5).await;
    store.create_application(application(2), None).await.unwrap();
    let elsewhere = provider_core::model::Endpoint { application: id("app", 2), ..endpoint(6) };
    store.create_endpoint(elsewhere, usize::MAX, None).await.unwrap();
    for (number, of, now_ms) in [(1, 3, 30), (2, 3, 35), (3, 1, 40), (4, 5, 10)] {
        accepted(&store, vec![sent(number, version, &[(of, None)])], at(now_ms)).await;
    }
    let mut other = sent(5, 2, &[(6, None)]);
    other.message.application = id("app", 2);
    accepted(&store, vec![other], at(20)).await;
    let all = [routed(5), (id("app", 2), id("ep", 6)), routed(3), routed(1)];
    assert_eq!(due(&store, 40, 10).await, all);
    assert_eq!(due(&store, 39, 10).await, all[..3]);
    assert_eq!(due(&store, 40, 2).await, all[..2]);

    // Many endpoints, most of them waiting for later.
    for number in 7..=60 {
        store.create_endpoint(endpoint(number), usize::MAX, None).await.unwrap();
        version += 1;
    }
    let batch = (7..=60).map(|number| sent(number, version, &[(number, Some(1))]));
    accepted(&store, batch.collect(), at(50)).await;
    let records = (7..=60).map(|number| failed(attempt(number, number, number, at(50)), 1, number as i64 * 1_000));
    store.record_attempts(records.collect(), NO_DELAY).await.unwrap();
    assert_eq!(due(&store, 50, 100).await, all);
    assert_eq!(due(&store, 20_050, 100).await.len(), all.len() + 14);
    assert_eq!(store.next_due().await.unwrap(), Some(at(10)));
}

pub(super) async fn an_endpoint_with_many_rows_hides_no_other(store: Shared) {
    const ROWS: usize = 50_000;
    let version = routes(&store, 3).await;
    for first in (1..=ROWS).step_by(1_000) {
        let batch: Vec<NewMessage> = (first..first + 1_000).map(|number| sent(number, version, &[(2, None)])).collect();
        accepted(&store, batch, at(100)).await;
    }
    accepted(&store, vec![sent(ROWS + 1, version, &[(1, None), (3, None)])], at(200)).await;
    assert_eq!(due(&store, 200, 10).await, [routed(2), routed(1), routed(3)]);
    assert_eq!(store.next_due().await.unwrap(), Some(at(100)));
    assert_eq!(claimed(&store, 1, 2, 200, 3).await, [1, 2, 3]);
    let backlog = Backlog { deliveries: ROWS as u64, oldest_at: Some(at(0) + later(1)) };
    assert_eq!(store.backlog(&id("ep", 2)).await.unwrap(), backlog);
    assert!(store.delete_endpoint(&id("app", 1), &id("ep", 2)).await.unwrap());
    assert_eq!(due(&store, 200, 10).await, [routed(1), routed(3)]);
    assert_eq!(store.backlog(&id("ep", 2)).await.unwrap(), Backlog::default());
}

pub(super) async fn no_more_payloads_are_given_out_than_there_is_room_for(store: Shared) {
    let version = routes(&store, 1).await;
    // The second is large, and the fourth has no payload any more.
    let rows = (1..=6).map(|number| {
        let mut new = sent(number, version, &[(1, None)]);
        new.message.payload = Some(vec![b' '; if number == 2 { 100_000 } else { 100 }].into());
        new
    });
    accepted(&store, rows.collect(), at(7)).await;
    assert!(store.expunge_payload(&id("app", 1), &id("msg", 4), at(10)).await.unwrap());
    let given = async |payload_bytes: usize| -> Vec<Id> {
        let room = ClaimLimit { rows: 10, payload_bytes };
        let rows = store.claim(&node(1), &id("ep", 1), DeliveryKind::First, at(7), room).await.unwrap();
        rows.into_iter().map(|row| row.message.id).collect()
    };
    assert_eq!(given(101).await, [id("msg", 1), id("msg", 2)]);
    assert_eq!(given(0).await, [id("msg", 3)], "one goes out however large it is");
    assert_eq!(given(1_000).await, [id("msg", 4), id("msg", 5), id("msg", 6)]);
}

pub(super) async fn rows_of_each_kind_are_given_out_by_themselves(store: Shared) {
    let version = routes(&store, 1).await;
    let rows = (1..=4).map(|number| sent(number, version, &[(1, None)])).collect();
    accepted(&store, rows, at(5)).await;
    let given = async |kind: DeliveryKind, now_ms: i64, limit: usize| -> Vec<Id> {
        let rows = store.claim(&node(1), &id("ep", 1), kind, at(now_ms), ClaimLimit::for_rows(limit)).await.unwrap();
        rows.into_iter().map(|row| row.message.id).collect()
    };
    assert_eq!(given(DeliveryKind::First, 5, 2).await, [id("msg", 1), id("msg", 2)]);
    store
        .record_attempts(
            vec![failed(attempt(1, 1, 1, at(6)), 1, 10), failed(attempt(2, 2, 1, at(6)), 1, 10)].into(),
            NO_DELAY,
        )
        .await
        .unwrap();
    // Two wait for their first attempt, two for another, and of each one is asked for by hand.
    for number in [2, 4] {
        let (application, message, endpoint) = (id("app", 1), id("msg", number), id("ep", 1));
        store.resend(Resend { application, message, endpoint }, None).await.unwrap();
    }
    assert_eq!(given(DeliveryKind::Manual, 5, 1).await.len(), 1);
    let rows = (1..=4).map(|number| (id("msg", number), id("ep", 1))).collect();
    store.release(&node(1), rows, at(20)).await.unwrap();
    assert_eq!(
        given(DeliveryKind::Manual, 0, 9).await,
        [id("msg", 2), id("msg", 4)],
        "given back, they are still before all"
    );
    assert_eq!(given(DeliveryKind::Retry, 15, 9).await, NOTHING);
    assert_eq!(given(DeliveryKind::Retry, 16, 9).await, [id("msg", 1)]);
    assert_eq!(given(DeliveryKind::First, 20, 9).await, [id("msg", 3)]);
}
