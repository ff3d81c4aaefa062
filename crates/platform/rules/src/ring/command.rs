//! The commands on an item in a webcast, and the decision that one command results in.

use uuid::Uuid;

use crate::{AuctionChange, BidLog, Bidder, ItemChange};

/// A command of the clerk, or an internet bid of a bidder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RingCommand {
    /// The clerk sends an item into the empty ring. A PASSED item is offered again by this. The first item sent begins
    /// the live phase.
    Send {
        /// True when this is the item of [`next_to_send`](crate::ring::next_to_send): the place moves to it.
        is_next: bool,
    },
    /// The clerk sets the asking price.
    SetAskingPrice {
        /// Minor units; at least 1.
        amount: i64,
        /// The clerk's confirmations. A price that needs one is rejected without it, with `large_jump` or `cancels_bids`.
        confirmed: ConfirmedPrice,
        /// The item's bids.
        log: BidLog,
    },
    /// The clerk enters a bid made in the room. The clerk sees the bidders, so neither a registration nor a spending
    /// limit is required; the paddle of a vendor and a suspended paddle are rejected.
    RoomBid {
        /// UUID of the bid.
        bid: Uuid,
        /// The bidder.
        bidder: Bidder,
        /// Minor units.
        amount: i64,
        /// The clerk confirmed an amount far above the asking price, which is rejected with `large_jump` otherwise.
        large_jump: bool,
    },
    /// The clerk enters a bid made in the room by a bidder whose paddle the clerk does not know yet. After the sale, the
    /// buyer is open until the clerk names them.
    OpenRoomBid {
        /// UUID of the bid.
        bid: Uuid,
        /// Minor units.
        amount: i64,
        /// As for [`RingCommand::RoomBid`].
        large_jump: bool,
    },
    /// The clerk enters an internet bid that reached the sale outside this API, such as one from another platform.
    RelayedBid {
        /// UUID of the bid.
        bid: Uuid,
        /// The bidder.
        bidder: Bidder,
        /// Minor units.
        amount: i64,
        /// As for [`RingCommand::RoomBid`].
        large_jump: bool,
    },
    /// A bidder bids over the API. The bid is pending until the clerk accepts it, unless the auction's setting is
    /// [`InternetBids::AcceptedAtOnce`](crate::InternetBids::AcceptedAtOnce).
    InternetBid {
        /// UUID of the bid.
        bid: Uuid,
        /// The bidder.
        bidder: Bidder,
        /// Minor units.
        amount: i64,
    },
    /// The clerk accepts a pending internet bid.
    AcceptPending {
        /// UUID of the bid.
        bid: Uuid,
        /// Its bidder, with the registration as it is now.
        bidder: Bidder,
    },
    /// The clerk bids for an absentee.
    CommissionBid {
        /// UUID of the bid.
        bid: Uuid,
        /// The absentee. The amount follows from the book: [`commission_amount`](crate::ring::commission_amount).
        bidder: Bidder,
        /// The item's bids.
        log: BidLog,
    },
    /// The clerk undoes the last bid: the bid that stood before it stands again. If a lowered asking price struck bids
    /// since, all of them count again instead.
    Undo {
        /// Why.
        reason: String,
        /// The item's bids.
        log: BidLog,
    },
    /// The clerk enters that a bidder retracts a bid. No earlier bid stands again.
    Retract {
        /// UUID of the bid.
        bid: Uuid,
        /// Why.
        reason: String,
        /// The item's bids.
        log: BidLog,
    },
    /// The clerk warns that the hammer is about to fall.
    FairWarning,
    /// The clerk pauses bidding: the platform accepts no bid until the clerk resumes it.
    Pause,
    /// The clerk resumes bidding.
    Resume,
    /// The clerk sells the item to the standing bid. The ring is empty afterwards. A sale that needs a confirmation is
    /// rejected without it, with `higher_bid_waits` or `reserve_not_met`.
    Sell {
        /// What the clerk confirmed.
        confirmed: Confirmed,
        /// The item's bids.
        log: BidLog,
    },
    /// The clerk passes the item: it is not sold, and its bids are over except for absentee bids. The ring is empty
    /// afterwards. While a higher bid waits, this is rejected with `higher_bid_waits` until it is confirmed.
    Pass {
        /// The clerk confirmed that the item is passed while a higher internet or commission bid waits.
        over_waiting_bid: bool,
        /// The item's bids.
        log: BidLog,
    },
    /// The clerk takes the item out of the ring, neither sold nor passed. It is LIVE, waits, and keeps its bids.
    Remove,
    /// The clerk makes a PASSED item LIVE again. It waits to be sent; another item may be in the ring.
    OfferAgain,
    /// The clerk reopens the lot that was sold or passed last: it returns to the empty ring, with the bid that stood.
    Reopen {
        /// Why.
        reason: String,
    },
}

/// What the clerk confirmed about a sale.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Confirmed {
    /// The price may be below the reserve.
    pub below_reserve: bool,
    /// A higher internet or commission bid may wait.
    pub over_waiting_bid: bool,
}

/// What the clerk confirmed about an asking price.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ConfirmedPrice {
    /// The price may be far above the present one, or far below it.
    pub large_jump: bool,
    /// The price may be at or below bids, which are struck.
    pub below_standing_bid: bool,
}

/// The changes of an item and of its auction's ring. The caller commits both or neither.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RingDecision {
    /// Changes of the item.
    pub item: Vec<ItemChange>,
    /// Changes of the auction; empty when the ring does not change.
    pub auction: Vec<AuctionChange>,
}
