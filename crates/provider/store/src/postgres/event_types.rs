//! Event types.

use async_trait::async_trait;
use jiff::Timestamp;
use provider_core::model::{EventType, UnknownEventType};
use provider_core::port::{EventTypeStore, IdempotentAnswer, Page, StoreError, StoreResult};

use super::rows::{self, Client, EVENT_TYPE, SqlResult, sql_limit};
use super::{PostgresStore, idempotency, unknown_event_types};
use crate::codec::{PageQuery, optional_to_json, to_json};

#[async_trait]
impl EventTypeStore for PostgresStore {
    async fn create_event_type(&self, event_type: EventType, answer: Option<IdempotentAnswer>) -> StoreResult<()> {
        self.transaction(&(&event_type, answer.as_ref()), |db, &(event_type, answer)| {
            Box::pin(create(db, event_type, answer))
        })
        .await
    }

    async fn event_type(&self, account: &str, name: &str) -> StoreResult<Option<EventType>> {
        let client = self.client().await?;
        Ok(find(&client, account, name).await?)
    }

    async fn event_types(&self, account: &str, page: Page) -> StoreResult<Vec<EventType>> {
        let client = self.client().await?;
        Ok(list(&client, account, &page).await?)
    }

    async fn event_type_count(&self, account: &str, count_max: usize) -> StoreResult<usize> {
        let client = self.client().await?;
        let count = "SELECT count(*) FROM (SELECT FROM event_types WHERE account = $1 LIMIT $2) counted";
        let counted =
            rows::one(&client, count, &[&account, &sql_limit(count_max)], |row| rows::get::<i64>(row, 0)).await?;
        Ok(counted.and_then(|count| usize::try_from(count).ok()).unwrap_or(0))
    }

    async fn upsert_event_types(
        &self,
        event_types: Vec<EventType>,
        answer: Option<IdempotentAnswer>,
    ) -> StoreResult<()> {
        // Sorted by name, so that two concurrent imports can't deadlock.
        let mut event_types = event_types;
        event_types.sort_by(|left, right| left.name.cmp(&right.name));
        self.transaction(&(&event_types, answer.as_ref()), |db, &(event_types, answer)| {
            Box::pin(upsert_event_types(db, event_types, answer))
        })
        .await
    }

    async fn replace_event_type(&self, old: EventType, new: EventType) -> StoreResult<()> {
        self.transaction(&(&old, &new), |db, &(old, new)| Box::pin(replace_event_type(db, old, new))).await
    }

    async fn delete_event_type(&self, account: &str, name: &str) -> StoreResult<bool> {
        self.transaction(&(account, name), |db, &(account, name)| Box::pin(delete(db, account, name))).await
    }

    async fn record_unknown_event_types(
        &self,
        counted: Vec<UnknownEventType>,
        forget_before: Timestamp,
    ) -> StoreResult<()> {
        self.transaction(&(&counted, forget_before), |db, &(counted, forget_before)| {
            Box::pin(unknown_event_types::record(db, counted, forget_before))
        })
        .await
    }

    async fn unknown_event_types(&self, account: &str, limit: usize) -> StoreResult<Vec<UnknownEventType>> {
        let client = self.client().await?;
        Ok(unknown_event_types::list(&client, account, limit).await?)
    }
}

async fn replace_event_type(db: &impl Client, old: &EventType, new: &EventType) -> SqlResult<()> {
    let select = format!("{EVENT_TYPE} WHERE account = $1 AND name = $2 FOR UPDATE");
    rows::check_unchanged(rows::one(db, &select, &[&&*old.account, &old.name], rows::event_type).await?, old)?;
    put(db, new, None).await
}

async fn upsert_event_types(
    db: &impl Client,
    event_types: &[EventType],
    answer: Option<&IdempotentAnswer>,
) -> SqlResult<()> {
    idempotency::keep_or_replay(db, answer).await?;
    for event_type in event_types {
        put(db, event_type, None).await?;
    }
    Ok(())
}

const INSERT: &str = "INSERT INTO event_types (account, name, description, archived, deprecated, schemas, feature_flags, \
     group_name, created_at, updated_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) ON CONFLICT (account, name)";

pub(super) async fn create(db: &impl Client, new: &EventType, answer: Option<&IdempotentAnswer>) -> SqlResult<()> {
    idempotency::keep_or_replay(db, answer).await?;
    match write(db, &format!("{INSERT} DO NOTHING"), new).await? {
        0 => Err(StoreError::Taken("name").into()),
        _ => unknown_event_types::forget(db, &new.account, &new.name).await,
    }
}

pub(super) async fn find(db: &impl Client, account: &str, name: &str) -> SqlResult<Option<EventType>> {
    let select = format!("{EVENT_TYPE} WHERE account = $1 AND name = $2");
    rows::one(db, &select, &[&account, &name], rows::event_type).await
}

pub(super) async fn list(db: &impl Client, account: &str, page: &Page) -> SqlResult<Vec<EventType>> {
    let select = format!("{EVENT_TYPE} WHERE account = $1");
    rows::list(db, &select, "name", account, &PageQuery::new(page), rows::event_type).await
}

pub(super) async fn put(db: &impl Client, new: &EventType, answer: Option<&IdempotentAnswer>) -> SqlResult<()> {
    idempotency::keep_or_replay(db, answer).await?;
    let replace = format!(
        "{INSERT} DO UPDATE SET (description, archived, deprecated, schemas, feature_flags, group_name, created_at, updated_at) \
         = (excluded.description, excluded.archived, excluded.deprecated, excluded.schemas, excluded.feature_flags, \
            excluded.group_name, excluded.created_at, excluded.updated_at)"
    );
    write(db, &replace, new).await?;
    unknown_event_types::forget(db, &new.account, &new.name).await
}

async fn write(db: &impl Client, statement: &str, new: &EventType) -> SqlResult<u64> {
    let schemas = optional_to_json(new.schemas.as_ref())?;
    let feature_flags = to_json(&new.feature_flags)?;
    rows::write(
        db,
        statement,
        &[
            &&*new.account,
            &new.name,
            &new.description,
            &new.archived,
            &new.deprecated,
            &schemas,
            &feature_flags,
            &new.group_name,
            &new.created_at,
            &new.updated_at,
        ],
    )
    .await
}

pub(super) async fn delete(db: &impl Client, account: &str, name: &str) -> SqlResult<bool> {
    Ok(rows::write(db, "DELETE FROM event_types WHERE account = $1 AND name = $2", &[&account, &name]).await? == 1)
}
