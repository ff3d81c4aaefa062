//! Names of users: what people call them, on pages and in lists. The journal and the logs name a user by UUID, so a name can be
//! changed at any time.
//!
//! Everyone on the platform's staff sees the names of users. E-mail addresses are for those who may read users.

use std::collections::{BTreeMap, BTreeSet};

use kit_identity::user::Change;
use uuid::Uuid;

use super::administration::check_version;
use crate::access::access_log::AccessEvent;
use crate::error::{PlatformError, PlatformResult, Problem};
use crate::port::{Profile, User};
use crate::steps::input::check_shown_name;
use crate::{Caller, Platform, Scope};

/// Characters of a user's name.
pub const NAME_CHARS_MAX: usize = 100;
/// Users whose names one call reads.
const NAMES_READ_MAX: usize = 250;

/// How a user is shown to a caller.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct UserName {
    /// The name, if the user has one.
    pub name: Option<String>,
    /// The e-mail address, if the caller may read users.
    pub email: Option<String>,
}

impl UserName {
    /// The name, or else the e-mail address; none if there is neither for the caller.
    pub fn shown(&self) -> Option<&str> {
        self.name.as_deref().or(self.email.as_deref())
    }
}

/// How users are shown, by the actors `user:<uuid>` of the journal and the logs.
pub type UserNames = BTreeMap<Uuid, UserName>;

impl Profile {
    /// The profile with this role, without a name.
    pub fn of_role(role: impl Into<String>) -> Self {
        Self { role: role.into(), name: None }
    }
}

/// The name as it is stored; none for an empty one.
pub(super) fn checked_name(name: Option<&str>) -> Result<Option<String>, Problem> {
    let Some(name) = name.filter(|name| !name.is_empty()) else { return Ok(None) };
    check_shown_name(name, NAME_CHARS_MAX).map_err(|wrong| Problem::new("/name", wrong))?;
    Ok(Some(name.to_owned()))
}

impl Platform {
    /// Gives a user another name, or none. Their sessions go on.
    ///
    /// Errors: `forbidden`, `not_found`, `precondition_failed`, `invalid`, `busy`.
    pub async fn name_user(
        &self,
        caller: &Caller,
        uuid: Uuid,
        seen_version: Option<i64>,
        name: Option<&str>,
    ) -> PlatformResult<User> {
        let user = self.changeable_user(caller, uuid).await?;
        check_version(&user, seen_version)?;
        self.give_name(caller, user, name).await
    }

    /// Gives the caller another name, or none.
    ///
    /// Errors: `forbidden` (an API key), `invalid`, `busy`.
    pub async fn name_self(&self, caller: &Caller, name: Option<&str>) -> PlatformResult<User> {
        let (user, _) = self.signed_in_user(caller).await?;
        self.give_name(caller, user, name).await
    }

    async fn give_name(&self, caller: &Caller, user: User, name: Option<&str>) -> PlatformResult<User> {
        let name = checked_name(name).map_err(|problem| PlatformError::Invalid(vec![problem]))?;
        if user.profile.name == name {
            return Ok(user);
        }
        let note = self.note(caller, AccessEvent::UserNamed { user: user.id, name: name.clone() })?;
        let user = User { profile: Profile { name, ..user.profile.clone() }, ..user };
        let user = self.commit_user(Change::to(user), None, Some(note)).await?;
        tracing::info!(user = %user.id, by = caller.actor, "a user has another name");
        Ok(user)
    }

    /// How these actors are shown, without those who are no users, at most 250. Callers of a customer see no user.
    pub async fn user_names(
        &self,
        caller: &Caller,
        actors: impl IntoIterator<Item = &str>,
    ) -> PlatformResult<UserNames> {
        if caller.customer.is_some() {
            return Ok(UserNames::new());
        }
        let sees_addresses = caller.require_one_of(&[Scope::UsersRead, Scope::UsersWrite]).is_ok();
        let uuid = |actor: &str| Uuid::try_parse(actor.strip_prefix("user:")?).ok();
        let uuids: BTreeSet<Uuid> = actors.into_iter().filter_map(uuid).take(NAMES_READ_MAX).collect();
        let mut names = UserNames::new();
        for uuid in uuids {
            if let Some(user) = self.store().user(uuid).await? {
                let email = Some(user.email).filter(|_| sees_addresses || caller.id == uuid);
                names.insert(uuid, UserName { name: user.profile.name, email });
            }
        }
        Ok(names)
    }
}
