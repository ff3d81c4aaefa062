//! Live streams for pages of other sites: the server-sent events that the pages of the saleroom follow.

use axum::response::Response;
use http::HeaderMap;
use platform_core::saleroom::{LOTS_FOLLOWED_MAX, Visitor};
use serde::Deserialize;
use utoipa::IntoParams;
use uuid::Uuid;

use super::errors::{ApiError, Problem};
use super::requests::{AtHouse, QueryOf};
use crate::live::{LAST_EVENT_ID, respond};

/// Which lots of a sale.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct FollowQuery {
    /// UUIDs of lots, separated by commas; at most 60.
    #[serde(default)]
    lots: String,
}

/// Follow a sale
///
/// A stream of server-sent events: `snapshot` with the sale, the lots and the auctioneer's messages, then `item`, `auction`, `messages`
/// and `gone` with what changed, and `beat` as a sign of life that says when the next one is due. The states have the names and values of `Sale`, `Lot` and `Message`. The stream
/// ends when the sale is over.
#[utoipa::path(
    get, path = "/sales/{sale}/live", tag = "live",
    params(("house" = String, Path), ("sale" = Uuid, Path), FollowQuery),
    responses(
        (status = 200, description = "The stream.", content_type = "text/event-stream", body = String),
        (status = 404, body = Problem),
    ),
)]
pub(super) async fn sale(
    at: AtHouse<1>,
    QueryOf(query): QueryOf<FollowQuery>,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    let lots = query.lots.split(',').take(LOTS_FOLLOWED_MAX).filter_map(|lot| Uuid::try_parse(lot).ok());
    let visitor = visitor(&at, &headers);
    Ok(respond(at.platform().follow_sale(at.saleroom(), at.ids[0], lots.collect(), visitor).await?))
}

/// Follow a lot
///
/// As for a sale, with one lot.
#[utoipa::path(
    get, path = "/sales/{sale}/lots/{lot}/live", tag = "live",
    params(("house" = String, Path), ("sale" = Uuid, Path), ("lot" = Uuid, Path)),
    responses(
        (status = 200, description = "The stream.", content_type = "text/event-stream", body = String),
        (status = 404, body = Problem),
    ),
)]
pub(super) async fn lot(at: AtHouse<2>, headers: HeaderMap) -> Result<Response, ApiError> {
    let [auction, item] = at.ids;
    let visitor = visitor(&at, &headers);
    Ok(respond(at.platform().follow_lot(at.saleroom(), (auction, item), visitor).await?))
}

fn visitor<'a, const N: usize>(at: &AtHouse<N>, headers: &'a HeaderMap) -> Visitor<'a> {
    let last_event = headers.get(LAST_EVENT_ID).and_then(|value| value.to_str().ok());
    Visitor { address: at.asked.address, last_event }
}
