//! The events feed: announced events in order, to reconcile after an outage.

use axum::extract::State;
use axum::response::Response;
use platform_core::Platform;
use platform_core::port::Page;
use serde::Deserialize;
use utoipa::IntoParams;
use uuid::Uuid;

use crate::errors::{ApiError, Problem};
use crate::extract::{QueryRequest, limit};
use crate::models::{EventView, EventsView};
use crate::response;

/// Which events.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct EventsQuery {
    /// Events after this cursor, which is `next` of an earlier answer; 0 (default) is the beginning.
    #[param(minimum = 0)]
    #[serde(default)]
    after: i64,
    /// At most this many, 1 to 250; 50 without.
    #[param(minimum = 1, maximum = 250)]
    limit: Option<u32>,
    /// The customer; its own for a key that is confined to one.
    customer: Option<Uuid>,
}

/// Lists a customer's announced events after a cursor, in order, as they were or will be delivered. A cursor that was never
/// given is refused with 422 `cursor_beyond_end`. Scope `events:read`.
#[utoipa::path(get, path = "/events", tag = "events", params(EventsQuery),
    responses((status = 200, body = EventsView), (status = 404, body = Problem), (status = 422, body = Problem)))]
pub(crate) async fn list(
    State(platform): State<Platform>,
    request: QueryRequest<EventsQuery>,
) -> Result<Response, ApiError> {
    let EventsQuery { after, limit: wanted, customer } = request.query;
    let wanted = limit(wanted)?;
    if after < 0 {
        return Err(ApiError::invalid_query(
            "after",
            format!("is {after}; it takes 0 or a `next` of an earlier answer"),
        ));
    }
    let page = Page { after: Some(after), limit: wanted + 1 };
    if customer.is_none() && request.caller.customer.is_none() {
        return Err(ApiError::invalid_query("customer", "is missing: name the customer whose events are wanted"));
    }
    let mut rows = platform.events_after(&request.caller, customer, page).await?;
    let done = rows.len() <= wanted;
    rows.truncate(wanted);
    let next = rows.last().map_or(after, |row| row.cursor);
    Ok(response::ok(&EventsView { data: rows.iter().map(EventView::from).collect(), next, done }))
}
