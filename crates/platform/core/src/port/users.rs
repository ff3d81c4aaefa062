//! Users and their second factors.

use async_trait::async_trait;
use jiff::Timestamp;
use kit_identity::second_factor::CodeUse;
use kit_identity::user::Change;
use uuid::Uuid;

use super::{IdempotentAnswer, Page, ScreenLink, StoreResult};

pub use kit_identity::Digest;
pub use kit_identity::user::{OpenIdentity, Totp, TotpChange};

/// A user of the platform.
pub type User = kit_identity::user::User<Uuid, Profile>;

/// A user's fields that only the platform has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Profile {
    /// Role name; see `access::scope::Role`.
    pub role: String,
    /// What people call the user. None for a user without a name, whose e-mail address is shown.
    pub name: Option<String>,
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
    /// The change: role, name, password, `must_change_password`, `disabled_at`, `openid` and version are stored, and the
    /// second factor as the change says.
    pub change: Change<Uuid, Profile>,
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
    /// The user who is linked to this person of an issuer.
    async fn user_by_openid(&self, identity: &OpenIdentity) -> StoreResult<Option<User>>;
    /// In order of creation (UUID).
    async fn users(&self, page: Page<Uuid>) -> StoreResult<Vec<User>>;
    /// Commits a change as a whole or not at all. One enabled administrator always remains, however many changes run at
    /// the same time. `Conflict` when the version changed or the user does not exist; `Taken("openid")` when another user is
    /// linked to the person; `Replayed`.
    async fn change_user(&self, change: UserChange) -> StoreResult<UserChangeResult>;
    /// Records the use of a code. False when it was used before, a later one was used, or a recovery code does not exist.
    async fn use_code(&self, user: Uuid, code: CodeUse) -> StoreResult<bool>;
    /// The number of unused recovery codes of a user.
    async fn recovery_codes(&self, user: Uuid) -> StoreResult<usize>;
    /// Stores a code that creates the first user, and deletes those that expired before `now`. False when a user
    /// exists; then nothing is stored.
    async fn put_setup_code(&self, code: Digest, expires_at: Timestamp, now: Timestamp) -> StoreResult<bool>;
    /// True if the code was stored, has not expired and was not used, and no user exists.
    async fn has_setup_code(&self, code: Digest, now: Timestamp) -> StoreResult<bool>;
}
