//! Background tasks, and what they look at.

use std::collections::BTreeSet;

use jiff::Timestamp;
use provider_core::OrderingKey;
use provider_core::model::{
    Attempt, AttemptStatus, BackgroundTask, Endpoint, Message, Progress, Selection, TaskKind, TaskStatus,
};
use provider_core::port::{
    Answer, AttemptRecord, Cursor, DeliveryOutcome, IdempotentAnswer, NewMessage, Order, StoreError, TaskFilter,
    TaskStep,
};

use super::given::*;

/// A task of the first account's first endpoint, at position `msg_0`.
pub(super) fn task(number: usize, kind: TaskKind) -> BackgroundTask {
    BackgroundTask {
        id: id("qtask", number),
        account: id("org", 1),
        kind,
        application: id("app", 1),
        endpoint: id("ep", 1),
        selection: Selection {
            since: at(0),
            until: at(1_000),
            event_types: Some(vec!["ITEM_STATUS_CHANGE".to_owned()]),
            channel: Some("north".to_owned()),
            tag: None,
            status: Some(AttemptStatus::Fail),
            status_code_class: Some(500),
        },
        status: TaskStatus::Running,
        progress: Progress::at(id("msg", 0)),
        error: None,
        created_at: at(5),
        updated_at: at(5),
    }
}

/// A step of worker `worker` over messages with these numbers.
pub(super) fn step(of: usize, worker: usize, from: usize, to: usize, messages: &[usize], now: Timestamp) -> TaskStep {
    TaskStep {
        task: id("qtask", of),
        from: id("msg", from),
        to: id("msg", to),
        found: messages.len() as u64,
        messages: messages.iter().map(|number| id("msg", *number)).collect(),
        status: TaskStatus::Running,
        error: None,
        worker: id("node", worker),
        leased_until: now + later(100),
        now,
    }
}

pub(super) async fn leased(store: &Shared, worker: usize, now_ms: i64, limit: usize) -> Vec<BackgroundTask> {
    store.lease_tasks(&id("node", worker), at(now_ms), at(now_ms + 100), limit).await.unwrap()
}

async fn seen(store: &Shared, of: usize) -> BackgroundTask {
    store.task(&id("org", 1), &id("qtask", of)).await.unwrap().unwrap()
}

pub(super) async fn a_task_is_kept_with_its_answer_and_listed_by_status_and_kind(store: Shared) {
    let answer = IdempotentAnswer {
        account: id("org", 1),
        key: "k".to_owned(),
        request_hash: [1; 32],
        answer: Answer::Body { status: 202, body: "{}".to_owned() },
        at: at(5),
    };
    let first = task(1, TaskKind::Recover);
    store.create_task(first.clone(), usize::MAX, Some(answer.clone())).await.unwrap();
    let again = store.create_task(task(2, TaskKind::Recover), usize::MAX, Some(answer)).await;
    assert!(matches!(again, Err(StoreError::Replayed)), "{again:?}");
    assert_eq!(store.task(&id("org", 1), &id("qtask", 2)).await.unwrap(), None);
    assert_eq!(store.task(&id("org", 2), &id("qtask", 1)).await.unwrap(), None, "another account's is not there");
    let nothing = Selection {
        event_types: None,
        channel: None,
        status: None,
        status_code_class: None,
        ..first.selection.clone()
    };
    let second = BackgroundTask { selection: nothing, ..task(2, TaskKind::BulkReplay) };
    let failed = BackgroundTask {
        status: TaskStatus::Failed,
        error: Some("gone".to_owned()),
        progress: Progress { position: id("msg", 9), found: 7, enqueued: 5, ..Progress::default() },
        ..task(3, TaskKind::ReplayMissing)
    };
    store.create_task(second.clone(), usize::MAX, None).await.unwrap();
    store.create_task(failed.clone(), usize::MAX, None).await.unwrap();
    let list = async |filter, page| store.tasks(&id("org", 1), filter, page).await.unwrap();
    let all = [failed.clone(), second.clone(), first.clone()];
    assert_eq!(list(TaskFilter::default(), whole(Order::Descending)).await, all);
    let after = page(Some(Cursor::After(first.id.to_string())), Order::Ascending, 1);
    assert_eq!(list(TaskFilter::default(), after).await, std::slice::from_ref(&second));
    let running = TaskFilter { status: Some(TaskStatus::Running), kind: None };
    assert_eq!(list(running, whole(Order::Ascending)).await, [first, second.clone()]);
    let bulk = TaskFilter { status: Some(TaskStatus::Running), kind: Some(TaskKind::BulkReplay) };
    assert_eq!(list(bulk, whole(Order::Ascending)).await, [second]);
    assert_eq!(store.tasks(&id("org", 2), TaskFilter::default(), whole(Order::Ascending)).await.unwrap(), []);
}

pub(super) async fn a_running_task_is_one_workers_until_its_lease_is_over(store: Shared) {
    let ended = BackgroundTask { status: TaskStatus::Finished, ..task(3, TaskKind::Recover) };
    for task in [task(1, TaskKind::Recover), task(2, TaskKind::Recover), ended] {
        store.create_task(task, usize::MAX, None).await.unwrap();
    }
    let ids = |tasks: Vec<BackgroundTask>| tasks.into_iter().map(|task| task.id).collect::<BTreeSet<_>>();
    assert_eq!(ids(leased(&store, 1, 10, 1).await), [id("qtask", 1)].into());
    assert_eq!(ids(leased(&store, 2, 20, 9).await), [id("qtask", 2)].into());
    assert_eq!(leased(&store, 3, 109, 9).await, []);
    assert_eq!(ids(leased(&store, 3, 110, 9).await), [id("qtask", 1)].into());
    // Who had it comes too late, and who has it goes on.
    let late = store.advance_task(step(1, 1, 0, 5, &[], at(111))).await;
    assert!(matches!(late, Err(StoreError::Conflict)), "{late:?}");
    store.advance_task(step(1, 3, 0, 0, &[], at(150))).await.unwrap();
    assert_eq!(seen(&store, 1).await.updated_at, at(5), "keeping it is no progress");
    assert_eq!(ids(leased(&store, 2, 240, 9).await), [id("qtask", 2)].into());
    assert_eq!(ids(leased(&store, 2, 250, 9).await), [id("qtask", 1)].into());
}

pub(super) async fn a_step_happens_once_and_makes_rows_only_for_what_does_not_wait(store: Shared) {
    let version = routes(&store, 2).await;
    let messages = vec![
        sent(1, version, &[]),
        sent(2, version, &[(1, None)]),
        sent(3, version, &[(1, Some(1))]),
        sent(4, version, &[(2, None)]),
        sent(5, version, &[]),
    ];
    accepted(&store, messages, at(0)).await;
    store.create_task(task(1, TaskKind::ReplayMissing), usize::MAX, None).await.unwrap();
    assert_eq!(leased(&store, 1, 10, 1).await.len(), 1);
    assert_eq!(store.advance_task(step(1, 1, 0, 4, &[1, 2, 3, 4], at(20))).await.unwrap(), 2);
    let again = store.advance_task(step(1, 1, 0, 4, &[1, 2, 3, 4], at(20))).await;
    assert!(matches!(again, Err(StoreError::Conflict)), "{again:?}");
    let moved = seen(&store, 1).await;
    assert_eq!(moved.progress, Progress { position: id("msg", 4), found: 4, enqueued: 2, ..Progress::default() });
    assert_eq!((moved.status, moved.updated_at), (TaskStatus::Running, at(20)));

    let due_count = async |now| {
        let messages = [1, 2, 3, 4, 5].map(|number| id("msg", number));
        store.due_count(&id("ep", 1), &messages, at(now)).await.unwrap()
    };
    assert_eq!(due_count(19).await, 2, "what was there, claimed or not");
    assert_eq!(due_count(20).await, 4);
    let claimed = claim_all(&*store, 9, 1, 20, 9).await;
    let claimed: Vec<_> = claimed.iter().map(|row| (row.message.id.clone(), row.attempts)).collect();
    assert_eq!(claimed, [2, 1, 4].map(|number| (id("msg", number), 0)), "those that waited before go before");
    assert!(claimed.len() == 3 && due_count(20).await == 4);
    store
        .record_attempts(
            vec![succeeded(attempt(1, 1, 1, at(30))), failed(attempt(2, 4, 1, at(30)), 1, 50)].into(),
            NO_DELAY,
        )
        .await
        .unwrap();
    assert_eq!(due_count(40).await, 2, "one is done, one waits for its next attempt");

    let last = TaskStep { status: TaskStatus::Finished, ..step(1, 1, 4, 9, &[5], at(40)) };
    assert_eq!(store.advance_task(last).await.unwrap(), 1);
    let finished = seen(&store, 1).await;
    assert_eq!((finished.status, finished.progress.enqueued), (TaskStatus::Finished, 3));
    assert_eq!(leased(&store, 1, 900, 9).await, []);
    let after = store.advance_task(step(1, 1, 9, 10, &[1], at(50))).await;
    assert!(matches!(after, Err(StoreError::Conflict)), "{after:?}");
}

pub(super) async fn what_is_sent_again_is_not_due_ahead_of_the_time_it_is_wanted_at(store: Shared) {
    let version = routes(&store, 1).await;
    let wanted = |number, key: Option<&str>, deliver_at_ms: i64| NewMessage {
        ordering_key: key.map(|key| OrderingKey::parse(key).unwrap()),
        ..new(Message { deliver_at: Some(at(deliver_at_ms)), ..message(number) }, version)
    };
    let messages = vec![wanted(1, None, 500), wanted(2, Some("a"), 600), wanted(3, None, 10), wanted(4, Some("b"), 10)];
    accepted(&store, messages, at(5)).await;
    store.create_task(task(1, TaskKind::ReplayMissing), usize::MAX, None).await.unwrap();
    leased(&store, 1, 10, 1).await;
    assert_eq!(store.advance_task(step(1, 1, 0, 4, &[1, 2, 3, 4], at(20))).await.unwrap(), 4);
    let mut claimed = Vec::new();
    for now_ms in [20, 499, 500, 599, 600] {
        let rows = claim_all(&*store, 9, 1, now_ms, 9).await;
        let mut numbers: Vec<_> = rows.into_iter().map(|row| row.message.id).collect();
        numbers.sort();
        claimed.push(numbers);
    }
    let ids = |numbers: &[usize]| numbers.iter().map(|number| id("msg", *number)).collect::<Vec<_>>();
    assert_eq!(claimed, [ids(&[3, 4]), ids(&[]), ids(&[1]), ids(&[]), ids(&[2])]);
}

pub(super) async fn a_step_to_an_endpoint_that_takes_nothing_happens_not_at_all(store: Shared) {
    let version = routes(&store, 1).await;
    accepted(&store, vec![sent(1, version, &[])], at(0)).await;
    store.create_task(task(1, TaskKind::ReplayMissing), usize::MAX, None).await.unwrap();
    assert_eq!(leased(&store, 1, 10, 1).await.len(), 1);
    let disabled = Endpoint { disabled: true, ..endpoint(1) };
    update_endpoint(&*store, disabled).await.unwrap();
    for _ in ["disabled", "deleted"] {
        let refused = store.advance_task(step(1, 1, 0, 1, &[1], at(20))).await;
        assert!(matches!(refused, Err(StoreError::NotFound)), "{refused:?}");
        store.delete_endpoint(&id("app", 1), &id("ep", 1)).await.unwrap();
    }
    assert_eq!(seen(&store, 1).await.progress.position, id("msg", 0));
    assert_eq!(store.next_due().await.unwrap(), None);
    let failed =
        TaskStep { status: TaskStatus::Failed, error: Some("gone".to_owned()), ..step(1, 1, 0, 0, &[], at(30)) };
    assert_eq!(store.advance_task(failed).await.unwrap(), 0);
    let failed = seen(&store, 1).await;
    assert_eq!((failed.status, failed.error.as_deref(), failed.updated_at), (TaskStatus::Failed, Some("gone"), at(30)));
}

pub(super) async fn of_two_workers_at_one_position_one_makes_the_step(store: Shared) {
    const STEPS: usize = 20;
    let version = routes(&store, 1).await;
    accepted(&store, (1..=STEPS).map(|number| sent(number, version, &[])).collect(), at(0)).await;
    store.create_task(task(1, TaskKind::ReplayMissing), usize::MAX, None).await.unwrap();
    assert_eq!(leased(&store, 1, 10, 1).await.len(), 1);
    let working = [1, 2].map(|_| {
        let store = store.clone();
        tokio::spawn(async move {
            let mut made = 0;
            for number in 1..=STEPS {
                match store.advance_task(step(1, 1, number - 1, number, &[number], at(20))).await {
                    Ok(rows) => made += rows,
                    Err(StoreError::Conflict) => {}
                    Err(error) => panic!("{error}"),
                }
            }
            made
        })
    });
    let mut made = 0;
    for worker in working {
        made += worker.await.unwrap();
    }
    assert_eq!(made, STEPS);
    assert_eq!(seen(&store, 1).await.progress.enqueued, STEPS as u64);
    assert_eq!(store.backlog(&id("ep", 1)).await.unwrap().deliveries, STEPS as u64);
}

/// Both looked before the message was tried; the second comes with its step when the first one's row is gone.
pub(super) async fn of_two_tasks_that_want_a_message_sent_one_sends_it(store: Shared) {
    let version = routes(&store, 1).await;
    accepted(&store, vec![sent(1, version, &[]), sent(2, version, &[])], at(0)).await;
    let kinds = [TaskKind::ReplayMissing, TaskKind::ReplayMissing, TaskKind::Recover, TaskKind::BulkReplay];
    for (index, kind) in kinds.into_iter().enumerate() {
        store.create_task(task(index + 1, kind), usize::MAX, None).await.unwrap();
    }
    leased(&store, 1, 10, 9).await;
    let advance = async |of| store.advance_task(step(of, 1, 0, 2, &[1, 2], at(20))).await.unwrap();
    assert_eq!(advance(1).await, 2);
    let tried = vec![failed(attempt(1, 1, 1, at(30)), 1, 0), succeeded(attempt(2, 2, 1, at(30)))];
    let done = tried.into_iter().map(|record| AttemptRecord { outcome: DeliveryOutcome::Done, ..record });
    store.record_attempts(done.collect(), NO_DELAY).await.unwrap();
    assert_eq!(advance(2).await, 0, "nothing is missing any more");
    assert_eq!(advance(3).await, 1, "only the failure is to be recovered");
    assert_eq!(advance(4).await, 1, "what was delivered is sent again; the other waits");
}

pub(super) async fn failures_say_once_what_is_to_be_recovered(store: Shared) {
    let version = routes(&store, 2).await;
    let mut messages: Vec<_> = (1..=5).map(|number| sent(number, version, &[(1, Some(1)), (2, Some(1))])).collect();
    let expired = provider_core::model::Message { payload: None, ..message(6) };
    messages.push(new(expired, version));
    accepted(&store, messages, at(0)).await;
    let given_up = |record: provider_core::port::AttemptRecord| provider_core::port::AttemptRecord {
        outcome: DeliveryOutcome::Done,
        ..record
    };
    let fails = |number, message, endpoint| failed(attempt(number, message, endpoint, at(10)), 1, 100);
    let works = |number, message, endpoint| succeeded(attempt(number, message, endpoint, at(10)));
    let records = vec![
        fails(1, 1, 1),
        given_up(fails(2, 1, 1)),
        fails(3, 2, 1),
        works(4, 2, 1),
        fails(5, 3, 1),
        given_up(fails(6, 4, 1)),
        given_up(fails(7, 6, 1)),
        works(8, 4, 2),
        given_up(fails(9, 4, 1)),
        works(10, 5, 1),
    ];
    store.record_attempts(records.into(), NO_DELAY).await.unwrap();
    let failures = async |after, before, limit| {
        let [after, before] = [after, before].map(|number| id("atmpt", number));
        let found = store.failed_attempts(&id("app", 1), &id("ep", 1), &after, &before, limit).await.unwrap();
        found.into_iter().map(|row| (row.attempt, row.recoverable)).collect::<Vec<_>>()
    };
    let row = |attempt, message: Option<usize>| (id("atmpt", attempt), message.map(|message| id("msg", message)));
    let all = [
        row(1, None),
        row(2, Some(1)),
        row(3, None),
        row(4, None),
        row(5, Some(3)),
        row(6, None),
        row(7, None),
        row(9, Some(4)),
        row(10, None),
    ];
    assert_eq!(failures(0, 99, 99).await, all);
    assert_eq!(failures(0, 99, 2).await, all[..2]);
    assert_eq!(failures(5, 10, 99).await, all[5..8]);
    assert_eq!(failures(5, 7, 99).await, [row(6, Some(4))], "its last failure of the span");
    assert_eq!(
        store.failed_attempts(&id("app", 2), &id("ep", 1), &id("atmpt", 0), &id("atmpt", 3), 9).await.unwrap()[1]
            .recoverable,
        None
    );
}

pub(super) async fn messages_are_seen_from_an_endpoint(store: Shared) {
    let version = routes(&store, 2).await;
    let mut messages: Vec<_> = (1..=4).map(|number| sent(number, version, &[(1, Some(1)), (2, Some(1))])).collect();
    messages[1].message.tags = Some(vec!["t".to_owned()]);
    messages[1].message.channels = None;
    messages[2].message.payload = None;
    messages[3].deliveries.clear();
    accepted(&store, messages, at(0)).await;
    let records = vec![
        failed(attempt(1, 1, 1, at(10)), 1, 100),
        succeeded(attempt(2, 1, 2, at(11))),
        failed(attempt(3, 2, 1, at(12)), 1, 100),
        succeeded(attempt(4, 2, 1, at(13))),
    ];
    store.record_attempts(records.into(), NO_DELAY).await.unwrap();
    let seen = async |after, before, limit| {
        let [after, before] = [after, before].map(|number| id("msg", number));
        store.replay_candidates(&id("app", 1), &id("ep", 1), &after, &before, limit).await.unwrap()
    };
    let all = seen(0, 9, 9).await;
    let latest: Vec<_> = all.iter().map(|row| (row.message.clone(), row.latest, row.payload_kept, row.waits)).collect();
    assert_eq!(
        latest,
        [
            (id("msg", 1), Some((AttemptStatus::Fail, 500)), true, true),
            (id("msg", 2), Some((AttemptStatus::Success, 204)), true, false),
            (id("msg", 3), None, false, true),
            (id("msg", 4), None, true, false),
        ]
    );
    assert_eq!((all[1].tags.clone(), all[1].channels.clone()), (Some(vec!["t".to_owned()]), None));
    assert_eq!((all[0].event_type.as_str(), all[0].channels.clone()), ("ITEM_STATUS_CHANGE", message(1).channels));
    assert_eq!(seen(1, 4, 9).await, all[1..3]);
    assert_eq!(seen(0, 9, 1).await, all[..1]);
    // An attempt of another message or endpoint is none of its own.
    let other: Attempt = attempt(5, 4, 2, at(14));
    store.record_attempts(vec![succeeded(other)].into(), NO_DELAY).await.unwrap();
    assert_eq!(seen(0, 9, 9).await, all);
}

pub(super) async fn tasks_that_ended_are_forgotten_a_few_at_a_time(store: Shared) {
    for number in 1..=5 {
        let status = if number == 2 { TaskStatus::Running } else { TaskStatus::Finished };
        let task = BackgroundTask { status, updated_at: at(number as i64), ..task(number, TaskKind::Recover) };
        store.create_task(task, usize::MAX, None).await.unwrap();
    }
    let mut forgotten = Vec::new();
    for _ in 0..3 {
        forgotten.push(store.delete_old_tasks(at(5), 2).await.unwrap());
    }
    assert_eq!(forgotten, [2, 1, 0]);
    let left = store.tasks(&id("org", 1), TaskFilter::default(), whole(Order::Ascending)).await.unwrap();
    assert_eq!(left.into_iter().map(|task| task.id).collect::<Vec<_>>(), [id("qtask", 2), id("qtask", 5)]);
}

/// A task that a worker has begun.
pub(super) async fn leaves_one_half_done(store: &dyn provider_core::port::Store) {
    store.create_task(task(1, TaskKind::BulkReplay), usize::MAX, None).await.unwrap();
    assert_eq!(store.lease_tasks(&id("node", 1), at(10), at(110), 9).await.unwrap().len(), 1);
    assert_eq!(store.advance_task(step(1, 1, 0, 1, &[1], at(20))).await.unwrap(), 0);
}

/// Another worker goes on where it was left.
pub(super) async fn finds_it_half_done(store: &dyn provider_core::port::Store) {
    assert_eq!(store.lease_tasks(&id("node", 2), at(119), at(200), 9).await.unwrap(), []);
    let found = store.lease_tasks(&id("node", 2), at(120), at(220), 9).await.unwrap();
    let progress = Progress { position: id("msg", 1), found: 1, enqueued: 0, ..Progress::default() };
    assert_eq!(found, [BackgroundTask { progress, updated_at: at(20), ..task(1, TaskKind::BulkReplay) }]);
}
