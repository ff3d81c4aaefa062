//! The number of messages that a task would send again, for a person who decides whether to start it.

use super::step_plan::plan_step;
use super::{ReplayInput, position_at};
use crate::caller::Caller;
use crate::error::{ProviderError, ProviderResult};
use crate::ids;
use crate::model::{BackgroundTask, Progress, TaskStatus};
use crate::provider::Provider;

/// Maximum number of steps that are counted, with 500 attempts or messages each.
const STEPS_MAX: usize = 20;

/// Number of messages that a task would send.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ReplayCount {
    /// Messages that the task would select.
    pub messages: u64,
    /// Whether the whole time span was counted; otherwise there may be more messages.
    pub is_whole: bool,
}

impl Provider {
    /// Counts the messages that [`Provider::replay`] would select with this input now. 404, 422.
    pub async fn count_replay(
        &self,
        caller: &Caller,
        application: &str,
        endpoint: &str,
        input: ReplayInput,
    ) -> ProviderResult<ReplayCount> {
        let now = self.now();
        let kind = input.kind;
        let selection = input.check(now)?;
        let endpoint = self.endpoint(caller, application, endpoint).await?;
        let snapshot = self.snapshots().get(&endpoint.application).await?.ok_or(ProviderError::NotFound)?;
        let target = snapshot.targets.get(&endpoint.id).ok_or(ProviderError::NotFound)?;
        let mut task = BackgroundTask {
            id: self.ids().make(ids::TASK),
            account: caller.account.clone(),
            kind,
            application: endpoint.application.clone(),
            endpoint: endpoint.id.clone(),
            progress: Progress { position: position_at(kind, selection.since), found: 0, enqueued: 0 },
            selection,
            status: TaskStatus::Running,
            error: None,
            created_at: now,
            updated_at: now,
        };
        let mut count = ReplayCount::default();
        for _ in 0..STEPS_MAX {
            let plan = plan_step(self.store(), &task, target, usize::MAX).await?;
            count.messages += plan.found;
            if plan.last {
                count.is_whole = true;
                break;
            }
            task.progress.position = plan.to;
        }
        Ok(count)
    }
}
