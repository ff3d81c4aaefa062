//! Rehearses a webcast on a copy: a sandbox auction whose events are journalled and never published.

use contract::AuctionStatus;
use platform_rules::{Auction, AuctionKind, Rejection};
use uuid::Uuid;

use super::copy::{AuctionCopy, CopiedItems, CopyPurpose};
use super::shift::Shift;
use crate::error::PlatformResult;
use crate::port::Page;
use crate::sales::new_item::TITLE_CHARS_MAX;
use crate::{Caller, Platform, Scope};

/// Clerks that are assigned to a rehearsal.
const CLERKS_MAX: usize = 100;

impl Platform {
    /// Makes a copy of a webcast with all its lots, which is LIVE and has the same clerks. Nothing of it is published,
    /// whatever the clerk does.
    ///
    /// Errors: `not_found`, `wrong_auction_kind`, `items_following`, and those of [`Platform::copy_auction`] and
    /// [`Platform::change_auction_status`].
    pub async fn rehearse(&self, caller: &Caller, webcast: Uuid) -> PlatformResult<Auction> {
        caller.require(Scope::AuctionsWrite)?;
        let source = self.visible_auction(caller, webcast).await?;
        if source.kind != AuctionKind::Webcast {
            return Err(Rejection::WrongAuctionKind { needs: AuctionKind::Webcast }.into());
        }
        let title: String = format!("Rehearsal: {}", source.title).chars().take(TITLE_CHARS_MAX).collect();
        let copy =
            AuctionCopy { title: Some(title.trim().to_owned()), shift: Shift::Seconds(0), items: CopiedItems::All };
        let copied = self.copy_for(caller, webcast, (&copy, CopyPurpose::Rehearsal), None).await?.fresh()?;
        let rehearsal = copied.auction.uuid;
        let mut auction = copied.auction;
        for to in [AuctionStatus::Preview, AuctionStatus::Live] {
            auction = self.change_auction_status(caller, rehearsal, to, None, None).await?.fresh()?.auction;
            self.run_bulk_change_to_end(rehearsal).await?;
        }
        if caller.require_staff().is_ok() {
            let page = Page { after: None, limit: CLERKS_MAX };
            for (clerk, _) in self.store().clerks(webcast, page).await? {
                self.assign_clerk(caller, rehearsal, clerk.user).await?;
            }
        }
        Ok(auction)
    }
}
