//! Consumer applications.

use async_trait::async_trait;
use provider_core::model::{Application, Id};
use provider_core::operational::events::OperationalEventKind;
use provider_core::port::{ApplicationExclusion, ApplicationStore, IdempotentAnswer, Page, StoreError, StoreResult};

use super::rows::{self, APPLICATION, Client, SqlResult, sql_limit};
use super::{PostgresStore, idempotency, operational_events};
use crate::codec::{PageQuery, exclusion_sql, to_json};

#[async_trait]
impl ApplicationStore for PostgresStore {
    async fn create_application(&self, application: Application, answer: Option<IdempotentAnswer>) -> StoreResult<()> {
        self.transaction(&(&application, answer.as_ref()), |db, &(application, answer)| {
            Box::pin(create(db, application, answer))
        })
        .await
    }

    async fn application(&self, account: &str, id_or_uid: &str) -> StoreResult<Option<Application>> {
        let client = self.client().await?;
        Ok(find(&client, account, id_or_uid).await?)
    }

    async fn applications(&self, account: &str, page: Page) -> StoreResult<Vec<Application>> {
        let client = self.client().await?;
        Ok(list(&client, account, &page).await?)
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

    async fn applications_by_uid(&self, uid: &str, limit: usize) -> StoreResult<Vec<Application>> {
        let client = self.client().await?;
        let select = format!("SELECT {APPLICATION} FROM applications a WHERE a.uid = $1 ORDER BY a.id LIMIT $2");
        Ok(rows::all(&client, &select, &[&uid, &sql_limit(limit)], rows::application).await?)
    }

    async fn replace_application(&self, old: Application, new: Application) -> StoreResult<()> {
        self.transaction(&(&old, &new), |db, &(old, new)| Box::pin(replace_application(db, old, new))).await?;
        self.engine.notify().await;
        Ok(())
    }

    async fn delete_application(&self, account: &str, id: &str) -> StoreResult<bool> {
        let Some(endpoints) =
            self.transaction(&(account, id), |db, &(account, id)| Box::pin(delete(db, account, id))).await?
        else {
            return Ok(false);
        };
        self.drop_rows_of(&endpoints).await?;
        self.engine.notify().await;
        Ok(true)
    }
}

pub(super) async fn create(db: &impl Client, new: &Application, answer: Option<&IdempotentAnswer>) -> SqlResult<()> {
    idempotency::keep_or_replay(db, answer).await?;
    check_uid(db, new).await?;
    let insert = "INSERT INTO applications (id, account, uid, name, throttle_rate, metadata, version, created_at, \
         updated_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)";
    let metadata = to_json(&new.metadata)?;
    rows::write(
        db,
        insert,
        &[
            &&*new.id,
            &&*new.account,
            &new.uid,
            &new.name,
            &new.throttle_rate.map(i32::from),
            &metadata,
            &new.version,
            &new.created_at,
            &new.updated_at,
        ],
    )
    .await
    .map(drop)
}

/// An id takes precedence over an equal uid.
pub(super) async fn find(db: &impl Client, account: &str, id_or_uid: &str) -> SqlResult<Option<Application>> {
    let by_id = format!("SELECT {APPLICATION} FROM applications a WHERE a.account = $1 AND a.id = $2");
    let found = rows::one(db, &by_id, &[&account, &id_or_uid], rows::application).await?;
    if found.is_some() {
        return Ok(found);
    }
    let by_uid = format!("SELECT {APPLICATION} FROM applications a WHERE a.account = $1 AND a.uid = $2");
    rows::one(db, &by_uid, &[&account, &id_or_uid], rows::application).await
}

pub(super) async fn exists(db: &impl Client, id: &str) -> SqlResult<bool> {
    let select = "SELECT version FROM applications WHERE id = $1";
    Ok(rows::one(db, select, &[&id], |row| rows::get::<i64>(row, 0)).await?.is_some())
}

pub(super) async fn list(db: &impl Client, account: &str, page: &Page) -> SqlResult<Vec<Application>> {
    let select = format!("SELECT {APPLICATION} FROM applications a WHERE a.account = $1");
    rows::list(db, &select, "a.id", account, &PageQuery::new(page), rows::application).await
}

pub(super) async fn update(db: &impl Client, new: &Application) -> SqlResult<()> {
    check_uid(db, new).await?;
    let update = "UPDATE applications SET uid = $3, name = $4, throttle_rate = $5, metadata = $6, updated_at = $7, \
         version = version + 1 WHERE account = $1 AND id = $2";
    let metadata = to_json(&new.metadata)?;
    let updated = rows::write(
        db,
        update,
        &[
            &&*new.account,
            &&*new.id,
            &new.uid,
            &new.name,
            &new.throttle_rate.map(i32::from),
            &metadata,
            &new.updated_at,
        ],
    )
    .await?;
    match updated {
        0 => Err(StoreError::NotFound.into()),
        _ => Ok(()),
    }
}

async fn check_uid(db: &impl Client, new: &Application) -> SqlResult<()> {
    let select = "SELECT id FROM applications WHERE account = $1 AND uid = $2 AND id <> $3";
    match rows::one(db, select, &[&&*new.account, &new.uid, &&*new.id], |row| rows::id(row, 0)).await? {
        Some(_) => Err(StoreError::Taken("uid").into()),
        None => Ok(()),
    }
}

/// Locks the application until the transaction ends. Transactions that route messages of the application or change its
/// endpoints wait. A transaction that locks an endpoint locks its application first.
pub(super) async fn lock(db: &impl Client, id: &str) -> SqlResult<()> {
    let select = "SELECT id FROM applications WHERE id = $1 FOR NO KEY UPDATE";
    rows::one(db, select, &[&id], |row| rows::id(row, 0)).await.map(drop)
}

/// Raises the version of the application, which also locks it. False when the application does not exist.
pub(super) async fn raise_version(db: &impl Client, id: &str) -> SqlResult<bool> {
    Ok(rows::write(db, "UPDATE applications SET version = version + 1 WHERE id = $1", &[&id]).await? == 1)
}

/// Deletes an application with its endpoints and returns the ids of the endpoints; `None` when the application did not
/// exist. The caller deletes the delivery rows afterwards; queries omit rows of deleted endpoints.
pub(super) async fn delete(db: &impl Client, account: &str, id: &str) -> SqlResult<Option<Vec<Id>>> {
    let lock = "SELECT id FROM applications WHERE account = $1 AND id = $2 FOR UPDATE";
    if rows::one(db, lock, &[&account, &id], |row| rows::id(row, 0)).await?.is_none() {
        return Ok(None);
    }
    let delete = "DELETE FROM endpoints WHERE application = $1 RETURNING id, uid";
    let ids = |row: &_| Ok((rows::id(row, 0)?, rows::get::<Option<String>>(row, 1)?));
    let deleted: Vec<(Id, Option<String>)> = rows::all(db, delete, &[&id], ids).await?;
    // The events are inserted before the application is deleted, because its row names the account that receives them.
    for (endpoint, uid) in &deleted {
        operational_events::insert_event(db, id, endpoint, uid.as_deref(), OperationalEventKind::Deleted).await?;
    }
    rows::write(db, "DELETE FROM applications WHERE account = $1 AND id = $2", &[&account, &id]).await?;
    rows::write(db, "DELETE FROM app_tokens WHERE application = $1", &[&id]).await?;
    Ok(Some(deleted.into_iter().map(|(endpoint, _)| endpoint).collect()))
}

async fn replace_application(db: &impl Client, old: &Application, new: &Application) -> SqlResult<()> {
    lock(db, &old.id).await?;
    rows::check_unchanged(find(db, &old.account, &old.id).await?, old)?;
    update(db, new).await
}
