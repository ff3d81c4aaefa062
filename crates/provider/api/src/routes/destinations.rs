//! Deliveries: the messages that an endpoint received, and the endpoints that a message went to.

use axum::extract::State;
use axum::response::Response;
use kit_runtime::clock::from_ms;
use provider_core::model::AttemptStatus;
use provider_core::page::CursorKey;
use provider_core::port::AttemptedMessage;
use provider_core::{AttemptedDestination, AttemptedFilter, Provider, ids};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::attempts::{Statuses, status_text};
use super::endpoints::{self, EndpointOut};
use super::messages::{self, MessageOut};
use crate::errors::{ApiError, HttpErrorOut};
use crate::extract::{self, Auth, PathParams};
use crate::history_query::{AttemptedMessagesQuery, FilterParams, Filters, HistoryParams, content};
use crate::response::{self, ListResponse};

/// A message with an attempt at the endpoint, and the status of its delivery.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct EndpointMessageOut<'a> {
    /// The message.
    #[serde(flatten)]
    message: MessageOut<'a>,
    /// 0 success, 2 fail, 3 sending (a retry is scheduled), 4 canceled.
    #[schema(minimum = 0, maximum = 4)]
    status: u8,
    /// The status as a word.
    status_text: &'static str,
    /// Time of the next attempt; null when none is scheduled.
    #[schema(value_type = Option<String>, format = DateTime)]
    next_attempt: Option<String>,
}

/// An endpoint that a message was sent to or waits for. Of a deleted endpoint only the id, the time of creation and the
/// URL of the latest attempt are known.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct MessageEndpointOut<'a> {
    /// The endpoint. A deleted one is `disabled`.
    #[serde(flatten)]
    endpoint: EndpointOut<'a>,
    /// Outcome of the latest attempt, also when a retry is scheduled: 0 success, 1 pending (no attempt yet), 2 fail, 4
    /// canceled.
    #[schema(minimum = 0, maximum = 4)]
    status: u8,
    /// The status as a word.
    status_text: &'static str,
    /// Time of the next attempt; null when none is scheduled.
    #[schema(value_type = Option<String>, format = DateTime)]
    next_attempt: Option<String>,
}

/// The page of the list of endpoints.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct DestinationsQuery {
    /// Entries on a page: 0 to 250. The default is 50.
    #[param(value_type = Option<u16>, minimum = 0, maximum = 250)]
    limit: Option<String>,
    /// `iterator` or `prevIterator` of another page.
    #[param(min_length = 1)]
    iterator: Option<String>,
}

impl Filters for DestinationsQuery {
    const SUPPORTED: &'static [&'static str] = &[];
}

fn destination(row: &AttemptedDestination) -> MessageEndpointOut<'_> {
    let endpoint = match &row.endpoint {
        Some(endpoint) => endpoints::view(endpoint),
        None => {
            endpoints::view_deleted(&row.id, &row.url, ids::timestamp_of(&row.id, ids::ENDPOINT).unwrap_or(from_ms(0)))
        }
    };
    MessageEndpointOut {
        endpoint,
        status: row.status as u8,
        status_text: status_text(row.status),
        next_attempt: row.next_attempt.map(response::time),
    }
}

/// Lists the messages with an attempt at an endpoint, newest first.
#[utoipa::path(get, path = "/app/{app_id}/endpoint/{endpoint_id}/msg",
    operation_id = "v1.message-attempt.list-attempted-messages", tag = "Message Attempt",
    params(
        ("app_id" = String, Path, description = "Id or uid"), ("endpoint_id" = String, Path, description = "Id or uid"),
        HistoryParams, AttemptedMessagesQuery,
    ),
    responses(
        (status = 200, body = ListResponse<EndpointMessageOut<'_>>,
            description = "A page of messages with the status of their delivery."),
        (status = 404, body = HttpErrorOut<'_>),
    ))]
pub(crate) async fn list_attempted_messages(
    State(provider): State<Provider>,
    Auth(caller): Auth,
    PathParams([application, endpoint]): PathParams<2>,
    FilterParams(query): FilterParams<AttemptedMessagesQuery>,
) -> Result<Response, ApiError> {
    let (part, wanted) = (query.history.request(ids::MESSAGE)?, query.status()?);
    let filter = AttemptedFilter { status: wanted, messages: query.history.messages()? };
    let (content, statuses) = (content(query.with_content), Statuses::of(query.expanded_statuses));
    let find = provider.list_attempted_messages(&caller, &application, &endpoint, &filter, content, part);
    response::try_list(&find.await?, |row: &AttemptedMessage| {
        // A list filtered by success shows each message as such, also while it is being resent.
        let status = wanted.filter(|wanted| *wanted == AttemptStatus::Success).unwrap_or(row.state.status());
        let status = statuses.visible(status);
        Ok(EndpointMessageOut {
            message: messages::view(&row.message, content)?,
            status: status as u8,
            status_text: status_text(status),
            next_attempt: row.state.next_at.map(response::time),
        })
    })
}

/// Lists the endpoints that a message was sent to or waits for, ordered by id.
#[utoipa::path(get, path = "/app/{app_id}/msg/{msg_id}/endpoint",
    operation_id = "v1.message-attempt.list-attempted-destinations", tag = "Message Attempt",
    params(
        ("app_id" = String, Path, description = "Id or uid"), ("msg_id" = String, Path, description = "Id or event id"),
        DestinationsQuery,
    ),
    responses(
        (status = 200, body = ListResponse<MessageEndpointOut<'_>>,
            description = "A page of endpoints with the status of the delivery."),
        (status = 404, body = HttpErrorOut<'_>),
    ))]
pub(crate) async fn list_attempted_destinations(
    State(provider): State<Provider>,
    Auth(caller): Auth,
    PathParams([application, message]): PathParams<2>,
    FilterParams(query): FilterParams<DestinationsQuery>,
) -> Result<Response, ApiError> {
    let page = extract::page(&query.limit, &query.iterator, &None, CursorKey::Id(ids::ENDPOINT))?;
    let rows = provider.list_attempted_destinations(&caller, &application, &message, &page).await?;
    Ok(response::list(&rows, destination))
}
