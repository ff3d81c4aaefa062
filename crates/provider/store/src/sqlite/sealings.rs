//! Sealed values: sentinels of the keys, and sealing values under a new key.

use async_trait::async_trait;
use kit_runtime::vault::{Sealed, same_texts};
use provider_core::model::{Endpoint, Id};
use provider_core::port::{SealingStore, StoreError, StoreResult};
use rusqlite::{Connection, Row, params};

use super::rows::{self, ENDPOINT, SqlResult};
use super::{SqliteStore, endpoints};
use crate::endpoint_codec::{has_same_sealed_values, sealed_to_json};

#[async_trait]
impl SealingStore for SqliteStore {
    async fn sentinels(&self) -> StoreResult<Vec<Sealed>> {
        self.read(sentinels).await
    }

    async fn replace_sentinels(&self, old: Vec<Sealed>, new: Vec<Sealed>) -> StoreResult<()> {
        self.write(move |db| {
            if !same_texts(&sentinels(db)?, &old) {
                return Err(StoreError::Conflict.into());
            }
            db.execute("DELETE FROM sentinels", [])?;
            for sentinel in &new {
                db.execute("INSERT INTO sentinels (sealed) VALUES (?1)", [sentinel.as_str()])?;
            }
            Ok(())
        })
        .await
    }

    async fn all_endpoints(&self, after: Option<Id>, limit: usize) -> StoreResult<Vec<Endpoint>> {
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        self.read(move |db| {
            let mut statement = db.prepare_cached(&format!("{ENDPOINT} WHERE id > ?1 ORDER BY id LIMIT ?2"))?;
            let mut found = statement.query(params![after.as_deref().unwrap_or_default(), limit])?;
            let mut endpoints = Vec::new();
            while let Some(row) = found.next()? {
                endpoints.push(rows::endpoint(row)?);
            }
            Ok(endpoints)
        })
        .await
    }

    async fn reseal_endpoints(&self, endpoints: Vec<(Endpoint, Endpoint)>) -> StoreResult<usize> {
        self.write(move |db| endpoints.iter().map(|(old, new)| reseal(db, old, new)).sum()).await
    }

    async fn all_second_factors(&self, after: Option<Id>, limit: usize) -> StoreResult<Vec<(Id, Sealed)>> {
        let select = "SELECT id, totp_secret FROM users WHERE id > ?1 AND totp_secret IS NOT NULL ORDER BY id LIMIT ?2";
        let after = after.as_deref().unwrap_or_default().to_owned();
        self.read(move |db| {
            let mut statement = db.prepare_cached(select)?;
            let secret = |row: &Row<'_>| Ok((rows::id(row, 0)?, Sealed::from_text(rows::text(row, 1)?)));
            statement.query_and_then((after, rows::sql_limit(limit)), secret)?.collect()
        })
        .await
    }

    async fn reseal_second_factors(&self, secrets: Vec<(Id, Sealed, Sealed)>) -> StoreResult<usize> {
        let update = "UPDATE users SET totp_secret = ?3 WHERE id = ?1 AND totp_secret = ?2";
        self.write(move |db| {
            let reseal =
                |(id, old, new): &(Id, Sealed, Sealed)| db.execute(update, (&**id, old.as_str(), new.as_str()));
            Ok(secrets.iter().map(reseal).sum::<Result<usize, _>>()?)
        })
        .await
    }
}

fn sentinels(db: &Connection) -> SqlResult<Vec<Sealed>> {
    let mut statement = db.prepare_cached("SELECT sealed FROM sentinels ORDER BY sealed")?;
    let found = statement.query_map([], |row| row.get::<_, String>(0))?;
    Ok(found.map(|text| text.map(Sealed::from_text)).collect::<Result<_, _>>()?)
}

fn reseal(db: &Connection, old: &Endpoint, new: &Endpoint) -> SqlResult<usize> {
    let current = endpoints::find(db, &old.application, &old.id)?;
    if !current.is_some_and(|current| has_same_sealed_values(&current, old)) {
        return Ok(0);
    }
    Ok(db.execute("UPDATE endpoints SET sealed = ?2 WHERE id = ?1", (&*new.id, sealed_to_json(new)?))?)
}
