//! What an account is told of a scheduled attempt, and when.

use crate::model::AttemptStatus;
use crate::port::{Next, Notice};

/// Failed attempts after which a message is said to be failing.
const FAILING_AFTER: u32 = 4;

/// `attempts` made so far, this one included.
pub(super) fn notice(status: AttemptStatus, attempts: u32, next: Next) -> Notice {
    match (status, next) {
        (AttemptStatus::Success, _) if attempts > FAILING_AFTER => Notice::Recovered,
        (AttemptStatus::Success, _) => Notice::None,
        (_, Next::Retry { .. }) if attempts == FAILING_AFTER => Notice::Failing,
        (_, Next::Retry { .. }) => Notice::None,
        (_, Next::Done) => Notice::Exhausted,
    }
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use super::*;

    #[test]
    fn a_message_is_failing_once_and_then_recovers_or_is_exhausted() {
        let again = |attempts| Next::Retry { at: Timestamp::UNIX_EPOCH, attempts };
        let failed = |attempts| notice(AttemptStatus::Fail, attempts, again(attempts));
        assert_eq!((1..=7).map(failed).filter(|notice| *notice != Notice::None).count(), 1);
        assert_eq!(failed(4), Notice::Failing);
        for attempts in [1, 4, 8] {
            assert_eq!(notice(AttemptStatus::Fail, attempts, Next::Done), Notice::Exhausted);
        }
        for (attempts, expected) in [(1, Notice::None), (4, Notice::None), (5, Notice::Recovered)] {
            assert_eq!(notice(AttemptStatus::Success, attempts, Next::Done), expected);
        }
    }
}
