//! The second factor. A user enrolls it with the password and confirms it with a code; from then on a sign-in needs a
//! code. The user turns it off with a code, or an administrator does. `kit_identity::second_factor` decides.

use kit_runtime::vault::Secret;
use uuid::Uuid;

use super::Refusal;
use crate::access::access_log::AccessEvent;
use crate::error::PlatformResult;
use crate::port::User;
use crate::steps::idempotency::{IdempotentRequest, Outcome};
use crate::{Caller, Platform};

pub use kit_identity::second_factor::Enrolled;

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
        let (user, _) = self.signed_in_user(caller).await?;
        if let Some(answer) = self.replay_sealed(answering.as_ref()).await? {
            return Ok(Outcome::Replayed(answer));
        }
        self.check_own_password(&user, password).await?;
        let (change, enrolled) = self.identity().enroll_second_factor(user)?;
        let answer = answering.as_ref().map(|answering| self.seal_answer(answering.answer(&enrolled, self.now())));
        self.commit_user(change, answer, None).await?;
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
        let (user, session) = self.signed_in_user(caller).await?;
        if let Some(answer) = self.replay_sealed(answering.as_ref()).await? {
            return Ok(Outcome::Replayed(answer));
        }
        user.unconfirmed_totp()?;
        let (taken, id) = (self.take_own_attempt(&user).await?, user.id);
        let confirmed = self.identity().confirm_second_factor(user, session, code);
        let (change, codes) = confirmed.map_err(|error| self.refused(Some(id), None, error))?;
        self.return_attempts(taken.after_sign_in()).await?;
        let made = RecoveryCodes { user: change.user.clone(), codes };
        let answer = answering.as_ref().map(|answering| self.seal_answer(answering.answer(&made, self.now())));
        let note = self.note(caller, AccessEvent::SecondFactorOn { user: id })?;
        self.commit_user(change, answer, Some(note)).await?;
        tracing::info!(user = %id, "a user turned their second factor on");
        Ok(Outcome::Fresh(made))
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
        let (user, _) = self.signed_in_user(caller).await?;
        if let Some(answer) = self.replay(answering.as_ref()).await? {
            return Ok(Outcome::Replayed(answer));
        }
        user.require_second_factor()?;
        let taken = self.take_own_attempt(&user).await?;
        if !self.uses_code(&user, code).await? {
            return Err(self.refused(Some(user.id), None, Refusal::OwnCodeRefused));
        }
        self.return_attempts(taken.after_sign_in()).await?;
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
        self.turn_off(caller, user, answering).await
    }

    async fn turn_off(
        &self,
        caller: &Caller,
        user: User,
        answering: Option<IdempotentRequest<'_, User>>,
    ) -> PlatformResult<Outcome<User>> {
        let change = self.identity().turn_off_second_factor(user)?;
        let answer = answering.as_ref().map(|answering| answering.answer(&change.user, self.now()));
        let note = self.note(caller, AccessEvent::SecondFactorOff { user: change.user.id })?;
        let user = self.commit_user(change, answer, Some(note)).await?;
        tracing::info!(user = %user.id, by = caller.actor, "a second factor was turned off");
        Ok(Outcome::Fresh(user))
    }

    /// The number of unused recovery codes of the caller. Errors: `forbidden` (an API key).
    pub async fn own_recovery_codes(&self, caller: &Caller) -> PlatformResult<usize> {
        let (user, _) = self.signed_in_user(caller).await?;
        Ok(self.store().recovery_codes(user.id).await?)
    }

    /// Uses a code or a recovery code. False when it is wrong or was used before.
    pub(super) async fn uses_code(&self, user: &User, code: &str) -> PlatformResult<bool> {
        match self.identity().use_of_code(user, code)? {
            Some(code) => Ok(self.store().use_code(user.id, code).await?),
            None => Ok(false),
        }
    }
}
