//! The second factor. A person enrolls it with the password and confirms it with a code; after that, each sign-in needs
//! a code. The person turns it off with a code. An Admin can create a link for a new password, which also turns it off.
//! `kit_identity::second_factor` decides.

use kit_identity::Refusal;
use kit_runtime::vault::Secret;

use crate::activity::{Action, Actor, ChangedValues, Subject};
use crate::caller::Caller;
use crate::error::ProviderResult;
use crate::model::{ActivityEntry, Person};
use crate::provider::Provider;

pub use kit_identity::second_factor::Enrolled;

impl Provider {
    /// Enrolls a second factor of the caller. It replaces an unconfirmed second factor.
    ///
    /// 403 for an API key, 409. Errors: `password_refused`, `too_many_requests`, `second_factor_on`.
    pub async fn enroll_second_factor(&self, caller: &Caller, password: &Secret) -> ProviderResult<()> {
        let person = self.own_person(caller).await?;
        self.check_own_password(&person, password).await?;
        let (change, _) = self.identity().enroll_second_factor(person)?;
        self.write_person(change, None).await.map(drop)
    }

    /// The caller's unconfirmed second factor, if any. 403 for an API key.
    pub async fn enrolled_second_factor(&self, caller: &Caller) -> ProviderResult<Option<Enrolled>> {
        Ok(self.identity().enrolled_second_factor(&self.own_person(caller).await?)?)
    }

    /// Turns on the caller's second factor with one of its codes, and ends the caller's other sessions. Returns the
    /// recovery codes, which are shown once and not stored.
    ///
    /// 403 for an API key, 409. Errors: `code_refused`, `too_many_requests`, `second_factor_on`, `second_factor_off`
    /// (none was enrolled).
    pub async fn confirm_second_factor(&self, caller: &Caller, code: &str) -> ProviderResult<Vec<String>> {
        let person = self.own_person(caller).await?;
        let session = caller.require_person()?.session.clone();
        person.unconfirmed_totp()?;
        let taken = self.take_own_attempt(&person).await?;
        let activity = self.factor_entry(caller, &person, Action::SecondFactorOn);
        let (change, codes) = self.identity().confirm_second_factor(person, session, code)?;
        self.return_attempts(taken.after_sign_in()).await?;
        self.write_person(change, Some(activity)).await?;
        Ok(codes)
    }

    /// Turns off the caller's second factor with a code or a recovery code.
    ///
    /// 403 for an API key, 409. Errors: `code_refused`, `too_many_requests`, `second_factor_off`.
    pub async fn turn_off_second_factor(&self, caller: &Caller, code: &str) -> ProviderResult<()> {
        let person = self.own_person(caller).await?;
        person.require_second_factor()?;
        let taken = self.take_own_attempt(&person).await?;
        if !self.uses_code(&person, code).await? {
            return Err(Refusal::OwnCodeRefused.into());
        }
        self.return_attempts(taken.after_sign_in()).await?;
        let activity = self.factor_entry(caller, &person, Action::SecondFactorOff);
        let change = self.identity().turn_off_second_factor(person)?;
        self.write_person(change, Some(activity)).await.map(drop)
    }

    /// The number of unused recovery codes of the caller. 403 for an API key.
    pub async fn own_recovery_codes(&self, caller: &Caller) -> ProviderResult<usize> {
        caller.require_person()?;
        Ok(self.store().recovery_codes(&caller.key).await?)
    }

    /// Uses up a code or a recovery code. False when it is wrong or was used before.
    pub(super) async fn uses_code(&self, person: &Person, code: &str) -> ProviderResult<bool> {
        match self.identity().use_of_code(person, code)? {
            Some(code) => Ok(self.store().use_code(&person.id, code).await?),
            None => Ok(false),
        }
    }

    fn factor_entry(&self, caller: &Caller, person: &Person, action: Action) -> ActivityEntry {
        let subject = Subject { id: &person.id, name: &person.profile.name };
        self.activity_entry(&Actor::of_caller(caller), action, subject, ChangedValues::default())
    }
}
