//! Sessions of users, and the limit on sign-in attempts.

use async_trait::async_trait;
use jiff::Timestamp;
use kit_identity::throttle::{Attempt, AttemptsToReturn};
use platform_core::port::{Digest, IdempotentAnswer, Page, Session, SessionStore, SessionsToEnd, StoreResult, User};
use rusqlite::{Connection, Row, params};
use uuid::Uuid;

use super::rows::{self, SqlResult, after};
use super::{SqliteStore, idempotency, users};
use crate::codec::ms;

const SESSION: &str =
    "SELECT uuid, hash, user_uuid, address, created_at_ms, expires_at_ms, last_used_at_ms FROM sessions";

#[async_trait]
impl SessionStore for SqliteStore {
    async fn session(&self, uuid: Uuid) -> StoreResult<Option<Session>> {
        self.read(move |db| rows::one(db, &format!("{SESSION} WHERE uuid = ?1"), [uuid.as_bytes()], session)).await
    }

    async fn session_by_hash(&self, hash: Digest) -> StoreResult<Option<(Session, User)>> {
        self.read(move |db| {
            let Some(session) = rows::one(db, &format!("{SESSION} WHERE hash = ?1"), [hash], session)? else {
                return Ok(None);
            };
            Ok(users::find(db, session.user)?.map(|user| (session, user)))
        })
        .await
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

    async fn take_sign_in_attempts(&self, attempts: Vec<Attempt>, now: Timestamp) -> StoreResult<Option<Timestamp>> {
        self.write(move |db| take_sign_in_attempts(db, &attempts, now)).await
    }

    async fn allowances_full_at(&self, subjects: Vec<Digest>) -> StoreResult<Vec<(Digest, Timestamp)>> {
        let select = "SELECT full_at_ms FROM sign_in_attempts WHERE subject = ?1";
        self.read(move |db| {
            let mut found = Vec::new();
            for subject in &subjects {
                let full_at = rows::one(db, select, [subject], |row| rows::time(row, 0))?;
                found.extend(full_at.map(|full_at| (*subject, full_at)));
            }
            Ok(found)
        })
        .await
    }

    async fn return_sign_in_attempts(&self, returned: AttemptsToReturn) -> StoreResult<()> {
        self.write(move |db| return_sign_in_attempts(db, &returned)).await
    }
}

fn session(row: &Row<'_>) -> SqlResult<Session> {
    Ok(Session {
        id: rows::uuid(row, 0)?,
        hash: row.get(1)?,
        user: rows::uuid(row, 2)?,
        address: row.get(3)?,
        browser: None,
        created_at: rows::time(row, 4)?,
        expires_at: rows::time(row, 5)?,
        last_used_at: rows::time(row, 6)?,
    })
}

pub(super) fn begin(
    db: &Connection,
    session: &Session,
    version: i64,
    sessions_max: usize,
    answer: Option<&IdempotentAnswer>,
) -> SqlResult<()> {
    idempotency::keep_or_replay(db, answer)?;
    users::at_version(db, session.user, version)?;
    let insert = "INSERT INTO sessions (uuid, hash, user_uuid, address, created_at_ms, expires_at_ms, last_used_at_ms) \
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";
    let Session { id, hash, user, address, browser: _, created_at, expires_at, last_used_at } = session;
    let (created_at, expires_at, last_used_at) = (ms(*created_at), ms(*expires_at), ms(*last_used_at));
    let (id, user) = (id.as_bytes(), user.as_bytes());
    rows::execute(db, insert, params![id, hash, user, address, created_at, expires_at, last_used_at])?;
    rows::execute(db, "UPDATE users SET signed_in_at_ms = ?2 WHERE uuid = ?1", (user, created_at))?;
    let too_many = "DELETE FROM sessions WHERE user_uuid = ?1 AND uuid NOT IN \
         (SELECT uuid FROM sessions WHERE user_uuid = ?1 ORDER BY uuid DESC LIMIT ?2)";
    rows::execute(db, too_many, (user, rows::limit(sessions_max))).map(drop)
}

pub(super) fn end(db: &Connection, ending: SessionsToEnd) -> SqlResult<usize> {
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

fn take_sign_in_attempts(db: &Connection, attempts: &[Attempt], now: Timestamp) -> SqlResult<Option<Timestamp>> {
    let mut granted = Vec::new();
    for attempt in attempts {
        let select = "SELECT full_at_ms FROM sign_in_attempts WHERE subject = ?1";
        let full_at = rows::one(db, select, [attempt.subject], |row| rows::time(row, 0))?;
        match attempt.take(full_at, now) {
            Ok(full_at) => granted.push((attempt.subject, full_at)),
            Err(allowed_from) => return Ok(Some(allowed_from)),
        }
    }
    for (subject, full_at) in granted {
        let put = "INSERT INTO sign_in_attempts (subject, full_at_ms) VALUES (?1, ?2) \
             ON CONFLICT (subject) DO UPDATE SET full_at_ms = excluded.full_at_ms";
        rows::execute(db, put, (subject, ms(full_at)))?;
    }
    Ok(None)
}

fn return_sign_in_attempts(db: &Connection, returned: &AttemptsToReturn) -> SqlResult<()> {
    for subject in &returned.full {
        rows::execute(db, "DELETE FROM sign_in_attempts WHERE subject = ?1", [subject])?;
    }
    for attempt in &returned.back {
        let refill_interval_ms = i64::try_from(attempt.refill_interval.as_millis()).unwrap_or(i64::MAX);
        let back = "UPDATE sign_in_attempts SET full_at_ms = full_at_ms - ?2 WHERE subject = ?1";
        rows::execute(db, back, (attempt.subject, refill_interval_ms))?;
    }
    Ok(())
}
