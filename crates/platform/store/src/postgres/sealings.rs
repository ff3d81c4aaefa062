//! Sealed values: sentinels of the keys, and sealing values under a new key.

use async_trait::async_trait;
use kit_engine::postgres::{Connection, Transaction};
use kit_runtime::vault::{Sealed, same_texts};
use platform_core::port::{
    Page, SealedAnswer, SealedLocation, SealedReplacement, SealingStore, StoreError, StoreResult,
};
use tokio_postgres::Row;
use uuid::Uuid;

use super::PostgresStore;
use super::rows::{self, SqlResult};

#[async_trait]
impl SealingStore for PostgresStore {
    async fn sentinels(&self) -> StoreResult<Vec<Sealed>> {
        Ok(sentinels(&self.client().await?).await?)
    }

    async fn replace_sentinels(&self, old: Vec<Sealed>, new: Vec<Sealed>) -> StoreResult<()> {
        self.write(&(old, new), |db, (old, new)| Box::pin(replace_sentinels(db, old, new))).await
    }

    async fn sealed_answers(&self, page: Page<(Uuid, String)>) -> StoreResult<Vec<SealedAnswer>> {
        let select = "SELECT caller, key, body FROM idempotent_answers \
             WHERE left(body, 3) = 'v1.' AND (caller, key) > ($1, $2) ORDER BY caller, key LIMIT $3";
        let (caller, key) = page.after.unwrap_or_default();
        let answer = |row: &Row| {
            let body = Sealed::from_text(rows::get::<String>(row, 2)?);
            Ok(SealedAnswer { caller: rows::get(row, 0)?, key: rows::get(row, 1)?, body })
        };
        let values: rows::Values<'_> = &[&caller, &key, &rows::limit(page.limit)];
        Ok(rows::list(&self.client().await?, select, values, answer).await?)
    }

    async fn reseal(&self, texts: Vec<SealedReplacement>) -> StoreResult<usize> {
        self.write(&texts, |db, texts| Box::pin(reseal(db, texts))).await
    }
}

async fn sentinels(db: &impl Connection) -> SqlResult<Vec<Sealed>> {
    let select = "SELECT sealed FROM sentinels ORDER BY sealed";
    rows::list(db, select, &[], |row| Ok(Sealed::from_text(rows::get::<String>(row, 0)?))).await
}

async fn replace_sentinels(db: &Transaction<'_>, old: &[Sealed], new: &[Sealed]) -> SqlResult<()> {
    // An empty table has no row to lock.
    rows::execute(db, "LOCK TABLE sentinels IN EXCLUSIVE MODE", &[]).await?;
    if !same_texts(&sentinels(db).await?, old) {
        return Err(StoreError::Conflict.into());
    }
    rows::execute(db, "DELETE FROM sentinels", &[]).await?;
    let texts: Vec<&str> = new.iter().map(Sealed::as_str).collect();
    rows::execute(db, "INSERT INTO sentinels (sealed) SELECT unnest($1::text[])", &[&texts]).await.map(drop)
}

async fn reseal(db: &Transaction<'_>, texts: &[SealedReplacement]) -> SqlResult<usize> {
    let mut count = 0;
    for SealedReplacement { location, old, new } in texts {
        let (old, new) = (old.as_str(), new.as_str());
        count += match location {
            SealedLocation::Connection(customer) => {
                let update = "UPDATE consumers SET api_key = $3 WHERE customer = $1 AND api_key = $2";
                rows::execute(db, update, &[customer, &old, &new]).await?
            }
            SealedLocation::Answer { caller, key } => {
                let update = "UPDATE idempotent_answers SET body = $4 WHERE caller = $1 AND key = $2 AND body = $3";
                rows::execute(db, update, &[caller, key, &old, &new]).await?
            }
            SealedLocation::Totp(user) => {
                // The new version makes a concurrent change of the user conflict, so that it can't restore the old
                // text.
                let update =
                    "UPDATE users SET totp_secret = $3, version = version + 1 WHERE uuid = $1 AND totp_secret = $2";
                rows::execute(db, update, &[user, &old, &new]).await?
            }
        };
    }
    Ok(usize::try_from(count).unwrap_or(usize::MAX))
}
