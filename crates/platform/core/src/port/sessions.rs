//! Sessions of users, and the limit on sign-in attempts.

use async_trait::async_trait;
use jiff::Timestamp;
use kit_identity::throttle::{Attempt, AttemptsToReturn};
use uuid::Uuid;

use super::{Digest, Page, StoreResult, User};

/// A user's session.
pub type Session = kit_identity::sessions::Session<Uuid>;
/// Which sessions to end.
pub type SessionsToEnd = kit_identity::sessions::SessionsToEnd<Uuid>;

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
    async fn take_sign_in_attempts(&self, attempts: Vec<Attempt>, now: Timestamp) -> StoreResult<Option<Timestamp>>;
    /// When the allowances of these owners are full again. An owner without a row has a full one.
    async fn allowances_full_at(&self, subjects: Vec<Digest>) -> StoreResult<Vec<(Digest, Timestamp)>>;
    /// Returns attempts to their allowances.
    async fn return_sign_in_attempts(&self, returned: AttemptsToReturn) -> StoreResult<()>;
}
