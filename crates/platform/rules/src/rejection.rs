//! Why the rules reject a command.

use contract::AuctionStatus;
use jiff::Timestamp;
use uuid::Uuid;

use crate::{AuctionKind, BidSource, KnownAmount};

/// A rejection of a command: nothing changed. [`Rejection::code`] is stable. The text says what is wrong and what to do
/// next.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Rejection {
    /// The transition table has no row from this status to the requested one for this actor.
    #[error("{}; {}", transition_words(.from, .to), legal_words(.legal))]
    IllegalTransition {
        /// Name of the status now; none for a creation.
        from: Option<&'static str>,
        /// Name of the requested status.
        to: &'static str,
        /// Names of the legal statuses.
        legal: Vec<&'static str>,
    },
    /// Fields that the status needs are empty.
    #[error("required fields are empty: {}; set them first", .fields.join(", "))]
    FieldsMissing {
        /// Their JSON names.
        fields: Vec<&'static str>,
    },
    /// A sum of amounts exceeds 64 bits.
    #[error("the sum exceeds {} minor units: correct the prices that are too high", i64::MAX)]
    SumTooLarge,
    /// A field has an invalid value.
    #[error("{field} {problem}")]
    FieldInvalid {
        /// Its JSON name.
        field: &'static str,
        /// What is wrong, after the name.
        problem: &'static str,
    },
    /// Fields that are locked in this state, or for this command.
    #[error("fields that can't be changed now: {} ({why})", .fields.join(", "))]
    FieldsLocked {
        /// Their JSON names.
        fields: Vec<&'static str>,
        /// Why the first of them is locked.
        why: &'static str,
    },
    /// The change needs a reason.
    #[error("a reason is required: give one")]
    ReasonRequired,
    /// The closing time, or the item's end, is not in the future.
    #[error("the end is not in the future: set a later end first")]
    EndNotInFuture,
    /// The item's effective end is in the future.
    #[error("the item's end is not reached yet: wait until its effective end")]
    EndNotReached,
    /// An auction would be created LIVE without a LIVE item.
    #[error("no item is LIVE: an auction that is created LIVE needs a LIVE item")]
    NoLiveItem,
    /// The auction has bids.
    #[error("the auction has bids, so it can neither return to PREVIEW nor be archived as a mistake")]
    AuctionHasBids,
    /// Items are still on sale or suspended.
    #[error("{live} items are LIVE and {suspended} are SUSPENDED: sell, pass, end or withdraw them first")]
    ItemsNotFinished {
        /// Items that are LIVE.
        live: u64,
        /// Items that are SUSPENDED.
        suspended: u64,
    },
    /// Sold items have no buyer yet.
    #[error(
        "{count} sold items have no buyer yet: name the buyers, or confirm that the auction is archived without them"
    )]
    BuyersOpen {
        /// Items without a buyer.
        count: u64,
    },
    /// The auction is not LIVE.
    #[error("the auction is {status}, and this needs a LIVE auction")]
    AuctionNotLive {
        /// Name of its status.
        status: &'static str,
    },
    /// The auction has not started.
    #[error("the auction starts at {starts_at:.3}: try again then")]
    AuctionNotStarted {
        /// The time.
        starts_at: Timestamp,
    },
    /// The auction is reconciled, so its items are final; or it is archived, so nothing about it changes.
    #[error("the auction is {status}: {}", closed_words(.status))]
    AuctionClosed {
        /// Name of its status.
        status: &'static str,
    },
    /// A bulk change of the auction is in progress and updates its items in steps.
    #[error("a change of the whole auction is in progress: try again in a few seconds")]
    ItemsFollowing,
    /// The command is for the other kind of auction.
    #[error("this is for {} auctions only", .needs.as_str())]
    WrongAuctionKind {
        /// The kind that the command is for.
        needs: AuctionKind,
    },
    /// Both records of a person have an account, and each would act with the paddles of the other.
    #[error(
        "both records have an account in the saleroom, {first} and {second}, and each would bid with the paddles of the other: \
         ask the person which one stays, and let them delete the other one"
    )]
    TwoAccounts {
        /// E-mail address of one.
        first: String,
        /// E-mail address of the other.
        second: String,
    },
    /// The item is not LIVE.
    #[error("the item is {status}, and this needs a LIVE item")]
    ItemNotLive {
        /// Name of its status.
        status: &'static str,
    },
    /// The item's effective end has passed.
    #[error("the item ended at {ended_at:.3} and accepts no more bids")]
    ItemEnded {
        /// The time.
        ended_at: Timestamp,
    },
    /// The item has bids.
    #[error("the item has bids: withdraw it instead")]
    ItemHasBids,
    /// The item is in the ring and must leave it first.
    #[error("the item is in the ring: sell, pass or remove it first")]
    ItemInRing,
    /// The item belongs to another auction.
    #[error("the item is not in this auction: use the auction that it belongs to")]
    ItemNotInAuction,
    /// Below the minimum bid.
    #[error("the bid is below the minimum of {minimum} minor units: bid at least this amount")]
    BidTooLow {
        /// Minimum bid, minor units.
        minimum: i64,
    },
    /// Above the highest amount of the platform.
    #[error("the bid is above the highest possible amount of {maximum} minor units")]
    BidTooHigh {
        /// Maximum, minor units.
        maximum: i64,
    },
    /// The minimum bid would exceed the highest amount of the platform.
    #[error("the next bid would exceed the highest possible amount of {maximum} minor units, so no bid can follow")]
    PriceAtMaximum {
        /// Maximum, minor units.
        maximum: i64,
    },
    /// No bid stands.
    #[error("the item has no standing bid: pass it instead of selling it")]
    NoStandingBid,
    /// The price is below the reserve.
    #[error("the reserve is not met: confirm that the item is sold below it, or pass the item")]
    ReserveNotMet,
    /// A higher bid waits.
    #[error("{}", waiting_words(.of))]
    HigherBidWaits {
        /// Source of the highest one: internet or commission.
        of: BidSource,
    },
    /// A price that the clerk entered is far above the asking price.
    #[error(
        "the price is more than ten increments above the asking price, or above five times the high estimate: enter at \
         most {maximum} minor units, or confirm it"
    )]
    LargeJump {
        /// The highest price that needs no confirmation, minor units.
        maximum: i64,
    },
    /// An asking price is far below the one now.
    #[error("the asking price is below a fifth of the one now: ask at least {minimum} minor units, or confirm it")]
    LargeDrop {
        /// The lowest asking price that needs no confirmation, minor units.
        minimum: i64,
    },
    /// A hammer price, an offer or an absentee bid is far from the item's known amounts.
    #[error("{}", unusual_words(*.known, *.of, *.is_above))]
    UnusualAmount {
        /// What the amount is compared with.
        known: KnownAmount,
        /// The known amount, minor units.
        of: i64,
        /// The amount is far above the known one; otherwise far below it.
        is_above: bool,
    },
    /// An asking price is at or below bids that count.
    #[error("the asking price cancels the bids at it and above, {count} in all: ask for more, or confirm it")]
    CancelsBids {
        /// Number of these bids.
        count: usize,
    },
    /// The item is not in the ring.
    #[error("the item is not in the ring: send it first")]
    NotInRing,
    /// Another item is in the ring.
    #[error("item {item} is in the ring: sell, pass or remove it first")]
    RingOccupied {
        /// The item in it.
        item: Uuid,
    },
    /// The item's log of bids is full.
    #[error("the item has {maximum} bids, which is the limit, and accepts no more")]
    TooManyBids {
        /// Bids, at most.
        maximum: i64,
    },
    /// The bidder has no registration that is approved.
    #[error("the bidder has no approved registration for this auction: register or approve the bidder first")]
    BidderNotApproved,
    /// The paddle has bid, so it must keep naming the same bidder.
    #[error("paddle {paddle} has bid in this auction, so it must keep its bidder: assign another paddle")]
    PaddleHasBid {
        /// The paddle.
        paddle: String,
    },
    /// The party can't be entered for this paddle, because the paddle has bid on an item that the party sells.
    #[error(
        "paddle {paddle} has bid on lot {lot_number}, which this party sells: cancel the bid or correct the sale first"
    )]
    VendorHasBid {
        /// The paddle.
        paddle: String,
        /// The lot.
        lot_number: String,
    },
    /// The bidder is suspended.
    #[error("the bidder is suspended from bidding: end the suspension of the registration first")]
    BidderSuspended,
    /// The bidder is blocked in the register of the house.
    #[error("the bidder is blocked in the register of the house: end the block there first")]
    BidderBlocked,
    /// The record of the person in the register of the house was erased.
    #[error("the person was erased from the register of the house: add a new record if the person asks for it")]
    PersonErased,
    /// The record was merged into another one of the same person.
    #[error("the record was merged into another one: use the record that stayed")]
    RecordMerged,
    /// A record can't be merged with itself.
    #[error("both records are the same one: choose another record")]
    SameRecord,
    /// Records of two houses can't be merged.
    #[error("the records belong to two houses: choose a record of the same house")]
    OtherHouse,
    /// Too many records were merged into one.
    #[error("at most {maximum} records can be merged into one")]
    TooManyMerged {
        /// Records, at most.
        maximum: usize,
    },
    /// The records can't be merged, because the person would have bid on an own lot.
    #[error(
        "in “{sale}”, paddle {paddle} of one record has bid on lot {lot_number}, which the other record consigns: cancel the \
         bid or correct the sale first"
    )]
    PersonHasBid {
        /// Title of the sale.
        sale: String,
        /// The paddle.
        paddle: String,
        /// The lot.
        lot_number: String,
    },
    /// The person can't be erased, because a bid of theirs can still win.
    #[error(
        "in “{sale}”, the person leads on lot {lot_number} with paddle {paddle}: cancel the bid, or wait until the lot is sold \
         or unsold"
    )]
    PersonLeads {
        /// Title of the sale.
        sale: String,
        /// The paddle.
        paddle: String,
        /// The lot.
        lot_number: String,
    },
    /// The person can't be erased, because a lot that they consign can still be sold.
    #[error(
        "in “{sale}”, the person consigns lot {lot_number}, which is not sold yet: withdraw the lot, or wait until it is sold \
         or unsold"
    )]
    PersonConsigns {
        /// Title of the sale.
        sale: String,
        /// The lot.
        lot_number: String,
    },
    /// The bidder is the item's vendor, or the auctioneer.
    #[error("vendors and auctioneers can't bid on items that they sell")]
    VendorBarred,
    /// The bid exceeds the bidder's spending limit.
    #[error(
        "the bid exceeds the bidder's spending limit for this auction, which includes the items that the bidder leads \
         or has bought: bid less, or have the limit raised"
    )]
    SpendingLimitReached {
        /// The limit, minor units.
        limit: i64,
        /// What the bidder has bought, or leads, elsewhere in the auction, minor units.
        committed: i64,
        /// The amount that exceeds the limit together with it, minor units.
        amount: i64,
    },
    /// The bidder leads already, and the bid does not exceed their maximum. The text does not reveal the maximum.
    #[error("this bidder leads already with an equal or higher maximum: bid more to raise it")]
    MaximumNotRaised,
    /// The bidder would bid against themselves.
    #[error("the bidder leads already, and can't outbid themselves")]
    AlreadyLeading,
    /// The item has no buy-now price.
    #[error("the item has no buy-now price: bid instead")]
    NoBuyNow,
    /// The price has reached the buy-now price.
    #[error("the price has reached the buy-now price of {buy_now} minor units: bid instead")]
    BuyNowOver {
        /// The buy-now price, minor units.
        buy_now: i64,
    },
    /// The item has no such bid.
    #[error("the item has no such bid, or its bid is over: load the bids again")]
    BidNotFound,
    /// The bid no longer counts.
    #[error("the bid no longer counts: it was cancelled, undone or retracted, or the asking price was lowered")]
    BidStruck,
    /// The caller passed an incomplete log of the item's bids.
    #[error("bids are missing from the item's log: load all of them")]
    BidLogIncomplete,
    /// No bid stands.
    #[error("the item has no standing bid to undo")]
    NothingToUndo,
    /// Bidding is paused.
    #[error("bidding is paused: resume it first")]
    RingPaused,
    /// Bidding is not paused.
    #[error("bidding is not paused: there is nothing to resume")]
    NotPaused,
    /// The live phase of the webcast has begun.
    #[error("the live phase of the webcast has begun already: send an item")]
    PreBiddingOver,
    /// No such internet bid is pending.
    #[error("no such internet bid of this bidder is pending: load the ring again")]
    NotPending,
    /// The item has the most pending internet bids possible.
    #[error("{maximum} internet bids are pending already: try again when the clerk has decided")]
    TooManyPending {
        /// Pending bids, at most.
        maximum: usize,
    },
    /// The bidder left no absentee bid.
    #[error("this bidder left no absentee bid on the item")]
    NoCommission,
    /// The standing bid has reached the absentee's maximum.
    #[error("the standing bid has reached the maximum of the absentee bid: no bid can follow for this absentee")]
    CommissionExceeded,
    /// The item was not the last one that was sold or passed.
    #[error("only the lot that was sold or passed last can be reopened, and only while no other lot was sent since")]
    NotLastItem,
    /// The new end is not later than the end now, or not in the future.
    #[error("an end can only move to a later time in the future")]
    EndNotLater,
    /// Only a PASSED item can be offered again.
    #[error("the item is {status}, and only a PASSED item can be offered again")]
    ItemNotPassed {
        /// Name of its status.
        status: &'static str,
    },
    /// Only an UNSOLD item can be relisted.
    #[error("the item is {status}, and only an UNSOLD item can be relisted")]
    ItemNotUnsold {
        /// Name of its status.
        status: &'static str,
    },
    /// The auction has no item to relist.
    #[error("the auction has no UNSOLD item that was not relisted already")]
    NothingToRelist,
    /// The item was relisted already.
    #[error("the item was relisted already, as item {item}")]
    AlreadyRelisted {
        /// The item that it was relisted as.
        item: Uuid,
    },
    /// The auction was LIVE, so it ends by reconciliation.
    #[error("the auction was LIVE, so it can't be archived as a mistake: go LIVE again and reconcile it")]
    AuctionWasLive,
    /// The buyer of an offer after the sale has no registration.
    #[error("the buyer is not registered for this auction: register and approve the buyer first")]
    BuyerNotRegistered,
    /// Only a SOLD item has a buyer.
    #[error("the item is {status}, and only a SOLD item has a buyer and a hammer price to correct")]
    ItemNotSold {
        /// Name of its status.
        status: &'static str,
    },
    /// The item is not sold to the buyer that the caller names.
    #[error("lot {lot_number} is not sold to this buyer: read the results again")]
    NotSoldToBuyer {
        /// Its lot number.
        lot_number: String,
    },
    /// The buyer has no sold lot.
    #[error("no lot is sold to this buyer")]
    NothingSoldToBuyer,
    /// A PASSED or UNSOLD item is sold by an offer only, which names a buyer and an amount.
    #[error("a PASSED or UNSOLD item is sold by accepting an offer: name the buyer, the amount and the reason")]
    OfferRequired,
    /// The record would reveal that absentees have left bids.
    #[error(
        "the record of a webcast's item would reveal absentee bids before its sale is over: try again then, or use \
         a key with the scope ring:write"
    )]
    RecordNotOpen,
    /// The other auction is the same one, or has another customer or currency.
    #[error("an item can only be relisted in another auction of the same customer and currency")]
    RelistedElsewhere,
    /// One is a sandbox auction or its item, and the other is real.
    #[error("an item can't move between sandbox auctions and real auctions: choose an auction of the same mode")]
    SandboxMismatch,
    /// The auction is real and has no test clock.
    #[error("the auction is real and has no test clock to advance: create an auction with \"sandbox\": true")]
    NotASandbox,
    /// An advance is in progress.
    #[error("the clock is advancing to {target:.3}: wait until it shows this time without an advance in progress")]
    ClockAdvancing {
        /// Its target.
        target: Timestamp,
    },
    /// The clock shows this time or a later one.
    #[error("the clock shows {now:.3}: advance it to a later time")]
    ClockNotForward {
        /// The time that it shows.
        now: Timestamp,
    },
    /// The time exceeds a limit of test clocks.
    #[error("the clock can advance to {latest:.3} at most: one advance is at most 366 days, all together ten years")]
    ClockTooFar {
        /// The latest possible time.
        latest: Timestamp,
    },
}

impl Rejection {
    /// Stable code for programs.
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
            Self::BuyersOpen { .. } => "buyers_open",
            Self::AuctionNotLive { .. } => "auction_not_live",
            Self::AuctionNotStarted { .. } => "auction_not_started",
            Self::AuctionClosed { .. } => "auction_closed",
            Self::ItemsFollowing => "items_following",
            Self::WrongAuctionKind { .. } => "wrong_auction_kind",
            Self::TwoAccounts { .. } => "two_accounts",
            Self::ItemNotLive { .. } => "item_not_live",
            Self::ItemEnded { .. } => "item_ended",
            Self::ItemHasBids => "item_has_bids",
            Self::ItemInRing => "item_in_ring",
            Self::ItemNotInAuction => "item_not_in_auction",
            Self::BidTooLow { .. } => "bid_too_low",
            Self::BidTooHigh { .. } => "bid_too_high",
            Self::PriceAtMaximum { .. } => "price_at_maximum",
            Self::NoStandingBid => "no_standing_bid",
            Self::ItemNotSold { .. } => "item_not_sold",
            Self::AuctionWasLive => "auction_was_live",
            Self::BuyerNotRegistered => "buyer_not_registered",
            Self::NotSoldToBuyer { .. } => "not_sold_to_buyer",
            Self::NothingSoldToBuyer => "nothing_sold_to_buyer",
            Self::OfferRequired => "offer_required",
            Self::ReserveNotMet => "reserve_not_met",
            Self::HigherBidWaits { .. } => "higher_bid_waits",
            Self::LargeJump { .. } | Self::LargeDrop { .. } => "large_jump",
            Self::UnusualAmount { .. } => "unusual_amount",
            Self::CancelsBids { .. } => "cancels_bids",
            Self::NotInRing => "not_in_ring",
            Self::RingOccupied { .. } => "ring_occupied",
            Self::TooManyBids { .. } => "too_many_bids",
            Self::BidderNotApproved => "bidder_not_approved",
            Self::PaddleHasBid { .. } => "paddle_has_bid",
            Self::VendorHasBid { .. } => "vendor_has_bid",
            Self::BidderSuspended => "bidder_suspended",
            Self::BidderBlocked => "bidder_blocked",
            Self::PersonErased => "person_erased",
            Self::RecordMerged => "record_merged",
            Self::SameRecord => "same_record",
            Self::OtherHouse => "other_house",
            Self::TooManyMerged { .. } => "too_many_merged",
            Self::PersonHasBid { .. } => "vendor_has_bid",
            Self::PersonLeads { .. } => "person_leads",
            Self::PersonConsigns { .. } => "person_consigns",
            Self::VendorBarred => "vendor_barred",
            Self::SpendingLimitReached { .. } => "spending_limit_reached",
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
    if status == AuctionStatus::Archived.name() { "nothing about it can change" } else { "its items are final" }
}

fn waiting_words(of: &BidSource) -> &'static str {
    if *of == BidSource::Internet {
        "a higher internet bid waits: accept it, or confirm that the item is sold or passed in spite of it"
    } else {
        "a higher commission bid waits: bid for the absentee, or confirm that the item is sold or passed in spite of it"
    }
}

fn unusual_words(known: KnownAmount, of: i64, is_above: bool) -> String {
    let far = known.comparison(is_above);
    format!("the amount is {far} the {} of {of} minor units: correct it, or confirm it", known.words())
}

fn transition_words(from: &Option<&str>, to: &str) -> String {
    match from {
        Some(from) => format!("the status can't change from {from} to {to}"),
        None => format!("a creation can't have the status {to}"),
    }
}

fn legal_words(legal: &[&'static str]) -> String {
    if legal.is_empty() {
        "no other status is legal".to_owned()
    } else {
        format!("legal statuses are {}", legal.join(", "))
    }
}
