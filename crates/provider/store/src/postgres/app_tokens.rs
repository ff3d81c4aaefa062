//! Tokens of the App Portal.

use async_trait::async_trait;
use jiff::Timestamp;
use provider_core::model::{AppToken, Preview};
use provider_core::port::{AppTokenStore, StoreError, StoreResult};
use tokio_postgres::Row;

use super::PostgresStore;
use super::rows::{self, Client, SqlResult, sql_limit};
use crate::codec;

#[async_trait]
impl AppTokenStore for PostgresStore {
    async fn create_app_token(&self, token: AppToken, tokens_max: usize) -> StoreResult<()> {
        self.transaction(&(&token, tokens_max), |db, &(token, tokens_max)| Box::pin(create(db, token, tokens_max)))
            .await
    }

    async fn app_token_by_hash(&self, hash: [u8; 32]) -> StoreResult<Option<AppToken>> {
        let client = self.client().await?;
        Ok(rows::one(&client, BY_HASH, &[&hash.as_slice()], token).await?)
    }

    async fn exchange_app_token(
        &self,
        old: [u8; 32],
        new: [u8; 32],
        expires_at: Timestamp,
        now: Timestamp,
    ) -> StoreResult<bool> {
        let client = self.client().await?;
        let update = "UPDATE app_tokens SET hash = $2, expires_at = $3 WHERE hash = $1 AND expires_at > $4";
        Ok(rows::write(&client, update, &[&old.as_slice(), &new.as_slice(), &expires_at, &now]).await? == 1)
    }

    async fn delete_app_token(&self, application: &str, id: &str) -> StoreResult<bool> {
        let client = self.client().await?;
        let delete = "DELETE FROM app_tokens WHERE application = $1 AND id = $2";
        Ok(rows::write(&client, delete, &[&application, &id]).await? == 1)
    }

    async fn end_app_tokens(&self, application: &str, sessions: Option<Vec<String>>, at: Timestamp) -> StoreResult<()> {
        let client = self.client().await?;
        let update = "UPDATE app_tokens SET expires_at = $2 WHERE application = $1 AND expires_at > $2 \
             AND ($3::TEXT[] IS NULL OR session_id = ANY ($3))";
        Ok(rows::write(&client, update, &[&application, &at, &sessions]).await.map(drop)?)
    }

    async fn delete_expired_app_tokens(&self, before: Timestamp, limit: usize) -> StoreResult<usize> {
        let client = self.client().await?;
        let delete = "DELETE FROM app_tokens WHERE id IN \
             (SELECT id FROM app_tokens WHERE expires_at < $1 ORDER BY expires_at LIMIT $2 FOR UPDATE SKIP LOCKED)";
        let deleted = rows::write(&client, delete, &[&before, &sql_limit(limit)]).await?;
        Ok(usize::try_from(deleted).unwrap_or(usize::MAX))
    }
}

/// Does not return tokens of a deleted application.
const BY_HASH: &str = "SELECT id, hash, account, application, capabilities, feature_flags, session_id, created_at, \
     expires_at, preview_user_id, preview_session, preview_role FROM app_tokens t \
     WHERE hash = $1 AND EXISTS (SELECT FROM applications a WHERE a.id = t.application)";

fn token(row: &Row) -> StoreResult<AppToken> {
    Ok(AppToken {
        id: rows::id(row, 0)?,
        hash: rows::bytes(row, 1)?,
        account: rows::id(row, 2)?,
        application: rows::id(row, 3)?,
        capabilities: codec::capabilities_from_json(rows::get(row, 4)?)?,
        feature_flags: codec::from_json(rows::get(row, 5)?)?,
        session_id: rows::get(row, 6)?,
        created_at: rows::get(row, 7)?,
        expires_at: rows::get(row, 8)?,
        preview: match (optional_text(row, 9)?, optional_text(row, 10)?, optional_text(row, 11)?) {
            (Some(user), Some(session), Some(role)) => {
                Some(Preview { user: user.into(), session: session.into(), role: codec::role(role)? })
            }
            _ => None,
        },
    })
}

fn optional_text(row: &Row, column: usize) -> StoreResult<Option<&str>> {
    rows::get(row, column)
}

async fn create(db: &impl Client, token: &AppToken, tokens_max: usize) -> SqlResult<()> {
    // A transaction that deletes the application waits for this lock, and then also deletes this token.
    let lock = "SELECT id FROM applications WHERE id = $1 FOR KEY SHARE";
    if rows::one(db, lock, &[&&*token.application], |row| rows::id(row, 0)).await?.is_none() {
        return Err(StoreError::NotFound.into());
    }
    let insert = "INSERT INTO app_tokens (id, hash, account, application, capabilities, feature_flags, session_id, \
         created_at, expires_at, preview_user_id, preview_session, preview_role) \
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)";
    let preview = token.preview.as_ref();
    let (capabilities, feature_flags) =
        (codec::capabilities_to_json(&token.capabilities)?, codec::to_json(&token.feature_flags)?);
    let values: [&(dyn tokio_postgres::types::ToSql + Sync); 12] = [
        &&*token.id,
        &token.hash.as_slice(),
        &&*token.account,
        &&*token.application,
        &capabilities,
        &feature_flags,
        &token.session_id,
        &token.created_at,
        &token.expires_at,
        &preview.map(|preview| &*preview.user),
        &preview.map(|preview| &*preview.session),
        &preview.map(|preview| preview.role.name()),
    ];
    rows::write(db, insert, &values).await?;
    let drop_oldest = "DELETE FROM app_tokens WHERE application = $1 AND id <= \
         (SELECT id FROM app_tokens WHERE application = $1 ORDER BY id DESC LIMIT 1 OFFSET $2)";
    rows::write(db, drop_oldest, &[&&*token.application, &sql_limit(tokens_max)]).await.map(drop)
}
