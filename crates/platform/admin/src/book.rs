//! The commission book of a webcast: staff enter, change and withdraw the maxima of absentees until a lot comes into the
//! ring, one by one or as a pasted list.

mod telephone;

use std::collections::HashMap;

use askama::Template;
use axum::Router;
use axum::response::{IntoResponse as _, Response};
use http::StatusCode;
use kit_design::error_page::{ErrorPage, sentence};
use kit_design::fields::{QueryFields, SubmittedForm};
use kit_design::form_field::FormField;
use kit_design::frame::{Frame, render_page_as};
use kit_http::page_routes::{form, post};
use platform_core::bidding::absentee_bids::NewAbsenteeBid;
use platform_core::{PlatformError, Scope};
use platform_rules::{Auction, AuctionKind, Rejection};
use uuid::Uuid;

use crate::access::{Need, Page};
use crate::admin::Admin;
use crate::buyer_words;
use crate::notice;
use crate::paddles;
use crate::page_error::PageError;
use crate::room_words;
use crate::sale::unusual;
use crate::session::{PathIds, Section, Session};
use platform_words::Currency;
use telephone::{RefusedBooking, TelephonePanel};

/// Who enters and sees the book.
const STAFF: Need = Need::Has(Scope::RingWrite);
/// Lines of one list, at most.
const LINES_MAX: usize = 2_000;

/// The pages of this module with the scope that each requires.
pub(crate) const PAGES: &[Page] = &[
    ("GET", "/webcasts/{webcast}/book", STAFF),
    ("POST", "/webcasts/{webcast}/book", STAFF),
    ("POST", "/webcasts/{webcast}/book/withdraw", STAFF),
    ("POST", "/webcasts/{webcast}/book/telephone", STAFF),
    ("POST", "/webcasts/{webcast}/book/telephone/withdraw", STAFF),
];

pub(crate) fn router() -> Router<Admin> {
    Router::new()
        .route("/webcasts/{webcast}/book", form(page, enter))
        .route("/webcasts/{webcast}/book/withdraw", post(withdraw))
        .route("/webcasts/{webcast}/book/telephone", post(telephone::book))
        .route("/webcasts/{webcast}/book/telephone/withdraw", post(telephone::withdraw))
}

#[derive(Template)]
#[template(path = "book.html")]
struct BookPage {
    frame: Frame,
    webcast: Uuid,
    sale: String,
    /// Bids can be entered and withdrawn.
    is_open: bool,
    rows: Vec<BookRow>,
    /// Lines were refused; the field has them as they were sent.
    has_lines: bool,
    field: FormField,
    faults: Vec<String>,
    questions: Vec<Question>,
    /// Messages about the bids that were entered or withdrawn, in the order of the lines.
    said: Vec<String>,
    telephone: TelephonePanel,
}

struct BookRow {
    item: Uuid,
    lot: String,
    title: String,
    paddle: String,
    maximum: String,
}

/// What became of a list that was entered, or of a withdrawal.
#[derive(Default)]
struct Entered {
    said: Vec<String>,
    refused: Vec<String>,
    faults: Vec<String>,
    questions: Vec<Question>,
    /// A telephone bid that was refused.
    telephone: RefusedBooking,
}

/// A refused line that is entered, unchanged, once this is confirmed.
struct Question {
    /// Name of the tick.
    of: &'static str,
    line: String,
    /// Such as "£1,500,000.00 on lot 12 for paddle 117".
    words: String,
    /// It was confirmed already, and another question about the line is open.
    is_ticked: bool,
}

/// An unusual maximum.
const UNUSUAL: &str = "unusual";
/// A paddle without an approved registration, where registration is open.
const UNREGISTERED: &str = "unregistered";

/// The confirmations of a line.
#[derive(Clone, Copy)]
struct ConfirmedLine {
    unusual: bool,
    unregistered: bool,
}

/// `GET /webcasts/{webcast}/book`
async fn page(
    session: Session,
    PathIds([webcast]): PathIds<1>,
    QueryFields(query): QueryFields,
) -> Result<Response, PageError> {
    let auction = webcast_of(&session, webcast).await?;
    let frame = session.frame("Commission book", Section::Auctions).with_notice(notice::from_query(&query));
    show(&session, auction, frame, Entered::default()).await
}

pub(crate) async fn webcast_of(session: &Session, webcast: Uuid) -> Result<Auction, PageError> {
    // Rejects a clerk of other webcasts.
    let auction = session.platform().ring(&session.caller, webcast).await?.auction;
    if auction.kind != AuctionKind::Webcast {
        let detail = "This is a timed auction. Its bidders leave their maximum with their bid.";
        return Err(ErrorPage::new(StatusCode::NOT_FOUND, "This sale has no commission book", detail).into());
    }
    Ok(auction)
}

async fn show(session: &Session, auction: Auction, frame: Frame, entered: Entered) -> Result<Response, PageError> {
    let money = Currency::of(&auction);
    let mut rows = Vec::new();
    let book = session.platform().commission_book(&session.caller, auction.uuid).await?;
    for (item, commissions) in book.into_iter().filter(|(item, _)| item.in_ring().is_none()) {
        rows.extend(commissions.into_iter().map(|left| BookRow {
            item: item.uuid,
            lot: item.lot_number.clone(),
            title: item.title.clone(),
            paddle: left.bidder,
            maximum: money.exact(left.maximum.reveal()),
        }));
    }
    let telephone = TelephonePanel::load(session, &auction, &entered.telephone).await?;
    let status = if entered.faults.is_empty() && !telephone.is_refused() {
        StatusCode::OK
    } else {
        StatusCode::UNPROCESSABLE_ENTITY
    };
    let page = BookPage {
        frame,
        webcast: auction.uuid,
        is_open: auction.require_open().is_ok(),
        sale: auction.title,
        rows,
        has_lines: !entered.refused.is_empty(),
        field: FormField::area("list", "Lot, paddle and maximum", entered.refused.join("\n"))
            .hint(format!(
                "One bid on each line, such as “12, 117, 350.00”: paste it from a spreadsheet, or from a CSV file with \
                 these three columns. Maxima are in {}. A bid of the same paddle on the same lot is replaced.",
                money.code()
            ))
            .chars_max(200_000)
            .lines(8)
            .required(),
        faults: entered.faults,
        questions: entered.questions,
        said: entered.said,
        telephone,
    };
    render_page_as(status, &page)
}

/// Maxima of the book by lot and paddle.
type Maxima = HashMap<(Uuid, String), i64>;

/// A line that was entered.
struct EnteredLine {
    /// Such as "Lot 12, paddle 117: £350.00".
    bid: String,
    /// The maximum that it replaced.
    before: Option<String>,
}

async fn maxima(session: &Session, auction: &Auction) -> Result<Maxima, PageError> {
    let book = session.platform().commission_book(&session.caller, auction.uuid).await?;
    let of_item = |(item, commissions): (platform_rules::Item, Vec<_>)| {
        commissions
            .into_iter()
            .map(move |left: platform_rules::ring::Commission| ((item.uuid, left.bidder), left.maximum.reveal()))
    };
    Ok(book.into_iter().flat_map(of_item).collect())
}

/// Says how many bids are new, and names each that replaced another.
fn words(lines: &[EnteredLine]) -> Vec<String> {
    let new = lines.iter().filter(|line| line.before.is_none()).count();
    let replaced = lines.iter().filter_map(|line| Some(format!("{}, instead of {}.", line.bid, line.before.as_ref()?)));
    let replaced: Vec<String> = replaced.collect();
    let count = match (new, replaced.len()) {
        (0, 0) => return Vec::new(),
        (new, 0) => format!("New bids: {new}."),
        (new, replaced) => format!("New bids: {new}. Replaced bids: {replaced}."),
    };
    std::iter::once(count).chain(replaced).collect()
}

/// Enters each line; those that are refused are shown again with the reason. A line with an unusual maximum, or with a paddle
/// that is not registered, is entered once it is ticked.
async fn enter(
    session: Session,
    PathIds([webcast]): PathIds<1>,
    SubmittedForm(form): SubmittedForm,
) -> Result<Response, PageError> {
    let auction = webcast_of(&session, webcast).await?;
    let mut entered = Entered::default();
    let lines: Vec<&str> = form.text("list").lines().filter(|line| !line.trim().is_empty()).collect();
    if lines.is_empty() || lines.len() > LINES_MAX {
        let fault = format!("The list has {} lines. Enter 1 to {LINES_MAX} at once.", lines.len());
        entered.faults.push(fault);
        entered.refused = lines.iter().map(|line| (*line).to_owned()).collect();
    } else {
        let money = Currency::of(&auction);
        let (mut before, mut saved) = (maxima(&session, &auction).await?, Vec::new());
        for (number, line) in (1..).zip(&lines) {
            // A header in the first line of a pasted table is no bid.
            if number == 1 && is_header(line) {
                continue;
            }
            let is_ticked = |name: &str| form.all(name).any(|confirmed| confirmed.trim() == line.trim());
            let confirmed = ConfirmedLine { unusual: is_ticked(UNUSUAL), unregistered: is_ticked(UNREGISTERED) };
            match enter_line(&session, &auction, &money, (line, confirmed), &mut before).await? {
                Ok(line) => saved.push(line),
                Err(LineRefusal { why, questions }) => {
                    entered.faults.push(format!("Line {number}, “{}”: {why}", line.trim()));
                    entered.questions.extend(questions);
                    entered.refused.push((*line).to_owned());
                }
            }
        }
        if saved.iter().all(|line| line.before.is_none()) && entered.faults.is_empty() {
            let path = format!("/webcasts/{webcast}/book?done=commissions-entered");
            return Ok(session.admin.redirect(&path).into_response());
        }
        entered.said = words(&saved);
    }
    let frame = session.frame("Commission book", Section::Auctions);
    show(&session, auction, frame, entered).await
}

fn is_header(line: &str) -> bool {
    cells(line).is_some_and(|[lot, _, maximum]| {
        lot.eq_ignore_ascii_case("lot") && maximum.to_ascii_lowercase().starts_with("max")
    })
}

/// Lot, paddle and maximum of a line, separated by tabs, semicolons or commas. With commas, the maximum may contain some.
fn cells(line: &str) -> Option<[&str; 3]> {
    let mark = ['\t', ';', ','].into_iter().find(|mark| line.matches(*mark).count() >= 2)?;
    let mut cells = line.splitn(3, mark).map(|cell| cell.trim().trim_matches('"').trim());
    Some([cells.next()?, cells.next()?, cells.next()?])
}

/// Why a line was not entered.
struct LineRefusal {
    why: String,
    /// What confirms it; none if it can't be confirmed.
    questions: Vec<Question>,
}

impl From<String> for LineRefusal {
    fn from(why: String) -> Self {
        Self { why, questions: Vec::new() }
    }
}

/// Enters one line, and notes its maximum in `before`. The inner error says why it was refused.
async fn enter_line(
    session: &Session,
    auction: &Auction,
    money: &Currency,
    (line, confirmed): (&str, ConfirmedLine),
    before: &mut Maxima,
) -> Result<Result<EnteredLine, LineRefusal>, PageError> {
    let Some([lot, paddle, maximum]) = cells(line) else {
        let why = "Write lot, paddle and maximum, separated by commas, such as “12, 117, 350.00”.".to_owned();
        return Ok(Err(why.into()));
    };
    let amount = match money.parse(maximum) {
        Ok(amount) => amount,
        Err(why) => return Ok(Err(why.into())),
    };
    let platform = session.platform();
    let Some(item) = platform.item_with_lot_number(&session.caller, auction.uuid, lot).await? else {
        return Ok(Err(format!("No lot of this sale has the number {lot}. Correct the number.").into()));
    };
    if let Some(why) = paddles::advice(session, auction.uuid, paddle).await? {
        return Ok(Err(why.into()));
    }
    let question = |of, words, is_ticked| Question { of, line: line.trim().to_owned(), words, is_ticked };
    let is_known = before.contains_key(&(item.uuid, paddle.to_owned())) || !session.may(Scope::BiddersRead);
    let unregistered = if is_known { None } else { paddles::unregistered(session, auction, paddle).await? };
    if let Some(why) = &unregistered
        && !confirmed.unregistered
    {
        let words = format!("Paddle {paddle} is right: {} on lot {lot}", money.exact(amount));
        let why = format!("{why} Correct it, register it under Registrations, or confirm it below.");
        return Ok(Err(LineRefusal { why, questions: vec![question(UNREGISTERED, words, false)] }));
    }
    let new = NewAbsenteeBid { bidder: paddle.to_owned(), maximum: amount, unusual_amount: confirmed.unusual };
    match platform.place_absentee_bid(&session.caller, item.uuid, &new, None, None).await {
        Ok(_) => {
            let bid = format!("Lot {lot}, paddle {paddle}: {}", money.exact(amount));
            let replaced = before.insert((item.uuid, paddle.to_owned()), amount);
            Ok(Ok(EnteredLine { bid, before: replaced.map(|maximum| money.exact(maximum)) }))
        }
        Err(PlatformError::Rejected(rejection)) => Ok(Err(match unusual::words(&rejection, amount, money) {
            Some(words) => {
                let bid = format!("{} on lot {lot} for paddle {paddle} is right", money.exact(amount));
                let paddle = unregistered.map(|_| question(UNREGISTERED, format!("Paddle {paddle} is right"), true));
                let questions = paddle.into_iter().chain([question(UNUSUAL, bid, false)]).collect();
                LineRefusal { why: format!("{words} Correct it, or confirm it below."), questions }
            }
            None => match buyer_words::limit(&rejection, &|minor| money.exact(minor)) {
                Some(amounts) if session.may(Scope::BiddersRead) => {
                    format!("Lot {lot}: paddle {paddle} would be above its limit: {amounts}.").into()
                }
                _ => refusal(&rejection, lot, money).into(),
            },
        })),
        Err(error @ PlatformError::Invalid(_)) => {
            Ok(Err(format!("Lot {lot}: {}", sentence(&error.to_string())).into()))
        }
        Err(error) => Err(error.into()),
    }
}

/// Why the maximum of a lot was not entered or withdrawn, in words of the room.
fn refusal(rejection: &Rejection, lot: &str, money: &Currency) -> String {
    let lot = format!("Lot {lot}");
    match rejection {
        Rejection::BidTooLow { minimum } => {
            format!("{lot}: the maximum is too low. Enter at least {}.", money.exact(*minimum))
        }
        Rejection::ItemNotLive { status } => {
            format!(
                "{lot} is {}. Commission bids are taken for live lots, until they come into the ring.",
                room_words::word(status)
            )
        }
        Rejection::SpendingLimitReached { .. } => format!("{lot}: this is above the bidder's limit in this sale."),
        Rejection::NoCommission => format!("{lot} has no commission bid of this paddle any more."),
        Rejection::BidderNotApproved => format!("{lot}: this paddle is not approved for this sale."),
        other => room_words::of(other, &lot, &|minor| money.exact(minor))
            .unwrap_or_else(|| format!("{lot}: {}", sentence(&other.to_string()))),
    }
}

/// `POST /webcasts/{webcast}/book/withdraw`
async fn withdraw(
    session: Session,
    PathIds([webcast]): PathIds<1>,
    SubmittedForm(form): SubmittedForm,
) -> Result<Response, PageError> {
    let auction = webcast_of(&session, webcast).await?;
    let item = Uuid::try_parse(form.text("item")).map_err(|_| ErrorPage::bad_request("The lot has no valid UUID."))?;
    let paddle = form.text("paddle");
    let maximum = maxima(&session, &auction).await?.get(&(item, paddle.to_owned())).copied();
    let lot = session.platform().item(&session.caller, item).await?.0.lot_number;
    match session.platform().withdraw_absentee_bid(&session.caller, item, (paddle, None), None, None).await {
        Err(PlatformError::Rejected(rejection)) => {
            let faults = vec![refusal(&rejection, &lot, &Currency::of(&auction))];
            let entered = Entered { faults, ..Entered::default() };
            return show(&session, auction, session.frame("Commission book", Section::Auctions), entered).await;
        }
        withdrawn => drop(withdrawn?),
    }
    let bid = maximum.map_or(String::new(), |maximum| format!(" of {}", Currency::of(&auction).exact(maximum)));
    let said = format!(
        "The commission bid{bid} of paddle {paddle} on lot {lot} was withdrawn. To enter it again, use the line above."
    );
    let entered =
        Entered { said: vec![said], refused: vec![line_of(&lot, paddle, maximum, &auction)], ..Entered::default() };
    show(&session, auction, session.frame("Commission book", Section::Auctions), entered).await
}

/// The line that enters a bid.
fn line_of(lot: &str, paddle: &str, maximum: Option<i64>, auction: &Auction) -> String {
    maximum.map_or(String::new(), |maximum| format!("{lot}, {paddle}, {}", Currency::of(auction).plain(maximum)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_have_lot_paddle_and_maximum() {
        assert_eq!(cells("12, 117, 350.00"), Some(["12", "117", "350.00"]));
        assert_eq!(cells("12\t117\t1,350.00"), Some(["12", "117", "1,350.00"]));
        assert_eq!(cells("12A;117;1.350,00"), Some(["12A", "117", "1.350,00"]));
        assert_eq!(cells("12,117,\"1,350\""), Some(["12", "117", "1,350"]));
        assert_eq!(cells("12 117 350"), None);
        assert!(is_header("Lot,Paddle,Maximum") && !is_header("12,117,350"));
    }
}
