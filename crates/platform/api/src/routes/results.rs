//! Results of an auction.

use axum::extract::{Path, State};
use axum::response::Response;
use platform_core::Platform;
use platform_core::catalogue::write::Export;
use platform_core::sales::results::BuyerResult;
use uuid::Uuid;

use super::csv_export::export;
use crate::errors::{ApiError, Problem};
use crate::extract::QueryRequest;
use crate::models::{ItemResultView, List, ResultsView};
use crate::pagination::ListQuery;
use crate::response;

/// Get an auction's results
///
/// Hammer prices, premiums, taxes and totals of the sold items so far, and the same for each buyer. The page contains
/// buyers in order of their paddles. Amounts are in minor units, rounded half up for each item. Scope
/// `auctions:read`. Errors: 409 `sum_too_large`.
#[utoipa::path(
    get, path = "/auctions/{uuid}/results", tag = "results",
    params(("uuid" = Uuid, Path), ListQuery),
    responses(
        (
            status = 200, description = "The auction's totals, and a page of buyers in order of their paddles.",
            body = ResultsView,
        ),
        (status = 404, body = Problem),
    ),
)]
pub(crate) async fn get(
    State(platform): State<Platform>,
    Path(uuid): Path<Uuid>,
    request: QueryRequest<ListQuery>,
) -> Result<Response, ApiError> {
    let page = request.query.page::<String>()?;
    let results = platform.results(&request.caller, uuid).await?;
    let from = page.after.as_ref().map_or(0, |after| results.buyers.partition_point(|buyer| buyer.bidder <= *after));
    let rest: &[BuyerResult] = results.buyers.get(from..).unwrap_or_default();
    let shown = rest.get(..page.limit.min(rest.len())).unwrap_or_default();
    let next = shown.last().filter(|_| rest.len() > shown.len());
    let next = next.map(|buyer| kit_http::cursor::encode(&buyer.bidder));
    Ok(response::ok(&ResultsView::new(&results, shown, next)))
}

/// List the results of an auction's items
///
/// In running order. Scope `auctions:read`.
#[utoipa::path(
    get, path = "/auctions/{uuid}/results/items", tag = "results",
    params(("uuid" = Uuid, Path), ListQuery),
    responses(
        (status = 200, description = "A page of item results in running order.", body = List<ItemResultView>),
        (status = 404, body = Problem),
    ),
)]
pub(crate) async fn items(
    State(platform): State<Platform>,
    Path(uuid): Path<Uuid>,
    request: QueryRequest<ListQuery>,
) -> Result<Response, ApiError> {
    let page = request.query.page::<i64>()?;
    let auction = platform.auction(&request.caller, uuid).await?;
    let items = platform.items(&request.caller, uuid, page.with_lookahead()).await?;
    Ok(response::list(items, page, |item| item.position, |item| ItemResultView::new(&auction, item)))
}

/// Export an auction's results
///
/// As a CSV file: the catalogue with the further columns `result_status`, `result_buyer`, `result_hammer`,
/// `result_premium`, `result_tax` and `result_total`, in major units. `POST /auctions/{uuid}/catalogue` can import the file again.
/// Scope `auctions:read`.
#[utoipa::path(
    get, path = "/auctions/{uuid}/results.csv", tag = "results",
    params(("uuid" = Uuid, Path)),
    responses(
        (status = 200, description = "The results as a CSV file in UTF-8.", body = String, content_type = "text/csv"),
        (status = 404, body = Problem),
    ),
)]
pub(crate) async fn file(
    State(platform): State<Platform>,
    Path(uuid): Path<Uuid>,
    request: QueryRequest<()>,
) -> Result<Response, ApiError> {
    let auction = platform.auction(&request.caller, uuid).await?;
    export(platform, request.caller, auction, Export::Results).await
}
