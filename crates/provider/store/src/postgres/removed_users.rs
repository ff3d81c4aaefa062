//! Users whom an account removed: single sign-on does not add them again.

use jiff::Timestamp;
use provider_core::model::User;

use super::rows::{self, Client, SqlResult};
use super::users::openid_columns;

/// Whether the account of this new user removed a user with the same address or the same person of an issuer.
pub(super) async fn has(db: &impl Client, user: &User) -> SqlResult<bool> {
    let select = "SELECT id FROM removed_users WHERE account = $1 \
         AND (email = $2 OR (openid_issuer = $3 AND openid_subject = $4)) LIMIT 1";
    let (issuer, subject) = openid_columns(user);
    let values: [&(dyn tokio_postgres::types::ToSql + Sync); 4] =
        [&&*user.profile.account, &user.email, &issuer, &subject];
    Ok(rows::one(db, select, &values, |row| rows::id(row, 0)).await?.is_some())
}

/// Keeps a user who is removed now, and forgets those of the account above `removed_max`.
pub(super) async fn insert(db: &impl Client, user: &User, removed_max: usize, now: Timestamp) -> SqlResult<()> {
    let insert = "INSERT INTO removed_users (id, account, email, openid_issuer, openid_subject, removed_at) \
         VALUES ($1, $2, $3, $4, $5, $6)";
    let (account, (issuer, subject)) = (&*user.profile.account, openid_columns(user));
    rows::write(db, insert, &[&&*user.id, &account, &user.email, &issuer, &subject, &now]).await?;
    let trim = "DELETE FROM removed_users WHERE id IN (SELECT id FROM removed_users WHERE account = $1 \
         ORDER BY removed_at DESC, id DESC OFFSET $2)";
    rows::write(db, trim, &[&account, &i64::try_from(removed_max).unwrap_or(i64::MAX)]).await?;
    Ok(())
}

/// Forgets the address of a user who joined by an invitation. The person of a link stays known, because it may be another one.
pub(super) async fn forget(db: &impl Client, user: &User) -> SqlResult<()> {
    for forget in [
        "DELETE FROM removed_users WHERE account = $1 AND email = $2 AND openid_subject IS NULL",
        "UPDATE removed_users SET email = '' WHERE account = $1 AND email = $2",
    ] {
        rows::write(db, forget, &[&&*user.profile.account, &user.email]).await?;
    }
    Ok(())
}
