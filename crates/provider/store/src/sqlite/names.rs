//! Applications and endpoints by uid alone.

use async_trait::async_trait;
use provider_core::model::{Application, Endpoint, Id};
use provider_core::port::StoreResult;
use provider_core::port::supervision::UidLookupStore;
use rusqlite::Connection;

use super::rows::{self, APPLICATION, SqlResult};
use super::{SqliteStore, waiting};

#[async_trait]
impl UidLookupStore for SqliteStore {
    async fn applications_by_uid(&self, uid: &str, limit: usize) -> StoreResult<Vec<Application>> {
        let uid = uid.to_owned();
        self.read(move |db| applications(db, &uid, limit)).await
    }

    async fn endpoints_by_uid(&self, uid: &str, limit: usize) -> StoreResult<Vec<(Id, Endpoint)>> {
        let uid = uid.to_owned();
        self.read(move |db| endpoints(db, &uid, limit)).await
    }
}

fn applications(db: &Connection, uid: &str, limit: usize) -> SqlResult<Vec<Application>> {
    let mut statement = db.prepare_cached(&format!("{APPLICATION} WHERE uid = ?1 ORDER BY id LIMIT ?2"))?;
    let mut rows = statement.query((uid, i64::try_from(limit).unwrap_or(i64::MAX)))?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        found.push(rows::application(row)?);
    }
    Ok(found)
}

fn endpoints(db: &Connection, uid: &str, limit: usize) -> SqlResult<Vec<(Id, Endpoint)>> {
    let mut statement = db.prepare_cached("SELECT id FROM endpoints WHERE uid = ?1 ORDER BY id LIMIT ?2")?;
    let mut rows = statement.query((uid, i64::try_from(limit).unwrap_or(i64::MAX)))?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        found.extend(waiting::anywhere(db, rows::text(row, 0)?)?);
    }
    Ok(found)
}
