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
    /// What the person may do.
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
    /// True when a sign-in needs a code: the person has a confirmed second factor.
    pub fn has_second_factor(&self) -> bool {
        self.totp.as_ref().is_some_and(|totp| totp.confirmed_at.is_some())
    }
}

/// A person's second factor (RFC 6238).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Totp {
    /// The shared secret, sealed.
    pub secret: Sealed,
    /// The step of the last code that was used; its code and earlier ones are refused.
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
    /// What the browser called itself, shortened; none when it did not.
    pub browser: Option<String>,
    /// When the person signed in.
    pub created_at: Timestamp,
    /// When it ends, used or not.
    pub expires_at: Timestamp,
    /// When it was last used, to within a minute.
    pub last_used_at: Timestamp,
}

/// A link that works once: it lets a new person join an account, or a person choose a new password.
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
    /// Whom it is for, in the inviting person's words.
    pub note: String,
    /// Who made it: a person's name, or the operator.
    pub created_by: String,
    /// The person who made it; none for the operator. The link ends when they are no Admin any more.
    pub maker: Option<Id>,
    /// When it was made.
    pub created_at: Timestamp,
    /// SHA-256 of its code.
    pub hash: Digest,
    /// When it is void.
    pub expires_at: Timestamp,
}

impl Invitation {
    /// True if it has not expired.
    pub fn is_valid(&self, code: &str, now: Timestamp) -> bool {
        OneTimeCode { hash: self.hash, expires_at: self.expires_at, used_at: None }.accepts(code, now)
    }
}
