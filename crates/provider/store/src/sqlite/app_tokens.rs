//! Tokens of the App Portal.

use async_trait::async_trait;
use jiff::Timestamp;
use provider_core::model::{ActivityEntry, AppToken, Preview, TokenMaker};
use provider_core::port::{AppTokenStore, NewAppToken, Page, StoreError, StoreResult};
use rusqlite::{Connection, Row, params};

use super::rows::{self, SqlResult, ms};
use super::{SqliteStore, activity, applications, users};
use crate::codec::{self, PageQuery};

#[async_trait]
impl AppTokenStore for SqliteStore {
    async fn create_app_token(&self, new: NewAppToken, tokens_max: usize) -> StoreResult<()> {
        self.write(move |db| create(db, &new, tokens_max)).await
    }

    async fn app_tokens(&self, application: &str, page: Page) -> StoreResult<Vec<AppToken>> {
        let application = application.to_owned();
        let select = format!("{TOKEN} WHERE application = $1 AND preview_session IS NULL");
        self.read(move |db| rows::list(db, &select, "id", &application, &PageQuery::new(&page), token)).await
    }

    async fn app_token(&self, application: &str, id: &str) -> StoreResult<Option<AppToken>> {
        let (application, id) = (application.to_owned(), id.to_owned());
        let select = format!("{TOKEN} WHERE application = ?1 AND id = ?2 AND preview_session IS NULL");
        self.read(move |db| rows::one(db, &select, (application, id), token)).await
    }

    async fn touch_app_token(&self, id: &str, at: Timestamp) -> StoreResult<()> {
        let update =
            "UPDATE app_tokens SET last_used_at = ?2 WHERE id = ?1 AND (last_used_at IS NULL OR last_used_at < ?2)";
        let id = id.to_owned();
        self.write(move |db| Ok(db.execute(update, (id, ms(at))).map(drop)?)).await
    }

    async fn app_token_by_hash(&self, hash: [u8; 32]) -> StoreResult<Option<AppToken>> {
        self.read(move |db| rows::one(db, &format!("{TOKEN} WHERE hash = ?1 AND {HAS_APPLICATION}"), [hash], token))
            .await
    }

    async fn exchange_app_token(
        &self,
        old: [u8; 32],
        new: [u8; 32],
        expires_at: Timestamp,
        now: Timestamp,
    ) -> StoreResult<bool> {
        let update = "UPDATE app_tokens SET hash = ?2, expires_at = ?3 WHERE hash = ?1 AND expires_at > ?4";
        self.write(move |db| Ok(db.execute(update, (old, new, ms(expires_at), ms(now)))? == 1)).await
    }

    async fn delete_app_token(&self, application: &str, id: &str, entry: Option<ActivityEntry>) -> StoreResult<bool> {
        let (application, id) = (application.to_owned(), id.to_owned());
        let delete = "DELETE FROM app_tokens WHERE application = ?1 AND id = ?2";
        self.write(move |db| {
            let deleted = db.execute(delete, (application, id))? == 1;
            if let Some(entry) = entry.filter(|_| deleted) {
                activity::insert(db, &entry)?;
            }
            Ok(deleted)
        })
        .await
    }

    async fn end_app_tokens(&self, application: &str, sessions: Option<Vec<String>>, at: Timestamp) -> StoreResult<()> {
        let application = application.to_owned();
        self.write(move |db| end(db, &application, sessions.as_deref(), at)).await
    }

    async fn delete_expired_app_tokens(&self, before: Timestamp, limit: usize) -> StoreResult<usize> {
        let delete = "DELETE FROM app_tokens WHERE id IN \
             (SELECT id FROM app_tokens WHERE expires_at < ?1 ORDER BY expires_at LIMIT ?2)";
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        self.write(move |db| Ok(db.prepare_cached(delete)?.execute((ms(before), limit))?)).await
    }
}

const TOKEN: &str = "SELECT id, hash, account, application, capabilities, feature_flags, session_id, created_at, \
     expires_at, last_used_at, maker_kind, maker, maker_name, preview_session, preview_role FROM app_tokens";
const HAS_APPLICATION: &str = "EXISTS (SELECT 1 FROM applications a WHERE a.id = app_tokens.application)";

/// Deletes the tokens that a user created.
pub(super) fn end_of_user(db: &Connection, user: &str) -> SqlResult<()> {
    db.execute("DELETE FROM app_tokens WHERE maker_kind = 'user' AND maker = ?1", [user])?;
    Ok(())
}

fn token(row: &Row<'_>) -> SqlResult<AppToken> {
    Ok(AppToken {
        id: rows::id(row, 0)?,
        hash: row.get(1)?,
        account: rows::id(row, 2)?,
        application: rows::id(row, 3)?,
        capabilities: codec::capabilities_from_json(rows::text(row, 4)?)?,
        feature_flags: codec::from_json(rows::text(row, 5)?)?,
        session_id: row.get(6)?,
        created_at: rows::time(row, 7)?,
        expires_at: rows::time(row, 8)?,
        last_used_at: rows::optional_time(row, 9)?,
        maker: TokenMaker {
            kind: codec::actor_kind(rows::text(row, 10)?)?,
            id: rows::id(row, 11)?,
            name: row.get(12)?,
        },
        preview: match (rows::optional_text(row, 13)?, rows::optional_text(row, 14)?) {
            (Some(session), Some(role)) => Some(Preview { session: session.into(), role: codec::role(role)? }),
            _ => None,
        },
    })
}

fn create(db: &Connection, new: &NewAppToken, tokens_max: usize) -> SqlResult<()> {
    let NewAppToken { token, maker_role, activity } = new;
    if !applications::exists(db, &token.application)? {
        return Err(StoreError::NotFound.into());
    }
    if let Some(role) = maker_role
        && users::find(db, &token.maker.id)?
            .is_none_or(|user| user.profile.role != *role || user.profile.account != token.account)
    {
        return Err(StoreError::Conflict.into());
    }
    let insert = "INSERT INTO app_tokens (id, hash, account, application, capabilities, feature_flags, session_id, \
         created_at, expires_at, last_used_at, maker_kind, maker, maker_name, preview_session, preview_role) \
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15)";
    let preview = token.preview.as_ref();
    db.prepare_cached(insert)?.execute(params![
        &*token.id,
        token.hash,
        &*token.account,
        &*token.application,
        codec::capabilities_to_json(&token.capabilities)?,
        codec::to_json(&token.feature_flags)?,
        token.session_id,
        ms(token.created_at),
        ms(token.expires_at),
        token.last_used_at.map(ms),
        token.maker.kind.name(),
        &*token.maker.id,
        token.maker.name,
        preview.map(|preview| &*preview.session),
        preview.map(|preview| preview.role.name())
    ])?;
    let drop_oldest = "DELETE FROM app_tokens WHERE application = ?1 AND id <= \
         (SELECT id FROM app_tokens WHERE application = ?1 ORDER BY id DESC LIMIT 1 OFFSET ?2)";
    db.prepare_cached(drop_oldest)?.execute((&*token.application, i64::try_from(tokens_max).unwrap_or(i64::MAX)))?;
    activity.as_ref().map_or(Ok(()), |entry| activity::insert(db, entry))
}

fn end(db: &Connection, application: &str, sessions: Option<&[String]>, at: Timestamp) -> SqlResult<()> {
    let update = "UPDATE app_tokens SET expires_at = ?2 WHERE application = ?1 AND expires_at > ?2";
    let Some(sessions) = sessions else {
        db.execute(update, (application, ms(at)))?;
        return Ok(());
    };
    let mut update = db.prepare_cached(&format!("{update} AND session_id = ?3"))?;
    for session in sessions {
        update.execute((application, ms(at), session))?;
    }
    Ok(())
}
