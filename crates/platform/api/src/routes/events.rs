//! The event feed: announced events in order, to reconcile after an outage.

use axum::extract::State;
use axum::response::Response;
use platform_core::Platform;
use platform_core::port::Page;
use serde::Deserialize;
use utoipa::IntoParams;
use uuid::Uuid;

use crate::errors::{ApiError, Problem};
use crate::extract::QueryRequest;
use crate::models::{EventView, EventsView};
use crate::pagination::page_limit;
use crate::response;

/// Which events to list.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct EventsQuery {
    /// Cursor: list the events after it. Send `next` of an earlier response. Default: 0, the beginning of the feed.
    #[param(minimum = 0)]
    #[serde(default)]
    after: i64,
    /// Events of the page, at most; 1 to 250, default 50.
    #[param(minimum = 1, maximum = 250)]
    limit: Option<u32>,
    /// UUID of the customer. Required, except for an API key of one customer.
    customer: Option<Uuid>,
}

/// List events
///
/// A customer's announced events after a cursor, in order, as the platform publishes them. To reconcile after an
/// outage, call it with the last known cursor until `done` is true. Scope `events:read`. Errors: 422
/// `cursor_beyond_end` if the feed has not reached the cursor.
#[utoipa::path(
    get, path = "/events", tag = "events",
    params(EventsQuery),
    responses(
        (status = 200, description = "A page of events in order of their cursors.", body = EventsView),
        (status = 404, body = Problem), (status = 422, body = Problem),
    ),
)]
pub(crate) async fn list(
    State(platform): State<Platform>,
    request: QueryRequest<EventsQuery>,
) -> Result<Response, ApiError> {
    let EventsQuery { after, limit, customer } = request.query;
    let limit = page_limit(limit)?;
    if after < 0 {
        return Err(ApiError::invalid_query("after", format!("is {after}; send 0, or `next` of an earlier response")));
    }
    let page = Page { after: Some(after), limit: limit + 1 };
    if customer.is_none() && request.caller.customer.is_none() {
        return Err(ApiError::invalid_query(
            "customer",
            "is missing; send the UUID of the customer whose events to list",
        ));
    }
    let mut rows = platform.events_after(&request.caller, customer, page).await?;
    let done = rows.len() <= limit;
    rows.truncate(limit);
    let next = rows.last().map_or(after, |row| row.cursor);
    Ok(response::ok(&EventsView { data: rows.iter().map(EventView::from).collect(), next, done }))
}
