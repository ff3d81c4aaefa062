//! Who bids: what the platform knows of them, given to the rules as facts.

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::paddle::require_name;
use crate::{Auction, Item, LogHash, Rejection};

/// A registration as a bid was decided on it: the entry that its log had come to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RegistrationRef {
    /// The registration.
    pub uuid: Uuid,
    /// Number of the last entry of its log.
    pub entry: i64,
    /// Hash of that entry.
    pub hash: LogHash,
}

/// A bidder as registered for the auction, at the moment of a command. The rules look nothing up: whoever calls them says
/// how things are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bidder {
    /// Paddle number, or whatever the caller names bidders by; 1 to 64 characters. All that others see of a bidder.
    pub paddle: String,
    /// The person or firm behind the paddle, when it is known: vendors and the auctioneer are told by it.
    pub party: Option<Uuid>,
    /// The registration for this auction; none for one whom the caller vouches for.
    pub registered: Option<RegistrationRef>,
    /// The registration for this auction was approved.
    pub approved: bool,
    /// Suspended from bidding.
    pub suspended: bool,
    /// What the bidder may spend in this auction, minor units; none for no limit.
    pub limit: Option<i64>,
    /// What is bound already in this auction, minor units: maxima that lead on other items, and hammer prices.
    pub committed: i64,
}

impl Bidder {
    /// A bidder whom the caller vouches for: approved, without a limit, and nobody's vendor.
    pub fn vouched_for(paddle: impl Into<String>) -> Self {
        let (paddle, party, registered, limit) = (paddle.into(), None, None, None);
        Self { paddle, party, registered, approved: true, suspended: false, limit, committed: 0 }
    }

    /// If this bidder may bid in the room at all. Whoever the clerk sees there needs no registration, and the clerk may let
    /// them go beyond a limit.
    pub(crate) fn require_admitted_to_room(&self, auction: &Auction, item: &Item) -> Result<(), Rejection> {
        require_name(&self.paddle)?;
        if self.suspended {
            return Err(Rejection::BidderSuspended);
        }
        self.require_no_interest(auction, item)
    }

    fn require_no_interest(&self, auction: &Auction, item: &Item) -> Result<(), Rejection> {
        let barred = |party| Some(party) == item.vendor || party == auction.auctioneer;
        if self.party.is_some_and(barred) { Err(Rejection::VendorBarred) } else { Ok(()) }
    }

    /// If this bidder may bid up to `maximum` on the item at all, whatever its price.
    pub(crate) fn require_allowed(&self, auction: &Auction, item: &Item, maximum: i64) -> Result<(), Rejection> {
        require_name(&self.paddle)?;
        if !self.approved {
            return Err(Rejection::BidderNotApproved);
        }
        if self.suspended {
            return Err(Rejection::BidderSuspended);
        }
        self.require_no_interest(auction, item)?;
        match self.limit {
            Some(limit) if self.committed.saturating_add(maximum) > limit => Err(Rejection::SpendingLimitReached),
            _ => Ok(()),
        }
    }
}
