//! Forecasts when a house can send mails: how many it can send now, and the earliest time of the last one. The forecast follows
//! from the allowances of the house. A mailbox that receives too many mails, or a mail server that is down, delays mails further.

use std::collections::BTreeMap;
use std::time::Duration;

use jiff::Timestamp;
use kit_identity::throttle::Attempt;
use uuid::Uuid;

use super::allowances::of_house;
use crate::Platform;
use crate::error::PlatformResult;

/// When mails of a house can be sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MailForecast {
    /// The mails.
    pub mails: u64,
    /// Mails of the house that wait and come before them.
    pub before: u64,
    /// How many of the mails can be sent now.
    pub now: u64,
    /// When the last of them can be sent at the earliest; none when all can be sent now.
    pub last_at: Option<Timestamp>,
}

/// The part of an allowance that mails can still use.
#[derive(Debug, Clone, Copy)]
struct Left {
    attempt: Attempt,
    /// How long it takes until the allowance is full.
    ahead: Duration,
}

impl Left {
    /// How far ahead the end of the refill may be when a mail is taken.
    fn tolerance(&self) -> Duration {
        self.attempt.refill_interval.saturating_mul(self.attempt.attempts_max.saturating_sub(1))
    }

    /// Mails that are possible now.
    fn now(&self) -> u64 {
        let Some(free) = self.tolerance().checked_sub(self.ahead) else { return 0 };
        let more = free.as_nanos() / self.attempt.refill_interval.as_nanos().max(1);
        u64::try_from(more).unwrap_or(u64::MAX).saturating_add(1)
    }

    /// How long to wait until this number of mails were possible.
    fn wait_for(&self, mails: u64) -> Duration {
        let others = u32::try_from(mails.saturating_sub(1)).unwrap_or(u32::MAX);
        let ahead = self.ahead.saturating_add(self.attempt.refill_interval.saturating_mul(others));
        ahead.saturating_sub(self.tolerance())
    }
}

impl Platform {
    /// When a house can send `mails` mails, after `before` others.
    pub(super) async fn mail_forecast(&self, customer: Uuid, before: u64, mails: u64) -> PlatformResult<MailForecast> {
        let allowances = of_house(customer, self.config().mail_limits);
        let subjects = allowances.iter().map(|attempt| attempt.subject).collect();
        let full_at: BTreeMap<_, _> = self.store().allowances_full_at(subjects).await?.into_iter().collect();
        let now = self.now();
        let left = allowances.map(|attempt| {
            let ahead = full_at.get(&attempt.subject).map(|at| at.duration_since(now));
            Left { attempt, ahead: ahead.and_then(|ahead| Duration::try_from(ahead).ok()).unwrap_or_default() }
        });
        Ok(forecast(&left, (before, mails), now))
    }
}

fn forecast(left: &[Left], (before, mails): (u64, u64), now: Timestamp) -> MailForecast {
    let all = before.saturating_add(mails);
    let possible = left.iter().map(Left::now).min().unwrap_or(u64::MAX);
    let later = all.saturating_sub(possible).min(mails);
    let wait = left.iter().map(|left| left.wait_for(all)).max().unwrap_or_default();
    let last_at = (later > 0).then(|| now.checked_add(wait).unwrap_or(Timestamp::MAX));
    MailForecast { mails, before, now: mails - later, last_at }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR: Duration = Duration::from_secs(3_600);

    fn left(mails_max: u32, window: Duration, ahead: Duration) -> Left {
        let attempt = Attempt { subject: [0; 32], refill_interval: window / mails_max, attempts_max: mails_max };
        Left { attempt, ahead }
    }

    /// Mails that can be sent now, and minutes until the last one.
    fn shown(left: &[Left], before: u64, mails: u64) -> (u64, Option<i64>) {
        let now = Timestamp::UNIX_EPOCH;
        let found = forecast(left, (before, mails), now);
        (found.now, found.last_at.map(|at| at.duration_since(now).as_secs() / 60))
    }

    #[test]
    fn mails_within_the_allowance_are_sent_now_and_others_one_interval_after_the_other() {
        let whole = [left(60, HOUR, Duration::ZERO)];
        assert_eq!(shown(&whole, 0, 60), (60, None));
        assert_eq!(shown(&whole, 0, 61), (60, Some(1)));
        assert_eq!(shown(&whole, 50, 30), (10, Some(20)), "mails that wait come before them");
        assert_eq!(shown(&whole, 100, 30), (0, Some(70)));
        let used_up = [left(60, HOUR, HOUR)];
        assert_eq!(shown(&used_up, 0, 1), (0, Some(1)));
        let half = [left(60, HOUR, HOUR / 2)];
        assert_eq!(shown(&half, 0, 31), (30, Some(1)));
        // A limit that was lowered since: the refill ends later than the allowance of now allows.
        assert_eq!(shown(&[left(60, HOUR, 2 * HOUR)], 0, 1), (0, Some(61)));
        assert_eq!(shown(&whole, 0, 0), (0, None));
    }

    #[test]
    fn the_limit_that_takes_longest_counts() {
        let both = [left(60, HOUR, Duration::ZERO), left(24, 24 * HOUR, Duration::ZERO)];
        assert_eq!(shown(&both, 0, 24), (24, None));
        assert_eq!(shown(&both, 0, 30), (24, Some(6 * 60)));
        // The allowance takes as many mails as the forecast says.
        let whole = left(7, HOUR, Duration::ZERO);
        let (mut full_at, now) = (None, Timestamp::UNIX_EPOCH);
        for _ in 0..7 {
            full_at = Some(whole.attempt.take(full_at, now).unwrap());
        }
        let next = now + whole.wait_for(8);
        assert!(whole.attempt.take(full_at, next - Duration::from_millis(1)).is_err());
        assert!(whole.attempt.take(full_at, next).is_ok());
    }
}
