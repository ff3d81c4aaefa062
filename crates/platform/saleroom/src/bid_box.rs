//! What a bidder can do on the page of a lot, and where they stand on it.

use std::borrow::Cow;

use askama::Template;
use contract::{AuctionStatus, ItemStatus};
use kit_design::form_field::FormField;
use platform_core::PlatformResult;
use platform_core::port::{Registration, RegistrationStatus};
use platform_core::saleroom::{OwnStanding, SaleroomLot, SaleroomSale};
use platform_rules::{AuctionKind, BidSource, PublicBid, PublicItem};
use platform_words::{Currency, Words, key};
use uuid::Uuid;

use crate::account::next_query;
use crate::house::House;
use crate::lot_words::{LotWords, is_link_lost, rates_shown, with_charges};
use crate::offers::{self, Ask, OfferForms};
use crate::register::Standing;

/// The part of a lot's page on which a bidder bids.
#[derive(Template)]
#[template(path = "bid_box.html")]
pub(crate) struct BidBox {
    words: Words,
    /// Path of the lot.
    path: String,
    lot: Uuid,
    /// Path of the sale.
    sale_path: String,
    /// Path of the house.
    house_path: String,
    step: Step,
    /// The answer to a bid; empty without one.
    pub(crate) answer: Answer,
    /// Where the bidder stands on the lot; none before their first bid.
    standing: Option<LotStanding>,
    paddle: String,
    /// The lot as the box shows it.
    version: i64,
    /// The lot is in the ring, and the saleroom has lost its link.
    is_link_lost: bool,
    /// What the script compares when it reads the box again.
    own: OwnView,
    is_webcast: bool,
    /// On a phone the bar with price, standing and button stays at the edge of the screen.
    is_fixed: bool,
    /// What the amount is, and the amount, as beside the lot.
    price: (String, String),
    /// See [`rates_shown`].
    rates: String,
    is_watched: bool,
    is_signed_in: bool,
    /// The query that leads back to the lot after a sign-in.
    next_query: String,
}

impl askama::filters::HtmlSafe for BidBox {}

impl BidBox {
    /// The bidder has bid on the lot, or watches it.
    pub(crate) fn is_followed(&self) -> bool {
        self.is_watched || self.standing.is_some()
    }
}

/// What a bidder's own page knows of their bids on the lot.
#[derive(Debug, Default)]
struct OwnView {
    leads: bool,
    /// Number of their latest bid over the internet that counts; 0 without one.
    bid: i64,
    /// The latest bid on the lot was theirs, and the house withdrew it.
    is_withdrawn: bool,
    /// Their maximum while they lead, and their bid that waits for the clerk, minor units; empty without one.
    maximum: String,
    waiting: String,
    /// What a page says when the bidder leads by a bid that another page of theirs sent.
    elsewhere: String,
}

impl OwnView {
    fn of(words: Words, own: &OwnStanding, sale: &PublicItem, bids: &[PublicBid], currency: &Currency) -> Self {
        let is_own = |bid: &&PublicBid| bid.bidder == own.paddle && bid.source == BidSource::Internet;
        let leads = own.leads && sale.status == ItemStatus::Live;
        let price = sale.price.filter(|_| leads).map(|price| currency.show(price));
        Self {
            leads,
            is_withdrawn: is_withdrawn(&own.paddle, bids),
            bid: bids.iter().filter(|bid| bid.struck.is_none()).find(is_own).map_or(0, |bid| bid.number),
            maximum: own.maximum.filter(|_| leads).map(|maximum| maximum.to_string()).unwrap_or_default(),
            waiting: own.waiting.map(|waiting| waiting.to_string()).unwrap_or_default(),
            elsewhere: price.map(|price| words.fill("standing-elsewhere", "amount", price)).unwrap_or_default(),
        }
    }
}

/// What the bidder can do next.
enum Step {
    /// Nothing: the lot takes no bids.
    None,
    /// Sign in first.
    SignIn,
    /// Register for the sale first.
    Register,
    /// The registration does not allow a bid.
    Wait(Standing),
    /// Bid.
    Bid(Box<BidForms>),
    /// Answer an offer of the house.
    Offer(OfferForms),
    /// Nothing: the last offer of the house has ended.
    OfferEnded(Cow<'static, str>),
}

/// The forms with which a bidder bids.
struct BidForms {
    /// The next bid with its total; none for a bidder who leads, and for a lot that waits for the ring.
    next: Option<(i64, String, String)>,
    /// The bidder's maximum, or commission bid; none for the lot in the ring.
    maximum: Option<FormField>,
    /// The bidder has a commission bid.
    can_withdraw: bool,
    /// The buy-now price with its total.
    buy_now: Option<(i64, String, String)>,
    /// The key of each form on the page.
    key: String,
    /// The bid that waits for a second press; none before the first.
    asks: Option<Asked>,
}

/// A bid that the bidder has to press again for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Asked {
    /// `next`, `max` or `buy`.
    pub(crate) kind: &'static str,
    pub(crate) amount: i64,
    pub(crate) words: String,
    pub(crate) total: String,
}

/// The answer to a bid.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Answer {
    pub(crate) words: String,
    /// The bid was placed: the words say where the bidder stands.
    pub(crate) is_placed: bool,
    /// The class of its colour.
    pub(crate) kind: &'static str,
}

/// Where a bidder stands on a lot.
pub(crate) struct LotStanding {
    pub(crate) words: String,
    pub(crate) kind: &'static str,
}

/// What the page of a lot was asked for.
#[derive(Debug, Default)]
pub(crate) struct Wish {
    pub(crate) answer: Answer,
    pub(crate) asks: Option<Asked>,
    /// The maximum as the bidder typed it, and its fault.
    pub(crate) typed: (String, String),
    /// The answer to an offer that waits for a second press.
    pub(crate) offer: Option<Ask>,
}

impl BidBox {
    pub(crate) async fn of(
        house: &House<2>,
        sale: &SaleroomSale,
        (lot, bids): (&SaleroomLot, &[PublicBid]),
        wish: Wish,
    ) -> PlatformResult<Self> {
        let (platform, [auction, item]) = (house.platform(), house.ids);
        let house_path = house.path();
        let sale_path = format!("{house_path}/sales/{auction}");
        let (mut registration, mut own, mut is_watched, mut offer) = (None, None, false, None);
        if let Some(bidder) = &house.bidder {
            registration = platform.own_registration(bidder, auction).await?;
            own = platform.own_standing(bidder, registration.as_ref(), item).await?;
            is_watched = platform.watches_lot(bidder, (auction, item)).await?;
            if matches!(lot.sale.status, ItemStatus::Passed | ItemStatus::Unsold) {
                offer = platform.own_offer(bidder, registration.as_ref(), item).await?;
            }
        }
        let words = house.words;
        let currency = words.currency(&sale.auction);
        let has_accounts =
            house.saleroom.house.saleroom.registration != platform_core::saleroom::RegistrationRule::Closed;
        let standing = own.as_ref().and_then(|own| {
            let is_open = lot.sale.status == ItemStatus::Live;
            let withdrawn = || LotStanding { words: words.of("standing-struck").into_owned(), kind: "info" };
            let is_withdrawn = is_open && !own.leads && own.waiting.is_none() && is_withdrawn(&own.paddle, bids);
            if is_withdrawn { Some(withdrawn()) } else { LotStanding::of(words, own, &lot.sale, &currency) }
        });
        let view = own.as_ref().map(|own| OwnView::of(words, own, &lot.sale, bids, &currency)).unwrap_or_default();
        let paddle = own.as_ref().map(|own| own.paddle.clone()).unwrap_or_default();
        let offer = offer.filter(|_| has_accounts);
        let barred = registration.as_ref().filter(|registration| registration.status != RegistrationStatus::Approved);
        let step = if let Some(barred) = barred.filter(|_| offer.is_some()) {
            Step::Wait(Standing::of(words, barred))
        } else if let Some((offer, state)) = offer {
            match offers::ended(state) {
                Some(message) => Step::OfferEnded(words.of(message)),
                None => Step::Offer(OfferForms::of(words, &sale.auction, lot, &offer, wish.offer)),
            }
        } else if has_accounts {
            let registration = registration.as_ref();
            step(
                words,
                house.bidder.is_some(),
                sale,
                lot,
                (registration, own.as_ref()),
                (wish.typed, wish.asks),
                platform.new_form_key(),
            )
        } else {
            Step::None
        };
        let path = format!("{sale_path}/lots/{item}");
        let shown = LotWords::in_sale(words, sale, lot);
        Ok(Self {
            is_fixed: !matches!(step, Step::None | Step::OfferEnded(_)),
            price: (shown.label, shown.amount),
            rates: rates_shown(&sale.auction),
            words,
            next_query: next_query(&path),
            lot: item,
            path,
            sale_path,
            house_path,
            step,
            answer: wish.answer,
            standing,
            paddle,
            version: lot.sale.version,
            is_link_lost: is_link_lost(sale, lot),
            own: view,
            is_webcast: sale.auction.kind == AuctionKind::Webcast,
            is_watched,
            is_signed_in: house.bidder.is_some(),
        })
    }
}

/// The latest of these bids, which are newest first, is one of this paddle that no longer counts.
fn is_withdrawn(paddle: &str, bids: &[PublicBid]) -> bool {
    bids.first().is_some_and(|bid| bid.bidder == paddle && bid.struck.is_some())
}

fn step(
    words: Words,
    is_signed_in: bool,
    sale: &SaleroomSale,
    lot: &SaleroomLot,
    (registration, own): (Option<&Registration>, Option<&OwnStanding>),
    (typed, asks): ((String, String), Option<Asked>),
    form_key: String,
) -> Step {
    let auction = &sale.auction;
    let currency = words.currency(auction);
    let can_still_be_sold = matches!(lot.sale.status, ItemStatus::Preview | ItemStatus::Live | ItemStatus::Suspended)
        && matches!(auction.status, AuctionStatus::Preview | AuctionStatus::Live);
    if !can_still_be_sold {
        return Step::None;
    }
    if !is_signed_in {
        return Step::SignIn;
    }
    let Some(registration) = registration else { return Step::Register };
    if registration.status != RegistrationStatus::Approved {
        return Step::Wait(Standing::of(words, registration));
    }
    let priced = |amount: i64| (amount, currency.show(amount), with_charges(words, auction, amount));
    let leads = own.is_some_and(|own| own.leads);
    let forms = BidForms { next: None, maximum: None, can_withdraw: false, buy_now: None, key: form_key, asks };
    let field = |label: &'static str, hint: String| {
        FormField::text("amount", words.of(label), typed.0.as_str())
            .attribute("inputmode", "decimal")
            .attribute("autocomplete", "off")
            .chars_max(30)
            .hint(hint)
            .fault(typed.1.as_str())
            .required()
    };
    let is_live = lot.sale.status == ItemStatus::Live && auction.status == AuctionStatus::Live;
    let Some(minimum) = lot.sale.minimum_bid.filter(|_| is_live) else {
        return Step::Wait(Standing::of(words, registration));
    };
    match (auction.kind, lot.sale.ring) {
        (AuctionKind::Timed, _) => {
            let known_maximum = own.and_then(|own| own.maximum).filter(|_| leads);
            let hint = match leads {
                true => words.of("bid-maximum-secret").into_owned(),
                false => words.fill(
                    "bid-maximum-hint",
                    "amount",
                    currency.show(known_maximum.map_or(minimum, |maximum| maximum.saturating_add(1).max(minimum))),
                ),
            };
            Step::Bid(Box::new(BidForms {
                next: Some(priced(minimum)).filter(|_| !leads),
                maximum: Some(field(if leads { key("bid-maximum-raise") } else { key("bid-maximum") }, hint)),
                buy_now: lot.sale.buy_now.map(priced),
                ..forms
            }))
        }
        (AuctionKind::Webcast, Some(ring)) => {
            let is_sent = own.and_then(|own| own.waiting) == Some(ring.asking_price);
            let takes_bid = !leads && !ring.paused && !is_sent && !sale.is_link_lost;
            Step::Bid(Box::new(BidForms { next: Some(priced(ring.asking_price)).filter(|_| takes_bid), ..forms }))
        }
        (AuctionKind::Webcast, None) => {
            let hint = words.fill("bid-commission-hint", "amount", currency.show(minimum));
            let can_withdraw = own.is_some_and(|own| own.commission.is_some());
            let label = if can_withdraw { key("bid-commission-change") } else { key("bid-commission") };
            Step::Bid(Box::new(BidForms { maximum: Some(field(label, hint)), can_withdraw, ..forms }))
        }
    }
}

impl LotStanding {
    /// None before the bidder's first bid.
    pub(crate) fn of(words: Words, own: &OwnStanding, sale: &PublicItem, currency: &Currency) -> Option<Self> {
        let price = sale.price.map(|price| currency.show(price)).unwrap_or_default();
        let is_sold = matches!(sale.status, ItemStatus::Sold | ItemStatus::SoldBuyNow);
        let is_over = is_sold || matches!(sale.status, ItemStatus::Unsold | ItemStatus::Passed);
        if let Some(waiting) = own.waiting.filter(|_| !is_over) {
            let words = words.fill("standing-waiting", "amount", currency.show(waiting));
            return Some(Self { words, kind: "wait" });
        }
        if let Some(commission) = own.commission.filter(|_| !is_over && !own.leads && sale.ring.is_none()) {
            let words = words.fill("standing-commission", "amount", currency.show(commission));
            return Some(Self { words, kind: "info" });
        }
        if !own.has_bid {
            return None;
        }
        let (words, kind) = match (is_sold, is_over, own.leads) {
            (true, _, true) => {
                let paddle = own.paddle.as_str().into();
                (words.with("standing-won", [("amount", price.into()), ("paddle", paddle)]), "good")
            }
            (true, _, false) => (words.fill("standing-lost", "amount", price), "bad"),
            (false, true, _) => (words.of("standing-unsold").into_owned(), "off"),
            (false, false, true) => {
                let leads = words.fill("standing-leads", "amount", price);
                let maximum = own.maximum.filter(|maximum| Some(*maximum) != sale.price);
                let maximum = maximum.map(|maximum| words.fill("standing-maximum", "amount", currency.show(maximum)));
                (maximum.map_or_else(|| leads.clone(), |maximum| format!("{leads} {maximum}")), "good")
            }
            (false, false, false) if price.is_empty() => (words.of("standing-struck").into_owned(), "info"),
            (false, false, false) => (words.fill("standing-outbid", "amount", price), "bad"),
        };
        Some(Self { words, kind })
    }
}
