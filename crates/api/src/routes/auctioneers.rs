//! Auctioneers: who holds a customer's auctions.

use axum::extract::{Path, State};
use axum::response::Response;
use platform::Platform;
use platform::port::Auctioneer;
use serde::Deserialize;
use utoipa::ToSchema;
use uuid::Uuid;

use crate::answer;
use crate::ask::{Asked, CustomerListQuery, Post};
use crate::errors::{ApiError, Problem};
use crate::models::{AuctioneerView, List};

/// An auctioneer to be.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct AuctioneerIn {
    /// The customer; the caller's own without one.
    customer: Option<Uuid>,
    /// Unique for the customer; 1 to 200 characters.
    name: String,
}

/// Creates an auctioneer. Scope `customers:write`.
#[utoipa::path(post, path = "/auctioneers", tag = "auctioneers", request_body = AuctioneerIn,
    responses((status = 201, body = AuctioneerView), (status = 409, body = Problem), (status = 422, body = Problem)))]
pub(crate) async fn create(State(platform): State<Platform>, post: Post<AuctioneerIn>) -> Result<Response, ApiError> {
    let customer = post.body.customer.or(post.caller.customer);
    let customer = customer.ok_or_else(|| ApiError::invalid("/customer", "name the customer"))?;
    let render = |auctioneer: &Auctioneer| answer::body(&AuctioneerView::from(auctioneer));
    let answering = post.answering(201, &render);
    let outcome = platform.create_auctioneer(&post.caller, customer, &post.body.name, answering).await?;
    Ok(answer::outcome(outcome, 201, render, |_| None))
}

/// Lists auctioneers in order of creation. Scope `customers:read` or `auctions:read`.
#[utoipa::path(get, path = "/auctioneers", tag = "auctioneers", params(CustomerListQuery),
    responses((status = 200, body = List<AuctioneerView>)))]
pub(crate) async fn list(
    State(platform): State<Platform>,
    asked: Asked<CustomerListQuery>,
) -> Result<Response, ApiError> {
    let page = asked.query.page::<Uuid>()?;
    let auctioneers = platform.auctioneers(&asked.caller, asked.query.customer, page.more()).await?;
    Ok(answer::list(auctioneers, page, |auctioneer| auctioneer.uuid, |row| AuctioneerView::from(row)))
}

/// Gives an auctioneer. Scope `customers:read` or `auctions:read`.
#[utoipa::path(get, path = "/auctioneers/{uuid}", tag = "auctioneers", params(("uuid" = Uuid, Path)),
    responses((status = 200, body = AuctioneerView), (status = 404, body = Problem)))]
pub(crate) async fn get(
    State(platform): State<Platform>,
    Path(uuid): Path<Uuid>,
    asked: Asked<()>,
) -> Result<Response, ApiError> {
    Ok(answer::ok(&AuctioneerView::from(&platform.auctioneer(&asked.caller, uuid).await?)))
}
