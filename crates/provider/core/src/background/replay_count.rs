//! The number of messages that a task would send again, for a person who decides whether to start it.

use super::step_plan::plan_step;
use super::{ReplayInput, position_at};
use crate::caller::Caller;
use crate::error::{ProviderError, ProviderResult};
use crate::ids;
use crate::model::{BackgroundTask, Progress, TaskStatus};
use crate::provider::Provider;

impl Provider {
    /// Counts the messages that [`Provider::replay`] would enqueue or make due with this input now. It reads the whole
    /// time range as the task would. 404, 422.
    pub async fn count_replay(
        &self,
        caller: &Caller,
        application: &str,
        endpoint: &str,
        input: ReplayInput,
    ) -> ProviderResult<u64> {
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
            progress: Progress::at(position_at(kind, selection.since)),
            selection,
            status: TaskStatus::Running,
            error: None,
            created_at: now,
            updated_at: now,
        };
        let mut messages = 0;
        loop {
            let plan = plan_step(self.store(), &task, target, usize::MAX).await?;
            messages += plan.messages.len() as u64;
            if plan.last {
                return Ok(messages);
            }
            task.progress.position = plan.to;
        }
    }
}
