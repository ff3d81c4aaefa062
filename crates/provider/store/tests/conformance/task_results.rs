//! How the deliveries of the messages ended that a background task sent.

use provider_core::OrderingKey;
use provider_core::model::counts::EndedDeliveries;
use provider_core::model::{Attempt, AttemptStatus, AttemptTrigger, Progress, TaskKind, TaskStatus};
use provider_core::port::{Resend, TaskStep};

use super::counts::{exhausted, record};
use super::given::*;
use super::tasks::{step, task};

const HOUR_MS: i64 = 3_600_000;

async fn progress(store: &Shared, of: usize) -> Progress {
    store.task(&id("org", 1), &id("qtask", of)).await.unwrap().unwrap().progress
}

/// Sends messages again in the only step of a new task, and returns the number of enqueued ones.
async fn sent_by(store: &Shared, of: usize, kind: TaskKind, messages: &[usize], now_ms: i64) -> usize {
    store.create_task(task(of, kind), usize::MAX, None).await.unwrap();
    store.lease_tasks(&id("node", 1), at(now_ms), at(now_ms + 100), 9).await.unwrap();
    let only = TaskStep { status: TaskStatus::Finished, ..step(of, 1, 0, 99, messages, at(now_ms)) };
    store.advance_task(only).await.unwrap()
}

async fn resend(store: &Shared, message: usize) {
    let resend = Resend { application: id("app", 1), message: id("msg", message), endpoint: id("ep", 1) };
    store.resend(resend, None).await.unwrap();
}

fn manual(attempt: Attempt) -> Attempt {
    Attempt { trigger: AttemptTrigger::Manual, ..attempt }
}

pub(super) async fn each_end_counts_once_for_the_task_that_sent_the_message(store: Shared) {
    let version = routes(&store, 1).await;
    accepted(&store, (1..=8).map(|number| sent(number, version, &[])).collect(), at(0)).await;
    assert_eq!(sent_by(&store, 1, TaskKind::ReplayMissing, &[1, 2, 3, 4, 5, 6, 7], 10).await, 7);
    assert_eq!(progress(&store, 1).await.waiting(), 7);
    let records = vec![
        succeeded(attempt(1, 1, 1, at(20))),
        exhausted(attempt(2, 2, 1, at(20))),
        failed(attempt(3, 3, 1, at(20)), 1, 5),
        failed(attempt(4, 4, 1, at(20)), 1, HOUR_MS),
    ];
    record(&store, records.clone()).await;
    record(&store, records).await;
    let ended = EndedDeliveries { delivered: 1, exhausted: 1, ..EndedDeliveries::default() };
    assert_eq!(progress(&store, 1).await.ended, ended);
    assert_eq!(progress(&store, 1).await.waiting(), 5, "a retry waits for the same task");

    // A resend of a message that waits is an attempt of the task's delivery; a resend after its end is not.
    resend(&store, 4).await;
    record(&store, vec![succeeded(manual(attempt(5, 4, 1, at(30))))]).await;
    resend(&store, 1).await;
    record(&store, vec![succeeded(manual(attempt(6, 1, 1, at(30))))]).await;
    let ended = EndedDeliveries { delivered: 2, ..ended };
    assert_eq!(progress(&store, 1).await.ended, ended);
    // A resend that is requested during the last attempt of the task's delivery follows the end.
    assert_eq!(claim_all(&*store, 1, 1, 40, 9).await.len(), 4);
    resend(&store, 5).await;
    record(&store, vec![exhausted(manual(attempt(7, 5, 1, at(40))))]).await;
    let ended = EndedDeliveries { exhausted: 2, ..ended };
    assert_eq!(progress(&store, 1).await.ended, ended);

    store.drop_deliveries(vec![dropped(6, 1), dropped(6, 1)], at(50)).await.unwrap();
    let cancelled = Attempt { status: AttemptStatus::Cancelled, ..attempt(8, 7, 1, at(50)) };
    assert_eq!(store.cancel_deliveries(&id("ep", 1), vec![cancelled]).await.unwrap(), 1);
    record(&store, vec![succeeded(attempt(9, 3, 1, at(60)))]).await;
    let last = progress(&store, 1).await;
    assert_eq!(last.ended, EndedDeliveries { delivered: 3, exhausted: 2, skipped: 0, cancelled: 2 });
    assert_eq!((last.enqueued, last.taken_over, last.waiting()), (7, 0, 0));
}

pub(super) async fn a_later_task_takes_over_the_messages_that_wait_for_a_retry(store: Shared) {
    let version = routes(&store, 1).await;
    accepted(&store, (1..=4).map(|number| sent(number, version, &[])).collect(), at(0)).await;
    assert_eq!(sent_by(&store, 1, TaskKind::ReplayMissing, &[1, 2, 3], 10).await, 3);
    let failures = [1, 2].map(|number| failed(attempt(number, number, 1, at(20)), 1, HOUR_MS));
    record(&store, failures.to_vec()).await;
    // Of message 3, the delivery is due already; message 4 has none.
    assert_eq!(sent_by(&store, 2, TaskKind::Recover, &[1, 2, 3, 4], 30).await, 3);
    let (first, second) = (progress(&store, 1).await, progress(&store, 2).await);
    assert_eq!((first.enqueued, first.taken_over, first.waiting()), (3, 2, 1));
    assert_eq!((second.enqueued, second.taken_over, second.waiting()), (3, 0, 3));
    record(&store, (1..=4).map(|number| succeeded(attempt(10 + number, number, 1, at(40)))).collect()).await;
    assert_eq!((progress(&store, 1).await.ended.delivered, progress(&store, 1).await.waiting()), (1, 0));
    assert_eq!((progress(&store, 2).await.ended.delivered, progress(&store, 2).await.waiting()), (3, 0));
}

pub(super) async fn messages_in_order_count_for_their_task_when_the_head_is_skipped(store: Shared) {
    let version = routes(&store, 1).await;
    let mut messages: Vec<_> = (1..=2).map(|number| sent(number, version, &[])).collect();
    for message in &mut messages {
        message.ordering_key = Some(OrderingKey::kept("lot"));
    }
    accepted(&store, messages, at(0)).await;
    assert_eq!(sent_by(&store, 1, TaskKind::ReplayMissing, &[1, 2], 10).await, 2);
    store.skip_head(skipped(1, 1, 20), "lot").await.unwrap();
    record(&store, vec![succeeded(attempt(1, 2, 1, at(30)))]).await;
    let ended = EndedDeliveries { delivered: 1, skipped: 1, ..EndedDeliveries::default() };
    assert_eq!((progress(&store, 1).await.ended, progress(&store, 1).await.waiting()), (ended, 0));
}

pub(super) async fn a_recovery_finds_what_is_due_already_without_counting_it_as_its_own(store: Shared) {
    let version = routes(&store, 1).await;
    accepted(&store, (1..=3).map(|number| sent(number, version, &[(1, Some(1))])).collect(), at(0)).await;
    let failures = [1, 2, 3].map(|number| failed(attempt(number, number, 1, at(20)), 1, HOUR_MS));
    record(&store, failures.to_vec()).await;
    record(&store, vec![exhausted(attempt(4, 3, 1, at(21)))]).await;
    assert_eq!(sent_by(&store, 1, TaskKind::Recover, &[3], 30).await, 1);
    store
        .claim(&node(1), &id("ep", 1), provider_core::port::DeliveryKind::Retry, at(2 * HOUR_MS), one())
        .await
        .unwrap();
    let (after, before) = (id("atmpt", 0), id("atmpt", 9));
    let found = store.failed_attempts(&id("app", 1), &id("ep", 1), &after, &before, 9).await.unwrap();
    let found: Vec<_> = found.into_iter().filter_map(|row| Some((row.recoverable?, row.is_under_way))).collect();
    assert_eq!(found, [(id("msg", 1), true), (id("msg", 2), false), (id("msg", 3), true)]);
}

fn one() -> provider_core::port::ClaimLimit {
    provider_core::port::ClaimLimit::for_rows(1)
}
