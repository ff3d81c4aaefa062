//! The operational event that a scheduled attempt causes for the account: failing, recovered, exhausted, or none.

use crate::model::AttemptStatus;
use crate::port::{AttemptEvent, DeliveryOutcome};

/// A message counts as failing after this number of failed attempts.
const FAILING_AFTER: u32 = 4;

/// `attempts` includes the current attempt.
pub(super) fn attempt_event(status: AttemptStatus, attempts: u32, next: DeliveryOutcome) -> AttemptEvent {
    match (status, next) {
        (AttemptStatus::Success, _) if attempts > FAILING_AFTER => AttemptEvent::Recovered,
        (AttemptStatus::Success, _) => AttemptEvent::None,
        (_, DeliveryOutcome::Retry { .. }) if attempts == FAILING_AFTER => AttemptEvent::Failing,
        (_, DeliveryOutcome::Retry { .. }) => AttemptEvent::None,
        (_, DeliveryOutcome::Done) => AttemptEvent::Exhausted,
    }
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use super::*;

    #[test]
    fn a_message_is_failing_once_and_then_recovers_or_is_exhausted() {
        let again = |attempts| DeliveryOutcome::Retry { at: Timestamp::UNIX_EPOCH, attempts };
        let failed = |attempts| attempt_event(AttemptStatus::Fail, attempts, again(attempts));
        assert_eq!((1..=7).map(failed).filter(|notice| *notice != AttemptEvent::None).count(), 1);
        assert_eq!(failed(4), AttemptEvent::Failing);
        for attempts in [1, 4, 8] {
            assert_eq!(attempt_event(AttemptStatus::Fail, attempts, DeliveryOutcome::Done), AttemptEvent::Exhausted);
        }
        for (attempts, expected) in [(1, AttemptEvent::None), (4, AttemptEvent::None), (5, AttemptEvent::Recovered)] {
            assert_eq!(attempt_event(AttemptStatus::Success, attempts, DeliveryOutcome::Done), expected);
        }
    }
}
