//! The second factor. A user enrolls it with the password and confirms it with a code; from then on a sign-in needs a code.
//! The user turns it off with a code or a recovery code.
//!
//! Guarantee: a code works once, and so does a recovery code, because the store records its use.

use std::fmt::Display;

use kit_runtime::vault::Secret;

use crate::identity::Identity;
use crate::refusal::{IdentityError, Refusal};
use crate::sessions::SessionsToEnd;
use crate::user::{Change, Totp, TotpChange, User};
use crate::{Digest, totp};

/// A second factor that is not confirmed yet.
#[derive(Clone)]
pub struct Enrolled {
    /// The secret in base32, to be typed into an authenticator.
    pub secret: String,
    /// The secret as an `otpauth://` URL, to be shown as a QR code.
    pub url: String,
}

/// The one use of a code, which the wing's store records.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CodeUse {
    /// The code of a time step. It works if no code of this step or a later one was used before.
    Step(i64),
    /// A recovery code with this hash. It works if it exists, and is deleted.
    Recovery(Digest),
}

impl<I, P> User<I, P> {
    /// The second factor that waits for its first code. Errors: `second_factor_off`, `second_factor_on`.
    pub fn unconfirmed_totp(&self) -> Result<&Totp, Refusal> {
        let totp = self.totp.as_ref().ok_or(Refusal::SecondFactorOff)?;
        if totp.confirmed_at.is_some() { Err(Refusal::SecondFactorOn) } else { Ok(totp) }
    }

    /// Errors: `second_factor_off`.
    pub fn require_second_factor(&self) -> Result<(), Refusal> {
        if self.has_second_factor() { Ok(()) } else { Err(Refusal::SecondFactorOff) }
    }
}

impl Identity<'_> {
    /// Enrolls a second factor, in place of one that was never confirmed. Errors: `second_factor_on`.
    pub fn enroll_second_factor<I: Display, P>(
        &self,
        user: User<I, P>,
    ) -> Result<(Change<I, P>, Enrolled), IdentityError> {
        if user.has_second_factor() {
            return Err(Refusal::SecondFactorOn.into());
        }
        let mut secret = [0; totp::SECRET_BYTES];
        self.random.fill(&mut secret);
        let enrolled = Enrolled::of(&user.email, &secret);
        let sealed = self.vault.seal(self.random, &self.audience.totp_context(&user.id), &secret);
        let waiting = Totp { secret: sealed, step: 0, confirmed_at: None };
        Ok((Change::to(user).with_totp(TotpChange::Set(waiting, Vec::new())), enrolled))
    }

    /// The second factor that waits for its first code, to be shown again; none without one.
    pub fn enrolled_second_factor<I: Display, P>(&self, user: &User<I, P>) -> Result<Option<Enrolled>, IdentityError> {
        let Ok(totp) = user.unconfirmed_totp() else { return Ok(None) };
        let secret = self.open_secret(&user.id, totp)?;
        Ok(Some(Enrolled::of(&user.email, secret.expose())))
    }

    /// Turns the second factor on with one of its codes, and ends the user's sessions but this one. Returns the change and
    /// the recovery codes, which the wing shows once. Errors: `code_refused`, `second_factor_on`, `second_factor_off`.
    pub fn confirm_second_factor<I: Display + Clone, P>(
        &self,
        user: User<I, P>,
        session: I,
        code: &str,
    ) -> Result<(Change<I, P>, Vec<String>), IdentityError> {
        let waiting = user.unconfirmed_totp()?.clone();
        let step = self.step_of(&user.id, &waiting, code.trim())?.ok_or(Refusal::OwnCodeRefused)?;
        let codes: Vec<String> = (0..totp::RECOVERY_CODES).map(|_| self.recovery_code()).collect();
        let hashes = codes.iter().map(|code| totp::recovery_hash(code)).collect();
        let confirmed = Totp { step, confirmed_at: Some(self.now), ..waiting };
        let ending = SessionsToEnd::AllBut(user.id.clone(), session);
        Ok((Change::to(user).with_totp(TotpChange::Set(confirmed, hashes)).ending(ending), codes))
    }

    /// Turns the second factor off, confirmed or not. Errors: `second_factor_off`.
    pub fn turn_off_second_factor<I, P>(&self, user: User<I, P>) -> Result<Change<I, P>, Refusal> {
        if user.totp.is_none() {
            return Err(Refusal::SecondFactorOff);
        }
        Ok(Change::to(user).with_totp(TotpChange::Remove))
    }

    /// The use of a code or a recovery code, if it may be right; the store has the last word. None when it is wrong.
    pub fn use_of_code<I: Display, P>(&self, user: &User<I, P>, code: &str) -> Result<Option<CodeUse>, IdentityError> {
        let Some(totp) = &user.totp else { return Ok(None) };
        let code = code.trim();
        if !totp::is_like_a_code(code) {
            return Ok(Some(CodeUse::Recovery(totp::recovery_hash(code))));
        }
        Ok(self.step_of(&user.id, totp, code)?.map(CodeUse::Step))
    }

    fn step_of(&self, user: &impl Display, totp: &Totp, code: &str) -> Result<Option<i64>, IdentityError> {
        Ok(totp::step_of(self.open_secret(user, totp)?.expose(), code, self.now))
    }

    fn open_secret(&self, user: &impl Display, totp: &Totp) -> Result<Secret, IdentityError> {
        let secret = self.vault.open(&self.audience.totp_context(user), &totp.secret);
        secret.map_err(|error| IdentityError::failed("the secret of a second factor can't be opened", error))
    }

    fn recovery_code(&self) -> String {
        let mut random = [0; totp::RECOVERY_BYTES];
        self.random.fill(&mut random);
        totp::recovery_code(&random)
    }
}

impl Enrolled {
    fn of(email: &str, secret: &[u8]) -> Self {
        Self { secret: totp::in_base32(secret), url: totp::otpauth_url(email, secret) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::identity::testing::{Fixture, user};

    const MINUTE_S: i64 = 60;

    /// The code that an authenticator with this secret shows at the fixture's time.
    fn code(fixture: &Fixture, enrolled: &Enrolled) -> String {
        let secret = data_encoding::BASE32_NOPAD.decode(enrolled.secret.as_bytes()).unwrap();
        totp::code_at(&secret, fixture.now.as_second().div_euclid(30))
    }

    #[test]
    fn a_second_factor_is_on_after_its_first_code_and_ends_other_sessions() {
        let mut fixture = Fixture::new();
        let (change, enrolled) = fixture.identity().enroll_second_factor(user(7)).unwrap();
        assert_eq!((change.expected_version, change.user.version), (1, 2));
        assert_eq!(change.ending, SessionsToEnd::Nothing);
        assert!(!change.user.has_second_factor(), "it waits for its first code");
        let shown = fixture.identity().enrolled_second_factor(&change.user).unwrap().unwrap();
        assert_eq!(shown.secret, enrolled.secret);

        let wrong = fixture.identity().confirm_second_factor(change.user.clone(), 70, "000000");
        assert_eq!(wrong.unwrap_err(), Refusal::OwnCodeRefused.into());
        let right = code(&fixture, &enrolled);
        let confirmed = fixture.identity().confirm_second_factor(change.user, 70, &format!(" {right} "));
        let (change, codes) = confirmed.unwrap();
        assert_eq!((change.expected_version, change.user.version), (2, 3));
        assert_eq!(change.ending, SessionsToEnd::AllBut(7, 70));
        assert!(change.user.has_second_factor());
        let TotpChange::Set(set, hashes) = &change.totp else { panic!("{:?}", change.totp) };
        assert_eq!((Some(set), hashes.len()), (change.user.totp.as_ref(), totp::RECOVERY_CODES));
        assert_eq!(hashes[0], totp::recovery_hash(&codes[0]));

        fixture.now += std::time::Duration::from_secs(MINUTE_S.unsigned_abs());
        let identity = fixture.identity();
        let next = code(&fixture, &enrolled);
        let step = fixture.now.as_second() / 30;
        assert_eq!(identity.use_of_code(&change.user, &next), Ok(Some(CodeUse::Step(step))));
        assert_eq!(identity.use_of_code(&change.user, &right), Ok(None), "the code of a minute ago");
        assert_eq!(identity.use_of_code(&change.user, &codes[1]), Ok(Some(CodeUse::Recovery(hashes[1]))));
        assert_eq!(identity.use_of_code(&user(7), &next), Ok(None), "no second factor");

        let off = identity.turn_off_second_factor(change.user).unwrap();
        assert_eq!((off.expected_version, off.totp, off.user.totp), (3, TotpChange::Remove, None));
    }

    #[test]
    fn each_step_refuses_a_user_who_is_at_another_one() {
        let fixture = Fixture::new();
        let identity = fixture.identity();
        let off = Refusal::SecondFactorOff;
        assert_eq!(identity.confirm_second_factor(user(7), 70, "123456").unwrap_err(), off.clone().into());
        assert_eq!(identity.turn_off_second_factor(user(7)).unwrap_err(), off);
        let (change, enrolled) = identity.enroll_second_factor(user(7)).unwrap();
        assert_eq!(change.user.require_second_factor(), Err(off));
        let on = identity.confirm_second_factor(change.user, 70, &code(&fixture, &enrolled)).unwrap().0.user;
        assert_eq!(identity.enroll_second_factor(on.clone()).err(), Some(Refusal::SecondFactorOn.into()));
        assert_eq!(on.unconfirmed_totp(), Err(Refusal::SecondFactorOn));
        assert!(identity.enrolled_second_factor(&on).unwrap().is_none(), "its secret is never shown again");
    }

    #[test]
    fn a_secret_is_sealed_for_its_user() {
        let fixture = Fixture::new();
        let (change, _) = fixture.identity().enroll_second_factor(user(7)).unwrap();
        let stolen = User { totp: change.user.totp, ..user(8) };
        assert!(matches!(fixture.identity().use_of_code(&stolen, "123456"), Err(IdentityError::Failed(_))));
    }
}
