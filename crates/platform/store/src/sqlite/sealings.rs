//! Sealed values: sentinels of the keys, and sealing values under a new key.

use async_trait::async_trait;
use kit_runtime::vault::{Sealed, same_texts};
use platform_core::port::{
    Page, SealedAnswer, SealedLocation, SealedReplacement, SealingStore, StoreError, StoreResult,
};
use rusqlite::Connection;
use uuid::Uuid;

use super::SqliteStore;
use super::rows::{self, SqlResult};

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
            rows::execute(db, "DELETE FROM sentinels", [])?;
            for sentinel in &new {
                rows::execute(db, "INSERT INTO sentinels (sealed) VALUES (?1)", [sentinel.as_str()])?;
            }
            Ok(())
        })
        .await
    }

    async fn sealed_answers(&self, page: Page<(Uuid, String)>) -> StoreResult<Vec<SealedAnswer>> {
        let select = "SELECT caller, key, body FROM idempotent_answers INDEXED BY idempotent_answers_sealed \
             WHERE substr(body, 1, 3) = 'v1.' AND (caller, key) > (?1, ?2) ORDER BY caller, key LIMIT ?3";
        self.read(move |db| {
            let (caller, key) = page.after.unwrap_or_default();
            rows::list(db, select, (caller.as_bytes(), key, rows::limit(page.limit)), |row| {
                let body = Sealed::from_text(row.get::<_, String>(2)?);
                Ok(SealedAnswer { caller: rows::uuid(row, 0)?, key: row.get(1)?, body })
            })
        })
        .await
    }

    async fn reseal(&self, texts: Vec<SealedReplacement>) -> StoreResult<usize> {
        self.write(move |db| texts.iter().map(|text| reseal(db, text)).sum()).await
    }
}

fn sentinels(db: &Connection) -> SqlResult<Vec<Sealed>> {
    let select = "SELECT sealed FROM sentinels ORDER BY sealed";
    rows::list(db, select, [], |row| Ok(Sealed::from_text(row.get::<_, String>(0)?)))
}

fn reseal(db: &Connection, SealedReplacement { location, old, new }: &SealedReplacement) -> SqlResult<usize> {
    let (old, new) = (old.as_str(), new.as_str());
    match location {
        SealedLocation::Connection(customer) => {
            let update = "UPDATE consumers SET api_key = ?3 WHERE customer = ?1 AND api_key = ?2";
            rows::execute(db, update, (customer.as_bytes(), old, new))
        }
        SealedLocation::Answer { caller, key } => {
            let update = "UPDATE idempotent_answers SET body = ?4 WHERE caller = ?1 AND key = ?2 AND body = ?3";
            rows::execute(db, update, (caller.as_bytes(), key, old, new))
        }
        SealedLocation::Totp(user) => {
            // The new version makes a concurrent change of the user conflict, so it can't restore the old text.
            let update =
                "UPDATE users SET totp_secret = ?3, version = version + 1 WHERE uuid = ?1 AND totp_secret = ?2";
            rows::execute(db, update, (user.as_bytes(), old, new))
        }
    }
}
