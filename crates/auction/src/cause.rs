//! Why a status changed: the words that the journal keeps.

/// Cause of a status change. The words are stable: they are stored, and read back by people and programs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Cause {
    /// Created by a call.
    Created,
    /// Created by a catalogue import.
    Imported,
    /// Changed by an administrator, for no reason that has its own word.
    StatusChangedByAdministrator,
    /// The item's auction went LIVE.
    AuctionWentLive,
    /// The effective end time of an item in a timed auction was reached.
    EndReached,
    /// Sold in a webcast.
    SoldInRing,
    /// Passed in a webcast.
    PassedInRing,
    /// A passed item was offered again.
    OfferedAgain,
    /// A sale or pass was taken back.
    Corrected,
    /// Suspended by an administrator.
    Suspended,
    /// Taken back from suspension.
    Resumed,
    /// Withdrawn from the sale.
    Withdrawn,
    /// Taken back from withdrawal.
    Reinstated,
    /// Its auction was reconciled.
    Reconciled,
    /// Bought at its buy-now price.
    BoughtNow,
}

impl Cause {
    /// Every cause.
    pub const ALL: [Self; 15] = [
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
    ];

    /// The stable word.
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
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_cause_has_a_word_of_its_own() {
        let mut words: Vec<_> = Cause::ALL.iter().map(|cause| cause.as_str()).collect();
        words.sort_unstable();
        words.dedup();
        assert_eq!(words.len(), Cause::ALL.len());
    }
}
