//! People of accounts, and invitations.

use async_trait::async_trait;
use kit_identity::Digest;
use kit_identity::second_factor::CodeUse;
use kit_identity::user::Change;

use super::{Page, StoreResult};
use crate::model::{ActivityEntry, Id, Invitation, Person, PersonSession, Profile};

/// A change of a person, with everything that is committed with it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PersonChange {
    /// The change: name, role, password and version are stored, and the second factor as the change says.
    pub change: Change<Id, Profile>,
    /// Entry of the activity log.
    pub activity: Option<ActivityEntry>,
}

/// Which sessions to end.
pub type SessionsToEnd = kit_identity::sessions::SessionsToEnd<Id>;

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
    /// Records the use of a code. False when it was used before, a later one was used, or a recovery code does not exist.
    async fn use_code(&self, person: &str, code: CodeUse) -> StoreResult<bool>;
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
