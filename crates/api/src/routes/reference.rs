//! Reference data, and records by `id` in the common models that carry `@class`.

use axum::extract::{Path, State};
use axum::response::Response;
use contract::event::EventType;
use contract::models::AuctioneerApiModel;
use contract::{AuctionStatus, ItemStatus};
use platform::Platform;
use serde::Serialize;
use utoipa::ToSchema;

use crate::answer;
use crate::ask::Asked;
use crate::errors::{ApiError, Problem};

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

/// Lists the statuses of items. Any key.
#[utoipa::path(get, path = "/reference-data/item-statuses", tag = "reference",
    responses((status = 200, body = ReferenceData<StatusView>)))]
pub(crate) async fn item_statuses(_asked: Asked<()>) -> Result<Response, ApiError> {
    let view = |status: &ItemStatus| StatusView {
        name: status.name(),
        code: status.code(),
        label: status.label(),
        meaning: status.meaning(),
    };
    Ok(answer::ok(&ReferenceData { data: ItemStatus::ALL.iter().map(view).collect() }))
}

/// Lists the statuses of auctions. Any key.
#[utoipa::path(get, path = "/reference-data/auction-statuses", tag = "reference",
    responses((status = 200, body = ReferenceData<StatusView>)))]
pub(crate) async fn auction_statuses(_asked: Asked<()>) -> Result<Response, ApiError> {
    let view = |status: &AuctionStatus| StatusView {
        name: status.name(),
        code: status.code(),
        label: status.label(),
        meaning: status.meaning(),
    };
    Ok(answer::ok(&ReferenceData { data: AuctionStatus::ALL.iter().map(view).collect() }))
}

/// Lists the event types. Any key.
#[utoipa::path(get, path = "/reference-data/event-types", tag = "reference",
    responses((status = 200, body = ReferenceData<EventTypeView>)))]
pub(crate) async fn event_types(_asked: Asked<()>) -> Result<Response, ApiError> {
    let view = |event_type: &EventType| EventTypeView {
        name: event_type.name(),
        title: event_type.title(),
        description: event_type.description(),
    };
    Ok(answer::ok(&ReferenceData { data: EventType::ALL.iter().map(view).collect() }))
}

/// Gives an auctioneer in the common model. Scope `customers:read` or `auctions:read`.
#[utoipa::path(get, path = "/reference/auctioneers/{id}", tag = "reference", params(("id" = i64, Path)),
    responses((status = 200, description = "AuctioneerApiModel", body = Object), (status = 404, body = Problem)))]
pub(crate) async fn auctioneer(
    State(platform): State<Platform>,
    Path(id): Path<i64>,
    asked: Asked<()>,
) -> Result<Response, ApiError> {
    let auctioneer = platform.auctioneer_by_id(&asked.caller, id).await?;
    Ok(answer::ok(&AuctioneerApiModel { id: Some(auctioneer.id), name: Some(auctioneer.name) }))
}
