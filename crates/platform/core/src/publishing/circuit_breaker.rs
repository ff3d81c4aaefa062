//! Decides how many concurrent requests a lane may have: up to its limit, none during a pause, or a single probe. Pure.
//!
//! ```text
//!            a request fails                the pause is over
//!   Closed ───────────────────────> Open ───────────────────────> HalfOpen
//!    ^                              ^                                │
//!    │        the probe passes      │        the probe fails         │
//!    └──────────────────────────────┼────────────────────────────────┤
//!                                   └────────────────────────────────┘
//! ```

use std::time::Duration;

use jiff::Timestamp;
use kit_runtime::backoff::backoff;
use kit_runtime::clock::{from_ms, to_ms};

/// The circuit breaker of one lane.
#[derive(Debug)]
pub(super) struct CircuitBreaker {
    pause_base: Duration,
    pause_max: Duration,
    state: State,
    /// Number of pauses since the last successful request.
    failures: u32,
    /// Counts the times between two pauses. Many requests fail together; only the first failure of a generation makes the
    /// next pause longer.
    generation: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Closed,
    Open { until: Timestamp },
    HalfOpen,
}

/// The generation in which a request started; a request gets it at its start and returns it with its outcome.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Ticket {
    generation: u64,
}

impl CircuitBreaker {
    pub(super) fn new(pause_base: Duration, pause_max: Duration) -> Self {
        Self { pause_base, pause_max, state: State::Closed, failures: 0, generation: 0 }
    }

    /// The number of requests that may start now, with `under_way` requests running and a limit of `requests_max` for a
    /// closed breaker.
    pub(super) fn available_requests(&mut self, now: Timestamp, under_way: usize, requests_max: usize) -> usize {
        if self.paused_until().is_some_and(|until| until <= now) {
            self.state = State::HalfOpen;
        }
        match self.state {
            State::Closed => requests_max.max(1).saturating_sub(under_way),
            State::Open { .. } => 0,
            State::HalfOpen => 1_usize.saturating_sub(under_way),
        }
    }

    /// Closes the breaker and forgets all failures.
    pub(super) fn reset(&mut self) {
        self.generation += 1;
        self.failures = 0;
        self.state = State::Closed;
    }

    /// The end of the pause; none without a pause.
    pub(super) fn paused_until(&self) -> Option<Timestamp> {
        match self.state {
            State::Open { until } => Some(until),
            State::Closed | State::HalfOpen => None,
        }
    }

    /// Records the start of a request.
    pub(super) fn start(&self) -> Ticket {
        Ticket { generation: self.generation }
    }

    /// Records a successful request. A response to a request from before the pause has no effect: it doesn't show the
    /// provider's present state.
    pub(super) fn passed(&mut self, ticket: Ticket) {
        if ticket.generation == self.generation {
            self.failures = 0;
            self.state = State::Closed;
        }
    }

    /// Records a failure that concerns all requests, and returns the end of the pause that it causes. The pause is as long
    /// as the provider requested, and never shorter than the first step of the backoff. A failed request from before the
    /// last pause causes no new pause, unless the provider requests one.
    pub(super) fn failed(
        &mut self,
        ticket: Ticket,
        now: Timestamp,
        asked: Option<Duration>,
        unit_f64: f64,
    ) -> Timestamp {
        let fresh = ticket.generation == self.generation;
        if fresh {
            self.generation += 1;
            self.failures = self.failures.saturating_add(1);
        }
        let own = backoff(if asked.is_some() { 1 } else { self.failures }, self.pause_base, self.pause_max, unit_f64);
        let until = after_rounded_up(now, asked.unwrap_or_default().max(own));
        match self.paused_until() {
            Some(standing) if !fresh && asked.is_none() => standing,
            None if !fresh && asked.is_none() => until,
            standing => {
                let until = standing.map_or(until, |standing| standing.max(until));
                self.state = State::Open { until };
                until
            }
        }
    }

    /// The next attempt of an event that has failed `attempts` times. The interval grows, so that an event that the provider
    /// keeps refusing pauses its lane ever more rarely.
    pub(super) fn next_attempt(&self, attempts: u32, now: Timestamp, until: Timestamp, unit_f64: f64) -> Timestamp {
        after_rounded_up(now, backoff(attempts, self.pause_base, self.pause_max, unit_f64)).max(until)
    }
}

/// `now` plus `pause`, rounded up to milliseconds.
pub(crate) fn after_rounded_up(now: Timestamp, pause: Duration) -> Timestamp {
    let ms = pause.as_nanos().div_ceil(1_000_000);
    from_ms(to_ms(now).saturating_add(i64::try_from(ms).unwrap_or(i64::MAX)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn breaker() -> CircuitBreaker {
        CircuitBreaker::new(Duration::from_millis(500), Duration::from_secs(60))
    }

    fn at(ms: i64) -> Timestamp {
        from_ms(ms)
    }

    #[test]
    fn a_closed_breaker_allows_all_requests_up_to_the_limit() {
        let mut breaker = breaker();
        assert_eq!(breaker.available_requests(at(0), 0, 64), 64);
        assert_eq!(breaker.available_requests(at(0), 60, 64), 4);
        assert_eq!(breaker.available_requests(at(0), 64, 64), 0);
        // A lower limit does not interrupt running requests.
        assert_eq!(breaker.available_requests(at(0), 60, 2), 0);
        assert_eq!(breaker.available_requests(at(0), 1, 2), 1);
        assert_eq!(breaker.available_requests(at(0), 0, 0), 1, "an idle lane may send no request");
    }

    #[test]
    fn after_a_failure_no_request_starts_until_the_pause_ends_and_then_one() {
        let mut breaker = breaker();
        let ticket = breaker.start();
        let until = breaker.failed(ticket, at(0), None, 1.0);
        assert_eq!(until, at(500));
        assert_eq!(breaker.available_requests(at(499), 0, 64), 0);
        assert_eq!(breaker.available_requests(at(500), 0, 64), 1);
        assert_eq!(breaker.available_requests(at(500), 1, 64), 0);
        let probe = breaker.start();
        breaker.passed(probe);
        assert_eq!(breaker.available_requests(at(500), 1, 64), 63);
    }

    #[test]
    fn concurrent_failures_cause_one_pause_and_each_failed_probe_doubles_it() {
        let mut breaker = breaker();
        let tickets = [breaker.start(), breaker.start(), breaker.start()];
        for ticket in tickets {
            assert_eq!(breaker.failed(ticket, at(0), None, 1.0), at(500));
        }
        let mut now = at(500);
        for pause_ms in [1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000] {
            assert_eq!(breaker.available_requests(now, 0, 64), 1);
            let until = breaker.failed(breaker.start(), now, None, 1.0);
            assert_eq!(to_ms(until) - to_ms(now), pause_ms);
            now = until;
        }
    }

    #[test]
    fn a_success_of_a_request_from_before_the_pause_does_not_end_it() {
        let mut breaker = breaker();
        let early = breaker.start();
        let failing = breaker.start();
        breaker.failed(failing, at(0), None, 1.0);
        breaker.passed(early);
        assert_eq!(breaker.available_requests(at(100), 0, 64), 0);
    }

    #[test]
    fn a_failure_of_a_request_from_before_the_pause_causes_no_new_one() {
        let mut breaker = breaker();
        let first = breaker.start();
        let second = breaker.start();
        breaker.failed(first, at(0), None, 1.0);
        assert_eq!(breaker.available_requests(at(500), 0, 64), 1);
        breaker.passed(breaker.start());
        breaker.failed(second, at(30_000), None, 1.0);
        assert_eq!(breaker.available_requests(at(30_000), 0, 64), 64);
    }

    #[test]
    fn a_requested_pause_is_honoured_in_full() {
        let mut breaker = breaker();
        let two_hours = Duration::from_secs(7_200);
        assert_eq!(breaker.failed(breaker.start(), at(0), Some(two_hours), 0.0), at(7_200_000));
        // A later failure of the same burst can't shorten it.
        let late = Ticket { generation: 0 };
        assert_eq!(breaker.failed(late, at(10), None, 1.0), at(7_200_000));
    }

    #[test]
    fn a_requested_pause_of_zero_becomes_the_first_step_of_the_backoff() {
        let mut breaker = breaker();
        assert_eq!(breaker.failed(breaker.start(), at(0), Some(Duration::ZERO), 0.0), at(250));
    }

    #[test]
    fn the_interval_between_the_attempts_of_an_event_grows() {
        let breaker = breaker();
        assert_eq!(breaker.next_attempt(1, at(0), at(500), 1.0), at(500));
        assert_eq!(breaker.next_attempt(5, at(0), at(500), 1.0), at(8_000));
        assert_eq!(breaker.next_attempt(50, at(0), at(500), 1.0), at(60_000));
    }
}
