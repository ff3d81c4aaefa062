//! Delivery rows that stay in order.

use provider_core::model::{AttemptTrigger, Endpoint, TaskKind};
use provider_core::port::{AttemptRecord, DeliveryOutcome, EndpointEffect, NewDelivery, NewMessage};
use provider_core::port::{BlockedKeyRow, HeadResult};
use provider_core::{DeliveryOrder, OrderingKey};

use super::attempts::manual;
use super::given::*;
use super::tasks::{leased, step, task};

const NOTHING: [usize; 0] = [];

/// A message with a key to the endpoints of these numbers.
pub(super) fn keyed(number: usize, version: i64, key: &str, endpoints: &[usize]) -> NewMessage {
    let key = OrderingKey::parse(key).unwrap();
    let to = |endpoint: &usize| NewDelivery {
        endpoint: id("ep", *endpoint),
        owner: None,
        ordering_key: Some(key.clone()),
        trigger: AttemptTrigger::Scheduled,
    };
    NewMessage { deliveries: endpoints.iter().map(to).collect(), ..new(message(number), version) }
}

async fn claimed(store: &Shared, endpoint: usize, now_ms: i64) -> Vec<usize> {
    let rows = claim_all(&**store, 1, endpoint, now_ms, 100).await;
    rows.into_iter().map(|row| row.message.id[4..].parse().unwrap()).collect()
}

async fn done(store: &Shared, number: usize, message: usize, endpoint: usize) {
    store.record_attempts(vec![succeeded(attempt(number, message, endpoint, at(50)))].into(), NO_DELAY).await.unwrap();
}

pub(super) async fn messages_of_one_key_are_given_out_one_after_the_other(store: Shared) {
    let version = routes(&store, 1).await;
    accepted(&store, (1..=3).map(|number| keyed(number, version, "lot", &[1])).collect(), at(0)).await;
    // Its id is smaller, and it was accepted later.
    accepted(&store, vec![keyed(0, version, "lot", &[1])], at(1)).await;
    for (turn, number) in [1, 2, 3, 0].into_iter().enumerate() {
        assert_eq!(claimed(&store, 1, 9).await, [number]);
        assert_eq!(store.next_due().await.unwrap(), None, "those behind it are not due");
        assert_eq!(store.endpoints_with_due(at(9), 10).await.unwrap(), []);
        assert_eq!(store.backlog(&id("ep", 1)).await.unwrap().deliveries, 4 - turn as u64);
        done(&store, turn, number, 1).await;
    }
    assert_eq!(claimed(&store, 1, 9).await, NOTHING);
    accepted(&store, vec![keyed(9, version, "lot", &[1])], at(2)).await;
    assert_eq!(claimed(&store, 1, 9).await, [9], "a key that had ended begins anew");
}

pub(super) async fn a_head_that_fails_or_dies_with_its_node_stays_the_head(store: Shared) {
    let version = routes(&store, 1).await;
    accepted(&store, (1..=2).map(|number| keyed(number, version, "lot", &[1])).collect(), at(0)).await;
    assert_eq!(claimed(&store, 1, 9).await, [1]);
    store.record_attempts(vec![failed(attempt(1, 1, 1, at(10)), 1, 500)].into(), NO_DELAY).await.unwrap();
    assert_eq!(claimed(&store, 1, 509).await, NOTHING, "it is not due, and the next waits for it");
    assert_eq!(claimed(&store, 1, 510).await, [1]);
    store.release(&node(1), vec![(id("msg", 1), id("ep", 1))], at(520)).await.unwrap();
    assert_eq!(claimed(&store, 1, 520).await, [1]);
    store.heartbeat(&node(2), at(90_000), at(80_000)).await.unwrap();
    assert_eq!(claimed(&store, 1, 90_000).await, [1], "its node died");
    // Given up: the next goes on.
    let given_up = AttemptRecord {
        outcome: DeliveryOutcome::Done,
        endpoint: EndpointEffect::None,
        ..failed(attempt(2, 1, 1, at(11)), 2, 0)
    };
    store.record_attempts(vec![given_up.clone(), given_up].into(), NO_DELAY).await.unwrap();
    assert_eq!(claimed(&store, 1, 90_000).await, [2]);
}

pub(super) async fn a_blocked_key_shows_its_head_and_can_be_skipped(store: Shared) {
    let version = routes(&store, 2).await;
    accepted(&store, (1..=3).map(|number| keyed(number, version, "lot-b", &[1, 2])).collect(), at(0)).await;
    accepted(&store, vec![keyed(4, version, "lot-a", &[1]), keyed(5, version, "lot-c", &[1])], at(1)).await;
    let endpoint = id("ep", 1);
    assert_eq!(store.skip_head(skipped(2, 1, 20), "lot-b").await.unwrap(), HeadResult::NotHead, "it is not the head");
    assert_eq!(claimed(&store, 1, 9).await, [1, 4, 5]);
    assert_eq!(store.skip_head(skipped(1, 1, 20), "lot-b").await.unwrap(), HeadResult::UnderWay);
    for (number, message, ms) in [(1, 1, 10), (2, 4, 11), (3, 1, 12)] {
        store
            .record_attempts(vec![failed(attempt(number, message, 1, at(ms)), 1, 500)].into(), NO_DELAY)
            .await
            .unwrap();
    }
    let blocked = |key: &str, message, since, next, waiting| BlockedKeyRow {
        attempts: 1,
        ..waiting_head(key, message, since, next, waiting)
    };
    let (a, b) = (blocked("lot-a", 4, 11, 511, 0), blocked("lot-b", 1, 10, 512, 2));
    assert_eq!(store.blocked_keys(&endpoint, None, 9).await.unwrap(), [a.clone(), b.clone()]);
    assert_eq!(store.blocked_keys(&endpoint, None, 1).await.unwrap(), [a]);
    assert_eq!(store.blocked_keys(&endpoint, Some("lot-a"), 9).await.unwrap(), [b]);
    assert_eq!(store.skip_head(skipped(1, 1, 20), "lot-a").await.unwrap(), HeadResult::NotHead, "it is of another key");
    assert_eq!(store.skip_head(skipped(1, 1, 20), "lot-b").await.unwrap(), HeadResult::Done);
    assert_eq!(store.skip_head(skipped(1, 1, 20), "lot-b").await.unwrap(), HeadResult::NotHead);
    assert_eq!(claimed(&store, 1, 20).await, [2]);
    assert_eq!(store.backlog(&id("ep", 2)).await.unwrap().deliveries, 3, "another endpoint's are as they were");
}

pub(super) async fn a_head_that_is_dropped_or_forgotten_lets_the_next_go(store: Shared) {
    let version = routes(&store, 2).await;
    accepted(&store, (1..=5).map(|number| keyed(number, version, "lot", &[1, 2])).collect(), at(0)).await;
    accepted(&store, vec![keyed(6, version, "other", &[1])], at(1)).await;
    let drop_one = async |message| store.drop_deliveries(vec![dropped(message, 1)], at(5)).await.unwrap();
    assert_eq!(claimed(&store, 1, 9).await, [1, 6]);
    drop_one(1).await;
    assert_eq!(claimed(&store, 1, 9).await, [2]);
    drop_one(4).await;
    assert_eq!(claimed(&store, 1, 9).await, NOTHING, "the head was not dropped");
    assert_eq!(store.delete_old_messages(&id("msg", 3), 9).await.unwrap(), 2);
    assert_eq!(claimed(&store, 1, 9).await, [3], "the head was forgotten");
    assert_eq!(claimed(&store, 2, 9).await, [3], "with one that was held");
    drop_one(3).await;
    assert_eq!(claimed(&store, 1, 9).await, [5], "the fourth went before");
}

fn waiting_head(key: &str, message: usize, since_ms: i64, next_ms: i64, waiting: u64) -> BlockedKeyRow {
    BlockedKeyRow {
        key: OrderingKey::kept(key),
        message: id("msg", message),
        attempts: 0,
        since: at(since_ms),
        next_at: at(next_ms),
        claimed: false,
        waiting,
    }
}

pub(super) async fn a_key_is_seen_whatever_its_first_message_waits_for_and_can_be_skipped(store: Shared) {
    let version = routes(&store, 1).await;
    let later = |number, key: &str| {
        let mut new = keyed(number, version, key, &[1]);
        new.message.deliver_at = Some(at(60_000));
        new
    };
    let batch = vec![later(1, "x"), keyed(2, version, "x", &[1]), later(3, "y"), keyed(4, version, "z", &[1])];
    accepted(&store, batch, at(0)).await;
    let endpoint = id("ep", 1);
    // They were accepted at the millisecond of their number.
    let head = |key: &str, message, next, waiting| waiting_head(key, message, message as i64, next, waiting);
    let listed = async |after| store.blocked_keys(&endpoint, after, 2).await.unwrap();
    let (x, y, z) = (head("x", 1, 60_000, 1), head("y", 3, 60_000, 0), head("z", 4, 0, 0));
    assert_eq!(listed(None).await, [x.clone(), y.clone()], "they are wanted later");
    assert_eq!(listed(Some("y")).await, [z], "it is due");
    assert_eq!(claimed(&store, 1, 9).await, [4]);
    assert_eq!(listed(Some("y")).await, [], "it is on its way, and nothing waits for it");
    accepted(&store, vec![keyed(5, version, "z", &[1])], at(10)).await;
    assert_eq!(listed(Some("y")).await, [BlockedKeyRow { claimed: true, ..head("z", 4, 0, 1) }]);
    assert_eq!(store.skip_head(skipped(1, 1, 20), "x").await.unwrap(), HeadResult::Done);
    assert_eq!(listed(None).await, [head("x", 2, 0, 0), y]);
    assert_eq!(claimed(&store, 1, 20).await, [2], "the next of the key is due at once");
}

pub(super) async fn keys_and_endpoints_do_not_wait_for_each_other(store: Shared) {
    let version = routes(&store, 2).await;
    let batch = [keyed(1, version, "x", &[1, 2]), keyed(2, version, "y", &[1]), keyed(3, version, "x", &[1, 2])];
    accepted(&store, batch.into(), at(0)).await;
    let free =
        NewDelivery { endpoint: id("ep", 1), owner: None, ordering_key: None, trigger: AttemptTrigger::Scheduled };
    accepted(&store, vec![NewMessage { deliveries: vec![free], ..new(message(4), version) }], at(1)).await;
    assert_eq!(claimed(&store, 1, 9).await, [1, 2, 4]);
    assert_eq!(claimed(&store, 2, 9).await, [1]);
    done(&store, 1, 1, 2).await;
    assert_eq!(claimed(&store, 1, 9).await, NOTHING);
    assert_eq!(claimed(&store, 2, 9).await, [3]);
    store.drop_deliveries(vec![dropped(1, 1)], at(5)).await.unwrap();
    assert_eq!(claimed(&store, 1, 9).await, [3]);
    // A manual attempt at what is held takes it out of the order; at what is due, it lets the next go on.
    accepted(&store, (5..=7).map(|number| keyed(number, version, "z", &[1])).collect(), at(2)).await;
    store.record_attempts(vec![manual(attempt(6, 6, 1, at(20)))].into(), NO_DELAY).await.unwrap();
    store.record_attempts(vec![manual(attempt(5, 5, 1, at(20)))].into(), NO_DELAY).await.unwrap();
    assert_eq!(claimed(&store, 1, 30).await, [7]);
    assert!(store.delete_endpoint(&id("app", 1), &id("ep", 1)).await.unwrap());
    assert_eq!(store.next_due().await.unwrap(), None);
}

/// A message with a key that had no delivery when it was sent.
fn missed(number: usize, version: i64, key: &str) -> NewMessage {
    NewMessage { ordering_key: Some(OrderingKey::parse(key).unwrap()), ..new(message(number), version) }
}

pub(super) async fn what_a_task_sends_again_joins_the_line_of_its_key(store: Shared) {
    let version = routes(&store, 2).await;
    let batch = [(1, "lot"), (2, "lot"), (3, "lot"), (4, "other")].map(|(number, key)| missed(number, version, key));
    accepted(&store, batch.into(), at(0)).await;
    accepted(&store, vec![new(message(5), version), keyed(6, version, "lot", &[1])], at(1)).await;
    assert_eq!(claimed(&store, 1, 9).await, [6]);
    store.create_task(task(1, TaskKind::ReplayMissing), usize::MAX, None).await.unwrap();
    leased(&store, 1, 10, 1).await;
    assert_eq!(store.advance_task(step(1, 1, 0, 5, &[5, 3, 1, 4, 2], at(20))).await.unwrap(), 5);
    let due = async |messages: &[usize]| {
        let messages: Vec<_> = messages.iter().map(|number| id("msg", *number)).collect();
        store.due_count(&id("ep", 1), &messages, at(20)).await.unwrap()
    };
    assert_eq!(due(&[1, 2, 3]).await, 0, "a task does not wait for those of a key that waits");
    assert_eq!(due(&[4, 5]).await, 2);
    assert_eq!(claimed(&store, 1, 20).await, [4, 5], "other keys go out, and what has none");
    store.record_attempts(vec![failed(attempt(1, 6, 1, at(30)), 1, 500)].into(), NO_DELAY).await.unwrap();
    assert_eq!(claimed(&store, 1, 30).await, NOTHING, "the head fails");
    assert_eq!(store.blocked_keys(&id("ep", 1), None, 9).await.unwrap()[0].waiting, 3);
    assert_eq!(claimed(&store, 1, 530).await, [6]);
    accepted(&store, vec![keyed(7, version, "lot", &[1])], at(540)).await;
    for (turn, number) in [6, 1, 2, 3, 7].into_iter().enumerate() {
        assert_eq!(due(&[1, 2, 3]).await, usize::from((1..=3).contains(&number)));
        done(&store, 10 + turn, number, 1).await;
        let next = [1, 2, 3, 7].get(turn).copied();
        assert_eq!(claimed(&store, 1, 550).await, next.into_iter().collect::<Vec<_>>());
    }
}

pub(super) async fn a_task_keeps_no_order_where_none_is_asked_for_and_begins_no_line_twice(store: Shared) {
    let version = routes(&store, 1).await;
    let batch = [1, 2].map(|number| missed(number, version, "lot"));
    accepted(&store, batch.into(), at(0)).await;
    let found = store.endpoint(&id("app", 1), &id("ep", 1)).await.unwrap().unwrap();
    update_endpoint(&*store, Endpoint { ordering: DeliveryOrder::Any, ..found.clone() }).await.unwrap();
    store.create_task(task(1, TaskKind::BulkReplay), usize::MAX, None).await.unwrap();
    leased(&store, 1, 10, 1).await;
    assert_eq!(store.advance_task(step(1, 1, 0, 2, &[1, 2], at(20))).await.unwrap(), 2);
    assert_eq!(claimed(&store, 1, 20).await, [1, 2]);
    done(&store, 1, 2, 1).await;
    // The first is on its way, without a key; the second begins a line of its own.
    update_endpoint(&*store, found).await.unwrap();
    assert_eq!(store.advance_task(step(1, 1, 2, 3, &[1, 2], at(30))).await.unwrap(), 1);
    assert_eq!(claimed(&store, 1, 30).await, [2]);
    done(&store, 2, 1, 1).await;
    assert_eq!(store.advance_task(step(1, 1, 3, 4, &[1, 2], at(40))).await.unwrap(), 1);
    assert_eq!(claimed(&store, 1, 40).await, NOTHING, "it waits for the second");
    done(&store, 3, 2, 1).await;
    assert_eq!(claimed(&store, 1, 40).await, [1]);
}

/// Four senders of two keys each while their heads go: were one entered behind a head that is just going, it would be held for
/// ever.
pub(super) async fn a_message_accepted_while_the_head_finishes_becomes_due(store: Shared) {
    const EACH: usize = 60;
    let version = routes(&store, 1).await;
    let sending: Vec<_> = (0..4)
        .map(|sender| {
            let store = store.clone();
            tokio::spawn(async move {
                for turn in 0..EACH {
                    let number = 1_000 * (sender + 1) + 2 * turn;
                    let keys = if sender % 2 == 0 { ["a", "b"] } else { ["b", "a"] };
                    let batch = [0, 1].map(|n| keyed(number + n, version, keys[n], &[1]));
                    accepted(&store, batch.into(), at(0)).await;
                }
            })
        })
        .collect();
    let (mut delivered, mut idle) = (0, 0);
    while delivered < 4 * 2 * EACH {
        let some = claimed(&store, 1, 9).await;
        assert!(some.len() <= 2, "one of each key");
        idle = if some.is_empty() && sending.iter().all(|task| task.is_finished()) { idle + 1 } else { 0 };
        assert!(idle < 3, "{delivered} were delivered, and the rest is held behind nothing");
        delivered += some.len();
        let records = some.into_iter().map(|number| succeeded(attempt(number, number, 1, at(10))));
        store.record_attempts(records.collect(), NO_DELAY).await.unwrap();
        tokio::task::yield_now().await;
    }
    for task in sending {
        task.await.unwrap();
    }
}

pub(super) async fn a_skipped_message_has_an_attempt_and_a_retried_head_keeps_its_attempts(store: Shared) {
    let version = routes(&store, 1).await;
    accepted(&store, (1..=3).map(|number| keyed(number, version, "lot", &[1])).collect(), at(0)).await;
    let endpoint = id("ep", 1);
    let retry = async |message, ms| store.retry_head(&endpoint, &id("msg", message), "lot", at(ms)).await.unwrap();
    assert_eq!(claimed(&store, 1, 5).await, [1]);
    assert_eq!(retry(1, 6).await, HeadResult::UnderWay);
    store.record_attempts(vec![failed(attempt(1, 1, 1, at(10)), 1, 5_000)].into(), NO_DELAY).await.unwrap();
    assert_eq!(claimed(&store, 1, 20).await, NOTHING);
    assert_eq!(retry(2, 20).await, HeadResult::NotHead, "it is held");
    assert_eq!(retry(1, 20).await, HeadResult::Done);
    let head = store.blocked_key(&endpoint, "lot").await.unwrap().unwrap();
    assert_eq!((&head.message, head.attempts, head.next_at, head.waiting), (&id("msg", 1), 1, at(20), 2));
    assert_eq!(claimed(&store, 1, 20).await, [1]);
    store.record_attempts(vec![failed(attempt(2, 1, 1, at(30)), 2, 5_000)].into(), NO_DELAY).await.unwrap();
    assert_eq!(store.skip_head(skipped(1, 1, 40), "lot").await.unwrap(), HeadResult::Done);
    let key = provider_core::port::MessageKey { application: id("app", 1), id: id("msg", 1) };
    let progress = store.message_progress(&[key], &Default::default()).await.unwrap().remove(0);
    assert_eq!(provider_core::MessageState::of(&progress), provider_core::MessageState::Skipped);
    assert_eq!((progress.attempts, progress.skipped), (3, 1));
    assert_eq!(claimed(&store, 1, 40).await, [2]);
    // A head without an attempt keeps its time.
    let mut later = keyed(4, version, "later", &[1]);
    later.message.deliver_at = Some(at(60_000));
    accepted(&store, vec![later], at(50)).await;
    let retried = store.retry_head(&endpoint, &id("msg", 4), "later", at(50)).await.unwrap();
    assert_eq!((retried, claimed(&store, 1, 50).await), (HeadResult::Done, Vec::new()));
    assert_eq!(store.blocked_key(&endpoint, "none").await.unwrap(), None);
}

pub(super) async fn blocked_keys_are_summed_up_with_all_that_waits_for_them(store: Shared) {
    let version = routes(&store, 2).await;
    let endpoint = id("ep", 1);
    let total = async |ms| store.blocked_keys_total(&endpoint, at(ms)).await.unwrap();
    assert_eq!(total(0).await, None);
    accepted(&store, (1..=4).map(|number| keyed(number, version, "b", &[1, 2])).collect(), at(0)).await;
    accepted(&store, (5..=7).map(|number| keyed(number, version, "a", &[1])).collect(), at(0)).await;
    let later = |number| {
        let mut new = keyed(number, version, "c", &[1]);
        new.message.deliver_at = Some(at(60_000));
        new
    };
    accepted(&store, vec![later(8), keyed(9, version, "d", &[1])], at(0)).await;
    assert_eq!(total(9).await, None, "first attempts are due");
    assert_eq!(claimed(&store, 1, 9).await, [1, 5, 9]);
    assert_eq!(total(9).await, None, "first attempts are under way");
    let fails = |number, message, ms| failed(attempt(number, message, 1, at(ms)), 1, 5_000);
    store.record_attempts(vec![fails(1, 1, 12), fails(2, 5, 10)].into(), NO_DELAY).await.unwrap();
    let found = total(20).await.unwrap();
    assert_eq!((found.keys, found.waiting), (2, 5));
    let head = BlockedKeyRow { attempts: 1, ..waiting_head("a", 5, 10, 5_010, 2) };
    assert_eq!(found.longest, BlockedKeyRow { next_at: found.longest.next_at, ..head });
    // A message of the key "c" waits for its time, and now another waits behind it.
    accepted(&store, vec![keyed(10, version, "c", &[1])], at(30)).await;
    let found = total(40).await.unwrap();
    assert_eq!((found.keys, found.waiting), (3, 6));
    store.skip_head(skipped(5, 1, 50), "a").await.unwrap();
    let found = total(60).await.unwrap();
    assert_eq!((found.keys, found.waiting, found.longest.key.as_str()), (2, 4, "c"));
    assert_eq!(store.blocked_keys_total(&id("ep", 2), at(60)).await.unwrap(), None);
}
