//! Sales and lots on view, for everyone.

use axum::response::Response;
use http::StatusCode;
use platform_core::port::Page;
use platform_core::saleroom::LotsWanted;
use serde::Deserialize;
use utoipa::IntoParams;
use uuid::Uuid;

use super::errors::{ApiError, Problem};
use super::models::{BidView, ConditionsView, List, LotView, LotWithBidsView, SaleView, statuses};
use super::requests::{AtHouse, QueryOf};

/// Entries of a page, usually and at most.
const LIMIT: usize = 50;
const LIMIT_MAX: usize = 100;
/// Characters of a search that are compared.
const TEXT_CHARS_MAX: usize = 100;

/// A page of a list.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct PageQuery {
    /// `next` of the page before.
    after: Option<String>,
    /// Entries, 1 to 100; 50 without it.
    limit: Option<usize>,
}

/// Which lots of a sale.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct LotsQuery {
    /// Text in the number, title or description; at most 100 characters.
    search: Option<String>,
    /// A category of the sale, as its lots have it; all lots without it.
    category: Option<String>,
    /// `open`, `sold` or `unsold`; all lots without it.
    show: Option<String>,
    /// `next` of the page before.
    after: Option<String>,
    /// Entries, 1 to 100; 50 without it.
    limit: Option<usize>,
}

fn page<K: std::str::FromStr>(after: Option<&str>, limit: Option<usize>) -> Result<Page<K>, ApiError> {
    let invalid = |detail: &str| ApiError::bad_request("query_invalid", detail);
    let limit = limit.unwrap_or(LIMIT);
    if !(1..=LIMIT_MAX).contains(&limit) {
        return Err(invalid("limit is 1 to 100"));
    }
    let key = |cursor: &str| kit_http::cursor::decode(cursor).and_then(|key| key.parse().ok());
    let after =
        after.map(|cursor| key(cursor).ok_or_else(|| invalid("after is no cursor of this list"))).transpose()?;
    Ok(Page { after, limit })
}

fn cursor(key: impl ToString) -> String {
    kit_http::cursor::encode(&key.to_string())
}

pub(super) fn ok(view: &impl serde::Serialize) -> Response {
    kit_http::json::response(StatusCode::OK, kit_http::json::text(view))
}

/// List sales that are live or announced
///
/// In the order in which they were created; at most 100.
#[utoipa::path(
    get, path = "/sales", tag = "sales", params(("house" = String, Path)),
    responses((status = 200, description = "The sales.", body = List<SaleView>), (status = 404, body = Problem)),
)]
pub(super) async fn list(at: AtHouse<0>) -> Result<Response, ApiError> {
    let sales = at.platform().coming_sales(at.saleroom()).await?;
    Ok(ok(&List::whole(sales.iter().map(|sale| SaleView::of(&at, sale)).collect())))
}

/// List past sales
///
/// The latest first.
#[utoipa::path(
    get, path = "/past-sales", tag = "sales", params(("house" = String, Path), PageQuery),
    responses((status = 200, description = "A page of sales.", body = List<SaleView>), (status = 400, description = "A parameter of the query is wrong: `query_invalid`.", body = Problem), (status = 404, body = Problem)),
)]
pub(super) async fn past(at: AtHouse<0>, QueryOf(query): QueryOf<PageQuery>) -> Result<Response, ApiError> {
    let page = page::<Uuid>(query.after.as_deref(), query.limit)?;
    let found = at.platform().past_sales(at.saleroom(), page).await?;
    let data = found.entries.iter().map(|sale| SaleView::of(&at, sale)).collect();
    Ok(ok(&List { data, next: found.next.map(cursor) }))
}

/// Read a sale
#[utoipa::path(
    get, path = "/sales/{sale}", tag = "sales", params(("house" = String, Path), ("sale" = Uuid, Path)),
    responses((status = 200, description = "The sale.", body = SaleView), (status = 404, body = Problem)),
)]
pub(super) async fn get(at: AtHouse<1>) -> Result<Response, ApiError> {
    let sale = at.platform().saleroom_sale(at.saleroom(), at.ids[0]).await?;
    Ok(ok(&SaleView::of(&at, &sale)))
}

/// Read the conditions of a sale
///
/// A bidder accepts the number of this version to register. 404 for a sale without conditions.
#[utoipa::path(
    get, path = "/sales/{sale}/conditions", tag = "sales", params(("house" = String, Path), ("sale" = Uuid, Path)),
    responses((status = 200, description = "The version.", body = ConditionsView), (status = 404, body = Problem)),
)]
pub(super) async fn conditions(at: AtHouse<1>) -> Result<Response, ApiError> {
    let sale = at.platform().saleroom_sale(at.saleroom(), at.ids[0]).await?;
    let found = at.platform().saleroom_conditions(at.saleroom(), &sale).await?;
    Ok(ok(&ConditionsView { number: found.number, text: found.text }))
}

/// List the lots of a sale
///
/// In running order.
#[utoipa::path(
    get, path = "/sales/{sale}/lots", tag = "lots",
    params(("house" = String, Path), ("sale" = Uuid, Path), LotsQuery),
    responses((status = 200, description = "A page of lots.", body = List<LotView>), (status = 400, description = "A parameter of the query is wrong: `query_invalid`.", body = Problem), (status = 404, body = Problem)),
)]
pub(super) async fn lots(at: AtHouse<1>, QueryOf(query): QueryOf<LotsQuery>) -> Result<Response, ApiError> {
    let page = page::<i64>(query.after.as_deref(), query.limit)?;
    let text: String = query.search.unwrap_or_default().chars().take(TEXT_CHARS_MAX).collect();
    let shown = match query.show.as_deref() {
        None => &[],
        Some(name) => {
            statuses(name).ok_or_else(|| ApiError::bad_request("query_invalid", "show is open, sold or unsold"))?
        }
    };
    let sale = at.platform().saleroom_sale(at.saleroom(), at.ids[0]).await?;
    let category = query.category.unwrap_or_default();
    let is_searched = !text.is_empty() || !category.is_empty();
    let _turn = if !is_searched { None } else { at.site.search_turn().await };
    let wanted = LotsWanted { text: &text, statuses: shown, category: &category };
    let found = at.platform().saleroom_lots(at.saleroom(), at.ids[0], wanted, page).await?;
    let data = found.lots.iter().map(|lot| LotView::of(&at, (&sale.auction, sale.is_link_lost), lot)).collect();
    Ok(ok(&List { data, next: found.next.map(cursor) }))
}

/// Read a lot with its latest bids
#[utoipa::path(
    get, path = "/sales/{sale}/lots/{lot}", tag = "lots",
    params(("house" = String, Path), ("sale" = Uuid, Path), ("lot" = Uuid, Path)),
    responses((status = 200, description = "The lot.", body = LotWithBidsView), (status = 404, body = Problem)),
)]
pub(super) async fn lot(at: AtHouse<2>) -> Result<Response, ApiError> {
    let [auction, item] = at.ids;
    let sale = at.platform().saleroom_sale(at.saleroom(), auction).await?;
    let found = at.platform().saleroom_lot(at.saleroom(), (auction, item)).await?;
    let lot = LotView::of(&at, (&sale.auction, sale.is_link_lost), &found.lot);
    Ok(ok(&LotWithBidsView { lot, bids: found.bids.into_iter().rev().map(BidView::of).collect() }))
}

/// The lot as everyone sees it now.
pub(super) async fn current<const N: usize>(
    at: &AtHouse<N>,
    (auction, item): (Uuid, Uuid),
) -> Result<LotView, ApiError> {
    let sale = at.platform().saleroom_sale(at.saleroom(), auction).await?;
    let found = at.platform().saleroom_lot(at.saleroom(), (auction, item)).await?;
    Ok(LotView::of(at, (&sale.auction, sale.is_link_lost), &found.lot))
}
