//! Sessions of users, and the limit on sign-in attempts.

use async_trait::async_trait;
use jiff::Timestamp;
use uuid::Uuid;

use super::{Digest, Page, StoreResult, User};

pub use kit_identity::throttle::Attempt as SignInAttempt;

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
