//! Continues advances after their first step, until each clock has reached its target.

use kit_runtime::tasks::Tasks;
use platform_rules::Auction;

use super::ACTOR;
use crate::Platform;
use crate::error::PlatformResult;
use crate::node_state::worker_runs::Worker;
use crate::port::StoreError;
use crate::steps::failed_subjects::FailedSubjects;

/// Clocks that advance in turn, one step each; others wait.
const CLOCKS_MAX: usize = 64;
/// Rounds in one run; the next run follows at once.
const ROUNDS_MAX: usize = 1_000;
/// Tries of one step after conflicts, each with half as many items.
const STEP_TRIES_MAX: usize = 12;

/// Advances sandbox clocks to their targets.
pub struct TestClockWorker {
    platform: Platform,
}

/// The outcome of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum StepOutcome {
    /// The number of items that ended.
    Done(usize),
    /// Another node advances this clock, or it has reached its target.
    Superseded,
}

impl TestClockWorker {
    /// The worker of a platform.
    pub fn new(platform: Platform) -> Self {
        Self { platform }
    }

    /// Runs every advance to its target; returns the number of items ended. A clock that another node advances is left
    /// to it, and a clock that fails delays no other: its error is returned after the others have run.
    pub async fn run_once(&self) -> PlatformResult<usize> {
        let (mut ended, mut failed) = (0, FailedSubjects::default());
        for _ in 0..ROUNDS_MAX {
            let advancing = self.platform.store().advancing_sandboxes(CLOCKS_MAX).await?;
            let mut is_ours = false;
            for auction in advancing {
                let uuid = auction.uuid;
                if failed.contains(uuid) {
                    continue;
                }
                if let Some(StepOutcome::Done(items)) = failed.record(uuid, self.step(auction).await) {
                    ended += items;
                    is_ours = true;
                }
            }
            if !is_ours {
                break;
            }
        }
        failed.into_result(ended)
    }

    async fn step(&self, mut auction: Auction) -> PlatformResult<StepOutcome> {
        let before = auction.clock;
        let mut items_max = self.platform.step_items_max();
        for _ in 0..STEP_TRIES_MAX {
            let (customer, uuid) = (auction.customer, auction.uuid);
            let (draft, advanced) = self.platform.step(ACTOR, auction, None, items_max).await?;
            match self.platform.commit(customer, draft.finish::<()>(None, &())).await {
                Ok(_) => return Ok(StepOutcome::Done(advanced.ended.len())),
                Err(StoreError::Conflict) => {}
                Err(error) => return Err(error.into()),
            }
            match self.platform.store().auction(uuid).await? {
                Some(now) if now.clock == before => auction = now,
                _ => return Ok(StepOutcome::Superseded),
            }
            items_max = (items_max / 2).max(1);
        }
        Ok(StepOutcome::Superseded)
    }

    async fn run_and_log(&self) -> PlatformResult<()> {
        let items = self.run_once().await?;
        if items > 0 {
            tracing::debug!(items, "items of sandbox auctions ended");
        }
        Ok(())
    }
}

impl Platform {
    pub(crate) fn spawn_clocks(&self, tasks: &Tasks) {
        let platform = self.clone();
        tasks.spawn("clocks of sandbox auctions", move |stopping| {
            let worker = TestClockWorker::new(platform.clone());
            async move {
                let failure = "the clock of a sandbox auction could not advance; the worker tries again";
                let signal = worker.platform.clocks_advanced();
                worker
                    .platform
                    .run_worker(stopping, (Worker::TestClocks, signal), failure, || worker.run_and_log())
                    .await;
            }
        });
    }
}
