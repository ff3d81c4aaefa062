//! People who sign in to an account's dashboard: persons, their sessions, and invitations.

use jiff::Timestamp;
use kit_identity::Digest;
use kit_identity::one_time::OneTimeCode;
use kit_runtime::vault::Sealed;

use super::Id;
use crate::people::Role;

/// A person of an account.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Person {
    /// `per_…`
    pub id: Id,
    /// The account that the person belongs to.
    pub account: Id,
    /// E-mail address in lower case; unique in the installation.
    pub email: String,
    /// Name, for people.
    pub name: String,
    /// Role of the person.
    pub role: Role,
    /// Argon2id hash in PHC form.
    pub password_hash: String,
    /// When the person joined.
    pub created_at: Timestamp,
    /// Number of the last change, from 1. A sign-in is not a change.
    pub version: i64,
    /// When the person last signed in.
    pub signed_in_at: Option<Timestamp>,
    /// The second factor, when there is one.
    pub totp: Option<Totp>,
}

impl Person {
    /// Whether a sign-in needs a code, because the person has a confirmed second factor.
    pub fn has_second_factor(&self) -> bool {
        self.totp.as_ref().is_some_and(|totp| totp.confirmed_at.is_some())
    }
}

/// A person's second factor (RFC 6238).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Totp {
    /// The shared secret, sealed.
    pub secret: Sealed,
    /// The time step of the last used code. This code and earlier codes are rejected.
    pub step: i64,
    /// When the person confirmed it; none before.
    pub confirmed_at: Option<Timestamp>,
}

/// A person's session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PersonSession {
    /// `ses_…`
    pub id: Id,
    /// SHA-256 of its token (192 random bits).
    pub hash: Digest,
    /// The person.
    pub person: Id,
    /// IP address of the sign-in; none when it is not known.
    pub address: Option<String>,
    /// Shortened `User-Agent` of the browser, if it sent one.
    pub browser: Option<String>,
    /// When the person signed in.
    pub created_at: Timestamp,
    /// When it ends, used or not.
    pub expires_at: Timestamp,
    /// When it was last used, to within a minute.
    pub last_used_at: Timestamp,
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

impl Invitation {
    /// Whether the code is correct and has not expired.
    pub fn is_valid(&self, code: &str, now: Timestamp) -> bool {
        OneTimeCode { hash: self.hash, expires_at: self.expires_at, used_at: None }.accepts(code, now)
    }
}
