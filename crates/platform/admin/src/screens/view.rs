//! What a screen shows of the lot in the ring, or of the last lot while the ring is empty.

use std::collections::BTreeMap;

use contract::{AuctionStatus, ItemStatus};
use jiff::civil::Date;
use platform_core::port::{GuideRate, ScreenKind};
use platform_core::{Caller, PlatformError};
use platform_rules::ring::Commission;
use platform_rules::{Auction, AuctionKind, Item, StandingBid, WebcastPhase};
use uuid::Uuid;

use super::rates;
use crate::admin::Admin;
use crate::desk::amounts::Money;

/// A screen's content, as text.
#[derive(Debug, Default)]
pub(super) struct ScreenView {
    pub(super) sale: String,
    pub(super) lot: Option<LotOnScreen>,
    /// One word about the lot: a class of the style sheet, and the text.
    pub(super) state: (&'static str, String),
    /// The bid that stands, or the hammer price.
    pub(super) bid: Option<String>,
    /// Who bid: a paddle, or the room.
    pub(super) bidder: Option<String>,
    pub(super) ask: Option<String>,
    pub(super) reserve_met: Option<bool>,
    /// Waiting web bids: amount and paddle, the highest first, and the earlier one of equal ones.
    pub(super) web_bids: Vec<(String, String)>,
    /// The book bids next.
    pub(super) book_bids: Option<BookBid>,
    /// The reserve, for viewers who may see it.
    pub(super) reserve: Option<String>,
    /// Maxima and paddles of the commission book, the highest first; none for viewers who may not see them.
    pub(super) book: Option<Vec<(String, String)>>,
    pub(super) next: Vec<(String, String)>,
    /// The price in other currencies: the date of the rates, and the amounts.
    pub(super) guides: Vec<(String, Vec<String>)>,
}

impl ScreenView {
    /// The class of the style sheet for large figures with the characters of the longer one. A figure is as large as its column
    /// allows, and the bid and the asking price have one size.
    pub(super) fn figure_size(&self) -> &'static str {
        let chars = |text: &Option<String>| text.as_ref().map_or(0, |text| text.chars().count());
        match chars(&self.bid).max(chars(&self.ask)) {
            0..=8 => "chars-8",
            9..=10 => "chars-10",
            11..=12 => "chars-12",
            13..=15 => "chars-15",
            _ => "chars-20",
        }
    }
}

/// The bid that the book makes next.
#[derive(Debug)]
pub(super) struct BookBid {
    /// Amount and paddle; none for viewers who may not see the reserve, which the amount could show.
    pub(super) figures: Option<(String, String)>,
}

#[derive(Debug)]
pub(super) struct LotOnScreen {
    pub(super) number: String,
    pub(super) title: String,
    pub(super) description: String,
    pub(super) estimate: Option<String>,
    pub(super) picture: Option<String>,
}

/// Which screen is shown to whom.
pub(super) struct Viewing<'a> {
    pub(super) caller: &'a Caller,
    pub(super) webcast: Uuid,
    pub(super) kind: ScreenKind,
    /// The speaker's view shows the reserve and the commission book.
    pub(super) shows_reserve: bool,
}

/// Reads what the screens of a webcast show.
pub(super) async fn read(admin: &Admin, viewing: &Viewing<'_>) -> Result<ScreenView, PlatformError> {
    let Viewing { caller, webcast, kind, shows_reserve } = *viewing;
    let platform = admin.platform();
    let ring = platform.ring(caller, webcast).await?;
    let auction = &ring.auction;
    if auction.kind != AuctionKind::Webcast {
        return Err(PlatformError::NotFound("webcast"));
    }
    let last = match (&ring.item, auction.last_in_ring) {
        (None, Some(last)) => Some(platform.item(caller, last).await?.0),
        _ => None,
    };
    let money = Money::of(&auction.currency);
    let shown = ring.item.as_ref().or(last.as_ref());
    let mut view = of_item(auction, shown, &money);
    if let (Some(lot), Some(item)) = (&mut view.lot, shown) {
        lot.picture = crate::images::picture(admin, caller, item).await?;
    }
    if let (Some(desk), Some(item)) = (&ring.desk, &ring.item) {
        let mut pending: Vec<_> = item.pending.iter().collect();
        pending.sort_by_key(|bid| std::cmp::Reverse(bid.amount));
        view.web_bids = pending.iter().map(|bid| (money.text(bid.amount), bid.bidder.clone())).collect();
        view.book_bids = desk.next_commission.as_ref().map(|(next, amount)| BookBid {
            figures: shows_reserve.then(|| (money.text(*amount), next.bidder.clone())),
        });
        if shows_reserve {
            let maximum = |left: &Commission| (money.text(left.maximum.reveal()), left.bidder.clone());
            view.book = Some(desk.commissions.iter().map(maximum).collect());
        }
    }
    if let Some(item) = shown.filter(|_| shows_reserve) {
        view.reserve = item.reserve.map(|reserve| money.text(reserve.reveal()));
    }
    if let Some(desk) = &ring.desk {
        view.next = desk.next.iter().map(|item| (item.lot_number.clone(), item.title.clone())).collect();
    }
    let price = shown.and_then(|item| {
        let standing = shown_bid(item).map(|standing| standing.amount);
        standing.or(item.in_ring().map(|ring| ring.asking_price))
    });
    if let (ScreenKind::Room, Some(price)) = (kind, price) {
        view.guides = guides(&platform.guide_rates(caller, webcast).await?, price, &money);
    }
    Ok(view)
}

/// The bid that stands in the ring, or that the hammer sold to. A later decision, such as an offer for a passed lot, is
/// not shown in public.
fn shown_bid(item: &Item) -> Option<&StandingBid> {
    let is_shown = item.in_ring().is_some() || (item.status == ItemStatus::Sold && !item.post_sale_offer);
    item.standing.as_ref().filter(|_| is_shown)
}

fn of_item(auction: &Auction, item: Option<&Item>, money: &Money) -> ScreenView {
    let sale = auction.title.clone();
    let Some(item) = item else {
        return ScreenView { sale, state: (("waiting"), waiting(auction)), ..ScreenView::default() };
    };
    let standing = shown_bid(item);
    let ring = item.in_ring();
    let bid = standing.map(|standing| money.text(standing.amount));
    let bidder = standing.map(|standing| match standing.bidder.as_str() {
        "" => "In the room".to_owned(),
        paddle => format!("Paddle {paddle}"),
    });
    ScreenView {
        sale,
        lot: Some(LotOnScreen {
            number: item.lot_number.clone(),
            title: item.title.clone(),
            description: item.description.clone(),
            estimate: money.range(item.low_estimate, item.high_estimate),
            picture: None,
        }),
        state: state(item),
        bid,
        bidder,
        ask: ring.map(|ring| money.text(ring.asking_price)),
        reserve_met: item.reserve_met().filter(|_| !item.post_sale_offer),
        ..ScreenView::default()
    }
}

/// The price in other currencies, grouped by the date of the rates.
fn guides(rates: &[GuideRate], price: i64, money: &Money) -> Vec<(String, Vec<String>)> {
    let mut by_date: BTreeMap<Date, Vec<String>> = BTreeMap::new();
    for rate in rates {
        if let Some(amount) = rate.convert(price, money.digits()) {
            by_date.entry(rate.date).or_default().push(Money::of(&rate.currency).text(amount));
        }
    }
    by_date.into_iter().rev().map(|(date, amounts)| (rates::day(date), amounts)).collect()
}

fn waiting(auction: &Auction) -> String {
    match (auction.status, auction.phase) {
        (AuctionStatus::Live, WebcastPhase::Live) => "The next lot follows".to_owned(),
        (AuctionStatus::Draft | AuctionStatus::Preview | AuctionStatus::Live, _) => "The sale begins soon".to_owned(),
        _ => "The sale has ended".to_owned(),
    }
}

fn state(item: &Item) -> (&'static str, String) {
    let Some(ring) = item.in_ring() else {
        return match item.status {
            // An offer for a passed lot is no result of the ring.
            ItemStatus::Sold if !item.post_sale_offer => ("sold", "Sold".to_owned()),
            ItemStatus::Sold => ("passed", "Passed".to_owned()),
            ItemStatus::Passed => ("passed", "Passed".to_owned()),
            _ => ("waiting", "The next lot follows".to_owned()),
        };
    };
    match (ring.paused, ring.warnings, &item.standing) {
        (true, ..) => ("paused", "Paused".to_owned()),
        (_, 0, None) => ("bidding", "Who bids?".to_owned()),
        (_, 0, Some(_)) => ("bidding", "Bidding".to_owned()),
        (_, 1, _) => ("warning", "Fair warning".to_owned()),
        _ => ("warning", "Last call".to_owned()),
    }
}
