//! Rules of screen links that [`crate::ring`], which has their use cases, shares with the removal of users.

use contract::AuctionStatus;
use platform_rules::Auction;

use crate::Platform;

const TOKEN_PREFIX: &str = "lwv_";
const TOKEN_RANDOM_BYTES: usize = 24;

/// True while links to the screens of a webcast can exist: the sale has not ended.
pub fn takes_screens(auction: &Auction) -> bool {
    !matches!(auction.status, AuctionStatus::Reconciliation | AuctionStatus::Archived)
}

impl Platform {
    /// A token that no other link has.
    pub(crate) fn new_screen_token(&self) -> String {
        format!("{TOKEN_PREFIX}{}", self.ids().token(TOKEN_RANDOM_BYTES))
    }
}
