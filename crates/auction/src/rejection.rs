//! Why the rules refuse a command.

use jiff::Timestamp;
use uuid::Uuid;

use crate::AuctionKind;

/// A refusal. Nothing changed. [`Rejection::code`] is stable; the text is for people.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Rejection {
    /// No row of the transition table leads there for whoever asks.
    #[error("the status can't change from {} to {to}; {}", .from.unwrap_or("new"), legal_words(.legal))]
    IllegalTransition {
        /// Name of the status now; none for something that is being created.
        from: Option<&'static str>,
        /// Name of the status asked for.
        to: &'static str,
        /// Names of the statuses that could be asked for instead.
        legal: Vec<&'static str>,
    },
    /// Fields that the status needs are empty.
    #[error("fields are missing: {}", .fields.join(", "))]
    FieldsMissing {
        /// Their names, as JSON has them.
        fields: Vec<&'static str>,
    },
    /// A field holds what it can't.
    #[error("{field} {problem}")]
    FieldInvalid {
        /// Its name, as JSON has it.
        field: &'static str,
        /// What is wrong, after the name.
        problem: &'static str,
    },
    /// The change needs a reason.
    #[error("a reason is required")]
    ReasonRequired,
    /// The closing time, or the item's end, is not in the future.
    #[error("the end is not in the future")]
    EndNotInFuture,
    /// The item's effective end is still to come.
    #[error("the end is not reached yet")]
    EndNotReached,
    /// An auction is created LIVE without a LIVE item.
    #[error("no item is LIVE")]
    NoLiveItem,
    /// The auction has bids.
    #[error("the auction has bids")]
    AuctionHasBids,
    /// Items are still to be sold.
    #[error("items are not finished: {live} LIVE, {suspended} SUSPENDED")]
    ItemsNotFinished {
        /// Items that are LIVE.
        live: u64,
        /// Items that are SUSPENDED.
        suspended: u64,
    },
    /// The auction is not LIVE.
    #[error("the auction is {status}, not LIVE")]
    AuctionNotLive {
        /// Name of its status.
        status: &'static str,
    },
    /// The auction starts later.
    #[error("the auction starts at {starts_at}")]
    AuctionNotStarted {
        /// When.
        starts_at: Timestamp,
    },
    /// The auction was reconciled: its items are final.
    #[error("the auction is {status}: its items are final")]
    AuctionClosed {
        /// Name of its status.
        status: &'static str,
    },
    /// A command of webcasts in a timed auction, or the other way round.
    #[error("this is for {} auctions only", .needs.as_str())]
    WrongAuctionKind {
        /// What it is for.
        needs: AuctionKind,
    },
    /// The item is not LIVE.
    #[error("the item is {status}, not LIVE")]
    ItemNotLive {
        /// Name of its status.
        status: &'static str,
    },
    /// The item's effective end is over.
    #[error("the item ended at {ended_at}")]
    ItemEnded {
        /// When.
        ended_at: Timestamp,
    },
    /// The item has bids.
    #[error("the item has bids")]
    ItemHasBids,
    /// The item is in the ring: it has to leave it first.
    #[error("the item is in the ring")]
    ItemInRing,
    /// The item belongs to another auction.
    #[error("the item is not in this auction")]
    ItemNotInAuction,
    /// Below the minimum bid.
    #[error("the bid is below the minimum of {minimum}")]
    BidTooLow {
        /// Minimum bid, minor units.
        minimum: i64,
    },
    /// Above what the platform counts.
    #[error("the bid is above the maximum of {maximum}")]
    BidTooHigh {
        /// Maximum, minor units.
        maximum: i64,
    },
    /// Nobody has bid.
    #[error("there is no standing bid")]
    NoStandingBid,
    /// The price is below the reserve.
    #[error("the reserve is not met")]
    ReserveNotMet,
    /// The item is not in the ring.
    #[error("the item is not in the ring")]
    NotInRing,
    /// Another item is in the ring.
    #[error("item {item} is in the ring")]
    RingOccupied {
        /// The item in it.
        item: Uuid,
    },
}

impl Rejection {
    /// Stable word for programs.
    pub fn code(&self) -> &'static str {
        match self {
            Self::IllegalTransition { .. } => "illegal_transition",
            Self::FieldsMissing { .. } => "fields_missing",
            Self::FieldInvalid { .. } => "field_invalid",
            Self::ReasonRequired => "reason_required",
            Self::EndNotInFuture => "end_not_in_future",
            Self::EndNotReached => "end_not_reached",
            Self::NoLiveItem => "no_live_item",
            Self::AuctionHasBids => "auction_has_bids",
            Self::ItemsNotFinished { .. } => "items_not_finished",
            Self::AuctionNotLive { .. } => "auction_not_live",
            Self::AuctionNotStarted { .. } => "auction_not_started",
            Self::AuctionClosed { .. } => "auction_closed",
            Self::WrongAuctionKind { .. } => "wrong_auction_kind",
            Self::ItemNotLive { .. } => "item_not_live",
            Self::ItemEnded { .. } => "item_ended",
            Self::ItemHasBids => "item_has_bids",
            Self::ItemInRing => "item_in_ring",
            Self::ItemNotInAuction => "item_not_in_auction",
            Self::BidTooLow { .. } => "bid_too_low",
            Self::BidTooHigh { .. } => "bid_too_high",
            Self::NoStandingBid => "no_standing_bid",
            Self::ReserveNotMet => "reserve_not_met",
            Self::NotInRing => "not_in_ring",
            Self::RingOccupied { .. } => "ring_occupied",
        }
    }
}

fn legal_words(legal: &[&'static str]) -> String {
    if legal.is_empty() { "nothing can follow".to_owned() } else { format!("legal: {}", legal.join(", ")) }
}
