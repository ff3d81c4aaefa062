//! Random calls against an ordered endpoint whose receiver fails at random. No message overtakes an earlier one of its key, no
//! message is lost, and each is signed with every secret that is in force.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use kit_runtime::clock::Clock as _;
use proptest::prelude::*;
use proptest::test_runner::TestCaseError;
use provider_core::config::retry_schedule::RetrySchedule;
use provider_core::{DeliveryOrder, EndpointInput, MessageInput, OrderingKey, ProviderConfig, Switch};
use standardwebhooks::Webhook;

use super::{Arrival, ClockedFixture, on_each_store};
use crate::fixture::{message, payload};

const ATTEMPTS_MAX: usize = 3;
const GRACE_S: i64 = 3_600;

/// A call, or the passing of time.
#[derive(Debug, Clone)]
enum Action {
    /// Sends a message with this key. The second value is the number of its first attempts that fail.
    Send(usize, usize),
    /// Sends a message without a key. The value is the number of its first attempts that fail.
    SendLoose(usize),
    Wait(u64),
    /// Skips the head of this key.
    Skip(usize),
    Off,
    On,
    Rotate,
}

fn actions() -> impl Strategy<Value = Vec<Action>> {
    let action = prop_oneof![
        10 => (0..3_usize, 0..5_usize).prop_map(|(key, fails)| Action::Send(key, fails)),
        2 => (0..3_usize).prop_map(Action::SendLoose),
        4 => (1..40_u64).prop_map(Action::Wait),
        2 => (0..3_usize).prop_map(Action::Skip),
        1 => Just(Action::Off),
        2 => Just(Action::On),
        1 => Just(Action::Rotate),
    ];
    proptest::collection::vec(action, 1..25)
}

/// Reads from the body of a message its key, its number, and the number of attempts that fail.
fn read(arrival: &Arrival) -> (String, usize, usize) {
    let body: serde_json::Value = serde_json::from_slice(&arrival.body).unwrap();
    let number = |name: &str| body[name].as_u64().unwrap() as usize;
    (body["key"].as_str().unwrap().to_owned(), number("number"), number("fails"))
}

#[test]
fn messages_of_a_key_arrive_in_order_and_none_is_lost() {
    on_each_store([60, 15, 4], actions, |store, actions| async move { apply_all(store, actions).await });
}

async fn apply_all(store: Arc<dyn provider_core::port::Store>, actions: Vec<Action>) -> Result<(), TestCaseError> {
    let answer = Box::new(|before: &[Arrival], now: &Arrival| {
        let (key, number, fails) = read(now);
        let attempt_counts =
            before.iter().filter(|arrival| read(arrival).0 == key && read(arrival).1 == number).count();
        (if attempt_counts < fails { 500 } else { 200 }, None)
    });
    let retry_schedule = RetrySchedule::new(vec![Duration::from_secs(20); ATTEMPTS_MAX - 1]);
    let clocked =
        ClockedFixture::new(store, ProviderConfig { retry_schedule, ..ProviderConfig::default() }, answer).await;
    let ordering = Some(DeliveryOrder::PerKey);
    let input = EndpointInput { url: "https://example.com/".into(), ordering, ..EndpointInput::default() };
    let endpoint = clocked.fixture.endpoint_with(input).await;
    let mut run = Run {
        clocked,
        endpoint: endpoint.id.to_string(),
        on: true,
        sent: 0,
        expected: BTreeSet::new(),
        dropped: BTreeSet::new(),
        numbers: BTreeMap::new(),
        secrets: Vec::new(),
    };
    run.secrets.push((run.secret().await, Timestamp::MAX));
    for action in &actions {
        run.apply(action).await;
    }
    run.apply(&Action::On).await;
    run.clocked.until_nothing_waits(&endpoint).await;
    run.check()?;
    run.clocked.end().await;
    Ok(())
}

struct Run {
    clocked: ClockedFixture,
    endpoint: String,
    on: bool,
    sent: usize,
    /// Key and number of the messages that must be attempted until they are delivered or given up.
    expected: BTreeSet<(String, usize)>,
    /// Messages that may have been dropped: they waited when the endpoint was switched off, or were skipped.
    dropped: BTreeSet<(String, usize)>,
    numbers: BTreeMap<String, (String, usize)>,
    /// Secrets with the time until which each signs.
    secrets: Vec<(String, Timestamp)>,
}

impl Run {
    async fn apply(&mut self, action: &Action) {
        match action {
            Action::Send(key, fails) => self.send(Some(*key), *fails).await,
            Action::SendLoose(fails) => self.send(None, *fails).await,
            Action::Wait(seconds) => {
                for _ in 0..*seconds {
                    self.clocked.receivers.clock.advance(Duration::from_secs(1));
                    self.clocked.receivers.wait_for_arrival(Duration::from_micros(200)).await;
                }
            }
            Action::Skip(key) => self.skip(&key.to_string()).await,
            Action::Off => {
                // The provider drops waiting messages. A message whose attempt is running may still arrive.
                self.dropped.extend(std::mem::take(&mut self.expected));
                self.switch(Switch::Off).await;
            }
            Action::On => self.switch(Switch::On).await,
            Action::Rotate => {
                let fixture = &self.clocked.fixture;
                let now = self.clocked.receivers.clock.now();
                let rotated = fixture
                    .provider
                    .rotate_endpoint_secret(&fixture.caller, "app", &self.endpoint, None, Some(GRACE_S), None)
                    .await;
                let Ok(secret) = rotated else { return };
                if let Some((_, until)) = self.secrets.last_mut() {
                    *until = now + SignedDuration::from_secs(GRACE_S);
                }
                self.secrets.push((secret, Timestamp::MAX));
            }
        }
    }

    async fn send(&mut self, key: Option<usize>, fails: usize) {
        self.sent += 1;
        let number = self.sent;
        let name = key.map_or("loose".to_owned(), |key| key.to_string());
        let text = format!(r#"{{"key":"{name}","number":{number},"fails":{fails}}}"#);
        let ordering_key = key.map(|_| OrderingKey::parse(&name).unwrap());
        let input = MessageInput { payload: payload(&text), ordering_key, ..message() };
        let message = self.clocked.fixture.try_send(input, None).await.unwrap();
        if self.on {
            self.expected.insert((name.clone(), number));
            self.numbers.insert(message.id.to_string(), (name, number));
        }
    }

    async fn switch(&mut self, to: Switch) {
        let fixture = &self.clocked.fixture;
        fixture.provider.switch_endpoint(&fixture.caller, "app", &self.endpoint, to).await.unwrap();
        self.on = to == Switch::On;
    }

    async fn skip(&mut self, key: &str) {
        let fixture = &self.clocked.fixture;
        let (blocked, _) =
            fixture.provider.blocked_keys(&fixture.caller, "app", &self.endpoint, None, 9).await.unwrap();
        let Some(head) = blocked.into_iter().find(|blocked| blocked.key.as_str() == key) else { return };
        let skipped =
            fixture.provider.skip_blocked_key(&fixture.caller, "app", &self.endpoint, &head.key, &head.message).await;
        if skipped.is_ok() {
            let place = self.numbers[&*head.message].clone();
            self.expected.remove(&place);
            self.dropped.insert(place);
        }
    }

    async fn secret(&self) -> String {
        let fixture = &self.clocked.fixture;
        fixture.provider.endpoint_secret(&fixture.caller, "app", &self.endpoint).await.unwrap()
    }

    fn check(&self) -> Result<(), TestCaseError> {
        let arrivals = self.clocked.arrivals();
        let mut attempt_counts: BTreeMap<(String, usize), usize> = BTreeMap::new();
        let mut last: BTreeMap<String, usize> = BTreeMap::new();
        for arrival in &arrivals {
            let (key, number, fails) = read(arrival);
            if key != "loose" {
                let before = last.insert(key.clone(), number).unwrap_or(0);
                prop_assert!(before <= number, "{} of key {} arrived after {}", number, key, before);
            }
            let count = attempt_counts.entry((key, number)).or_default();
            *count += 1;
            prop_assert!(*count <= (fails + 1).min(ATTEMPTS_MAX), "{:?} arrived {} times", read(arrival), count);
            self.check_signatures(arrival)?;
        }
        for place in &self.expected {
            let fails = arrivals.iter().map(read).find(|(key, number, _)| (key, number) == (&place.0, &place.1));
            let Some((.., fails)) = fails else {
                return Err(TestCaseError::fail(format!("{place:?} never arrived")));
            };
            prop_assert_eq!(attempt_counts[place], (fails + 1).min(ATTEMPTS_MAX), "{:?} was given up early", place);
        }
        for place in attempt_counts.keys() {
            prop_assert!(
                self.expected.contains(place) || self.dropped.contains(place),
                "{:?} arrived unexpectedly",
                place
            );
        }
        Ok(())
    }

    /// The newest secret and those in their grace period sign. A rotation may happen between the signing and the arrival,
    /// so fewer signatures than known secrets are allowed.
    fn check_signatures(&self, arrival: &Arrival) -> Result<(), TestCaseError> {
        let header = |name: &str| arrival.headers.get(name).unwrap().to_str().unwrap().to_owned();
        let signatures = header("webhook-signature");
        let count = signatures.split(' ').count();
        let verifying = self.secrets.iter().filter(|(secret, _)| {
            let names = ["webhook-id", "webhook-timestamp"].map(header);
            let at: i64 = names[1].parse().unwrap();
            let signed = Webhook::new(secret).unwrap().sign(&names[0], at, &arrival.body).unwrap();
            signatures.split(' ').any(|signature| signature == signed)
        });
        prop_assert_eq!(verifying.count(), count, "a signature belongs to no known secret");
        let known = self.secrets.iter().filter(|(_, until)| *until > arrival.at).count();
        prop_assert!((1..=known).contains(&count), "{} signatures at {}", count, arrival.at);
        Ok(())
    }
}
