//! Event types.

use provider_core::model::EventType;
use provider_core::port::{IdempotentAnswer, Page, StoreError};
use rusqlite::{Connection, params};

use super::answers;
use super::rows::{self, EVENT_TYPE, SqlResult, ms};
use crate::codec::{PageQuery, optional_to_json, to_json};

pub(super) fn create(db: &Connection, new: &EventType, answer: Option<&IdempotentAnswer>) -> SqlResult<()> {
    answers::keep_or_replay(db, answer)?;
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
    answers::keep_or_replay(db, answer)?;
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
    Ok(())
}

pub(super) fn delete(db: &Connection, account: &str, name: &str) -> SqlResult<bool> {
    Ok(db.execute("DELETE FROM event_types WHERE account = ?1 AND name = ?2", (account, name))? == 1)
}
