//! Consumer applications.

use async_trait::async_trait;
use provider_core::model::{Application, Id};
use provider_core::operational::events::OperationalEventKind;
use provider_core::port::{ApplicationExclusion, ApplicationStore, IdempotentAnswer, Page, StoreError, StoreResult};
use rusqlite::{Connection, params};

use super::rows::{self, APPLICATION, SqlResult, ms};
use super::{SqliteStore, idempotency, operational_events};
use crate::codec::{PageQuery, exclusion_sql, to_json};

#[async_trait]
impl ApplicationStore for SqliteStore {
    async fn create_application(&self, application: Application, answer: Option<IdempotentAnswer>) -> StoreResult<()> {
        self.write(move |db| create(db, &application, answer.as_ref())).await
    }

    async fn application(&self, account: &str, id_or_uid: &str) -> StoreResult<Option<Application>> {
        let (account, id_or_uid) = (account.to_owned(), id_or_uid.to_owned());
        self.read(move |db| find(db, &account, &id_or_uid)).await
    }

    async fn applications(&self, account: &str, page: Page) -> StoreResult<Vec<Application>> {
        let account = account.to_owned();
        self.read(move |db| list(db, &account, &page)).await
    }

    async fn applications_except(
        &self,
        account: &str,
        exclude: &[ApplicationExclusion],
        page: Page,
    ) -> StoreResult<Vec<Application>> {
        let account = account.to_owned();
        let exclude = exclude.to_vec();
        self.read(move |db| {
            let select = format!("{APPLICATION} WHERE account = $1{}", exclusion_sql(&exclude, "applications"));
            rows::list(db, &select, "id", &account, &PageQuery::new(&page), rows::application)
        })
        .await
    }

    async fn applications_by_uid(&self, uid: &str, limit: usize) -> StoreResult<Vec<Application>> {
        let uid = uid.to_owned();
        self.read(move |db| by_uid(db, &uid, limit)).await
    }

    async fn replace_application(&self, old: Application, new: Application) -> StoreResult<()> {
        self.write(move |db| {
            rows::check_unchanged(find(db, &old.account, &old.id)?, &old)?;
            update(db, &new)
        })
        .await
    }

    async fn delete_application(&self, account: &str, id: &str) -> StoreResult<bool> {
        let (account, id) = (account.to_owned(), id.to_owned());
        let Some(endpoints) = self.write(move |db| delete(db, &account, &id)).await? else {
            return Ok(false);
        };
        for endpoint in endpoints {
            self.drop_rows_of(endpoint).await?;
        }
        Ok(true)
    }
}

pub(super) fn create(db: &Connection, new: &Application, answer: Option<&IdempotentAnswer>) -> SqlResult<()> {
    idempotency::keep_or_replay(db, answer)?;
    check_uid(db, new)?;
    let insert = "INSERT INTO applications (id, account, uid, name, throttle_rate, metadata, version, created_at, \
         updated_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)";
    db.prepare_cached(insert)?.execute(params![
        &*new.id,
        &*new.account,
        new.uid,
        new.name,
        new.throttle_rate,
        to_json(&new.metadata)?,
        new.version,
        ms(new.created_at),
        ms(new.updated_at)
    ])?;
    Ok(())
}

pub(super) fn find(db: &Connection, account: &str, id_or_uid: &str) -> SqlResult<Option<Application>> {
    let by_id = format!("{APPLICATION} WHERE account = ?1 AND id = ?2");
    let found = rows::one(db, &by_id, (account, id_or_uid), rows::application)?;
    if found.is_some() {
        return Ok(found);
    }
    let by_uid = format!("{APPLICATION} WHERE account = ?1 AND uid = ?2");
    rows::one(db, &by_uid, (account, id_or_uid), rows::application)
}

pub(super) fn find_by_id(db: &Connection, id: &str) -> SqlResult<Option<Application>> {
    rows::one(db, &format!("{APPLICATION} WHERE id = ?1"), [id], rows::application)
}

pub(super) fn exists(db: &Connection, id: &str) -> SqlResult<bool> {
    Ok(version(db, id)?.is_some())
}

pub(super) fn version(db: &Connection, id: &str) -> SqlResult<Option<i64>> {
    let select = "SELECT version FROM applications WHERE id = ?1";
    rows::one(db, select, [id], |row| Ok(row.get(0)?))
}

pub(super) fn list(db: &Connection, account: &str, page: &Page) -> SqlResult<Vec<Application>> {
    let select = format!("{APPLICATION} WHERE account = $1");
    rows::list(db, &select, "id", account, &PageQuery::new(page), rows::application)
}

pub(super) fn update(db: &Connection, new: &Application) -> SqlResult<()> {
    check_uid(db, new)?;
    let update = "UPDATE applications SET uid = ?3, name = ?4, throttle_rate = ?5, metadata = ?6, updated_at = ?7, \
         version = version + 1 WHERE account = ?1 AND id = ?2";
    let updated = db.prepare_cached(update)?.execute(params![
        &*new.account,
        &*new.id,
        new.uid,
        new.name,
        new.throttle_rate,
        to_json(&new.metadata)?,
        ms(new.updated_at)
    ])?;
    match updated {
        0 => Err(StoreError::NotFound.into()),
        _ => Ok(()),
    }
}

fn check_uid(db: &Connection, new: &Application) -> SqlResult<()> {
    let select = "SELECT 1 FROM applications WHERE account = ?1 AND uid = ?2 AND id <> ?3";
    let is_taken = db.prepare_cached(select)?.exists(params![&*new.account, new.uid, &*new.id])?;
    if is_taken { Err(StoreError::Taken("uid").into()) } else { Ok(()) }
}

/// False when the application does not exist.
pub(super) fn raise_version(db: &Connection, id: &str) -> SqlResult<bool> {
    let update = "UPDATE applications SET version = version + 1 WHERE id = ?1";
    Ok(db.prepare_cached(update)?.execute([id])? == 1)
}

/// Deletes an application with its endpoints and returns the ids of the endpoints; `None` when the application did not
/// exist. The caller deletes the delivery rows afterwards; queries omit rows of deleted endpoints.
pub(super) fn delete(db: &Connection, account: &str, id: &str) -> SqlResult<Option<Vec<Id>>> {
    if !db.prepare_cached("SELECT 1 FROM applications WHERE account = ?1 AND id = ?2")?.exists((account, id))? {
        return Ok(None);
    }
    let mut delete = db.prepare_cached("DELETE FROM endpoints WHERE application = ?1 RETURNING id, uid")?;
    let mut rows = delete.query([id])?;
    let mut deleted = Vec::new();
    while let Some(row) = rows.next()? {
        deleted.push((rows::id(row, 0)?, row.get::<_, Option<String>>(1)?));
    }
    // The events are inserted before the application is deleted, because its row names the account that receives them.
    for (endpoint, uid) in &deleted {
        operational_events::insert_event(db, id, endpoint, uid.as_deref(), OperationalEventKind::Deleted)?;
    }
    db.execute("DELETE FROM applications WHERE account = ?1 AND id = ?2", (account, id))?;
    db.execute("DELETE FROM app_tokens WHERE application = ?1", [id])?;
    Ok(Some(deleted.into_iter().map(|(endpoint, _)| endpoint).collect()))
}

fn by_uid(db: &Connection, uid: &str, limit: usize) -> SqlResult<Vec<Application>> {
    let mut statement = db.prepare_cached(&format!("{APPLICATION} WHERE uid = ?1 ORDER BY id LIMIT ?2"))?;
    let mut rows = statement.query((uid, i64::try_from(limit).unwrap_or(i64::MAX)))?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        found.push(rows::application(row)?);
    }
    Ok(found)
}
