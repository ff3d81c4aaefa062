//! Where a lot stands, in words and amounts.

use contract::ItemStatus;
use jiff::Timestamp;
use platform_core::saleroom::{SaleroomLot, SaleroomSale};
use platform_rules::{Auction, AuctionKind, Charges};
use platform_words::{Currency, Words, key};

/// Name of a data attribute, message, and the variables of the message with the placeholders in their place.
type ScriptMessage = (&'static str, &'static str, &'static [(&'static str, &'static str)]);

/// The messages of the script of the live pages, with the names of its data attributes and the placeholders that it fills in.
const OF_SCRIPT: &[ScriptMessage] = &[
    ("start", key("lot-starts-at"), &[]),
    ("bids-other", key("lot-bid-count"), &[("n", "{n}")]),
    ("hammer", key("lot-hammer-price"), &[]),
    ("total", key("lot-total"), &[("amount", "{}")]),
    ("sold", key("lot-sold"), &[]),
    ("unsold", key("lot-unsold"), &[]),
    ("passed", key("lot-passed"), &[]),
    ("suspended", key("lot-suspended"), &[]),
    ("ring", key("lot-in-ring"), &[]),
    ("ring-warned", key("live-ring-warned"), &[]),
    ("ring-paused", key("live-ring-paused"), &[]),
    ("ask", key("live-ask"), &[]),
    ("ends", key("lot-ends"), &[("time", "{}")]),
    ("soon", key("lot-ends-later"), &[("time", "{}")]),
    ("come", key("lot-to-come"), &[]),
    ("checking", key("live-checking"), &[]),
    ("withdrawn", key("live-withdrawn"), &[]),
    ("days", key("live-days"), &[("d", "{d}"), ("h", "{h}")]),
    ("hours", key("live-hours"), &[("h", "{h}"), ("m", "{m}")]),
    ("extended", key("live-extended"), &[("time", "{}")]),
    ("moved", key("live-moved"), &[("time", "{}")]),
    ("left-300", key("live-left-300"), &[]),
    ("left-60", key("live-left-60"), &[]),
    ("left-10", key("live-left-10"), &[]),
    ("paddle", key("lot-paddle"), &[("number", "{}")]),
    ("room", key("lot-in-room"), &[]),
    ("bid-withdrawn", key("lot-bid-withdrawn"), &[]),
    ("static", key("live-now"), &[]),
    ("lost", key("live-lost"), &[]),
    ("back", key("live-back"), &[]),
    ("over", key("live-over"), &[]),
    ("gone", key("live-gone"), &[]),
    ("again", key("live-again"), &[]),
    ("own", key("own-time"), &[("time", "{}")]),
    ("stage-ring", key("stage-ring"), &[("lot", "{lot}"), ("amount", "{amount}")]),
    ("stage-warned", key("stage-warned"), &[("lot", "{lot}"), ("amount", "{amount}")]),
    ("stage-paused", key("stage-paused"), &[("lot", "{lot}")]),
    ("stage-sold", key("stage-sold"), &[("lot", "{lot}"), ("amount", "{amount}")]),
    ("stage-passed", key("stage-passed"), &[("lot", "{lot}")]),
    ("stage-none", key("stage-none"), &[]),
    ("link-lost", key("live-link-lost"), &[]),
    ("message", key("message-from"), &[("time", "{}")]),
];

/// The words of the script of the live pages, with the names of its data attributes. `{…}` is filled in by the script.
pub(crate) fn of_script(words: Words) -> Vec<(&'static str, String)> {
    let one = |(name, message, placeholders): &ScriptMessage| {
        let text = match *placeholders {
            [] => words.of(message).into_owned(),
            [(only, shown)] => words.fill(message, only, shown),
            [(first, shown), (second, also_shown), ..] => {
                words.with(message, [(*first, (*shown).into()), (*second, (*also_shown).into())])
            }
        };
        (*name, text)
    };
    let mut all: Vec<_> = OF_SCRIPT.iter().map(one).collect();
    all.push(("bids-one", bids(words, 1)));
    all
}

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
    /// The words for the pages of a sale. A saleroom that has lost its link says so at the lot in the ring.
    pub(crate) fn in_sale(words: Words, sale: &SaleroomSale, lot: &SaleroomLot) -> Self {
        let shown = Self::of(words, &sale.auction, lot);
        if is_link_lost(sale, lot) {
            return Self { standing: words.of("live-link-lost").into_owned(), kind: "wait", ..shown };
        }
        shown
    }

    pub(crate) fn of(words: Words, auction: &Auction, lot: &SaleroomLot) -> Self {
        let currency = words.currency(auction);
        let sale = &lot.sale;
        let (label, amount) = match (sale.status, sale.price) {
            (ItemStatus::Sold | ItemStatus::SoldBuyNow, Some(price)) => {
                (words.of("lot-hammer-price").into_owned(), Some(price))
            }
            (ItemStatus::Unsold | ItemStatus::Passed, _) => (String::new(), None),
            (_, Some(price)) => (bids(words, sale.bid_count), Some(price)),
            (_, None) => (words.of("lot-starts-at").into_owned(), sale.minimum_bid),
        };
        let takes_bids = auction.kind == AuctionKind::Timed && sale.status == ItemStatus::Live;
        // Before the first bid, the amount is that of the next bid.
        let next = sale.minimum_bid.filter(|_| takes_bids && sale.price.is_some());
        let (standing, kind) = standing(words, auction, lot);
        Self {
            label,
            total: amount.map(|amount| with_charges(words, auction, amount)).unwrap_or_default(),
            amount: amount.map(|amount| currency.show(amount)).unwrap_or_default(),
            next: next.map(|next| (currency.show(next), with_charges(words, auction, next))),
            estimate: estimate(&currency, lot.estimate),
            standing,
            kind,
        }
    }
}

/// The lot is in the ring of a saleroom that has lost its link.
pub(crate) fn is_link_lost(sale: &SaleroomSale, lot: &SaleroomLot) -> bool {
    sale.is_link_lost && lot.sale.ring.is_some()
}

/// `Current bid, 7 bids`.
fn bids(words: Words, count: i64) -> String {
    words.with("lot-bid-count", [("n", count.into())])
}

/// The rates behind the totals that a page shows. Forms send them along: a bid is not placed at another total than the page's.
pub(crate) fn rates_shown(auction: &Auction) -> String {
    let Charges { premium_basis_points, hammer_tax_basis_points, premium_tax_basis_points } = auction.charges;
    format!("{premium_basis_points}-{hammer_tax_basis_points}-{premium_tax_basis_points}")
}

/// The rates that a form sent. A form without them gets rates that no sale has.
pub(crate) fn rates_of(shown: &str) -> Charges {
    let mut rates = shown.split('-').map(|rate| rate.parse().unwrap_or(u32::MAX));
    let mut next = || rates.next().unwrap_or(u32::MAX);
    Charges { premium_basis_points: next(), hammer_tax_basis_points: next(), premium_tax_basis_points: next() }
}

/// The amount with premium and taxes; empty when they add nothing.
pub(crate) fn with_charges(words: Words, auction: &Auction, amount: i64) -> String {
    let total = auction.charges.on(amount).total;
    if total == amount { String::new() } else { words.fill("lot-total", "amount", words.currency(auction).show(total)) }
}

fn estimate(currency: &Currency, (low, high): (Option<i64>, Option<i64>)) -> String {
    match (low, high) {
        (Some(low), Some(high)) if low != high => format!("{} – {}", currency.show(low), currency.show(high)),
        (Some(one), _) | (None, Some(one)) => currency.show(one),
        (None, None) => String::new(),
    }
}

/// When the lot ends; none for one that is over or waits for the ring.
pub(crate) fn ends_at(lot: &SaleroomLot) -> Option<Timestamp> {
    match lot.sale.status {
        ItemStatus::Live if lot.sale.ring.is_none() => lot.sale.effective_end_time,
        ItemStatus::Preview | ItemStatus::Draft => lot.sale.end_time,
        _ => None,
    }
}

fn standing(words: Words, auction: &Auction, lot: &SaleroomLot) -> (String, &'static str) {
    let zone = words.zone(auction);
    let text = |message: &str, kind| (words.of(message).into_owned(), kind);
    match lot.sale.status {
        ItemStatus::Sold | ItemStatus::SoldBuyNow => text(key("lot-sold"), "good"),
        ItemStatus::Unsold => text(key("lot-unsold"), "off"),
        ItemStatus::Passed => text(key("lot-passed"), "off"),
        ItemStatus::Suspended => text(key("lot-suspended"), "wait"),
        ItemStatus::Live if lot.sale.ring.is_some_and(|ring| ring.paused) => text(key("live-ring-paused"), "wait"),
        ItemStatus::Live if lot.sale.ring.is_some_and(|ring| ring.warnings > 0) => {
            text(key("live-ring-warned"), "live")
        }
        ItemStatus::Live if lot.sale.ring.is_some() => text(key("lot-in-ring"), "live"),
        ItemStatus::Live => match lot.sale.effective_end_time {
            Some(end) => (words.fill("lot-ends", "time", zone.show(end)), "live"),
            None => text(key("lot-to-come"), "info"),
        },
        ItemStatus::Preview | ItemStatus::Draft | ItemStatus::Withdrawn => match lot.sale.end_time {
            Some(end) => (words.fill("lot-ends-later", "time", zone.show(end)), "info"),
            None => text(key("lot-to-come"), "info"),
        },
    }
}

/// The date of a sale that its page shows.
pub(crate) fn first_date(sale: &SaleroomSale) -> Option<Timestamp> {
    match sale.auction.kind {
        AuctionKind::Timed => sale.auction.ends_at,
        AuctionKind::Webcast => sale.auction.starts_at,
    }
}

/// The kind of a sale and its dates, such as `Timed auction, lots end from Fri 4 Dec 2026, 19:00 GMT`.
pub(crate) fn dates(words: Words, sale: &SaleroomSale) -> String {
    let date = first_date(sale).map(|at| words.zone(&sale.auction).show(at));
    match (sale.auction.kind, date) {
        (AuctionKind::Timed, Some(end)) => words.fill("timed-from", "time", end),
        (AuctionKind::Timed, None) => words.of("timed").into_owned(),
        (AuctionKind::Webcast, Some(start)) => words.fill("webcast-from", "time", start),
        (AuctionKind::Webcast, None) => words.of("webcast").into_owned(),
    }
}

/// `1 lot`, `340 lots`.
pub(crate) fn lots(words: Words, count: u64) -> String {
    words.with("lots-count", [("n", count.into())])
}
