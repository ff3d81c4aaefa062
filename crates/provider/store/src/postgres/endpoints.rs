//! Endpoints, and the snapshot by which messages are routed.

use async_trait::async_trait;
use jiff::Timestamp;
use provider_core::model::{Application, Endpoint, Id};
use provider_core::operational::events::{DisabledBy, OperationalEventKind};
use provider_core::port::{EndpointStates, EndpointStore, IdempotentAnswer, Page, StoreError, StoreResult};
use tokio_postgres::Row;
use tokio_postgres::types::ToSql;

use super::rows::{self, APPLICATION, APPLICATION_COLUMNS, Client, ENDPOINT, SqlResult, sql_limit};
use super::{PostgresStore, applications, idempotency, operational_events};
use crate::codec::{PageQuery, optional_to_json};
use crate::endpoint_codec::{sealed_to_json, state_to_json};

#[async_trait]
impl EndpointStore for PostgresStore {
    async fn create_endpoint(
        &self,
        endpoint: Endpoint,
        endpoints_max: usize,
        answer: Option<IdempotentAnswer>,
    ) -> StoreResult<()> {
        self.transaction(&(&endpoint, endpoints_max, answer.as_ref()), |db, &(endpoint, max, answer)| {
            Box::pin(create_within_limit(db, endpoint, max, answer))
        })
        .await?;
        self.engine.notify().await;
        Ok(())
    }

    async fn endpoint(&self, application: &str, id_or_uid: &str) -> StoreResult<Option<Endpoint>> {
        let client = self.client().await?;
        Ok(find(&client, application, id_or_uid).await?)
    }

    async fn endpoint_by_id(&self, id: &str) -> StoreResult<Option<(Id, Endpoint)>> {
        let client = self.client().await?;
        let select = format!(
            "SELECT a.account, {ENDPOINT} FROM endpoints e JOIN applications a ON a.id = e.application WHERE e.id = $1"
        );
        let found = |row: &Row| Ok((rows::id(row, 0)?, rows::endpoint(row, 1)?));
        Ok(rows::one(&client, &select, &[&id], found).await?)
    }

    async fn endpoints(&self, application: &str, page: Page) -> StoreResult<Vec<Endpoint>> {
        let client = self.client().await?;
        Ok(list(&client, application, &page).await?)
    }

    async fn endpoints_by_uid(&self, uid: &str, limit: usize) -> StoreResult<Vec<(Id, Endpoint)>> {
        let client = self.client().await?;
        let select = format!(
            "SELECT a.account, {ENDPOINT} FROM endpoints e JOIN applications a ON a.id = e.application \
             WHERE e.uid = $1 ORDER BY e.id LIMIT $2"
        );
        let found = |row: &Row| Ok((rows::id(row, 0)?, rows::endpoint(row, 1)?));
        Ok(rows::all(&client, &select, &[&uid, &sql_limit(limit)], found).await?)
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

    async fn delete_endpoint(&self, application: &str, id: &str) -> StoreResult<bool> {
        if !self.transaction(&(application, id), |db, &(application, id)| Box::pin(delete(db, application, id))).await?
        {
            return Ok(false);
        }
        self.drop_rows_of(&[id.into()]).await?;
        self.engine.notify().await;
        Ok(true)
    }

    async fn snapshot(&self, application: &str) -> StoreResult<Option<(Application, Vec<Endpoint>)>> {
        let client = self.client().await?;
        Ok(snapshot(&client, application).await?)
    }

    async fn endpoint_states(&self) -> StoreResult<EndpointStates> {
        let client = self.client().await?;
        let select = "SELECT (SELECT count(*) FROM endpoints WHERE failing_since IS NOT NULL AND NOT disabled), \
             (SELECT count(*) FROM endpoints WHERE disabled)";
        let states = rows::one(&client, select, &[], |row| {
            Ok(EndpointStates {
                failing: rows::get::<i64>(row, 0)?.unsigned_abs(),
                disabled: rows::get::<i64>(row, 1)?.unsigned_abs(),
            })
        });
        Ok(states.await?.unwrap_or_default())
    }
}

/// Locks the row, too, because recording attempts updates it without the lock on the application.
async fn replace_endpoint(
    db: &impl Client,
    old: &Endpoint,
    new: &Endpoint,
    answer: Option<&IdempotentAnswer>,
) -> SqlResult<()> {
    idempotency::keep_or_replay(db, answer).await?;
    applications::lock(db, &old.application).await?;
    let select = format!("SELECT {ENDPOINT} FROM endpoints e WHERE e.application = $1 AND e.id = $2 FOR UPDATE");
    rows::check_unchanged(
        rows::one(db, &select, &[&&*old.application, &&*old.id], |row| rows::endpoint(row, 0)).await?,
        old,
    )?;
    update(db, new).await
}

pub(super) async fn create(db: &impl Client, new: &Endpoint, answer: Option<&IdempotentAnswer>) -> SqlResult<()> {
    idempotency::keep_or_replay(db, answer).await?;
    if !applications::raise_version(db, &new.application).await? {
        return Err(StoreError::NotFound.into());
    }
    check_uid(db, new).await?;
    let insert = "INSERT INTO endpoints (id, application, uid, url, filter_types, disabled, failing_since, ordering, \
         updated_at, sealed, state, description, created_at, disabled_at) \
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, CASE WHEN $6 THEN $13::timestamptz END)";
    write(db, insert, new, Some(new.created_at)).await?;
    operational_events::insert_event(db, &new.application, &new.id, new.uid.as_deref(), OperationalEventKind::Created)
        .await
}

/// An id takes precedence over an equal uid.
pub(super) async fn find(db: &impl Client, application: &str, id_or_uid: &str) -> SqlResult<Option<Endpoint>> {
    let by_id = format!("SELECT {ENDPOINT} FROM endpoints e WHERE e.application = $1 AND e.id = $2");
    let found = rows::one(db, &by_id, &[&application, &id_or_uid], |row| rows::endpoint(row, 0)).await?;
    if found.is_some() {
        return Ok(found);
    }
    let by_uid = format!("SELECT {ENDPOINT} FROM endpoints e WHERE e.application = $1 AND e.uid = $2");
    rows::one(db, &by_uid, &[&application, &id_or_uid], |row| rows::endpoint(row, 0)).await
}

pub(super) async fn list(db: &impl Client, application: &str, page: &Page) -> SqlResult<Vec<Endpoint>> {
    let select = format!("SELECT {ENDPOINT} FROM endpoints e WHERE e.application = $1");
    rows::list(db, &select, "e.id", application, &PageQuery::new(page), |row| rows::endpoint(row, 0)).await
}

pub(super) async fn update(db: &impl Client, new: &Endpoint) -> SqlResult<()> {
    if !applications::raise_version(db, &new.application).await? {
        return Err(StoreError::NotFound.into());
    }
    check_uid(db, new).await?;
    let was = "SELECT disabled FROM endpoints WHERE id = $1 AND application = $2";
    let was_disabled = rows::one(db, was, &[&&*new.id, &&*new.application], |row| rows::get::<bool>(row, 0)).await?;
    let update = "UPDATE endpoints SET uid = $3, url = $4, filter_types = $5, disabled = $6, failing_since = $7, \
         ordering = $8, updated_at = $9, sealed = $10, state = $11, description = $12, given_up_at = CASE WHEN $6 THEN given_up_at END, \
         disabled_at = CASE WHEN $6 THEN coalesce(disabled_at, $9) END WHERE id = $1 AND application = $2";
    if write(db, update, new, None).await? == 0 {
        return Err(StoreError::NotFound.into());
    }
    operational_events::insert_event(db, &new.application, &new.id, new.uid.as_deref(), OperationalEventKind::Updated)
        .await?;
    if new.disabled && was_disabled == Some(false) {
        let disabled = OperationalEventKind::Disabled { fail_since: new.failing_since, by: DisabledBy::Caller };
        operational_events::insert_event(db, &new.application, &new.id, new.uid.as_deref(), disabled).await?;
    }
    Ok(())
}

/// Runs an insert, which has the time of creation as its last parameter, or an update.
async fn write(db: &impl Client, statement: &str, new: &Endpoint, created_at: Option<Timestamp>) -> SqlResult<u64> {
    let filter_types = optional_to_json(new.filter_types.as_ref())?;
    let (sealed, state) = (sealed_to_json(new)?, state_to_json(new)?);
    let (id, application, ordering) = (&*new.id, &*new.application, new.ordering as i16);
    let mut params: Vec<&(dyn ToSql + Sync)> = vec![
        &id,
        &application,
        &new.uid,
        &new.url,
        &filter_types,
        &new.disabled,
        &new.failing_since,
        &ordering,
        &new.updated_at,
        &sealed,
        &state,
        &new.description,
    ];
    if let Some(created_at) = &created_at {
        params.push(created_at);
    }
    rows::write(db, statement, &params).await
}

async fn check_uid(db: &impl Client, new: &Endpoint) -> SqlResult<()> {
    let select = "SELECT id FROM endpoints WHERE application = $1 AND uid = $2 AND id <> $3";
    match rows::one(db, select, &[&&*new.application, &new.uid, &&*new.id], |row| rows::id(row, 0)).await? {
        Some(_) => Err(StoreError::Taken("uid").into()),
        None => Ok(()),
    }
}

/// False when the endpoint did not exist. The caller deletes the delivery rows afterwards; queries omit rows of deleted
/// endpoints.
pub(super) async fn delete(db: &impl Client, application: &str, id: &str) -> SqlResult<bool> {
    applications::lock(db, application).await?;
    let delete = "DELETE FROM endpoints WHERE application = $1 AND id = $2 RETURNING uid";
    let deleted_uid = rows::one(db, delete, &[&application, &id], |row| rows::get::<Option<String>>(row, 0)).await?;
    let Some(uid) = deleted_uid else { return Ok(false) };
    applications::raise_version(db, application).await?;
    operational_events::insert_event(db, application, id, uid.as_deref(), OperationalEventKind::Deleted).await?;
    Ok(true)
}

/// Reads the application and its endpoints in one statement, so that both belong to the same snapshot.
pub(super) async fn snapshot(db: &impl Client, application: &str) -> SqlResult<Option<(Application, Vec<Endpoint>)>> {
    let select = format!(
        "SELECT {APPLICATION}, {ENDPOINT} FROM applications a LEFT JOIN endpoints e ON e.application = a.id \
         WHERE a.id = $1 ORDER BY e.id"
    );
    let found = rows::all(db, &select, &[&application], |row| {
        let endpoint = match rows::get::<Option<&str>>(row, APPLICATION_COLUMNS)? {
            Some(_) => Some(rows::endpoint(row, APPLICATION_COLUMNS)?),
            None => None,
        };
        Ok((rows::application(row)?, endpoint))
    })
    .await?;
    let mut found = found.into_iter();
    Ok(found.next().map(|(application, first)| {
        let rest = found.filter_map(|(_, endpoint)| endpoint);
        (application, first.into_iter().chain(rest).collect())
    }))
}

async fn create_within_limit(
    db: &impl Client,
    endpoint: &Endpoint,
    endpoints_max: usize,
    answer: Option<&IdempotentAnswer>,
) -> SqlResult<()> {
    // Raises the version of the application, which locks it.
    create(db, endpoint, answer).await?;
    let count = "SELECT count(*) FROM (SELECT FROM endpoints WHERE application = $1 LIMIT $2) counted";
    rows::check_limit(db, count, &endpoint.application, endpoints_max).await
}
