//! Why the rules refuse a command.

use contract::AuctionStatus;
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
    /// A sum of amounts has no room in 64 bits.
    #[error("the sum is beyond {} minor units: correct the prices that can't be right", i64::MAX)]
    SumTooLarge,
    /// A field holds what it can't.
    #[error("{field} {problem}")]
    FieldInvalid {
        /// Its name, as JSON has it.
        field: &'static str,
        /// What is wrong, after the name.
        problem: &'static str,
    },
    /// Fields that can't change any more, or not by this command.
    #[error("can't be changed now: {} ({why})", .fields.join(", "))]
    FieldsLocked {
        /// Their names, as JSON has them.
        fields: Vec<&'static str>,
        /// Why the first of them is.
        why: &'static str,
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
    #[error("the auction starts at {starts_at:.3}")]
    AuctionNotStarted {
        /// When.
        starts_at: Timestamp,
    },
    /// The auction was reconciled: its items are final. When it is archived, so is all else.
    #[error("the auction is {status}: {}", closed_words(.status))]
    AuctionClosed {
        /// Name of its status.
        status: &'static str,
    },
    /// The auction was changed as a whole, and its items follow piece by piece.
    #[error("the items of this auction are still following its last change: try again in a moment")]
    ItemsFollowing,
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
    #[error("the item ended at {ended_at:.3}")]
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
    /// The minimum bid would be above what the platform counts.
    #[error("the price is so near the maximum of {maximum} that no bid can follow")]
    PriceAtMaximum {
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
    /// The item's log is full.
    #[error("the item has {maximum} bids, and takes no more")]
    TooManyBids {
        /// Bids, at most.
        maximum: i64,
    },
    /// The registration is not approved.
    #[error("the bidder's registration for this auction is not approved")]
    BidderNotApproved,
    /// The paddle has bid: it stays who it is.
    #[error(
        "paddle {paddle} has bid in this auction, and bids name their bidder by it: it can't be given or taken any more"
    )]
    PaddleHasBid {
        /// The paddle.
        paddle: String,
    },
    /// A party can't be entered for this paddle: it has bid on an item of theirs.
    #[error(
        "paddle {paddle} has bid on lot {lot_number}, which this party sells: cancel the bid first, or take the sale back"
    )]
    VendorHasBid {
        /// The paddle.
        paddle: String,
        /// The lot.
        lot_number: String,
    },
    /// The bidder is suspended.
    #[error("the bidder is suspended from bidding")]
    BidderSuspended,
    /// The bidder is the item's vendor, or the auctioneer.
    #[error("vendors and auctioneers can't bid on what they sell")]
    VendorBarred,
    /// The bid goes beyond what the bidder may spend.
    #[error(
        "the bid goes beyond the bidder's spending limit for this auction, with what they lead and have bought in it: bid \
         less, or have the limit raised"
    )]
    SpendingLimitReached,
    /// The bidder leads already, and the bid is no higher than their maximum, which is not told.
    #[error("this bidder leads already, with a maximum that is as high or higher: bid more to raise it")]
    MaximumNotRaised,
    /// The bidder would bid against themselves.
    #[error("the bidder's own bid stands already")]
    AlreadyLeading,
    /// The item can't be bought at once.
    #[error("the item has no buy-now price")]
    NoBuyNow,
    /// The price has reached the buy-now price.
    #[error("the price has reached the buy-now price of {buy_now}: bid instead")]
    BuyNowOver {
        /// The buy-now price, minor units.
        buy_now: i64,
    },
    /// The item has no such bid.
    #[error("the item has no such bid")]
    BidNotFound,
    /// The bid does not count any more.
    #[error("the bid was cancelled, undone or retracted already")]
    BidStruck,
    /// The log that was given is not the item's whole log.
    #[error("bids are missing from the item's log: load them all")]
    BidLogIncomplete,
    /// No bid stands that was taken in the ring.
    #[error("there is no bid to undo")]
    NothingToUndo,
    /// Bidding is paused.
    #[error("bidding is paused: resume it first")]
    RingPaused,
    /// Bidding goes on already.
    #[error("bidding is not paused")]
    NotPaused,
    /// The webcast has begun.
    #[error("the webcast is live: absentee bids are closed")]
    PreBiddingOver,
    /// No such internet bid waits.
    #[error("no such internet bid waits")]
    NotPending,
    /// No more internet bids can wait.
    #[error("{maximum} internet bids wait already")]
    TooManyPending {
        /// Bids that can wait.
        maximum: usize,
    },
    /// This bidder left no commission.
    #[error("this bidder left no commission")]
    NoCommission,
    /// The bid goes beyond what its absentee left.
    #[error("the bid goes beyond the commission")]
    CommissionExceeded,
    /// The item was not the last one in the ring.
    #[error("only the item that was sold or passed last can be reopened, while no other was sent or removed")]
    NotLastItem,
    /// The end would not move forward.
    #[error("an end moves forward only, and into the future")]
    EndNotLater,
    /// Only a PASSED item is offered again.
    #[error("the item is {status}, not PASSED")]
    ItemNotPassed {
        /// Name of its status.
        status: &'static str,
    },
    /// Only an UNSOLD item is relisted.
    #[error("the item is {status}, not UNSOLD")]
    ItemNotUnsold {
        /// Name of its status.
        status: &'static str,
    },
    /// Nothing is left to relist.
    #[error("the auction has no UNSOLD item that is not relisted yet")]
    NothingToRelist,
    /// It is offered elsewhere already.
    #[error("the item was relisted as {item}")]
    AlreadyRelisted {
        /// As what.
        item: Uuid,
    },
    /// The record would tell of what absentees left.
    #[error(
        "the record of a webcast's item is open when its sale is over: before, it would tell that absentees have left bids. \
         A key with the scope ring:write is given it now"
    )]
    RecordNotOpen,
    /// The other auction can't take it.
    #[error("an item is relisted into another auction of its customer in the same currency")]
    RelistedElsewhere,
    /// A real item and a sandbox auction, or the other way round.
    #[error("an item of a sandbox auction stays among sandbox auctions, and a real one among real ones")]
    SandboxMismatch,
    /// A real auction's clock is the server's.
    #[error("the auction is real, and the server's clock is never advanced: create one with \"sandbox\": true")]
    NotASandbox,
    /// An earlier advance goes on.
    #[error("the clock is on its way to {target:.3}: wait until it is there")]
    ClockAdvancing {
        /// Where to.
        target: Timestamp,
    },
    /// The clock shows this time, or a later one.
    #[error("the clock shows {now:.3}, and goes forward only")]
    ClockNotForward {
        /// What it shows.
        now: Timestamp,
    },
    /// Further than a clock goes.
    #[error(
        "the clock can't go further than {latest:.3} now: one advance takes 366 days at most, all together ten years"
    )]
    ClockTooFar {
        /// The latest time possible.
        latest: Timestamp,
    },
}

impl Rejection {
    /// Stable word for programs.
    pub fn code(&self) -> &'static str {
        match self {
            Self::IllegalTransition { .. } => "illegal_transition",
            Self::FieldsMissing { .. } => "fields_missing",
            Self::SumTooLarge => "sum_too_large",
            Self::FieldInvalid { .. } => "field_invalid",
            Self::FieldsLocked { .. } => "fields_locked",
            Self::ReasonRequired => "reason_required",
            Self::EndNotInFuture => "end_not_in_future",
            Self::EndNotReached => "end_not_reached",
            Self::NoLiveItem => "no_live_item",
            Self::AuctionHasBids => "auction_has_bids",
            Self::ItemsNotFinished { .. } => "items_not_finished",
            Self::AuctionNotLive { .. } => "auction_not_live",
            Self::AuctionNotStarted { .. } => "auction_not_started",
            Self::AuctionClosed { .. } => "auction_closed",
            Self::ItemsFollowing => "items_following",
            Self::WrongAuctionKind { .. } => "wrong_auction_kind",
            Self::ItemNotLive { .. } => "item_not_live",
            Self::ItemEnded { .. } => "item_ended",
            Self::ItemHasBids => "item_has_bids",
            Self::ItemInRing => "item_in_ring",
            Self::ItemNotInAuction => "item_not_in_auction",
            Self::BidTooLow { .. } => "bid_too_low",
            Self::BidTooHigh { .. } => "bid_too_high",
            Self::PriceAtMaximum { .. } => "price_at_maximum",
            Self::NoStandingBid => "no_standing_bid",
            Self::ReserveNotMet => "reserve_not_met",
            Self::NotInRing => "not_in_ring",
            Self::RingOccupied { .. } => "ring_occupied",
            Self::TooManyBids { .. } => "too_many_bids",
            Self::BidderNotApproved => "bidder_not_approved",
            Self::PaddleHasBid { .. } => "paddle_has_bid",
            Self::VendorHasBid { .. } => "vendor_has_bid",
            Self::BidderSuspended => "bidder_suspended",
            Self::VendorBarred => "vendor_barred",
            Self::SpendingLimitReached => "spending_limit_reached",
            Self::MaximumNotRaised => "maximum_not_raised",
            Self::AlreadyLeading => "already_leading",
            Self::NoBuyNow => "no_buy_now",
            Self::BuyNowOver { .. } => "buy_now_over",
            Self::BidNotFound => "bid_not_found",
            Self::BidStruck => "bid_struck",
            Self::BidLogIncomplete => "bid_log_incomplete",
            Self::NothingToUndo => "nothing_to_undo",
            Self::RingPaused => "ring_paused",
            Self::NotPaused => "not_paused",
            Self::PreBiddingOver => "pre_bidding_over",
            Self::NotPending => "not_pending",
            Self::TooManyPending { .. } => "too_many_pending",
            Self::NoCommission => "no_commission",
            Self::CommissionExceeded => "commission_exceeded",
            Self::NotLastItem => "not_last_item",
            Self::EndNotLater => "end_not_later",
            Self::ItemNotPassed { .. } => "item_not_passed",
            Self::ItemNotUnsold { .. } => "item_not_unsold",
            Self::NothingToRelist => "nothing_to_relist",
            Self::AlreadyRelisted { .. } => "already_relisted",
            Self::RecordNotOpen => "record_not_open",
            Self::RelistedElsewhere => "relisted_elsewhere",
            Self::SandboxMismatch => "sandbox_mismatch",
            Self::NotASandbox => "not_a_sandbox",
            Self::ClockAdvancing { .. } => "clock_advancing",
            Self::ClockNotForward { .. } => "clock_not_forward",
            Self::ClockTooFar { .. } => "clock_too_far",
        }
    }
}

fn closed_words(status: &str) -> &'static str {
    if status == AuctionStatus::Archived.name() { "nothing of it changes any more" } else { "its items are final" }
}

fn legal_words(legal: &[&'static str]) -> String {
    if legal.is_empty() { "nothing can follow".to_owned() } else { format!("legal: {}", legal.join(", ")) }
}
