//! What is made only while there is room for it.

use ::provider::model::{BackgroundTask, Endpoint, TaskStatus};
use ::provider::port::{IdempotentAnswer, LimitStore, StoreError, StoreResult};
use async_trait::async_trait;

use super::Memory;
use super::lists::key;

#[async_trait]
impl LimitStore for Memory {
    async fn create_endpoint_within(
        &self,
        endpoint: Endpoint,
        endpoints_max: usize,
        answer: Option<IdempotentAnswer>,
    ) -> StoreResult<()> {
        let mut tables = self.tables();
        tables.config.check_answer(answer.as_ref())?;
        let of = tables.config.snapshot(&endpoint.application).map_or(0, |(_, endpoints)| endpoints.len());
        if of >= endpoints_max {
            return Err(StoreError::Full);
        }
        tables.create_endpoint(endpoint, answer)
    }

    async fn create_task_within(
        &self,
        task: BackgroundTask,
        running_max: usize,
        answer: Option<IdempotentAnswer>,
    ) -> StoreResult<()> {
        let mut tables = self.tables();
        tables.config.check_answer(answer.as_ref())?;
        let tasks = tables.background.tasks.values();
        let running = tasks.filter(|other| other.account == task.account && other.status == TaskStatus::Running);
        if running.count() >= running_max {
            return Err(StoreError::Full);
        }
        tables.config.keep_answer(answer);
        tables.background.tasks.insert(key(&task.account, &task.id), task);
        Ok(())
    }
}
