//! Clerking sheets: the lots with room for price and paddle, for a sale that is clerked by hand. What was sold already is
//! filled in.

use axum::response::Response;
use contract::ItemStatus;
use kit_design::fields::QueryFields;
use platform_rules::{Hidden, Item};

use super::lots::{self, estimate};
use super::paper::{Paper, PaperKind, sees_reserves};
use super::table::{self, PaperColumn, PaperRow};
use crate::lots::consignors::Consignors;
use crate::page_error::PageError;
use crate::sale::Sale;
use crate::session::{PathIds, Session};

/// `GET /auctions/{auction}/print/clerking`
pub(super) async fn page(
    session: Session,
    PathIds([uuid]): PathIds<1>,
    QueryFields(query): QueryFields,
) -> Result<Response, PageError> {
    let sale = Sale::load(&session, uuid).await?;
    let has_reserves = sees_reserves(&session, &sale).await?;
    let chosen = lots::load(&session, &sale, &query).await?;
    let mut paper = Paper::new(&session, &sale, PaperKind::ClerkingSheets).await?.confidential(has_reserves);
    paper.class = "a4 clerking";
    paper.contents = chosen.words;
    paper.warnings.extend(chosen.warning);
    let mut columns = vec![
        PaperColumn::new("Lot", "lot"),
        PaperColumn::new("Title", "text"),
        PaperColumn::new("Estimate", "number estimate"),
        PaperColumn::new("Reserve", "number"),
        PaperColumn::new("Opening", "number"),
        PaperColumn::new("Price", "number write"),
        PaperColumn::new("Paddle", "write short"),
    ];
    let mut rows: Vec<PaperRow> = chosen.items.iter().map(|item| row(&sale, item)).collect();
    // Only a user who edits lots sees consignors; a sale without any has no column for them.
    let consignors = Consignors::of(&session, &sale, &chosen.items).await?;
    if chosen.items.iter().any(|item| consignors.known(item).is_some()) {
        columns.insert(CONSIGNOR, PaperColumn::new("Consignor", "name"));
        for (row, item) in rows.iter_mut().zip(&chosen.items) {
            row.cells.insert(CONSIGNOR, consignors.label(item));
        }
    }
    if !has_reserves {
        columns.remove(RESERVE);
        for row in &mut rows {
            row.cells.remove(RESERVE);
        }
    }
    table::render(&session, &sale, paper, (columns, rows), "No lots yet. Import or add lots first.")
}

/// Place of the consignor among the columns.
const CONSIGNOR: usize = 5;
/// Place of the reserve among the columns.
const RESERVE: usize = 3;

fn row(sale: &Sale, item: &Item) -> PaperRow {
    let show = |amount: Option<i64>| amount.map(|amount| sale.currency.show(amount)).unwrap_or_default();
    let (price, paddle) = match item.status {
        ItemStatus::Sold | ItemStatus::SoldBuyNow => (
            show(item.price()),
            item.standing.as_ref().and_then(|bid| bid.known_bidder()).unwrap_or_default().to_owned(),
        ),
        ItemStatus::Withdrawn | ItemStatus::Passed | ItemStatus::Unsold => {
            (item.status.label().to_owned(), String::new())
        }
        _ => (String::new(), String::new()),
    };
    let cells = vec![
        item.lot_number.clone(),
        item.title.clone(),
        estimate(item, &sale.currency),
        show(item.reserve.map(Hidden::reveal)),
        show(Some(item.opening_bid).filter(|amount| *amount > 0)),
        price,
        paddle,
    ];
    PaperRow { cells, class: if item.status == ItemStatus::Withdrawn { "struck" } else { "" } }
}
