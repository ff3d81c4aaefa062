//! Reference data: the codes and names that other records use. Each list is returned whole, is the same for every
//! caller, and may be cached for a day.

use std::sync::LazyLock;

use axum::response::Response;
use contract::event::EventType;
use contract::models::{CountryCode, CountryModel, CurrencyCode, CurrencyModel};
use contract::{AuctionStatus, ItemStatus};
use http::HeaderMap;
use serde::Serialize;
use utoipa::ToSchema;

use crate::cacheable::{CachePolicy, CacheableResponse};
use crate::errors::ApiError;
use crate::extract::QueryRequest;
use crate::models::{CountrySchema, CurrencySchema};

/// A status.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct StatusView {
    /// Name, as in events and responses.
    name: &'static str,
    /// Number of the status.
    code: i32,
    /// Label for people.
    label: &'static str,
    /// What the status means.
    meaning: &'static str,
}

/// An event type.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct EventTypeView {
    /// Name, as in events.
    name: &'static str,
    /// Title for people.
    title: &'static str,
    /// When the event occurs.
    description: &'static str,
}

/// Reference data.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ReferenceData<T> {
    /// All entries.
    data: Vec<T>,
}

/// A list of reference data, rendered at the first request.
type List = LazyLock<CacheableResponse>;

fn list<T: Serialize>(data: impl Iterator<Item = T>) -> CacheableResponse {
    CacheableResponse::new(&ReferenceData { data: data.collect() }, CachePolicy::Day)
}

static COUNTRIES: List = LazyLock::new(|| list(CountryCode::all().map(CountryModel::of)));
static CURRENCIES: List =
    LazyLock::new(|| list(CurrencyCode::all().filter(|code| !code.is_withdrawn()).map(CurrencyModel::of)));
static ITEM_STATUSES: List = LazyLock::new(|| {
    list(ItemStatus::ALL.iter().map(|status| StatusView {
        name: status.name(),
        code: status.code(),
        label: status.label(),
        meaning: status.meaning(),
    }))
});
static AUCTION_STATUSES: List = LazyLock::new(|| {
    list(AuctionStatus::ALL.iter().map(|status| StatusView {
        name: status.name(),
        code: status.code(),
        label: status.label(),
        meaning: status.meaning(),
    }))
});
static EVENT_TYPES: List = LazyLock::new(|| {
    list(EventType::ALL.iter().map(|event_type| EventTypeView {
        name: event_type.name(),
        title: event_type.title(),
        description: event_type.description(),
    }))
});

/// List countries
///
/// In order of their English names. An id is the ISO 3166-1 number and never changes. Any key.
#[utoipa::path(
    get, path = "/reference-data/countries", tag = "reference",
    params(("If-None-Match" = Option<String>, Header)),
    responses((status = 200, description = "All countries.", body = ReferenceData<CountrySchema>), (status = 304)),
)]
pub(crate) async fn countries(_request: QueryRequest<()>, headers: HeaderMap) -> Result<Response, ApiError> {
    Ok(COUNTRIES.respond(&headers))
}

/// List currencies
///
/// In order of their ids, without withdrawn ones. An id is the ISO 4217 number and never changes. Any key.
#[utoipa::path(
    get, path = "/reference-data/currencies", tag = "reference",
    params(("If-None-Match" = Option<String>, Header)),
    responses(
        (status = 200, description = "All currencies in use.", body = ReferenceData<CurrencySchema>),
        (status = 304),
    ),
)]
pub(crate) async fn currencies(_request: QueryRequest<()>, headers: HeaderMap) -> Result<Response, ApiError> {
    Ok(CURRENCIES.respond(&headers))
}

/// List item statuses
///
/// Any key.
#[utoipa::path(
    get, path = "/reference-data/item-statuses", tag = "reference",
    params(("If-None-Match" = Option<String>, Header)),
    responses(
        (status = 200, description = "All statuses of an item.", body = ReferenceData<StatusView>),
        (status = 304),
    ),
)]
pub(crate) async fn item_statuses(_request: QueryRequest<()>, headers: HeaderMap) -> Result<Response, ApiError> {
    Ok(ITEM_STATUSES.respond(&headers))
}

/// List auction statuses
///
/// Any key.
#[utoipa::path(
    get, path = "/reference-data/auction-statuses", tag = "reference",
    params(("If-None-Match" = Option<String>, Header)),
    responses(
        (status = 200, description = "All statuses of an auction.", body = ReferenceData<StatusView>),
        (status = 304),
    ),
)]
pub(crate) async fn auction_statuses(_request: QueryRequest<()>, headers: HeaderMap) -> Result<Response, ApiError> {
    Ok(AUCTION_STATUSES.respond(&headers))
}

/// List event types
///
/// Any key.
#[utoipa::path(
    get, path = "/reference-data/event-types", tag = "reference",
    params(("If-None-Match" = Option<String>, Header)),
    responses((status = 200, description = "All event types.", body = ReferenceData<EventTypeView>), (status = 304)),
)]
pub(crate) async fn event_types(_request: QueryRequest<()>, headers: HeaderMap) -> Result<Response, ApiError> {
    Ok(EVENT_TYPES.respond(&headers))
}
