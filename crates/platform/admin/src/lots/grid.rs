//! The grid of an auction's lots: filters, order and page are in the address; each cell opens as a field.

use std::borrow::Cow;

use askama::Template;
use askama::filters::HtmlSafe;
use axum::response::{Html, IntoResponse as _, Response};
use contract::ItemStatus;
use http::{HeaderMap, StatusCode};
use kit_design::error_page::ErrorPage;
use kit_design::fields::{FormFields, QueryFields};
use kit_design::form_field::{Choice, FormField};
use kit_design::frame::{Frame, render_page_as};
use platform_core::port::Page;
use platform_core::sales::search::{Found, ItemSearch, MissingField};
use platform_rules::Item;

use super::cell::FRAGMENT;
use super::columns::Column;
use super::consignors::{Consignors, Suggestions};
use super::grid_columns::{self, GridColumn};
use super::imported;
use super::row::{Editor, Row};
use crate::imports::ImportNotice;
use crate::page_error::PageError;
use crate::results::relisted_notice;
use crate::sale::query::query_without;
use crate::sale::{Head, Sale, Tab};
use crate::sale::{labels, notice};
use crate::session::{PathIds, Session};

/// Rows of a page, which stays below 100 kB.
const ROWS_MAX: usize = 64;
/// Lots that an order other than the running order sorts at most.
const SORTED_MAX: u64 = 5_000;
const TEXT_CHARS_MAX: usize = 200;
/// Query parameters that every link of the grid keeps.
const KEPT: &[&str] = &["q", "status", "missing", "below", "sort", "after", "from"];
/// Query parameters of the filter.
const FILTERS: &[&str] = &["q", "status", "missing", "below", "sort"];
const SORTS: &[(&str, &str)] = &[
    ("", "Running order"),
    ("title", "Title"),
    ("low", "Highest estimate"),
    ("price", "Highest price"),
    ("bids", "Most bids"),
    ("ends", "Earliest end"),
];

#[derive(Template)]
#[template(path = "lots/grid.html")]
struct GridPage {
    frame: Frame,
    head: Head,
    /// After an import.
    imported: Option<ImportNotice>,
    /// Lots can be edited, added, moved and chosen for a bulk action.
    may_edit: bool,
    chips: Vec<StatusChip>,
    columns: Vec<GridColumn>,
    /// The columns that the user may choose.
    choice: FormField,
    filters: [FormField; 4],
    status: String,
    is_filtered: bool,
    /// The rows are not in running order.
    is_sorted: bool,
    zone: String,
    body: Rows,
    is_empty: bool,
    cannot_sort: bool,
    /// The rows are in running order without a filter, so a row may be moved.
    can_order: bool,
    action: FormField,
    /// What the cells of consignors suggest, if the grid has them.
    suggested: Option<Suggestions>,
}

/// The rows of one page of the list, which the script loads by themselves while a person scrolls.
#[derive(Template)]
#[template(path = "lots/grid_rows.html")]
struct Rows {
    /// The query of this page, and of the pages beside it.
    query: String,
    first: Option<String>,
    previous: Option<String>,
    next: Option<String>,
    rows: Vec<Row>,
}

impl HtmlSafe for Rows {}

/// A status as a filter, with the address of the list.
struct StatusChip {
    words: &'static str,
    query: String,
    is_current: bool,
}

/// A cell that is open, or was refused.
pub(super) struct OpenCell {
    /// The lot's place in the running order.
    pub(super) position: i64,
    pub(super) column: Column,
    /// What was typed; none for the present value.
    pub(super) value: Option<String>,
    pub(super) fault: String,
}

/// The grid.
pub(super) async fn page(
    session: Session,
    PathIds([uuid]): PathIds<1>,
    headers: HeaderMap,
    QueryFields(query): QueryFields,
) -> Result<Response, PageError> {
    let sale = Sale::load(&session, uuid).await?;
    let open = query.text("edit").split_once('.').and_then(|(position, column)| {
        let (position, column) = (position.parse().ok()?, Column::parse(column)?);
        Some(OpenCell { position, column, value: None, fault: String::new() })
    });
    if headers.contains_key(FRAGMENT) {
        let columns = grid_columns::chosen(&session, &headers);
        let body = rows(&session, &sale, &query, (&columns, open.as_ref())).await?.render();
        let body = body.map_err(|_| PageError::from(ErrorPage::internal()))?;
        return Ok(Html(format!("<table>{body}</table>")).into_response());
    }
    show(&session, &sale, (&query, &headers), open, StatusCode::OK).await
}

/// The rows that the query asks for, with a cell open.
async fn rows(
    session: &Session,
    sale: &Sale,
    query: &FormFields,
    (columns, open): (&[GridColumn], Option<&OpenCell>),
) -> Result<Rows, PageError> {
    let wanted = search(query);
    let slice = if !query.text("sort").is_empty() && sale.counts.total <= SORTED_MAX {
        sorted(session, sale, &wanted, query).await?
    } else {
        in_running_order(session, sale, &wanted, query).await?
    };
    let kept = kept(query);
    let consignors = consignors(session, sale, columns, &slice.items).await?;
    let row = |item: &Item| {
        let editor = open.filter(|open| open.position == item.position).map(|open| Editor {
            column: open.column,
            value: open.value.clone().unwrap_or_else(|| open.column.field(item, &sale.currency, &consignors)),
            fault: open.fault.clone(),
        });
        Row::new(session, sale, (item, &consignors), (columns, &kept), editor)
    };
    let mut rows: Vec<Row> = slice.items.iter().map(row).collect();
    Row::add_pictures(session, &slice.items, &mut rows).await?;
    Ok(Rows { query: kept.clone(), first: slice.first, previous: slice.previous, next: slice.next, rows })
}

/// The consignors of these lots, if a column shows them.
pub(super) async fn consignors(
    session: &Session,
    sale: &Sale,
    columns: &[GridColumn],
    items: &[Item],
) -> Result<Consignors, PageError> {
    let is_shown = columns.contains(&GridColumn::Field(Column::Vendor));
    Ok(Consignors::of(session, sale, items.iter().filter(|_| is_shown)).await?)
}

/// Renders the grid that the query asks for, with a cell open.
pub(super) async fn show(
    session: &Session,
    sale: &Sale,
    (query, headers): (&FormFields, &HeaderMap),
    open: Option<OpenCell>,
    status: StatusCode,
) -> Result<Response, PageError> {
    let wanted = search(query);
    let sort = query.text("sort");
    let can_sort = sale.counts.total <= SORTED_MAX;
    let columns = grid_columns::chosen(session, headers);
    let body = rows(session, sale, query, (&columns, open.as_ref())).await?;
    let has_consignors = columns.contains(&GridColumn::Field(Column::Vendor)) && sale.may_edit_lots(session);
    let suggested = if has_consignors { Some(Suggestions::load(session, sale).await?) } else { None };
    let imported = imported::notice(session, sale, query).await?;
    let notice = notice::from_query(query).filter(|_| imported.is_none()).map(Cow::Borrowed);
    let page = GridPage {
        suggested,
        frame: sale.frame(session, "Lots", query).with_notice(relisted_notice(query).map(Cow::Owned).or(notice)),
        imported,
        head: sale.head(session, Tab::Lots),
        may_edit: sale.may_edit_lots(session),
        chips: chips(query),
        choice: column_choice(session, &columns),
        columns,
        filters: filters(query, &wanted),
        status: query.text("status").to_owned(),
        is_filtered: wanted != ItemSearch::default(),
        is_sorted: !sort.is_empty(),
        zone: sale.zone.abbreviation(sale.now),
        is_empty: body.rows.is_empty(),
        body,
        can_order: sort.is_empty() && wanted == ItemSearch::default(),
        cannot_sort: !sort.is_empty() && !can_sort,
        action: FormField::select("action", "Selected lots", super::bulk::actions("")),
    };
    render_page_as(status, &page)
}

/// The part of a query that every link of the grid keeps.
pub(super) fn kept(query: &FormFields) -> String {
    query_without(query, KEPT, &[])
}

/// The rows of one page, and the queries of the pages beside it.
struct Slice {
    items: Vec<Item>,
    first: Option<String>,
    previous: Option<String>,
    next: Option<String>,
}

async fn in_running_order(
    session: &Session,
    sale: &Sale,
    wanted: &ItemSearch,
    query: &FormFields,
) -> Result<Slice, PageError> {
    let after: Option<i64> = query.text("after").parse().ok();
    let page = Page { after, limit: ROWS_MAX };
    let Found { entries, next } =
        session.platform().search_items(&session.caller, sale.auction.uuid, wanted, page).await?;
    let filter = query_without(query, FILTERS, &[]);
    let rows = i64::try_from(ROWS_MAX).unwrap_or(i64::MAX);
    // Places are counted from 0 without gaps, so without a filter the page before is known.
    let before = after.filter(|_| *wanted == ItemSearch::default()).map(|after| after - rows);
    Ok(Slice {
        items: entries,
        first: after.map(|_| filter.clone()),
        previous: before.map(|before| if before < 0 { filter.clone() } else { format!("{filter}after={before}") }),
        next: next.map(|next| format!("{filter}after={next}")),
    })
}

async fn sorted(session: &Session, sale: &Sale, wanted: &ItemSearch, query: &FormFields) -> Result<Slice, PageError> {
    let page = Page { after: None, limit: usize::try_from(SORTED_MAX).unwrap_or(usize::MAX) };
    let found = session.platform().search_items(&session.caller, sale.auction.uuid, wanted, page).await?;
    let mut items = found.entries;
    match query.text("sort") {
        "title" => items.sort_by_cached_key(|item| item.title.to_lowercase()),
        "low" => items.sort_by_key(|item| std::cmp::Reverse(item.low_estimate)),
        "price" => items.sort_by_key(|item| std::cmp::Reverse(item.price())),
        "bids" => items.sort_by_key(|item| std::cmp::Reverse(item.shown_bids())),
        "ends" => items.sort_by_key(|item| item.effective_end_time.or(item.end_time)),
        _ => {}
    }
    let from: usize = query.text("from").parse().unwrap_or(0);
    let filter = query_without(query, FILTERS, &[]);
    let has_next = items.len() > from.saturating_add(ROWS_MAX);
    Ok(Slice {
        items: items.into_iter().skip(from).take(ROWS_MAX).collect(),
        first: (from > 0).then(|| filter.clone()),
        previous: (from > 0).then(|| format!("{filter}from={}", from.saturating_sub(ROWS_MAX))),
        next: has_next.then(|| format!("{filter}from={}", from + ROWS_MAX)),
    })
}

fn search(query: &FormFields) -> ItemSearch {
    ItemSearch {
        category: None,
        statuses: ItemStatus::ALL.iter().copied().filter(|status| status.name() == query.text("status")).collect(),
        text: query.text("q").chars().take(TEXT_CHARS_MAX).collect(),
        missing: MissingField::ALL.into_iter().find(|field| field.as_str() == query.text("missing")),
        is_below_reserve: !query.text("below").is_empty(),
    }
}

fn chips(query: &FormFields) -> Vec<StatusChip> {
    let filter = query_without(query, FILTERS, &["status"]);
    let current = query.text("status");
    let all = StatusChip { words: "All", query: filter.clone(), is_current: current.is_empty() };
    let chip = |status: &ItemStatus| StatusChip {
        words: status.label(),
        query: format!("{filter}status={}", status.name()),
        is_current: current == status.name(),
    };
    std::iter::once(all).chain(ItemStatus::ALL.iter().map(chip)).collect()
}

fn filters(query: &FormFields, wanted: &ItemSearch) -> [FormField; 4] {
    let sorts = SORTS.iter().map(|(value, words)| Choice::of(*value, *words, query.text("sort")));
    [
        FormField::search("q", "Lot, title or description", &wanted.text),
        FormField::select("missing", "Missing", missing(query.text("missing"))),
        FormField::select("sort", "Order", sorts.collect()),
        FormField::tick("below", "Reserve not met", "yes").ticked(wanted.is_below_reserve),
    ]
}

/// The boxes of the columns that can be left out.
fn column_choice(session: &Session, shown: &[GridColumn]) -> FormField {
    let columns = GridColumn::of_user(session).filter(|column| !column.is_fixed());
    let choice = |column: GridColumn| Choice::new(column.name(), column.heading(), shown.contains(&column));
    FormField::boxes("column", "Columns beside lot and title", columns.map(choice).collect())
}

fn missing(chosen: &str) -> Vec<Choice> {
    let words = |field: MissingField| match field {
        MissingField::Title => "No title",
        MissingField::OpeningBid => "No opening bid",
        MissingField::Image => "No image",
        MissingField::Description => "No description",
        MissingField::Estimate => "No estimate",
        MissingField::Reserve => "No reserve",
        MissingField::Vendor => "No consignor",
    };
    let any = std::iter::once(Choice::of("", "Anything", chosen));
    any.chain(MissingField::ALL.into_iter().map(|field| Choice::of(field.as_str(), words(field), chosen))).collect()
}

impl GridPage {
    fn total(&self) -> String {
        labels::count(self.body.rows.len() as u64, "lot on this page", "lots on this page")
    }
}
