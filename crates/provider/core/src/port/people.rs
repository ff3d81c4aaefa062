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
    /// Replaces it and all recovery codes.
    Set(Totp, Vec<Digest>),
    /// Deletes it and its recovery codes.
    Remove,
}

/// A change of a person, with everything that is committed with it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PersonChange {
    /// The new state, with the version that the change was decided on: name, role and password are stored, and the version
    /// rises by one.
    pub person: Person,
    /// The change of the second factor; `totp` of `person` is ignored.
    pub totp: TotpChange,
    /// Sessions of the person that the change ends.
    pub ending: SessionsToEnd,
    /// Entry of the activity log.
    pub activity: Option<ActivityEntry>,
}

/// Which sessions of a person to end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SessionsToEnd {
    /// None.
    Nothing,
    /// This one.
    One(String),
    /// All.
    All,
    /// All but this one.
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

/// Who uses an invitation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum InvitedPerson {
    /// A new person joins.
    New(Box<Person>),
    /// A person gets a new password.
    Existing(Box<PersonChange>),
}

/// The use of an invitation, with everything that is committed with it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AcceptedInvitation {
    /// Its id.
    pub invitation: String,
    /// Who uses it.
    pub person: InvitedPerson,
    /// The session that begins with it.
    pub session: PersonSession,
    /// Entry of the activity log.
    pub activity: ActivityEntry,
}

/// People of accounts, and invitations. An account that has an Admin keeps one, however many changes run at the same time.
#[async_trait]
pub trait PeopleStore: Send + Sync {
    /// A person.
    async fn person(&self, id: &str) -> StoreResult<Option<Person>>;
    /// The person with this address, in lower case.
    async fn person_by_email(&self, email: &str) -> StoreResult<Option<Person>>;
    /// An account's people by id.
    async fn people(&self, account: &str, page: Page) -> StoreResult<Vec<Person>>;
    /// Commits a change as a whole or not at all. A person who is no Admin any more loses the links that they made, with the
    /// same commit. Error: `Conflict` when the person has another version or does not exist.
    async fn change_person(&self, change: PersonChange) -> StoreResult<PersonChangeResult>;
    /// Removes a person with their sessions, recovery codes, and the links for them and by them. Error: `Conflict` when the person has another
    /// version or does not exist.
    async fn remove_person(&self, person: Person, activity: ActivityEntry) -> StoreResult<PersonChangeResult>;
    /// Records that the code of a time step was used. False when the code of this step or a later one was used before.
    async fn use_totp_step(&self, person: &str, step: i64) -> StoreResult<bool>;
    /// Deletes a recovery code; false when it does not exist.
    async fn use_recovery_code(&self, person: &str, code: Digest) -> StoreResult<bool>;
    /// The number of unused recovery codes of a person.
    async fn recovery_codes(&self, person: &str) -> StoreResult<usize>;
    /// Adds an invitation; one for a person's new password replaces those before it. Errors: `NotFound` (account),
    /// `LimitReached` when the account would have more than `people_max` people and invitations, `Conflict` when its maker is
    /// no Admin of the account any more.
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
    /// Deletes the invitation, adds or changes the person and begins the session, in one transaction. Errors: `NotFound`
    /// when the invitation does not exist any more, `Taken("email")`, `Conflict` (the existing person changed).
    async fn accept_invitation(&self, accepted: AcceptedInvitation) -> StoreResult<()>;
}
