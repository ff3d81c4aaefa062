//! Changes of what is configured as it was seen, lists of applications by their endpoints, and counts.

use std::ops::Range;

use async_trait::async_trait;
use provider_core::model::{Application, Endpoint, EventType, Id};
use provider_core::port::{
    ApplicationExclusion, ConfigurationStore, CountStore, EndpointCounts, IdempotentAnswer, Page, StoreError,
    StoreResult,
};
use rusqlite::{Connection, params};

use super::rows::{self, APPLICATION, SqlResult};
use super::{SqliteStore, answers, applications, endpoints, event_types};
use crate::codec::{PageQuery, counted, exclusion_sql};

#[async_trait]
impl ConfigurationStore for SqliteStore {
    async fn replace_application(&self, old: Application, new: Application) -> StoreResult<()> {
        self.write(move |db| {
            check(applications::find(db, &old.account, &old.id)?, &old)?;
            applications::update(db, &new)
        })
        .await
    }

    async fn replace_endpoint(
        &self,
        old: Endpoint,
        new: Endpoint,
        answer: Option<IdempotentAnswer>,
    ) -> StoreResult<()> {
        self.write(move |db| {
            answers::keep_or_replay(db, answer.as_ref())?;
            check(endpoints::find(db, &old.application, &old.id)?, &old)?;
            endpoints::update(db, &new)
        })
        .await
    }

    async fn replace_event_type(&self, old: EventType, new: EventType) -> StoreResult<()> {
        self.write(move |db| {
            check(event_types::find(db, &old.account, &old.name)?, &old)?;
            event_types::put(db, &new, None)
        })
        .await
    }

    async fn upsert_event_types(
        &self,
        event_types: Vec<EventType>,
        answer: Option<IdempotentAnswer>,
    ) -> StoreResult<()> {
        self.write(move |db| {
            answers::keep_or_replay(db, answer.as_ref())?;
            event_types.iter().try_for_each(|event_type| event_types::put(db, event_type, None))
        })
        .await
    }

    async fn applications_except(
        &self,
        account: &str,
        exclude: &[ApplicationExclusion],
        page: Page,
    ) -> StoreResult<Vec<Application>> {
        let (account, exclude) = (account.to_owned(), exclude.to_vec());
        self.read(move |db| {
            let select = format!("{APPLICATION} WHERE account = $1{}", exclusion_sql(&exclude, "applications"));
            rows::list(db, &select, "id", &account, &PageQuery::new(&page), rows::application)
        })
        .await
    }
}

#[async_trait]
impl CountStore for SqliteStore {
    async fn endpoint_counts(
        &self,
        endpoint: &str,
        attempts: Range<Id>,
        messages: Range<Id>,
        limit: usize,
    ) -> StoreResult<Option<EndpointCounts>> {
        let endpoint = endpoint.to_owned();
        self.read(move |db| count(db, &endpoint, &attempts, &messages, limit)).await
    }
}

fn check<T: PartialEq>(found: Option<T>, old: &T) -> SqlResult<()> {
    match found {
        None => Err(StoreError::NotFound.into()),
        Some(found) if found == *old => Ok(()),
        Some(_) => Err(StoreError::Conflict.into()),
    }
}

/// How many there are of each status. Answered from the index alone.
const ATTEMPTS: &str = "SELECT count(*) FILTER (WHERE status = 0), count(*) FILTER (WHERE status = 1), \
     count(*) FILTER (WHERE status = 2), count(*) FILTER (WHERE status = 3), count(*) FILTER (WHERE status = 4) \
     FROM (SELECT status FROM attempts WHERE endpoint = ?1 AND id >= ?2 AND id < ?3 LIMIT ?4) found";
/// How many have not been attempted, and how many have.
const DELIVERIES: &str = "SELECT count(*) FILTER (WHERE attempts = 0), count(*) FILTER (WHERE attempts > 0) \
     FROM (SELECT attempts FROM deliveries WHERE endpoint = ?1 AND message >= ?2 AND message < ?3 LIMIT ?4) found";

fn count(
    db: &Connection,
    endpoint: &str,
    attempts: &Range<Id>,
    messages: &Range<Id>,
    limit: usize,
) -> SqlResult<Option<EndpointCounts>> {
    let attempts: [u64; 5] = numbers(db, ATTEMPTS, endpoint, attempts, limit)?;
    let deliveries: [u64; 2] = numbers(db, DELIVERIES, endpoint, messages, limit)?;
    let rows = attempts.iter().sum::<u64>().max(deliveries.iter().sum());
    Ok((rows <= limit as u64).then(|| counted(attempts, deliveries)))
}

/// The only row of a statement that looks at one row more than `limit` at most.
fn numbers<const COLUMNS: usize>(
    db: &Connection,
    sql: &str,
    endpoint: &str,
    ids: &Range<Id>,
    limit: usize,
) -> SqlResult<[u64; COLUMNS]> {
    let limit = i64::try_from(limit.saturating_add(1)).unwrap_or(i64::MAX);
    let mut statement = db.prepare_cached(sql)?;
    Ok(statement.query_row(params![endpoint, &*ids.start, &*ids.end, limit], |row| {
        let mut numbers = [0; COLUMNS];
        for (column, number) in numbers.iter_mut().enumerate() {
            *number = row.get::<_, i64>(column)?.unsigned_abs();
        }
        Ok(numbers)
    })?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn attempts_are_counted_in_their_index() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("provider.db");
        drop(super::super::open(&path).await.unwrap());
        let db = Connection::open(&path).unwrap();
        let mut plan = db.prepare(&format!("EXPLAIN QUERY PLAN {ATTEMPTS}")).unwrap();
        let steps = plan.query_map(params!["ep", "a", "b", 1], |row| row.get::<_, String>(3)).unwrap();
        let steps: Vec<String> = steps.map(Result::unwrap).filter(|step| step.contains("attempts")).collect();
        assert_eq!(steps, ["SEARCH attempts USING COVERING INDEX attempts_at_endpoint (endpoint=? AND id>? AND id<?)"]);
    }
}
