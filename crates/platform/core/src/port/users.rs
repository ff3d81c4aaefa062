//! Users and their second factors.

use async_trait::async_trait;
use jiff::Timestamp;
use kit_runtime::vault::Sealed;
use uuid::Uuid;

use super::{IdempotentAnswer, Page, ScreenLink, SessionsToEnd, StoreResult};

/// SHA-256 of a look-up key: a session token, a recovery code, or an account or address that tries to sign in.
pub type Digest = [u8; 32];

/// A person who signs in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct User {
    /// UUID, version 7.
    pub uuid: Uuid,
    /// E-mail address in lower case; unique.
    pub email: String,
    /// Role name; see `access::scope::Role`.
    pub role: String,
    /// Argon2id hash in PHC form.
    pub password_hash: String,
    /// When it was created.
    pub created_at: Timestamp,
    /// Number of its last change, from 1. A sign-in is not a change.
    pub version: i64,
    /// When the user was disabled.
    pub disabled_at: Option<Timestamp>,
    /// When it last signed in.
    pub signed_in_at: Option<Timestamp>,
    /// The second factor, when there is one.
    pub totp: Option<Totp>,
    /// True when the user has to choose another password before anything else.
    pub must_change_password: bool,
}

impl User {
    /// True when a sign-in needs a code: the user has a confirmed second factor.
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
    /// When the user confirmed it; none before.
    pub confirmed_at: Option<Timestamp>,
}

/// A change of a second factor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TotpChange {
    /// No change.
    Keep,
    /// Replaces it and all recovery codes.
    Set(Totp, Vec<Digest>),
    /// Deletes it and its recovery codes.
    Remove,
}

/// What becomes of the links that a user made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MadeLinks {
    /// They stay.
    Keep,
    /// Invitations and links of screens end. These new links, which have another maker, replace those of their screens, if the
    /// user made them and they are still the predecessors that the new links name.
    End(Vec<ScreenLink>),
}

/// A change of a user, with everything that is committed with it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UserChange {
    /// The version that it was decided on.
    pub expected_version: i64,
    /// The new state: role, password, `must_change_password`, `disabled_at` and version are stored.
    pub user: User,
    /// The change of the second factor; `totp` of `user` is ignored.
    pub totp: TotpChange,
    /// Sessions that the change ends.
    pub ending: SessionsToEnd,
    /// What becomes of the links that the user made.
    pub made_links: MadeLinks,
    /// The answer to store for the caller's idempotency key.
    pub answer: Option<IdempotentAnswer>,
}

/// The result of changing or removing a user.
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
    /// Commits a change as a whole or not at all. One enabled administrator always remains, however many changes run at
    /// the same time. `Conflict` when the version changed or the user does not exist; `Replayed`.
    async fn change_user(&self, change: UserChange) -> StoreResult<UserChangeResult>;
    /// Records that the code of a time step was used. False when the code of this step or a later one was used before.
    async fn use_totp_step(&self, user: Uuid, step: i64) -> StoreResult<bool>;
    /// Deletes a recovery code; false when it does not exist.
    async fn use_recovery_code(&self, user: Uuid, code: Digest) -> StoreResult<bool>;
    /// The number of unused recovery codes of a user.
    async fn recovery_codes(&self, user: Uuid) -> StoreResult<usize>;
    /// Stores a code that creates the first user, and deletes those that expired before `now`. False when a user
    /// exists; then nothing is stored.
    async fn put_setup_code(&self, code: Digest, expires_at: Timestamp, now: Timestamp) -> StoreResult<bool>;
    /// True if the code was stored, has not expired and was not used, and no user exists.
    async fn has_setup_code(&self, code: Digest, now: Timestamp) -> StoreResult<bool>;
}
