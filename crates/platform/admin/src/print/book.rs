//! The commission book of a webcast on paper: the maxima of absentees on the lots to come, or the telephone bids.

use std::collections::HashMap;

use axum::response::Response;
use kit_design::fields::QueryFields;
use platform_core::Scope;

use super::paddles;
use super::paper::{Paper, PaperKind};
use super::table::{self, PaperColumn, PaperRow};
use crate::book::webcast_of;
use crate::page_error::PageError;
use crate::sale::Sale;
use crate::sale::labels;
use crate::session::{PathIds, Session};

/// `GET /auctions/{auction}/print/book`
pub(super) async fn page(
    session: Session,
    PathIds([uuid]): PathIds<1>,
    QueryFields(query): QueryFields,
) -> Result<Response, PageError> {
    // Rejects a timed auction, and a clerk of other webcasts.
    webcast_of(&session, uuid).await?;
    let sale = Sale::load(&session, uuid).await?;
    let names = names(&session, &sale).await?;
    let name_of = |paddle: &str| names.get(paddle).cloned().unwrap_or_default();
    let mut paper = Paper::new(&session, &sale, PaperKind::CommissionBook).await?.confidential(true);
    paper.class = "a4 book";
    if query.text("show") == "telephone" {
        let booked = session.platform().telephone_bookings(&session.caller, uuid).await?;
        paper.name = "Telephone bids";
        paper.contents = labels::count(booked.len() as u64, "telephone bid", "telephone bids");
        let columns = vec![
            PaperColumn::new("Lot", "lot"),
            PaperColumn::new("Title", "text"),
            PaperColumn::new("Paddle", ""),
            PaperColumn::new("Bidder", "name"),
            PaperColumn::new("Telephone", "name"),
            PaperColumn::new("Line or caller", "name"),
        ];
        let row = |(item, booking): (platform_rules::Item, platform_core::port::TelephoneBooking)| {
            let name = name_of(&booking.paddle);
            PaperRow::new(vec![item.lot_number, item.title, booking.paddle, name, booking.telephone, booking.line])
        };
        let rows = booked.into_iter().map(row).collect();
        return table::render(&session, &sale, paper, (columns, rows), "No telephone bids yet.");
    }
    let mut rows = Vec::new();
    let book = session.platform().commission_book(&session.caller, uuid).await?;
    // The lot in the ring is under way, as on the page of the book.
    for (item, commissions) in book.into_iter().filter(|(item, _)| item.in_ring().is_none()) {
        rows.extend(commissions.into_iter().map(|left| {
            let (name, maximum) = (name_of(&left.bidder), sale.currency.exact(left.maximum.reveal()));
            PaperRow::new(vec![item.lot_number.clone(), item.title.clone(), left.bidder, name, maximum, String::new()])
        }));
    }
    paper.contents = labels::count(rows.len() as u64, "bid on lots to come", "bids on lots to come");
    let columns = vec![
        PaperColumn::new("Lot", "lot"),
        PaperColumn::new("Title", "text"),
        PaperColumn::new("Paddle", ""),
        PaperColumn::new("Bidder", "name"),
        PaperColumn::new("Maximum", "number"),
        PaperColumn::new("Bought for", "number write"),
    ];
    table::render(&session, &sale, paper, (columns, rows), "No commission bids on lots to come.")
}

/// The names of bidders by paddle; empty for a user who may not see them.
async fn names(session: &Session, sale: &Sale) -> Result<HashMap<String, String>, PageError> {
    if !session.may(Scope::BiddersRead) {
        return Ok(HashMap::new());
    }
    let (registrations, _) = paddles::load(session, sale, Vec::new()).await?;
    Ok(registrations.into_iter().filter_map(|one| Some((one.paddle, one.name?))).collect())
}
