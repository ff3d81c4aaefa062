//! The total that a buyer pays for a sold item: hammer price, buyer's premium, tax.
//!
//! Rates are in basis points; 100 basis points are 1 %. Every amount of each item is rounded half up to a whole minor
//! unit: the premium, then the tax on the hammer price and the tax on the rounded premium, each separately. Totals of
//! several items are sums of these amounts, without further rounding.

use contract::ItemStatus;
use serde::{Deserialize, Serialize};

use crate::{Auction, Item, Rejection};

/// The highest rate: 100 %.
pub const BASIS_POINTS_MAX: u32 = 10_000;

/// Rates of an auction that are added to its hammer prices, basis points.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Charges {
    /// Buyer's premium on the hammer price.
    pub premium_basis_points: u32,
    /// Tax on the hammer price; 0 where it is not taxed.
    pub hammer_tax_basis_points: u32,
    /// Tax on the premium.
    pub premium_tax_basis_points: u32,
}

impl Charges {
    /// Rejects a rate above 100 %.
    pub(crate) fn require_valid(&self) -> Result<(), Rejection> {
        let rates = [
            ("premiumBasisPoints", self.premium_basis_points),
            ("hammerTaxBasisPoints", self.hammer_tax_basis_points),
            ("premiumTaxBasisPoints", self.premium_tax_basis_points),
        ];
        match rates.into_iter().find(|(_, rate)| *rate > BASIS_POINTS_MAX) {
            Some((field, _)) => {
                Err(Rejection::FieldInvalid { field, problem: "must be at most 10,000 basis points, which is 100 %" })
            }
            None => Ok(()),
        }
    }

    /// The amounts for an item with this hammer price, minor units.
    pub fn on(&self, hammer: i64) -> SaleResult {
        let premium = share(hammer, self.premium_basis_points);
        let tax_on_hammer = share(hammer, self.hammer_tax_basis_points);
        let tax_on_premium = share(premium, self.premium_tax_basis_points);
        let tax = tax_on_hammer.saturating_add(tax_on_premium);
        SaleResult { hammer, premium, tax, total: hammer.saturating_add(premium).saturating_add(tax) }
    }
}

/// The amounts of a sold item, minor units; also a sum of several items.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SaleResult {
    /// Hammer price.
    pub hammer: i64,
    /// Buyer's premium.
    pub premium: i64,
    /// Tax on both.
    pub tax: i64,
    /// Hammer price, premium and tax.
    pub total: i64,
}

impl SaleResult {
    /// The amounts of an item that is SOLD or SOLD_BUY_NOW; none for any other status.
    pub fn of(auction: &Auction, item: &Item) -> Option<Self> {
        let is_sold = matches!(item.status, ItemStatus::Sold | ItemStatus::SoldBuyNow);
        item.price().filter(|_| is_sold).map(|hammer| auction.charges.on(hammer))
    }

    /// The sum of both.
    ///
    /// Errors: `sum_too_large`.
    pub fn plus(self, other: Self) -> Result<Self, Rejection> {
        let sum = |one: i64, other: i64| one.checked_add(other).ok_or(Rejection::SumTooLarge);
        Ok(Self {
            hammer: sum(self.hammer, other.hammer)?,
            premium: sum(self.premium, other.premium)?,
            tax: sum(self.tax, other.tax)?,
            total: sum(self.total, other.total)?,
        })
    }
}

/// The share of a non-negative amount at a rate in basis points, rounded half up.
fn share(amount: i64, basis_points: u32) -> i64 {
    let exact = i128::from(amount) * i128::from(basis_points);
    i64::try_from((exact + i128::from(BASIS_POINTS_MAX / 2)) / i128::from(BASIS_POINTS_MAX)).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::AMOUNT_MAX;
    use crate::sample::{auction, item, with_bid};
    use crate::{Auction, AuctionKind};
    use contract::AuctionStatus;

    #[test]
    fn each_amount_is_rounded_half_up() {
        for (amount, rate, rounded) in [
            (0, 2_500, 0),
            (1, 5_000, 1),
            (1, 4_999, 0),
            (3, 5_000, 2),
            (99, 2_500, 25),
            (98, 2_500, 25),
            (97, 2_500, 24),
        ] {
            assert_eq!(share(amount, rate), rounded, "{rate} of {amount}");
        }
        assert_eq!(share(AMOUNT_MAX, 10_000), AMOUNT_MAX);
    }

    #[test]
    fn only_sold_items_have_a_result_and_results_add_up() {
        let charges =
            Charges { premium_basis_points: 2_500, hammer_tax_basis_points: 0, premium_tax_basis_points: 2_000 };
        let auction = Auction { charges, ..auction(AuctionKind::Timed, AuctionStatus::Live) };
        let live = with_bid(item(&auction, ItemStatus::Live), 10_001);
        assert_eq!(SaleResult::of(&auction, &live), None);
        let sold = |status| SaleResult::of(&auction, &Item { status, ..live.clone() }).unwrap();
        let one = SaleResult { hammer: 10_001, premium: 2_500, tax: 500, total: 13_001 };
        assert_eq!([sold(ItemStatus::Sold), sold(ItemStatus::SoldBuyNow)], [one, one]);
        let two = SaleResult { hammer: 20_002, premium: 5_000, tax: 1_000, total: 26_002 };
        assert_eq!(one.plus(one), Ok(two));
        let endless = SaleResult { total: i64::MAX, ..one };
        assert_eq!(endless.plus(one), Err(Rejection::SumTooLarge));
    }

    #[test]
    fn a_rate_above_100_percent_is_rejected() {
        let charges = Charges { premium_tax_basis_points: 10_001, ..Charges::default() };
        assert_eq!(charges.require_valid().unwrap_err().code(), "field_invalid");
        assert!(Charges { premium_basis_points: 10_000, ..Charges::default() }.require_valid().is_ok());
    }
}
