//! The test clock of a sandbox auction. It moves only when the caller advances it, and never backwards.
//!
//! An advance sets a target. The clock shows the target from then on, so the platform rejects bids on items that end
//! before it. The platform then ends the due items, earliest first and each at its own effective end, and moves
//! `reached` along. The advance is complete when `reached` is at the target.

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

use crate::{Auction, AuctionChange, Item, Rejection};

/// Length of one advance in seconds, at most: 366 days.
pub const ADVANCE_SECONDS_MAX: i64 = 366 * 24 * 3600;
/// The latest time that a test clock can show, in seconds after the creation of its auction: ten years.
pub const CLOCK_SECONDS_MAX: i64 = 3_660 * 24 * 3600;

/// Whether an auction is real or a sandbox. It is chosen when the auction is created and never changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum SaleMode {
    /// The server's clock ends items.
    #[default]
    Real,
    /// The auction's test clock ends items.
    Sandbox,
}

/// A clock that the caller advances.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TestClock {
    /// All items that end before this time have ended. Without an advance in progress, this is the time shown.
    pub reached: Timestamp,
    /// Target of the advance in progress.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<Timestamp>,
    /// Items that the current or last advance has ended.
    pub ended: u64,
}

impl TestClock {
    /// A clock that shows this time.
    pub fn at(start: Timestamp) -> Self {
        Self { reached: start, target: None, ended: 0 }
    }

    /// The time that the clock shows and that decides.
    pub fn now(&self) -> Timestamp {
        self.target.unwrap_or(self.reached)
    }
}

impl Auction {
    /// The time that decides: that of the test clock, or `now`. A rehearsal keeps the server's time.
    pub fn clock_or(&self, now: Timestamp) -> Timestamp {
        self.clock.filter(|_| !self.rehearsal).map_or(now, |clock| clock.now())
    }

    /// Real or sandbox.
    pub fn sale_mode(&self) -> SaleMode {
        if self.clock.is_some() { SaleMode::Sandbox } else { SaleMode::Real }
    }
}

impl Item {
    /// Real or sandbox, as its auction.
    pub fn sale_mode(&self) -> SaleMode {
        if self.sandbox { SaleMode::Sandbox } else { SaleMode::Real }
    }
}

/// Begins an advance of the test clock of a sandbox auction.
///
/// Errors: `not_a_sandbox`, `auction_closed` when it is archived, `clock_advancing` while an advance is in progress,
/// `clock_not_forward`, `clock_too_far`.
pub fn advance(auction: &Auction, to: Timestamp) -> Result<AuctionChange, Rejection> {
    let clock = auction.clock.ok_or(Rejection::NotASandbox)?;
    auction.require_unarchived()?;
    if let Some(target) = clock.target {
        return Err(Rejection::ClockAdvancing { target });
    }
    let now = clock.now();
    if to <= now {
        return Err(Rejection::ClockNotForward { now });
    }
    let latest = later(now, ADVANCE_SECONDS_MAX).min(later(auction.created_at, CLOCK_SECONDS_MAX));
    if to > latest {
        return Err(Rejection::ClockTooFar { latest });
    }
    Ok(AuctionChange::ClockAdvanced { target: to })
}

/// Records progress of an advance: all items up to `reached` have ended, `items` of them since the last record.
///
/// Errors: `not_a_sandbox`.
pub fn follow(auction: &Auction, reached: Timestamp, items: u64) -> Result<AuctionChange, Rejection> {
    let clock = auction.clock.ok_or(Rejection::NotASandbox)?;
    Ok(AuctionChange::ClockFollowed { reached, ended: clock.ended + items })
}

fn later(than: Timestamp, seconds: i64) -> Timestamp {
    than.checked_add(SignedDuration::from_secs(seconds)).unwrap_or(Timestamp::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::AuctionKind;
    use crate::sample::{at, auction};
    use contract::AuctionStatus;

    fn sandbox() -> Auction {
        let auction = auction(AuctionKind::Timed, AuctionStatus::Live);
        Auction { clock: Some(TestClock::at(auction.created_at)), ..auction }
    }

    fn code(outcome: Result<AuctionChange, Rejection>) -> &'static str {
        outcome.map_or_else(|rejection| rejection.code(), |_| "done")
    }

    #[test]
    fn an_advance_shows_its_target_immediately_and_completes_after_all_ends() {
        let mut auction = sandbox();
        auction.apply(&advance(&auction, at(500)).unwrap());
        assert_eq!(auction.clock.map(|clock| (clock.now(), clock.reached)), Some((at(500), at(-100))));
        assert_eq!(code(advance(&auction, at(600))), "clock_advancing");
        auction.apply(&follow(&auction, at(20), 3).unwrap());
        auction.apply(&follow(&auction, at(500), 2).unwrap());
        let clock = auction.clock.unwrap();
        assert_eq!((clock.now(), clock.target, clock.ended), (at(500), None, 5));
        auction.apply(&advance(&auction, at(501)).unwrap());
        assert_eq!(auction.clock.unwrap().ended, 0, "the count includes items of an earlier advance");
    }

    #[test]
    fn a_clock_only_advances_and_within_its_limits() {
        let auction = sandbox();
        assert_eq!(code(advance(&auction, at(-100))), "clock_not_forward");
        let refused = advance(&auction, at(-100)).unwrap_err().to_string();
        assert!(
            refused.contains(&format!("{:.3}", at(-100))) && refused.contains(".000Z"),
            "times have three decimals: {refused}"
        );
        assert_eq!(code(advance(&auction, at(-100 + ADVANCE_SECONDS_MAX))), "done");
        assert_eq!(code(advance(&auction, at(-99 + ADVANCE_SECONDS_MAX))), "clock_too_far");
        let old = Auction { clock: Some(TestClock::at(at(-101 + CLOCK_SECONDS_MAX))), ..auction };
        assert_eq!(code(advance(&old, at(-100 + CLOCK_SECONDS_MAX))), "done");
        assert_eq!(code(advance(&old, at(-99 + CLOCK_SECONDS_MAX))), "clock_too_far");
    }

    #[test]
    fn a_real_auction_has_no_test_clock_to_advance() {
        let real = auction(AuctionKind::Timed, AuctionStatus::Live);
        assert_eq!(code(advance(&real, at(500))), "not_a_sandbox");
        assert_eq!(code(follow(&real, at(500), 1)), "not_a_sandbox");
    }
}
