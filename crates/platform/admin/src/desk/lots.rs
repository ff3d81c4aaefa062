//! The lots of a webcast with their results, as they fall.

use axum::response::Response;
use contract::ItemStatus;
use kit_design::fields::QueryFields;
use platform_core::port::Page;
use platform_core::sales::lists::ItemQuery;
use serde::Serialize;

use super::amounts::Money;
use super::names::{self, Names};
use super::problem::DeskProblem;
use super::state::{self, DoneView};
use crate::session::{PathIds, Session};

/// Lots of one page.
const LOTS_MAX: usize = 50;

#[derive(Serialize)]
struct LotsAnswer {
    lots: Vec<DoneView>,
    /// Names of buyers by paddle, for people who may see them.
    names: Names,
    /// `after` of the next page.
    next: Option<i64>,
}

/// `GET /webcasts/{webcast}/desk/lots?number=&status=&after=`: the lots in running order. The status `open` is for sold lots
/// whose buyer is open.
pub(super) async fn list(
    session: Session,
    PathIds([webcast]): PathIds<1>,
    QueryFields(query): QueryFields,
) -> Result<Response, DeskProblem> {
    // Rejects a clerk of other webcasts.
    let auction = session.platform().ring(&session.caller, webcast).await?.auction;
    let is_open_only = query.text("status") == "open";
    let statuses = match query.text("status") {
        "" => Vec::new(),
        "waiting" => vec![ItemStatus::Live],
        "sold" | "open" => vec![ItemStatus::Sold],
        "passed" => vec![ItemStatus::Passed],
        _ => return Err(DeskProblem::malformed("The status is waiting, sold, open or passed.")),
    };
    let after = query.non_empty("after").map(str::parse).transpose();
    let after = after.map_err(|_| DeskProblem::malformed("The place of the page is not a number."))?;
    let wanted = ItemQuery { statuses, lot_number: query.non_empty("number").map(str::to_owned) };
    let mut after = after;
    let (found, next) = loop {
        let page = Page { after, limit: LOTS_MAX };
        let found = session.platform().list_items(&session.caller, webcast, &wanted, page).await?;
        let next = found.last().filter(|_| found.len() == LOTS_MAX).map(|item| item.position);
        let shown: Vec<_> = found.into_iter().filter(|item| !is_open_only || item.is_buyer_open()).collect();
        // A page of sold lots may have no open buyer.
        if !shown.is_empty() || next.is_none() {
            break (shown, next);
        }
        after = next;
    };
    let money = Money::of(&auction.currency);
    let names = names::of_lots(&session, webcast, &found).await?;
    let lots = found.iter().map(|item| DoneView::new(&auction, item, &money)).collect();
    Ok(state::respond(&LotsAnswer { lots, names, next }))
}
