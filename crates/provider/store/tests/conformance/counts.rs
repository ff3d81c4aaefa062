//! Exact counts by hour: they equal what was recorded, whatever happened.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use kit_runtime::clock::TestClock;
use kit_runtime::random::{Random as _, SeededRandom, SystemRandom};
use provider_core::ids::{self, Ids};
use provider_core::model::cause::CauseClass;
use provider_core::model::counts::{
    AttemptCounts, DeliveryCounts, DeliveryEnd, DurationCounts, EndedDeliveries, Hour, MessageCounts,
};
use provider_core::model::{Attempt, AttemptStatus, AttemptTrigger, Id};
use provider_core::port::{AttemptRecord, CountScope, DeliveryOutcome, Order, Resend};

use super::given::*;

const ALL: std::ops::Range<Hour> = Hour(0)..Hour(1_000_000);

async fn counts_of(store: &Shared, of: CountScope) -> DeliveryCounts {
    store.delivery_counts(&of, ALL).await.unwrap().into_iter().map(|(_, counts)| counts).sum()
}

async fn at_endpoint(store: &Shared, number: usize) -> DeliveryCounts {
    counts_of(store, CountScope::Endpoint(id("ep", number))).await
}

/// The last attempt, which fails.
fn exhausted(attempt: Attempt) -> AttemptRecord {
    AttemptRecord { outcome: DeliveryOutcome::Done, ..failed(attempt, 1, 0) }
}

async fn record(store: &Shared, records: Vec<AttemptRecord>) {
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
    store.skip_head(dropped(1, 1), "lot", at(1)).await.unwrap();
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

/// What a random history should count, told apart from the store: it knows only what it asked for.
#[derive(Default)]
struct Expected {
    /// Deliveries (message, endpoint) that have not ended.
    open: BTreeSet<(usize, usize)>,
    /// Deliveries that ended and were asked for again.
    again: BTreeSet<(usize, usize)>,
    ended: BTreeMap<usize, EndedDeliveries>,
    attempts: BTreeMap<(usize, Hour), AttemptCounts>,
    messages: u64,
}

impl Expected {
    fn end(&mut self, delivery: (usize, usize), end: DeliveryEnd) {
        if self.open.remove(&delivery) {
            self.ended.entry(delivery.1).or_default().add(end, 1);
        }
        self.again.remove(&delivery);
    }

    fn attempt(&mut self, attempt: &Attempt, endpoint: usize) {
        let hour = Hour::of(ids::timestamp_of(&attempt.id, ids::ATTEMPT).unwrap());
        let counts = self.attempts.entry((endpoint, hour)).or_default();
        match attempt.status {
            AttemptStatus::Success => counts.success += 1,
            AttemptStatus::Cancelled => counts.cancelled += 1,
            _ => counts.fail += 1,
        }
    }
}

const ENDPOINTS: usize = 3;
const STEPS: usize = 150;

pub(super) async fn counts_equal_the_records_after_any_history(store: Shared) {
    let version = routes(&store, ENDPOINTS).await;
    // Another history in each run; a failure names its seed.
    let seed = SystemRandom.u64();
    let random = Arc::new(SeededRandom::new(seed));
    let below = |max: usize| (random.unit_f64() * max as f64) as usize;
    let clock = Arc::new(TestClock::new(at(0)));
    let attempt_ids = Ids::new(clock.clone(), random.clone());
    let mut expected = Expected::default();
    let mut latest: Vec<AttemptRecord> = Vec::new();
    for step in 1..=STEPS {
        clock.advance(Duration::from_secs(below(1_800) as u64));
        let now = kit_runtime::clock::Clock::now(&*clock);
        let waiting: Vec<(usize, usize)> = expected.open.union(&expected.again).copied().collect();
        let any = (!waiting.is_empty()).then(|| waiting[below(waiting.len())]);
        let made = |message: usize, endpoint: usize| Attempt {
            id: attempt_ids.make(ids::ATTEMPT),
            response_duration_ms: below(30_000) as i64,
            ..attempt(1, message, endpoint, now)
        };
        match (below(10), any) {
            (0..=2, _) | (_, None) => {
                let to: Vec<(usize, Option<usize>)> =
                    (1..=ENDPOINTS).filter(|_| below(2) == 0).map(|endpoint| (endpoint, Some(1))).collect();
                accepted(&store, vec![sent(step, version, &to)], now).await;
                expected.messages += 1;
                expected.open.extend(to.iter().map(|(endpoint, _)| (step, *endpoint)));
            }
            (3..=6, Some(_)) => {
                let batch: BTreeSet<(usize, usize)> = (0..4).map(|_| waiting[below(waiting.len())]).collect();
                let mut records = Vec::new();
                for (message, endpoint) in batch {
                    let attempt = made(message, endpoint);
                    // Of a delivery that was asked for again, the attempt is a manual one and the last.
                    let attempt = match expected.again.contains(&(message, endpoint)) {
                        true => Attempt { trigger: AttemptTrigger::Manual, ..attempt },
                        false => attempt,
                    };
                    records.push(match below(3) {
                        0 if attempt.trigger == AttemptTrigger::Scheduled => failed(attempt, 1, 5),
                        0 | 1 => exhausted(attempt),
                        _ => succeeded(attempt),
                    });
                }
                for (record, delivery) in records.iter().map(|record| (record, delivery_of(&record.attempt))) {
                    expected.attempt(&record.attempt, delivery.1);
                    if record.outcome == DeliveryOutcome::Done {
                        expected.end(delivery, record.end());
                    }
                }
                // Some of the records of an earlier call are in the call again.
                let repeated = latest.iter().take(below(4)).cloned();
                latest = repeated.chain(records).collect();
                for _ in 0..=below(2) {
                    record(&store, latest.clone()).await;
                }
            }
            (7, Some(_)) if !latest.is_empty() => {
                let delivery = delivery_of(&latest[below(latest.len())].attempt);
                if !expected.open.contains(&delivery) {
                    let resend = Resend {
                        application: id("app", 1),
                        message: id("msg", delivery.0),
                        endpoint: id("ep", delivery.1),
                    };
                    store.resend(resend, None).await.unwrap();
                    expected.again.insert(delivery);
                }
            }
            (8, Some((message, endpoint))) => {
                let cancelled = Attempt { status: AttemptStatus::Cancelled, ..made(message, endpoint) };
                let count = store.cancel_deliveries(&id("ep", endpoint), vec![cancelled.clone()]).await.unwrap();
                assert_eq!(count, 1);
                expected.attempt(&cancelled, endpoint);
                expected.end((message, endpoint), DeliveryEnd::Cancelled);
            }
            (_, Some((message, endpoint))) => {
                store.drop_deliveries(vec![dropped(message, endpoint)], now).await.unwrap();
                expected.end((message, endpoint), DeliveryEnd::Cancelled);
            }
        }
    }
    for endpoint in 1..=ENDPOINTS {
        let counted = store.delivery_counts(&CountScope::Endpoint(id("ep", endpoint)), ALL).await.unwrap();
        let total: DeliveryCounts = counted.iter().map(|(_, counts)| *counts).sum();
        assert_eq!(total.ended, expected.ended.get(&endpoint).copied().unwrap_or_default(), "seed {seed}");
        let attempts: BTreeMap<(usize, Hour), AttemptCounts> = counted
            .iter()
            .filter(|(_, counts)| counts.attempts != AttemptCounts::default())
            .map(|(hour, counts)| ((endpoint, *hour), counts.attempts))
            .collect();
        let of_endpoint = expected.attempts.iter().filter(|((number, _), _)| *number == endpoint);
        assert_eq!(attempts, of_endpoint.map(|(key, counts)| (*key, *counts)).collect(), "seed {seed}");
        // The counts and the attempts that are stored, in full.
        let stored =
            store.attempts_at_endpoint(&id("app", 1), &id("ep", endpoint), whole(Order::Ascending)).await.unwrap();
        let mut recounted = DeliveryCounts::default();
        stored.iter().for_each(|attempt| recounted.add_attempt(attempt));
        assert_eq!(DeliveryCounts { ended: EndedDeliveries::default(), ..total }, recounted, "seed {seed}");
        assert_eq!(total.failures.iter().sum::<u64>(), total.attempts.fail);
        let index = store.count_attempts(&id("ep", endpoint), "".into().."~".into()).await.unwrap();
        assert_eq!(index, total.attempts, "seed {seed}");
        let waiting = store.endpoint_waiting(&id("ep", endpoint), None).await.unwrap();
        let rows = expected.open.union(&expected.again).filter(|(_, number)| *number == endpoint).count() as u64;
        assert_eq!(waiting.deliveries(), rows, "seed {seed}");
    }
    let messages = store.message_counts(&CountScope::Application(id("app", 1)), ALL).await.unwrap();
    assert_eq!(messages.iter().map(|(_, counts)| counts.messages).sum::<u64>(), expected.messages);
}

/// The numbers of an attempt's message and endpoint.
fn delivery_of(attempt: &Attempt) -> (usize, usize) {
    let number = |id: &Id| id.trim_start_matches(|char: char| !char.is_ascii_digit()).parse().unwrap();
    (number(&attempt.message), number(&attempt.endpoint))
}
