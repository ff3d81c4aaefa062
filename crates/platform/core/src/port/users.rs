//! Users and their second factors.

use async_trait::async_trait;
use jiff::Timestamp;
use kit_runtime::vault::Sealed;
use uuid::Uuid;

use super::{IdempotentAnswer, Page, SessionsToEnd, StoreResult};
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
    /// The change was made.
    Done,
    /// Nothing changed: no enabled administrator would remain.
    LastAdministrator,
    /// Nothing changed: a user who has signed in stays, because the audit log may name them.
    HasSignedIn,
}

/// Users. [`super::AccessChange`] creates and removes them. One enabled administrator always remains, however many
/// changes run at the same time.
#[async_trait]
pub trait UserStore: Send + Sync {
    /// A user.
    async fn user(&self, uuid: Uuid) -> StoreResult<Option<User>>;
    /// The user with this address, in lower case.
    async fn user_by_email(&self, email: &str) -> StoreResult<Option<User>>;
    /// In order of creation (UUID).
    async fn users(&self, page: Page<Uuid>) -> StoreResult<Vec<User>>;
    /// Makes a change true as a whole or not at all. One administrator who is not disabled stays, however many changes
    /// come at the same time. `Conflict` when the version moved or the user is gone, `Replayed`.
    async fn change_user(&self, change: UserChange) -> StoreResult<UserChangeResult>;
    /// Notes that the code of a step was used; false when that of this step or a later one was before.
    async fn use_totp_step(&self, user: Uuid, step: i64) -> StoreResult<bool>;
    /// Uses a recovery code up; false when there is none like it.
    async fn use_recovery_code(&self, user: Uuid, code: Digest) -> StoreResult<bool>;
    /// How many recovery codes a user has left.
    async fn recovery_codes(&self, user: Uuid) -> StoreResult<usize>;
}
