//! Event types.

use async_trait::async_trait;
use jiff::Timestamp;
use provider_core::model::{EventType, UnknownEventType};
use provider_core::port::{EventTypeStore, IdempotentAnswer, Page, StoreError, StoreResult};
use rusqlite::{Connection, params};

use super::rows::{self, EVENT_TYPE, SqlResult, ms};
use super::{SqliteStore, idempotency, unknown_event_types};
use crate::codec::{PageQuery, optional_to_json, to_json};

#[async_trait]
impl EventTypeStore for SqliteStore {
    async fn create_event_type(&self, event_type: EventType, answer: Option<IdempotentAnswer>) -> StoreResult<()> {
        self.write(move |db| create(db, &event_type, answer.as_ref())).await
    }

    async fn event_type(&self, account: &str, name: &str) -> StoreResult<Option<EventType>> {
        let (account, name) = (account.to_owned(), name.to_owned());
        self.read(move |db| find(db, &account, &name)).await
    }

    async fn event_types(&self, account: &str, page: Page) -> StoreResult<Vec<EventType>> {
        let account = account.to_owned();
        self.read(move |db| list(db, &account, &page)).await
    }

    async fn event_type_count(&self, account: &str, count_max: usize) -> StoreResult<usize> {
        let account = account.to_owned();
        let limit = i64::try_from(count_max).unwrap_or(i64::MAX);
        let count = "SELECT count(*) FROM (SELECT 1 FROM event_types WHERE account = ?1 LIMIT ?2)";
        self.read(move |db| Ok(rows::one(db, count, (account, limit), |row| rows::count(row, 0))?.unwrap_or(0))).await
    }

    async fn upsert_event_types(
        &self,
        event_types: Vec<EventType>,
        answer: Option<IdempotentAnswer>,
    ) -> StoreResult<()> {
        self.write(move |db| {
            idempotency::keep_or_replay(db, answer.as_ref())?;
            event_types.iter().try_for_each(|event_type| put(db, event_type, None))
        })
        .await
    }

    async fn replace_event_type(&self, old: EventType, new: EventType) -> StoreResult<()> {
        self.write(move |db| {
            rows::check_unchanged(find(db, &old.account, &old.name)?, &old)?;
            put(db, &new, None)
        })
        .await
    }

    async fn delete_event_type(&self, account: &str, name: &str) -> StoreResult<bool> {
        let (account, name) = (account.to_owned(), name.to_owned());
        self.write(move |db| delete(db, &account, &name)).await
    }

    async fn record_unknown_event_types(
        &self,
        counted: Vec<UnknownEventType>,
        forget_before: Timestamp,
    ) -> StoreResult<()> {
        self.write(move |db| unknown_event_types::record(db, &counted, forget_before)).await
    }

    async fn unknown_event_types(&self, account: &str, limit: usize) -> StoreResult<Vec<UnknownEventType>> {
        let account = account.to_owned();
        self.read(move |db| unknown_event_types::list(db, &account, limit)).await
    }
}

pub(super) fn create(db: &Connection, new: &EventType, answer: Option<&IdempotentAnswer>) -> SqlResult<()> {
    idempotency::keep_or_replay(db, answer)?;
    if find(db, &new.account, &new.name)?.is_some() {
        return Err(StoreError::Taken("name").into());
    }
    write(db, new)
}

pub(super) fn find(db: &Connection, account: &str, name: &str) -> SqlResult<Option<EventType>> {
    let select = format!("{EVENT_TYPE} WHERE account = ?1 AND name = ?2");
    rows::one(db, &select, (account, name), rows::event_type)
}

pub(super) fn list(db: &Connection, account: &str, page: &Page) -> SqlResult<Vec<EventType>> {
    let select = format!("{EVENT_TYPE} WHERE account = $1");
    rows::list(db, &select, "name", account, &PageQuery::new(page), rows::event_type)
}

pub(super) fn put(db: &Connection, new: &EventType, answer: Option<&IdempotentAnswer>) -> SqlResult<()> {
    idempotency::keep_or_replay(db, answer)?;
    write(db, new)
}

fn write(db: &Connection, new: &EventType) -> SqlResult<()> {
    let replace = "INSERT OR REPLACE INTO event_types (account, name, description, archived, deprecated, schemas, \
         feature_flags, group_name, created_at, updated_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)";
    db.prepare_cached(replace)?.execute(params![
        &*new.account,
        new.name,
        new.description,
        new.archived,
        new.deprecated,
        optional_to_json(new.schemas.as_ref())?,
        to_json(&new.feature_flags)?,
        new.group_name,
        ms(new.created_at),
        ms(new.updated_at)
    ])?;
    unknown_event_types::forget(db, &new.account, &new.name)
}

pub(super) fn delete(db: &Connection, account: &str, name: &str) -> SqlResult<bool> {
    Ok(db.execute("DELETE FROM event_types WHERE account = ?1 AND name = ?2", (account, name))? == 1)
}
