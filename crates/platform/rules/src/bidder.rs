//! The bidder of a command: facts that the caller looks up and passes to the rules.

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::paddle::require_name;
use crate::{Auction, Item, LogHash, Rejection};

/// The registration that a bid was accepted under, with the last entry of its log at that moment.
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

/// A bidder as registered for the auction at the moment of a command. The caller looks these facts up; the rules do no
/// IO.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bidder {
    /// Paddle number, or another name that the caller gives bidders; 1 to 64 characters. Nothing else about a bidder is
    /// public.
    pub paddle: String,
    /// The person or firm behind the paddle, when it is known. The rules compare it with the vendor and the auctioneer.
    pub party: Option<Uuid>,
    /// Other records of the same person or firm, which were merged. The rules compare them, too.
    pub merged: Vec<Uuid>,
    /// The registration for this auction; none for a bidder whom the caller vouches for.
    pub registered: Option<RegistrationRef>,
    /// The registration for this auction was approved, or none is required.
    pub approved: bool,
    /// The registration waits for approval.
    pub pending: bool,
    /// Suspended from bidding.
    pub suspended: bool,
    /// Spending limit in this auction, minor units; none for no limit.
    pub limit: Option<i64>,
    /// Amount committed on other items of this auction, minor units: maxima of leading bids, and hammer prices.
    pub committed: i64,
}

impl Bidder {
    /// A bidder whom the caller vouches for: approved, without a spending limit, and not known to be a vendor.
    pub fn vouched_for(paddle: impl Into<String>) -> Self {
        Self {
            paddle: paddle.into(),
            party: None,
            merged: Vec::new(),
            registered: None,
            approved: true,
            pending: false,
            suspended: false,
            limit: None,
            committed: 0,
        }
    }

    /// Rejects a bidder who may not bid in the room. The clerk sees the bidder, so neither a registration nor a
    /// spending limit is required.
    pub(crate) fn require_admitted_to_room(&self, auction: &Auction, item: &Item) -> Result<(), Rejection> {
        require_name(&self.paddle)?;
        if self.suspended {
            return Err(Rejection::BidderSuspended);
        }
        self.require_no_interest(auction, item)
    }

    /// Rejects a bidder without a registration, whom a caller only vouches for.
    pub(crate) fn require_registered(&self) -> Result<(), Rejection> {
        self.registered.map(|_| ()).ok_or(Rejection::BuyerNotRegistered)
    }

    /// Rejects the item's vendor and the auctioneer.
    fn require_no_interest(&self, auction: &Auction, item: &Item) -> Result<(), Rejection> {
        let barred = |party: Uuid| Some(party) == item.vendor || party == auction.auctioneer;
        if self.party.into_iter().chain(self.merged.iter().copied()).any(barred) {
            Err(Rejection::VendorBarred)
        } else {
            Ok(())
        }
    }

    /// Rejects a bidder who may not bid up to `maximum` on the item, whatever its price.
    pub(crate) fn require_allowed(&self, auction: &Auction, item: &Item, maximum: i64) -> Result<(), Rejection> {
        require_name(&self.paddle)?;
        if !self.approved {
            return Err(Rejection::BidderNotApproved);
        }
        if self.suspended {
            return Err(Rejection::BidderSuspended);
        }
        self.require_no_interest(auction, item)?;
        self.require_within_limit(maximum)
    }
}
