//! Retries follow the schedule with a jitter of one fifth, and are never sent before the time that `Retry-After` requests.

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use proptest::prelude::*;
use provider_core::ProviderConfig;
use provider_core::model::{AttemptStatus, AttemptTrigger};

use super::{ClockedFixture, on_each_store};

const STEPS_S: [u64; 7] = [5, 300, 1_800, 7_200, 18_000, 36_000, 36_000];
const DAY_S: u64 = 86_400;

/// A response: its status, and its `Retry-After` in seconds or as a date.
#[derive(Debug, Clone)]
enum Reply {
    Plain(u16),
    AfterSeconds(u16, u64),
    AfterDate(u16, u64),
}

impl Reply {
    fn status(&self) -> u16 {
        match self {
            Self::Plain(status) | Self::AfterSeconds(status, _) | Self::AfterDate(status, _) => *status,
        }
    }

    fn asked_s(&self) -> u64 {
        match self {
            Self::Plain(_) => 0,
            Self::AfterSeconds(_, seconds) | Self::AfterDate(_, seconds) => (*seconds).min(DAY_S),
        }
    }

    fn header(&self, now: Timestamp) -> Option<String> {
        match self {
            Self::Plain(_) => None,
            Self::AfterSeconds(_, seconds) => Some(seconds.to_string()),
            Self::AfterDate(_, seconds) => {
                let at = now + SignedDuration::from_secs(*seconds as i64);
                Some(at.strftime("%a, %d %b %Y %H:%M:%S GMT").to_string())
            }
        }
    }
}

fn reply() -> impl Strategy<Value = Reply> {
    let status = || prop_oneof![4 => Just(500_u16), 1 => Just(400), 2 => Just(429), 2 => Just(503), 1 => Just(302)];
    let seconds = || prop_oneof![0..30_u64, 60..100_000_u64];
    prop_oneof![
        8 => status().prop_map(Reply::Plain),
        3 => (status(), seconds()).prop_map(|(status, seconds)| Reply::AfterSeconds(status, seconds)),
        2 => (status(), seconds()).prop_map(|(status, seconds)| Reply::AfterDate(status, seconds)),
        1 => Just(Reply::Plain(204)),
        1 => Just(Reply::Plain(410)),
    ]
}

#[test]
fn each_retry_follows_the_schedule_with_jitter_and_retry_after() {
    let replies = || proptest::collection::vec(reply(), 8);
    on_each_store([40, 10, 3], replies, async |store, replies| {
        let answers = replies.clone();
        let answer = Box::new(move |before: &[super::Arrival], now: &super::Arrival| {
            let reply = &answers[before.len().min(7)];
            (reply.status(), reply.header(now.at))
        });
        let config = ProviderConfig { disable_after: Duration::from_secs(400 * 3_600), ..ProviderConfig::default() };
        let clocked = ClockedFixture::new(store, config, answer).await;
        let endpoint = clocked.fixture.endpoint("https://example.com/").await;
        let message = clocked.fixture.send().await;
        clocked.until_nothing_waits(&endpoint).await;
        let attempts = clocked.fixture.attempts(&message, clocked.arrivals().len()).await;
        let last = replies.iter().position(|reply| matches!(reply.status(), 204 | 410)).unwrap_or(7);
        prop_assert_eq!(attempts.len(), last + 1, "{:?}", &replies);
        for (index, pair) in attempts.windows(2).enumerate() {
            let idle_ms = clocked.idle_between(pair[0].at, pair[1].at).as_millis() as i64;
            let waited_ms = pair[1].at.duration_since(pair[0].at).as_millis() as i64;
            let step_ms = STEPS_S[index] as i64 * 1_000;
            // A date has no fractions of a second.
            let asked_ms = replies[index].asked_s() as i64 * 1_000;
            let exact = matches!(replies[index], Reply::AfterSeconds(..));
            let least_ms = (step_ms * 4 / 5).max(if exact { asked_ms } else { asked_ms - 1_000 });
            // Retries after a `Retry-After` are spread over up to 10 seconds.
            let most_ms = (step_ms * 6 / 5).max(asked_ms + (asked_ms / 5).min(10_000)) + idle_ms + 1;
            prop_assert!(
                (least_ms..=most_ms).contains(&waited_ms),
                "retry {} came after {} ms, not {} to {}: {:?}",
                index + 1,
                waited_ms,
                least_ms,
                most_ms,
                &replies
            );
        }
        for (attempt, reply) in attempts.iter().zip(&replies) {
            let expected = if reply.status() == 204 { AttemptStatus::Success } else { AttemptStatus::Fail };
            prop_assert_eq!((attempt.status, attempt.response_status_code), (expected, reply.status()));
            prop_assert_eq!(attempt.trigger, AttemptTrigger::Scheduled);
        }
        let endpoint = clocked.fixture.provider.endpoint(&clocked.fixture.caller, "app", &endpoint.id).await.unwrap();
        prop_assert_eq!(endpoint.disabled, replies[last].status() == 410);
        clocked.end().await;
        Ok(())
    });
}
