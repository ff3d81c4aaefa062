//! People who sign in to an account's dashboard: persons, their sessions, and invitations.

use jiff::Timestamp;
use kit_identity::Digest;

use super::Id;
use crate::model::Role;

/// A person of an account. `disabled_at` and `must_change_password` are not used: an Admin removes a person.
pub type Person = kit_identity::user::User<Id, Profile>;
/// A person's session.
pub type PersonSession = kit_identity::sessions::Session<Id>;

/// A person's fields that only the provider has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Profile {
    /// The account that the person belongs to.
    pub account: Id,
    /// Name, for people.
    pub name: String,
    /// Role of the person.
    pub role: Role,
}

/// A link that works once, for a new person who joins an account, or for a person who chooses a new password.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Invitation {
    /// `inv_…`
    pub id: Id,
    /// The account.
    pub account: Id,
    /// Role of the person who joins.
    pub role: Role,
    /// The person who chooses a new password; none for a new person.
    pub person: Option<Id>,
    /// The inviting person's note about the recipient.
    pub note: String,
    /// Name of the person who created it, or of the operator.
    pub created_by: String,
    /// The person who created it; none for the operator. The link becomes invalid when this person is no longer an
    /// Admin.
    pub maker: Option<Id>,
    /// When it was created.
    pub created_at: Timestamp,
    /// SHA-256 of its code.
    pub hash: Digest,
    /// When it expires.
    pub expires_at: Timestamp,
}
