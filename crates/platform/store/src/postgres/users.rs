//! Users and their second factors.

use async_trait::async_trait;
use jiff::Timestamp;
use kit_engine::postgres::{Connection, Transaction};
use kit_identity::second_factor::CodeUse;
use kit_identity::user::OpenIdentity;
use kit_runtime::vault::Sealed;
use platform_core::port::{
    Digest, IdempotentAnswer, MadeLinks, Page, Profile, ScreenLink, StoreError, StoreResult, Totp, TotpChange, User,
    UserChange, UserChangeResult, UserStore,
};
use platform_core::users::administers;
use platform_core::{Role, Scope};
use tokio_postgres::Row;
use uuid::Uuid;

use super::rows::{self, SqlResult, after};
use super::{PostgresStore, clerks, idempotency, invitations, screens, sessions};
use crate::codec::{self, ms};

pub(super) const USER: &str = "SELECT uuid, email, role, password_hash, created_at_ms, version, disabled_at_ms, signed_in_at_ms, \
     totp_secret, totp_step, totp_confirmed_at_ms, must_change_password, name, openid_issuer, openid_subject FROM users";
/// Columns of [`USER`]. A query that selects more has them behind these.
pub(super) const USER_COLUMNS: usize = 15;

#[async_trait]
impl UserStore for PostgresStore {
    async fn user(&self, uuid: Uuid) -> StoreResult<Option<User>> {
        Ok(find(&self.client().await?, uuid).await?)
    }

    async fn user_by_email(&self, email: &str) -> StoreResult<Option<User>> {
        // PostgreSQL rejects texts with a NUL, so no user has such an address.
        if email.contains('\0') {
            return Ok(None);
        }
        Ok(rows::one(&self.client().await?, &format!("{USER} WHERE email = $1"), &[&email], user).await?)
    }

    async fn user_by_openid(&self, identity: &OpenIdentity) -> StoreResult<Option<User>> {
        let OpenIdentity { issuer, subject } = identity;
        // PostgreSQL rejects texts with a NUL, so no user has such an identity.
        if issuer.contains('\0') || subject.contains('\0') {
            return Ok(None);
        }
        let select = format!("{USER} WHERE openid_issuer = $1 AND openid_subject = $2");
        Ok(rows::one(&self.client().await?, &select, &[issuer, subject], user).await?)
    }

    async fn users(&self, page: Page<Uuid>) -> StoreResult<Vec<User>> {
        let select = format!("{USER} WHERE uuid > $1 ORDER BY uuid LIMIT $2");
        let (after, limit) = (after(page), rows::limit(page.limit));
        Ok(rows::list(&self.client().await?, &select, &[&after, &limit], user).await?)
    }

    async fn change_user(&self, change: UserChange) -> StoreResult<UserChangeResult> {
        self.write(&change, |db, change| Box::pin(change_user(db, change))).await
    }

    async fn use_code(&self, user: Uuid, code: CodeUse) -> StoreResult<bool> {
        let step = "UPDATE users SET totp_step = $2 WHERE uuid = $1 AND totp_secret IS NOT NULL AND totp_step < $2";
        let recovery = "DELETE FROM recovery_codes WHERE user_uuid = $1 AND hash = $2";
        let client = self.client().await?;
        let used = match code {
            CodeUse::Step(number) => rows::execute(&client, step, &[&user, &number]).await?,
            CodeUse::Recovery(hash) => rows::execute(&client, recovery, &[&user, &hash.as_slice()]).await?,
        };
        Ok(used == 1)
    }

    async fn recovery_codes(&self, user: Uuid) -> StoreResult<usize> {
        let select = "SELECT hash FROM recovery_codes WHERE user_uuid = $1";
        Ok(rows::list(&self.client().await?, select, &[&user], |_| Ok(())).await?.len())
    }

    async fn put_setup_code(&self, code: Digest, expires_at: Timestamp, now: Timestamp) -> StoreResult<bool> {
        let insert = "INSERT INTO setup_codes (hash, expires_at_ms) SELECT $1::bytea, $2::bigint \
             WHERE NOT EXISTS (SELECT 1 FROM users)";
        let client = self.client().await?;
        rows::execute(&client, "DELETE FROM setup_codes WHERE expires_at_ms <= $1", &[&ms(now)]).await?;
        Ok(rows::execute(&client, insert, &[&code.as_slice(), &ms(expires_at)]).await? == 1)
    }

    async fn has_setup_code(&self, code: Digest, now: Timestamp) -> StoreResult<bool> {
        Ok(has_setup_code(&self.client().await?, code, now).await?)
    }
}

async fn has_setup_code(db: &impl Connection, code: Digest, now: Timestamp) -> SqlResult<bool> {
    let select = "SELECT 1 FROM setup_codes WHERE hash = $1 AND expires_at_ms > $2 \
         AND NOT EXISTS (SELECT 1 FROM users)";
    Ok(rows::one(db, select, &[&code.as_slice(), &ms(now)], |_| Ok(())).await?.is_some())
}

/// False when a user exists or the code is not valid. The lock prevents the creation of other users until the commit.
pub(super) async fn create_first(db: &Transaction<'_>, user: &User, code: Digest, now: Timestamp) -> SqlResult<bool> {
    lock(db).await?;
    if !has_setup_code(db, code, now).await? {
        return Ok(false);
    }
    create(db, user, None).await?;
    rows::execute(db, "DELETE FROM setup_codes", &[]).await?;
    Ok(true)
}

pub(super) async fn create(db: &Transaction<'_>, user: &User, answer: Option<&IdempotentAnswer>) -> SqlResult<()> {
    idempotency::keep_or_replay(db, answer).await?;
    let insert = "INSERT INTO users (uuid, email, role, password_hash, created_at_ms, version, disabled_at_ms, \
         signed_in_at_ms, totp_step, must_change_password, name, openid_issuer, openid_subject) \
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, 0, $9, $10, $11, $12)";
    let (issuer, subject) = openid_columns(user);
    let values: rows::Values<'_> = &[
        &user.id,
        &user.email,
        &user.profile.role,
        &user.password_hash,
        &ms(user.created_at),
        &user.version,
        &user.disabled_at.map(ms),
        &user.signed_in_at.map(ms),
        &user.must_change_password,
        &user.profile.name,
        &issuer,
        &subject,
    ];
    rows::execute(db, insert, values).await.map(drop).map_err(|error| error.or_taken("email"))
}

pub(super) async fn find(db: &impl Connection, uuid: Uuid) -> SqlResult<Option<User>> {
    rows::one(db, &format!("{USER} WHERE uuid = $1"), &[&uuid], user).await
}

/// The user, if the stored version is the expected one. Locks the user until the end of the transaction.
async fn at_version(db: &Transaction<'_>, uuid: Uuid, version: i64) -> SqlResult<User> {
    let select = format!("{USER} WHERE uuid = $1 AND version = $2 FOR UPDATE");
    Ok(rows::one(db, &select, &[&uuid, &version], user).await?.ok_or(StoreError::Conflict)?)
}

pub(super) fn user(row: &Row) -> SqlResult<User> {
    let secret = rows::get::<Option<String>>(row, 8)?.map(Sealed::from_text);
    let (step, confirmed_at) = (rows::get(row, 9)?, rows::optional_time(row, 10)?);
    let (issuer, subject) = (rows::get::<Option<String>>(row, 13)?, rows::get::<Option<String>>(row, 14)?);
    Ok(User {
        id: rows::get(row, 0)?,
        email: rows::get(row, 1)?,
        profile: Profile { role: rows::get(row, 2)?, name: rows::get(row, 12)? },
        password_hash: rows::get(row, 3)?,
        created_at: rows::time(row, 4)?,
        version: rows::get(row, 5)?,
        disabled_at: rows::optional_time(row, 6)?,
        signed_in_at: rows::optional_time(row, 7)?,
        totp: secret.map(|secret| Totp { secret, step, confirmed_at }),
        must_change_password: rows::get(row, 11)?,
        openid: issuer.zip(subject).map(|(issuer, subject)| OpenIdentity { issuer, subject }),
    })
}

fn openid_columns(user: &User) -> (Option<&str>, Option<&str>) {
    user.openid.as_ref().map(|identity| (identity.issuer.as_str(), identity.subject.as_str())).unzip()
}

pub(super) async fn change_user(db: &Transaction<'_>, change: &UserChange) -> SqlResult<UserChangeResult> {
    lock(db).await?;
    let UserChange { change, made_links, answer } = change;
    let user = &change.user;
    let before = at_version(db, user.id, change.expected_version).await?;
    if administers(&before) && !administers(user) && is_last_administrator(db, user.id).await? {
        return Ok(UserChangeResult::LastAdministrator);
    }
    idempotency::keep_or_replay(db, answer.as_ref()).await?;
    let update = "UPDATE users SET role = $2, password_hash = $3, disabled_at_ms = $4, version = $5, \
         must_change_password = $6, name = $7, openid_issuer = $8, openid_subject = $9 WHERE uuid = $1";
    let (issuer, subject) = openid_columns(user);
    let disabled_at = user.disabled_at.map(ms);
    let values: rows::Values<'_> = &[
        &user.id,
        &user.profile.role,
        &user.password_hash,
        &disabled_at,
        &user.version,
        &user.must_change_password,
        &user.profile.name,
        &issuer,
        &subject,
    ];
    rows::execute(db, update, values).await.map_err(|error| error.or_taken("openid"))?;
    match &change.totp {
        TotpChange::Keep => {}
        TotpChange::Set(totp, codes) => put_totp(db, user.id, Some(totp), codes).await?,
        TotpChange::Remove => put_totp(db, user.id, None, &[]).await?,
    }
    sessions::end(db, change.ending).await?;
    if let MadeLinks::End(replaced) = made_links {
        end_links_of(db, user.id, replaced).await?;
    }
    if user.profile.role != Role::Clerk.name() {
        clerks::unassign_from_all(db, user.id).await?;
    }
    Ok(UserChangeResult::Done)
}

/// Ends the screen links that a user made, except the replaced links.
async fn end_links_of(db: &Transaction<'_>, user: Uuid, replaced: &[ScreenLink]) -> SqlResult<()> {
    let creator = format!("user:{user}");
    invitations::withdraw_of(db, &creator).await?;
    screens::end_links_of(db, &creator, replaced).await
}

/// `Conflict` if the maker of a link is a user that was disabled, was removed, or lost the scope while the request was
/// running. A concurrent change of the user waits for the lock, and then ends the link.
pub(super) async fn require_maker(db: &Transaction<'_>, actor: &str, scope: Scope) -> SqlResult<()> {
    let Some(uuid) = codec::user_of(actor) else { return Ok(()) };
    match rows::one(db, &format!("{USER} WHERE uuid = $1 FOR SHARE"), &[&uuid], user).await? {
        Some(user) if codec::may(&user, scope) => Ok(()),
        _ => Err(StoreError::Conflict.into()),
    }
}

/// Serialises transactions that remove an administrator. Otherwise two of them could remove the last two
/// administrators.
async fn lock(db: &Transaction<'_>) -> SqlResult<()> {
    rows::execute(db, "LOCK TABLE users IN SHARE ROW EXCLUSIVE MODE", &[]).await.map(drop)
}

async fn put_totp(db: &Transaction<'_>, user: Uuid, totp: Option<&Totp>, codes: &[Digest]) -> SqlResult<()> {
    let update = "UPDATE users SET totp_secret = $2, totp_step = $3, totp_confirmed_at_ms = $4 WHERE uuid = $1";
    let (secret, step) = (totp.map(|totp| totp.secret.as_str()), totp.map_or(0, |totp| totp.step));
    let confirmed_at = totp.and_then(|totp| totp.confirmed_at).map(ms);
    rows::execute(db, update, &[&user, &secret, &step, &confirmed_at]).await?;
    rows::execute(db, "DELETE FROM recovery_codes WHERE user_uuid = $1", &[&user]).await?;
    let codes: Vec<&[u8]> = codes.iter().map(Digest::as_slice).collect();
    let insert = "INSERT INTO recovery_codes (user_uuid, hash) SELECT $1, unnest($2::bytea[])";
    rows::execute(db, insert, &[&user, &codes]).await.map(drop)
}

async fn is_last_administrator(db: &Transaction<'_>, user: Uuid) -> SqlResult<bool> {
    let select = "SELECT 1 FROM users WHERE role = 'administrator' AND disabled_at_ms IS NULL AND uuid <> $1 LIMIT 1";
    Ok(rows::one(db, select, &[&user], |_| Ok(())).await?.is_none())
}

pub(super) async fn remove(db: &Transaction<'_>, uuid: Uuid, version: i64) -> SqlResult<UserChangeResult> {
    lock(db).await?;
    let user = at_version(db, uuid, version).await?;
    if user.signed_in_at.is_some() {
        return Ok(UserChangeResult::HasSignedIn);
    }
    if administers(&user) && is_last_administrator(db, uuid).await? {
        return Ok(UserChangeResult::LastAdministrator);
    }
    rows::execute(db, "DELETE FROM recovery_codes WHERE user_uuid = $1", &[&uuid]).await?;
    rows::execute(db, "DELETE FROM users WHERE uuid = $1", &[&uuid]).await?;
    end_links_of(db, uuid, &[]).await?;
    clerks::unassign_from_all(db, uuid).await?;
    Ok(UserChangeResult::Done)
}
