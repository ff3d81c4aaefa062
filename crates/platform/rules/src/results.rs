//! What a sold item costs its buyer: hammer price, buyer's premium, tax.
//!
//! Rates are in basis points, a hundredth of a percent. Each amount is rounded to a whole minor unit for each item, half up:
//! the premium first; then the tax on the hammer price and the tax on the rounded premium, each by itself. Totals of many
//! items are sums of these amounts and are not rounded again.

use contract::ItemStatus;
use serde::{Deserialize, Serialize};

use crate::{Auction, Item, Rejection};

/// The highest rate: 100 %.
pub const BASIS_POINTS_MAX: u32 = 10_000;

/// What an auction adds to its hammer prices, basis points.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Charges {
    /// Buyer's premium, of the hammer price.
    pub premium_basis_points: u32,
    /// Tax on the hammer price; 0 where it is not taxed.
    pub hammer_tax_basis_points: u32,
    /// Tax on the premium.
    pub premium_tax_basis_points: u32,
}

impl Charges {
    /// Refuses a rate above 100 %.
    pub(crate) fn require_valid(&self) -> Result<(), Rejection> {
        let rates = [
            ("premiumBasisPoints", self.premium_basis_points),
            ("hammerTaxBasisPoints", self.hammer_tax_basis_points),
            ("premiumTaxBasisPoints", self.premium_tax_basis_points),
        ];
        match rates.into_iter().find(|(_, rate)| *rate > BASIS_POINTS_MAX) {
            Some((field, _)) => Err(Rejection::FieldInvalid { field, problem: "must be at most 10,000 basis points" }),
            None => Ok(()),
        }
    }

    /// What an item costs that was sold at this price, minor units.
    pub fn on(&self, hammer: i64) -> SaleResult {
        let premium = share(hammer, self.premium_basis_points);
        let tax_on_hammer = share(hammer, self.hammer_tax_basis_points);
        let tax_on_premium = share(premium, self.premium_tax_basis_points);
        let tax = tax_on_hammer.saturating_add(tax_on_premium);
        SaleResult { hammer, premium, tax, total: hammer.saturating_add(premium).saturating_add(tax) }
    }
}

/// What a sold item costs, minor units; also the sum of many.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SaleResult {
    /// Price at which it was sold.
    pub hammer: i64,
    /// Buyer's premium.
    pub premium: i64,
    /// Tax on both.
    pub tax: i64,
    /// All of it together.
    pub total: i64,
}

impl SaleResult {
    /// Of an item that is SOLD or SOLD_BUY_NOW; none of any other.
    pub fn of(auction: &Auction, item: &Item) -> Option<Self> {
        let is_sold = matches!(item.status, ItemStatus::Sold | ItemStatus::SoldBuyNow);
        item.price().filter(|_| is_sold).map(|hammer| auction.charges.on(hammer))
    }

    /// Both together. Errors: `sum_too_large`.
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

/// So many basis points of an amount that is not negative, half up.
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
    fn halves_are_rounded_up_for_each_amount_of_each_item() {
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
    fn only_what_is_sold_has_a_result_and_results_add_up() {
        let charges =
            Charges { premium_basis_points: 2_500, hammer_tax_basis_points: 0, premium_tax_basis_points: 2_000 };
        let auction = Auction { charges, ..auction(AuctionKind::Timed, AuctionStatus::Live) };
        let bidden = with_bid(item(&auction, ItemStatus::Live), 10_001);
        assert_eq!(SaleResult::of(&auction, &bidden), None);
        let sold = |status| SaleResult::of(&auction, &Item { status, ..bidden.clone() }).unwrap();
        let one = SaleResult { hammer: 10_001, premium: 2_500, tax: 500, total: 13_001 };
        assert_eq!([sold(ItemStatus::Sold), sold(ItemStatus::SoldBuyNow)], [one, one]);
        let two = SaleResult { hammer: 20_002, premium: 5_000, tax: 1_000, total: 26_002 };
        assert_eq!(one.plus(one), Ok(two));
        let endless = SaleResult { total: i64::MAX, ..one };
        assert_eq!(endless.plus(one), Err(Rejection::SumTooLarge));
    }

    #[test]
    fn no_rate_is_above_the_whole() {
        let charges = Charges { premium_tax_basis_points: 10_001, ..Charges::default() };
        assert_eq!(charges.require_valid().unwrap_err().code(), "field_invalid");
        assert!(Charges { premium_basis_points: 10_000, ..Charges::default() }.require_valid().is_ok());
    }
}
