//! Users who sign in to an account's dashboard, their sessions, and invitations.

use jiff::Timestamp;
use kit_identity::Digest;

use super::Id;
use crate::model::Role;

/// A user of an account. `disabled_at` and `must_change_password` are not used: an Admin removes a user.
pub type User = kit_identity::user::User<Id, Profile>;
/// A user's session.
pub type UserSession = kit_identity::sessions::Session<Id>;

/// A user's fields that only the provider has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Profile {
    /// The account that the user belongs to.
    pub account: Id,
    /// Name, for people.
    pub name: String,
    /// Role of the user.
    pub role: Role,
    /// The issuer of single sign-on vouched once that the e-mail address is the user's. Who joins by a link writes any address, so
    /// that it finds no user for single sign-on before.
    pub is_email_confirmed: bool,
}

/// A link that works once, for a new user who joins an account, or for a user who chooses a new password.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Invitation {
    /// `inv_…`
    pub id: Id,
    /// The account.
    pub account: Id,
    /// Role of the user who joins.
    pub role: Role,
    /// The user who chooses a new password; none for a new user.
    pub user: Option<Id>,
    /// The inviting user's note about the recipient.
    pub note: String,
    /// Name of the user who created it, or of the operator.
    pub created_by: String,
    /// The user who created it; none for the operator. The link becomes invalid when this user is no longer an
    /// Admin.
    pub maker: Option<Id>,
    /// When it was created.
    pub created_at: Timestamp,
    /// SHA-256 of its code.
    pub hash: Digest,
    /// When it expires.
    pub expires_at: Timestamp,
}
