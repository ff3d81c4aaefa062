//! Sessions of users, and the limit on sign-in attempts.

use std::time::Duration;

use async_trait::async_trait;
use jiff::Timestamp;
use uuid::Uuid;

use super::{Digest, Page, StoreResult, User};

/// Sessions that end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SessionsToEnd {
    /// None.
    Nothing,
    /// This one of this user.
    One(Uuid, Uuid),
    /// All of a user.
    AllOf(Uuid),
    /// All of a user but this one.
    AllBut(Uuid, Uuid),
}

impl SessionsToEnd {
    /// True when this session of this user ends.
    pub fn ends(self, user: Uuid, session: Uuid) -> bool {
        match self {
            Self::Nothing => false,
            Self::One(of, one) => of == user && one == session,
            Self::AllOf(of) => of == user,
            Self::AllBut(of, kept) => of == user && kept != session,
        }
    }
}

/// A person's session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Session {
    /// UUID, version 7.
    pub uuid: Uuid,
    /// SHA-256 of its token (192 random bits).
    pub hash: Digest,
    /// Whose it is.
    pub user: Uuid,
    /// Where it was signed in from; none when it is not known.
    pub address: Option<String>,
    /// When it was signed in.
    pub created_at: Timestamp,
    /// When it ends, whatever is done with it.
    pub expires_at: Timestamp,
    /// When it was last used, to within a minute.
    pub last_used_at: Timestamp,
}

/// One attempt to sign in, taken from an allowance that refills evenly.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SignInAttempt {
    /// Whose allowance: an account's or an address'.
    pub subject: Digest,
    /// Time after which one attempt more is there.
    pub refill_interval: Duration,
    /// Attempts that are there at most.
    pub attempts_max: u32,
}

impl SignInAttempt {
    /// When the allowance is full again after this attempt, if it was to be full at `full_at`; or the time at which
    /// there is an attempt again.
    pub fn take(&self, full_at: Option<Timestamp>, now: Timestamp) -> Result<Timestamp, Timestamp> {
        let after = full_at.map_or(now, |at| at.max(now)) + self.refill_interval;
        let allowed_from = after - self.refill_interval * self.attempts_max;
        if allowed_from <= now { Ok(after) } else { Err(allowed_from) }
    }
}

/// What became of attempts that were taken.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SignInAttemptsUpdate {
    /// Whose allowance is full again.
    pub full: Vec<Digest>,
    /// Who gets this one back.
    pub back: Vec<SignInAttempt>,
}

/// Sessions and sign-in attempts. [`super::AccessChange`] begins sessions.
#[async_trait]
pub trait SessionStore: Send + Sync {
    /// A session.
    async fn session(&self, uuid: Uuid) -> StoreResult<Option<Session>>;
    /// The session with this token and its user.
    async fn session_by_hash(&self, hash: Digest) -> StoreResult<Option<(Session, User)>>;
    /// A user's in order of creation (UUID).
    async fn sessions(&self, user: Uuid, page: Page<Uuid>) -> StoreResult<Vec<Session>>;
    /// Notes that a session was used. It is no error if it is gone.
    async fn touch_session(&self, uuid: Uuid, at: Timestamp) -> StoreResult<()>;
    /// Ends sessions; how many.
    async fn end_sessions(&self, ending: SessionsToEnd) -> StoreResult<usize>;
    /// Forgets at most `limit` sessions that expired before `now` or were last used before `idle_before`, and as many
    /// allowances that are full; how many.
    async fn delete_expired_sessions(&self, now: Timestamp, idle_before: Timestamp, limit: usize)
    -> StoreResult<usize>;
    /// Takes one attempt from each allowance, or, when one of them is empty, none: then the time at which there will be
    /// one.
    async fn take_sign_in_attempts(
        &self,
        attempts: Vec<SignInAttempt>,
        now: Timestamp,
    ) -> StoreResult<Option<Timestamp>>;
    /// Fills allowances, and gives attempts back.
    async fn settle_sign_in_attempts(&self, settled: SignInAttemptsUpdate) -> StoreResult<()>;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_allowance_is_used_up_and_fills_evenly() {
        let attempt = SignInAttempt { subject: [0; 32], refill_interval: Duration::from_secs(60), attempts_max: 3 };
        let now = Timestamp::UNIX_EPOCH + Duration::from_secs(1_000);
        let mut full_at = None;
        for _ in 0..3 {
            full_at = Some(attempt.take(full_at, now).unwrap());
        }
        assert_eq!(attempt.take(full_at, now), Err(now + Duration::from_secs(60)));
        let later = now + Duration::from_secs(60);
        full_at = Some(attempt.take(full_at, later).unwrap());
        assert!(attempt.take(full_at, later).is_err());
        let much_later = now + Duration::from_secs(3_600);
        assert_eq!(attempt.take(full_at, much_later), Ok(much_later + Duration::from_secs(60)));
    }
}
