//! Decides which notification the owners of an endpoint receive next. Pure functions.

use jiff::{SignedDuration, Timestamp};

use crate::port::{AlertCandidate, AlertQuery, AlertStage, SentAlert};

/// The owners of an endpoint are warned at this time before it is disabled.
pub(super) const WARNED_BEFORE: SignedDuration = SignedDuration::from_hours(24);

/// The change of an endpoint since the latest notification of its owners.
/// In the order of lists: the worst first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Transition {
    /// The endpoint was disabled because of its failures.
    Disabled,
    /// The endpoint still fails, and will be disabled within [`WARNED_BEFORE`].
    DisablingSoon,
    /// The endpoint fails.
    Failing,
    /// The endpoint received a message again.
    Recovered,
}

impl Transition {
    /// The transition after which the owners have this notification; none after a recovery.
    pub(super) fn of(stage: Option<AlertStage>) -> Self {
        match stage {
            Some(AlertStage::Failing) => Self::Failing,
            Some(AlertStage::DisablingSoon) => Self::DisablingSoon,
            Some(AlertStage::Disabled) => Self::Disabled,
            None => Self::Recovered,
        }
    }
}

/// When owners are notified.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Schedule {
    /// Owners are notified when an endpoint has failed for this long: single failures cause no alert.
    pub(super) alert_after: SignedDuration,
    /// An endpoint that has failed for this long is disabled.
    pub(super) disable_after: SignedDuration,
}

impl Schedule {
    pub(super) fn query(self, now: Timestamp, limit: usize) -> AlertQuery {
        let before = |span: SignedDuration| now.checked_sub(span).unwrap_or(Timestamp::MIN);
        // If an endpoint is disabled sooner than owners can be warned, there is no warning.
        let disabling_before = match self.disable_after > WARNED_BEFORE + self.alert_after {
            true => before(self.disable_after - WARNED_BEFORE),
            false => Timestamp::MIN,
        };
        AlertQuery { failing_before: before(self.alert_after), disabling_before, limit }
    }

    /// The transition, and the notified state after it. None when there is no notification to send.
    pub(super) fn next(self, candidate: &AlertCandidate, now: Timestamp) -> Option<(Transition, Option<SentAlert>)> {
        let (endpoint, query) = (&candidate.endpoint, self.query(now, 0));
        let notify = |transition, failing_since, stage| Some((transition, Some(SentAlert { failing_since, stage })));
        if let Some(given_up_at) = candidate.given_up_at.filter(|_| endpoint.disabled) {
            let since = endpoint.failing_since.unwrap_or(given_up_at);
            let was_notified =
                candidate.last_alert == Some(SentAlert { failing_since: since, stage: AlertStage::Disabled });
            return if was_notified { None } else { notify(Transition::Disabled, since, AlertStage::Disabled) };
        }
        if endpoint.disabled {
            return None;
        }
        let Some(since) = endpoint.failing_since else {
            return candidate.last_alert.map(|_| (Transition::Recovered, None));
        };
        match candidate.last_alert.filter(|sent| sent.failing_since == since).map(|sent| sent.stage) {
            None if since <= query.failing_before => notify(Transition::Failing, since, AlertStage::Failing),
            Some(AlertStage::Failing) if since <= query.disabling_before => {
                notify(Transition::DisablingSoon, since, AlertStage::DisablingSoon)
            }
            _ => None,
        }
    }
}
