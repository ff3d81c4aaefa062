//! Sessions of users, and the limit on sign-in attempts.

use async_trait::async_trait;
use jiff::Timestamp;
use kit_identity::Digest;
use kit_identity::throttle::{Attempt, AttemptsToReturn};
use provider_core::model::{ActivityEntry, User, UserSession};
use provider_core::port::{SessionsToEnd, StoreError, StoreResult, UserSessionStore};
use tokio_postgres::Row;
use tokio_postgres::types::ToSql;

use super::rows::{self, Client, SqlResult, sql_limit};
use super::{PostgresStore, activity, users};

const SESSION: &str =
    "SELECT id, hash, user_id, address, browser, created_at, expires_at, last_used_at FROM user_sessions";

#[async_trait]
impl UserSessionStore for PostgresStore {
    async fn begin_session(
        &self,
        session: UserSession,
        user_version: i64,
        sessions_max: usize,
        entry: ActivityEntry,
    ) -> StoreResult<()> {
        let input = (&session, user_version, sessions_max, &entry);
        self.transaction(&input, |db, &(session, version, max, entry)| {
            Box::pin(begin(db, session, version, max, entry))
        })
        .await
    }

    async fn session_by_hash(&self, hash: Digest) -> StoreResult<Option<(UserSession, User)>> {
        let client = self.client().await?;
        let select = format!("{SESSION} WHERE hash = $1");
        let found = rows::one(&client, &select, &[&hash.as_slice()], session).await?;
        let Some(session) = found else { return Ok(None) };
        Ok(users::find(&client, &session.user).await?.map(|user| (session, user)))
    }

    async fn session(&self, id: &str) -> StoreResult<Option<(UserSession, User)>> {
        let client = self.client().await?;
        let Some(session) = rows::one(&client, &format!("{SESSION} WHERE id = $1"), &[&id], session).await? else {
            return Ok(None);
        };
        Ok(users::find(&client, &session.user).await?.map(|user| (session, user)))
    }

    async fn sessions(&self, user: &str, limit: usize) -> StoreResult<Vec<UserSession>> {
        let client = self.client().await?;
        let select = format!("{SESSION} WHERE user_id = $1 ORDER BY id DESC LIMIT $2");
        Ok(rows::all(&client, &select, &[&user, &sql_limit(limit)], session).await?)
    }

    async fn touch_session(&self, id: &str, at: Timestamp) -> StoreResult<()> {
        let client = self.client().await?;
        let touch = "UPDATE user_sessions SET last_used_at = greatest(last_used_at, $2) WHERE id = $1";
        Ok(rows::write(&client, touch, &[&id, &at]).await.map(drop)?)
    }

    async fn end_sessions(&self, ending: SessionsToEnd, entry: Option<ActivityEntry>) -> StoreResult<usize> {
        self.transaction(&(&ending, &entry), |db, &(ending, entry)| {
            Box::pin(async move {
                let ended = end(db, ending).await?;
                if let Some(entry) = entry.as_ref().filter(|_| ended > 0) {
                    activity::insert(db, entry).await?;
                }
                Ok(ended)
            })
        })
        .await
    }

    async fn delete_expired_sessions(
        &self,
        now: Timestamp,
        idle_before: Timestamp,
        limit: usize,
    ) -> StoreResult<usize> {
        let client = self.client().await?;
        let over = "DELETE FROM user_sessions WHERE id IN (SELECT id FROM user_sessions \
             WHERE expires_at < $1 OR last_used_at < $2 LIMIT $3)";
        let void = "DELETE FROM invitations WHERE id IN (SELECT id FROM invitations WHERE expires_at < $1 LIMIT $2)";
        let full = "DELETE FROM sign_in_attempts WHERE full_at < $1 AND subject IN \
             (SELECT subject FROM sign_in_attempts WHERE full_at < $1 LIMIT $2)";
        let limit = sql_limit(limit);
        let ended = rows::write(&client, over, &[&now, &idle_before, &limit]).await?;
        let voided = rows::write(&client, void, &[&now, &limit]).await?;
        let filled = rows::write(&client, full, &[&now, &limit]).await?;
        Ok(usize::try_from(ended + voided + filled).unwrap_or(usize::MAX))
    }

    async fn take_sign_in_attempts(&self, attempts: Vec<Attempt>, now: Timestamp) -> StoreResult<Option<Timestamp>> {
        self.transaction(&(&attempts, now), |db, &(attempts, now)| Box::pin(take_attempts(db, attempts, now))).await
    }

    async fn return_sign_in_attempts(&self, returned: AttemptsToReturn) -> StoreResult<()> {
        self.transaction(&(&returned,), |db, &(returned,)| Box::pin(return_attempts(db, returned))).await
    }
}

fn session(row: &Row) -> StoreResult<UserSession> {
    Ok(UserSession {
        id: rows::id(row, 0)?,
        hash: rows::bytes(row, 1)?,
        user: rows::id(row, 2)?,
        address: rows::get(row, 3)?,
        browser: rows::get(row, 4)?,
        created_at: rows::get(row, 5)?,
        expires_at: rows::get(row, 6)?,
        last_used_at: rows::get(row, 7)?,
    })
}

/// Updates the row of the user first. So this transaction either finds the result of a concurrent change of the
/// user, or that change also ends this session.
async fn begin(
    db: &impl Client,
    session: &UserSession,
    user_version: i64,
    sessions_max: usize,
    entry: &ActivityEntry,
) -> SqlResult<()> {
    let signed_in = "UPDATE users SET signed_in_at = $3 WHERE id = $1 AND version = $2";
    if rows::write(db, signed_in, &[&&*session.user, &user_version, &session.created_at]).await? == 0 {
        return Err(StoreError::Conflict.into());
    }
    insert(db, session).await?;
    let too_many = "DELETE FROM user_sessions WHERE user_id = $1 AND id NOT IN \
         (SELECT id FROM user_sessions WHERE user_id = $1 ORDER BY id DESC LIMIT $2)";
    rows::write(db, too_many, &[&&*session.user, &sql_limit(sessions_max)]).await?;
    activity::insert(db, entry).await
}

pub(super) async fn insert(db: &impl Client, session: &UserSession) -> SqlResult<()> {
    let insert = "INSERT INTO user_sessions (id, hash, user_id, address, browser, created_at, expires_at, last_used_at) \
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8)";
    let values: [&(dyn ToSql + Sync); 8] = [
        &&*session.id,
        &session.hash.as_slice(),
        &&*session.user,
        &session.address,
        &session.browser,
        &session.created_at,
        &session.expires_at,
        &session.last_used_at,
    ];
    rows::write(db, insert, &values).await.map(drop)
}

pub(super) async fn end(db: &impl Client, ending: &SessionsToEnd) -> SqlResult<usize> {
    let delete = "DELETE FROM user_sessions WHERE user_id = $1";
    let ended = match ending {
        SessionsToEnd::Nothing => 0,
        SessionsToEnd::AllOf(user) => rows::write(db, delete, &[&&**user]).await?,
        SessionsToEnd::One(user, id) => rows::write(db, &format!("{delete} AND id = $2"), &[&&**user, &&**id]).await?,
        SessionsToEnd::AllBut(user, id) => {
            rows::write(db, &format!("{delete} AND id <> $2"), &[&&**user, &&**id]).await?
        }
    };
    Ok(usize::try_from(ended).unwrap_or(usize::MAX))
}

/// Locks the rows in the order of their subjects, so that concurrent transactions wait and can't deadlock.
async fn take_attempts(db: &impl Client, attempts: &[Attempt], now: Timestamp) -> SqlResult<Option<Timestamp>> {
    let mut in_order: Vec<&Attempt> = attempts.iter().collect();
    in_order.sort_unstable_by_key(|attempt| attempt.subject);
    let mut granted = Vec::new();
    let mut wait = None;
    for attempt in in_order {
        let locked = "INSERT INTO sign_in_attempts AS a (subject, full_at) VALUES ($1, $2) \
             ON CONFLICT (subject) DO UPDATE SET full_at = a.full_at RETURNING full_at";
        let full_at =
            rows::one(db, locked, &[&attempt.subject.as_slice(), &now], |row| rows::get::<Timestamp>(row, 0)).await?;
        match attempt.take(full_at, now) {
            Ok(full_at) => granted.push((attempt.subject, full_at)),
            Err(allowed_from) => wait = wait.max(Some(allowed_from)),
        }
    }
    if wait.is_some() {
        return Ok(wait);
    }
    for (subject, full_at) in granted {
        let update = "UPDATE sign_in_attempts SET full_at = $2 WHERE subject = $1";
        rows::write(db, update, &[&subject.as_slice(), &full_at]).await?;
    }
    Ok(None)
}

async fn return_attempts(db: &impl Client, returned: &AttemptsToReturn) -> SqlResult<()> {
    for subject in &returned.full {
        rows::write(db, "DELETE FROM sign_in_attempts WHERE subject = $1", &[&subject.as_slice()]).await?;
    }
    for attempt in &returned.back {
        let refill_ms = i64::try_from(attempt.refill_interval.as_millis()).unwrap_or(i64::MAX);
        let update =
            "UPDATE sign_in_attempts SET full_at = full_at - $2::BIGINT * INTERVAL '1 millisecond' WHERE subject = $1";
        rows::write(db, update, &[&attempt.subject.as_slice(), &refill_ms]).await?;
    }
    Ok(())
}
