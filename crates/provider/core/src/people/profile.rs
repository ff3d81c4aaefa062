//! A person's own name and password.

use kit_identity::passwords::BYTES_MAX;
use kit_runtime::vault::Secret;

use super::refusal;
use crate::activity::{Action, Actor, ChangedValues, Subject};
use crate::caller::Caller;
use crate::error::{ProviderError, ProviderResult};
use crate::model::Person;
use crate::port::{PersonChange, SessionsToEnd, TotpChange};
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
        let values = ChangedValues::default().value("name", Some(&person.name), Some(&name));
        if values.is_empty() {
            return Ok(person);
        }
        let subject = Subject { id: &person.id, name: &name };
        let entry = self.activity_entry(&Actor::of_caller(caller), Action::PersonChanged, subject, values);
        let person = Person { name: name.clone(), ..person };
        let (totp, ending) = (TotpChange::Keep, SessionsToEnd::Nothing);
        self.write_person(PersonChange { person, totp, ending, activity: Some(entry) }).await
    }

    /// Changes the caller's password and ends the caller's other sessions.
    ///
    /// 403 for an API key, 409, 422. Errors: `password_refused`, `too_many_requests`.
    pub async fn change_own_password(&self, caller: &Caller, old: &Secret, new: &Secret) -> ProviderResult<Person> {
        let person = self.own_person(caller).await?;
        let session = caller.require_person()?.session.to_string();
        let mut errors = FieldErrors::default();
        errors.new_password(new, &person.email);
        errors.finish()?;
        self.check_own_password(&person, old).await?;
        let password_hash = self.sign_in_state().passwords.hash(self.random(), new).await?;
        let subject = Subject { id: &person.id, name: &person.name };
        let actor = Actor::of_caller(caller);
        let entry = self.activity_entry(&actor, Action::PasswordChanged, subject, ChangedValues::default());
        let person = Person { password_hash, ..person.clone() };
        let (totp, ending) = (TotpChange::Keep, SessionsToEnd::AllBut(session));
        self.write_person(PersonChange { person, totp, ending, activity: Some(entry) }).await
    }

    /// Verifies the signed-in person's password. It takes an attempt, so that an attacker with a stolen session can't
    /// guess the password.
    pub(super) async fn check_own_password(&self, person: &Person, password: &Secret) -> ProviderResult<()> {
        let taken = self.take_attempt(&person.email, None, None).await?;
        if password.expose().len() > BYTES_MAX
            || !self.sign_in_state().passwords.verify(password, Some(&person.password_hash)).await?
        {
            return Err(refusal::password_refused());
        }
        self.give_back_own(taken).await
    }
}
