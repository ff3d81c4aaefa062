//! The second factor. A user enrolls it with the password and confirms it with a code; from then on a sign-in needs a
//! code. The user turns it off with a code, or an administrator does.

use kit_identity::totp;
use kit_runtime::vault::Secret;
use uuid::Uuid;

use super::refusal::PeopleRefusal;
use super::totp_context;
use crate::access::access_log::AccessEvent;
use crate::error::{PlatformError, PlatformResult};
use crate::port::{SessionsToEnd, Totp, TotpChange, User};
use crate::steps::idempotency::{IdempotentRequest, Outcome};
use crate::{Caller, Platform};

/// A second factor that is not confirmed yet.
#[derive(Clone)]
pub struct Enrolled {
    /// The secret in base32, to be typed into an authenticator. The platform does not show it again.
    pub secret: String,
    /// The secret as an `otpauth://` URL, to be shown as a QR code.
    pub url: String,
}

/// Codes for the case that the authenticator is lost; each works once.
#[derive(Clone)]
pub struct RecoveryCodes {
    /// The user, whose second factor is on now.
    pub user: User,
    /// The codes. The platform does not show them again.
    pub codes: Vec<String>,
}

impl Platform {
    /// Enrolls a second factor of the caller; it replaces one that was never confirmed. The answer is stored sealed.
    ///
    /// Errors: `forbidden` (an API key), `password_refused`, `too_many_attempts`, `second_factor_on`, `busy`.
    pub async fn enroll_second_factor(
        &self,
        caller: &Caller,
        password: &Secret,
        answering: Option<IdempotentRequest<'_, Enrolled>>,
    ) -> PlatformResult<Outcome<Enrolled>> {
        let (user, _) = self.person(caller).await?;
        if let Some(answer) = self.replay_sealed(answering.as_ref()).await? {
            return Ok(Outcome::Replayed(answer));
        }
        self.check_own_password(&user, password).await?;
        if user.has_second_factor() {
            return Err(PeopleRefusal::SecondFactorOn.into());
        }
        let mut secret = [0; totp::SECRET_BYTES];
        self.random().fill(&mut secret);
        let enrolled = Enrolled { secret: totp::in_base32(&secret), url: totp::otpauth_url(&user.email, &secret) };
        let sealed = self.vault().seal(self.random().as_ref(), &totp_context(user.uuid), &secret);
        let waiting = Totp { secret: sealed, step: 0, confirmed_at: None };
        let answer = answering.as_ref().map(|answering| self.seal_answer(answering.answer(&enrolled, self.now())));
        self.write_user(user, TotpChange::Set(waiting, Vec::new()), SessionsToEnd::Nothing, answer, None).await?;
        Ok(Outcome::Fresh(enrolled))
    }

    /// Turns the caller's second factor on with one of its codes, and ends the caller's other sessions. The answer is
    /// stored sealed.
    ///
    /// Errors: `forbidden` (an API key), `code_refused`, `too_many_attempts`, `second_factor_on`, `second_factor_off`
    /// (none was enrolled), `busy`.
    pub async fn confirm_second_factor(
        &self,
        caller: &Caller,
        code: &str,
        answering: Option<IdempotentRequest<'_, RecoveryCodes>>,
    ) -> PlatformResult<Outcome<RecoveryCodes>> {
        let (user, session) = self.person(caller).await?;
        if let Some(answer) = self.replay_sealed(answering.as_ref()).await? {
            return Ok(Outcome::Replayed(answer));
        }
        let waiting = user.totp.clone().ok_or(PeopleRefusal::SecondFactorOff)?;
        if user.has_second_factor() {
            return Err(PeopleRefusal::SecondFactorOn.into());
        }
        let taken = self.take_attempt(&user.email, None).await?;
        let Some(step) = self.step_of(user.uuid, &waiting, code.trim())? else {
            return Err(self.refused(Some(&user), None, PeopleRefusal::OwnCodeRefused));
        };
        self.give_back(taken).await?;
        let codes: Vec<String> = (0..totp::RECOVERY_CODES).map(|_| self.recovery_code()).collect();
        let hashes = codes.iter().map(|code| totp::recovery_hash(code)).collect();
        let on = Totp { step, confirmed_at: Some(self.now()), ..waiting };
        let next = User { version: user.version + 1, totp: Some(on.clone()), ..user.clone() };
        let made = RecoveryCodes { user: next, codes };
        let answer = answering.as_ref().map(|answering| self.seal_answer(answering.answer(&made, self.now())));
        let ending = SessionsToEnd::AllBut(user.uuid, session);
        let note = self.note(caller, AccessEvent::SecondFactorOn { user: user.uuid })?;
        self.write_user(user, TotpChange::Set(on, hashes), ending, answer, Some(note)).await?;
        tracing::info!(user = %made.user.uuid, "a user turned their second factor on");
        Ok(Outcome::Fresh(made))
    }

    /// The time step of the code; none when the code is wrong or not current.
    pub(super) fn step_of(&self, user: Uuid, totp: &Totp, code: &str) -> PlatformResult<Option<i64>> {
        let secret = self.vault().open(&totp_context(user), &totp.secret);
        let secret = secret.map_err(|error| {
            PlatformError::Internal(format!("the secret of a second factor can't be opened: {error}"))
        })?;
        Ok(totp::step_of(secret.expose(), code, self.now()))
    }

    fn recovery_code(&self) -> String {
        let mut random = [0; totp::RECOVERY_BYTES];
        self.random().fill(&mut random);
        totp::recovery_code(&random)
    }

    /// Turns the caller's second factor off with a code or a recovery code.
    ///
    /// Errors: `forbidden` (an API key), `code_refused`, `too_many_attempts`, `second_factor_off`, `busy`.
    pub async fn turn_off_own_second_factor(
        &self,
        caller: &Caller,
        code: &str,
        answering: Option<IdempotentRequest<'_, User>>,
    ) -> PlatformResult<Outcome<User>> {
        let (user, _) = self.person(caller).await?;
        if let Some(answer) = self.replay(answering.as_ref()).await? {
            return Ok(Outcome::Replayed(answer));
        }
        if !user.has_second_factor() {
            return Err(PeopleRefusal::SecondFactorOff.into());
        }
        let taken = self.take_attempt(&user.email, None).await?;
        if !self.uses_code(&user, code).await? {
            return Err(self.refused(Some(&user), None, PeopleRefusal::OwnCodeRefused));
        }
        self.give_back(taken).await?;
        self.turn_off(caller, user, answering).await
    }

    /// Turns the second factor of any user off. Errors: `forbidden`, `not_found`, `second_factor_off`, `busy`.
    pub async fn turn_off_second_factor(
        &self,
        caller: &Caller,
        uuid: Uuid,
        answering: Option<IdempotentRequest<'_, User>>,
    ) -> PlatformResult<Outcome<User>> {
        let user = self.changeable_user(caller, uuid).await?;
        if let Some(answer) = self.replay(answering.as_ref()).await? {
            return Ok(Outcome::Replayed(answer));
        }
        if user.totp.is_none() {
            return Err(PeopleRefusal::SecondFactorOff.into());
        }
        self.turn_off(caller, user, answering).await
    }

    async fn turn_off(
        &self,
        caller: &Caller,
        user: User,
        answering: Option<IdempotentRequest<'_, User>>,
    ) -> PlatformResult<Outcome<User>> {
        let next = User { version: user.version + 1, totp: None, ..user.clone() };
        let answer = answering.as_ref().map(|answering| answering.answer(&next, self.now()));
        let note = self.note(caller, AccessEvent::SecondFactorOff { user: user.uuid })?;
        self.write_user(user, TotpChange::Remove, SessionsToEnd::Nothing, answer, Some(note)).await?;
        tracing::info!(user = %next.uuid, by = caller.actor, "a second factor was turned off");
        Ok(Outcome::Fresh(next))
    }

    /// The number of unused recovery codes of the caller. Errors: `forbidden` (an API key).
    pub async fn own_recovery_codes(&self, caller: &Caller) -> PlatformResult<usize> {
        let (user, _) = self.person(caller).await?;
        Ok(self.store().recovery_codes(user.uuid).await?)
    }
}
