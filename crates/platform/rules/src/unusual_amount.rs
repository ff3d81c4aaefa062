//! Amounts far from the known amounts of an item, which are mostly typing errors such as 7,5 for 7500 or 30000 for 300.
//!
//! An amount is far from a known one above [`TIMES_MAX`] times its value, or below the same fraction of it. The opening bid
//! says little about a high price: an amount above it is far only above [`OPENING_TIMES_MAX`] times its value, and only
//! without another known amount. The rules reject a hammer price, an offer or an absentee bid that is far until the caller
//! confirms it. In the ring, the next price is known better: there [`large_jump`](crate::ring::unconfirmed_price_max) also
//! limits the step.

use crate::bid::next_price;
use crate::{Auction, Item, Rejection};

/// An amount up to this multiple of a known one, or down to the same fraction of it, is not far from it.
pub(crate) const TIMES_MAX: i64 = 5;
/// As [`TIMES_MAX`], for an amount above the opening bid.
const OPENING_TIMES_MAX: i64 = 1_000;

/// What an amount is compared with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum KnownAmount {
    /// The price that the item was sold for, or that bids have reached.
    Price,
    /// The low estimate.
    LowEstimate,
    /// The high estimate.
    HighEstimate,
    /// The opening bid; the first increment without one.
    OpeningBid,
}

impl KnownAmount {
    /// Its name in a sentence.
    pub fn words(self) -> &'static str {
        match self {
            Self::Price => "price",
            Self::LowEstimate => "low estimate",
            Self::HighEstimate => "high estimate",
            Self::OpeningBid => "opening bid",
        }
    }

    /// How an unusual amount compares with it, such as "more than five times".
    pub fn comparison(self, is_above: bool) -> &'static str {
        match (self, is_above) {
            (Self::OpeningBid, true) => "more than 1,000 times",
            (_, true) => "more than five times",
            (_, false) => "less than a fifth of",
        }
    }
}

/// Rejects a hammer price that is far from the price now, and from the price at the hammer.
pub(crate) fn require_usual_correction(item: &Item, amount: i64) -> Result<(), Rejection> {
    let near = |price: Option<i64>| price.map_or(Ok(()), |price| require_near(&[(KnownAmount::Price, price)], amount));
    match item.price_before_correction {
        Some(before) if near(Some(before)).is_ok() => Ok(()),
        _ => near(item.price()),
    }
}

/// Rejects an offer or an absentee bid that is far from the estimates and the price that bids have reached, or from the
/// opening bid of an item without them.
pub(crate) fn require_usual(auction: &Auction, item: &Item, amount: i64) -> Result<(), Rejection> {
    let passed_at = item.before_pass.as_ref().and_then(|before| before.standing.as_ref()).map(|bid| bid.amount);
    let known = [
        (KnownAmount::LowEstimate, item.low_estimate),
        (KnownAmount::HighEstimate, item.high_estimate),
        (KnownAmount::Price, item.price().or(passed_at)),
        (KnownAmount::OpeningBid, Some(item.opening_bid)),
    ];
    let mut known: Vec<_> = known.into_iter().filter_map(|(what, amount)| Some((what, amount?))).collect();
    known.retain(|(_, amount)| *amount > 0);
    if known.is_empty() {
        known.push((KnownAmount::OpeningBid, next_price(auction, item)));
    }
    require_near(&known, amount)
}

/// Rejects an amount far above the highest of these amounts, or far below the lowest.
fn require_near(known: &[(KnownAmount, i64)], amount: i64) -> Result<(), Rejection> {
    let far = |(known, of): (KnownAmount, i64), is_above| Err(Rejection::UnusualAmount { known, of, is_above });
    let times_max = |what| if what == KnownAmount::OpeningBid { OPENING_TIMES_MAX } else { TIMES_MAX };
    let value = |(_, value): &(KnownAmount, i64)| *value;
    let telling = known.iter().copied().filter(|(what, _)| *what != KnownAmount::OpeningBid).max_by_key(value);
    let highest = telling.or_else(|| known.iter().copied().max_by_key(value));
    let lowest = known.iter().copied().min_by_key(value);
    match (lowest, highest) {
        (_, Some(highest)) if amount > highest.1.saturating_mul(times_max(highest.0)) => far(highest, true),
        (Some(lowest), _) if amount.saturating_mul(TIMES_MAX) < lowest.1 => far(lowest, false),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use contract::{AuctionStatus, ItemStatus};

    use super::*;
    use crate::AuctionKind;
    use crate::sample::{auction, item, with_bid};

    fn far(known: KnownAmount, of: i64, is_above: bool) -> Result<(), Rejection> {
        Err(Rejection::UnusualAmount { known, of, is_above })
    }

    #[test]
    fn an_offer_is_compared_with_all_known_amounts() {
        let auction = auction(AuctionKind::Webcast, AuctionStatus::Live);
        let estimated = Item {
            low_estimate: Some(20_000),
            high_estimate: Some(30_000),
            opening_bid: 0,
            ..item(&auction, ItemStatus::Live)
        };
        let check = |item: &Item, amount| require_usual(&auction, item, amount);
        assert_eq!([4_000, 150_000].map(|amount| check(&estimated, amount)), [Ok(()), Ok(())]);
        assert_eq!(check(&estimated, 3_999), far(KnownAmount::LowEstimate, 20_000, false));
        assert_eq!(check(&estimated, 150_001), far(KnownAmount::HighEstimate, 30_000, true));
        let bidden = with_bid(estimated.clone(), 90_000);
        assert_eq!(check(&bidden, 450_000), Ok(()));
        assert_eq!(check(&bidden, 450_001), far(KnownAmount::Price, 90_000, true));
        let opened = Item { opening_bid: 1_000, ..estimated };
        assert_eq!(check(&opened, 200), Ok(()));
        assert_eq!(check(&opened, 199), far(KnownAmount::OpeningBid, 1_000, false));
        let unknown = Item { low_estimate: None, high_estimate: None, opening_bid: 0, ..opened };
        let first = auction.increments.first();
        assert_eq!(check(&unknown, 1_000 * first), Ok(()));
        assert_eq!(check(&unknown, 1_000 * first + 1), far(KnownAmount::OpeningBid, first, true));
    }

    #[test]
    fn a_correction_is_near_the_price_now_or_the_price_at_the_hammer() {
        let auction = auction(AuctionKind::Webcast, AuctionStatus::Live);
        let sold = with_bid(item(&auction, ItemStatus::Sold), 765_000_000);
        assert_eq!(require_usual_correction(&sold, 750), far(KnownAmount::Price, 765_000_000, false));
        assert_eq!(require_usual_correction(&sold, i64::MAX), far(KnownAmount::Price, 765_000_000, true));
        assert_eq!(require_usual_correction(&sold, 153_000_000), Ok(()));
        let mistaken = Item { price_before_correction: Some(765_000_000), ..with_bid(sold, 750) };
        assert_eq!([760, 765_000_000].map(|amount| require_usual_correction(&mistaken, amount)), [Ok(()), Ok(())]);
        assert_eq!(require_usual_correction(&mistaken, 75_000), far(KnownAmount::Price, 750, true));
    }
}
