//! Changes of what is configured as it was seen, lists of applications by their endpoints, and counts.

use std::ops::Range;

use ::provider::model::{Application, Endpoint, EventType, Id};
use ::provider::port::{
    ConfigurationStore, CountStore, EndpointCounts, Exclude, IdempotentAnswer, Page, StoreError, StoreResult,
};
use async_trait::async_trait;

use super::rows::{self, APPLICATION, Client, ENDPOINT, EVENT_TYPE, Outcome};
use super::{Provider, answers, applications, endpoints, event_types};
use crate::provider_codec::{self as codec, Slice, count_attempts, excluding};

#[async_trait]
impl ConfigurationStore for Provider {
    async fn replace_application(&self, old: Application, new: Application) -> StoreResult<()> {
        self.transaction(&(&old, &new), |db, &(old, new)| Box::pin(replace_application(db, old, new))).await?;
        self.engine.notify().await;
        Ok(())
    }

    async fn replace_endpoint(&self, old: Endpoint, new: Endpoint) -> StoreResult<()> {
        self.transaction(&(&old, &new), |db, &(old, new)| Box::pin(replace_endpoint(db, old, new))).await?;
        self.engine.notify().await;
        Ok(())
    }

    async fn replace_event_type(&self, old: EventType, new: EventType) -> StoreResult<()> {
        self.transaction(&(&old, &new), |db, &(old, new)| Box::pin(replace_event_type(db, old, new))).await
    }

    async fn put_event_types(&self, event_types: Vec<EventType>, answer: Option<IdempotentAnswer>) -> StoreResult<()> {
        // In the order of their names, so that two imports at the same time don't wait for each other in a circle.
        let mut event_types = event_types;
        event_types.sort_by(|left, right| left.name.cmp(&right.name));
        self.transaction(&(&event_types, answer.as_ref()), |db, &(event_types, answer)| {
            Box::pin(put_event_types(db, event_types, answer))
        })
        .await
    }

    async fn applications_except(
        &self,
        account: &str,
        exclude: &[Exclude],
        page: Page,
    ) -> StoreResult<Vec<Application>> {
        let client = self.engine.client().await?;
        let except = excluding(exclude, "a");
        let select = format!("SELECT {APPLICATION} FROM applications a WHERE a.account = $1{except}");
        Ok(rows::list(&client, &select, "a.id", account, &Slice::new(&page), rows::application).await?)
    }
}

#[async_trait]
impl CountStore for Provider {
    async fn endpoint_counts(
        &self,
        endpoint: &str,
        attempts: Range<Id>,
        messages: Range<Id>,
        limit: usize,
    ) -> StoreResult<Option<EndpointCounts>> {
        let client = self.engine.client().await?;
        Ok(count(&client, endpoint, &attempts, &messages, limit).await?)
    }
}

fn check<T: PartialEq>(found: Option<T>, old: &T) -> Outcome<()> {
    match found {
        None => Err(StoreError::NotFound.into()),
        Some(found) if found == *old => Ok(()),
        Some(_) => Err(StoreError::Stale.into()),
    }
}

async fn replace_application(db: &impl Client, old: &Application, new: &Application) -> Outcome<()> {
    applications::lock(db, &old.id).await?;
    check(applications::find(db, &old.account, &old.id).await?, old)?;
    applications::update(db, new).await
}

/// Attempts note on the row whether the endpoint fails, without the application's lock: so the row is locked as well.
async fn replace_endpoint(db: &impl Client, old: &Endpoint, new: &Endpoint) -> Outcome<()> {
    applications::lock(db, &old.application).await?;
    let select = format!("SELECT {ENDPOINT} FROM endpoints e WHERE e.application = $1 AND e.id = $2 FOR UPDATE");
    check(rows::one(db, &select, &[&&*old.application, &&*old.id], |row| rows::endpoint(row, 0)).await?, old)?;
    endpoints::update(db, new).await
}

async fn replace_event_type(db: &impl Client, old: &EventType, new: &EventType) -> Outcome<()> {
    let select = format!("{EVENT_TYPE} WHERE account = $1 AND name = $2 FOR UPDATE");
    check(rows::one(db, &select, &[&&*old.account, &old.name], rows::event_type).await?, old)?;
    event_types::put(db, new, None).await
}

async fn put_event_types(
    db: &impl Client,
    event_types: &[EventType],
    answer: Option<&IdempotentAnswer>,
) -> Outcome<()> {
    answers::keep_or_replay(db, answer).await?;
    for event_type in event_types {
        event_types::put(db, event_type, None).await?;
    }
    Ok(())
}

/// Answered from the index alone, as far as vacuum has been there.
const ATTEMPTS: &str = "SELECT status::bigint, count(*) FROM (SELECT status FROM attempts \
     WHERE endpoint = $1 AND id >= $2 AND id < $3 LIMIT $4) found GROUP BY status";
const DELIVERIES: &str = "SELECT (attempts > 0)::int::bigint, count(*) FROM (SELECT attempts FROM deliveries \
     WHERE endpoint = $1 AND message >= $2 AND message < $3 LIMIT $4) found GROUP BY 1";

async fn count(
    db: &impl Client,
    endpoint: &str,
    attempts: &Range<Id>,
    messages: &Range<Id>,
    limit: usize,
) -> Outcome<Option<EndpointCounts>> {
    let mut counts = EndpointCounts::default();
    let mut attempts_found = 0;
    for (status, rows) in groups(db, ATTEMPTS, endpoint, attempts, limit).await? {
        attempts_found += rows;
        count_attempts(&mut counts, codec::status(status)?, rows);
    }
    let mut deliveries_found = 0;
    for (tried, rows) in groups(db, DELIVERIES, endpoint, messages, limit).await? {
        deliveries_found += rows;
        *(if tried == 0 { &mut counts.pending } else { &mut counts.sending }) += rows;
    }
    Ok((attempts_found.max(deliveries_found) <= limit as u64).then_some(counts))
}

/// What the rows are grouped by, with their number; one row more than `limit` at most.
async fn groups(
    db: &impl Client,
    sql: &str,
    endpoint: &str,
    ids: &Range<Id>,
    limit: usize,
) -> Outcome<Vec<(i64, u64)>> {
    let limit = rows::signed(limit.saturating_add(1));
    rows::all(db, sql, &[&endpoint, &&*ids.start, &&*ids.end, &limit], |row| {
        let rows: i64 = rows::get(row, 1)?;
        Ok((rows::get(row, 0)?, rows.unsigned_abs()))
    })
    .await
}
