//! Users and their second factors.

use async_trait::async_trait;
use jiff::Timestamp;
use kit_identity::second_factor::CodeUse;
use kit_identity::user::OpenIdentity;
use kit_runtime::vault::Sealed;
use platform_core::port::{
    Digest, IdempotentAnswer, MadeLinks, Page, Profile, ScreenLink, StoreError, StoreResult, Totp, TotpChange, User,
    UserChange, UserChangeResult, UserStore,
};
use platform_core::users::administers;
use platform_core::{Role, Scope};
use rusqlite::{Connection, Row, params};
use uuid::Uuid;

use super::rows::{self, SqlResult, after};
use super::{SqliteStore, clerks, idempotency, invitations, screens, sessions};
use crate::codec::{self, ms};

pub(super) const USER: &str = "SELECT users.uuid, email, role, password_hash, users.created_at_ms, version, disabled_at_ms, \
     signed_in_at_ms, totp_secret, totp_step, totp_confirmed_at_ms, must_change_password, users.name, openid_issuer, openid_subject \
     FROM users";

#[async_trait]
impl UserStore for SqliteStore {
    async fn user(&self, uuid: Uuid) -> StoreResult<Option<User>> {
        self.read(move |db| find(db, uuid)).await
    }

    async fn user_by_email(&self, email: &str) -> StoreResult<Option<User>> {
        let select = format!("{USER} WHERE email = ?1");
        let email = email.to_owned();
        self.read(move |db| rows::one(db, &select, [email], user)).await
    }

    async fn user_by_openid(&self, identity: &OpenIdentity) -> StoreResult<Option<User>> {
        let select = format!("{USER} WHERE openid_issuer = ?1 AND openid_subject = ?2");
        let OpenIdentity { issuer, subject } = identity.clone();
        self.read(move |db| rows::one(db, &select, (issuer, subject), user)).await
    }

    async fn users(&self, page: Page<Uuid>) -> StoreResult<Vec<User>> {
        let select = format!("{USER} WHERE uuid > ?1 ORDER BY uuid LIMIT ?2");
        self.read(move |db| rows::list(db, &select, (after(page).as_bytes(), rows::limit(page.limit)), user)).await
    }

    async fn change_user(&self, change: UserChange) -> StoreResult<UserChangeResult> {
        self.write(move |db| change_user(db, &change)).await
    }

    async fn use_code(&self, user: Uuid, code: CodeUse) -> StoreResult<bool> {
        let step = "UPDATE users SET totp_step = ?2 WHERE uuid = ?1 AND totp_secret IS NOT NULL AND totp_step < ?2";
        let recovery = "DELETE FROM recovery_codes WHERE user_uuid = ?1 AND hash = ?2";
        self.write(move |db| {
            let used = match code {
                CodeUse::Step(number) => rows::execute(db, step, (user.as_bytes(), number))?,
                CodeUse::Recovery(hash) => rows::execute(db, recovery, (user.as_bytes(), hash))?,
            };
            Ok(used == 1)
        })
        .await
    }

    async fn recovery_codes(&self, user: Uuid) -> StoreResult<usize> {
        let select = "SELECT hash FROM recovery_codes WHERE user_uuid = ?1";
        Ok(self.read(move |db| rows::list(db, select, [user.as_bytes()], |_| Ok(()))).await?.len())
    }

    async fn put_setup_code(&self, code: Digest, expires_at: Timestamp, now: Timestamp) -> StoreResult<bool> {
        let insert =
            "INSERT INTO setup_codes (hash, expires_at_ms) SELECT ?1, ?2 WHERE NOT EXISTS (SELECT 1 FROM users)";
        self.write(move |db| {
            rows::execute(db, "DELETE FROM setup_codes WHERE expires_at_ms <= ?1", [ms(now)])?;
            Ok(rows::execute(db, insert, (code, ms(expires_at)))? == 1)
        })
        .await
    }

    async fn has_setup_code(&self, code: Digest, now: Timestamp) -> StoreResult<bool> {
        self.read(move |db| has_setup_code(db, code, now)).await
    }
}

fn has_setup_code(db: &Connection, code: Digest, now: Timestamp) -> SqlResult<bool> {
    let select = "SELECT 1 FROM setup_codes WHERE hash = ?1 AND expires_at_ms > ?2 \
         AND NOT EXISTS (SELECT 1 FROM users)";
    Ok(rows::one(db, select, (code, ms(now)), |_| Ok(()))?.is_some())
}

/// False when a user exists or the code is not valid. SQLite has one writer, so no other user is created meanwhile.
pub(super) fn create_first(db: &Connection, user: &User, code: Digest, now: Timestamp) -> SqlResult<bool> {
    if !has_setup_code(db, code, now)? {
        return Ok(false);
    }
    create(db, user, None)?;
    rows::execute(db, "DELETE FROM setup_codes", [])?;
    Ok(true)
}

pub(super) fn create(db: &Connection, user: &User, answer: Option<&IdempotentAnswer>) -> SqlResult<()> {
    idempotency::keep_or_replay(db, answer)?;
    let insert = "INSERT INTO users (uuid, email, role, password_hash, created_at_ms, version, disabled_at_ms, \
         signed_in_at_ms, totp_step, must_change_password, name, openid_issuer, openid_subject) \
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, 0, ?9, ?10, ?11, ?12)";
    let values = params![
        user.id.as_bytes(),
        user.email,
        user.profile.role,
        user.password_hash,
        ms(user.created_at),
        user.version,
        user.disabled_at.map(ms),
        user.signed_in_at.map(ms),
        user.must_change_password,
        user.profile.name,
        user.openid.as_ref().map(|identity| &identity.issuer),
        user.openid.as_ref().map(|identity| &identity.subject)
    ];
    rows::execute(db, insert, values).map(drop).map_err(|error| error.or_taken("email"))
}

pub(super) fn find(db: &Connection, uuid: Uuid) -> SqlResult<Option<User>> {
    rows::one(db, &format!("{USER} WHERE uuid = ?1"), [uuid.as_bytes()], user)
}

pub(super) fn at_version(db: &Connection, uuid: Uuid, version: i64) -> SqlResult<User> {
    Ok(find(db, uuid)?.filter(|user| user.version == version).ok_or(StoreError::Conflict)?)
}

pub(super) fn user(row: &Row<'_>) -> SqlResult<User> {
    let (step, confirmed_at) = (row.get(9)?, rows::optional_time(row, 10)?);
    let secret = row.get::<_, Option<String>>(8)?.map(Sealed::from_text);
    let (issuer, subject) = (row.get::<_, Option<String>>(13)?, row.get::<_, Option<String>>(14)?);
    Ok(User {
        id: rows::uuid(row, 0)?,
        email: row.get(1)?,
        profile: Profile { role: row.get(2)?, name: row.get(12)? },
        password_hash: row.get(3)?,
        created_at: rows::time(row, 4)?,
        version: row.get(5)?,
        disabled_at: rows::optional_time(row, 6)?,
        signed_in_at: rows::optional_time(row, 7)?,
        totp: secret.map(|secret| Totp { secret, step, confirmed_at }),
        must_change_password: row.get(11)?,
        openid: issuer.zip(subject).map(|(issuer, subject)| OpenIdentity { issuer, subject }),
    })
}

/// SQLite has one writer, so no user changes between the check and the write.
pub(super) fn change_user(db: &Connection, change: &UserChange) -> SqlResult<UserChangeResult> {
    let UserChange { change, made_links, answer } = change;
    let user = &change.user;
    let before = at_version(db, user.id, change.expected_version)?;
    if administers(&before) && !administers(user) && is_last_administrator(db, user.id)? {
        return Ok(UserChangeResult::LastAdministrator);
    }
    idempotency::keep_or_replay(db, answer.as_ref())?;
    let update = "UPDATE users SET role = ?2, password_hash = ?3, disabled_at_ms = ?4, version = ?5, \
         must_change_password = ?6, name = ?7, openid_issuer = ?8, openid_subject = ?9 WHERE uuid = ?1";
    let values = params![
        user.id.as_bytes(),
        user.profile.role,
        user.password_hash,
        user.disabled_at.map(ms),
        user.version,
        user.must_change_password,
        user.profile.name,
        user.openid.as_ref().map(|identity| &identity.issuer),
        user.openid.as_ref().map(|identity| &identity.subject)
    ];
    rows::execute(db, update, values).map_err(|error| error.or_taken("openid"))?;
    match &change.totp {
        TotpChange::Keep => {}
        TotpChange::Set(totp, codes) => put_totp(db, user.id, Some(totp), codes)?,
        TotpChange::Remove => put_totp(db, user.id, None, &[])?,
    }
    sessions::end(db, change.ending)?;
    if let MadeLinks::End(replaced) = made_links {
        end_links_of(db, user.id, replaced)?;
    }
    if user.profile.role != Role::Clerk.name() {
        clerks::unassign_from_all(db, user.id)?;
    }
    Ok(UserChangeResult::Done)
}

/// Ends the screen links that a user made, except the replaced links.
fn end_links_of(db: &Connection, user: Uuid, replaced: &[ScreenLink]) -> SqlResult<()> {
    let creator = format!("user:{user}");
    invitations::withdraw_of(db, &creator)?;
    screens::end_links_of(db, &creator, replaced)
}

/// `Conflict` if the maker of a link is a user that was disabled, was removed, or lost the scope while the request was
/// running.
pub(super) fn require_maker(db: &Connection, actor: &str, scope: Scope) -> SqlResult<()> {
    let Some(uuid) = codec::user_of(actor) else { return Ok(()) };
    match find(db, uuid)? {
        Some(user) if codec::may(&user, scope) => Ok(()),
        _ => Err(StoreError::Conflict.into()),
    }
}

fn put_totp(db: &Connection, user: Uuid, totp: Option<&Totp>, codes: &[Digest]) -> SqlResult<()> {
    let update = "UPDATE users SET totp_secret = ?2, totp_step = ?3, totp_confirmed_at_ms = ?4 WHERE uuid = ?1";
    let (secret, step) = (totp.map(|totp| totp.secret.as_str()), totp.map_or(0, |totp| totp.step));
    let confirmed_at = totp.and_then(|totp| totp.confirmed_at).map(ms);
    rows::execute(db, update, (user.as_bytes(), secret, step, confirmed_at))?;
    rows::execute(db, "DELETE FROM recovery_codes WHERE user_uuid = ?1", [user.as_bytes()])?;
    for code in codes {
        rows::execute(db, "INSERT INTO recovery_codes (user_uuid, hash) VALUES (?1, ?2)", (user.as_bytes(), code))?;
    }
    Ok(())
}

fn is_last_administrator(db: &Connection, user: Uuid) -> SqlResult<bool> {
    let select = "SELECT 1 FROM users WHERE role = 'administrator' AND disabled_at_ms IS NULL AND uuid <> ?1 LIMIT 1";
    Ok(rows::one(db, select, [user.as_bytes()], |_| Ok(()))?.is_none())
}

pub(super) fn remove(db: &Connection, uuid: Uuid, version: i64) -> SqlResult<UserChangeResult> {
    let user = at_version(db, uuid, version)?;
    if user.signed_in_at.is_some() {
        return Ok(UserChangeResult::HasSignedIn);
    }
    if administers(&user) && is_last_administrator(db, uuid)? {
        return Ok(UserChangeResult::LastAdministrator);
    }
    rows::execute(db, "DELETE FROM recovery_codes WHERE user_uuid = ?1", [uuid.as_bytes()])?;
    rows::execute(db, "DELETE FROM users WHERE uuid = ?1", [uuid.as_bytes()])?;
    end_links_of(db, uuid, &[])?;
    clerks::unassign_from_all(db, uuid)?;
    Ok(UserChangeResult::Done)
}
