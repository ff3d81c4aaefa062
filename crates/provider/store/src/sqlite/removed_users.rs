//! Users whom an account removed: single sign-on does not add them again.

use jiff::Timestamp;
use provider_core::model::User;
use rusqlite::{Connection, params};

use super::rows::{self, SqlResult, ms};

/// Whether the account of this new user removed a user with the same address or the same person of an issuer.
pub(super) fn has(db: &Connection, user: &User) -> SqlResult<bool> {
    let select = "SELECT 1 FROM removed_users WHERE account = ?1 \
         AND (email = ?2 OR (openid_issuer = ?3 AND openid_subject = ?4)) LIMIT 1";
    let identity = user.openid.as_ref();
    let values = params![
        &*user.profile.account,
        user.email,
        identity.map(|identity| &identity.issuer),
        identity.map(|identity| &identity.subject)
    ];
    Ok(rows::one(db, select, values, |_| Ok(()))?.is_some())
}

/// Keeps a user who is removed now, and forgets those of the account above `removed_max`.
pub(super) fn insert(db: &Connection, user: &User, removed_max: usize, now: Timestamp) -> SqlResult<()> {
    let insert = "INSERT INTO removed_users (id, account, email, openid_issuer, openid_subject, removed_at) \
         VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
    let (account, identity) = (&*user.profile.account, user.openid.as_ref());
    db.execute(
        insert,
        params![
            &*user.id,
            account,
            user.email,
            identity.map(|identity| &identity.issuer),
            identity.map(|identity| &identity.subject),
            ms(now)
        ],
    )?;
    let trim = "DELETE FROM removed_users WHERE id IN (SELECT id FROM removed_users WHERE account = ?1 \
         ORDER BY removed_at DESC, id DESC LIMIT -1 OFFSET ?2)";
    db.execute(trim, (account, i64::try_from(removed_max).unwrap_or(i64::MAX)))?;
    Ok(())
}

/// Forgets the address of a user who joined by an invitation. The person of a link stays known, because it may be another one.
pub(super) fn forget(db: &Connection, user: &User) -> SqlResult<()> {
    for forget in [
        "DELETE FROM removed_users WHERE account = ?1 AND email = ?2 AND openid_subject IS NULL",
        "UPDATE removed_users SET email = '' WHERE account = ?1 AND email = ?2",
    ] {
        db.execute(forget, (&*user.profile.account, &user.email))?;
    }
    Ok(())
}
