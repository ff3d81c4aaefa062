//! The results on paper: lots with buyers and amounts, prices alone for the public, or totals by buyer.

use axum::response::Response;
use contract::ItemStatus;
use kit_design::fields::{FormFields, QueryFields};
use platform_core::PlatformError;
use platform_rules::{Item, SaleResult};

use super::lots;
use super::paper::{Paper, PaperKind};
use super::table::{self, PaperColumn, PaperRow};
use crate::page_error::PageError;
use crate::sale::Sale;
use crate::sale::labels;
use crate::session::{PathIds, Session};

const EMPTY: &str = "No results yet. A lot has one when it is sold, passed or unsold.";

/// `GET /auctions/{auction}/print/results`
pub(super) async fn page(
    session: Session,
    PathIds([uuid]): PathIds<1>,
    QueryFields(query): QueryFields,
) -> Result<Response, PageError> {
    let sale = Sale::load(&session, uuid).await?;
    let mut paper = Paper::new(&session, &sale, PaperKind::Results).await?;
    paper.class = "a4 results";
    let table = match query.text("show") {
        "buyers" => by_buyer(&session, &sale, &mut paper).await?,
        "prices" => prices(&session, &sale, &query, &mut paper).await?,
        _ => by_lot(&session, &sale, &query, &mut paper).await?,
    };
    if sale.auction.status != contract::AuctionStatus::Archived {
        paper.contents.push_str("; results can change until the auction is archived");
    }
    table::render(&session, &sale, paper, table, EMPTY)
}

type Table = (Vec<PaperColumn>, Vec<PaperRow>);

/// The lots that have a result. Their contents and a warning are set on the paper.
async fn lots_with_result(
    session: &Session,
    sale: &Sale,
    query: &FormFields,
    paper: &mut Paper,
) -> Result<Vec<Item>, PageError> {
    let mut chosen = lots::load(session, sale, query).await?;
    let of = if chosen.are_all { String::new() } else { format!(" ({})", chosen.words) };
    chosen.items.retain(|item| {
        matches!(item.status, ItemStatus::Sold | ItemStatus::SoldBuyNow | ItemStatus::Unsold | ItemStatus::Passed)
    });
    paper.contents = format!("{}{of}", labels::count(chosen.items.len() as u64, "result", "results"));
    paper.warnings.extend(chosen.warning);
    Ok(chosen.items)
}

async fn by_lot(session: &Session, sale: &Sale, query: &FormFields, paper: &mut Paper) -> Result<Table, PageError> {
    let items = lots_with_result(session, sale, query, paper).await?;
    let (mut rows, mut total, mut sold) = (Vec::with_capacity(items.len()), SaleResult::default(), 0);
    for item in &items {
        let mut cells = vec![item.lot_number.clone(), item.title.clone()];
        match (SaleResult::of(&sale.auction, item), &item.standing) {
            (Some(result), Some(standing)) => {
                sold += 1;
                total = total.plus(result).map_err(PlatformError::from)?;
                cells.push(labels::bidder(standing));
                cells.extend(amounts(sale, result));
            }
            _ => {
                cells.push(item.status.label().to_owned());
                cells.extend(std::array::from_fn::<_, 4, _>(|_| String::new()));
            }
        }
        rows.push(PaperRow::new(cells));
    }
    if !rows.is_empty() {
        let mut cells = vec!["Total".to_owned(), String::new(), format!("{} sold", labels::number(sold))];
        cells.extend(amounts(sale, total));
        rows.push(PaperRow { cells, class: "total" });
    }
    let mut columns =
        vec![PaperColumn::new("Lot", "lot"), PaperColumn::new("Title", "text"), PaperColumn::new("Buyer", "whole")];
    columns.extend(AMOUNTS.map(|words| PaperColumn::new(words, "number")));
    Ok((columns, rows))
}

async fn prices(session: &Session, sale: &Sale, query: &FormFields, paper: &mut Paper) -> Result<Table, PageError> {
    paper.name = "Prices realised";
    let items = lots_with_result(session, sale, query, paper).await?;
    let row = |item: &Item| {
        let price = SaleResult::of(&sale.auction, item).map(|result| sale.currency.show(result.hammer));
        let price = price.unwrap_or_else(|| item.status.label().to_owned());
        PaperRow::new(vec![item.lot_number.clone(), item.title.clone(), price])
    };
    let rows = items.iter().map(row).collect();
    let columns = vec![
        PaperColumn::new("Lot", "lot"),
        PaperColumn::new("Title", "text"),
        PaperColumn::new("Hammer price", "number"),
    ];
    Ok((columns, rows))
}

async fn by_buyer(session: &Session, sale: &Sale, paper: &mut Paper) -> Result<Table, PageError> {
    paper.name = "Results by buyer";
    let results = session.platform().results(&session.caller, sale.auction.uuid).await?;
    paper.contents = labels::count(results.buyers.len() as u64, "buyer", "buyers");
    let mut rows: Vec<PaperRow> = Vec::with_capacity(results.buyers.len() + 2);
    for buyer in &results.buyers {
        let mut cells = vec![buyer.bidder.clone(), labels::number(buyer.items)];
        cells.extend(amounts(sale, buyer.total));
        rows.push(PaperRow::new(cells));
    }
    if results.open_buyers > 0 {
        paper
            .contents
            .push_str(&format!(" and {} whose buyer is open", labels::count(results.open_buyers, "lot", "lots")));
    }
    if results.sold > 0 {
        let mut cells = vec!["All sold lots".to_owned(), labels::number(results.sold)];
        cells.extend(amounts(sale, results.total));
        rows.push(PaperRow { cells, class: "total" });
    }
    let mut columns = vec![PaperColumn::new("Paddle", "lot"), PaperColumn::new("Lots", "number")];
    columns.extend(AMOUNTS.map(|words| PaperColumn::new(words, "number")));
    Ok((columns, rows))
}

const AMOUNTS: [&str; 4] = ["Hammer", "Premium", "Tax", "Total"];

fn amounts(sale: &Sale, result: SaleResult) -> [String; 4] {
    [result.hammer, result.premium, result.tax, result.total].map(|minor| sale.currency.exact(minor))
}
