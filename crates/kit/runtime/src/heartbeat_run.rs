//! Whether a node may take other nodes for dead: only after its own heartbeats have succeeded for some time.
//!
//! After an outage of the database, no node has sent a heartbeat for a while. The first one that reaches the database
//! again must not take the rows of the others: they are alive and need a moment for their own next heartbeat.

use std::time::{Duration, Instant};

/// A pause between two heartbeats of more than this part of the time after which a node is dead ends a run.
const PAUSE_PARTS: u32 = 2;

/// The current run of heartbeats without an interruption.
#[derive(Debug)]
pub struct HeartbeatRun {
    dead_after: Duration,
    /// When the first and the latest heartbeat of the run succeeded.
    run: Option<(Instant, Instant)>,
}

impl HeartbeatRun {
    /// `dead_after` is the time after which a node without a heartbeat counts as dead.
    pub fn new(dead_after: Duration) -> Self {
        Self { dead_after, run: None }
    }

    /// A heartbeat has succeeded.
    pub fn succeeded(&mut self, now: Instant) {
        let begun_at = self.run_at(now).map_or(now, |(begun_at, _)| begun_at);
        self.run = Some((begun_at, now));
    }

    /// A heartbeat has failed.
    pub fn failed(&mut self) {
        self.run = None;
    }

    /// True when the run is as long as the time after which a node is dead: every living node has had the time for a
    /// heartbeat.
    pub fn may_judge(&self, now: Instant) -> bool {
        self.run_at(now).is_some_and(|(begun_at, latest)| latest.saturating_duration_since(begun_at) >= self.dead_after)
    }

    /// The run, unless the pause since its latest heartbeat has ended it.
    fn run_at(&self, now: Instant) -> Option<(Instant, Instant)> {
        self.run.filter(|(_, latest)| now.saturating_duration_since(*latest) <= self.dead_after / PAUSE_PARTS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DEAD_AFTER: Duration = Duration::from_secs(10);

    /// The seconds at which a node may judge, with a heartbeat in each of these seconds; `Err` is one that failed.
    fn judging(heartbeats: impl IntoIterator<Item = Result<u64, u64>>) -> Vec<u64> {
        let (mut run, start) = (HeartbeatRun::new(DEAD_AFTER), Instant::now());
        let mut seconds = Vec::new();
        for heartbeat in heartbeats {
            let (Ok(second) | Err(second)) = heartbeat;
            let now = start + Duration::from_secs(second);
            if run.may_judge(now) {
                seconds.push(second);
            }
            if heartbeat.is_ok() { run.succeeded(now) } else { run.failed() }
        }
        seconds
    }

    #[test]
    fn a_node_judges_others_after_a_run_as_long_as_the_time_to_be_dead() {
        assert_eq!(judging((0..14).map(Ok)), [11, 12, 13]);
        assert_eq!(judging((0..60).step_by(5).map(Ok)), [15, 20, 25, 30, 35, 40, 45, 50, 55]);
    }

    #[test]
    fn an_outage_and_a_pause_begin_a_new_run() {
        let failure = (0..24).map(|second| if second == 11 { Err(second) } else { Ok(second) });
        assert_eq!(judging(failure), [11, 23]);
        // A heartbeat that hung as long as the database did.
        let pause = (0..12).chain(18..31).map(Ok);
        assert_eq!(judging(pause), [11, 29, 30]);
    }
}
