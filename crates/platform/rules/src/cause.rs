//! The cause of a change, as the journal and the log store it.

use serde::{Deserialize, Serialize, de};

/// Cause of a change. The names are stable, because the store keeps them and the APIs return them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Cause {
    /// Created by an API call.
    Created,
    /// Created by a catalogue import.
    Imported,
    /// Changed by an administrator, without a more specific cause.
    StatusChangedByAdministrator,
    /// The item's auction went LIVE.
    AuctionWentLive,
    /// The effective end time of an item in a timed auction was reached.
    EndReached,
    /// Sold in a webcast.
    SoldInRing,
    /// Passed in a webcast.
    PassedInRing,
    /// The clerk offered a passed item again.
    OfferedAgain,
    /// A sale or a pass was corrected.
    Corrected,
    /// Suspended by an administrator.
    Suspended,
    /// The suspension ended.
    Resumed,
    /// Withdrawn from the sale.
    Withdrawn,
    /// Reinstated after a withdrawal.
    Reinstated,
    /// Its auction was reconciled.
    Reconciled,
    /// Bought at its buy-now price.
    BoughtNow,
    /// A bid was accepted.
    BidTaken,
    /// An administrator cancelled a bid.
    BidCancelled,
    /// The clerk undid a bid.
    BidUndone,
    /// A bidder retracted a bid.
    BidRetracted,
    /// A bidder placed an internet bid that is pending.
    BidOffered,
    /// The clerk set the asking price.
    AskingPriceSet,
    /// The clerk sent the item into the ring.
    SentToRing,
    /// The clerk took the item out of the ring, neither sold nor passed.
    RemovedFromRing,
    /// The clerk reopened the last lot.
    Reopened,
    /// The clerk gave fair warning.
    FairWarning,
    /// The clerk paused bidding.
    RingPaused,
    /// The clerk resumed bidding.
    RingResumed,
    /// The live phase of a webcast began: the clerk began it, or sent the first item.
    PreBiddingEnded,
    /// The end was planned.
    EndPlanned,
    /// Soft close extended the end.
    EndExtended,
    /// An administrator moved the end to a later time.
    EndMoved,
    /// The end passed while the platform was down, and was extended.
    EndMovedDowntime,
    /// An unsold item was relisted in another auction.
    Relisted,
    /// The test clock of a sandbox auction was advanced.
    ClockAdvanced,
    /// An administrator corrected fields.
    Edited,
    /// The auction was a mistake: it was archived before it was LIVE.
    AuctionArchived,
    /// The buyer did not pay.
    BuyerDidNotPay,
    /// An offer was accepted after the sale.
    PostSaleOfferAccepted,
    /// The buyer of a sold item was named, or changed.
    BuyerChanged,
    /// The hammer price of a sold item was corrected.
    HammerPriceCorrected,
    /// An administrator erased a person from the register of a house.
    PersonErased,
    /// Staff merged two records of a person in the register of a house.
    PersonMerged,
}

impl Cause {
    /// Every cause.
    pub const ALL: [Self; 42] = [
        Self::Created,
        Self::Imported,
        Self::StatusChangedByAdministrator,
        Self::AuctionWentLive,
        Self::EndReached,
        Self::SoldInRing,
        Self::PassedInRing,
        Self::OfferedAgain,
        Self::Corrected,
        Self::Suspended,
        Self::Resumed,
        Self::Withdrawn,
        Self::Reinstated,
        Self::Reconciled,
        Self::BoughtNow,
        Self::BidTaken,
        Self::BidCancelled,
        Self::BidUndone,
        Self::BidRetracted,
        Self::BidOffered,
        Self::AskingPriceSet,
        Self::SentToRing,
        Self::RemovedFromRing,
        Self::Reopened,
        Self::FairWarning,
        Self::RingPaused,
        Self::RingResumed,
        Self::PreBiddingEnded,
        Self::EndPlanned,
        Self::EndExtended,
        Self::EndMoved,
        Self::EndMovedDowntime,
        Self::Relisted,
        Self::ClockAdvanced,
        Self::Edited,
        Self::AuctionArchived,
        Self::BuyerDidNotPay,
        Self::PostSaleOfferAccepted,
        Self::BuyerChanged,
        Self::HammerPriceCorrected,
        Self::PersonErased,
        Self::PersonMerged,
    ];

    /// The stable name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Created => "created",
            Self::Imported => "imported",
            Self::StatusChangedByAdministrator => "status_changed_by_administrator",
            Self::AuctionWentLive => "auction_went_live",
            Self::EndReached => "end_reached",
            Self::SoldInRing => "sold_in_ring",
            Self::PassedInRing => "passed_in_ring",
            Self::OfferedAgain => "offered_again",
            Self::Corrected => "corrected",
            Self::Suspended => "suspended",
            Self::Resumed => "resumed",
            Self::Withdrawn => "withdrawn",
            Self::Reinstated => "reinstated",
            Self::Reconciled => "reconciled",
            Self::BoughtNow => "bought_now",
            Self::BidTaken => "bid_taken",
            Self::BidCancelled => "bid_cancelled",
            Self::BidUndone => "bid_undone",
            Self::BidRetracted => "bid_retracted",
            Self::BidOffered => "bid_offered",
            Self::AskingPriceSet => "asking_price_set",
            Self::SentToRing => "sent_to_ring",
            Self::RemovedFromRing => "removed_from_ring",
            Self::Reopened => "reopened",
            Self::FairWarning => "fair_warning",
            Self::RingPaused => "ring_paused",
            Self::RingResumed => "ring_resumed",
            Self::PreBiddingEnded => "pre_bidding_ended",
            Self::EndPlanned => "end_planned",
            Self::EndExtended => "end_extended",
            Self::EndMoved => "end_moved",
            Self::EndMovedDowntime => "end_moved_downtime",
            Self::Relisted => "relisted",
            Self::ClockAdvanced => "clock_advanced",
            Self::Edited => "edited",
            Self::AuctionArchived => "auction_archived",
            Self::BuyerDidNotPay => "buyer_did_not_pay",
            Self::PostSaleOfferAccepted => "post_sale_offer_accepted",
            Self::BuyerChanged => "buyer_changed",
            Self::HammerPriceCorrected => "hammer_price_corrected",
            Self::PersonErased => "person_erased",
            Self::PersonMerged => "person_merged",
        }
    }
}

impl Serialize for Cause {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for Cause {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let word = String::deserialize(deserializer)?;
        let found = Self::ALL.into_iter().find(|cause| cause.as_str() == word);
        found.ok_or_else(|| de::Error::custom("is not the name of a cause"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cause_names_are_unique() {
        let mut words: Vec<_> = Cause::ALL.iter().map(|cause| cause.as_str()).collect();
        words.sort_unstable();
        words.dedup();
        assert_eq!(words.len(), Cause::ALL.len());
    }
}
