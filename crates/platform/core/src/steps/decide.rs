//! Runs a command: load, decide, commit, and again after a version conflict.

use std::time::Duration;

use crate::Platform;
use crate::error::{PlatformError, PlatformResult};
use crate::port::{Change, CommitReceipt, StoreError};
use crate::steps::idempotency::{IdempotentRequest, Outcome};

/// Longest pause between two tries of one command.
const PAUSE_MAX: Duration = Duration::from_millis(20);

/// A change to commit, and the result of the command once it is committed.
pub(crate) struct Decision<T> {
    pub(crate) customer: uuid::Uuid,
    pub(crate) change: Change,
    pub(crate) result: T,
}

impl Platform {
    /// Runs a command to its end. `decide` loads what it needs and decides. After a version conflict at the commit it
    /// is called again, `decide_tries_max` times at most. A caller that named the version it saw gets
    /// `PreconditionFailed` from `decide` then, which compares. After its first conflict, a command waits for the other
    /// retries of its customer, so that any number of concurrent commands of one node succeed. A repeated request with an
    /// idempotency key gets the stored answer.
    pub(crate) async fn decide<T, F>(
        &self,
        answering: Option<&IdempotentRequest<'_, T>>,
        decide: impl Fn() -> F + Send + Sync,
    ) -> PlatformResult<Outcome<T>>
    where
        T: Send + Sync,
        F: Future<Output = PlatformResult<Decision<T>>> + Send,
    {
        if let Some(answer) = self.replay(answering).await? {
            return Ok(Outcome::Replayed(answer));
        }
        let mut retry_lock = None;
        for _ in 0..self.config().decide_tries_max.max(1) {
            let Decision { customer, mut change, result } = decide().await?;
            // Stored answers expire by the server's clock, in a sandbox auction too.
            if let Some(answer) = &mut change.answer {
                answer.at = self.now();
            }
            match self.commit(customer, change).await {
                Ok(CommitReceipt { .. }) => return Ok(Outcome::Fresh(result)),
                Err(StoreError::Conflict) => {
                    if retry_lock.is_none() {
                        retry_lock = self.retry_locks().lock(customer).await;
                    } else {
                        // The other command ran on another node: a random pause keeps the two out of step.
                        kit_runtime::backoff::pause(PAUSE_MAX.mul_f64(self.random().unit_f64())).await;
                    }
                }
                // The same request arrived twice at the same time, and the other one was committed first.
                Err(StoreError::Replayed) => match self.replay(answering).await? {
                    Some(answer) => return Ok(Outcome::Replayed(answer)),
                    None => return Err(PlatformError::Busy),
                },
                Err(error) => return Err(error.into()),
            }
        }
        Err(PlatformError::Busy)
    }
}

/// `PreconditionFailed` unless the version is the one that the caller saw, if it names one.
pub(crate) fn expect_version(expected: Option<i64>, current: i64) -> PlatformResult<()> {
    match expected {
        Some(expected) if expected != current => Err(PlatformError::PreconditionFailed { expected, current }),
        _ => Ok(()),
    }
}
