//! People of accounts, and invitations.

use async_trait::async_trait;
use kit_identity::Digest;

use super::{Page, StoreResult};
use crate::model::{ActivityEntry, Invitation, Person, PersonSession, Totp};

/// A change of a second factor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TotpChange {
    /// No change.
    Keep,
    /// Replaces the second factor and all recovery codes.
    Set(Totp, Vec<Digest>),
    /// Deletes the second factor and its recovery codes.
    Remove,
}

/// A change of a person, with everything that is committed with it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PersonChange {
    /// The new state, with the version that was read before the change. Name, role and password are stored, and the
    /// version is incremented.
    pub person: Person,
    /// The change of the second factor; `totp` of `person` is ignored.
    pub totp: TotpChange,
    /// The person's sessions that end with the change.
    pub ending: SessionsToEnd,
    /// Entry of the activity log.
    pub activity: Option<ActivityEntry>,
}

/// The sessions of a person to end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SessionsToEnd {
    /// No session.
    Nothing,
    /// This session.
    One(String),
    /// All sessions.
    All,
    /// All sessions but this one.
    AllBut(String),
}

/// The result of changing or removing a person.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PersonChangeResult {
    /// The change was made.
    Done,
    /// Nothing changed: the account would have no Admin.
    LastAdmin,
}

/// The person who uses an invitation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum InvitedPerson {
    /// A new person joins.
    New(Box<Person>),
    /// A person chooses a new password.
    Existing(Box<PersonChange>),
}

/// The use of an invitation, with everything that is committed with it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AcceptedInvitation {
    /// Id of the invitation.
    pub invitation: String,
    /// The person who uses it.
    pub person: InvitedPerson,
    /// The new session.
    pub session: PersonSession,
    /// Entry of the activity log.
    pub activity: ActivityEntry,
}

/// People of accounts, and invitations. An account with an Admin always keeps at least one, also with concurrent
/// changes.
#[async_trait]
pub trait PeopleStore: Send + Sync {
    /// A person.
    async fn person(&self, id: &str) -> StoreResult<Option<Person>>;
    /// The person with this address, in lower case.
    async fn person_by_email(&self, email: &str) -> StoreResult<Option<Person>>;
    /// An account's people by id.
    async fn people(&self, account: &str, page: Page) -> StoreResult<Vec<Person>>;
    /// Commits a change in one transaction. If the person is no longer an Admin, the transaction deletes the links that
    /// they created. Error: `Conflict` when the person has another version or does not exist.
    async fn change_person(&self, change: PersonChange) -> StoreResult<PersonChangeResult>;
    /// Removes a person with their sessions, their recovery codes, and the links for them and by them. Error:
    /// `Conflict` when the person has another version or does not exist.
    async fn remove_person(&self, person: Person, activity: ActivityEntry) -> StoreResult<PersonChangeResult>;
    /// Records that the code of a time step was used. False when the code of this step or a later one was used before.
    async fn use_totp_step(&self, person: &str, step: i64) -> StoreResult<bool>;
    /// Deletes a recovery code; false when it does not exist.
    async fn use_recovery_code(&self, person: &str, code: Digest) -> StoreResult<bool>;
    /// The number of unused recovery codes of a person.
    async fn recovery_codes(&self, person: &str) -> StoreResult<usize>;
    /// Adds an invitation. A link for a person's new password replaces earlier ones. Errors: `NotFound` (account),
    /// `LimitReached` when the account would have more than `people_max` people and invitations, `Conflict` when its
    /// maker is no longer an Admin of the account.
    async fn create_invitation(
        &self,
        invitation: Invitation,
        people_max: usize,
        activity: ActivityEntry,
    ) -> StoreResult<()>;
    /// The invitation with this hash, expired or not.
    async fn invitation_by_hash(&self, hash: Digest) -> StoreResult<Option<Invitation>>;
    /// An account's invitations by id.
    async fn invitations(&self, account: &str, page: Page) -> StoreResult<Vec<Invitation>>;
    /// Deletes an invitation. False when the account has no such invitation.
    async fn delete_invitation(&self, account: &str, id: &str, activity: ActivityEntry) -> StoreResult<bool>;
    /// Deletes the invitation, adds or changes the person and begins the session, in one transaction. Errors:
    /// `NotFound` when the invitation does not exist, `Taken("email")`, `Conflict` (the existing person changed).
    async fn accept_invitation(&self, accepted: AcceptedInvitation) -> StoreResult<()>;
}
