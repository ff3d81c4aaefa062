//! The status that an administrator requests for an auction.

use contract::AuctionStatus;

/// A requested status, with the reason if one is given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestedStatus {
    /// The status.
    pub to: AuctionStatus,
    /// Why; required to archive an auction that was never LIVE.
    pub reason: Option<String>,
    /// The caller confirmed that the auction is archived although buyers are open, which is refused with `buyers_open`
    /// otherwise.
    pub buyers_open: bool,
}

impl From<AuctionStatus> for RequestedStatus {
    fn from(to: AuctionStatus) -> Self {
        Self { to, reason: None, buyers_open: false }
    }
}
