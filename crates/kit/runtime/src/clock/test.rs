//! A clock that a test or a simulation advances.

use std::collections::BTreeMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use jiff::Timestamp;
use tokio::sync::watch;

use super::{Clock, from_ms, to_ms};

/// A clock that stands still until it is advanced. Clones show the same time.
#[derive(Debug, Clone)]
pub struct TestClock {
    started: Instant,
    state: Arc<watch::Sender<State>>,
}

#[derive(Debug)]
struct State {
    now: Timestamp,
    elapsed: Duration,
    /// Number of sleepers by the time they sleep until.
    sleepers: BTreeMap<Timestamp, usize>,
}

impl TestClock {
    /// A clock that shows `now`, truncated to milliseconds.
    pub fn new(now: Timestamp) -> Self {
        let now = from_ms(to_ms(now));
        let state = State { now, elapsed: Duration::ZERO, sleepers: BTreeMap::new() };
        Self { started: Instant::now(), state: Arc::new(watch::Sender::new(state)) }
    }

    /// Advances by `by`, rounded down to milliseconds, and wakes the sleepers whose time has come.
    pub fn advance(&self, by: Duration) {
        let by_ms = i64::try_from(by.as_millis()).unwrap_or(i64::MAX);
        self.state.send_modify(|state| {
            state.now = from_ms(to_ms(state.now).saturating_add(by_ms));
            state.elapsed += Duration::from_millis(by_ms.unsigned_abs());
        });
    }

    /// Sets the wall clock, forwards or backwards. The monotonic time only moves forwards.
    pub fn set(&self, now: Timestamp) {
        let now = from_ms(to_ms(now));
        self.state.send_modify(|state| {
            let forward_ms = to_ms(now).saturating_sub(to_ms(state.now));
            state.elapsed += Duration::from_millis(u64::try_from(forward_ms).unwrap_or(0));
            state.now = now;
        });
    }

    /// Advances to the earliest time that a sleeper waits for and returns it; none when there is no sleeper.
    pub fn advance_to_next_sleeper(&self) -> Option<Timestamp> {
        let next = self.next_sleeper()?;
        // A sleeper that is due and has not run yet must not move the time backwards.
        if next > self.now() {
            self.set(next);
        }
        Some(next)
    }

    /// The earliest time that a sleeper waits for.
    pub fn next_sleeper(&self) -> Option<Timestamp> {
        self.state.borrow().sleepers.keys().next().copied()
    }

    /// Waits until at least `count` sleepers exist: then the code under test can make no progress until the clock
    /// moves.
    pub async fn wait_for_sleepers(&self, count: usize) {
        let mut receiver = self.state.subscribe();
        // The sender lives as long as `self`, so the channel can't be closed here.
        let _ = receiver.wait_for(|state| state.sleepers.values().sum::<usize>() >= count).await;
    }
}

impl Default for TestClock {
    /// 2026-01-01T00:00:00.000Z.
    fn default() -> Self {
        Self::new(from_ms(1_767_225_600_000))
    }
}

impl Clock for TestClock {
    fn now(&self) -> Timestamp {
        self.state.borrow().now
    }

    fn sleep_until(&self, at: Timestamp) -> Pin<Box<dyn Future<Output = ()> + Send + '_>> {
        Box::pin(async move {
            if self.now() >= at {
                return;
            }
            let _asleep = SleeperGuard::new(&self.state, at);
            let mut receiver = self.state.subscribe();
            let _ = receiver.wait_for(|state| state.now >= at).await;
        })
    }

    fn monotonic(&self) -> Instant {
        self.started + self.state.borrow().elapsed
    }
}

/// Counts a sleeper until it wakes or its future is dropped.
struct SleeperGuard<'a> {
    state: &'a watch::Sender<State>,
    at: Timestamp,
}

impl<'a> SleeperGuard<'a> {
    fn new(state: &'a watch::Sender<State>, at: Timestamp) -> Self {
        state.send_modify(|state| *state.sleepers.entry(at).or_default() += 1);
        Self { state, at }
    }
}

impl Drop for SleeperGuard<'_> {
    fn drop(&mut self) {
        self.state.send_modify(|state| {
            if let Some(count) = state.sleepers.get_mut(&self.at) {
                *count -= 1;
                if *count == 0 {
                    state.sleepers.remove(&self.at);
                }
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn advancing_wakes_exactly_the_sleepers_whose_time_has_come() {
        let clock = TestClock::default();
        let start = clock.now();
        let sleep = |after_ms: i64| {
            let clock = clock.clone();
            tokio::spawn(async move { clock.sleep_until(from_ms(to_ms(start) + after_ms)).await })
        };
        let (early, late) = (sleep(1_000), sleep(2_000));
        clock.wait_for_sleepers(2).await;

        clock.advance(Duration::from_millis(1_999));
        early.await.unwrap();
        assert!(!late.is_finished());
        assert_eq!(clock.advance_to_next_sleeper(), Some(from_ms(to_ms(start) + 2_000)));
        late.await.unwrap();
        assert_eq!(clock.next_sleeper(), None);
    }

    #[tokio::test]
    async fn a_dropped_sleep_is_not_counted() {
        let clock = TestClock::default();
        let at = from_ms(to_ms(clock.now()) + 5);
        tokio::select! {
            biased;
            () = clock.sleep_until(at) => unreachable!(),
            () = clock.wait_for_sleepers(1) => {}
        }
        assert_eq!(clock.next_sleeper(), None);
    }

    #[test]
    fn the_monotonic_time_never_goes_back() {
        let clock = TestClock::default();
        let (wall, monotonic) = (clock.now(), clock.monotonic());
        clock.advance(Duration::from_secs(3));
        clock.set(wall);
        assert_eq!(clock.now(), wall);
        assert_eq!(clock.monotonic() - monotonic, Duration::from_secs(3));
    }
}
