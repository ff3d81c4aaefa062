//! Reference data: the lists that other records' codes and names are from. Each comes whole, is the same for every caller,
//! and may be kept for a day.

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
    /// What events and answers carry.
    name: &'static str,
    code: i32,
    /// For people.
    label: &'static str,
    meaning: &'static str,
}

/// An event type.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct EventTypeView {
    name: &'static str,
    title: &'static str,
    description: &'static str,
}

/// Reference data.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ReferenceData<T> {
    data: Vec<T>,
}

/// A list of this process's own lists, made when it is asked for first.
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

/// Lists the countries in the order of their English names. An id is the ISO 3166-1 number, stable for ever. Any key.
#[utoipa::path(get, path = "/reference-data/countries", tag = "reference",
    responses((status = 200, body = ReferenceData<CountrySchema>), (status = 304)))]
pub(crate) async fn countries(_asked: QueryRequest<()>, headers: HeaderMap) -> Result<Response, ApiError> {
    Ok(COUNTRIES.answer(&headers))
}

/// Lists the currencies in the order of their ids, without those that ISO has withdrawn. An id is the ISO 4217 number, stable
/// for ever. Any key.
#[utoipa::path(get, path = "/reference-data/currencies", tag = "reference",
    responses((status = 200, body = ReferenceData<CurrencySchema>), (status = 304)))]
pub(crate) async fn currencies(_asked: QueryRequest<()>, headers: HeaderMap) -> Result<Response, ApiError> {
    Ok(CURRENCIES.answer(&headers))
}

/// Lists the statuses of items. Any key.
#[utoipa::path(get, path = "/reference-data/item-statuses", tag = "reference",
    responses((status = 200, body = ReferenceData<StatusView>), (status = 304)))]
pub(crate) async fn item_statuses(_asked: QueryRequest<()>, headers: HeaderMap) -> Result<Response, ApiError> {
    Ok(ITEM_STATUSES.answer(&headers))
}

/// Lists the statuses of auctions. Any key.
#[utoipa::path(get, path = "/reference-data/auction-statuses", tag = "reference",
    responses((status = 200, body = ReferenceData<StatusView>), (status = 304)))]
pub(crate) async fn auction_statuses(_asked: QueryRequest<()>, headers: HeaderMap) -> Result<Response, ApiError> {
    Ok(AUCTION_STATUSES.answer(&headers))
}

/// Lists the event types. Any key.
#[utoipa::path(get, path = "/reference-data/event-types", tag = "reference",
    responses((status = 200, body = ReferenceData<EventTypeView>), (status = 304)))]
pub(crate) async fn event_types(_asked: QueryRequest<()>, headers: HeaderMap) -> Result<Response, ApiError> {
    Ok(EVENT_TYPES.answer(&headers))
}
