//! What is made only while there is room for it. There is one writer, and what it refuses is undone.

use async_trait::async_trait;
use provider_core::model::{BackgroundTask, Endpoint};
use provider_core::port::{IdempotentAnswer, LimitStore, StoreError, StoreResult};
use rusqlite::Connection;

use super::rows::SqlResult;
use super::{SqliteStore, endpoints, tasks};

#[async_trait]
impl LimitStore for SqliteStore {
    async fn create_endpoint_within(
        &self,
        endpoint: Endpoint,
        endpoints_max: usize,
        answer: Option<IdempotentAnswer>,
    ) -> StoreResult<()> {
        self.write(move |db| {
            endpoints::create(db, &endpoint, answer.as_ref())?;
            let count = "SELECT count(*) FROM (SELECT 1 FROM endpoints WHERE application = ?1 LIMIT ?2)";
            keep_within(db, count, &endpoint.application, endpoints_max)
        })
        .await
    }

    async fn create_task_within(
        &self,
        task: BackgroundTask,
        running_max: usize,
        answer: Option<IdempotentAnswer>,
    ) -> StoreResult<()> {
        self.write(move |db| {
            tasks::create(db, &task, answer.as_ref())?;
            let count =
                "SELECT count(*) FROM (SELECT 1 FROM background_tasks WHERE account = ?1 AND status = 0 LIMIT ?2)";
            keep_within(db, count, &task.account, running_max)
        })
        .await
    }
}

/// `Full` when there are more of this owner than there may be, counting the one that was just made.
fn keep_within(db: &Connection, count: &str, owner: &str, max: usize) -> SqlResult<()> {
    let limit = i64::try_from(max).unwrap_or(i64::MAX).saturating_add(1);
    let there: i64 = db.prepare_cached(count)?.query_row((owner, limit), |row| row.get(0))?;
    if there >= limit { Err(StoreError::LimitReached.into()) } else { Ok(()) }
}
