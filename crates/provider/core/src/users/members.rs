//! Management of the users of an account by its Admins.

use kit_identity::user::Change;

use super::refusal;
use crate::activity::{Action, Actor, ChangedValues, Subject};
use crate::caller::Caller;
use crate::error::{ProviderError, ProviderResult};
use crate::model::Role;
use crate::model::{ActivityEntry, Id, Profile, User};
use crate::page::{LIMIT_MAX, ListPage, PageRequest};
use crate::port::{Cursor, Order, StoreError, StoreResult, UserChange, UserChangeResult};
use crate::provider::Provider;

/// Removed users of an account whom single sign-on does not add again. An older one can come back by it.
const REMOVED_USERS_MAX: usize = 1_000;

impl Provider {
    /// Users of the account, oldest first. 403.
    pub async fn users(&self, caller: &Caller, page: &PageRequest) -> ProviderResult<ListPage<User>> {
        caller.require_role(Role::Viewer)?;
        let rows = self.store().users(&caller.account, page.to_store(Order::Ascending)).await?;
        Ok(page.slice(rows, |user| &user.id))
    }

    /// Whether the account has a user who can sign in.
    pub async fn has_users(&self, account: &str) -> ProviderResult<bool> {
        let page = PageRequest::first(1).to_store(Order::Ascending);
        Ok(!self.store().users(account, page).await?.is_empty())
    }

    /// A user of the account. 403, 404.
    pub async fn user(&self, caller: &Caller, id: &str) -> ProviderResult<User> {
        caller.require_role(Role::Viewer)?;
        let found = self.store().user(id).await?.filter(|user| user.profile.account == caller.account);
        found.ok_or(ProviderError::NotFound)
    }

    /// Whether the user is the only Admin of the account, who can't be removed or get another role. 403, 404.
    pub async fn is_last_admin(&self, caller: &Caller, id: &str) -> ProviderResult<bool> {
        if self.user(caller, id).await?.profile.role != Role::Admin {
            return Ok(false);
        }
        let mut page = PageRequest::first(LIMIT_MAX).to_store(Order::Ascending);
        loop {
            let users = self.store().users(&caller.account, page.clone()).await?;
            if users.iter().any(|user| user.profile.role == Role::Admin && *user.id != *id) {
                return Ok(false);
            }
            let Some(last) = users.last().filter(|_| users.len() == page.limit) else { return Ok(true) };
            page.from = Some(Cursor::After(last.id.to_string()));
        }
    }

    /// Changes the role of a user of the account, from their next request on. If the user is no longer an Admin,
    /// the open links that the user created are withdrawn in the same transaction. 403, 404; 409 (the last Admin, or
    /// changed at the same time).
    pub async fn change_role(&self, caller: &Caller, id: &str, role: Role) -> ProviderResult<User> {
        caller.require_role(Role::Admin)?;
        let user = self.user(caller, id).await?;
        if user.profile.role == role {
            return Ok(user);
        }
        let mut values = ChangedValues::default().value("role", Some(user.profile.role.title()), Some(role.title()));
        if role < Role::Admin {
            values = values.value("open links", self.describe_links(caller, id).await?.as_deref(), None);
        }
        let subject = Subject { id: &user.id, name: &user.profile.name };
        let entry = self.activity_entry(&Actor::of_caller(caller), Action::UserChanged, subject, values);
        let profile = Profile { role, ..user.profile.clone() };
        self.write_user(Change::to(User { profile, ..user }), Some(entry)).await
    }

    /// Removes a user of the account, ends their sessions and withdraws the open links that they created. Single sign-on does
    /// not add them again until they join by an invitation. 403, 404;
    /// 409 (the last Admin, or changed at the same time).
    pub async fn remove_user(&self, caller: &Caller, id: &str) -> ProviderResult<()> {
        caller.require_role(Role::Admin)?;
        let user = self.user(caller, id).await?;
        let values = ChangedValues::default().value("e-mail address", Some(&user.email), None).value(
            "role",
            Some(user.profile.role.title()),
            None,
        );
        let values = values.value("open links", self.describe_links(caller, id).await?.as_deref(), None);
        let subject = Subject { id: &user.id, name: &user.profile.name };
        let entry = self.activity_entry(&Actor::of_caller(caller), Action::UserRemoved, subject, values);
        changed(self.store().remove_user(user, REMOVED_USERS_MAX, entry).await)
    }

    /// The open links that a user created, as text for the activity log; none without links.
    async fn describe_links(&self, caller: &Caller, user: &str) -> ProviderResult<Option<String>> {
        let links = self.invitations_made_by(caller, user).await?;
        let descriptions: Vec<String> =
            links.iter().map(|link| format!("{} ({})", link.note, link.role.title())).collect();
        Ok((!descriptions.is_empty()).then(|| descriptions.join(", ")))
    }

    /// Commits a change of a user with its entry in the activity log.
    pub(super) async fn write_user(
        &self,
        change: Change<Id, Profile>,
        activity: Option<ActivityEntry>,
    ) -> ProviderResult<User> {
        let user = change.user.clone();
        changed(self.store().change_user(UserChange { change, activity }).await)?;
        Ok(user)
    }
}

fn changed(result: StoreResult<UserChangeResult>) -> ProviderResult<()> {
    match result {
        Ok(UserChangeResult::Done) => Ok(()),
        Ok(UserChangeResult::LastAdmin) => Err(refusal::last_admin()),
        Err(StoreError::Conflict) => Err(refusal::changed_meanwhile()),
        Err(error) => Err(error.into()),
    }
}
