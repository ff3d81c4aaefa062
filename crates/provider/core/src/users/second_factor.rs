//! The second factor. A user enrolls it with the password and confirms it with a code; after that, each sign-in needs
//! a code. The user turns it off with a code. An Admin can create a link for a new password, which also turns it off.
//! `kit_identity::second_factor` decides.

use kit_identity::Refusal;
use kit_runtime::vault::Secret;

use crate::activity::{Action, Actor, ChangedValues, Subject};
use crate::caller::Caller;
use crate::error::ProviderResult;
use crate::model::{ActivityEntry, User};
use crate::provider::Provider;

pub use kit_identity::second_factor::Enrolled;

impl Provider {
    /// Enrolls a second factor of the caller. It replaces an unconfirmed second factor.
    ///
    /// 403 for an API key, 409. Errors: `password_refused`, `too_many_requests`, `second_factor_on`.
    pub async fn enroll_second_factor(&self, caller: &Caller, password: &Secret) -> ProviderResult<()> {
        let user = self.own_user(caller).await?;
        self.check_own_password(&user, password).await?;
        let (change, _) = self.identity().enroll_second_factor(user)?;
        self.write_user(change, None).await.map(drop)
    }

    /// The caller's unconfirmed second factor, if any. 403 for an API key.
    pub async fn enrolled_second_factor(&self, caller: &Caller) -> ProviderResult<Option<Enrolled>> {
        Ok(self.identity().enrolled_second_factor(&self.own_user(caller).await?)?)
    }

    /// Turns on the caller's second factor with one of its codes, and ends the caller's other sessions. Returns the
    /// recovery codes, which are shown once and not stored.
    ///
    /// 403 for an API key, 409. Errors: `code_refused`, `too_many_requests`, `second_factor_on`, `second_factor_off`
    /// (none was enrolled).
    pub async fn confirm_second_factor(&self, caller: &Caller, code: &str) -> ProviderResult<Vec<String>> {
        let user = self.own_user(caller).await?;
        let session = caller.require_user()?.session.clone();
        user.unconfirmed_totp()?;
        let taken = self.take_own_attempt(&user).await?;
        let activity = self.factor_entry(caller, &user, Action::SecondFactorOn);
        let (change, codes) = self.identity().confirm_second_factor(user, session, code)?;
        self.return_attempts(taken.after_sign_in()).await?;
        self.write_user(change, Some(activity)).await?;
        Ok(codes)
    }

    /// Turns off the caller's second factor with a code or a recovery code.
    ///
    /// 403 for an API key, 409. Errors: `code_refused`, `too_many_requests`, `second_factor_off`.
    pub async fn turn_off_second_factor(&self, caller: &Caller, code: &str) -> ProviderResult<()> {
        let user = self.own_user(caller).await?;
        user.require_second_factor()?;
        let taken = self.take_own_attempt(&user).await?;
        if !self.uses_code(&user, code).await? {
            return Err(Refusal::OwnCodeRefused.into());
        }
        self.return_attempts(taken.after_sign_in()).await?;
        let activity = self.factor_entry(caller, &user, Action::SecondFactorOff);
        let change = self.identity().turn_off_second_factor(user)?;
        self.write_user(change, Some(activity)).await.map(drop)
    }

    /// The number of unused recovery codes of the caller. 403 for an API key.
    pub async fn own_recovery_codes(&self, caller: &Caller) -> ProviderResult<usize> {
        caller.require_user()?;
        Ok(self.store().recovery_codes(&caller.key).await?)
    }

    /// Uses up a code or a recovery code. False when it is wrong or was used before.
    pub(super) async fn uses_code(&self, user: &User, code: &str) -> ProviderResult<bool> {
        match self.identity().use_of_code(user, code)? {
            Some(code) => Ok(self.store().use_code(&user.id, code).await?),
            None => Ok(false),
        }
    }

    fn factor_entry(&self, caller: &Caller, user: &User, action: Action) -> ActivityEntry {
        let subject = Subject { id: &user.id, name: &user.profile.name };
        self.activity_entry(&Actor::of_caller(caller), action, subject, ChangedValues::default())
    }
}
