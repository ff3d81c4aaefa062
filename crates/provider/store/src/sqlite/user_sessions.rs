//! Sessions of users, and the limit on sign-in attempts.

use async_trait::async_trait;
use jiff::Timestamp;
use kit_identity::Digest;
use kit_identity::throttle::{Attempt, AttemptsToReturn};
use provider_core::model::{ActivityEntry, User, UserSession};
use provider_core::port::{SessionsToEnd, StoreResult, UserSessionStore};
use rusqlite::{Connection, Row, params};

use super::rows::{self, SqlResult, ms, sql_limit};
use super::{SqliteStore, activity, users};

const SESSION: &str =
    "SELECT id, hash, user_id, address, browser, created_at, expires_at, last_used_at FROM user_sessions";

#[async_trait]
impl UserSessionStore for SqliteStore {
    async fn begin_session(
        &self,
        session: UserSession,
        user_version: i64,
        sessions_max: usize,
        entry: ActivityEntry,
    ) -> StoreResult<()> {
        self.write(move |db| begin(db, &session, user_version, sessions_max, &entry)).await
    }

    async fn session_by_hash(&self, hash: Digest) -> StoreResult<Option<(UserSession, User)>> {
        self.read(move |db| {
            let Some(session) = rows::one(db, &format!("{SESSION} WHERE hash = ?1"), [hash], session)? else {
                return Ok(None);
            };
            Ok(users::find(db, &session.user)?.map(|user| (session, user)))
        })
        .await
    }

    async fn session(&self, id: &str) -> StoreResult<Option<(UserSession, User)>> {
        let id = id.to_owned();
        self.read(move |db| {
            let Some(session) = rows::one(db, &format!("{SESSION} WHERE id = ?1"), [id], session)? else {
                return Ok(None);
            };
            Ok(users::find(db, &session.user)?.map(|user| (session, user)))
        })
        .await
    }

    async fn sessions(&self, user: &str, limit: usize) -> StoreResult<Vec<UserSession>> {
        let select = format!("{SESSION} WHERE user_id = ?1 ORDER BY id DESC LIMIT ?2");
        let user = user.to_owned();
        self.read(move |db| {
            let mut statement = db.prepare_cached(&select)?;
            statement.query_and_then((user, sql_limit(limit)), session)?.collect()
        })
        .await
    }

    async fn touch_session(&self, id: &str, at: Timestamp) -> StoreResult<()> {
        let touch = "UPDATE user_sessions SET last_used_at = max(last_used_at, ?2) WHERE id = ?1";
        let id = id.to_owned();
        self.write(move |db| Ok(db.execute(touch, (id, ms(at))).map(drop)?)).await
    }

    async fn end_sessions(&self, ending: SessionsToEnd, entry: Option<ActivityEntry>) -> StoreResult<usize> {
        self.write(move |db| {
            let ended = end(db, &ending)?;
            if let Some(entry) = entry.as_ref().filter(|_| ended > 0) {
                activity::insert(db, entry)?;
            }
            Ok(ended)
        })
        .await
    }

    async fn delete_expired_sessions(
        &self,
        now: Timestamp,
        idle_before: Timestamp,
        limit: usize,
    ) -> StoreResult<usize> {
        let over = "DELETE FROM user_sessions WHERE id IN (SELECT id FROM user_sessions \
             WHERE expires_at < ?1 OR last_used_at < ?2 LIMIT ?3)";
        let void = "DELETE FROM invitations WHERE id IN (SELECT id FROM invitations WHERE expires_at < ?1 LIMIT ?2)";
        let full = "DELETE FROM sign_in_attempts WHERE subject IN (SELECT subject FROM sign_in_attempts \
             WHERE full_at < ?1 LIMIT ?2)";
        let limit = sql_limit(limit);
        self.write(move |db| {
            let ended = db.execute(over, (ms(now), ms(idle_before), limit))?;
            let voided = db.execute(void, (ms(now), limit))?;
            Ok(ended + voided + db.execute(full, (ms(now), limit))?)
        })
        .await
    }

    async fn take_sign_in_attempts(&self, attempts: Vec<Attempt>, now: Timestamp) -> StoreResult<Option<Timestamp>> {
        self.write(move |db| take_attempts(db, &attempts, now)).await
    }

    async fn return_sign_in_attempts(&self, returned: AttemptsToReturn) -> StoreResult<()> {
        self.write(move |db| return_attempts(db, &returned)).await
    }
}

fn session(row: &Row<'_>) -> SqlResult<UserSession> {
    Ok(UserSession {
        id: rows::id(row, 0)?,
        hash: row.get(1)?,
        user: rows::id(row, 2)?,
        address: row.get(3)?,
        browser: row.get(4)?,
        created_at: rows::time(row, 5)?,
        expires_at: rows::time(row, 6)?,
        last_used_at: rows::time(row, 7)?,
    })
}

fn begin(
    db: &Connection,
    session: &UserSession,
    user_version: i64,
    sessions_max: usize,
    entry: &ActivityEntry,
) -> SqlResult<()> {
    users::at_version(db, &session.user, user_version)?;
    insert(db, session)?;
    let signed_in = "UPDATE users SET signed_in_at = ?2 WHERE id = ?1";
    db.execute(signed_in, (&*session.user, ms(session.created_at)))?;
    let too_many = "DELETE FROM user_sessions WHERE user_id = ?1 AND id NOT IN \
         (SELECT id FROM user_sessions WHERE user_id = ?1 ORDER BY id DESC LIMIT ?2)";
    db.execute(too_many, (&*session.user, sql_limit(sessions_max)))?;
    activity::insert(db, entry)
}

pub(super) fn insert(db: &Connection, session: &UserSession) -> SqlResult<()> {
    let insert = "INSERT INTO user_sessions (id, hash, user_id, address, browser, created_at, expires_at, last_used_at) \
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)";
    db.execute(
        insert,
        params![
            &*session.id,
            session.hash,
            &*session.user,
            session.address,
            session.browser,
            ms(session.created_at),
            ms(session.expires_at),
            ms(session.last_used_at)
        ],
    )?;
    Ok(())
}

pub(super) fn end(db: &Connection, ending: &SessionsToEnd) -> SqlResult<usize> {
    let delete = "DELETE FROM user_sessions WHERE user_id = ?1";
    Ok(match ending {
        SessionsToEnd::Nothing => 0,
        SessionsToEnd::AllOf(user) => db.execute(delete, [&**user])?,
        SessionsToEnd::One(user, id) => db.execute(&format!("{delete} AND id = ?2"), (&**user, &**id))?,
        SessionsToEnd::AllBut(user, id) => db.execute(&format!("{delete} AND id <> ?2"), (&**user, &**id))?,
    })
}

fn take_attempts(db: &Connection, attempts: &[Attempt], now: Timestamp) -> SqlResult<Option<Timestamp>> {
    let mut granted = Vec::new();
    for attempt in attempts {
        let select = "SELECT full_at FROM sign_in_attempts WHERE subject = ?1";
        let full_at = rows::one(db, select, [attempt.subject], |row| rows::time(row, 0))?;
        match attempt.take(full_at, now) {
            Ok(full_at) => granted.push((attempt.subject, full_at)),
            Err(allowed_from) => return Ok(Some(allowed_from)),
        }
    }
    for (subject, full_at) in granted {
        let put = "INSERT INTO sign_in_attempts (subject, full_at) VALUES (?1, ?2) \
             ON CONFLICT (subject) DO UPDATE SET full_at = excluded.full_at";
        db.execute(put, (subject, ms(full_at)))?;
    }
    Ok(None)
}

fn return_attempts(db: &Connection, returned: &AttemptsToReturn) -> SqlResult<()> {
    for subject in &returned.full {
        db.execute("DELETE FROM sign_in_attempts WHERE subject = ?1", [subject])?;
    }
    for attempt in &returned.back {
        let refill_ms = i64::try_from(attempt.refill_interval.as_millis()).unwrap_or(i64::MAX);
        let update = "UPDATE sign_in_attempts SET full_at = full_at - ?2 WHERE subject = ?1";
        db.execute(update, (attempt.subject, refill_ms))?;
    }
    Ok(())
}
