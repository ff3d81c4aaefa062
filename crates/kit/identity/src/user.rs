//! Users, and the one change that a use case decides on.

use jiff::Timestamp;
use kit_runtime::vault::Sealed;

use crate::Digest;
use crate::passwords::NO_PASSWORD;
use crate::sessions::SessionsToEnd;

/// Bytes of the longest e-mail address.
pub const EMAIL_BYTES_MAX: usize = 254;

/// A user, who signs in with a password. `I` is the type of ids of the wing, and `P` has the wing's own fields, such as the role.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct User<I, P> {
    /// The id, in order of creation.
    pub id: I,
    /// E-mail address in lower case; unique among the users of a wing.
    pub email: String,
    /// Argon2id hash in PHC form.
    pub password_hash: String,
    /// When the user was created.
    pub created_at: Timestamp,
    /// Number of the last change, from 1. A sign-in is not a change.
    pub version: i64,
    /// When the user was disabled; none in a wing that removes its users instead.
    pub disabled_at: Option<Timestamp>,
    /// When the user last signed in.
    pub signed_in_at: Option<Timestamp>,
    /// The second factor, when there is one.
    pub totp: Option<Totp>,
    /// True when the user has to choose another password before anything else.
    pub must_change_password: bool,
    /// The person at an issuer who signs in as this user by single sign-on.
    pub openid: Option<OpenIdentity>,
    /// The wing's own fields.
    pub profile: P,
}

impl<I, P> User<I, P> {
    /// A new user, who has not signed in.
    pub fn new(id: I, email: String, password_hash: String, created_at: Timestamp, profile: P) -> Self {
        Self {
            id,
            email,
            password_hash,
            created_at,
            version: 1,
            disabled_at: None,
            signed_in_at: None,
            totp: None,
            must_change_password: false,
            openid: None,
            profile,
        }
    }

    /// False for a user who was created by single sign-on and got no password since.
    pub fn has_password(&self) -> bool {
        self.password_hash != NO_PASSWORD
    }

    /// True when a sign-in needs a code: the user has a confirmed second factor.
    pub fn has_second_factor(&self) -> bool {
        self.totp.as_ref().is_some_and(|totp| totp.confirmed_at.is_some())
    }
}

/// A person at an issuer of OpenID Connect. Both texts are compared byte for byte; together they never name another person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenIdentity {
    /// Address of the issuer.
    pub issuer: String,
    /// The person's id at the issuer (`sub`).
    pub subject: String,
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

/// A change of a user, decided on one version of them. The wing's store commits all of it, with what the wing adds, in one
/// transaction, or nothing if the user has another version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change<I, P> {
    /// The version that it was decided on.
    pub expected_version: i64,
    /// The user after the change, with the next version.
    pub user: User<I, P>,
    /// The change of the second factor, in its stored form.
    pub totp: TotpChange,
    /// Sessions that the change ends.
    pub ending: SessionsToEnd<I>,
}

impl<I, P> Change<I, P> {
    /// The change to this state, which still has the version that it was decided on. It keeps the second factor and the
    /// sessions.
    pub fn to(user: User<I, P>) -> Self {
        let expected_version = user.version;
        let user = User { version: expected_version + 1, ..user };
        Self { expected_version, user, totp: TotpChange::Keep, ending: SessionsToEnd::Nothing }
    }

    /// The same change, which ends these sessions as well.
    pub fn ending(self, ending: SessionsToEnd<I>) -> Self {
        Self { ending, ..self }
    }

    /// The same change, which sets or removes the second factor as well.
    pub(crate) fn with_totp(mut self, totp: TotpChange) -> Self {
        match &totp {
            TotpChange::Keep => {}
            TotpChange::Set(set, _) => self.user.totp = Some(set.clone()),
            TotpChange::Remove => self.user.totp = None,
        }
        Self { totp, ..self }
    }
}

/// An e-mail address in the form that is stored and compared.
pub fn plain_email(email: &str) -> String {
    email.trim().to_lowercase()
}

/// True for text that may be an e-mail address: one `@` with text around it, no spaces, not too long.
pub fn is_email(email: &str) -> bool {
    let parts = email.split_once('@');
    let is_whole = parts.is_some_and(|(name, host)| !name.is_empty() && !host.is_empty() && !host.contains('@'));
    is_whole && email.len() <= EMAIL_BYTES_MAX && !email.chars().any(|c| c.is_whitespace() || c.is_control())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_has_one_at_sign_and_no_spaces() {
        for email in ["ann@example.com", "a@b", "ann+sale@auction-house.example"] {
            assert!(is_email(email), "{email}");
        }
        let too_long = format!("{}@example.com", "a".repeat(EMAIL_BYTES_MAX));
        for email in ["", "ann", "@example.com", "ann@", "a@b@c", "an n@example.com", "ann@example.com\n", &too_long] {
            assert!(!is_email(email), "{email:?}");
        }
        assert_eq!(plain_email(" Ann@Example.COM\n"), "ann@example.com");
    }
}
