//! The steps of a bulk change after the first: taken by a worker, or by a call that waits for the bulk change to end.

use std::time::Duration;

use kit_runtime::tasks::Tasks;
use uuid::Uuid;

use crate::Platform;
use crate::error::{PlatformError, PlatformResult};
use crate::node_state::worker_runs::Worker;
use crate::port::{BulkChange, StoreError};
use crate::steps::decide::Decision;
use crate::steps::failed_subjects::FailedSubjects;

/// Bulk changes that advance in turn, one step each; others wait.
const BULK_CHANGES_MAX: usize = 64;
/// Rounds in one run; the next run follows at once.
const ROUNDS_MAX: usize = 10_000;
/// Tries of one step after conflicts, each with half as many items.
const STEP_TRIES_MAX: usize = 12;
/// Pause before a waiting call looks again at a bulk change that another node advances.
const POLL_INTERVAL: Duration = Duration::from_millis(20);
/// Staged items without a bulk change are deleted after this time.
const STAGED_TTL: Duration = Duration::from_secs(24 * 3_600);
/// Staged chunks that one transaction deletes at most.
const FORGET_MAX: usize = 16;

/// Advances bulk changes until they end.
pub struct BulkChangeWorker {
    platform: Platform,
}

/// The outcome of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum StepOutcome {
    /// It is done.
    Done,
    /// Another node advanced this bulk change, or it has ended.
    Superseded,
}

impl BulkChangeWorker {
    /// The worker of a platform.
    pub fn new(platform: Platform) -> Self {
        Self { platform }
    }

    /// Runs every bulk change to its end; returns the number of steps. A bulk change that another node advances is left
    /// to it, and one that fails delays no other: its error is returned after the others have run.
    pub async fn run_once(&self) -> PlatformResult<usize> {
        let (mut steps, mut failed) = (0, FailedSubjects::default());
        for _ in 0..ROUNDS_MAX {
            let mut is_ours = false;
            for bulk_change in self.platform.store().bulk_changes(BULK_CHANGES_MAX).await? {
                let auction = bulk_change.auction;
                if failed.contains(auction) {
                    continue;
                }
                if failed.record(auction, self.platform.run_step(bulk_change).await) == Some(StepOutcome::Done) {
                    steps += 1;
                    is_ours = true;
                }
            }
            if !is_ours {
                break;
            }
        }
        failed.into_result(steps)
    }

    async fn run_and_log(&self) -> PlatformResult<()> {
        let steps = self.run_once().await?;
        if steps > 0 {
            tracing::debug!(steps, "bulk changes advanced");
        }
        let before = self.platform.now() - STAGED_TTL;
        self.platform.store().delete_orphaned_chunks(before, FORGET_MAX).await?;
        Ok(())
    }
}

impl Platform {
    pub(crate) fn spawn_bulk_changes(&self, tasks: &Tasks) {
        let platform = self.clone();
        tasks.spawn("bulk changes", move |stopping| {
            let worker = BulkChangeWorker::new(platform.clone());
            async move {
                let failure = "a bulk change could not continue; the worker tries again";
                let signal = worker.platform.bulk_changes_begun();
                worker
                    .platform
                    .run_worker(stopping, (Worker::BulkChanges, signal), failure, || worker.run_and_log())
                    .await;
            }
        });
    }

    /// Runs the remaining steps of an auction's bulk change, if it has one. If the caller is cancelled, a background
    /// worker runs the other steps.
    pub(crate) async fn run_bulk_change_to_end(&self, auction: Uuid) -> PlatformResult<()> {
        while let Some(bulk_change) = self.store().bulk_change(auction).await? {
            if self.run_step(bulk_change).await? == StepOutcome::Superseded {
                kit_runtime::backoff::pause(POLL_INTERVAL).await;
            }
        }
        Ok(())
    }

    async fn run_step(&self, mut bulk_change: BulkChange) -> PlatformResult<StepOutcome> {
        let mut items_max = self.config().bulk_changes.items_max.max(1);
        for _ in 0..STEP_TRIES_MAX {
            let committed = match self.decide_step(&bulk_change, items_max).await {
                Ok(draft) => self.commit(bulk_change.customer, draft.finish::<()>(None, &())).await,
                Err(PlatformError::Busy) => Err(StoreError::Conflict),
                Err(error) => return Err(error),
            };
            match committed {
                Ok(_) => {
                    self.ends_changed().notify();
                    return Ok(StepOutcome::Done);
                }
                Err(StoreError::Conflict) => {}
                Err(error) => return Err(error.into()),
            }
            match self.store().bulk_change(bulk_change.auction).await? {
                Some(now) if now.step == bulk_change.step => bulk_change = now,
                _ => return Ok(StepOutcome::Superseded),
            }
            if items_max == 1 {
                return self.run_step_in_queue(bulk_change).await;
            }
            items_max = (items_max / 2).max(1);
        }
        if let Some(import) = bulk_change.operation.import_id()
            && self.store().staged_chunk(import, bulk_change.step).await?.is_none()
        {
            return Err(PlatformError::Internal(format!(
                "chunk {} of import {import} does not exist",
                bulk_change.step
            )));
        }
        Ok(StepOutcome::Superseded)
    }

    /// Runs a step with one item in the queue of that item, because constant bids on it would make the step conflict
    /// every time.
    async fn run_step_in_queue(&self, bulk_change: BulkChange) -> PlatformResult<StepOutcome> {
        let Some(item) = self.decide_step(&bulk_change, 1).await?.first_item() else {
            return Ok(StepOutcome::Superseded);
        };
        let queue = self.item_queue(item)?;
        let committed = queue
            .decide(None, || async {
                queue.drain().await;
                let is_next = self
                    .store()
                    .bulk_change(bulk_change.auction)
                    .await?
                    .is_some_and(|now| now.step == bulk_change.step);
                if !is_next {
                    return Err(PlatformError::Busy);
                }
                let change = self.decide_step(&bulk_change, 1).await?.finish::<()>(None, &());
                Ok(Decision { customer: bulk_change.customer, change, result: () })
            })
            .await;
        match committed {
            Ok(_) => {
                self.ends_changed().notify();
                Ok(StepOutcome::Done)
            }
            Err(PlatformError::Busy) => Ok(StepOutcome::Superseded),
            Err(error) => Err(error),
        }
    }
}
