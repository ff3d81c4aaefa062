//! Staggered ends: the items of a timed auction end one group after another.

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

use crate::{Auction, AuctionKind};

/// Every group of `items` items ends `seconds` after the group before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Stagger {
    /// Seconds between one group of items and the next.
    pub seconds: u32,
    /// Items that end together; at least 1.
    pub items: u32,
}

/// Planned end of an item at a position of the running order, from 0: the auction's closing time, and `stagger.seconds`
/// later for every full group of `stagger.items` items before it. None in a webcast, without a closing time, or when
/// the end exceeds the range of [`Timestamp`].
pub fn new_item_end(auction: &Auction, position: i64) -> Option<Timestamp> {
    let (AuctionKind::Timed, Some(ends_at)) = (auction.kind, auction.ends_at) else {
        return None;
    };
    let Some(stagger) = auction.stagger else {
        return Some(ends_at);
    };
    let group = position.max(0) / i64::from(stagger.items.max(1));
    let later_seconds = group.saturating_mul(i64::from(stagger.seconds));
    ends_at.checked_add(SignedDuration::from_secs(later_seconds)).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::{at, auction};
    use contract::AuctionStatus;

    #[test]
    fn ends_are_staggered_by_groups_of_items() {
        let auction = Auction {
            stagger: Some(Stagger { seconds: 30, items: 2 }),
            ..auction(AuctionKind::Timed, AuctionStatus::Live)
        };
        for (position, seconds) in [(-1, 1_000), (0, 1_000), (1, 1_000), (2, 1_030), (3, 1_030), (99_999, 1_500_970)] {
            assert_eq!(new_item_end(&auction, position), Some(at(seconds)), "at {position}");
        }
        assert_eq!(new_item_end(&auction, i64::MAX), None, "beyond the range of a timestamp");
        let together = Auction { stagger: None, ..auction };
        assert_eq!(new_item_end(&together, 7), Some(at(1_000)));
    }

    #[test]
    fn only_timed_auctions_with_a_closing_time_plan_ends() {
        assert_eq!(new_item_end(&auction(AuctionKind::Webcast, AuctionStatus::Live), 0), None);
        let open = Auction { ends_at: None, ..auction(AuctionKind::Timed, AuctionStatus::Live) };
        assert_eq!(new_item_end(&open, 0), None);
    }
}
