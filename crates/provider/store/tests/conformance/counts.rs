//! Exact counts by hour: they equal what was recorded, whatever happened.

use std::time::Duration;

use provider_core::ids;
use provider_core::model::cause::CauseClass;
use provider_core::model::counts::{
    AttemptCounts, DeliveryCounts, DurationCounts, EndedDeliveries, Hour, MessageCounts,
};
use provider_core::model::{Attempt, AttemptStatus, AttemptTrigger, Id};
use provider_core::port::{AttemptRecord, CountScope, DeliveryOutcome, Resend};

use super::given::*;

pub(super) const ALL: std::ops::Range<Hour> = Hour(0)..Hour(1_000_000);

async fn counts_of(store: &Shared, of: CountScope) -> DeliveryCounts {
    store.delivery_counts(&of, ALL).await.unwrap().into_iter().map(|(_, counts)| counts).sum()
}

async fn at_endpoint(store: &Shared, number: usize) -> DeliveryCounts {
    counts_of(store, CountScope::Endpoint(id("ep", number))).await
}

/// The last attempt, which fails.
pub(super) fn exhausted(attempt: Attempt) -> AttemptRecord {
    AttemptRecord { outcome: DeliveryOutcome::Done, ..failed(attempt, 1, 0) }
}

pub(super) async fn record(store: &Shared, records: Vec<AttemptRecord>) {
    store.record_attempts(records.into(), NO_DELAY).await.unwrap();
}

pub(super) async fn each_attempt_and_each_end_of_a_delivery_counts_once(store: Shared) {
    let version = routes(&store, 2).await;
    let both = &[(1, Some(1)), (2, Some(1))];
    accepted(&store, (1..=6).map(|number| sent(number, version, both)).collect(), at(0)).await;
    let slow = Attempt { response_duration_ms: 60_000, ..attempt(2, 2, 1, at(10)) };
    let records = vec![
        succeeded(attempt(1, 1, 1, at(10))),
        failed(slow, 1, 5),
        exhausted(attempt(3, 3, 1, at(10))),
        succeeded(attempt(4, 1, 2, at(10))),
    ];
    record(&store, records.clone()).await;
    // A node that does not know whether its call was committed repeats it, here with another attempt.
    record(&store, records.iter().cloned().chain([succeeded(attempt(5, 2, 2, at(11)))]).collect()).await;
    let first = at_endpoint(&store, 1).await;
    assert_eq!(first.attempts, AttemptCounts { success: 1, fail: 2, cancelled: 0 });
    assert_eq!(first.failures_of(CauseClass::Server), 2);
    assert_eq!(first.durations.buckets[2], 2, "12 ms");
    assert_eq!(first.durations.buckets[DurationCounts::BUCKETS - 1], 1);
    assert_eq!(first.ended, EndedDeliveries { delivered: 1, exhausted: 1, ..EndedDeliveries::default() });
    assert_eq!(at_endpoint(&store, 2).await.attempts.success, 2);

    // A resend adds an attempt, and no second end.
    for message in [1, 3] {
        let resend = Resend { application: id("app", 1), message: id("msg", message), endpoint: id("ep", 1) };
        store.resend(resend, None).await.unwrap();
    }
    let manual = |number, message| Attempt { trigger: AttemptTrigger::Manual, ..attempt(number, message, 1, at(20)) };
    record(&store, vec![succeeded(manual(6, 1)), succeeded(manual(7, 3))]).await;
    let resent = at_endpoint(&store, 1).await;
    assert_eq!(resent.attempts.success, 3);
    assert_eq!(resent.ended, first.ended);

    // A resend that was requested during the last scheduled attempt: that attempt ended the delivery.
    let resend = Resend { application: id("app", 1), message: id("msg", 4), endpoint: id("ep", 1) };
    store.resend(resend, None).await.unwrap();
    record(&store, vec![succeeded(attempt(8, 4, 1, at(30)))]).await;
    assert_eq!(at_endpoint(&store, 1).await.ended.delivered, 2);
    record(&store, vec![exhausted(manual(9, 4))]).await;
    assert_eq!(at_endpoint(&store, 1).await.ended, EndedDeliveries { delivered: 2, ..first.ended });

    // Ends without an attempt, or with a cancelled one.
    store.drop_deliveries(vec![dropped(5, 1), dropped(5, 1)], at(40)).await.unwrap();
    let cancelled = Attempt { status: AttemptStatus::Cancelled, ..attempt(10, 6, 1, at(41)) };
    assert_eq!(store.cancel_deliveries(&id("ep", 1), vec![cancelled]).await.unwrap(), 1);
    let last = at_endpoint(&store, 1).await;
    assert_eq!(last.attempts.cancelled, 1);
    assert_eq!(last.ended, EndedDeliveries { delivered: 2, exhausted: 1, skipped: 0, cancelled: 2 });
    let hour_of_drop = Hour::of(at(40));
    let in_hour =
        store.delivery_counts(&CountScope::Endpoint(id("ep", 1)), hour_of_drop..Hour(hour_of_drop.0 + 1)).await;
    assert_eq!(in_hour.unwrap()[0].1.ended.cancelled, 1, "a dropped delivery ends when it is dropped");

    // Of the application and of the account, also when the endpoint is deleted.
    assert!(store.delete_endpoint(&id("app", 1), &id("ep", 1)).await.unwrap());
    let mut sum = last;
    sum += at_endpoint(&store, 2).await;
    for scope in [CountScope::Application(id("app", 1)), CountScope::Account(id("org", 1))] {
        assert_eq!(counts_of(&store, scope.clone()).await, sum, "{scope:?}");
    }
    assert_eq!(counts_of(&store, CountScope::Account(id("org", 2))).await, DeliveryCounts::default());
}

pub(super) async fn a_skipped_head_counts_as_skipped(store: Shared) {
    let version = routes(&store, 1).await;
    let mut messages: Vec<_> = (1..=2).map(|number| sent(number, version, &[(1, None)])).collect();
    for message in &mut messages {
        let key = provider_core::OrderingKey::kept("lot");
        message.deliveries[0].ordering_key = Some(key.clone());
        message.ordering_key = Some(key);
    }
    accepted(&store, messages, at(0)).await;
    store.skip_head(skipped(1, 1, 1), "lot").await.unwrap();
    let ended = EndedDeliveries { skipped: 1, ..EndedDeliveries::default() };
    assert_eq!(at_endpoint(&store, 1).await.ended, ended);
}

pub(super) async fn messages_count_by_application_with_the_bytes_of_their_payloads(store: Shared) {
    let version = routes(&store, 1).await;
    let taken = |number| {
        let mut new = sent(number, version, &[(1, None)]);
        new.message.event_id = Some("once".into());
        new
    };
    let bytes = [1, 2].map(|number| message(number).payload.unwrap().len() as u64).iter().sum();
    let results = store.accept(vec![taken(1), sent(2, version, &[]), taken(3)], at(0)).await.unwrap();
    assert_eq!(reasons(results), ["ok", "ok", "taken eventId"]);
    for scope in [CountScope::Application(id("app", 1)), CountScope::Account(id("org", 1))] {
        let counted = store.message_counts(&scope, ALL).await.unwrap();
        let [(_, counts)] = counted[..] else { panic!("{counted:?}") };
        assert_eq!(counts, MessageCounts { messages: 2, payload_bytes: bytes });
    }
    assert!(store.message_counts(&CountScope::Endpoint(id("ep", 1)), ALL).await.unwrap().is_empty());
    // Deleting content changes no count.
    store.expunge_payload(&id("app", 1), &id("msg", 1), at(9)).await.unwrap();
    store.delete_old_messages(&id("msg", 9), 9).await.unwrap();
    let counted = store.message_counts(&CountScope::Account(id("org", 1)), ALL).await.unwrap();
    assert_eq!(counted[0].1.messages, 2);
}

pub(super) async fn the_hours_of_old_days_are_merged_and_very_old_days_deleted(store: Shared) {
    let version = routes(&store, 2).await;
    accepted(&store, (1..=5).map(|number| sent(number, version, &[(1, None), (2, None)])).collect(), at(0)).await;
    let day = Hour(480_000).day();
    let hours = [day.0 - 24, day.0 + 1, day.0 + 1, day.0 + 23, day.0 + 24];
    for (place, hour) in hours.into_iter().enumerate() {
        for endpoint in 1..=2 {
            let (number, started) = (10 * place + endpoint, Hour(hour).start());
            let ended = started + Duration::from_millis(4 * number as u64);
            let id = Id::from(ids::lowest_id_at(ids::ATTEMPT, ended));
            record(&store, vec![succeeded(Attempt { id, ..attempt(number, place + 1, endpoint, started) })]).await;
        }
    }
    let account = CountScope::Account(id("org", 1));
    let before = counts_of(&store, account.clone()).await;
    let (kept_from, merged_before) = (day, Hour(day.0 + 24));
    let mut calls = 0;
    while !store.merge_counts(merged_before, kept_from, 1).await.unwrap() {
        calls += 1;
        assert!(calls < 20);
    }
    let found = store.delivery_counts(&account, ALL).await.unwrap();
    let found: Vec<_> =
        found.iter().map(|(hour, counts)| (*hour, counts.attempts.success, counts.ended.delivered)).collect();
    assert_eq!(found, [(day, 6, 6), (Hour(day.0 + 24), 2, 2)]);
    assert_eq!(before.attempts.success, 10);
    assert!(store.merge_counts(merged_before, kept_from, 100).await.unwrap(), "once more changes nothing");
    assert_eq!(store.delivery_counts(&account, ALL).await.unwrap().len(), 2);
}
