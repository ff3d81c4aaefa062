//! Changes of what is configured as it was seen, lists of applications by their endpoints, and counts.

use std::ops::Range;

use async_trait::async_trait;
use provider_core::model::{Application, Endpoint, EventType, Id};
use provider_core::port::{
    ApplicationExclusion, ConfigurationStore, CountStore, EndpointCounts, IdempotentAnswer, Page, StoreError,
    StoreResult,
};

use super::rows::{self, APPLICATION, Client, ENDPOINT, EVENT_TYPE, SqlResult};
use super::{PostgresStore, answers, applications, endpoints, event_types};
use crate::codec::{PageQuery, counted, exclusion_sql};

#[async_trait]
impl ConfigurationStore for PostgresStore {
    async fn replace_application(&self, old: Application, new: Application) -> StoreResult<()> {
        self.transaction(&(&old, &new), |db, &(old, new)| Box::pin(replace_application(db, old, new))).await?;
        self.engine.notify().await;
        Ok(())
    }

    async fn replace_endpoint(
        &self,
        old: Endpoint,
        new: Endpoint,
        answer: Option<IdempotentAnswer>,
    ) -> StoreResult<()> {
        let change = (&old, &new, answer.as_ref());
        self.transaction(&change, |db, &(old, new, answer)| Box::pin(replace_endpoint(db, old, new, answer))).await?;
        self.engine.notify().await;
        Ok(())
    }

    async fn replace_event_type(&self, old: EventType, new: EventType) -> StoreResult<()> {
        self.transaction(&(&old, &new), |db, &(old, new)| Box::pin(replace_event_type(db, old, new))).await
    }

    async fn upsert_event_types(
        &self,
        event_types: Vec<EventType>,
        answer: Option<IdempotentAnswer>,
    ) -> StoreResult<()> {
        // In the order of their names, so that two imports at the same time don't wait for each other in a circle.
        let mut event_types = event_types;
        event_types.sort_by(|left, right| left.name.cmp(&right.name));
        self.transaction(&(&event_types, answer.as_ref()), |db, &(event_types, answer)| {
            Box::pin(upsert_event_types(db, event_types, answer))
        })
        .await
    }

    async fn applications_except(
        &self,
        account: &str,
        exclude: &[ApplicationExclusion],
        page: Page,
    ) -> StoreResult<Vec<Application>> {
        let client = self.client().await?;
        let except = exclusion_sql(exclude, "a");
        let select = format!("SELECT {APPLICATION} FROM applications a WHERE a.account = $1{except}");
        Ok(rows::list(&client, &select, "a.id", account, &PageQuery::new(&page), rows::application).await?)
    }
}

#[async_trait]
impl CountStore for PostgresStore {
    async fn endpoint_counts(
        &self,
        endpoint: &str,
        attempts: Range<Id>,
        messages: Range<Id>,
        limit: usize,
    ) -> StoreResult<Option<EndpointCounts>> {
        let client = self.client().await?;
        Ok(count(&client, endpoint, &attempts, &messages, limit).await?)
    }
}

fn check<T: PartialEq>(found: Option<T>, old: &T) -> SqlResult<()> {
    match found {
        None => Err(StoreError::NotFound.into()),
        Some(found) if found == *old => Ok(()),
        Some(_) => Err(StoreError::Conflict.into()),
    }
}

async fn replace_application(db: &impl Client, old: &Application, new: &Application) -> SqlResult<()> {
    applications::lock(db, &old.id).await?;
    check(applications::find(db, &old.account, &old.id).await?, old)?;
    applications::update(db, new).await
}

/// Attempts note on the row whether the endpoint fails, without the application's lock: so the row is locked as well.
async fn replace_endpoint(
    db: &impl Client,
    old: &Endpoint,
    new: &Endpoint,
    answer: Option<&IdempotentAnswer>,
) -> SqlResult<()> {
    answers::keep_or_replay(db, answer).await?;
    applications::lock(db, &old.application).await?;
    let select = format!("SELECT {ENDPOINT} FROM endpoints e WHERE e.application = $1 AND e.id = $2 FOR UPDATE");
    check(rows::one(db, &select, &[&&*old.application, &&*old.id], |row| rows::endpoint(row, 0)).await?, old)?;
    endpoints::update(db, new).await
}

async fn replace_event_type(db: &impl Client, old: &EventType, new: &EventType) -> SqlResult<()> {
    let select = format!("{EVENT_TYPE} WHERE account = $1 AND name = $2 FOR UPDATE");
    check(rows::one(db, &select, &[&&*old.account, &old.name], rows::event_type).await?, old)?;
    event_types::put(db, new, None).await
}

async fn upsert_event_types(
    db: &impl Client,
    event_types: &[EventType],
    answer: Option<&IdempotentAnswer>,
) -> SqlResult<()> {
    answers::keep_or_replay(db, answer).await?;
    for event_type in event_types {
        event_types::put(db, event_type, None).await?;
    }
    Ok(())
}

/// How many there are of each status. Answered from the index alone, as far as vacuum has been there.
const ATTEMPTS: &str = "SELECT count(*) FILTER (WHERE status = 0), count(*) FILTER (WHERE status = 1), \
     count(*) FILTER (WHERE status = 2), count(*) FILTER (WHERE status = 3), count(*) FILTER (WHERE status = 4) \
     FROM (SELECT status FROM attempts WHERE endpoint = $1 AND id >= $2 AND id < $3 LIMIT $4) found";
/// How many have not been attempted, and how many have.
const DELIVERIES: &str = "SELECT count(*) FILTER (WHERE attempts = 0), count(*) FILTER (WHERE attempts > 0) \
     FROM (SELECT attempts FROM deliveries WHERE endpoint = $1 AND message >= $2 AND message < $3 LIMIT $4) found";

async fn count(
    db: &impl Client,
    endpoint: &str,
    attempts: &Range<Id>,
    messages: &Range<Id>,
    limit: usize,
) -> SqlResult<Option<EndpointCounts>> {
    let attempts: [u64; 5] = numbers(db, ATTEMPTS, endpoint, attempts, limit).await?;
    let deliveries: [u64; 2] = numbers(db, DELIVERIES, endpoint, messages, limit).await?;
    let rows = attempts.iter().sum::<u64>().max(deliveries.iter().sum());
    Ok((rows <= limit as u64).then(|| counted(attempts, deliveries)))
}

/// The only row of a statement that looks at one row more than `limit` at most.
async fn numbers<const COLUMNS: usize>(
    db: &impl Client,
    sql: &str,
    endpoint: &str,
    ids: &Range<Id>,
    limit: usize,
) -> SqlResult<[u64; COLUMNS]> {
    let limit = rows::sql_limit(limit.saturating_add(1));
    let found = rows::one(db, sql, &[&endpoint, &&*ids.start, &&*ids.end, &limit], |row| {
        let mut numbers = [0; COLUMNS];
        for (column, number) in numbers.iter_mut().enumerate() {
            *number = rows::get::<i64>(row, column)?.unsigned_abs();
        }
        Ok(numbers)
    })
    .await?;
    Ok(found.unwrap_or([0; COLUMNS]))
}
