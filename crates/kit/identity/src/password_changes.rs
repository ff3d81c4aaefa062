//! Changes of passwords: by the user, by an administrator, and with a link.

use kit_runtime::vault::Secret;

use crate::identity::Identity;
use crate::passwords::BYTES_MAX;
use crate::refusal::{IdentityError, Refusal};
use crate::sessions::SessionsToEnd;
use crate::user::{Change, TotpChange, User};

/// Random bytes of a password that the server generates.
const GENERATED_PASSWORD_BYTES: usize = 16;

impl Identity<'_> {
    /// Verifies the password of a signed-in user. The caller takes an attempt first, so that an attacker with a stolen
    /// session can't guess the password. Errors: `password_refused`, `too_many_attempts`.
    pub async fn check_own_password<I, P>(&self, user: &User<I, P>, password: &Secret) -> Result<(), IdentityError> {
        let is_right =
            password.expose().len() <= BYTES_MAX && self.passwords.verify(password, Some(&user.password_hash)).await?;
        if is_right { Ok(()) } else { Err(Refusal::PasswordRefused.into()) }
    }

    /// A user's own new password. It ends the user's sessions but this one. Errors: `too_many_attempts`.
    pub async fn change_password<I: Clone, P>(
        &self,
        user: User<I, P>,
        session: I,
        new: &Secret,
    ) -> Result<Change<I, P>, IdentityError> {
        let password_hash = self.hash(new).await?;
        let ending = SessionsToEnd::AllBut(user.id.clone(), session);
        Ok(Change::to(User { password_hash, must_change_password: false, ..user }).ending(ending))
    }

    /// Another password of a user, which others have seen or not, and which ends all their sessions.
    pub fn reset_password<I: Clone, P>(
        &self,
        user: User<I, P>,
        password_hash: String,
        must_change_password: bool,
    ) -> Change<I, P> {
        let ending = SessionsToEnd::AllOf(user.id.clone());
        Change::to(User { password_hash, must_change_password, ..user }).ending(ending)
    }

    /// The password that a user chose with a link, because they have lost the password or the authenticator: it also turns
    /// the second factor off. Errors: `too_many_attempts`.
    pub async fn choose_password_by_link<I: Clone, P>(
        &self,
        user: User<I, P>,
        new: &Secret,
    ) -> Result<Change<I, P>, IdentityError> {
        let password_hash = self.hash(new).await?;
        Ok(self.reset_password(user, password_hash, false).with_totp(TotpChange::Remove))
    }

    /// The hash of a password. Errors: `too_many_attempts`.
    pub async fn hash(&self, password: &Secret) -> Result<String, IdentityError> {
        Ok(self.passwords.hash(self.random, password).await?)
    }

    /// The hash of a password, and the password itself if it was generated. Errors: `too_many_attempts`.
    pub async fn hash_or_generate(&self, password: Option<Secret>) -> Result<(String, Option<Secret>), IdentityError> {
        if let Some(password) = password {
            return Ok((self.hash(&password).await?, None));
        }
        let text = kit_runtime::ids::token(self.random, GENERATED_PASSWORD_BYTES);
        let made = Secret::new(text.into_bytes());
        Ok((self.hash(&made).await?, Some(made)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::identity::testing::{Fixture, secret, user};

    #[tokio::test]
    async fn an_own_new_password_keeps_the_session_it_was_entered_in() {
        let fixture = Fixture::new();
        let identity = fixture.identity();
        let before = User { must_change_password: true, ..user(7) };
        let change = identity.change_password(before, 70, &secret("correct horse")).await.unwrap();
        assert_eq!((change.expected_version, change.user.version), (1, 2));
        assert_eq!((change.ending, change.totp), (SessionsToEnd::AllBut(7, 70), TotpChange::Keep));
        assert!(!change.user.must_change_password);
        assert_eq!(identity.check_own_password(&change.user, &secret("correct horse")).await, Ok(()));
        for wrong in ["correct house".to_owned(), "x".repeat(BYTES_MAX + 1)] {
            let refused = identity.check_own_password(&change.user, &secret(&wrong)).await;
            assert_eq!(refused, Err(Refusal::PasswordRefused.into()));
        }
    }

    #[tokio::test]
    async fn a_reset_ends_all_sessions_and_a_link_turns_the_second_factor_off_too() {
        let fixture = Fixture::new();
        let identity = fixture.identity();
        let (hash, generated) = identity.hash_or_generate(None).await.unwrap();
        let reset = identity.reset_password(user(7), hash, true);
        assert_eq!((&reset.ending, &reset.totp), (&SessionsToEnd::AllOf(7), &TotpChange::Keep));
        assert!(reset.user.must_change_password);
        assert_eq!(identity.check_own_password(&reset.user, &generated.unwrap()).await, Ok(()));

        let (enrolled, _) = identity.enroll_second_factor(reset.user).unwrap();
        let chosen = identity.choose_password_by_link(enrolled.user, &secret("correct horse")).await.unwrap();
        assert_eq!((chosen.ending, chosen.totp), (SessionsToEnd::AllOf(7), TotpChange::Remove));
        assert!(!chosen.user.must_change_password && chosen.user.totp.is_none());
        assert_eq!((chosen.expected_version, chosen.user.version), (3, 4));
    }
}
