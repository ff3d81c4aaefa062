//! Assignment of clerks to webcasts.

use platform_rules::{Auction, AuctionKind, Rejection};
use uuid::Uuid;

use crate::access::access_log::AccessEvent;
use crate::error::{PlatformError, PlatformResult};
use crate::port::{AccessChange, AccessChangeResult, Clerk, ClerkAssignResult, Page, User};
use crate::users::UserRefusal;
use crate::{Caller, Platform, Scope};

/// Clerks of one webcast, at most.
const CLERKS_MAX: usize = 100;

impl Platform {
    /// Clerks of a webcast, in order of their UUID. Errors: `forbidden`, `not_found`.
    pub async fn clerks(&self, caller: &Caller, auction: Uuid, page: Page<Uuid>) -> PlatformResult<Vec<(Clerk, User)>> {
        self.with_clerks(caller, auction).await?;
        Ok(self.store().clerks(auction, page).await?)
    }

    /// Assigns a clerk to a webcast. Repeating an assignment changes nothing.
    ///
    /// Errors: `forbidden`, `not_found` (auction, user), `wrong_auction_kind`, `auction_closed` (it is archived),
    /// `not_a_clerk`, `too_many_clerks`.
    pub async fn assign_clerk(&self, caller: &Caller, auction: Uuid, user: Uuid) -> PlatformResult<(Clerk, User)> {
        let webcast = self.with_clerks(caller, auction).await?;
        webcast.require_unarchived()?;
        let clerking = self.store().user(user).await?.ok_or(PlatformError::NotFound("user"))?;
        if webcast.kind != AuctionKind::Webcast {
            return Err(Rejection::WrongAuctionKind { needs: AuctionKind::Webcast }.into());
        }
        let clerk = Clerk { auction, user, assigned_at: self.now(), assigned_by: caller.actor.clone() };
        let note = self.note(caller, AccessEvent::ClerkAssigned { auction, user })?;
        let assignment = AccessChange::AssignClerk(clerk.clone(), CLERKS_MAX);
        let AccessChangeResult::Clerk(assigned) = self.store().apply_access_change(assignment, note).await? else {
            return Err(PlatformError::Internal("the store returned no assignment for a clerk".into()));
        };
        match assigned {
            ClerkAssignResult::Assigned => {
                tracing::info!(auction_id = %auction, %user, by = caller.actor, "a clerk was assigned to a webcast");
                Ok((clerk, clerking))
            }
            ClerkAssignResult::AlreadyAssigned => {
                let page = Page { after: None, limit: CLERKS_MAX };
                let before =
                    self.store().clerks(auction, page).await?.into_iter().find(|(clerk, _)| clerk.user == user);
                // Another request unassigned the clerk meanwhile.
                before.ok_or(PlatformError::Busy)
            }
            ClerkAssignResult::NotAClerk => Err(UserRefusal::NotAClerk.into()),
            ClerkAssignResult::LimitReached => Err(UserRefusal::TooManyClerks { maximum: CLERKS_MAX }.into()),
        }
    }

    /// Unassigns a clerk from a webcast, from their next command on. Repeating it changes nothing.
    ///
    /// Errors: `forbidden`, `not_found` (auction, user).
    pub async fn unassign_clerk(&self, caller: &Caller, auction: Uuid, user: Uuid) -> PlatformResult<()> {
        self.with_clerks(caller, auction).await?;
        self.store().user(user).await?.ok_or(PlatformError::NotFound("user"))?;
        let note = self.note(caller, AccessEvent::ClerkTakenOff { auction, user })?;
        if self.store().apply_access_change(AccessChange::UnassignClerk(auction, user), note).await?.is_recorded() {
            tracing::info!(auction_id = %auction, %user, by = caller.actor, "a clerk was unassigned from a webcast");
        }
        Ok(())
    }

    /// Users with the role clerk who can sign in, in order of creation: the candidates for an assignment. Errors:
    /// `forbidden`.
    pub async fn users_with_clerk_role(&self, caller: &Caller, page: Page<Uuid>) -> PlatformResult<Vec<User>> {
        caller.require_staff()?;
        caller.require(Scope::AuctionsWrite)?;
        Ok(self.store().users_with_clerk_role(page).await?)
    }

    /// Webcasts that the signed-in caller is assigned to, without ARCHIVED ones, in order of creation. Errors:
    /// `forbidden` (an API key).
    pub async fn own_webcasts(&self, caller: &Caller, page: Page<Uuid>) -> PlatformResult<Vec<Auction>> {
        if caller.session.is_none() {
            return Err(PlatformError::Forbidden("this call needs a signed-in user, not an API key".into()));
        }
        Ok(self.store().webcasts_of_clerk(caller.id, page).await?)
    }

    /// Webcasts that a user is assigned to, without ARCHIVED ones, in order of creation. Errors: `forbidden`,
    /// `not_found`.
    pub async fn webcasts_of_clerk(
        &self,
        caller: &Caller,
        user: Uuid,
        page: Page<Uuid>,
    ) -> PlatformResult<Vec<Auction>> {
        let user = self.user(caller, user).await?;
        Ok(self.store().webcasts_of_clerk(user.id, page).await?)
    }

    /// The auction, for callers who may list and appoint its clerks: users of the platform, not of a customer.
    async fn with_clerks(&self, caller: &Caller, auction: Uuid) -> PlatformResult<Auction> {
        caller.require(Scope::AuctionsWrite)?;
        let auction = self.visible_auction(caller, auction).await?;
        caller.require_staff()?;
        Ok(auction)
    }
}
