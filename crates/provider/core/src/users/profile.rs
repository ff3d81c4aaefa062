//! A user's own name and password.

use kit_identity::user::Change;
use kit_runtime::vault::Secret;

use crate::activity::{Action, Actor, ChangedValues, Subject};
use crate::caller::Caller;
use crate::error::{ProviderError, ProviderResult};
use crate::model::{Profile, User};
use crate::provider::Provider;
use crate::validation::FieldErrors;

impl Provider {
    /// The signed-in caller, read from the store. 403 for an API key.
    pub(super) async fn own_user(&self, caller: &Caller) -> ProviderResult<User> {
        caller.require_user()?;
        self.store().user(&caller.key).await?.ok_or(ProviderError::Unauthenticated)
    }

    /// Changes the caller's name. 403 for an API key, 409, 422.
    pub async fn rename_self(&self, caller: &Caller, name: &str) -> ProviderResult<User> {
        let user = self.own_user(caller).await?;
        let mut errors = FieldErrors::default();
        errors.user_name(name);
        errors.finish()?;
        let name = name.trim().to_owned();
        let values = ChangedValues::default().value("name", Some(&user.profile.name), Some(&name));
        if values.is_empty() {
            return Ok(user);
        }
        let subject = Subject { id: &user.id, name: &name };
        let entry = self.activity_entry(&Actor::of_caller(caller), Action::UserChanged, subject, values);
        let profile = Profile { name, ..user.profile.clone() };
        self.write_user(Change::to(User { profile, ..user }), Some(entry)).await
    }

    /// Changes the caller's password and ends the caller's other sessions.
    ///
    /// 403 for an API key, 409, 422 (with a wrong current password among the faults). Errors: `password_refused`,
    /// `too_many_requests`.
    pub async fn change_own_password(&self, caller: &Caller, old: &Secret, new: &Secret) -> ProviderResult<User> {
        let user = self.own_user(caller).await?;
        let session = caller.require_user()?.session.clone();
        let mut errors = FieldErrors::default();
        errors.new_password(new, &user.email);
        match self.check_own_password(&user, old).await {
            Err(refused @ ProviderError::BadRequest { code: "password_refused", .. }) if !errors.is_empty() => {
                errors.fault("oldPassword", refused.to_string());
            }
            checked => checked?,
        }
        errors.finish()?;
        let subject = Subject { id: &user.id, name: &user.profile.name };
        let actor = Actor::of_caller(caller);
        let entry = self.activity_entry(&actor, Action::PasswordChanged, subject, ChangedValues::default());
        let change = self.identity().change_password(user, session, new).await?;
        self.write_user(change, Some(entry)).await
    }

    /// Verifies the signed-in user's password. It takes an attempt, so that an attacker with a stolen session can't
    /// guess the password.
    pub(super) async fn check_own_password(&self, user: &User, password: &Secret) -> ProviderResult<()> {
        let taken = self.take_own_attempt(user).await?;
        self.identity().check_own_password(user, password).await?;
        self.return_attempts(taken.one()).await
    }
}
