//! Event types.

use provider_core::model::EventType;
use provider_core::port::{IdempotentAnswer, Page, StoreError};

use super::answers;
use super::rows::{self, Client, EVENT_TYPE, SqlResult};
use crate::codec::{PageQuery, optional_to_json, to_json};

const INSERT: &str = "INSERT INTO event_types (account, name, description, archived, deprecated, schemas, feature_flags, \
     group_name, created_at, updated_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) ON CONFLICT (account, name)";

pub(super) async fn create(db: &impl Client, new: &EventType, answer: Option<&IdempotentAnswer>) -> SqlResult<()> {
    answers::keep_or_replay(db, answer).await?;
    match write(db, &format!("{INSERT} DO NOTHING"), new).await? {
        0 => Err(StoreError::Taken("name").into()),
        _ => Ok(()),
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
    answers::keep_or_replay(db, answer).await?;
    let replace = format!(
        "{INSERT} DO UPDATE SET (description, archived, deprecated, schemas, feature_flags, group_name, created_at, updated_at) \
         = (excluded.description, excluded.archived, excluded.deprecated, excluded.schemas, excluded.feature_flags, \
            excluded.group_name, excluded.created_at, excluded.updated_at)"
    );
    write(db, &replace, new).await.map(drop)
}

async fn write(db: &impl Client, statement: &str, new: &EventType) -> SqlResult<u64> {
    let (schemas, feature_flags) = (optional_to_json(new.schemas.as_ref())?, to_json(&new.feature_flags)?);
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
