//! The steps of a lead after its first one: by a worker, or by a call that waits for the end of what it began.

use std::time::Duration;

use jiff::Timestamp;
use kit_runtime::tasks::Tasks;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use crate::Platform;
use crate::deciding::Decision;
use crate::error::{PlatformError, PlatformResult};
use crate::port::{Lead, StoreError};
use crate::stuck::Stuck;

/// Leads that go on side by side, a step each in turn; others follow.
const LEADS_MAX: usize = 64;
/// Rounds in one run; what is left then is looked at again at once.
const ROUNDS_MAX: usize = 10_000;
/// Tries of one step, each with half as many items: others may be at work on the same ones.
const STEP_TRIES_MAX: usize = 12;
/// Pause after something went wrong.
const STUCK_PAUSE: Duration = Duration::from_secs(1);
/// How soon a call that waits looks again at a lead that somebody else is at work on.
const LOOK_AGAIN: Duration = Duration::from_millis(20);
/// What was staged for an import and waits for this long belongs to nobody any more.
const STAGED_MAX: Duration = Duration::from_secs(24 * 3_600);
/// Pieces forgotten in one transaction.
const FORGET_MAX: usize = 16;

/// Brings leads to their ends.
pub struct RunLeads {
    platform: Platform,
}

/// What became of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum StepTaken {
    /// It is done.
    Done,
    /// Somebody else goes on with this lead, or it is over.
    Elsewhere,
}

impl RunLeads {
    /// The worker of a platform.
    pub fn new(platform: Platform) -> Self {
        Self { platform }
    }

    /// Brings every lead to its end; the number of steps taken. One that somebody else is found to work at is left to them, and one
    /// that can't go on holds no other up: the others have gone on when it is told why.
    pub async fn run_once(&mut self) -> PlatformResult<usize> {
        let (mut steps, mut stuck) = (0, Stuck::default());
        for _ in 0..ROUNDS_MAX {
            let mut is_ours = false;
            for lead in self.platform.store().leads(LEADS_MAX).await? {
                let auction = lead.auction;
                if stuck.holds(auction) {
                    continue;
                }
                if stuck.unless_failed(auction, self.platform.take_step(lead).await) == Some(StepTaken::Done) {
                    steps += 1;
                    is_ours = true;
                }
            }
            if !is_ours {
                break;
            }
        }
        stuck.or(steps)
    }

    async fn keep_running(mut self, stopping: CancellationToken) {
        while !stopping.is_cancelled() {
            let pause = match self.look().await {
                Ok(()) => self.platform.config().timers.look_every,
                Err(error) => {
                    tracing::error!(
                        error = error.in_full(),
                        "the items of an auction could not follow it; it is tried again"
                    );
                    STUCK_PAUSE
                }
            };
            let wake_at: Timestamp = self.platform.now() + pause;
            tokio::select! {
                () = stopping.cancelled() => {}
                () = self.platform.clock().sleep_until(wake_at) => {}
                () = self.platform.leads_moved().wait() => {}
            }
        }
    }

    async fn look(&mut self) -> PlatformResult<()> {
        let steps = self.run_once().await?;
        if steps > 0 {
            tracing::debug!(steps, "items have followed their auctions");
        }
        let before = self.platform.now() - STAGED_MAX;
        self.platform.store().unstage_forgotten(before, FORGET_MAX).await?;
        Ok(())
    }
}

impl Platform {
    pub(crate) fn spawn_leads(&self, tasks: &Tasks) {
        let platform = self.clone();
        tasks.spawn("items that follow their auctions", move |stopping| {
            RunLeads::new(platform.clone()).keep_running(stopping)
        });
    }

    /// Takes the steps of an auction's lead, if it has one, until there are none left. Whoever asks may go away: then a worker
    /// takes the others.
    pub(crate) async fn follow_to_the_end(&self, auction: Uuid) -> PlatformResult<()> {
        while let Some(lead) = self.store().lead(auction).await? {
            if self.take_step(lead).await? == StepTaken::Elsewhere {
                tokio::time::sleep(LOOK_AGAIN).await;
            }
        }
        Ok(())
    }

    async fn take_step(&self, mut lead: Lead) -> PlatformResult<StepTaken> {
        let mut items_max = self.config().leads.items_max.max(1);
        for _ in 0..STEP_TRIES_MAX {
            let committed = match self.lead_step(&lead, items_max).await {
                Ok(draft) => self.commit(lead.customer, draft.finish::<()>(None, &())).await,
                Err(PlatformError::Busy) => Err(StoreError::Conflict),
                Err(error) => return Err(error),
            };
            match committed {
                Ok(_) => {
                    self.ends_moved().notify();
                    return Ok(StepTaken::Done);
                }
                Err(StoreError::Conflict) => {}
                Err(error) => return Err(error.into()),
            }
            match self.store().lead(lead.auction).await? {
                Some(now) if now.step == lead.step => lead = now,
                _ => return Ok(StepTaken::Elsewhere),
            }
            if items_max == 1 {
                return self.take_step_in_line(lead).await;
            }
            items_max = (items_max / 2).max(1);
        }
        if let Some(import) = lead.follows.staged()
            && self.store().staged(import, lead.step).await?.is_none()
        {
            return Err(PlatformError::Internal(format!("piece {} of the import {import} is gone", lead.step)));
        }
        Ok(StepTaken::Elsewhere)
    }

    /// A step with one item, on which others are at work without a pause: it waits for its turn among them, and they for it.
    async fn take_step_in_line(&self, lead: Lead) -> PlatformResult<StepTaken> {
        let Some(item) = self.lead_step(&lead, 1).await?.first_item() else { return Ok(StepTaken::Elsewhere) };
        let line = self.in_line(item)?;
        let taken = line
            .decide(None, || async {
                line.quiet().await;
                let is_next = self.store().lead(lead.auction).await?.is_some_and(|now| now.step == lead.step);
                if !is_next {
                    return Err(PlatformError::Busy);
                }
                let change = self.lead_step(&lead, 1).await?.finish::<()>(None, &());
                Ok(Decision { customer: lead.customer, change, result: () })
            })
            .await;
        match taken {
            Ok(_) => {
                self.ends_moved().notify();
                Ok(StepTaken::Done)
            }
            Err(PlatformError::Busy) => Ok(StepTaken::Elsewhere),
            Err(error) => Err(error),
        }
    }
}
