//! The changes that decisions result in, and how they apply to a state.

use contract::{AuctionStatus, ItemStatus};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::bid_log::Struck;
use crate::edit::AuctionEdit;
use crate::item::{BeforePass, ItemEdit};
use crate::{
    Auction, BidRecord, BidSource, Cause, Item, PendingBid, RegistrationRef, RingStatus, StandingBid, StrikeReason,
    TestClock, WebcastPhase,
};

/// One change of an item. The changes of one decision apply in order.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase", tag = "change")]
pub enum ItemChange {
    /// The status changed. Each such change is one journal entry, numbered by the item's `sequence` after the change.
    StatusChanged {
        /// Status before; none for a creation.
        from: Option<ItemStatus>,
        /// Status after.
        to: ItemStatus,
        /// Why.
        cause: Cause,
        /// True when the customer receives the event ITEM_STATUS_CHANGE.
        announced: bool,
        /// The reason that a person gave, where the rules require one.
        reason: Option<String>,
    },
    /// A bid was accepted.
    BidAccepted {
        /// The bid, with the next number of its item.
        record: BidRecord,
        /// The standing bid now: this one, or an earlier one with a higher maximum.
        standing: Option<StandingBid>,
    },
    /// A bid was struck: it no longer counts.
    BidStruck {
        /// Its number.
        number: i64,
        /// The bid.
        bid: Uuid,
        /// Why and when.
        struck: Struck,
        /// The reason that a person gave; none when the asking price was lowered.
        reason: Option<String>,
    },
    /// A bid counts again that a lowered asking price had struck.
    BidReinstated {
        /// Its number.
        number: i64,
        /// The bid.
        bid: Uuid,
    },
    /// Another bid stands, because bids were struck or reinstated.
    StandingChanged {
        /// The standing bid now; none when no bid stands.
        standing: Option<StandingBid>,
        /// Why.
        cause: Cause,
    },
    /// All bids so far lapsed: the item was reinstated after a withdrawal, or an offer was accepted after the sale, or
    /// a sale to such an offer was corrected.
    BidsLapsed {
        /// Number of the last one.
        through: i64,
        /// Why.
        cause: Cause,
    },
    /// The item was passed: its bids are over, except for absentee bids.
    BidsPassed {
        /// Number of the item's last bid.
        through: i64,
    },
    /// The lot was reopened after a pass: the bid that stood before the pass stands again.
    BidsRestored {
        /// Number of the last bid that an earlier pass ended; 0 without one.
        passed: i64,
        /// The standing bid now; none when no bid stands.
        standing: Option<StandingBid>,
    },
    /// The pending internet bids changed.
    PendingChanged {
        /// All pending internet bids now.
        pending: Vec<PendingBid>,
        /// The bids that waited before and were not accepted.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        lost: Vec<Uuid>,
        /// Why.
        cause: Cause,
    },
    /// Its place relative to the ring changed.
    RingChanged {
        /// Place after.
        ring: RingStatus,
        /// Why.
        cause: Cause,
    },
    /// Its first end in a timed auction was planned.
    EndPlanned {
        /// Planned and effective end.
        end: Timestamp,
    },
    /// Soft close: a bid within the extension window extended the effective end.
    EndExtended {
        /// Effective end.
        end: Timestamp,
    },
    /// An administrator moved the effective end of this item.
    EndMoved {
        /// Effective end.
        end: Timestamp,
        /// The reason that a person gave.
        reason: String,
    },
    /// The effective end passed while the platform was down and no bid could be accepted; the platform extended it.
    EndHeld {
        /// Effective end.
        end: Timestamp,
    },
    /// An administrator shifted the ends of the auction, and this item's planned end with them.
    EndShifted {
        /// Planned end.
        planned: Timestamp,
        /// Effective end: the planned one, or the previous effective end if that is later.
        end: Timestamp,
        /// The reason that a person gave.
        reason: String,
    },
    /// An administrator corrected fields.
    Edited {
        /// The corrected fields.
        edit: Box<ItemEdit>,
    },
    /// The buyer of a sold item was named, or changed. The price stays, and so does the bid as it was accepted.
    BuyerChanged {
        /// Paddle of the buyer now.
        bidder: String,
        /// The buyer's registration, if there is one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        registration: Option<RegistrationRef>,
        /// The reason that a person gave; none when the buyer was open.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
    /// The hammer price of a sold item was corrected. The bid keeps its amount.
    PriceCorrected {
        /// Hammer price now, minor units.
        amount: i64,
        /// The reason that a person gave.
        reason: String,
    },
    /// The unsold item was relisted in another auction.
    Relisted {
        /// The other auction.
        auction: Uuid,
        /// The new item.
        item: Uuid,
    },
}

/// One change of an auction.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase", tag = "change")]
pub enum AuctionChange {
    /// The status changed. The customer always receives the event AUCTION_STATUS_CHANGE. Each such change is one
    /// journal entry, numbered by the auction's `sequence` after the change.
    StatusChanged {
        /// Status before; none for a creation.
        from: Option<AuctionStatus>,
        /// Status after.
        to: AuctionStatus,
        /// Why.
        cause: Cause,
        /// The reason that a person gave, where the rules require one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
    /// The return from LIVE to PREVIEW began: the platform accepts no bid meanwhile.
    ReturnBegun,
    /// The return to PREVIEW was abandoned, because a bid was accepted before it began. The auction stays LIVE.
    ReturnGivenUp,
    /// A change of the terms began: the platform accepts no bid meanwhile.
    BidsHeld,
    /// A change of the terms ended: the platform accepts bids on the terms that hold now.
    BidsReleased,
    /// Another item, or none, is in the ring.
    RingChanged {
        /// The item; none when the ring is empty.
        item: Option<Uuid>,
        /// Its place in the running order; none leaves the last place as it is.
        position: Option<i64>,
        /// Why.
        cause: Cause,
    },
    /// The phase of a webcast changed.
    PhaseChanged {
        /// Phase after.
        phase: WebcastPhase,
        /// Why.
        cause: Cause,
    },
    /// An advance of the test clock of a sandbox auction began; see [`crate::test_clock`].
    ClockAdvanced {
        /// The target of the advance.
        target: Timestamp,
    },
    /// The test clock of a sandbox auction moved towards its target.
    ClockFollowed {
        /// The time up to which all items have ended.
        reached: Timestamp,
        /// Items that this advance has ended so far.
        ended: u64,
    },
    /// An administrator corrected fields.
    Edited {
        /// The corrected fields.
        edit: Box<AuctionEdit>,
    },
}

impl ItemChange {
    /// The cause, as the log stores it.
    pub fn cause(&self) -> Cause {
        match self {
            Self::StatusChanged { cause, .. }
            | Self::StandingChanged { cause, .. }
            | Self::BidsLapsed { cause, .. }
            | Self::PendingChanged { cause, .. }
            | Self::RingChanged { cause, .. } => *cause,
            Self::BidAccepted { .. } => Cause::BidTaken,
            Self::BidStruck { struck, .. } => Cause::from(struck.strike),
            Self::BidReinstated { .. } => Cause::AskingPriceSet,
            Self::BidsPassed { .. } => Cause::PassedInRing,
            Self::BidsRestored { .. } => Cause::Reopened,
            Self::EndPlanned { .. } => Cause::EndPlanned,
            Self::EndExtended { .. } => Cause::EndExtended,
            Self::EndMoved { .. } | Self::EndShifted { .. } => Cause::EndMoved,
            Self::EndHeld { .. } => Cause::EndMovedDowntime,
            Self::Edited { .. } => Cause::Edited,
            Self::BuyerChanged { .. } => Cause::BuyerChanged,
            Self::PriceCorrected { .. } => Cause::HammerPriceCorrected,
            Self::Relisted { .. } => Cause::Relisted,
        }
    }

    /// The reason that a person gave, if the change has one.
    pub fn reason(&self) -> Option<&str> {
        match self {
            Self::StatusChanged { reason, .. } | Self::BidStruck { reason, .. } | Self::BuyerChanged { reason, .. } => {
                reason.as_deref()
            }
            Self::EndMoved { reason, .. } | Self::EndShifted { reason, .. } | Self::PriceCorrected { reason, .. } => {
                Some(reason)
            }
            _ => None,
        }
    }
}

impl AuctionChange {
    /// The cause, as the log stores it.
    pub fn cause(&self) -> Cause {
        match self {
            Self::StatusChanged { cause, .. } | Self::RingChanged { cause, .. } | Self::PhaseChanged { cause, .. } => {
                *cause
            }
            Self::ReturnBegun | Self::ReturnGivenUp => Cause::StatusChangedByAdministrator,
            Self::ClockAdvanced { .. } | Self::ClockFollowed { .. } => Cause::ClockAdvanced,
            Self::Edited { .. } | Self::BidsHeld | Self::BidsReleased => Cause::Edited,
        }
    }

    /// The reason that a person gave, if the change has one.
    pub fn reason(&self) -> Option<&str> {
        match self {
            Self::StatusChanged { reason, .. } => reason.as_deref(),
            _ => None,
        }
    }
}

impl From<StrikeReason> for Cause {
    fn from(strike: StrikeReason) -> Self {
        match strike {
            StrikeReason::Cancelled => Self::BidCancelled,
            StrikeReason::Undone => Self::BidUndone,
            StrikeReason::Retracted => Self::BidRetracted,
            StrikeReason::Lowered => Self::AskingPriceSet,
        }
    }
}

impl Item {
    /// Applies a change. The store sets `version`; it stays as it is here.
    pub fn apply(&mut self, change: &ItemChange) {
        match change {
            ItemChange::StatusChanged { to, announced, .. } => {
                self.status = *to;
                self.sequence += 1;
                self.announced |= announced;
                self.before_pass = None;
                if let Some(price) = self.price_before_correction.take() {
                    self.set_price(price);
                }
            }
            ItemChange::BidAccepted { record, standing } => {
                self.standing.clone_from(standing);
                if record.source == BidSource::Absentee {
                    match self.absentee_bids == self.bid_count {
                        true => self.absentee_bids += 1,
                        false => self.later_absentee_bids.push(record.number),
                    }
                }
                self.bid_count = record.number;
                self.post_sale_offer = record.source == BidSource::PostSaleOffer;
            }
            ItemChange::StandingChanged { standing, .. } => self.standing.clone_from(standing),
            ItemChange::BidsLapsed { through, .. } => {
                self.bids_lapsed = *through;
                self.standing = None;
                self.post_sale_offer = false;
            }
            ItemChange::BidsPassed { through } => {
                self.before_pass = Some(BeforePass { passed: self.bids_passed, standing: self.standing.take() });
                self.bids_passed = *through;
            }
            ItemChange::BidsRestored { passed, standing } => {
                self.bids_passed = *passed;
                self.standing.clone_from(standing);
            }
            ItemChange::PendingChanged { pending, lost, cause } => self.set_pending(pending, lost, *cause),
            ItemChange::RingChanged { ring, .. } => self.ring = *ring,
            ItemChange::EndPlanned { end } => {
                self.end_time = Some(*end);
                self.effective_end_time = Some(*end);
            }
            ItemChange::EndExtended { end } | ItemChange::EndMoved { end, .. } | ItemChange::EndHeld { end } => {
                self.effective_end_time = Some(*end);
            }
            ItemChange::EndShifted { planned, end, .. } => {
                self.end_time = Some(*planned);
                self.effective_end_time = Some(*end);
            }
            ItemChange::Edited { edit } => {
                edit.apply_to(self);
                if edit.end_time.is_some() {
                    self.effective_end_time = self.end_time;
                }
            }
            ItemChange::BuyerChanged { bidder, .. } => {
                if let Some(standing) = &mut self.standing {
                    standing.bidder.clone_from(bidder);
                }
            }
            ItemChange::PriceCorrected { amount, .. } => {
                self.price_before_correction = self.price_before_correction.or(self.price());
                self.set_price(*amount);
            }
            ItemChange::Relisted { item, .. } => self.relisted_as = Some(*item),
            // These change the log of bids only; see `BidLog::apply`.
            ItemChange::BidStruck { .. } | ItemChange::BidReinstated { .. } => {}
        }
    }
}

impl Auction {
    /// Applies a change. The store sets `version`; it stays as it is here.
    pub fn apply(&mut self, change: &AuctionChange) {
        match change {
            AuctionChange::StatusChanged { to, .. } => {
                self.status = *to;
                self.sequence += 1;
                self.returning = false;
                self.was_live |= *to == AuctionStatus::Live;
            }
            AuctionChange::ReturnBegun | AuctionChange::BidsHeld => self.returning = true,
            AuctionChange::ReturnGivenUp | AuctionChange::BidsReleased => self.returning = false,
            AuctionChange::RingChanged { item, position, cause } => {
                // An item that enters an empty ring, and an item that is removed, leave no lot to reopen.
                self.last_in_ring = self.in_ring.filter(|_| *cause != Cause::RemovedFromRing);
                self.in_ring = *item;
                self.ring_position = position.or(self.ring_position);
            }
            AuctionChange::PhaseChanged { phase, .. } => {
                self.phase = *phase;
                if *phase == WebcastPhase::PreBidding {
                    // The next live phase begins at the start of the running order.
                    (self.last_in_ring, self.ring_position) = (None, None);
                }
            }
            AuctionChange::ClockAdvanced { target } => {
                self.clock = self.clock.map(|clock| TestClock { target: Some(*target), ended: 0, ..clock });
            }
            AuctionChange::ClockFollowed { reached, ended } => {
                self.clock = self.clock.map(|clock| TestClock {
                    reached: *reached,
                    target: clock.target.filter(|target| target > reached),
                    ended: *ended,
                });
            }
            AuctionChange::Edited { edit } => edit.apply_to(self),
        }
    }
}
