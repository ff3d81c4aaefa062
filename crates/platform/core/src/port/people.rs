//! People: users, their sessions, and how often somebody tried to sign in.

use std::time::Duration;

use async_trait::async_trait;
use jiff::Timestamp;
use kit_runtime::vault::Sealed;
use uuid::Uuid;

use super::{IdempotentAnswer, Page, StoreResult};
use crate::Role;

/// SHA-256 of something that is looked up by it: a session's token, a recovery code, or who tries to sign in.
pub type Digest = [u8; 32];

/// A person who signs in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct User {
    /// UUID, version 7.
    pub uuid: Uuid,
    /// E-mail address in lower case; unique.
    pub email: String,
    /// Role name; see `scope::Role`.
    pub role: String,
    /// Argon2id hash in PHC form.
    pub password_hash: String,
    /// When it was created.
    pub created_at: Timestamp,
    /// Number of its last change, from 1. Signing in is none.
    pub version: i64,
    /// Since when it can't sign in.
    pub disabled_at: Option<Timestamp>,
    /// When it last signed in.
    pub signed_in_at: Option<Timestamp>,
    /// The second factor, when there is one.
    pub totp: Option<Totp>,
}

impl User {
    /// True for an administrator who can sign in.
    pub fn administers(&self) -> bool {
        self.role == Role::Administrator.name() && self.disabled_at.is_none()
    }

    /// True when signing in takes a code as well: one that was never confirmed does not count.
    pub fn has_second_factor(&self) -> bool {
        self.totp.as_ref().is_some_and(|totp| totp.confirmed_at.is_some())
    }
}

/// A user's second factor (RFC 6238).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Totp {
    /// The shared secret, sealed.
    pub secret: Sealed,
    /// The step of the last code that was used; its code and earlier ones are refused.
    pub step: i64,
    /// When its owner showed that they have it; none while it is not asked for yet.
    pub confirmed_at: Option<Timestamp>,
}

/// What becomes of a second factor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TotpChange {
    /// It stays.
    Keep,
    /// It is this one, with these recovery codes and no others.
    Set(Totp, Vec<Digest>),
    /// It goes, with its recovery codes.
    Remove,
}

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

/// A user's new state and what goes with it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UserChange {
    /// The version that it was decided on.
    pub expected_version: i64,
    /// Its role, password and whether it is disabled become what they are here, and its version.
    pub user: User,
    /// What becomes of `totp`, whatever `user` says of it.
    pub totp: TotpChange,
    /// Sessions that end with it.
    pub ending: SessionsToEnd,
    /// The answer to keep for the caller's idempotency key.
    pub answer: Option<IdempotentAnswer>,
}

/// What came of changing or removing a user.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UserChangeResult {
    /// It is done.
    Done,
    /// Nothing was done: nobody could administer any more.
    LastAdministrator,
    /// Nothing was done: a user who has signed in stays, because the log may name them.
    HasSignedIn,
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

/// One attempt of somebody to sign in, out of an allowance that fills up evenly.
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
    /// When the allowance is full again after this attempt, if it was to be full at `full_at`; or the time at which there is
    /// an attempt again.
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

/// Part of the platform's store port.
#[async_trait]
pub trait UserStore {
    /// Keeps a new user with the answer, or neither. `Taken("email")`, `Replayed`.
    async fn create_user(&self, user: User, answer: Option<IdempotentAnswer>) -> StoreResult<()>;
    /// A user.
    async fn user(&self, uuid: Uuid) -> StoreResult<Option<User>>;
    /// The user with this address, in lower case.
    async fn user_by_email(&self, email: &str) -> StoreResult<Option<User>>;
    /// In order of creation (UUID).
    async fn users(&self, page: Page<Uuid>) -> StoreResult<Vec<User>>;
    /// Makes a change true as a whole or not at all. One administrator who is not disabled stays, however many changes come
    /// at the same time. `Conflict` when the version moved or the user is gone, `Replayed`.
    async fn change_user(&self, change: UserChange) -> StoreResult<UserChangeResult>;
    /// Removes a user who has never signed in. `Conflict` when the version moved or the user is gone.
    async fn remove_user(&self, uuid: Uuid, version: i64) -> StoreResult<UserChangeResult>;

    /// Notes that the code of a step was used; false when that of this step or a later one was before.
    async fn use_totp_step(&self, user: Uuid, step: i64) -> StoreResult<bool>;
    /// Uses a recovery code up; false when there is none like it.
    async fn use_recovery_code(&self, user: Uuid, code: Digest) -> StoreResult<bool>;
    /// How many recovery codes a user has left.
    async fn recovery_codes(&self, user: Uuid) -> StoreResult<usize>;

    /// Begins a session of a user of this version with the answer, and notes that the user has signed in. Of the user's
    /// sessions the latest `sessions_max` stay. `Conflict` when the user's version moved or the user is gone, `Replayed`.
    async fn begin_session(
        &self,
        session: Session,
        version: i64,
        sessions_max: usize,
        answer: Option<IdempotentAnswer>,
    ) -> StoreResult<()>;
    /// The session with this token and its user.
    async fn session_by_hash(&self, hash: Digest) -> StoreResult<Option<(Session, User)>>;
    /// A session.
    async fn session(&self, uuid: Uuid) -> StoreResult<Option<Session>>;
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

    /// Takes one attempt from each allowance, or, when one of them is empty, none: then the time at which there will be one.
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
