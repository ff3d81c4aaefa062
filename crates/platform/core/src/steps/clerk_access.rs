//! Confines clerks to the webcasts that they are assigned to.

use platform_rules::{Auction, AuctionKind};
use uuid::Uuid;

use crate::error::user_refusal::UserRefusal;
use crate::error::{PlatformError, PlatformResult};
use crate::{Caller, Platform, Role};

impl Platform {
    /// Rejects with `clerk_not_assigned` a user with the role clerk who is not assigned to this webcast. Reads the
    /// store.
    pub(crate) async fn require_clerk(&self, caller: &Caller, auction: &Auction) -> PlatformResult<()> {
        if caller.role != Some(Role::Clerk) {
            return Ok(());
        }
        if auction.kind != AuctionKind::Webcast {
            return Err(PlatformError::Forbidden(
                "clerks can only act on webcasts, and this is a timed auction".into(),
            ));
        }
        if self.store().is_clerk(auction.uuid, caller.id).await? {
            return Ok(());
        }
        Err(UserRefusal::ClerkNotAssigned.into())
    }

    /// False for a clerk who is not assigned to this webcast. Reads the store.
    pub(crate) async fn is_clerk_of(&self, caller: &Caller, webcast: Uuid) -> PlatformResult<bool> {
        Ok(caller.role != Some(Role::Clerk) || self.store().is_clerk(webcast, caller.id).await?)
    }

    /// As [`Platform::require_clerk`], for an auction that was not read yet. Errors: also `not_found` when the caller
    /// is a clerk.
    pub(crate) async fn require_clerk_of(&self, caller: &Caller, auction: Uuid) -> PlatformResult<()> {
        if caller.role != Some(Role::Clerk) {
            return Ok(());
        }
        let auction = self.visible_auction(caller, auction).await?;
        self.require_clerk(caller, &auction).await
    }

    /// An auction whose bidders the caller may see. A clerk may see the bidders of their own webcasts. Errors:
    /// `not_found`, `clerk_not_assigned`.
    pub(crate) async fn visible_bidders(&self, caller: &Caller, auction: Uuid) -> PlatformResult<Auction> {
        let auction = self.visible_auction(caller, auction).await?;
        self.require_clerk(caller, &auction).await?;
        Ok(auction)
    }
}
