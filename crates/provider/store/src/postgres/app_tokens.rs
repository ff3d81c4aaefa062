//! Tokens of the App Portal.

use async_trait::async_trait;
use jiff::Timestamp;
use provider_core::model::{ActivityEntry, AppToken, Preview, TokenMaker};
use provider_core::port::{AppTokenStore, NewAppToken, Page, StoreError, StoreResult};
use tokio_postgres::Row;

use super::rows::{self, Client, SqlResult, sql_limit};
use super::{PostgresStore, activity, users};
use crate::codec::{self, PageQuery};

#[async_trait]
impl AppTokenStore for PostgresStore {
    async fn create_app_token(&self, new: NewAppToken, tokens_max: usize) -> StoreResult<()> {
        self.transaction(&(&new, tokens_max), |db, &(new, tokens_max)| Box::pin(create(db, new, tokens_max))).await
    }

    async fn app_tokens(&self, application: &str, page: Page) -> StoreResult<Vec<AppToken>> {
        let client = self.client().await?;
        let select = format!("{TOKEN} WHERE application = $1 AND preview_session IS NULL");
        Ok(rows::list(&client, &select, "id", application, &PageQuery::new(&page), token).await?)
    }

    async fn app_token(&self, application: &str, id: &str) -> StoreResult<Option<AppToken>> {
        let client = self.client().await?;
        let select = format!("{TOKEN} WHERE application = $1 AND id = $2 AND preview_session IS NULL");
        Ok(rows::one(&client, &select, &[&application, &id], token).await?)
    }

    async fn touch_app_token(&self, id: &str, at: Timestamp) -> StoreResult<()> {
        let client = self.client().await?;
        let update =
            "UPDATE app_tokens SET last_used_at = $2 WHERE id = $1 AND (last_used_at IS NULL OR last_used_at < $2)";
        Ok(rows::write(&client, update, &[&id, &at]).await.map(drop)?)
    }

    async fn app_token_by_hash(&self, hash: [u8; 32]) -> StoreResult<Option<AppToken>> {
        let client = self.client().await?;
        let select = format!("{TOKEN} WHERE hash = $1 AND {HAS_APPLICATION}");
        Ok(rows::one(&client, &select, &[&hash.as_slice()], token).await?)
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

    async fn delete_app_token(&self, application: &str, id: &str, entry: Option<ActivityEntry>) -> StoreResult<bool> {
        self.transaction(&(application, id, &entry), |db, &(application, id, entry)| {
            Box::pin(async move {
                let delete = "DELETE FROM app_tokens WHERE application = $1 AND id = $2";
                let deleted = rows::write(db, delete, &[&application, &id]).await? == 1;
                if let Some(entry) = entry.as_ref().filter(|_| deleted) {
                    activity::insert(db, entry).await?;
                }
                Ok(deleted)
            })
        })
        .await
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

const TOKEN: &str = "SELECT id, hash, account, application, capabilities, feature_flags, session_id, created_at, \
     expires_at, last_used_at, maker_kind, maker, maker_name, preview_session, preview_role FROM app_tokens";
const HAS_APPLICATION: &str = "EXISTS (SELECT FROM applications a WHERE a.id = app_tokens.application)";

/// Deletes the tokens that a user created.
pub(super) async fn end_of_user(db: &impl Client, user: &str) -> SqlResult<()> {
    rows::write(db, "DELETE FROM app_tokens WHERE maker_kind = 'user' AND maker = $1", &[&user]).await.map(drop)
}

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
        last_used_at: rows::get(row, 9)?,
        maker: TokenMaker {
            kind: codec::actor_kind(rows::get(row, 10)?)?,
            id: rows::id(row, 11)?,
            name: rows::get(row, 12)?,
        },
        preview: match (optional_text(row, 13)?, optional_text(row, 14)?) {
            (Some(session), Some(role)) => Some(Preview { session: session.into(), role: codec::role(role)? }),
            _ => None,
        },
    })
}

fn optional_text(row: &Row, column: usize) -> StoreResult<Option<&str>> {
    rows::get(row, column)
}

async fn create(db: &impl Client, new: &NewAppToken, tokens_max: usize) -> SqlResult<()> {
    let NewAppToken { token, maker_role, activity } = new;
    // A transaction that deletes the application waits for this lock, and then also deletes this token.
    let lock = "SELECT id FROM applications WHERE id = $1 FOR KEY SHARE";
    if rows::one(db, lock, &[&&*token.application], |row| rows::id(row, 0)).await?.is_none() {
        return Err(StoreError::NotFound.into());
    }
    if let Some(role) = maker_role {
        // Changes of users wait for this lock, so the role of the maker can't change before the commit.
        users::lock_account(db, &token.account).await?;
        let maker = users::find(db, &token.maker.id).await?;
        if maker.is_none_or(|maker| maker.profile.role != *role || maker.profile.account != token.account) {
            return Err(StoreError::Conflict.into());
        }
    }
    let insert = "INSERT INTO app_tokens (id, hash, account, application, capabilities, feature_flags, session_id, \
         created_at, expires_at, last_used_at, maker_kind, maker, maker_name, preview_session, preview_role) \
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)";
    let preview = token.preview.as_ref();
    let (capabilities, feature_flags) =
        (codec::capabilities_to_json(&token.capabilities)?, codec::to_json(&token.feature_flags)?);
    let values: [&(dyn tokio_postgres::types::ToSql + Sync); 15] = [
        &&*token.id,
        &token.hash.as_slice(),
        &&*token.account,
        &&*token.application,
        &capabilities,
        &feature_flags,
        &token.session_id,
        &token.created_at,
        &token.expires_at,
        &token.last_used_at,
        &token.maker.kind.name(),
        &&*token.maker.id,
        &token.maker.name,
        &preview.map(|preview| &*preview.session),
        &preview.map(|preview| preview.role.name()),
    ];
    rows::write(db, insert, &values).await?;
    let drop_oldest = "DELETE FROM app_tokens WHERE application = $1 AND id <= \
         (SELECT id FROM app_tokens WHERE application = $1 ORDER BY id DESC LIMIT 1 OFFSET $2)";
    rows::write(db, drop_oldest, &[&&*token.application, &sql_limit(tokens_max)]).await?;
    match activity {
        Some(entry) => activity::insert(db, entry).await,
        None => Ok(()),
    }
}
