//! Prices far from the asking price, which are mostly typing errors such as 30000 for 300, or a paddle that was typed as a price.
//!
//! The rules reject a bid that the clerk enters, and an asking price, beyond [`unconfirmed_price_max`] until the clerk
//! confirms it. Bids of bidders over the API and of the commission book are not typed at the desk, and are not checked.

use crate::bid::next_price;
use crate::proxy::Pricing;
use crate::unusual_amount::TIMES_MAX;
use crate::{Auction, Item, Rejection};

/// Increments above the asking price that need no confirmation.
const INCREMENTS_MAX: u32 = 10;

/// The highest price that the clerk enters without a confirmation, minor units: ten increments above the asking price,
/// and not above five times the high estimate, unless the asking price has passed that already.
pub fn unconfirmed_price_max(auction: &Auction, item: &Item) -> i64 {
    let asked = item.in_ring().map_or_else(|| next_price(auction, item), |ring| ring.asking_price);
    let pricing = Pricing::of(auction, item);
    let jumped = (0..INCREMENTS_MAX).fold(asked, |price, _| price.saturating_add(pricing.increment_at(price)));
    let estimated = item.high_estimate.map(|high| high.saturating_mul(TIMES_MAX));
    estimated.filter(|estimated| *estimated >= asked).map_or(jumped, |estimated| jumped.min(estimated))
}

/// Rejects a price that needs a confirmation.
pub(super) fn require_no_large_jump(auction: &Auction, item: &Item, price: i64) -> Result<(), Rejection> {
    let maximum = unconfirmed_price_max(auction, item);
    if price > maximum { Err(Rejection::LargeJump { maximum }) } else { Ok(()) }
}

/// The lowest asking price that the clerk sets without a confirmation, minor units: a fifth of the asking price now.
pub fn unconfirmed_price_min(auction: &Auction, item: &Item) -> i64 {
    let asked = item.in_ring().map_or_else(|| next_price(auction, item), |ring| ring.asking_price);
    asked / TIMES_MAX + i64::from(asked % TIMES_MAX > 0)
}

/// Rejects an asking price that needs a confirmation because it is low.
pub(super) fn require_no_large_drop(auction: &Auction, item: &Item, price: i64) -> Result<(), Rejection> {
    let minimum = unconfirmed_price_min(auction, item);
    if price < minimum { Err(Rejection::LargeDrop { minimum }) } else { Ok(()) }
}
