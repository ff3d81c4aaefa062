//! Users of accounts, and invitations.

use async_trait::async_trait;
use kit_identity::Digest;
use kit_identity::second_factor::CodeUse;
use kit_identity::user::{Change, OpenIdentity};

use super::{Page, StoreResult};
use crate::model::{ActivityEntry, Id, Invitation, Profile, User, UserSession};

/// A change of a user, with everything that is committed with it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UserChange {
    /// The change: name, role, password, `openid` and version are stored, and the second factor as the change says.
    pub change: Change<Id, Profile>,
    /// Entry of the activity log.
    pub activity: Option<ActivityEntry>,
}

/// Which sessions to end.
pub type SessionsToEnd = kit_identity::sessions::SessionsToEnd<Id>;

/// The result of changing or removing a user.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UserChangeResult {
    /// The change was made.
    Done,
    /// Nothing changed: the account would have no Admin.
    LastAdmin,
}

/// The result of adding a user by single sign-on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UserCreationResult {
    /// The user was added.
    Done,
    /// Nothing changed: the account removed a user with the address or the link of this one, and no user joined with the address
    /// since.
    Removed,
}

/// The user who uses an invitation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum InvitedUser {
    /// A new user joins.
    New(Box<User>),
    /// A user chooses a new password.
    Existing(Box<UserChange>),
}

/// The use of an invitation, with everything that is committed with it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AcceptedInvitation {
    /// Id of the invitation.
    pub invitation: String,
    /// The user who uses it.
    pub user: InvitedUser,
    /// The new session.
    pub session: UserSession,
    /// Entry of the activity log.
    pub activity: ActivityEntry,
}

/// Users of accounts, and invitations. An account with an Admin always keeps at least one, also with concurrent
/// changes.
#[async_trait]
pub trait UserStore: Send + Sync {
    /// A user.
    async fn user(&self, id: &str) -> StoreResult<Option<User>>;
    /// The user with this address, in lower case.
    async fn user_by_email(&self, email: &str) -> StoreResult<Option<User>>;
    /// The user who is linked to this person of an issuer.
    async fn user_by_openid(&self, identity: &OpenIdentity) -> StoreResult<Option<User>>;
    /// Adds a user of an account, unless the account removed them. Errors: `NotFound` (account), `Taken` (the address, or the
    /// person of an issuer), `LimitReached` when the account would have more than `users_max` users and invitations.
    async fn create_user(
        &self,
        user: User,
        users_max: usize,
        activity: ActivityEntry,
    ) -> StoreResult<UserCreationResult>;
    /// An account's users by id.
    async fn users(&self, account: &str, page: Page) -> StoreResult<Vec<User>>;
    /// Commits a change in one transaction. If the user is no longer an Admin, the transaction deletes the links that
    /// they created; if they have a lower role, the tokens of applications that they created. Errors: `Conflict` when the
    /// user has another version or does not exist, `Taken("openid")` when another user is linked to the person.
    async fn change_user(&self, change: UserChange) -> StoreResult<UserChangeResult>;
    /// Removes a user with their sessions, their recovery codes, the links for them and by them, and the tokens of
    /// applications that they created. The store keeps their address and their link to a person of an issuer, for the
    /// `removed_max` users whom the account removed last. Error: `Conflict` when the user has another version or does not
    /// exist.
    async fn remove_user(
        &self,
        user: User,
        removed_max: usize,
        activity: ActivityEntry,
    ) -> StoreResult<UserChangeResult>;
    /// Records the use of a code. False when it was used before, a later one was used, or a recovery code does not exist.
    async fn use_code(&self, user: &str, code: CodeUse) -> StoreResult<bool>;
    /// The number of unused recovery codes of a user.
    async fn recovery_codes(&self, user: &str) -> StoreResult<usize>;
    /// Adds an invitation. A link for a user's new password replaces earlier ones. Errors: `NotFound` (account),
    /// `LimitReached` when the account would have more than `users_max` users and invitations, `Conflict` when its
    /// maker is no longer an Admin of the account.
    async fn create_invitation(
        &self,
        invitation: Invitation,
        users_max: usize,
        activity: ActivityEntry,
    ) -> StoreResult<()>;
    /// The invitation with this hash, expired or not.
    async fn invitation_by_hash(&self, hash: Digest) -> StoreResult<Option<Invitation>>;
    /// An account's invitations by id.
    async fn invitations(&self, account: &str, page: Page) -> StoreResult<Vec<Invitation>>;
    /// Deletes an invitation. False when the account has no such invitation.
    async fn delete_invitation(&self, account: &str, id: &str, activity: ActivityEntry) -> StoreResult<bool>;
    /// Deletes the invitation, adds or changes the user and begins the session, in one transaction. A new user's address counts
    /// no longer as that of a removed user. Errors:
    /// `NotFound` when the invitation does not exist, `Taken("email")`, `Conflict` (the existing user changed).
    async fn accept_invitation(&self, accepted: AcceptedInvitation) -> StoreResult<()>;
}
