//! Endpoints, and the snapshot by which messages are routed.

use async_trait::async_trait;
use jiff::Timestamp;
use provider_core::model::{Application, Endpoint, Id};
use provider_core::operational::events::{DisabledBy, OperationalEventKind};
use provider_core::port::{EndpointStates, EndpointStore, IdempotentAnswer, Page, StoreError, StoreResult};
use rusqlite::{Connection, ToSql, params};

use super::rows::{self, ENDPOINT, SqlResult, ms};
use super::{SqliteStore, applications, idempotency, operational_events};
use crate::codec::{PageQuery, optional_to_json};
use crate::endpoint_codec::{sealed_to_json, state_to_json};

#[async_trait]
impl EndpointStore for SqliteStore {
    async fn create_endpoint(
        &self,
        endpoint: Endpoint,
        endpoints_max: usize,
        answer: Option<IdempotentAnswer>,
    ) -> StoreResult<()> {
        self.write(move |db| {
            create(db, &endpoint, answer.as_ref())?;
            let count = "SELECT count(*) FROM (SELECT 1 FROM endpoints WHERE application = ?1 LIMIT ?2)";
            rows::check_limit(db, count, &endpoint.application, endpoints_max)
        })
        .await
    }

    async fn endpoint(&self, application: &str, id_or_uid: &str) -> StoreResult<Option<Endpoint>> {
        let (application, id_or_uid) = (application.to_owned(), id_or_uid.to_owned());
        self.read(move |db| find(db, &application, &id_or_uid)).await
    }

    async fn endpoint_by_id(&self, id: &str) -> StoreResult<Option<(Id, Endpoint)>> {
        let id = id.to_owned();
        self.read(move |db| by_id(db, &id)).await
    }

    async fn endpoints(&self, application: &str, page: Page) -> StoreResult<Vec<Endpoint>> {
        let application = application.to_owned();
        self.read(move |db| list(db, &application, &page)).await
    }

    async fn endpoints_by_uid(&self, uid: &str, limit: usize) -> StoreResult<Vec<(Id, Endpoint)>> {
        let uid = uid.to_owned();
        self.read(move |db| by_uid(db, &uid, limit)).await
    }

    async fn replace_endpoint(
        &self,
        old: Endpoint,
        new: Endpoint,
        answer: Option<IdempotentAnswer>,
    ) -> StoreResult<()> {
        self.write(move |db| {
            idempotency::keep_or_replay(db, answer.as_ref())?;
            rows::check_unchanged(find(db, &old.application, &old.id)?, &old)?;
            update(db, &new)
        })
        .await
    }

    async fn delete_endpoint(&self, application: &str, id: &str) -> StoreResult<bool> {
        let (application, endpoint) = (application.to_owned(), Id::from(id));
        if !self.write(move |db| delete(db, &application, &endpoint)).await? {
            return Ok(false);
        }
        self.drop_rows_of(Id::from(id)).await?;
        Ok(true)
    }

    async fn snapshot(&self, application: &str) -> StoreResult<Option<(Application, Vec<Endpoint>)>> {
        let application = application.to_owned();
        self.read(move |db| snapshot(db, &application)).await
    }

    async fn endpoint_states(&self) -> StoreResult<EndpointStates> {
        self.read(endpoint_states).await
    }
}

pub(super) fn create(db: &Connection, new: &Endpoint, answer: Option<&IdempotentAnswer>) -> SqlResult<()> {
    idempotency::keep_or_replay(db, answer)?;
    if !applications::raise_version(db, &new.application)? {
        return Err(StoreError::NotFound.into());
    }
    check_uid(db, new)?;
    let insert = "INSERT INTO endpoints (id, application, uid, url, filter_types, disabled, failing_since, ordering, \
         updated_at, sealed, state, description, created_at, disabled_at) \
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, CASE WHEN ?6 THEN ?13 END)";
    write(db, insert, new, Some(new.created_at))?;
    operational_events::insert_event(db, &new.application, &new.id, new.uid.as_deref(), OperationalEventKind::Created)
}

pub(super) fn find(db: &Connection, application: &str, id_or_uid: &str) -> SqlResult<Option<Endpoint>> {
    let by_id = format!("{ENDPOINT} WHERE application = ?1 AND id = ?2");
    let found = rows::one(db, &by_id, (application, id_or_uid), rows::endpoint)?;
    if found.is_some() {
        return Ok(found);
    }
    let by_uid = format!("{ENDPOINT} WHERE application = ?1 AND uid = ?2");
    rows::one(db, &by_uid, (application, id_or_uid), rows::endpoint)
}

pub(super) fn list(db: &Connection, application: &str, page: &Page) -> SqlResult<Vec<Endpoint>> {
    let select = format!("{ENDPOINT} WHERE application = $1");
    rows::list(db, &select, "id", application, &PageQuery::new(page), rows::endpoint)
}

pub(super) fn update(db: &Connection, new: &Endpoint) -> SqlResult<()> {
    check_uid(db, new)?;
    let was = "SELECT disabled FROM endpoints WHERE id = ?1 AND application = ?2";
    let was_disabled = rows::one(db, was, (&*new.id, &*new.application), |row| Ok(row.get::<_, bool>(0)?))?;
    let update = "UPDATE endpoints SET uid = ?3, url = ?4, filter_types = ?5, disabled = ?6, failing_since = ?7, \
         ordering = ?8, updated_at = ?9, sealed = ?10, state = ?11, description = ?12, given_up_at = CASE WHEN ?6 THEN given_up_at END, \
         disabled_at = CASE WHEN ?6 THEN coalesce(disabled_at, ?9) END WHERE id = ?1 AND application = ?2";
    if write(db, update, new, None)? == 0 {
        return Err(StoreError::NotFound.into());
    }
    applications::raise_version(db, &new.application)?;
    operational_events::insert_event(db, &new.application, &new.id, new.uid.as_deref(), OperationalEventKind::Updated)?;
    if new.disabled && was_disabled == Some(false) {
        let disabled = OperationalEventKind::Disabled { fail_since: new.failing_since, by: DisabledBy::Caller };
        operational_events::insert_event(db, &new.application, &new.id, new.uid.as_deref(), disabled)?;
    }
    Ok(())
}

/// Runs an insert, which has the time of creation as its last parameter, or an update.
fn write(db: &Connection, statement: &str, new: &Endpoint, created_at: Option<Timestamp>) -> SqlResult<usize> {
    let filter_types = optional_to_json(new.filter_types.as_ref())?;
    let (sealed, state) = (sealed_to_json(new)?, state_to_json(new)?);
    let (failing_since, updated_at, created_at) = (new.failing_since.map(ms), ms(new.updated_at), created_at.map(ms));
    let (id, application, ordering) = (&*new.id, &*new.application, new.ordering as u8);
    let mut params: Vec<&dyn ToSql> = vec![
        &id,
        &application,
        &new.uid,
        &new.url,
        &filter_types,
        &new.disabled,
        &failing_since,
        &ordering,
        &updated_at,
        &sealed,
        &state,
        &new.description,
    ];
    if let Some(created_at) = &created_at {
        params.push(created_at);
    }
    Ok(db.prepare_cached(statement)?.execute(&*params)?)
}

fn check_uid(db: &Connection, new: &Endpoint) -> SqlResult<()> {
    let select = "SELECT 1 FROM endpoints WHERE application = ?1 AND uid = ?2 AND id <> ?3";
    let is_taken = db.prepare_cached(select)?.exists(params![&*new.application, new.uid, &*new.id])?;
    if is_taken { Err(StoreError::Taken("uid").into()) } else { Ok(()) }
}

/// False when the endpoint did not exist. The caller deletes the delivery rows afterwards; queries omit rows of deleted
/// endpoints.
pub(super) fn delete(db: &Connection, application: &str, id: &str) -> SqlResult<bool> {
    let delete = "DELETE FROM endpoints WHERE application = ?1 AND id = ?2 RETURNING uid";
    let Some(uid) = rows::one(db, delete, (application, id), |row| Ok(row.get::<_, Option<String>>(0)?))? else {
        return Ok(false);
    };
    applications::raise_version(db, application)?;
    operational_events::insert_event(db, application, id, uid.as_deref(), OperationalEventKind::Deleted)?;
    Ok(true)
}

/// The caller's transaction makes both statements read the same snapshot.
pub(super) fn snapshot(db: &Connection, application: &str) -> SqlResult<Option<(Application, Vec<Endpoint>)>> {
    let Some(found) = applications::find_by_id(db, application)? else {
        return Ok(None);
    };
    let mut statement = db.prepare_cached(&format!("{ENDPOINT} WHERE application = ?1 ORDER BY id"))?;
    let mut rows = statement.query([application])?;
    let mut endpoints = Vec::new();
    while let Some(row) = rows.next()? {
        endpoints.push(rows::endpoint(row)?);
    }
    Ok(Some((found, endpoints)))
}

fn by_uid(db: &Connection, uid: &str, limit: usize) -> SqlResult<Vec<(Id, Endpoint)>> {
    let mut statement = db.prepare_cached("SELECT id FROM endpoints WHERE uid = ?1 ORDER BY id LIMIT ?2")?;
    let mut rows = statement.query((uid, i64::try_from(limit).unwrap_or(i64::MAX)))?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        found.extend(by_id(db, rows::text(row, 0)?)?);
    }
    Ok(found)
}

fn endpoint_states(db: &Connection) -> SqlResult<EndpointStates> {
    let count = |select| -> SqlResult<u64> {
        Ok(rows::one(db, select, (), |row| Ok(row.get::<_, i64>(0)?))?.unwrap_or(0).unsigned_abs())
    };
    Ok(EndpointStates {
        failing: count(
            "SELECT count(*) FROM endpoints INDEXED BY endpoints_failing WHERE failing_since IS NOT NULL AND disabled = 0",
        )?,
        disabled: count("SELECT count(*) FROM endpoints INDEXED BY endpoints_disabled WHERE disabled = 1")?,
    })
}

pub(super) fn by_id(db: &Connection, id: &str) -> SqlResult<Option<(Id, Endpoint)>> {
    let Some(endpoint) = rows::one(db, &format!("{ENDPOINT} WHERE id = ?1"), [id], rows::endpoint)? else {
        return Ok(None);
    };
    let account = "SELECT account FROM applications WHERE id = ?1";
    let account = rows::one(db, account, [&*endpoint.application], |row| rows::id(row, 0))?;
    Ok(account.map(|account| (account, endpoint)))
}
