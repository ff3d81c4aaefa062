//! Sealed values: sentinels of the keys, and sealing values under a new key.

use async_trait::async_trait;
use kit_runtime::vault::{Sealed, same_texts};
use provider_core::model::{Endpoint, Id};
use provider_core::port::{SealingStore, StoreError, StoreResult};

use tokio_postgres::Row;

use super::PostgresStore;
use super::rows::{self, Client, ENDPOINT, SqlResult};
use crate::endpoint_codec::{has_same_sealed_values, sealed_to_json};

#[async_trait]
impl SealingStore for PostgresStore {
    async fn sentinels(&self) -> StoreResult<Vec<Sealed>> {
        Ok(sentinels(&self.client().await?).await?)
    }

    async fn replace_sentinels(&self, old: Vec<Sealed>, new: Vec<Sealed>) -> StoreResult<()> {
        self.transaction(&(&old, &new), |db, &(old, new)| Box::pin(replace_sentinels(db, old, new))).await
    }

    async fn all_endpoints(&self, after: Option<Id>, limit: usize) -> StoreResult<Vec<Endpoint>> {
        let client = self.client().await?;
        let select = format!("SELECT {ENDPOINT} FROM endpoints e WHERE e.id > $1 ORDER BY e.id LIMIT $2");
        let after = after.as_deref().unwrap_or_default();
        Ok(rows::all(&client, &select, &[&after, &rows::sql_limit(limit)], |row| rows::endpoint(row, 0)).await?)
    }

    async fn reseal_endpoints(&self, endpoints: Vec<(Endpoint, Endpoint)>) -> StoreResult<usize> {
        self.transaction(&&endpoints, |db, endpoints| Box::pin(reseal(db, endpoints))).await
    }

    async fn all_second_factors(&self, after: Option<Id>, limit: usize) -> StoreResult<Vec<(Id, Sealed)>> {
        let client = self.client().await?;
        let select = "SELECT id, totp_secret FROM users WHERE id > $1 AND totp_secret IS NOT NULL ORDER BY id LIMIT $2";
        let after = after.as_deref().unwrap_or_default();
        let secret = |row: &Row| Ok((rows::id(row, 0)?, Sealed::from_text(rows::get::<&str>(row, 1)?)));
        Ok(rows::all(&client, select, &[&after, &rows::sql_limit(limit)], secret).await?)
    }

    async fn reseal_second_factors(&self, secrets: Vec<(Id, Sealed, Sealed)>) -> StoreResult<usize> {
        let client = self.client().await?;
        let update = "UPDATE users SET totp_secret = $3 WHERE id = $1 AND totp_secret = $2";
        let mut count = 0;
        for (id, old, new) in &secrets {
            count += rows::write(&client, update, &[&&**id, &old.as_str(), &new.as_str()]).await?;
        }
        Ok(usize::try_from(count).unwrap_or(usize::MAX))
    }
}

async fn sentinels(db: &impl Client) -> SqlResult<Vec<Sealed>> {
    let select = "SELECT sealed FROM sentinels ORDER BY sealed";
    rows::all(db, select, &[], |row| Ok(Sealed::from_text(rows::get::<&str>(row, 0)?))).await
}

async fn replace_sentinels(db: &impl Client, old: &[Sealed], new: &[Sealed]) -> SqlResult<()> {
    // An empty table has no row to lock.
    rows::write(db, "LOCK TABLE sentinels IN EXCLUSIVE MODE", &[]).await?;
    if !same_texts(&sentinels(db).await?, old) {
        return Err(StoreError::Conflict.into());
    }
    rows::write(db, "DELETE FROM sentinels", &[]).await?;
    let texts: Vec<&str> = new.iter().map(Sealed::as_str).collect();
    rows::write(db, "INSERT INTO sentinels (sealed) SELECT unnest($1::text[])", &[&texts]).await.map(drop)
}

async fn reseal(db: &impl Client, endpoints: &[(Endpoint, Endpoint)]) -> SqlResult<usize> {
    let select = format!("SELECT {ENDPOINT} FROM endpoints e WHERE e.id = $1 FOR UPDATE");
    let update = "UPDATE endpoints SET sealed = $2 WHERE id = $1";
    let mut count = 0;
    for (old, new) in endpoints {
        let current = rows::one(db, &select, &[&&*old.id], |row| rows::endpoint(row, 0)).await?;
        if current.is_some_and(|current| has_same_sealed_values(&current, old)) {
            count += rows::write(db, update, &[&&*new.id, &sealed_to_json(new)?]).await?;
        }
    }
    Ok(usize::try_from(count).unwrap_or(usize::MAX))
}
