//! Sessions of users, and the limit on sign-in attempts.

use std::time::Duration;

use async_trait::async_trait;
use jiff::Timestamp;
use uuid::Uuid;

use super::{Digest, Page, StoreResult, User};

/// Which sessions to end.
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
    /// The user.
    pub user: Uuid,
    /// IP address of the sign-in; none when it is not known.
    pub address: Option<String>,
    /// When the user signed in.
    pub created_at: Timestamp,
    /// When it ends, used or not.
    pub expires_at: Timestamp,
    /// When it was last used, to within a minute.
    pub last_used_at: Timestamp,
}

/// One attempt to sign in, taken from an allowance that refills evenly.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SignInAttempt {
    /// Owner of the allowance: an account or an address.
    pub subject: Digest,
    /// Time after which one attempt is refilled.
    pub refill_interval: Duration,
    /// Attempts of a full allowance.
    pub attempts_max: u32,
}

impl SignInAttempt {
    /// The time at which the allowance is full again after this attempt, if it was to be full at `full_at`. Errors: the
    /// time of the next possible attempt.
    pub fn take(&self, full_at: Option<Timestamp>, now: Timestamp) -> Result<Timestamp, Timestamp> {
        let after = full_at.map_or(now, |at| at.max(now)) + self.refill_interval;
        let allowed_from = after - self.refill_interval * self.attempts_max;
        if allowed_from <= now { Ok(after) } else { Err(allowed_from) }
    }
}

/// Attempts to return to their allowances.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SignInAttemptsUpdate {
    /// Owners whose allowance is filled.
    pub full: Vec<Digest>,
    /// Attempts to return.
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
    /// Records the use of a session. A session that does not exist is no error.
    async fn touch_session(&self, uuid: Uuid, at: Timestamp) -> StoreResult<()>;
    /// Ends sessions; returns their number.
    async fn end_sessions(&self, ending: SessionsToEnd) -> StoreResult<usize>;
    /// Deletes at most `limit` sessions that expired before `now` or were last used before `idle_before`, and at most
    /// `limit` full allowances; returns their number.
    async fn delete_expired_sessions(&self, now: Timestamp, idle_before: Timestamp, limit: usize)
    -> StoreResult<usize>;
    /// Takes one attempt from each allowance. If one of them is empty, takes none and returns the time of the next
    /// possible attempt.
    async fn take_sign_in_attempts(
        &self,
        attempts: Vec<SignInAttempt>,
        now: Timestamp,
    ) -> StoreResult<Option<Timestamp>>;
    /// Fills allowances, and returns attempts.
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
