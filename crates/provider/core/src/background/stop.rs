//! Stopping a task of an endpoint.

use crate::caller::Caller;
use crate::error::ProviderResult;
use crate::model::BackgroundTask;
use crate::provider::Provider;

/// The error of a task that a person stopped.
const STOPPED: &str = "stopped on request";

impl BackgroundTask {
    /// Whether a person stopped the task.
    pub fn is_stopped(&self) -> bool {
        self.error.as_deref() == Some(STOPPED)
    }
}

impl Provider {
    /// Stops a running task of the endpoint. Messages that its steps have enqueued are still sent. Returns whether the
    /// task was running. 404 (endpoint).
    ///
    /// The task's status becomes [`crate::model::TaskStatus::Failed`]: the API has no other status for an incomplete
    /// task.
    pub async fn stop_endpoint_task(
        &self,
        caller: &Caller,
        application: &str,
        endpoint: &str,
        task: &str,
    ) -> ProviderResult<bool> {
        let endpoint = self.endpoint(caller, application, endpoint).await?;
        let was_running = self.store().stop_task(&endpoint.id, task, STOPPED, self.now()).await?;
        if was_running {
            self.record_stopped_replay(caller, &endpoint, task).await;
        }
        Ok(was_running)
    }
}
