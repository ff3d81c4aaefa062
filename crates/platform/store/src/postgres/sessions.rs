//! Sessions of users, and the limit on sign-in attempts.

use async_trait::async_trait;
use jiff::Timestamp;
use kit_engine::postgres::{Connection, Transaction};
use kit_identity::throttle::{Attempt, AttemptsToReturn};
use platform_core::port::{
    Digest, IdempotentAnswer, Page, Session, SessionStore, SessionsToEnd, StoreError, StoreResult, User,
};
use tokio_postgres::Row;
use uuid::Uuid;

use super::rows::{self, SqlResult, after};
use super::{PostgresStore, idempotency, users};
use crate::codec::{corrupt, ms};

const SESSION: &str =
    "SELECT uuid, hash, user_uuid, address, created_at_ms, expires_at_ms, last_used_at_ms FROM sessions";

#[async_trait]
impl SessionStore for PostgresStore {
    async fn session(&self, uuid: Uuid) -> StoreResult<Option<Session>> {
        Ok(find(&self.client().await?, uuid).await?)
    }

    async fn session_by_hash(&self, hash: Digest) -> StoreResult<Option<(Session, User)>> {
        let client = self.client().await?;
        let Some(session) = find_by_hash(&client, hash).await? else { return Ok(None) };
        Ok(users::find(&client, session.user).await?.map(|user| (session, user)))
    }

    async fn sessions(&self, user: Uuid, page: Page<Uuid>) -> StoreResult<Vec<Session>> {
        Ok(list(&self.client().await?, user, page).await?)
    }

    async fn touch_session(&self, uuid: Uuid, at: Timestamp) -> StoreResult<()> {
        let touch = "UPDATE sessions SET last_used_at_ms = greatest(last_used_at_ms, $2) WHERE uuid = $1";
        Ok(rows::execute(&self.client().await?, touch, &[&uuid, &ms(at)]).await.map(drop)?)
    }

    async fn end_sessions(&self, ending: SessionsToEnd) -> StoreResult<usize> {
        Ok(end(&self.client().await?, ending).await?)
    }

    async fn delete_expired_sessions(
        &self,
        now: Timestamp,
        idle_before: Timestamp,
        limit: usize,
    ) -> StoreResult<usize> {
        Ok(delete_expired(&self.client().await?, now, idle_before, limit).await?)
    }

    async fn take_sign_in_attempts(&self, attempts: Vec<Attempt>, now: Timestamp) -> StoreResult<Option<Timestamp>> {
        self.write(&(attempts, now), |db, (attempts, now)| Box::pin(take_sign_in_attempts(db, attempts, *now))).await
    }

    async fn allowances_full_at(&self, subjects: Vec<Digest>) -> StoreResult<Vec<(Digest, Timestamp)>> {
        let (client, mut found) = (self.client().await?, Vec::new());
        for subject in subjects {
            let select = "SELECT full_at_ms FROM sign_in_attempts WHERE subject = $1";
            let full_at = rows::one(&client, select, &[&subject.as_slice()], |row| rows::time(row, 0)).await?;
            found.extend(full_at.map(|full_at| (subject, full_at)));
        }
        Ok(found)
    }

    async fn return_sign_in_attempts(&self, returned: AttemptsToReturn) -> StoreResult<()> {
        self.write(&returned, |db, returned| Box::pin(return_sign_in_attempts(db, returned))).await
    }
}

pub(super) async fn find(db: &impl Connection, uuid: Uuid) -> SqlResult<Option<Session>> {
    rows::one(db, &format!("{SESSION} WHERE uuid = $1"), &[&uuid], session).await
}

pub(super) async fn find_by_hash(db: &impl Connection, hash: Digest) -> SqlResult<Option<Session>> {
    rows::one(db, &format!("{SESSION} WHERE hash = $1"), &[&hash.as_slice()], session).await
}

pub(super) async fn list(db: &impl Connection, user: Uuid, page: Page<Uuid>) -> SqlResult<Vec<Session>> {
    let select = format!("{SESSION} WHERE user_uuid = $1 AND uuid > $2 ORDER BY uuid LIMIT $3");
    rows::list(db, &select, &[&user, &after(page), &rows::limit(page.limit)], session).await
}

fn session(row: &Row) -> SqlResult<Session> {
    Ok(Session {
        id: rows::get(row, 0)?,
        hash: rows::get::<&[u8]>(row, 1)?.try_into().map_err(corrupt)?,
        user: rows::get(row, 2)?,
        address: rows::get(row, 3)?,
        browser: None,
        created_at: rows::time(row, 4)?,
        expires_at: rows::time(row, 5)?,
        last_used_at: rows::time(row, 6)?,
    })
}

/// Updates the row of the user first. So this transaction either finds the result of a concurrent change of the user,
/// or that change also ends this session.
pub(super) async fn begin(
    db: &Transaction<'_>,
    session: &Session,
    version: i64,
    sessions_max: usize,
    answer: Option<&IdempotentAnswer>,
) -> SqlResult<()> {
    let Session { id, hash, user, address, browser: _, created_at, expires_at, last_used_at } = session;
    let (created_at, expires_at, last_used_at) = (ms(*created_at), ms(*expires_at), ms(*last_used_at));
    let signed_in = "UPDATE users SET signed_in_at_ms = $3 WHERE uuid = $1 AND version = $2";
    if rows::execute(db, signed_in, &[user, &version, &created_at]).await? == 0 {
        return Err(StoreError::Conflict.into());
    }
    idempotency::keep_or_replay(db, answer).await?;
    let insert = "INSERT INTO sessions (uuid, hash, user_uuid, address, created_at_ms, expires_at_ms, last_used_at_ms) \
         VALUES ($1, $2, $3, $4, $5, $6, $7)";
    let values: rows::Values<'_> = &[id, &hash.as_slice(), user, address, &created_at, &expires_at, &last_used_at];
    rows::execute(db, insert, values).await?;
    let too_many = "DELETE FROM sessions WHERE user_uuid = $1 AND uuid NOT IN \
         (SELECT uuid FROM sessions WHERE user_uuid = $1 ORDER BY uuid DESC LIMIT $2)";
    rows::execute(db, too_many, &[user, &rows::limit(sessions_max)]).await.map(drop)
}

pub(super) async fn end(db: &impl Connection, ending: SessionsToEnd) -> SqlResult<usize> {
    let delete = "DELETE FROM sessions WHERE user_uuid = $1";
    let ended = match ending {
        SessionsToEnd::Nothing => 0,
        SessionsToEnd::AllOf(user) => rows::execute(db, delete, &[&user]).await?,
        SessionsToEnd::One(user, uuid) => {
            rows::execute(db, &format!("{delete} AND uuid = $2"), &[&user, &uuid]).await?
        }
        SessionsToEnd::AllBut(user, uuid) => {
            rows::execute(db, &format!("{delete} AND uuid <> $2"), &[&user, &uuid]).await?
        }
    };
    Ok(usize::try_from(ended).unwrap_or(usize::MAX))
}

pub(super) async fn delete_expired(
    db: &impl Connection,
    now: Timestamp,
    idle_before: Timestamp,
    limit: usize,
) -> SqlResult<usize> {
    let over = "DELETE FROM sessions WHERE uuid IN (SELECT uuid FROM sessions \
         WHERE expires_at_ms < $1 OR last_used_at_ms < $2 LIMIT $3)";
    let full = "DELETE FROM sign_in_attempts WHERE full_at_ms < $1 AND subject IN \
         (SELECT subject FROM sign_in_attempts WHERE full_at_ms < $1 LIMIT $2)";
    let limit = rows::limit(limit);
    let ended = rows::execute(db, over, &[&ms(now), &ms(idle_before), &limit]).await?;
    let filled = rows::execute(db, full, &[&ms(now), &limit]).await?;
    Ok(usize::try_from(ended + filled).unwrap_or(usize::MAX))
}

/// Locks the rows in the order of their subjects, so that concurrent transactions wait and can't deadlock.
pub(super) async fn take_sign_in_attempts(
    db: &Transaction<'_>,
    attempts: &[Attempt],
    now: Timestamp,
) -> SqlResult<Option<Timestamp>> {
    let mut in_order: Vec<&Attempt> = attempts.iter().collect();
    in_order.sort_unstable_by_key(|attempt| attempt.subject);
    let mut granted = Vec::new();
    let mut wait = None;
    for attempt in in_order {
        let locked = "INSERT INTO sign_in_attempts AS a (subject, full_at_ms) VALUES ($1, $2) \
             ON CONFLICT (subject) DO UPDATE SET full_at_ms = a.full_at_ms RETURNING full_at_ms";
        let row = |row: &Row| rows::time(row, 0);
        let full_at = rows::one(db, locked, &[&attempt.subject.as_slice(), &ms(now)], row).await?;
        match attempt.take(full_at, now) {
            Ok(full_at) => granted.push((attempt.subject, full_at)),
            Err(allowed_from) => wait = wait.max(Some(allowed_from)),
        }
    }
    if wait.is_some() {
        return Ok(wait);
    }
    for (subject, full_at) in granted {
        let update = "UPDATE sign_in_attempts SET full_at_ms = $2 WHERE subject = $1";
        rows::execute(db, update, &[&subject.as_slice(), &ms(full_at)]).await?;
    }
    Ok(None)
}

pub(super) async fn return_sign_in_attempts(db: &Transaction<'_>, returned: &AttemptsToReturn) -> SqlResult<()> {
    for subject in &returned.full {
        rows::execute(db, "DELETE FROM sign_in_attempts WHERE subject = $1", &[&subject.as_slice()]).await?;
    }
    for attempt in &returned.back {
        let refill_interval_ms = i64::try_from(attempt.refill_interval.as_millis()).unwrap_or(i64::MAX);
        let back = "UPDATE sign_in_attempts SET full_at_ms = full_at_ms - $2 WHERE subject = $1";
        rows::execute(db, back, &[&attempt.subject.as_slice(), &refill_interval_ms]).await?;
    }
    Ok(())
}
