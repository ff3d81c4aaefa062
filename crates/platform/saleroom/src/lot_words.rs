//! Where a lot stands, in words and amounts.

use contract::ItemStatus;
use platform_core::saleroom::{SaleroomLot, SaleroomSale};
use platform_rules::{Auction, AuctionKind};
use platform_words::{Currency, SaleZone};

/// A lot in words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LotWords {
    /// What the amount is, such as `Current bid, 7 bids`.
    pub(crate) label: String,
    /// The amount; empty when there is none to show.
    pub(crate) amount: String,
    /// The amount with premium and taxes; empty when they add nothing.
    pub(crate) total: String,
    /// The least amount of the next bid with its total; none when the lot takes no bids.
    pub(crate) next: Option<(String, String)>,
    /// Low to high estimate; empty without one.
    pub(crate) estimate: String,
    /// Where the lot stands, such as `Ends Fri 4 Dec 2026, 19:00 GMT`.
    pub(crate) standing: String,
    /// The class of the standing's colour.
    pub(crate) kind: &'static str,
}

impl LotWords {
    pub(crate) fn of(auction: &Auction, lot: &SaleroomLot) -> Self {
        let currency = Currency::of(auction);
        let sale = &lot.sale;
        let (label, amount) = match (sale.status, sale.price) {
            (ItemStatus::Sold | ItemStatus::SoldBuyNow, Some(price)) => ("Hammer price".to_owned(), Some(price)),
            (ItemStatus::Unsold | ItemStatus::Passed, _) => (String::new(), None),
            (_, Some(price)) => (bids(sale.bid_count), Some(price)),
            (_, None) => ("Starts at".to_owned(), sale.minimum_bid),
        };
        let takes_bids = auction.kind == AuctionKind::Timed && sale.status == ItemStatus::Live;
        // Before the first bid, the amount is that of the next bid.
        let next = sale.minimum_bid.filter(|_| takes_bids && sale.price.is_some());
        let (standing, kind) = standing(auction, lot);
        Self {
            label,
            total: amount.map(|amount| with_charges(auction, &currency, amount)).unwrap_or_default(),
            amount: amount.map(|amount| currency.show(amount)).unwrap_or_default(),
            next: next.map(|next| (currency.show(next), with_charges(auction, &currency, next))),
            estimate: estimate(&currency, lot.estimate),
            standing,
            kind,
        }
    }
}

/// `Current bid, 7 bids`.
fn bids(count: i64) -> String {
    match count {
        1 => "Current bid, 1 bid".to_owned(),
        count => format!("Current bid, {count} bids"),
    }
}

/// The amount with premium and taxes; empty when they add nothing.
pub(crate) fn with_charges(auction: &Auction, currency: &Currency, amount: i64) -> String {
    let total = auction.charges.on(amount).total;
    if total == amount { String::new() } else { format!("{} with premium and taxes", currency.show(total)) }
}

fn estimate(currency: &Currency, (low, high): (Option<i64>, Option<i64>)) -> String {
    match (low, high) {
        (Some(low), Some(high)) if low != high => format!("{} – {}", currency.show(low), currency.show(high)),
        (Some(one), _) | (None, Some(one)) => currency.show(one),
        (None, None) => String::new(),
    }
}

fn standing(auction: &Auction, lot: &SaleroomLot) -> (String, &'static str) {
    let zone = SaleZone::of(auction);
    let text = |text: &str| text.to_owned();
    match lot.sale.status {
        ItemStatus::Sold | ItemStatus::SoldBuyNow => (text("Sold"), "good"),
        ItemStatus::Unsold => (text("Not sold"), "off"),
        ItemStatus::Passed => (text("Passed"), "off"),
        ItemStatus::Suspended => (text("Bidding is paused"), "wait"),
        ItemStatus::Live if lot.sale.ring.is_some() => (text("In the ring now"), "live"),
        ItemStatus::Live => match lot.sale.effective_end_time {
            Some(end) => (format!("Ends {}", zone.show(end)), "live"),
            None => (text("To come"), "info"),
        },
        ItemStatus::Preview | ItemStatus::Draft | ItemStatus::Withdrawn => match lot.sale.end_time {
            Some(end) => (format!("Bidding is not open yet. Ends {}", zone.show(end)), "info"),
            None => (text("To come"), "info"),
        },
    }
}

/// The kind of a sale and its dates, such as `Timed auction, lots end from Fri 4 Dec 2026, 19:00 GMT`.
pub(crate) fn dates(sale: &SaleroomSale) -> String {
    let (auction, zone) = (&sale.auction, SaleZone::of(&sale.auction));
    match (auction.kind, auction.starts_at, auction.ends_at) {
        (AuctionKind::Timed, _, Some(end)) => format!("Timed auction, lots end from {}", zone.show(end)),
        (AuctionKind::Timed, _, None) => "Timed auction".to_owned(),
        (AuctionKind::Webcast, Some(start), _) => format!("Live auction, begins {}", zone.show(start)),
        (AuctionKind::Webcast, None, _) => "Live auction".to_owned(),
    }
}

/// `1 lot`, `340 lots`.
pub(crate) fn lots(count: u64) -> String {
    match count {
        0 => "Lots to be announced".to_owned(),
        1 => "1 lot".to_owned(),
        count => format!("{count} lots"),
    }
}
