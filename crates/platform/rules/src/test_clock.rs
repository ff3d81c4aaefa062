//! The clock of a sandbox auction: it stands still until somebody advances it, and only ever goes forward.
//!
//! An advance sets a target. From that moment on the clock shows the target, so that nothing can be bid on any more whose
//! end lies before it; then the items that have become due end, the earliest first and each at its own effective end, and
//! `reached` follows them. When it is at the target, the advance is over.

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

use crate::{Auction, AuctionChange, Item, Rejection};

/// Seconds that one advance may go forward, at most: 366 days.
pub const ADVANCE_SECONDS_MAX: i64 = 366 * 24 * 3600;
/// Seconds after its auction's creation that a clock can show, at most: ten years.
pub const CLOCK_SECONDS_MAX: i64 = 3_660 * 24 * 3600;

/// Whether a sale is real, or tries things out on a clock of its own. Chosen when it is created, never changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum SaleMode {
    /// The server's clock decides.
    #[default]
    Real,
    /// Its own clock decides.
    Sandbox,
}

/// A clock that is advanced by hand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TestClock {
    /// Every item whose end is before this has ended; the time shown, unless an advance is under way.
    pub reached: Timestamp,
    /// Where it is being advanced to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<Timestamp>,
    /// Items that the advance under way has ended so far, or the last one did.
    pub ended: u64,
}

impl TestClock {
    /// A clock that stands at this time.
    pub fn at(start: Timestamp) -> Self {
        Self { reached: start, target: None, ended: 0 }
    }

    /// The time that it shows, and that decides.
    pub fn now(&self) -> Timestamp {
        self.target.unwrap_or(self.reached)
    }
}

impl Auction {
    /// Whether it is real.
    pub fn sale_mode(&self) -> SaleMode {
        if self.clock.is_some() { SaleMode::Sandbox } else { SaleMode::Real }
    }
}

impl Item {
    /// Whether its auction is real.
    pub fn sale_mode(&self) -> SaleMode {
        if self.sandbox { SaleMode::Sandbox } else { SaleMode::Real }
    }
}

/// Sends the clock of a sandbox auction forward.
///
/// Errors: `not_a_sandbox`, `auction_closed` when it is archived, `clock_advancing` while an earlier advance goes on,
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

/// The clock has come this far on the way to its target, and so many items more have ended.
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
    fn a_clock_shows_its_target_at_once_and_is_there_when_every_end_has_followed() {
        let mut auction = sandbox();
        auction.apply(&advance(&auction, at(500)).unwrap());
        assert_eq!(auction.clock.map(|clock| (clock.now(), clock.reached)), Some((at(500), at(-100))));
        assert_eq!(code(advance(&auction, at(600))), "clock_advancing");
        auction.apply(&follow(&auction, at(20), 3).unwrap());
        auction.apply(&follow(&auction, at(500), 2).unwrap());
        let clock = auction.clock.unwrap();
        assert_eq!((clock.now(), clock.target, clock.ended), (at(500), None, 5));
        auction.apply(&advance(&auction, at(501)).unwrap());
        assert_eq!(auction.clock.unwrap().ended, 0, "each advance counts its own");
    }

    #[test]
    fn a_clock_goes_forward_only_and_not_too_far() {
        let auction = sandbox();
        assert_eq!(code(advance(&auction, at(-100))), "clock_not_forward");
        let refused = advance(&auction, at(-100)).unwrap_err().to_string();
        assert!(refused.contains(&format!("{:.3}", at(-100))) && refused.contains(".000Z"), "as all times: {refused}");
        assert_eq!(code(advance(&auction, at(-100 + ADVANCE_SECONDS_MAX))), "done");
        assert_eq!(code(advance(&auction, at(-99 + ADVANCE_SECONDS_MAX))), "clock_too_far");
        let old = Auction { clock: Some(TestClock::at(at(-101 + CLOCK_SECONDS_MAX))), ..auction };
        assert_eq!(code(advance(&old, at(-100 + CLOCK_SECONDS_MAX))), "done");
        assert_eq!(code(advance(&old, at(-99 + CLOCK_SECONDS_MAX))), "clock_too_far");
    }

    #[test]
    fn a_real_auction_is_never_advanced() {
        let real = auction(AuctionKind::Timed, AuctionStatus::Live);
        assert_eq!(code(advance(&real, at(500))), "not_a_sandbox");
        assert_eq!(code(follow(&real, at(500), 1)), "not_a_sandbox");
    }
}
