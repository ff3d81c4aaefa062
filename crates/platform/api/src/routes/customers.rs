//! Customers.

use axum::extract::{Path, State};
use axum::response::Response;
use platform_core::Platform;
use platform_core::port::Customer;
use serde::Deserialize;
use utoipa::ToSchema;
use uuid::Uuid;

use crate::errors::{ApiError, Problem};
use crate::extract::{Post, QueryRequest};
use crate::models::{CustomerView, List};
use crate::pagination::ListQuery;
use crate::response;

/// A new customer.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct CustomerIn {
    /// Name, unique; 1 to 200 characters.
    name: String,
}

/// Create a customer
///
/// Only for the platform's own staff; scope `customers:write`. Errors: 409 `taken` if another customer has this name.
#[utoipa::path(
    post, path = "/customers", tag = "customers", request_body = CustomerIn,
    responses(
        (status = 201, description = "The new customer.", body = CustomerView),
        (status = 409, body = Problem), (status = 422, body = Problem),
    ),
)]
pub(crate) async fn create(State(platform): State<Platform>, post: Post<CustomerIn>) -> Result<Response, ApiError> {
    let render = |customer: &Customer| response::body(&CustomerView::from(customer));
    let outcome = platform.create_customer(&post.caller, &post.body.name, post.idempotent(201, &render)).await?;
    Ok(response::outcome(outcome, 201, render, |_| None))
}

/// List customers
///
/// In order of creation. A key of one customer sees only that customer. Scope `customers:read`.
#[utoipa::path(
    get, path = "/customers", tag = "customers",
    params(ListQuery),
    responses((status = 200, description = "A page of customers in order of creation.", body = List<CustomerView>)),
)]
pub(crate) async fn list(
    State(platform): State<Platform>,
    request: QueryRequest<ListQuery>,
) -> Result<Response, ApiError> {
    let page = request.query.page::<Uuid>()?;
    let customers = platform.customers(&request.caller, page.with_lookahead()).await?;
    Ok(response::list(customers, page, |customer| customer.uuid, |row| CustomerView::from(row)))
}

/// Get a customer
///
/// Scope `customers:read`.
#[utoipa::path(
    get, path = "/customers/{uuid}", tag = "customers",
    params(("uuid" = Uuid, Path)),
    responses((status = 200, description = "The customer.", body = CustomerView), (status = 404, body = Problem)),
)]
pub(crate) async fn get(
    State(platform): State<Platform>,
    Path(uuid): Path<Uuid>,
    request: QueryRequest<()>,
) -> Result<Response, ApiError> {
    let customer = platform.customer(&request.caller, uuid).await?;
    Ok(response::ok(&CustomerView::from(&customer)))
}
