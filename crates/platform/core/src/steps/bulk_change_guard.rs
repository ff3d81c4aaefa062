//! Rejects commands that a bulk change of their auction has not reached yet.

use platform_rules::{Auction, Item, Rejection};

use crate::Platform;
use crate::error::{PlatformError, PlatformResult};

impl Platform {
    /// Rejects with `items_following` while a bulk change of the auction is under way. A command that raises the
    /// auction's version calls this after it has read the auction. A bulk change that begins later conflicts with its
    /// commit.
    pub(crate) async fn require_no_bulk_change(&self, auction: &Auction) -> PlatformResult<()> {
        match self.store().bulk_change(auction.uuid).await? {
            Some(_) => Err(Rejection::ItemsFollowing.into()),
            None => Ok(()),
        }
    }

    /// Rejects with `items_following` a command on an item that the bulk change of its auction has not changed yet.
    pub(crate) async fn require_item_not_pending(&self, auction: &Auction, item: &Item) -> PlatformResult<()> {
        match self.store().bulk_change(auction.uuid).await? {
            Some(bulk_change) if bulk_change.covers(item.position) => Err(Rejection::ItemsFollowing.into()),
            _ => Ok(()),
        }
    }

    /// The error for a rejected command on an item: `items_following` when the item's status is outdated because a bulk
    /// change has not changed it yet; otherwise the rejection itself.
    pub(crate) async fn explain_rejection(
        &self,
        auction: &Auction,
        item: &Item,
        rejection: Rejection,
    ) -> PlatformError {
        if matches!(rejection, Rejection::ItemNotLive { .. } | Rejection::IllegalTransition { .. }) {
            match self.store().bulk_change(auction.uuid).await {
                Ok(Some(bulk_change))
                    if bulk_change.operation.changes_status() && bulk_change.covers(item.position) =>
                {
                    return Rejection::ItemsFollowing.into();
                }
                Ok(_) => {}
                Err(error) => return error.into(),
            }
        }
        rejection.into()
    }
}
