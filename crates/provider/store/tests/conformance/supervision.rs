//! What those who run the provider look at and do.

use provider_core::OrderingKey;
use provider_core::model::{
    Application, Attempt, AttemptStatus, AttemptTrigger, BackgroundTask, Endpoint, TaskKind, TaskStatus,
    UnknownEventType,
};
use provider_core::port::{
    AttemptRecord, ClaimLimit, DeliveryKind, DeliveryOutcome, DueEndpoint, EndpointStates, NewMessage, Order, Pause,
    PauseReason, Resend, StoreError, TaskCount, UNKNOWN_EVENT_TYPES_MAX, WaitingCounts,
};

use super::given::*;
use super::ordering::keyed;
use super::tasks::{leased, step, task};

pub(super) async fn the_longest_due_come_first_and_without_what_was_asked_for_by_hand(store: Shared) {
    let version = routes(&store, 5).await;
    let to = |endpoint| [(endpoint, None)];
    accepted(&store, vec![sent(1, version, &to(2)), sent(2, version, &[(4, Some(1))])], at(20)).await;
    accepted(&store, vec![sent(3, version, &to(1)), sent(4, version, &to(2)), sent(5, version, &to(5))], at(30)).await;
    store.record_attempts(vec![failed(attempt(1, 2, 4, at(40)), 1, 100)].into(), NO_DELAY).await.unwrap();
    let resend = Resend { application: id("app", 1), message: id("msg", 5), endpoint: id("ep", 5) };
    store.resend(resend, None).await.unwrap();

    let due = |endpoint, ms| DueEndpoint { endpoint: id("ep", endpoint), since: at(ms) };
    let all = async |ms, limit| store.longest_due_endpoints(at(ms), limit).await.unwrap();
    assert_eq!(all(19, 9).await, []);
    assert_eq!(all(29, 9).await, [due(2, 20)]);
    assert_eq!(all(139, 9).await, [due(2, 20), due(1, 30)]);
    assert_eq!(all(140, 9).await, [due(2, 20), due(1, 30), due(4, 140)]);
    assert_eq!(all(140, 1).await, [due(2, 20)]);
    assert_eq!(claim_all(&*store, 1, 2, 140, 9).await.len(), 2);
    assert_eq!(all(140, 9).await, [due(1, 30), due(4, 140)], "a node has the others");
}

pub(super) async fn endpoints_and_tasks_are_counted_by_how_they_are(store: Shared) {
    assert_eq!(store.endpoint_states().await.unwrap(), EndpointStates::default());
    assert_eq!(store.task_counts().await.unwrap(), []);
    let version = routes(&store, 4).await;
    accepted(&store, vec![sent(1, version, &[(1, Some(1)), (2, Some(1)), (3, Some(1))])], at(0)).await;
    let fails = |number, endpoint| failed(attempt(number, 1, endpoint, at(10)), 1, 100);
    store.record_attempts(vec![fails(1, 1), fails(2, 2), fails(3, 3)].into(), NO_DELAY).await.unwrap();
    store.record_attempts(vec![succeeded(attempt(4, 1, 3, at(20)))].into(), NO_DELAY).await.unwrap();
    for number in [2, 4] {
        let failing_since = (number == 2).then(|| at(10));
        update_endpoint(&*store, Endpoint { disabled: true, failing_since, ..endpoint(number) }).await.unwrap();
    }
    assert_eq!(store.endpoint_states().await.unwrap(), EndpointStates { failing: 1, disabled: 2 });

    let ended = |number, kind| BackgroundTask { status: TaskStatus::Failed, ..task(number, kind) };
    for task in [task(1, TaskKind::Recover), task(2, TaskKind::Recover), ended(3, TaskKind::PurgeContent)] {
        store.create_task(task, usize::MAX, None).await.unwrap();
    }
    let mut counts = store.task_counts().await.unwrap();
    counts.sort_by_key(|count| count.count);
    let count = |kind, status, count| TaskCount { kind, status, count };
    assert_eq!(
        counts,
        [count(TaskKind::PurgeContent, TaskStatus::Failed, 1), count(TaskKind::Recover, TaskStatus::Running, 2)]
    );
}

pub(super) async fn rows_are_counted_by_what_they_wait_for(store: Shared) {
    let version = routes(&store, 2).await;
    let mut later = sent(7, version, &[(1, None)]);
    later.message.deliver_at = Some(at(500));
    let mut messages: Vec<_> = (1..=2).map(|number| keyed(number, version, "lot-1", &[1])).collect();
    messages.extend([sent(3, version, &[(1, Some(1))]), sent(4, version, &[(1, Some(1))])]);
    messages.extend([sent(5, version, &[(1, None)]), sent(6, version, &[(2, None)]), later]);
    accepted(&store, messages, at(0)).await;
    store.record_attempts(vec![failed(attempt(1, 3, 1, at(10)), 1, 100)].into(), NO_DELAY).await.unwrap();
    let waiting = async |ms| store.waiting_counts(&id("ep", 1), at(ms)).await.unwrap();
    let all = WaitingCounts { claimed: 1, key: 1, due: 2, retry: 1, later: 1 };
    assert_eq!(waiting(20).await, all);
    assert_eq!(waiting(500).await, WaitingCounts { due: 4, retry: 0, later: 0, ..all });
    assert_eq!(store.waiting_counts(&id("ep", 9), at(20)).await.unwrap(), WaitingCounts::default());
}

pub(super) async fn what_waits_for_its_next_attempt_is_made_due_with_the_attempts_it_had(store: Shared) {
    let version = routes(&store, 2).await;
    accepted(&store, (1..=4).map(|number| sent(number, version, &[(1, Some(1)), (2, Some(1))])).collect(), at(0)).await;
    let tried = (1..=3).map(|number| failed(attempt(number, number, 1, at(10)), number as u32, 1_000));
    store.record_attempts(tried.collect(), NO_DELAY).await.unwrap();
    store.record_attempts(vec![failed(attempt(4, 1, 2, at(10)), 1, 1_000)].into(), NO_DELAY).await.unwrap();
    let make_retries_due = async |limit| store.make_retries_due(&id("ep", 1), at(50), limit).await.unwrap();
    assert_eq!(make_retries_due(2).await, 2);
    assert_eq!(make_retries_due(2).await, 1);
    assert_eq!(make_retries_due(2).await, 0, "one is in a node's hands");
    let due = store.claim(&node(2), &id("ep", 1), DeliveryKind::Retry, at(50), ClaimLimit::for_rows(9)).await.unwrap();
    let due: Vec<_> = due.iter().map(|row| (row.message.id.clone(), row.attempts)).collect();
    assert_eq!(due, [1, 2, 3].map(|number| (id("msg", number), number as u32)));
    assert_eq!(claim_all(&*store, 2, 2, 50, 9).await.len(), 0, "another endpoint's waits on");
}

pub(super) async fn a_task_that_recovers_makes_due_what_waits_for_its_next_attempt(store: Shared) {
    let version = routes(&store, 1).await;
    accepted(&store, (1..=4).map(|number| sent(number, version, &[(1, Some(1))])).collect(), at(0)).await;
    let tried = (1..=3).map(|number| failed(attempt(number, number, 1, at(10)), 2, 1_000));
    store.record_attempts(tried.collect(), NO_DELAY).await.unwrap();
    for (index, kind) in [TaskKind::ReplayMissing, TaskKind::Recover, TaskKind::BulkReplay].into_iter().enumerate() {
        store.create_task(task(index + 1, kind), usize::MAX, None).await.unwrap();
    }
    leased(&store, 1, 10, 9).await;
    let advance =
        async |of, messages: &[usize], ms| store.advance_task(step(of, 1, 0, 4, messages, at(ms))).await.unwrap();
    assert_eq!(advance(1, &[1, 2, 3, 4], 50).await, 0, "none of them is missing");
    assert_eq!(advance(2, &[1, 2, 4], 50).await, 2, "a node has the fourth");
    assert_eq!(advance(3, &[1, 2, 3], 60).await, 1, "the others are due already");
    let due = claim_all(&*store, 2, 1, 60, 9).await;
    let due: Vec<_> = due.iter().map(|row| (row.message.id.clone(), row.attempts, row.replayed)).collect();
    assert_eq!(due, [1, 2, 3].map(|number| (id("msg", number), 2, true)));
    let replayed = failed(Attempt { trigger: AttemptTrigger::Manual, ..attempt(9, 1, 1, at(70)) }, 3, 1_000);
    store.record_attempts(vec![replayed].into(), NO_DELAY).await.unwrap();
    let retried = claim_all(&*store, 2, 1, 1_070, 9).await;
    let retried: Vec<_> = retried.iter().map(|row| (row.message.id.clone(), row.attempts, row.replayed)).collect();
    assert_eq!(retried, [(id("msg", 1), 3, false)], "the retry of a replay is a scheduled one");
}

pub(super) async fn messages_that_a_task_sends_again_are_distinguished_from_new_ones(store: Shared) {
    let version = routes(&store, 1).await;
    let in_order = NewMessage { ordering_key: OrderingKey::parse("lot-1").ok(), ..keyed(2, version, "lot-1", &[1]) };
    accepted(&store, vec![sent(1, version, &[]), in_order, sent(3, version, &[(1, None)])], at(0)).await;
    assert_eq!(claim_all(&*store, 1, 1, 5, 1).await.len(), 1);
    store.record_attempts(vec![succeeded(attempt(1, 2, 1, at(5)))].into(), NO_DELAY).await.unwrap();
    store.create_task(task(1, TaskKind::BulkReplay), usize::MAX, None).await.unwrap();
    leased(&store, 1, 10, 9).await;
    assert_eq!(store.advance_task(step(1, 1, 0, 4, &[1, 2], at(20))).await.unwrap(), 2);
    let mut claimed = claim_all(&*store, 2, 1, 20, 9).await;
    claimed.sort_by(|one, other| one.message.id.cmp(&other.message.id));
    let claimed: Vec<_> = claimed.iter().map(|row| (row.message.id.clone(), row.replayed)).collect();
    assert_eq!(claimed, [(id("msg", 1), true), (id("msg", 2), true), (id("msg", 3), false)]);
}

pub(super) async fn clearing_a_pause_changes_the_endpoint(store: Shared) {
    let before = routes(&store, 2).await;
    store.reset_endpoint_pause(&id("ep", 1), at(500)).await.unwrap();
    let changed = store.endpoint(&id("app", 1), &id("ep", 1)).await.unwrap().unwrap();
    assert_eq!(changed, Endpoint { updated_at: at(500), ..endpoint(1) });
    assert_eq!(version(&store).await, before + 1);
    store.reset_endpoint_pause(&id("ep", 1), at(500)).await.unwrap();
    let again = store.endpoint(&id("app", 1), &id("ep", 1)).await.unwrap().unwrap();
    assert!(again.updated_at > at(500), "also in the same moment");
    assert!(matches!(store.reset_endpoint_pause(&id("ep", 9), at(500)).await, Err(StoreError::NotFound)));
}

pub(super) async fn waiting_messages_are_listed_newest_first_but_for_heads_under_way(store: Shared) {
    let version = routes(&store, 2).await;
    let mut messages: Vec<_> = (1..=2).map(|number| keyed(number, version, "lot-1", &[1])).collect();
    messages.extend([
        sent(3, version, &[(1, Some(1))]),
        sent(4, version, &[(1, None)]),
        sent(5, version, &[(2, None)]),
    ]);
    accepted(&store, messages, at(0)).await;
    let listed = async |before, limit| store.waiting_messages(&id("ep", 1), &id("msg", before), limit).await.unwrap();
    assert_eq!(listed(9, 9).await, [4, 3, 2, 1].map(|number| id("msg", number)));
    assert_eq!(listed(9, 1).await, [id("msg", 4)]);
    assert_eq!(listed(4, 2).await, [3, 2].map(|number| id("msg", number)));
    claim_all(&*store, 1, 1, 5, 9).await;
    assert_eq!(listed(9, 9).await, [4, 3, 2].map(|number| id("msg", number)), "the head is under way");
}

pub(super) async fn what_is_given_up_ends_with_an_attempt_that_says_so(store: Shared) {
    let version = routes(&store, 2).await;
    let mut messages: Vec<_> = (1..=3).map(|number| keyed(number, version, "lot-1", &[1])).collect();
    messages.extend([sent(4, version, &[(1, Some(1))]), sent(5, version, &[(1, None), (2, None)])]);
    accepted(&store, messages, at(0)).await;
    let cancelled = |number: usize, message: usize| Attempt {
        status: AttemptStatus::Cancelled,
        response_status_code: 0,
        ..attempt(number, message, 1, at(50))
    };
    let cancel_deliveries = async |of: &[usize]| {
        let attempts = of.iter().map(|message| cancelled(*message, *message)).collect();
        store.cancel_deliveries(&id("ep", 1), attempts).await.unwrap()
    };
    assert_eq!(cancel_deliveries(&[5, 4, 2, 9]).await, 3, "the ninth was never there");
    assert_eq!(cancel_deliveries(&[5, 4]).await, 0, "they are gone");
    let kept = store.attempts_at_endpoint(&id("app", 1), &id("ep", 1), whole(Order::Ascending)).await.unwrap();
    assert_eq!(kept, [cancelled(5, 5), cancelled(4, 4), cancelled(2, 2)]);
    let claimed = async |endpoint| {
        let claimed = claim_all(&*store, 1, endpoint, 5, 9).await;
        claimed.iter().map(|row| row.message.id.clone()).collect::<Vec<_>>()
    };
    assert_eq!(claimed(1).await, [id("msg", 1)]);
    assert_eq!(cancel_deliveries(&[3, 1]).await, 1, "the head is under way");
    assert_eq!(store.backlog(&id("ep", 1)).await.unwrap().deliveries, 1);
    assert_eq!(claimed(2).await, [id("msg", 5)], "another endpoint's goes on");
}

/// Those behind it wait for it no more.
pub(super) async fn a_head_that_is_given_up_lets_the_next_go(store: Shared) {
    let version = routes(&store, 1).await;
    accepted(&store, (1..=2).map(|number| keyed(number, version, "lot-1", &[1])).collect(), at(0)).await;
    assert_eq!(store.cancel_deliveries(&id("ep", 1), vec![attempt(1, 1, 1, at(5))]).await.unwrap(), 1);
    let claimed = claim_all(&*store, 1, 1, 5, 9).await;
    assert_eq!(claimed.iter().map(|row| row.message.id.clone()).collect::<Vec<_>>(), [id("msg", 2)]);
}

pub(super) async fn failures_are_counted_once_their_retries_have_ended(store: Shared) {
    let version = routes(&store, 2).await;
    accepted(&store, (1..=4).map(|number| sent(number, version, &[(1, Some(1)), (2, Some(1))])).collect(), at(0)).await;
    let ended = |number, message, endpoint| AttemptRecord {
        outcome: DeliveryOutcome::Done,
        ..failed(attempt(number, message, endpoint, at(10)), 2, 0)
    };
    let records = vec![
        ended(1, 1, 1),
        failed(attempt(2, 2, 1, at(10)), 1, 1_000),
        failed(attempt(3, 3, 1, at(10)), 1, 1_000),
        ended(4, 3, 1),
        ended(5, 4, 2),
    ];
    store.record_attempts(records.into(), NO_DELAY).await.unwrap();
    let counted = async |first| store.ended_failures(&id("ep", 1), &id("atmpt", first)).await.unwrap();
    assert_eq!((counted(1).await, counted(2).await, counted(5).await), (2, 1, 0));
}

pub(super) async fn unknown_event_types_are_counted_by_key_until_they_are_registered(store: Shared) {
    store.create_account(account(1)).await.unwrap();
    let counted = |name: &str, key: usize, messages, from_ms, to_ms| UnknownEventType {
        account: id("org", 1),
        name: name.to_owned(),
        key: id("key", key),
        key_name: format!("Key {key}"),
        messages,
        first_at: at(from_ms),
        last_at: at(to_ms),
    };
    let record = async |counted: Vec<UnknownEventType>, forget_ms| {
        store.record_unknown_event_types(counted, at(forget_ms)).await.unwrap();
    };
    let listed = async |limit| store.unknown_event_types(&id("org", 1), limit).await.unwrap();
    record(vec![counted("a", 1, 2, 10, 20), counted("b", 1, 1, 30, 30)], 0).await;
    record(vec![counted("a", 1, 3, 25, 40), counted("a", 2, 1, 35, 35)], 0).await;
    let all = [counted("a", 1, 5, 10, 40), counted("a", 2, 1, 35, 35), counted("b", 1, 1, 30, 30)];
    assert_eq!(listed(9).await, all);
    assert_eq!(listed(1).await, all[..1]);
    assert_eq!(store.unknown_event_types(&id("org", 2), 9).await.unwrap(), []);
    // A count from before the registration may come after it.
    store.create_event_type(event_type("a"), None).await.unwrap();
    record(vec![counted("a", 1, 1, 41, 41), counted("c", 1, 1, 50, 50)], 31).await;
    assert_eq!(
        listed(9).await,
        [counted("c", 1, 1, 50, 50)],
        "the old one is forgotten, the registered one not listed"
    );
    let many = (0..UNKNOWN_EVENT_TYPES_MAX + 9).map(|number| counted(&format!("t{number:04}"), 1, 1, 60, 60)).collect();
    record(many, 0).await;
    assert_eq!(listed(usize::MAX).await.len(), UNKNOWN_EVENT_TYPES_MAX - 1, "one row is of the registered one");
}

pub(super) async fn a_pause_is_kept_until_it_is_over_or_the_endpoint_is_changed(store: Shared) {
    routes(&store, 2).await;
    let pause = |endpoint, until_ms, changed_ms| Pause {
        application: id("app", 1),
        endpoint: id("ep", endpoint),
        until: at(until_ms),
        changed_at: at(changed_ms),
        reason: if endpoint == 1 { PauseReason::Requested } else { PauseReason::Overload },
    };
    let paused = async |ms| store.paused_until(&id("ep", 1), at(ms)).await.unwrap();
    let kept = async |since_ms, ms, limit| store.pauses(at(since_ms), at(ms), limit).await.unwrap();
    assert_eq!(paused(1_500).await, None);
    store.save_pause(pause(1, 9_500, 2), at(1_500)).await.unwrap();
    store.save_pause(pause(1, 9_000, 2), at(1_600)).await.unwrap();
    store.save_pause(pause(2, 9_500, 2), at(1_700)).await.unwrap();
    assert_eq!(paused(2_000).await, Some(at(9_000)), "the last that was said");
    assert_eq!(store.pause(&id("ep", 2), at(2_000)).await.unwrap(), Some(pause(2, 9_500, 2)));
    assert_eq!(paused(9_000).await, None, "it is over");
    assert_eq!(kept(0, 2_000, 9).await, [pause(2, 9_500, 2), pause(1, 9_000, 2)]);
    assert_eq!(kept(0, 2_000, 1).await, [pause(2, 9_500, 2)]);
    assert_eq!(kept(1_601, 2_000, 9).await, [pause(2, 9_500, 2)]);
    assert_eq!(kept(0, 9_200, 9).await, [pause(2, 9_500, 2)]);
    store.save_pause(pause(2, 12_000, 2), at(9_500)).await.unwrap();
    assert_eq!(paused(2_000).await, None, "those that are over are forgotten");

    store.save_pause(pause(1, 20_000, 2), at(10_000)).await.unwrap();
    store.reset_endpoint_pause(&id("ep", 1), at(10_500)).await.unwrap();
    assert_eq!(paused(11_000).await, None, "somebody has done something about it");
    assert_eq!(kept(0, 11_000, 9).await, [pause(2, 12_000, 2)]);
    store.save_pause(pause(1, 20_000, 10_500), at(11_000)).await.unwrap();
    assert_eq!(paused(11_000).await, Some(at(20_000)), "it says so again");
    let changed = Application { updated_at: at(10_600), ..application(1) };
    update_application(&*store, changed).await.unwrap();
    assert_eq!((paused(11_000).await, kept(0, 11_000, 9).await), (None, Vec::new()), "its application was changed");
}

pub(super) async fn a_uid_is_found_whoever_has_it(store: Shared) {
    routes(&store, 2).await;
    store.create_application(application(2), None).await.unwrap();
    let same = Endpoint { application: id("app", 2), uid: Some("receiver-1".into()), ..endpoint(3) };
    store.create_endpoint(same.clone(), usize::MAX, None).await.unwrap();
    let endpoints = async |uid, limit| store.endpoints_by_uid(uid, limit).await.unwrap();
    let both = [(id("org", 1), endpoint(1)), (id("org", 1), same)];
    assert_eq!(endpoints("receiver-1", 9).await, both);
    assert_eq!(endpoints("receiver-1", 1).await, both[..1]);
    assert_eq!(endpoints(&id("ep", 1), 9).await, [], "an id is no uid");
    let applications = store.applications_by_uid("customer-2", 9).await.unwrap();
    assert_eq!(applications.iter().map(|found| found.id.clone()).collect::<Vec<_>>(), [id("app", 2)]);
    assert_eq!(store.applications_by_uid("customer-9", 9).await.unwrap(), []);
}
