//! People: users, their sessions, and how often somebody tried to sign in.

use async_trait::async_trait;
use jiff::Timestamp;
use kit_runtime::vault::Sealed;
use platform_core::Role;
use platform_core::port::{
    Digest, IdempotentAnswer, Page, Session, SessionsToEnd, SignInAttempt, SignInAttemptsUpdate, StoreError,
    StoreResult, Totp, TotpChange, User, UserChange, UserChangeResult, UserStore,
};
use rusqlite::{Connection, Row, params};
use uuid::Uuid;

use super::customers::after;
use super::rows::{self, SqlResult};
use super::{SqliteStore, access, clerks};
use crate::codec::ms;

pub(super) const USER: &str = "SELECT users.uuid, email, role, password_hash, users.created_at_ms, version, disabled_at_ms, \
     signed_in_at_ms, totp_secret, totp_step, totp_confirmed_at_ms FROM users";
const SESSION: &str =
    "SELECT uuid, hash, user_uuid, address, created_at_ms, expires_at_ms, last_used_at_ms FROM sessions";

#[async_trait]
impl UserStore for SqliteStore {
    async fn create_user(&self, user: User, answer: Option<IdempotentAnswer>) -> StoreResult<()> {
        self.write(move |db| create(db, &user, answer.as_ref())).await
    }

    async fn user(&self, uuid: Uuid) -> StoreResult<Option<User>> {
        self.read(move |db| find(db, uuid)).await
    }

    async fn user_by_email(&self, email: &str) -> StoreResult<Option<User>> {
        let (select, email) = (format!("{USER} WHERE email = ?1"), email.to_owned());
        self.read(move |db| rows::one(db, &select, [email], user)).await
    }

    async fn users(&self, page: Page<Uuid>) -> StoreResult<Vec<User>> {
        let select = format!("{USER} WHERE uuid > ?1 ORDER BY uuid LIMIT ?2");
        self.read(move |db| rows::list(db, &select, (after(page).as_bytes(), rows::limit(page.limit)), user)).await
    }

    async fn change_user(&self, change: UserChange) -> StoreResult<UserChangeResult> {
        self.write(move |db| change_user(db, &change)).await
    }

    async fn remove_user(&self, uuid: Uuid, version: i64) -> StoreResult<UserChangeResult> {
        self.write(move |db| remove(db, uuid, version)).await
    }

    async fn use_totp_step(&self, user: Uuid, step: i64) -> StoreResult<bool> {
        let update = "UPDATE users SET totp_step = ?2 WHERE uuid = ?1 AND totp_secret IS NOT NULL AND totp_step < ?2";
        self.write(move |db| Ok(rows::execute(db, update, (user.as_bytes(), step))? == 1)).await
    }

    async fn use_recovery_code(&self, user: Uuid, code: Digest) -> StoreResult<bool> {
        let delete = "DELETE FROM recovery_codes WHERE user_uuid = ?1 AND hash = ?2";
        self.write(move |db| Ok(rows::execute(db, delete, (user.as_bytes(), code))? == 1)).await
    }

    async fn recovery_codes(&self, user: Uuid) -> StoreResult<usize> {
        let select = "SELECT hash FROM recovery_codes WHERE user_uuid = ?1";
        Ok(self.read(move |db| rows::list(db, select, [user.as_bytes()], |_| Ok(()))).await?.len())
    }

    async fn begin_session(
        &self,
        session: Session,
        version: i64,
        sessions_max: usize,
        answer: Option<IdempotentAnswer>,
    ) -> StoreResult<()> {
        self.write(move |db| begin(db, &session, version, sessions_max, answer.as_ref())).await
    }

    async fn session_by_hash(&self, hash: Digest) -> StoreResult<Option<(Session, User)>> {
        self.read(move |db| {
            let Some(session) = rows::one(db, &format!("{SESSION} WHERE hash = ?1"), [hash], session)? else {
                return Ok(None);
            };
            Ok(find(db, session.user)?.map(|user| (session, user)))
        })
        .await
    }

    async fn session(&self, uuid: Uuid) -> StoreResult<Option<Session>> {
        self.read(move |db| rows::one(db, &format!("{SESSION} WHERE uuid = ?1"), [uuid.as_bytes()], session)).await
    }

    async fn sessions(&self, user: Uuid, page: Page<Uuid>) -> StoreResult<Vec<Session>> {
        let select = format!("{SESSION} WHERE user_uuid = ?1 AND uuid > ?2 ORDER BY uuid LIMIT ?3");
        let limit = rows::limit(page.limit);
        self.read(move |db| rows::list(db, &select, (user.as_bytes(), after(page).as_bytes(), limit), session)).await
    }

    async fn touch_session(&self, uuid: Uuid, at: Timestamp) -> StoreResult<()> {
        let touch = "UPDATE sessions SET last_used_at_ms = max(last_used_at_ms, ?2) WHERE uuid = ?1";
        self.write(move |db| rows::execute(db, touch, (uuid.as_bytes(), ms(at))).map(drop)).await
    }

    async fn end_sessions(&self, ending: SessionsToEnd) -> StoreResult<usize> {
        self.write(move |db| end(db, ending)).await
    }

    async fn delete_expired_sessions(
        &self,
        now: Timestamp,
        idle_before: Timestamp,
        limit: usize,
    ) -> StoreResult<usize> {
        let over = "DELETE FROM sessions WHERE uuid IN (SELECT uuid FROM sessions \
             WHERE expires_at_ms < ?1 OR last_used_at_ms < ?2 LIMIT ?3)";
        let full = "DELETE FROM sign_in_attempts WHERE subject IN (SELECT subject FROM sign_in_attempts \
             WHERE full_at_ms < ?1 LIMIT ?2)";
        self.write(move |db| {
            let ended = rows::execute(db, over, (ms(now), ms(idle_before), rows::limit(limit)))?;
            Ok(ended + rows::execute(db, full, (ms(now), rows::limit(limit)))?)
        })
        .await
    }

    async fn take_sign_in_attempts(
        &self,
        attempts: Vec<SignInAttempt>,
        now: Timestamp,
    ) -> StoreResult<Option<Timestamp>> {
        self.write(move |db| take_sign_in_attempts(db, &attempts, now)).await
    }

    async fn settle_sign_in_attempts(&self, settled: SignInAttemptsUpdate) -> StoreResult<()> {
        self.write(move |db| settle_sign_in_attempts(db, &settled)).await
    }
}

pub(super) fn create(db: &Connection, user: &User, answer: Option<&IdempotentAnswer>) -> SqlResult<()> {
    access::keep_or_replay(db, answer)?;
    let insert = "INSERT INTO users (uuid, email, role, password_hash, created_at_ms, version, disabled_at_ms, \
         signed_in_at_ms, totp_step) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, 0)";
    let values = params![
        user.uuid.as_bytes(),
        user.email,
        user.role,
        user.password_hash,
        ms(user.created_at),
        user.version,
        user.disabled_at.map(ms),
        user.signed_in_at.map(ms)
    ];
    rows::execute(db, insert, values).map(drop).map_err(|error| error.or_taken("email"))
}

pub(super) fn find(db: &Connection, uuid: Uuid) -> SqlResult<Option<User>> {
    rows::one(db, &format!("{USER} WHERE uuid = ?1"), [uuid.as_bytes()], user)
}

fn at_version(db: &Connection, uuid: Uuid, version: i64) -> SqlResult<User> {
    Ok(find(db, uuid)?.filter(|user| user.version == version).ok_or(StoreError::Conflict)?)
}

pub(super) fn user(row: &Row<'_>) -> SqlResult<User> {
    let (step, confirmed_at) = (row.get(9)?, rows::optional_time(row, 10)?);
    let secret = row.get::<_, Option<String>>(8)?.map(Sealed::from_text);
    Ok(User {
        uuid: rows::uuid(row, 0)?,
        email: row.get(1)?,
        role: row.get(2)?,
        password_hash: row.get(3)?,
        created_at: rows::time(row, 4)?,
        version: row.get(5)?,
        disabled_at: rows::optional_time(row, 6)?,
        signed_in_at: rows::optional_time(row, 7)?,
        totp: secret.map(|secret| Totp { secret, step, confirmed_at }),
    })
}

fn session(row: &Row<'_>) -> SqlResult<Session> {
    Ok(Session {
        uuid: rows::uuid(row, 0)?,
        hash: row.get(1)?,
        user: rows::uuid(row, 2)?,
        address: row.get(3)?,
        created_at: rows::time(row, 4)?,
        expires_at: rows::time(row, 5)?,
        last_used_at: rows::time(row, 6)?,
    })
}

/// The one writer sees to it that no other change of a user comes between the look and the write.
pub(super) fn change_user(db: &Connection, change: &UserChange) -> SqlResult<UserChangeResult> {
    let user = &change.user;
    let before = at_version(db, user.uuid, change.expected_version)?;
    if before.administers() && !user.administers() && is_last_administrator(db, user.uuid)? {
        return Ok(UserChangeResult::LastAdministrator);
    }
    access::keep_or_replay(db, change.answer.as_ref())?;
    let update = "UPDATE users SET role = ?2, password_hash = ?3, disabled_at_ms = ?4, version = ?5 WHERE uuid = ?1";
    let values = params![user.uuid.as_bytes(), user.role, user.password_hash, user.disabled_at.map(ms), user.version];
    rows::execute(db, update, values)?;
    match &change.totp {
        TotpChange::Keep => {}
        TotpChange::Set(totp, codes) => put_totp(db, user.uuid, Some(totp), codes)?,
        TotpChange::Remove => put_totp(db, user.uuid, None, &[])?,
    }
    end(db, change.ending)?;
    if user.role != Role::Clerk.name() {
        clerks::unassign_from_all(db, user.uuid)?;
    }
    Ok(UserChangeResult::Done)
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
    if user.administers() && is_last_administrator(db, uuid)? {
        return Ok(UserChangeResult::LastAdministrator);
    }
    rows::execute(db, "DELETE FROM recovery_codes WHERE user_uuid = ?1", [uuid.as_bytes()])?;
    rows::execute(db, "DELETE FROM users WHERE uuid = ?1", [uuid.as_bytes()])?;
    clerks::unassign_from_all(db, uuid)?;
    Ok(UserChangeResult::Done)
}

pub(super) fn begin(
    db: &Connection,
    session: &Session,
    version: i64,
    sessions_max: usize,
    answer: Option<&IdempotentAnswer>,
) -> SqlResult<()> {
    access::keep_or_replay(db, answer)?;
    at_version(db, session.user, version)?;
    let insert = "INSERT INTO sessions (uuid, hash, user_uuid, address, created_at_ms, expires_at_ms, last_used_at_ms) \
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";
    let Session { uuid, hash, user, address, created_at, expires_at, last_used_at } = session;
    let (created_at, expires_at, last_used_at) = (ms(*created_at), ms(*expires_at), ms(*last_used_at));
    let (uuid, user) = (uuid.as_bytes(), user.as_bytes());
    rows::execute(db, insert, params![uuid, hash, user, address, created_at, expires_at, last_used_at])?;
    rows::execute(db, "UPDATE users SET signed_in_at_ms = ?2 WHERE uuid = ?1", (user, created_at))?;
    let too_many = "DELETE FROM sessions WHERE user_uuid = ?1 AND uuid NOT IN \
         (SELECT uuid FROM sessions WHERE user_uuid = ?1 ORDER BY uuid DESC LIMIT ?2)";
    rows::execute(db, too_many, (user, rows::limit(sessions_max))).map(drop)
}

fn end(db: &Connection, ending: SessionsToEnd) -> SqlResult<usize> {
    let delete = "DELETE FROM sessions WHERE user_uuid = ?1";
    match ending {
        SessionsToEnd::Nothing => Ok(0),
        SessionsToEnd::AllOf(user) => rows::execute(db, delete, [user.as_bytes()]),
        SessionsToEnd::One(user, uuid) => {
            rows::execute(db, &format!("{delete} AND uuid = ?2"), (user.as_bytes(), uuid.as_bytes()))
        }
        SessionsToEnd::AllBut(user, uuid) => {
            rows::execute(db, &format!("{delete} AND uuid <> ?2"), (user.as_bytes(), uuid.as_bytes()))
        }
    }
}

fn take_sign_in_attempts(db: &Connection, attempts: &[SignInAttempt], now: Timestamp) -> SqlResult<Option<Timestamp>> {
    let mut taken = Vec::new();
    for attempt in attempts {
        let select = "SELECT full_at_ms FROM sign_in_attempts WHERE subject = ?1";
        let full_at = rows::one(db, select, [attempt.subject], |row| rows::time(row, 0))?;
        match attempt.take(full_at, now) {
            Ok(full_at) => taken.push((attempt.subject, full_at)),
            Err(allowed_from) => return Ok(Some(allowed_from)),
        }
    }
    for (subject, full_at) in taken {
        let put = "INSERT INTO sign_in_attempts (subject, full_at_ms) VALUES (?1, ?2) \
             ON CONFLICT (subject) DO UPDATE SET full_at_ms = excluded.full_at_ms";
        rows::execute(db, put, (subject, ms(full_at)))?;
    }
    Ok(None)
}

fn settle_sign_in_attempts(db: &Connection, settled: &SignInAttemptsUpdate) -> SqlResult<()> {
    for subject in &settled.full {
        rows::execute(db, "DELETE FROM sign_in_attempts WHERE subject = ?1", [subject])?;
    }
    for attempt in &settled.back {
        let refill_interval_ms = i64::try_from(attempt.refill_interval.as_millis()).unwrap_or(i64::MAX);
        let back = "UPDATE sign_in_attempts SET full_at_ms = full_at_ms - ?2 WHERE subject = ?1";
        rows::execute(db, back, (attempt.subject, refill_interval_ms))?;
    }
    Ok(())
}
