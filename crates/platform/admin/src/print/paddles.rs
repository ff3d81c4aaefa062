//! The paddle list: who has which paddle, for the desk at the door and for the auctioneer.

use axum::response::Response;
use kit_design::fields::QueryFields;
use platform_core::port::{Page, Registration, RegistrationStatus};
use platform_core::sales::lists::RegistrationQuery;

use super::paper::{Paper, PaperKind};
use super::table::{self, PaperColumn, PaperRow};
use crate::page_error::PageError;
use crate::sale::Sale;
use crate::sale::labels::{self, Badge};
use crate::session::{PathIds, Session};

/// Registrations of one paper at most.
const PADDLES_MAX: usize = 10_000;
/// Registrations that one read loads.
const READ_MAX: usize = 250;

/// `GET /auctions/{auction}/print/paddles`
pub(super) async fn page(
    session: Session,
    PathIds([uuid]): PathIds<1>,
    QueryFields(query): QueryFields,
) -> Result<Response, PageError> {
    let sale = Sale::load(&session, uuid).await?;
    let has_all = query.text("which") == "all";
    let statuses = if has_all { Vec::new() } else { vec![RegistrationStatus::Approved] };
    let (mut found, is_cut) = load(&session, &sale, statuses).await?;
    if query.text("order") == "name" {
        // A paddle without a name comes last.
        found.sort_by_cached_key(|one| (one.name.is_none(), one.name.as_ref().map(|name| name.to_lowercase())));
    } else {
        found.sort_by_cached_key(|one| paddle_key(&one.paddle));
    }
    let mut paper = Paper::new(&session, &sale, PaperKind::PaddleList).await?.confidential(true);
    paper.class = "a4 paddles";
    let (one, many) = if has_all { ("registration", "registrations") } else { ("approved paddle", "approved paddles") };
    paper.contents = labels::count(found.len() as u64, one, many);
    if is_cut {
        let most = labels::number(PADDLES_MAX as u64);
        paper.warnings.push(format!("The sale has more registrations: this paper has the first {most}."));
        paper.contents = format!("The first {most} registrations");
    }
    let mut columns = vec![
        PaperColumn::new("Paddle", "lot"),
        PaperColumn::new("Bidder", "text"),
        PaperColumn::new("Limit", "number"),
    ];
    columns.push(if has_all { PaperColumn::new("Status", "") } else { PaperColumn::new("Notes", "write") });
    let rows = found.iter().map(|one| row(&sale, one, has_all)).collect();
    table::render(&session, &sale, paper, (columns, rows), "No registrations yet. Register bidders first.")
}

/// The registrations with one of these statuses, or all without one; and whether there are more.
pub(super) async fn load(
    session: &Session,
    sale: &Sale,
    statuses: Vec<RegistrationStatus>,
) -> Result<(Vec<Registration>, bool), PageError> {
    let wanted = RegistrationQuery { statuses, paddle: None };
    let (mut found, mut after) = (Vec::new(), None);
    loop {
        let page = Page { after, limit: READ_MAX };
        let part = session.platform().list_registrations(&session.caller, sale.auction.uuid, &wanted, page).await?;
        let is_last = part.len() < READ_MAX;
        after = part.last().map(|one| one.uuid);
        found.extend(part);
        if is_last || found.len() > PADDLES_MAX {
            let is_cut = found.len() > PADDLES_MAX;
            found.truncate(PADDLES_MAX);
            return Ok((found, is_cut));
        }
    }
}

/// Numbers in their order, before paddles that begin with a letter.
fn paddle_key(paddle: &str) -> (u64, String) {
    let digits: String = paddle.chars().take_while(char::is_ascii_digit).collect();
    (digits.parse().unwrap_or(u64::MAX), paddle.to_owned())
}

fn row(sale: &Sale, one: &Registration, has_all: bool) -> PaperRow {
    PaperRow::new(vec![
        one.paddle.clone(),
        one.name.clone().unwrap_or_default(),
        one.limit.map(|limit| sale.currency.show(limit)).unwrap_or_default(),
        if has_all { Badge::from(one.status).words().to_owned() } else { String::new() },
    ])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paddles_are_in_the_order_of_their_numbers() {
        let mut paddles = ["A7", "101", "12", "7", "12B"];
        paddles.sort_by_key(|paddle| paddle_key(paddle));
        assert_eq!(paddles, ["7", "12", "12B", "101", "A7"]);
    }
}
