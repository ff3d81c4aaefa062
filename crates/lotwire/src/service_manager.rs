//! Reports to the service manager that started this process, by systemd's `sd_notify` protocol. Without the variable
//! `NOTIFY_SOCKET`, which the service manager sets, every report does nothing.
//!
//! There is no watchdog: a ping from a timer would only prove that timers run, and a restart does not repair a database
//! that is away. The health calls say whether the node works.

use std::time::Duration;

use sd_notify::NotifyState;
use tokio::task::JoinHandle;

/// Pause between two extensions of the start.
const EXTEND_INTERVAL: Duration = Duration::from_secs(10);
/// How long each extension lets the start go on. One late report does not end the start.
const EXTENSION: Duration = Duration::from_secs(60);
/// Time for a shutdown beyond `provider.drain_timeout`: claimed deliveries are released and the databases are closed.
const STOP_MARGIN: Duration = Duration::from_secs(30);

/// A start under way. Until it is dropped, it extends the service manager's time limit for the start, because a migration
/// of a large database takes longer than any fixed limit.
pub(crate) struct Starting(JoinHandle<()>);

impl Starting {
    pub(crate) fn begin() -> Self {
        Starting(tokio::spawn(extend(EXTEND_INTERVAL, report)))
    }

    /// The databases are migrated and the ports accept requests.
    pub(crate) fn finish(self, status: &str) {
        drop(self);
        report(&[NotifyState::Ready, NotifyState::Status(status)]);
    }
}

impl Drop for Starting {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Reports that a shutdown begins. It takes at most `drain` and a margin, also where the service manager's own limit is
/// shorter.
pub(crate) fn report_stopping(drain: Duration) {
    report(&[
        NotifyState::Stopping,
        NotifyState::Status("finishing requests and attempts under way"),
        extension(drain + STOP_MARGIN),
    ]);
}

/// The limit of the service manager is on monotonic time, so this is no sleep of the node's clock, which the operator can
/// set back.
async fn extend(every: Duration, mut report: impl FnMut(&[NotifyState<'_>])) {
    let mut ticks = tokio::time::interval(every);
    loop {
        ticks.tick().await;
        report(&[NotifyState::Status("opening and migrating the databases"), extension(EXTENSION)]);
    }
}

fn extension(by: Duration) -> NotifyState<'static> {
    NotifyState::ExtendTimeoutUsec(u32::try_from(by.as_micros()).unwrap_or(u32::MAX))
}

/// A report that fails does not stop the server. The service manager ends a start that it does not see finished, and the
/// log then has the reason.
fn report(state: &[NotifyState<'_>]) {
    if let Err(error) = sd_notify::notify(state) {
        tracing::warn!(%error, "could not report to the service manager at NOTIFY_SOCKET");
    }
}

#[cfg(test)]
mod tests {
    use tokio::sync::mpsc;

    use super::*;

    #[tokio::test]
    async fn a_long_start_is_extended_again_and_again() {
        let (sender, mut reports) = mpsc::unbounded_channel();
        let extending = tokio::spawn(extend(Duration::from_millis(1), move |state| {
            let _ = sender.send(state.iter().map(ToString::to_string).collect::<Vec<_>>());
        }));
        for _ in 0..3 {
            let report = reports.recv().await.unwrap();
            assert_eq!(report, ["STATUS=opening and migrating the databases", "EXTEND_TIMEOUT_USEC=60000000"]);
        }
        extending.abort();
    }

    #[test]
    fn the_longest_drain_that_can_be_configured_fits_a_report() {
        let longest = extension(Duration::from_secs(600) + STOP_MARGIN);
        assert_eq!(longest.to_string(), "EXTEND_TIMEOUT_USEC=630000000");
    }
}
