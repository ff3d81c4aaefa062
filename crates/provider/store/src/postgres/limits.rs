//! What is made only while there is room for it: made first, which waits for whoever makes another one of the same owner, and
//! then counted, with what those made.

use async_trait::async_trait;
use provider_core::model::{BackgroundTask, Endpoint};
use provider_core::port::{IdempotentAnswer, LimitStore, StoreError, StoreResult};

use super::rows::{self, Client, SqlResult};
use super::{PostgresStore, endpoints, tasks};

#[async_trait]
impl LimitStore for PostgresStore {
    async fn create_endpoint_within(
        &self,
        endpoint: Endpoint,
        endpoints_max: usize,
        answer: Option<IdempotentAnswer>,
    ) -> StoreResult<()> {
        self.transaction(&(&endpoint, endpoints_max, answer.as_ref()), |db, &(endpoint, max, answer)| {
            Box::pin(create_endpoint(db, endpoint, max, answer))
        })
        .await?;
        self.engine.notify().await;
        Ok(())
    }

    async fn create_task_within(
        &self,
        task: BackgroundTask,
        running_max: usize,
        answer: Option<IdempotentAnswer>,
    ) -> StoreResult<()> {
        self.transaction(&(&task, running_max, answer.as_ref()), |db, &(task, max, answer)| {
            Box::pin(create_task(db, task, max, answer))
        })
        .await
    }
}

async fn create_endpoint(
    db: &impl Client,
    endpoint: &Endpoint,
    endpoints_max: usize,
    answer: Option<&IdempotentAnswer>,
) -> SqlResult<()> {
    // It raises the application's version, which locks it.
    endpoints::create(db, endpoint, answer).await?;
    let count = "SELECT count(*) FROM (SELECT FROM endpoints WHERE application = $1 LIMIT $2) counted";
    keep_within(db, count, &endpoint.application, endpoints_max).await
}

async fn create_task(
    db: &impl Client,
    task: &BackgroundTask,
    running_max: usize,
    answer: Option<&IdempotentAnswer>,
) -> SqlResult<()> {
    let lock = "SELECT pg_advisory_xact_lock(hashtextextended($1, 0))";
    rows::write(db, lock, &[&format!("tasks {}", task.account)]).await?;
    tasks::create(db, task, answer).await?;
    let count =
        "SELECT count(*) FROM (SELECT FROM background_tasks WHERE account = $1 AND status = 0 LIMIT $2) counted";
    keep_within(db, count, &task.account, running_max).await
}

/// `Full` when there are more of this owner than there may be, counting the one that was just made.
async fn keep_within(db: &impl Client, count: &str, owner: &str, max: usize) -> SqlResult<()> {
    let limit = i64::try_from(max).unwrap_or(i64::MAX).saturating_add(1);
    let there = rows::one(db, count, &[&owner, &limit], |row| rows::get::<i64>(row, 0)).await?.unwrap_or(0);
    if there >= limit { Err(StoreError::LimitReached.into()) } else { Ok(()) }
}
