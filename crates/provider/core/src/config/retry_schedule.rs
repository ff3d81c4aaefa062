//! The retry schedule: when a failed delivery is attempted again. A pure function of the number of attempts made.

use std::time::Duration;

/// Maximum number of retries of a schedule.
pub const RETRIES_MAX: usize = 100;
/// Jitter: the part of a pause that is added or subtracted at random. Of a wait that a receiver asked for, at most this
/// part is added.
const JITTER: f64 = 0.2;
/// Maximum jitter of a wait that a receiver asked for.
const SPREAD_MAX: Duration = Duration::from_secs(10);

/// The pauses between attempts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RetrySchedule(Vec<Duration>);

impl RetrySchedule {
    /// A schedule of these pauses; those after the hundredth are ignored. Without pauses, a delivery has a single
    /// attempt.
    pub fn new(mut pauses: Vec<Duration>) -> Self {
        pauses.truncate(RETRIES_MAX);
        Self(pauses)
    }

    /// The pause after the failed attempt number `attempts` (from 1), ±20 %; none when that was the last attempt.
    ///
    /// `unit` is a random number from 0 to 1, evenly distributed. The receiver's `Retry-After` (at most 24 h) with its
    /// jitter ([`spread`]) is the minimum of the pause.
    pub fn pause(&self, attempts: u32, unit: f64, retry_after: Option<Duration>) -> Option<Duration> {
        let index = usize::try_from(attempts).ok()?.checked_sub(1)?;
        let step = *self.0.get(index)?;
        let drawn = step.mul_f64(1.0 - JITTER + 2.0 * JITTER * unit.clamp(0.0, 1.0));
        Some(drawn.max(retry_after.map_or(Duration::ZERO, |asked| spread(asked, unit))))
    }
}

/// The pause when a receiver asks for this wait: the wait, and up to ten seconds more (a fifth, if that is less), so
/// that refused deliveries are not all sent again at the same time.
///
/// [`kit_outbound::retry_after`] has limited the wait to 24 h.
pub fn spread(asked: Duration, unit: f64) -> Duration {
    asked + asked.mul_f64(JITTER).min(SPREAD_MAX).mul_f64(unit.clamp(0.0, 1.0))
}

impl Default for RetrySchedule {
    /// 5 s, 5 min, 30 min, 2 h, 5 h, 10 h, 10 h.
    fn default() -> Self {
        Self([5, 300, 1_800, 7_200, 18_000, 36_000, 36_000].map(Duration::from_secs).to_vec())
    }
}

#[cfg(test)]
mod tests {
    use kit_outbound::RETRY_AFTER_MAX;
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_default_schedule_has_eight_attempts() {
        let schedule = RetrySchedule::default();
        let pauses: Vec<_> =
            (1..=8).map(|attempts| schedule.pause(attempts, 0.5, None).map(|pause| pause.as_secs())).collect();
        assert_eq!(
            pauses,
            [Some(5), Some(300), Some(1_800), Some(7_200), Some(18_000), Some(36_000), Some(36_000), None]
        );
        assert_eq!(schedule.pause(0, 0.5, None), None);
        assert_eq!(schedule.pause(u32::MAX, 0.5, None), None);
        assert_eq!(RetrySchedule::new(vec![]).pause(1, 0.5, None), None);
    }

    #[test]
    fn a_requested_wait_is_lengthened_by_jitter_and_never_shortened() {
        let s = Duration::from_secs;
        for (asked, unit, waited) in [
            (s(0), 1.0, s(0)),
            (s(5), 0.0, s(5)),
            (s(5), 1.0, s(6)),
            (s(3_600), 0.0, s(3_600)),
            (s(3_600), 0.5, s(3_605)),
            (s(3_600), 1.0, s(3_610)),
            (s(86_400), 0.0, s(86_400)),
        ] {
            assert_eq!(spread(asked, unit), waited, "{asked:?} {unit}");
        }
    }

    proptest! {
        #[test]
        fn a_pause_is_within_a_fifth_of_its_step_unless_the_receiver_asks_for_more(
            attempts in 1..=7_u32, unit in 0.0..1.0_f64, retry_after_s in proptest::option::of(0..=RETRY_AFTER_MAX.as_secs()),
        ) {
            let schedule = RetrySchedule::default();
            let step = schedule.0[attempts as usize - 1];
            let pause = schedule.pause(attempts, unit, retry_after_s.map(Duration::from_secs)).unwrap();
            let asked = Duration::from_secs(retry_after_s.unwrap_or(0));
            prop_assert!(pause >= step.mul_f64(0.799) && pause >= asked);
            prop_assert!(pause <= step.mul_f64(1.201).max(asked + asked.mul_f64(0.2).min(SPREAD_MAX)));
        }
    }
}
