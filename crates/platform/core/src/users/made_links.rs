//! Links that a user made: invitations, and links to screens. They end with the access of who made them.
//!
//! When a user is disabled, or gets a role that takes scopes away, the same commit withdraws their open invitations, and
//! replaces or ends the links of their screens. A replaced link goes on until its successor is used, for at most an hour, so that
//! no screen goes dark in the middle of a sale.

use std::time::Duration;

use kit_identity::one_time::link_with_code;
use kit_identity::token_hash;
use kit_runtime::vault::Secret;
use uuid::Uuid;

use crate::error::PlatformResult;
use crate::port::{Invitation, MadeLinks, Predecessor, ScreenLink, User};
use crate::{Caller, Platform, Role, Scope};

/// Time for which a replaced link still opens its screen, at most.
pub const REPLACED_LINK_VALID: Duration = Duration::from_secs(3_600);

/// The open links that a user made.
#[derive(Debug, Clone, Default)]
pub struct MadeByUser {
    /// Open invitations.
    pub invitations: Vec<Invitation>,
    /// Links of screens of sales that have not ended.
    pub screen_links: Vec<MadeScreenLink>,
}

/// A link of a screen, with the title of its sale.
#[derive(Debug, Clone)]
pub struct MadeScreenLink {
    /// The link.
    pub link: ScreenLink,
    /// Title of the webcast.
    pub sale: String,
}

/// A link that replaces one of a user who lost their access. The platform does not show its token again.
#[derive(Debug, Clone)]
pub struct ReplacedScreenLink {
    /// The new link.
    pub link: ScreenLink,
    /// Title of the webcast.
    pub sale: String,
    /// The token.
    pub token: Secret,
}

/// Which links of screens end at once, instead of being replaced.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum ScreenLinksToEnd {
    /// None: each is replaced.
    #[default]
    Nothing,
    /// All of them.
    All,
    /// These.
    These(Vec<Uuid>),
}

impl ReplacedScreenLink {
    /// The link, below the address of the administration.
    pub fn url(&self, administration: &str) -> String {
        link_with_code(&format!("{administration}/screens"), self.token.expose_str().unwrap_or_default())
    }
}

impl ScreenLinksToEnd {
    fn has(&self, link: Uuid) -> bool {
        match self {
            Self::Nothing => false,
            Self::All => true,
            Self::These(links) => links.contains(&link),
        }
    }
}

impl MadeByUser {
    /// The user made nothing that is still open.
    pub fn is_empty(&self) -> bool {
        self.invitations.is_empty() && self.screen_links.is_empty()
    }
}

/// What becomes of a user's links, decided.
#[derive(Default)]
pub(super) struct EndedLinks {
    pub(super) invitations: Vec<Uuid>,
    pub(super) replaced: Vec<Uuid>,
    pub(super) ended: Vec<Uuid>,
    pub(super) new_links: Vec<ReplacedScreenLink>,
}

impl EndedLinks {
    pub(super) fn change(&self) -> MadeLinks {
        MadeLinks::End(self.new_links.iter().map(|new| new.link.clone()).collect())
    }
}

/// True when the user may do less with this role, or nothing: then the links that they made end.
pub fn loses_access(user: &User, role: Role, is_disabled: bool) -> bool {
    let had = Role::parse(&user.profile.role).map(Role::scopes);
    is_disabled || had.is_some_and(|had| !role.scopes().covers(had))
}

impl Platform {
    /// Open invitations and links of screens that a user made. Errors: `forbidden`, `not_found`.
    pub async fn links_made_by(&self, caller: &Caller, user: Uuid) -> PlatformResult<MadeByUser> {
        let user = self.visible_user(caller, user).await?;
        self.open_links_of(user.id).await
    }

    async fn open_links_of(&self, user: Uuid) -> PlatformResult<MadeByUser> {
        let (actor, now) = (format!("user:{user}"), self.now());
        let invitations = self.open_invitations().await?;
        let invitations = invitations.into_iter().filter(|invitation| invitation.created_by == actor).collect();
        let mut screen_links = Vec::new();
        for link in self.store().screen_links_by(&actor).await? {
            if link.expires_at <= now {
                continue;
            }
            let webcast = self.store().auction(link.auction).await?;
            if let Some(webcast) = webcast.filter(crate::steps::screen_links::takes_screens) {
                screen_links.push(MadeScreenLink { link, sale: webcast.title });
            }
        }
        Ok(MadeByUser { invitations, screen_links })
    }

    /// Decides what becomes of the links of a user who loses access. A caller who may not set up screens ends them.
    pub(super) async fn end_links_of(
        &self,
        caller: &Caller,
        user: Uuid,
        to_end: &ScreenLinksToEnd,
    ) -> PlatformResult<EndedLinks> {
        let made = self.open_links_of(user).await?;
        let now = self.now();
        let mut decided = EndedLinks {
            invitations: made.invitations.iter().map(|invitation| invitation.uuid).collect(),
            ..EndedLinks::default()
        };
        // Who loses their own access gets no new links.
        let may_replace = caller.require(Scope::RingWrite).is_ok() && caller.id != user;
        for MadeScreenLink { link, sale } in made.screen_links {
            if !may_replace || to_end.has(link.uuid) {
                decided.ended.push(link.uuid);
                continue;
            }
            decided.replaced.push(link.uuid);
            let token = self.new_screen_token();
            let until = (now + REPLACED_LINK_VALID).min(link.expires_at);
            let link = ScreenLink {
                uuid: self.ids().uuid_v7(),
                predecessor: Some(Predecessor { hash: link.hash, until }),
                hash: token_hash(&token),
                created_at: now,
                created_by: caller.actor.clone(),
                last_used_at: None,
                ..link
            };
            decided.new_links.push(ReplacedScreenLink { link, sale, token: Secret::new(token.into_bytes()) });
        }
        Ok(decided)
    }
}
