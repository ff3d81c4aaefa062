//! Management of the people of an account by its Admins.

use kit_identity::user::Change;

use super::refusal;
use crate::activity::{Action, Actor, ChangedValues, Subject};
use crate::caller::Caller;
use crate::error::{ProviderError, ProviderResult};
use crate::model::Role;
use crate::model::{ActivityEntry, Id, Person, Profile};
use crate::page::{ListPage, PageRequest};
use crate::port::{Order, PersonChange, PersonChangeResult, StoreError, StoreResult};
use crate::provider::Provider;

impl Provider {
    /// People of the account, oldest first. 403.
    pub async fn people(&self, caller: &Caller, page: &PageRequest) -> ProviderResult<ListPage<Person>> {
        caller.require_role(Role::Viewer)?;
        let rows = self.store().people(&caller.account, page.to_store(Order::Ascending)).await?;
        Ok(page.slice(rows, |person| &person.id))
    }

    /// Whether the account has a person who can sign in.
    pub async fn has_people(&self, account: &str) -> ProviderResult<bool> {
        let page = PageRequest::first(1).to_store(Order::Ascending);
        Ok(!self.store().people(account, page).await?.is_empty())
    }

    /// A person of the account. 403, 404.
    pub async fn person(&self, caller: &Caller, id: &str) -> ProviderResult<Person> {
        caller.require_role(Role::Viewer)?;
        let found = self.store().person(id).await?.filter(|person| person.profile.account == caller.account);
        found.ok_or(ProviderError::NotFound)
    }

    /// Changes the role of a person of the account, from their next request on. If the person is no longer an Admin,
    /// the open links that the person created are withdrawn in the same transaction. 403, 404; 409 (the last Admin, or
    /// changed at the same time).
    pub async fn change_role(&self, caller: &Caller, id: &str, role: Role) -> ProviderResult<Person> {
        caller.require_role(Role::Admin)?;
        let person = self.person(caller, id).await?;
        if person.profile.role == role {
            return Ok(person);
        }
        let mut values = ChangedValues::default().value("role", Some(person.profile.role.title()), Some(role.title()));
        if role < Role::Admin {
            values = values.value("open links", self.describe_links(caller, id).await?.as_deref(), None);
        }
        let subject = Subject { id: &person.id, name: &person.profile.name };
        let entry = self.activity_entry(&Actor::of_caller(caller), Action::PersonChanged, subject, values);
        let profile = Profile { role, ..person.profile.clone() };
        self.write_person(Change::to(Person { profile, ..person }), Some(entry)).await
    }

    /// Removes a person of the account, ends their sessions and withdraws the open links that they created. 403, 404;
    /// 409 (the last Admin, or changed at the same time).
    pub async fn remove_person(&self, caller: &Caller, id: &str) -> ProviderResult<()> {
        caller.require_role(Role::Admin)?;
        let person = self.person(caller, id).await?;
        let values = ChangedValues::default().value("e-mail address", Some(&person.email), None).value(
            "role",
            Some(person.profile.role.title()),
            None,
        );
        let values = values.value("open links", self.describe_links(caller, id).await?.as_deref(), None);
        let subject = Subject { id: &person.id, name: &person.profile.name };
        let entry = self.activity_entry(&Actor::of_caller(caller), Action::PersonRemoved, subject, values);
        changed(self.store().remove_person(person, entry).await)
    }

    /// The open links that a person created, as text for the activity log; none without links.
    async fn describe_links(&self, caller: &Caller, person: &str) -> ProviderResult<Option<String>> {
        let links = self.invitations_made_by(caller, person).await?;
        let descriptions: Vec<String> =
            links.iter().map(|link| format!("{} ({})", link.note, link.role.title())).collect();
        Ok((!descriptions.is_empty()).then(|| descriptions.join(", ")))
    }

    /// Commits a change of a person with its entry in the activity log.
    pub(super) async fn write_person(
        &self,
        change: Change<Id, Profile>,
        activity: Option<ActivityEntry>,
    ) -> ProviderResult<Person> {
        let person = change.user.clone();
        changed(self.store().change_person(PersonChange { change, activity }).await)?;
        Ok(person)
    }
}

fn changed(result: StoreResult<PersonChangeResult>) -> ProviderResult<()> {
    match result {
        Ok(PersonChangeResult::Done) => Ok(()),
        Ok(PersonChangeResult::LastAdmin) => Err(refusal::last_admin()),
        Err(StoreError::Conflict) => Err(refusal::changed_meanwhile()),
        Err(error) => Err(error.into()),
    }
}
