//! The counts by hour, and those of background tasks, equal the recorded attempts after any history.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use kit_runtime::clock::{Clock as _, TestClock};
use kit_runtime::random::{Random as _, SeededRandom, SystemRandom};
use provider_core::ids::{self, Ids};
use provider_core::model::counts::{AttemptCounts, DeliveryCounts, DeliveryEnd, EndedDeliveries, Hour};
use provider_core::model::{
    Attempt, AttemptStatus, AttemptTrigger, BackgroundTask, Id, Progress, TaskKind, TaskStatus,
};
use provider_core::port::{AttemptRecord, CountScope, DeliveryOutcome, Order, Resend, StoreError, TaskStep};

use super::counts::{ALL, exhausted, record};
use super::given::*;
use super::tasks::{step, task};

/// A message and an endpoint, by their numbers.
type Delivery = (usize, usize);

/// What a random history should count, told apart from the store: it knows only what it asked for.
#[derive(Default)]
struct Expected {
    rows: BTreeMap<Delivery, Row>,
    /// Deliveries with an attempt, and whether one succeeded.
    tried: BTreeMap<Delivery, bool>,
    ended: BTreeMap<usize, EndedDeliveries>,
    attempts: BTreeMap<(usize, Hour), AttemptCounts>,
    tasks: BTreeMap<usize, Progress>,
    messages: u64,
}

/// A delivery row.
#[derive(Debug, Clone, Copy, Default)]
struct Row {
    /// The delivery ended, and was asked for again.
    ended_before: bool,
    /// A node has it in memory.
    owned: bool,
    /// When its next attempt is due after a failed one.
    retry_at: Option<Timestamp>,
    resend: Asked,
    task: Option<usize>,
}

/// Whether a caller asked for a resend.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Asked {
    #[default]
    No,
    /// The next attempt is the resend.
    Next,
    /// The resend follows the attempt that is under way.
    AfterThis,
}

impl Expected {
    fn end(&mut self, delivery: Delivery, end: DeliveryEnd) {
        let row = self.rows.remove(&delivery).unwrap();
        if !row.ended_before {
            self.ended.entry(delivery.1).or_default().add(end, 1);
        }
        if let Some(task) = row.task {
            self.tasks.get_mut(&task).unwrap().ended.add(end, 1);
        }
    }

    fn attempt(&mut self, attempt: &Attempt) {
        let delivery = delivery_of(attempt);
        let hour = Hour::of(ids::timestamp_of(&attempt.id, ids::ATTEMPT).unwrap());
        let counts = self.attempts.entry((delivery.1, hour)).or_default();
        match attempt.status {
            AttemptStatus::Success => counts.success += 1,
            AttemptStatus::Cancelled => counts.cancelled += 1,
            _ => counts.fail += 1,
        }
        *self.tried.entry(delivery).or_default() |= attempt.status == AttemptStatus::Success;
    }

    fn recorded(&mut self, record: &AttemptRecord) {
        self.attempt(&record.attempt);
        let delivery = delivery_of(&record.attempt);
        let row = self.rows.get_mut(&delivery).unwrap();
        let resend_follows = row.resend == Asked::AfterThis;
        row.owned = false;
        match record.outcome {
            DeliveryOutcome::Retry { .. } if resend_follows => row.resend = Asked::Next,
            DeliveryOutcome::Retry { at, .. } => row.retry_at = Some(at),
            DeliveryOutcome::Done => {
                self.end(delivery, record.end());
                if resend_follows {
                    self.rows.insert(delivery, Row { ended_before: true, resend: Asked::Next, ..Row::default() });
                }
            }
        }
    }

    fn resent(&mut self, delivery: Delivery) {
        let ended_before = self.tried.contains_key(&delivery);
        let row = self.rows.entry(delivery).or_insert(Row { ended_before, ..Row::default() });
        row.resend = if row.owned { Asked::AfterThis } else { Asked::Next };
        // A row that is marked for a resend is due before all others.
        row.retry_at = row.retry_at.filter(|_| row.owned);
    }

    /// A task sends a message again. Returns whether it enqueues the message.
    fn replayed(&mut self, delivery: Delivery, task: usize, kind: TaskKind, now: Timestamp) -> bool {
        let tried = self.tried.get(&delivery).copied();
        match self.rows.get_mut(&delivery) {
            Some(row) => {
                let retries = !row.owned && row.retry_at.is_some_and(|at| at > now);
                if !(retries && kind.makes_retries_due()) {
                    return false;
                }
                if let Some(earlier) = row.task.replace(task) {
                    self.tasks.get_mut(&earlier).unwrap().taken_over += 1;
                }
                row.retry_at = Some(now);
            }
            None => {
                let sends = match kind {
                    TaskKind::Recover => tried != Some(true),
                    TaskKind::ReplayMissing => tried.is_none(),
                    TaskKind::BulkReplay => true,
                    TaskKind::PurgeContent => false,
                };
                if !sends {
                    return false;
                }
                let row = Row { ended_before: tried.is_some(), task: Some(task), ..Row::default() };
                self.rows.insert(delivery, row);
            }
        }
        true
    }

    /// Of each task, what the store should have.
    async fn check_tasks(&self, store: &Shared, seed: u64) {
        for (number, expected) in &self.tasks {
            let found = store.task(&id("org", 1), &id("qtask", *number)).await.unwrap().unwrap().progress;
            assert_eq!(found, *expected, "task {number}, seed {seed}");
            let rows = self.rows.values().filter(|row| row.task == Some(*number)).count() as u64;
            assert_eq!(found.waiting(), rows, "task {number}, seed {seed}");
        }
    }
}

const ENDPOINTS: usize = 3;
const STEPS: usize = 200;
const TASK_MESSAGES_MAX: usize = 8;

pub(super) async fn counts_equal_the_records_after_any_history(store: Shared) {
    let version = routes(&store, ENDPOINTS).await;
    // Another history in each run; a failure names its seed.
    let seed = SystemRandom.u64();
    let random = Arc::new(SeededRandom::new(seed));
    let below = |max: usize| (random.unit_f64() * max as f64) as usize;
    let clock = Arc::new(TestClock::new(at(0)));
    let attempt_ids = Ids::new(clock.clone(), random.clone());
    let mut expected = Expected::default();
    let mut messages: Vec<usize> = Vec::new();
    let mut latest: Vec<AttemptRecord> = Vec::new();
    for number in 1..=STEPS {
        clock.advance(Duration::from_secs(below(1_800) as u64));
        let now = clock.now();
        let waiting: Vec<Delivery> = expected.rows.keys().copied().collect();
        let any = (!waiting.is_empty()).then(|| waiting[below(waiting.len())]);
        let made = |(message, endpoint): Delivery| Attempt {
            id: attempt_ids.make(ids::ATTEMPT),
            response_duration_ms: below(30_000) as i64,
            ..attempt(1, message, endpoint, now)
        };
        match (below(13), any) {
            (0..=2, _) | (_, None) => {
                let to: Vec<(usize, Option<usize>)> =
                    (1..=ENDPOINTS).filter(|_| below(2) == 0).map(|endpoint| (endpoint, Some(1))).collect();
                accepted(&store, vec![sent(number, version, &to)], now).await;
                expected.messages += 1;
                messages.push(number);
                let row = Row { owned: true, ..Row::default() };
                expected.rows.extend(to.iter().map(|(endpoint, _)| ((number, *endpoint), row)));
            }
            (3..=6, Some(_)) => {
                let batch: BTreeSet<Delivery> = (0..4).map(|_| waiting[below(waiting.len())]).collect();
                let mut records = Vec::new();
                for delivery in batch {
                    // A resend is the last attempt.
                    let is_resend = expected.rows[&delivery].resend == Asked::Next;
                    let trigger = if is_resend { AttemptTrigger::Manual } else { AttemptTrigger::Scheduled };
                    let attempt = Attempt { trigger, ..made(delivery) };
                    records.push(match below(3) {
                        0 if !is_resend => failed(attempt, 1, [5, 36_000_000][below(2)]),
                        0 | 1 => exhausted(attempt),
                        _ => succeeded(attempt),
                    });
                }
                records.iter().for_each(|record| expected.recorded(record));
                // Some of the records of an earlier call are in the call again.
                let repeated = latest.iter().take(below(4)).cloned();
                latest = repeated.chain(records).collect();
                for _ in 0..=below(2) {
                    record(&store, latest.clone()).await;
                }
            }
            (7, Some(waits)) => {
                let (message, endpoint) = match latest.is_empty() || below(2) == 0 {
                    true => waits,
                    false => delivery_of(&latest[below(latest.len())].attempt),
                };
                let resend =
                    Resend { application: id("app", 1), message: id("msg", message), endpoint: id("ep", endpoint) };
                store.resend(resend, None).await.unwrap();
                expected.resent((message, endpoint));
            }
            (8, Some(delivery)) => {
                let cancelled = Attempt { status: AttemptStatus::Cancelled, ..made(delivery) };
                let count = store.cancel_deliveries(&id("ep", delivery.1), vec![cancelled.clone()]).await.unwrap();
                assert_eq!(count, 1);
                expected.attempt(&cancelled);
                expected.end(delivery, DeliveryEnd::Cancelled);
            }
            (9, Some((message, endpoint))) => {
                for _ in 0..=below(2) {
                    store.drop_deliveries(vec![dropped(message, endpoint)], now).await.unwrap();
                }
                expected.end((message, endpoint), DeliveryEnd::Cancelled);
            }
            (_, Some((_, endpoint))) => {
                let kind = [TaskKind::Recover, TaskKind::ReplayMissing, TaskKind::BulkReplay][below(3)];
                let new = BackgroundTask { endpoint: id("ep", endpoint), ..task(number, kind) };
                store.create_task(new, usize::MAX, None).await.unwrap();
                let until = now + later(1_000);
                assert_eq!(store.lease_tasks(&id("node", 1), now, until, 1).await.unwrap().len(), 1);
                // Some that wait for this endpoint, and some that may not.
                let waiting = waiting.iter().filter(|(_, at)| *at == endpoint).map(|(message, _)| *message);
                let any = (0..TASK_MESSAGES_MAX / 2).map(|_| messages[below(messages.len())]);
                let chosen: BTreeSet<usize> = waiting.take(TASK_MESSAGES_MAX / 2).chain(any).collect();
                let chosen: Vec<usize> = chosen.into_iter().collect();
                let only = TaskStep { status: TaskStatus::Finished, ..step(number, 1, 0, number, &chosen, now) };
                let sends = chosen.iter().filter(|message| expected.replayed((**message, endpoint), number, kind, now));
                let enqueued = sends.count();
                let progress = Progress {
                    found: chosen.len() as u64,
                    enqueued: enqueued as u64,
                    ..Progress::at(id("msg", number))
                };
                expected.tasks.insert(number, progress);
                assert_eq!(store.advance_task(only.clone()).await.unwrap(), enqueued, "seed {seed}");
                let again = store.advance_task(only).await;
                assert!(matches!(again, Err(StoreError::Conflict)), "{again:?}");
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
        let rows = expected.rows.keys().filter(|(_, number)| *number == endpoint).count() as u64;
        assert_eq!(waiting.deliveries(), rows, "seed {seed}");
    }
    let messages = store.message_counts(&CountScope::Application(id("app", 1)), ALL).await.unwrap();
    assert_eq!(messages.iter().map(|(_, counts)| counts.messages).sum::<u64>(), expected.messages);
    expected.check_tasks(&store, seed).await;

    // The rows of an endpoint are deleted with it, and those of a message when it is old enough.
    for delivery in expected.rows.keys().copied().filter(|(_, endpoint)| *endpoint == 1).collect::<Vec<_>>() {
        expected.end(delivery, DeliveryEnd::Cancelled);
    }
    assert!(store.delete_endpoint(&id("app", 1), &id("ep", 1)).await.unwrap());
    expected.check_tasks(&store, seed).await;
    for delivery in expected.rows.keys().copied().collect::<Vec<_>>() {
        expected.end(delivery, DeliveryEnd::Cancelled);
    }
    store.delete_old_messages(&id("msg", STEPS + 1), STEPS).await.unwrap();
    expected.check_tasks(&store, seed).await;
    assert!(expected.tasks.values().all(|progress| progress.waiting() == 0));
}

/// The numbers of an attempt's message and endpoint.
fn delivery_of(attempt: &Attempt) -> Delivery {
    let number = |id: &Id| id.trim_start_matches(|char: char| !char.is_ascii_digit()).parse().unwrap();
    (number(&attempt.message), number(&attempt.endpoint))
}
