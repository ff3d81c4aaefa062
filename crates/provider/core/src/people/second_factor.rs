//! The second factor. A person enrolls it with the password and confirms it with a code; after that, each sign-in needs
//! a code. The person turns it off with a code. An Admin can create a link for a new password, which also turns it off.

use kit_identity::totp;
use kit_runtime::vault::Secret;

use super::{refusal, totp_context};
use crate::activity::{Action, Actor, ChangedValues, Subject};
use crate::caller::Caller;
use crate::error::{ProviderError, ProviderResult};
use crate::model::{ActivityEntry, Person, Totp};
use crate::port::{PersonChange, SessionsToEnd, TotpChange};
use crate::provider::Provider;

/// A second factor that is not confirmed yet.
#[derive(Clone)]
pub struct Enrolled {
    /// The secret in base32, for entry in an authenticator.
    pub secret: String,
    /// The secret as an `otpauth://` URL, for a QR code.
    pub url: String,
}

impl Provider {
    /// Enrolls a second factor of the caller. It replaces an unconfirmed second factor.
    ///
    /// 403 for an API key, 409. Errors: `password_refused`, `too_many_requests`, `second_factor_on`.
    pub async fn enroll_second_factor(&self, caller: &Caller, password: &Secret) -> ProviderResult<()> {
        let person = self.own_person(caller).await?;
        self.check_own_password(&person, password).await?;
        if person.has_second_factor() {
            return Err(refusal::second_factor_on());
        }
        let mut secret = [0; totp::SECRET_BYTES];
        self.random().fill(&mut secret);
        let sealed = self.vault().seal(self.random(), &totp_context(&person.id), &secret);
        let waiting = Totp { secret: sealed, step: 0, confirmed_at: None };
        let (totp, ending) = (TotpChange::Set(waiting, Vec::new()), SessionsToEnd::Nothing);
        self.write_person(PersonChange { person, totp, ending, activity: None }).await.map(drop)
    }

    /// The caller's unconfirmed second factor, if any. 403 for an API key.
    pub async fn enrolled_second_factor(&self, caller: &Caller) -> ProviderResult<Option<Enrolled>> {
        let person = self.own_person(caller).await?;
        let Some(totp) = person.totp.as_ref().filter(|_| !person.has_second_factor()) else { return Ok(None) };
        let secret = self.vault().open(&totp_context(&person.id), &totp.secret).map_err(|error| {
            ProviderError::Internal(format!("the secret of a second factor can't be opened: {error}"))
        })?;
        let (secret, url) = (totp::in_base32(secret.expose()), totp::otpauth_url(&person.email, secret.expose()));
        Ok(Some(Enrolled { secret, url }))
    }

    /// Turns on the caller's second factor with one of its codes, and ends the caller's other sessions. Returns the
    /// recovery codes, which are shown once and not stored.
    ///
    /// 403 for an API key, 409. Errors: `code_refused`, `too_many_requests`, `second_factor_on`, `second_factor_off`
    /// (none was enrolled).
    pub async fn confirm_second_factor(&self, caller: &Caller, code: &str) -> ProviderResult<Vec<String>> {
        let person = self.own_person(caller).await?;
        let session = caller.require_person()?.session.to_string();
        let waiting = person.totp.clone().ok_or_else(refusal::second_factor_off)?;
        if person.has_second_factor() {
            return Err(refusal::second_factor_on());
        }
        let taken = self.take_attempt(&person.email, None, None).await?;
        let step = self.step_of(&person, &waiting, code.trim())?.ok_or_else(refusal::code_refused)?;
        self.give_back(taken).await?;
        let codes: Vec<String> = (0..totp::RECOVERY_CODES).map(|_| self.recovery_code()).collect();
        let hashes = codes.iter().map(|code| totp::recovery_hash(code)).collect();
        let on = Totp { step, confirmed_at: Some(self.now()), ..waiting };
        let activity = Some(self.factor_entry(caller, &person, Action::SecondFactorOn));
        let (totp, ending) = (TotpChange::Set(on, hashes), SessionsToEnd::AllBut(session));
        self.write_person(PersonChange { person, totp, ending, activity }).await?;
        Ok(codes)
    }

    /// Turns off the caller's second factor with a code or a recovery code.
    ///
    /// 403 for an API key, 409. Errors: `code_refused`, `too_many_requests`, `second_factor_off`.
    pub async fn turn_off_second_factor(&self, caller: &Caller, code: &str) -> ProviderResult<()> {
        let person = self.own_person(caller).await?;
        if !person.has_second_factor() {
            return Err(refusal::second_factor_off());
        }
        let taken = self.take_attempt(&person.email, None, None).await?;
        if !self.uses_code(&person, code).await? {
            return Err(refusal::code_refused());
        }
        self.give_back(taken).await?;
        let activity = Some(self.factor_entry(caller, &person, Action::SecondFactorOff));
        let (totp, ending) = (TotpChange::Remove, SessionsToEnd::Nothing);
        self.write_person(PersonChange { person, totp, ending, activity }).await.map(drop)
    }

    /// The number of unused recovery codes of the caller. 403 for an API key.
    pub async fn own_recovery_codes(&self, caller: &Caller) -> ProviderResult<usize> {
        caller.require_person()?;
        Ok(self.store().recovery_codes(&caller.key).await?)
    }

    fn factor_entry(&self, caller: &Caller, person: &Person, action: Action) -> ActivityEntry {
        let subject = Subject { id: &person.id, name: &person.name };
        self.activity_entry(&Actor::of_caller(caller), action, subject, ChangedValues::default())
    }

    fn recovery_code(&self) -> String {
        let mut random = [0; totp::RECOVERY_BYTES];
        self.random().fill(&mut random);
        totp::recovery_code(&random)
    }
}
