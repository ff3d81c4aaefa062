//! Validation of the fields of an item.

use crate::bid::AMOUNT_MAX;
use crate::{Auction, AuctionKind, Item, Rejection};

const OUT_OF_RANGE: &str = "must be between 0 and 1,000,000,000,000,000 minor units";
const OUT_OF_POSITIVE_RANGE: &str = "must be between 1 and 1,000,000,000,000,000 minor units";

/// Rejects invalid fields; the rejection names the first one.
pub(super) fn require_valid(item: &Item) -> Result<(), Rejection> {
    let wrong = |field, problem| Err(Rejection::FieldInvalid { field, problem });
    let amount = |amount: i64| (0..=AMOUNT_MAX).contains(&amount);
    let positive = |amount: i64| (1..=AMOUNT_MAX).contains(&amount);
    if item.lot_number.trim().is_empty() {
        return wrong("lotNumber", "must not be empty");
    }
    if item.position < 0 {
        return wrong("position", "must not be negative");
    }
    if !amount(item.opening_bid) {
        return wrong("openingBid", OUT_OF_RANGE);
    }
    if !item.reserve.is_none_or(|reserve| amount(reserve.reveal())) {
        return wrong("reserve", OUT_OF_RANGE);
    }
    if !item.low_estimate.is_none_or(amount) {
        return wrong("lowEstimate", OUT_OF_RANGE);
    }
    if !item.high_estimate.is_none_or(amount) {
        return wrong("highEstimate", OUT_OF_RANGE);
    }
    if item.low_estimate.zip(item.high_estimate).is_some_and(|(low, high)| low > high) {
        return wrong("highEstimate", "must not be below the low estimate");
    }
    if !item.fixed_increment.is_none_or(positive) {
        return wrong("fixedIncrement", OUT_OF_POSITIVE_RANGE);
    }
    if !item.buy_now.is_none_or(positive) {
        return wrong("buyNow", OUT_OF_POSITIVE_RANGE);
    }
    if item.buy_now.is_some_and(|buy_now| buy_now < item.opening_bid) {
        return wrong("buyNow", "must not be below the opening bid");
    }
    if item.buy_now.zip(item.reserve).is_some_and(|(buy_now, reserve)| buy_now < reserve.reveal()) {
        return wrong("buyNow", "must not be below the reserve");
    }
    Ok(())
}

/// Rejects fields that do not fit the auction: a buy-now price or an end in a webcast, and an end before the auction's
/// start.
pub(super) fn require_valid_in_auction(auction: &Auction, item: &Item) -> Result<(), Rejection> {
    let wrong = |field, problem| Err(Rejection::FieldInvalid { field, problem });
    let is_timed = auction.kind == AuctionKind::Timed;
    if !is_timed && item.buy_now.is_some() {
        return wrong("buyNow", "is for timed auctions only");
    }
    if !is_timed && item.end_time.is_some() {
        return wrong("endTime", "is for timed auctions only");
    }
    if item.end_time.zip(auction.starts_at).is_some_and(|(end, start)| end <= start) {
        return wrong("endTime", "must be after the start of the auction");
    }
    Ok(())
}
