//! Sessions of users, and the limit on sign-in attempts.

use async_trait::async_trait;
use jiff::Timestamp;
use kit_identity::Digest;
use kit_identity::throttle::{Attempt, AttemptsToReturn};

use super::{SessionsToEnd, StoreResult};
use crate::model::{ActivityEntry, User, UserSession};

/// Sessions of users. The provider looks up the session of each request, so every node rejects an ended session at
/// once, without a signal.
#[async_trait]
pub trait UserSessionStore: Send + Sync {
    /// Begins a session, and ends the user's oldest sessions beyond `sessions_max`. Error: `Conflict` when the user
    /// has another version than `user_version`, or does not exist.
    async fn begin_session(
        &self,
        session: UserSession,
        user_version: i64,
        sessions_max: usize,
        activity: ActivityEntry,
    ) -> StoreResult<()>;
    /// The session with this token and its user.
    async fn session_by_hash(&self, hash: Digest) -> StoreResult<Option<(UserSession, User)>>;
    /// The session with this id and its user.
    async fn session(&self, id: &str) -> StoreResult<Option<(UserSession, User)>>;
    /// A user's sessions, newest first, at most `limit`.
    async fn sessions(&self, user: &str, limit: usize) -> StoreResult<Vec<UserSession>>;
    /// Records the use of a session. A session that does not exist is not an error.
    async fn touch_session(&self, id: &str, at: Timestamp) -> StoreResult<()>;
    /// Ends sessions; returns their number. The entry of the activity log is written if any ended.
    async fn end_sessions(&self, ending: SessionsToEnd, activity: Option<ActivityEntry>) -> StoreResult<usize>;
    /// Deletes at most `limit` sessions that expired before `now` or were last used before `idle_before`, at most
    /// `limit` invitations that expired, and at most `limit` full allowances; returns their number.
    async fn delete_expired_sessions(&self, now: Timestamp, idle_before: Timestamp, limit: usize)
    -> StoreResult<usize>;
    /// Takes one attempt from each allowance. If one of them is empty, takes none and returns the time of the next
    /// possible attempt.
    async fn take_sign_in_attempts(&self, attempts: Vec<Attempt>, now: Timestamp) -> StoreResult<Option<Timestamp>>;
    /// Returns attempts to their allowances.
    async fn return_sign_in_attempts(&self, returned: AttemptsToReturn) -> StoreResult<()>;
}
