//! Where a lot stands, in words and amounts.

use contract::ItemStatus;
use platform_core::saleroom::{SaleroomLot, SaleroomSale};
use platform_rules::{Auction, AuctionKind};
use platform_words::{Currency, SaleZone};

/// The words of the script of the live pages, with the names of its data attributes. `{…}` is filled in.
pub(crate) const OF_SCRIPT: &[(&str, &str)] = &[
    ("start", STARTS_AT),
    ("bids-one", "Current bid, 1 bid"),
    ("bids-other", "Current bid, {n} bids"),
    ("hammer", HAMMER_PRICE),
    ("total", "{} with premium and taxes"),
    ("sold", SOLD),
    ("unsold", UNSOLD),
    ("passed", PASSED),
    ("suspended", SUSPENDED),
    ("ring", IN_RING),
    ("ring-warned", "In the ring now. Fair warning"),
    ("ring-paused", "In the ring. Bidding is paused"),
    ("ask", "Asking price"),
    ("ends", "Ends {}"),
    ("soon", "Bidding is not open yet. Ends {}"),
    ("come", TO_COME),
    ("checking", "Checking final bids…"),
    ("withdrawn", "Not on view any more"),
    ("time", "{weekday} {day} {month} {year}, {time}"),
    ("days", "{d} d {h} h"),
    ("hours", "{h} h {m} min"),
    ("extended", "Extended to {}. A bid came in."),
    ("moved", "The lot now ends at {}."),
    ("left-300", "5 minutes left."),
    ("left-60", "1 minute left."),
    ("left-10", "10 seconds left."),
    ("paddle", "Paddle {}"),
    ("room", "In the room"),
    ("bid-withdrawn", ", withdrawn"),
    ("static", "Prices on this page are live."),
    ("lost", "Link lost. Prices may be old."),
    ("back", "Welcome back. Updating…"),
    ("over", "This sale is over."),
    ("gone", "This page is not on view any more."),
    ("again", "Open the page again"),
    ("stage-ring", "Lot {lot} is in the ring. Asking price {amount}."),
    ("stage-warned", "Lot {lot}: fair warning. Asking price {amount}."),
    ("stage-paused", "Lot {lot} is in the ring. Bidding is paused."),
    ("stage-sold", "Lot {lot} sold at {amount}."),
    ("stage-passed", "Lot {lot} passed."),
    ("stage-none", "No lot is in the ring."),
];

const STARTS_AT: &str = "Starts at";
const HAMMER_PRICE: &str = "Hammer price";
const SOLD: &str = "Sold";
const UNSOLD: &str = "Not sold";
const PASSED: &str = "Passed";
const SUSPENDED: &str = "Bidding is paused";
const IN_RING: &str = "In the ring now";
const TO_COME: &str = "To come";

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
            (ItemStatus::Sold | ItemStatus::SoldBuyNow, Some(price)) => (HAMMER_PRICE.to_owned(), Some(price)),
            (ItemStatus::Unsold | ItemStatus::Passed, _) => (String::new(), None),
            (_, Some(price)) => (bids(sale.bid_count), Some(price)),
            (_, None) => (STARTS_AT.to_owned(), sale.minimum_bid),
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
        ItemStatus::Sold | ItemStatus::SoldBuyNow => (text(SOLD), "good"),
        ItemStatus::Unsold => (text(UNSOLD), "off"),
        ItemStatus::Passed => (text(PASSED), "off"),
        ItemStatus::Suspended => (text(SUSPENDED), "wait"),
        ItemStatus::Live if lot.sale.ring.is_some() => (text(IN_RING), "live"),
        ItemStatus::Live => match lot.sale.effective_end_time {
            Some(end) => (format!("Ends {}", zone.show(end)), "live"),
            None => (text(TO_COME), "info"),
        },
        ItemStatus::Preview | ItemStatus::Draft | ItemStatus::Withdrawn => match lot.sale.end_time {
            Some(end) => (format!("Bidding is not open yet. Ends {}", zone.show(end)), "info"),
            None => (text(TO_COME), "info"),
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
