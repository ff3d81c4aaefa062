//! What holds back the deliveries of an endpoint now: it is disabled, its receiver asked for a pause, it does not keep
//! up, or a rate limit applies. The pages, the commands and the API take it from here.
//!
//! The node that sends to the endpoint knows this exactly. Any other process knows what is in the store: pauses of at
//! least a second, and how many deliveries are due.

use jiff::Timestamp;
use jiff::tz::TimeZone;

use super::RateLimits;
use crate::dispatcher::LaneHold;
use crate::error::ProviderResult;
use crate::model::Endpoint;
use crate::port::{Pause, PauseReason, WaitingCounts};
use crate::provider::Provider;

/// Why the dispatcher does not send all due deliveries of an endpoint at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeliveryHold {
    /// The endpoint is disabled. Its deliveries are cancelled when they are due.
    Disabled,
    /// The receiver asked for a pause with `Retry-After`.
    Paused {
        /// End of the pause.
        until: Timestamp,
    },
    /// Attempts timed out or the receiver responded that it is overloaded, so the dispatcher makes fewer attempts at once,
    /// and waits up to five seconds between them.
    Slowed {
        /// Attempts that may be under way at once.
        attempts_max: usize,
        /// Time of the next attempt, if the dispatcher waits for one.
        until: Option<Timestamp>,
    },
    /// More deliveries are due than the rate limits allow.
    Throttled(RateLimits),
}

impl DeliveryHold {
    /// Stable name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Disabled => "disabled",
            Self::Paused { .. } => "paused",
            Self::Slowed { .. } => "slowed",
            Self::Throttled(_) => "throttled",
        }
    }

    /// The time until which it lasts at least; none when it does not depend on a time.
    pub fn until(self) -> Option<Timestamp> {
        match self {
            Self::Paused { until } => Some(until),
            Self::Slowed { until, .. } => until,
            Self::Disabled | Self::Throttled(_) => None,
        }
    }

    /// What holds the deliveries back and why, in one sentence. Times are in UTC, with their day if it is not today.
    pub fn sentence(self, now: Timestamp) -> String {
        match self {
            Self::Disabled => {
                "The endpoint is disabled, so messages that wait for it are cancelled when they are due.".to_owned()
            }
            Self::Paused { until } => {
                let until = clock_time(until, now);
                format!("Paused until {until}, because the receiver asked for it (Retry-After).")
            }
            Self::Slowed { attempts_max, until } => {
                let attempts = match attempts_max {
                    1 => "one attempt at a time, with up to 5 seconds between two".to_owned(),
                    attempts_max => format!("at most {attempts_max} attempts at a time"),
                };
                let next = until.map(|until| format!("; the next one is at {}", clock_time(until, now)));
                let next = next.unwrap_or_default();
                format!("Slowed to {attempts}, because attempts timed out or the receiver is overloaded{next}.")
            }
            Self::Throttled(limits) => format!("Held to {}.", limits.words()),
        }
    }
}

/// A no-break space keeps the time and its zone on one line.
fn clock_time(at: Timestamp, now: Timestamp) -> String {
    let [at, now] = [at, now].map(|at| at.to_zoned(TimeZone::UTC));
    let form = if at.date() == now.date() { "%H:%M:%S\u{a0}UTC" } else { "%-d %b %Y, %H:%M:%S\u{a0}UTC" };
    at.strftime(form).to_string()
}

/// What holds back the deliveries of an endpoint, and how many wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HeldDeliveries {
    /// What holds them back.
    pub hold: DeliveryHold,
    /// Deliveries that are not finished, also those under way.
    pub waiting: u64,
}

impl Provider {
    /// What holds back the deliveries of an endpoint now; none when nothing does. Nothing is held when no delivery waits,
    /// except by a pause, which will hold the next one. The caller has checked that it may read the endpoint.
    pub async fn held_deliveries(&self, endpoint: &Endpoint) -> ProviderResult<Option<HeldDeliveries>> {
        let counts = self.store().waiting_counts(&endpoint.id, self.now()).await?;
        let hold = self.delivery_hold(endpoint, counts).await?;
        let waiting = counts.total();
        Ok(hold
            .filter(|hold| waiting > 0 || matches!(hold, DeliveryHold::Paused { .. }))
            .map(|hold| HeldDeliveries { hold, waiting }))
    }

    /// What holds back the deliveries of an endpoint, of which this many wait.
    pub(crate) async fn delivery_hold(
        &self,
        endpoint: &Endpoint,
        counts: WaitingCounts,
    ) -> ProviderResult<Option<DeliveryHold>> {
        if endpoint.disabled {
            return Ok(Some(DeliveryHold::Disabled));
        }
        let (limits, now) = (self.rate_limits(endpoint).await?, self.now());
        let throttled = limits.map(DeliveryHold::Throttled);
        match self.dispatcher().lane_hold(&endpoint.id) {
            Some(LaneHold::Nothing) => return Ok(None),
            Some(LaneHold::Pause(until, reason)) => return Ok(Some(paused(until, reason))),
            Some(LaneHold::Concurrency(attempts_max)) => {
                return Ok(Some(DeliveryHold::Slowed { attempts_max, until: None }));
            }
            Some(LaneHold::Rate) => return Ok(throttled),
            None => {}
        }
        if let Some(Pause { until, reason, .. }) = self.store().pause(&endpoint.id, now).await? {
            return Ok(Some(paused(until, reason)));
        }
        // A node holds more than it may send in a second, or no node has taken those that are due.
        let is_throttled = |limits: RateLimits| counts.due > 0 || counts.claimed > limits.lowest().into();
        Ok(throttled.filter(|_| limits.is_some_and(is_throttled)))
    }
}

fn paused(until: Timestamp, reason: PauseReason) -> DeliveryHold {
    match reason {
        PauseReason::Requested => DeliveryHold::Paused { until },
        // Such a pause begins only when one attempt at a time is too many.
        PauseReason::Overload => DeliveryHold::Slowed { attempts_max: 1, until: Some(until) },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hold_names_its_reason_and_its_end() {
        let now = "2026-11-21T14:05:00Z".parse().unwrap();
        let (soon, tomorrow) = ("2026-11-21T14:05:10Z".parse().unwrap(), "2026-11-22T00:00:01Z".parse().unwrap());
        let limits = |endpoint, application| DeliveryHold::Throttled(RateLimits::new(endpoint, application).unwrap());
        for (hold, sentence) in [
            (
                DeliveryHold::Paused { until: soon },
                "Paused until 14:05:10\u{a0}UTC, because the receiver asked for it (Retry-After).",
            ),
            (
                DeliveryHold::Paused { until: tomorrow },
                "Paused until 22 Nov 2026, 00:00:01\u{a0}UTC, because the receiver asked for it (Retry-After).",
            ),
            (
                DeliveryHold::Slowed { attempts_max: 1, until: Some(soon) },
                "Slowed to one attempt at a time, with up to 5 seconds between two, because attempts timed out or the \
                 receiver is overloaded; the next one is at 14:05:10\u{a0}UTC.",
            ),
            (
                DeliveryHold::Slowed { attempts_max: 4, until: None },
                "Slowed to at most 4 attempts at a time, because attempts timed out or the receiver is overloaded.",
            ),
            (limits(Some(5), None), "Held to the endpoint's rate limit of 5 messages a second."),
            (
                limits(None, Some(50)),
                "Held to the application's rate limit of 50 messages a second for all its endpoints.",
            ),
            (
                limits(Some(1), Some(50)),
                "Held to the endpoint's rate limit of 1 message a second, and the application's of 50 for all its \
                 endpoints.",
            ),
        ] {
            assert_eq!(hold.sentence(now), sentence);
        }
    }
}
