//! The lots that a consignor brought, by sale, with their results.

use contract::ItemStatus;
use platform_core::bidders::ConsignedSale;
use platform_rules::Item;
use uuid::Uuid;

use super::party::LotLink;
use crate::sale::labels::{self, Badge};
use platform_words::Currency;

/// A sale with lots of the consignor.
pub(super) struct ConsignedRow {
    pub(super) auction: Uuid,
    pub(super) title: String,
    pub(super) status: Badge,
    /// Number of lots, in words.
    pub(super) count: String,
    /// How many of them are sold, in words; empty if none is.
    pub(super) sold: String,
    /// The sum of the hammer prices; empty if none is sold.
    pub(super) total: String,
    pub(super) lots: Vec<ConsignedLot>,
    /// It has more lots than are listed.
    pub(super) has_more: bool,
}

pub(super) struct ConsignedLot {
    pub(super) link: LotLink,
    pub(super) status: Badge,
    /// The hammer price, or the price so far.
    pub(super) price: String,
}

pub(super) fn row(consigned: &ConsignedSale) -> ConsignedRow {
    let ConsignedSale { auction, items, has_more } = consigned;
    let currency = Currency::of(auction);
    let is_sold = |item: &&Item| matches!(item.status, ItemStatus::Sold | ItemStatus::SoldBuyNow);
    let (sold, total) = items.iter().filter(is_sold).fold((0_u64, 0_i64), |(count, total), item| {
        (count + 1, total.saturating_add(item.price().unwrap_or_default()))
    });
    let lot = |item: &Item| ConsignedLot {
        link: LotLink::of(item),
        status: item.status.into(),
        price: item.price().map(|price| currency.show(price)).unwrap_or_default(),
    };
    ConsignedRow {
        auction: auction.uuid,
        title: auction.shown_title().to_owned(),
        status: auction.status.into(),
        count: labels::count(items.len() as u64, "lot", "lots"),
        sold: if sold == 0 { String::new() } else { format!("{} sold", labels::number(sold)) },
        total: if sold == 0 { String::new() } else { currency.show(total) },
        lots: items.iter().map(lot).collect(),
        has_more: *has_more,
    }
}
