//! Changes of what a user may do: another role, disabling and enabling. With the access end the links that the user made.

use kit_identity::user::Change;
use uuid::Uuid;

use super::administration::{check_covers, check_version};
use super::made_links::{EndedLinks, ReplacedScreenLink, ScreenLinksToEnd, loses_access};
use crate::access::access_log::AccessEvent;
use crate::error::PlatformResult;
use crate::port::{MadeLinks, Profile, SessionsToEnd, User, UserChange};
use crate::{Caller, Platform, Role};

/// The fields of a user to change; none keeps a field.
#[derive(Debug, Clone, Default)]
pub struct UserPatch {
    /// The new role.
    pub role: Option<Role>,
    /// True to disable the user, false to enable them.
    pub disabled: Option<bool>,
    /// If the user loses access: links of screens that end at once. The others are replaced.
    pub screen_links_to_end: ScreenLinksToEnd,
}

/// A user after a change, with what became of the links that they made.
#[derive(Debug, Clone)]
pub struct ChangedUser {
    /// The user.
    pub user: User,
    /// Number of invitations that were withdrawn.
    pub invitations_withdrawn: usize,
    /// Number of links of screens that ended.
    pub screen_links_ended: usize,
    /// Links that replace those that the user made.
    pub new_screen_links: Vec<ReplacedScreenLink>,
}

impl Platform {
    /// Gives a user another role, disables or enables them. That ends their sessions. If they may do less afterwards, their open
    /// invitations are withdrawn, and links of screens that they made are replaced or end, with the same commit.
    ///
    /// Errors: `forbidden`, `not_found`, `precondition_failed`, `last_administrator`, `busy`.
    pub async fn change_user(
        &self,
        caller: &Caller,
        uuid: Uuid,
        seen_version: Option<i64>,
        patch: UserPatch,
    ) -> PlatformResult<ChangedUser> {
        let user = self.changeable_user(caller, uuid).await?;
        check_version(&user, seen_version)?;
        let role = patch.role.map_or_else(|| user.profile.role.clone(), |role| role.name().to_owned());
        check_covers(caller, &role)?;
        let disabled_at = match patch.disabled {
            Some(true) => user.disabled_at.or(Some(self.now())),
            Some(false) => None,
            None => user.disabled_at,
        };
        let is_disabled = disabled_at.is_some();
        if role == user.profile.role && disabled_at == user.disabled_at {
            return Ok(ChangedUser::of(user, EndedLinks::default()));
        }
        let loses = Role::parse(&role).is_none_or(|role| loses_access(&user, role, is_disabled));
        let (links, made_links) = match loses {
            true => {
                let links = self.end_links_of(caller, uuid, &patch.screen_links_to_end).await?;
                let change = links.change();
                (links, change)
            }
            false => (EndedLinks::default(), MadeLinks::Keep),
        };
        let before = user.profile.role.clone();
        let user = User { profile: Profile { role, ..user.profile.clone() }, disabled_at, ..user };
        let event = AccessEvent::UserChanged {
            user: uuid,
            role_before: before.clone(),
            role: user.profile.role.clone(),
            disabled: is_disabled,
            invitations_withdrawn: links.invitations.clone(),
            screen_links_replaced: links.replaced.clone(),
            screen_links_ended: links.ended.clone(),
        };
        let note = self.note(caller, event)?;
        let change = Change::to(user).ending(SessionsToEnd::AllOf(uuid));
        let user = self.commit_user_change(UserChange { change, made_links, answer: None }, Some(note)).await?;
        tracing::info!(user = %uuid, role = user.profile.role, before, is_disabled, by = caller.actor, "a user was changed");
        Ok(ChangedUser::of(user, links))
    }
}

impl ChangedUser {
    fn of(user: User, links: EndedLinks) -> Self {
        Self {
            user,
            invitations_withdrawn: links.invitations.len(),
            screen_links_ended: links.ended.len(),
            new_screen_links: links.new_links,
        }
    }
}
