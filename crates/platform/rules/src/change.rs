//! What a decision changes, and how a state takes it.

use contract::{AuctionStatus, ItemStatus};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::bid_log::Struck;
use crate::edit::AuctionEdit;
use crate::item::{BeforePass, ItemEdit};
use crate::{
    Auction, BidRecord, BidSource, Cause, Item, Pending, RingStatus, StandingBid, StrikeReason, TestClock, WebcastPhase,
};

/// One change of an item. Changes of one decision apply in their order.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase", tag = "change")]
pub enum ItemChange {
    /// Its status; one journal row each, numbered by the item's `sequence` after this change was applied.
    StatusChanged {
        /// Status before; none for a creation.
        from: Option<ItemStatus>,
        /// Status after.
        to: ItemStatus,
        /// Why.
        cause: Cause,
        /// True when it goes to the customer as ITEM_STATUS_CHANGE.
        announced: bool,
        /// Why, in a person's words, where the rules ask for it.
        reason: Option<String>,
    },
    /// A bid was taken.
    BidAccepted {
        /// The bid, with its number: the next one of its item.
        record: BidRecord,
        /// What stands now: this bid, or an earlier one that goes further.
        standing: Option<StandingBid>,
    },
    /// A bid does not count any more.
    BidStruck {
        /// Its number.
        number: i64,
        /// The bid.
        bid: Uuid,
        /// What became of it.
        struck: Struck,
        /// Why, in a person's words; none when the asking price was lowered.
        reason: Option<String>,
    },
    /// A bid that a lowered asking price had struck counts again.
    BidReinstated {
        /// Its number.
        number: i64,
        /// The bid.
        bid: Uuid,
    },
    /// What stands now, after bids were struck or came back.
    StandingChanged {
        /// The bid that wins if nothing else happens.
        standing: Option<StandingBid>,
        /// Why.
        cause: Cause,
    },
    /// All bids so far are over: the item comes back from a withdrawal as if new.
    BidsLapsed {
        /// Number of the last one.
        through: i64,
        /// Why.
        cause: Cause,
    },
    /// The item was passed: the bids in the room and of the internet are over, what absentees left is not.
    BidsPassed {
        /// Number of the item's last bid.
        through: i64,
    },
    /// The pass was taken back at once: what stood before it stands again.
    BidsRestored {
        /// Number of the last bid that an earlier pass was the end of; 0 without one.
        passed: i64,
        /// The bid that wins if nothing else happens.
        standing: Option<StandingBid>,
    },
    /// Internet bids that wait for the clerk.
    PendingChanged {
        /// Those that wait now.
        pending: Vec<Pending>,
        /// Why.
        cause: Cause,
    },
    /// Its place in a webcast's ring.
    RingChanged {
        /// Place after.
        ring: RingStatus,
        /// Why.
        cause: Cause,
    },
    /// Its end in a timed auction was planned; it had none.
    EndPlanned {
        /// Planned and effective end.
        end: Timestamp,
    },
    /// A bid came within the extension window: the effective end is later.
    EndExtended {
        /// Effective end.
        end: Timestamp,
    },
    /// An administrator has put the end off.
    EndMoved {
        /// Effective end.
        end: Timestamp,
        /// Why, in a person's words.
        reason: String,
    },
    /// It passed while the platform was down, and was put off: nobody could bid, or see to it.
    EndHeld {
        /// Effective end.
        end: Timestamp,
    },
    /// An administrator has put the planned end off.
    EndShifted {
        /// Planned end.
        planned: Timestamp,
        /// Effective end: the planned one, or the later one of before.
        end: Timestamp,
        /// Why, in a person's words.
        reason: String,
    },
    /// An administrator has corrected what was entered.
    Edited {
        /// What is another way now.
        edit: Box<ItemEdit>,
    },
    /// It is offered again as an item of another auction.
    Relisted {
        /// That auction.
        auction: Uuid,
        /// The item there.
        item: Uuid,
    },
}

/// One change of an auction.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase", tag = "change")]
pub enum AuctionChange {
    /// Its status; always announced as AUCTION_STATUS_CHANGE. One journal row each, numbered by the auction's `sequence`
    /// after this change was applied.
    StatusChanged {
        /// Status before; none for a creation.
        from: Option<AuctionStatus>,
        /// Status after.
        to: AuctionStatus,
        /// Why.
        cause: Cause,
    },
    /// It is on its way from LIVE back to PREVIEW: no bid is taken any more.
    ReturnBegun,
    /// It stays LIVE: a bid had come before.
    ReturnGivenUp,
    /// It gets other terms in a moment: no bid is taken on those of before any more.
    BidsHeld,
    /// Bids are taken again, on the terms that it has now.
    BidsReleased,
    /// Which item is in the ring.
    RingChanged {
        /// The item; none when the ring is empty.
        item: Option<Uuid>,
        /// Its place in the running order.
        position: Option<i64>,
        /// Why.
        cause: Cause,
    },
    /// A webcast's phase.
    PhaseChanged {
        /// Phase after.
        phase: WebcastPhase,
        /// Why.
        cause: Cause,
    },
    /// The clock of a sandbox auction is sent forward; see [`crate::test_clock`].
    ClockAdvanced {
        /// Where to.
        target: Timestamp,
    },
    /// The clock of a sandbox auction follows the ends that it has passed.
    ClockFollowed {
        /// Where it is.
        reached: Timestamp,
        /// Items ended by this advance so far.
        ended: u64,
    },
    /// An administrator has corrected what was entered.
    Edited {
        /// What is another way now.
        edit: Box<AuctionEdit>,
    },
}

impl ItemChange {
    /// Why, in the log's word.
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
            Self::Relisted { .. } => Cause::Relisted,
        }
    }

    /// Why, in a person's words, where somebody gave them.
    pub fn reason(&self) -> Option<&str> {
        match self {
            Self::StatusChanged { reason, .. } | Self::BidStruck { reason, .. } => reason.as_deref(),
            Self::EndMoved { reason, .. } | Self::EndShifted { reason, .. } => Some(reason),
            _ => None,
        }
    }
}

impl AuctionChange {
    /// Why, in the log's word.
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
    /// Takes a change. `version` is the committer's and stays.
    pub fn apply(&mut self, change: &ItemChange) {
        match change {
            ItemChange::StatusChanged { to, announced, .. } => {
                self.status = *to;
                self.sequence += 1;
                self.announced |= announced;
                self.before_pass = None;
            }
            ItemChange::BidAccepted { record, standing } => {
                self.standing.clone_from(standing);
                self.bid_count = record.number;
                self.absentee_bids += i64::from(record.source == BidSource::Absentee);
            }
            ItemChange::StandingChanged { standing, .. } => self.standing.clone_from(standing),
            ItemChange::BidsLapsed { through, .. } => {
                self.bids_lapsed = *through;
                self.standing = None;
            }
            ItemChange::BidsPassed { through } => {
                self.before_pass = Some(BeforePass { passed: self.bids_passed, standing: self.standing.take() });
                self.bids_passed = *through;
            }
            ItemChange::BidsRestored { passed, standing } => {
                self.bids_passed = *passed;
                self.standing.clone_from(standing);
            }
            ItemChange::PendingChanged { pending, .. } => self.pending.clone_from(pending),
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
            ItemChange::Relisted { item, .. } => self.relisted_as = Some(*item),
            // These are the log's: see `BidLog::apply`.
            ItemChange::BidStruck { .. } | ItemChange::BidReinstated { .. } => {}
        }
    }
}

impl Auction {
    /// Takes a change. `version` is the committer's and stays.
    pub fn apply(&mut self, change: &AuctionChange) {
        match change {
            AuctionChange::StatusChanged { to, .. } => {
                self.status = *to;
                self.sequence += 1;
                self.returning = false;
            }
            AuctionChange::ReturnBegun | AuctionChange::BidsHeld => self.returning = true,
            AuctionChange::ReturnGivenUp | AuctionChange::BidsReleased => self.returning = false,
            AuctionChange::RingChanged { item, position, cause } => {
                // Of a ring that was empty, nothing is the last any more; an item that was removed waits, and can be sent.
                self.last_in_ring = self.in_ring.filter(|_| *cause != Cause::RemovedFromRing);
                self.in_ring = *item;
                self.ring_position = position.or(self.ring_position);
            }
            AuctionChange::PhaseChanged { phase, .. } => {
                self.phase = *phase;
                if *phase == WebcastPhase::PreBidding {
                    // The next live phase begins with its own first item.
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
