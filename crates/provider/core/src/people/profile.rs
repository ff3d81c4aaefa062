//! A person's own name and password.

use kit_identity::user::Change;
use kit_runtime::vault::Secret;

use crate::activity::{Action, Actor, ChangedValues, Subject};
use crate::caller::Caller;
use crate::error::{ProviderError, ProviderResult};
use crate::model::{Person, Profile};
use crate::provider::Provider;
use crate::validation::FieldErrors;

impl Provider {
    /// The signed-in caller, read from the store. 403 for an API key.
    pub(super) async fn own_person(&self, caller: &Caller) -> ProviderResult<Person> {
        caller.require_person()?;
        self.store().person(&caller.key).await?.ok_or(ProviderError::Unauthenticated)
    }

    /// Changes the caller's name. 403 for an API key, 409, 422.
    pub async fn rename_self(&self, caller: &Caller, name: &str) -> ProviderResult<Person> {
        let person = self.own_person(caller).await?;
        let mut errors = FieldErrors::default();
        errors.person_name(name);
        errors.finish()?;
        let name = name.trim().to_owned();
        let values = ChangedValues::default().value("name", Some(&person.profile.name), Some(&name));
        if values.is_empty() {
            return Ok(person);
        }
        let subject = Subject { id: &person.id, name: &name };
        let entry = self.activity_entry(&Actor::of_caller(caller), Action::PersonChanged, subject, values);
        let profile = Profile { name, ..person.profile.clone() };
        self.write_person(Change::to(Person { profile, ..person }), Some(entry)).await
    }

    /// Changes the caller's password and ends the caller's other sessions.
    ///
    /// 403 for an API key, 409, 422. Errors: `password_refused`, `too_many_requests`.
    pub async fn change_own_password(&self, caller: &Caller, old: &Secret, new: &Secret) -> ProviderResult<Person> {
        let person = self.own_person(caller).await?;
        let session = caller.require_person()?.session.clone();
        let mut errors = FieldErrors::default();
        errors.new_password(new, &person.email);
        errors.finish()?;
        self.check_own_password(&person, old).await?;
        let subject = Subject { id: &person.id, name: &person.profile.name };
        let actor = Actor::of_caller(caller);
        let entry = self.activity_entry(&actor, Action::PasswordChanged, subject, ChangedValues::default());
        let change = self.identity().change_password(person, session, new).await?;
        self.write_person(change, Some(entry)).await
    }

    /// Verifies the signed-in person's password. It takes an attempt, so that an attacker with a stolen session can't
    /// guess the password.
    pub(super) async fn check_own_password(&self, person: &Person, password: &Secret) -> ProviderResult<()> {
        let taken = self.take_own_attempt(person).await?;
        self.identity().check_own_password(person, password).await?;
        self.return_attempts(taken.one()).await
    }
}
