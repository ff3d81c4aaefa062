//! The run loop of workers that continue what a call began: bulk changes and sandbox clocks.

use std::time::Duration;

use kit_runtime::signal::Signal;
use tokio_util::sync::CancellationToken;

use crate::Platform;
use crate::error::PlatformResult;
use crate::node_state::worker_runs::Worker;

/// Pause after a run that failed.
const ERROR_PAUSE: Duration = Duration::from_secs(1);

impl Platform {
    /// Records a run of a worker that ended now.
    pub(crate) fn record_run<T, E: std::fmt::Display>(&self, worker: Worker, run: &Result<T, E>) {
        let error = run.as_ref().err().map(ToString::to_string);
        self.worker_runs().record(worker, self.now(), error);
    }

    /// Runs `run` until the process stops: when `signal` fires, after the pause of the configuration, or one second
    /// after a run that failed. `failure` is the log message of a failed run.
    pub(crate) async fn run_worker<F>(
        &self,
        stopping: CancellationToken,
        (worker, signal): (Worker, &Signal),
        failure: &'static str,
        mut run: impl FnMut() -> F,
    ) where
        F: Future<Output = PlatformResult<()>>,
    {
        while !stopping.is_cancelled() {
            let ran = run().await;
            self.record_run(worker, &ran);
            let pause = match ran {
                Ok(()) => self.config().timers.look_every,
                Err(error) => {
                    tracing::error!(error = error.full_message(), "{failure}");
                    ERROR_PAUSE
                }
            };
            let wake_at = self.now() + pause;
            tokio::select! {
                () = stopping.cancelled() => {}
                () = self.clock().sleep_until(wake_at) => {}
                () = signal.wait() => {}
            }
        }
    }
}
