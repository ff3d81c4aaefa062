//! The results of an auction, lot by lot.

use askama::Template;
use axum::response::Response;
use contract::ItemStatus;
use kit_design::fields::{FormFields, QueryFields};
use kit_design::frame::{Frame, render_page};
use platform_core::Scope;
use platform_core::port::Page;
use platform_core::sales::lists::ItemQuery;
use platform_rules::{Item, SaleResult};
use uuid::Uuid;

use super::totals::Totals;
use super::way_back::{self, WayBack};
use crate::lots::offer;
use crate::page_error::PageError;
use crate::sale::labels::{self, Badge};
use crate::sale::{Head, Sale, Tab};
use crate::session::{PathIds, Session};

const ROWS_MAX: usize = 100;
/// Lots up to which the page contains the totals.
const INLINE_LOTS_MAX: u64 = 2_000;
const FILTERS: &[(&str, &str, &[ItemStatus])] = &[
    ("", "All results", &[ItemStatus::Sold, ItemStatus::SoldBuyNow, ItemStatus::Unsold, ItemStatus::Passed]),
    ("sold", "Sold", &[ItemStatus::Sold, ItemStatus::SoldBuyNow]),
    ("unsold", "Unsold", &[ItemStatus::Unsold]),
    ("passed", "Passed", &[ItemStatus::Passed]),
    (OPEN, "Buyer open", &[ItemStatus::Sold]),
];
/// The filter of sold lots whose buyer is not named yet.
const OPEN: &str = "open";

#[derive(Template)]
#[template(path = "results/list.html")]
struct ResultsPage {
    frame: Frame,
    head: Head,
    /// ISO 4217 code.
    currency: String,
    /// None while the script loads them.
    totals: Option<Totals>,
    chips: Vec<Chip>,
    rows: Vec<Row>,
    next: Option<String>,
    is_first: bool,
    may_write: bool,
    /// Lots that were recorded as unpaid on the page before.
    unpaid: Option<String>,
}

struct Chip {
    words: &'static str,
    query: String,
    is_current: bool,
}

struct Row {
    id: Uuid,
    position: i64,
    lot_number: String,
    title: String,
    badge: Badge,
    buyer: String,
    hammer: String,
    premium: String,
    tax: String,
    total: String,
    actions: Vec<(String, &'static str)>,
}

/// The results.
pub(super) async fn page(
    session: Session,
    PathIds([uuid]): PathIds<1>,
    QueryFields(query): QueryFields,
) -> Result<Response, PageError> {
    let sale = Sale::load(&session, uuid).await?;
    let (name, _, statuses) = filter(query.text("show"));
    let after: Option<i64> = query.text("after").parse().ok();
    let wanted = ItemQuery { statuses: statuses.to_vec(), lot_number: None };
    let page = Page { after, limit: ROWS_MAX };
    let found = if *name == OPEN {
        session.platform().lots_with_open_buyer(&session.caller, uuid, page).await?
    } else {
        session.platform().list_items(&session.caller, uuid, &wanted, page).await?
    };
    let next =
        found.last().filter(|_| found.len() == ROWS_MAX).map(|last| format!("show={name}&after={}", last.position));
    let totals = if sale.counts.total <= INLINE_LOTS_MAX { Some(Totals::load(&session, &sale).await?) } else { None };
    let may_write = session.may(Scope::AuctionsWrite);
    let chip = |(own, words, _): &(&'static str, &'static str, &[ItemStatus])| Chip {
        words,
        query: format!("show={own}"),
        is_current: own == name,
    };
    let frame = sale.frame(&session, "Results", &query);
    let way_back = WayBack::to_results(name, after);
    let page = ResultsPage {
        frame: match way_back::notice(&session, &query).await? {
            Some(notice) => frame.with_notice(Some(notice)),
            None => frame,
        },
        head: sale.head(&session, Tab::Results),
        currency: sale.currency.code().to_owned(),
        totals,
        chips: FILTERS.iter().map(chip).collect(),
        rows: found.iter().map(|item| row(&sale, item, may_write.then_some(&way_back))).collect(),
        next,
        is_first: after.is_none(),
        may_write,
        unpaid: unpaid(&sale, &query),
    };
    render_page(&page)
}

/// The notice that names count and sum of the lots that were recorded as unpaid.
fn unpaid(sale: &Sale, query: &FormFields) -> Option<String> {
    let (lots, sum) = (query.text("lots").parse().ok()?, query.text("sum").parse().ok()?);
    let count = labels::count(lots, "lot is", "lots are");
    let notice = format!("{count} unsold, {} in all: their buyer did not pay.", sale.currency.exact(sum));
    (query.text("done") == "unpaid").then_some(notice)
}

/// The filter with this name; all results for an unknown name.
fn filter(name: &str) -> &'static (&'static str, &'static str, &'static [ItemStatus]) {
    FILTERS.iter().find(|(own, ..)| *own == name).unwrap_or(&FILTERS[0])
}

/// The name of the filter that a query names.
pub(super) fn filter_name(name: &str) -> &'static str {
    filter(name).0
}

/// A row, with its corrections for a user who may make them.
fn row(sale: &Sale, item: &Item, corrected: Option<&WayBack>) -> Row {
    let result = SaleResult::of(&sale.auction, item);
    let money = |of: fn(SaleResult) -> i64| result.map(|result| sale.currency.exact(of(result))).unwrap_or_default();
    Row {
        id: item.uuid,
        lot_number: item.lot_number.clone(),
        title: item.title.clone(),
        badge: item.status.into(),
        buyer: item.standing.as_ref().filter(|_| result.is_some()).map(labels::bidder).unwrap_or_default(),
        hammer: money(|result| result.hammer),
        premium: money(|result| result.premium),
        tax: money(|result| result.tax),
        total: money(|result| result.total),
        position: item.position,
        actions: corrected.map(|way_back| actions(sale, item, way_back)).unwrap_or_default(),
    }
}

/// What can be corrected about a result, each with a page that shows its consequence first.
fn actions(sale: &Sale, item: &Item, way_back: &WayBack) -> Vec<(String, &'static str)> {
    let legal = item.legal_next(&sale.auction, sale.now);
    let back = way_back.parameter();
    let link = |to: ItemStatus, words| (format!("status?to={}&{back}", to.name()), words);
    let mut actions = Vec::new();
    if legal.contains(&ItemStatus::Live) {
        actions.push(link(ItemStatus::Live, "Reopen lot"));
    }
    if legal.contains(&ItemStatus::Unsold) {
        actions.push(link(ItemStatus::Unsold, "Record unpaid buyer"));
    }
    if offer::is_possible(sale, item) {
        actions.push((format!("offer?{back}"), "Record post-sale offer"));
    }
    if item.is_result_correctable(&sale.auction) {
        actions.push((format!("hammer-price?{back}"), "Correct hammer price"));
        actions.push((format!("buyer?{back}"), if item.is_buyer_open() { "Name buyer" } else { "Change buyer" }));
    }
    actions
}
