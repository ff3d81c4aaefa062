//! Customers and their connections to a provider: support's work.

use axum::extract::{Path, State};
use axum::response::Response;
use kit_runtime::vault::Secret;
use platform_core::Outcome;
use platform_core::Platform;
use platform_core::consumers::{ConnectConsumer, ConsumerState, EventTypeRegistration, ProviderChoice};
use platform_core::port::{Customer, StartFrom};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use uuid::Uuid;

use crate::errors::{ApiError, Problem};
use crate::extract::{ListQuery, Post, PutRequest, QueryRequest};
use crate::extract_models::or_null;
use crate::models::{ConsumerView, CustomerView, List, QuarantinedView};
use crate::response;
use crate::routes::ring::NothingIn;

/// A customer to be.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct CustomerIn {
    /// Unique; 1 to 200 characters.
    name: String,
}

/// Creates a customer. For the platform's own staff; scope `customers:write`.
#[utoipa::path(post, path = "/customers", tag = "customers", request_body = CustomerIn,
    responses((status = 201, body = CustomerView), (status = 409, body = Problem), (status = 422, body = Problem)))]
pub(crate) async fn create(State(platform): State<Platform>, post: Post<CustomerIn>) -> Result<Response, ApiError> {
    let render = |customer: &Customer| response::body(&CustomerView::from(customer));
    let outcome = platform.create_customer(&post.caller, &post.body.name, post.answering(201, &render)).await?;
    Ok(response::outcome(outcome, 201, render, |_| None))
}

/// Lists customers in order of creation. Scope `customers:read`.
#[utoipa::path(get, path = "/customers", tag = "customers", params(ListQuery),
    responses((status = 200, body = List<CustomerView>)))]
pub(crate) async fn list(
    State(platform): State<Platform>,
    request: QueryRequest<ListQuery>,
) -> Result<Response, ApiError> {
    let page = request.query.page::<Uuid>()?;
    let customers = platform.customers(&request.caller, page.with_lookahead()).await?;
    Ok(response::list(customers, page, |customer| customer.uuid, |row| CustomerView::from(row)))
}

/// Gives a customer. Scope `customers:read`.
#[utoipa::path(get, path = "/customers/{uuid}", tag = "customers", params(("uuid" = Uuid, Path)),
    responses((status = 200, body = CustomerView), (status = 404, body = Problem)))]
pub(crate) async fn get(
    State(platform): State<Platform>,
    Path(uuid): Path<Uuid>,
    request: QueryRequest<()>,
) -> Result<Response, ApiError> {
    let customer = platform.customer(&request.caller, uuid).await?;
    Ok(response::ok(&CustomerView::from(&customer)))
}

/// What connects a customer. What is left out stays as it is.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct ConsumerIn {
    /// Base address of the provider's API. Left out, it stays what it is; null leads back to the configured provider, which is the
    /// first one too.
    #[serde(default, deserialize_with = "or_null")]
    #[schema(value_type = Option<String>)]
    provider_url: Option<Option<String>>,
    /// Consumer application identifier (`app_…`).
    #[serde(default, deserialize_with = "or_null")]
    #[schema(value_type = Option<String>)]
    application_id: Option<Option<String>>,
    /// API key of the customer's account at the provider. Kept sealed, never shown.
    #[serde(default, deserialize_with = "or_null")]
    #[schema(value_type = Option<String>)]
    api_key: Option<Option<String>>,
    /// Also publish what happened after this cursor of the events feed; without it, what happens from now on.
    start_from: Option<i64>,
}

/// Enters a customer's consumer application and API key. Nothing is published without both. With both, the provider is asked for
/// the application, which takes up to 15 seconds: `test` says what came of it. The connection is stored whatever it says; to ask
/// again, use `…/consumer/resume`. Scope `customers:write`.
#[utoipa::path(put, path = "/customers/{uuid}/consumer", tag = "customers", params(("uuid" = Uuid, Path)),
    request_body = ConsumerIn,
    responses((status = 200, body = ConsumerView), (status = 404, body = Problem), (status = 422, body = Problem)))]
pub(crate) async fn connect(
    State(platform): State<Platform>,
    Path(uuid): Path<Uuid>,
    write: PutRequest<ConsumerIn>,
) -> Result<Response, ApiError> {
    let ConsumerIn { provider_url, application_id, api_key, start_from } = write.body;
    let application_id = kept_or_given("/applicationId", application_id)?;
    let api_key = kept_or_given("/apiKey", api_key)?.map(|key| Secret::new(key.into_bytes()));
    let start = start_from.map_or(StartFrom::Now, StartFrom::Cursor);
    let provider = match provider_url {
        None => ProviderChoice::Kept,
        Some(None) => ProviderChoice::Configured,
        Some(Some(url)) => ProviderChoice::Of(url),
    };
    let connect = ConnectConsumer { provider, application_id, api_key, start };
    let consumer = platform.connect_consumer(&write.caller, uuid, &connect).await?;
    Ok(response::ok(&ConsumerView::from(&consumer)))
}

/// What is left out is kept; null would look as if it took something away.
fn kept_or_given<T>(pointer: &str, given: Option<Option<T>>) -> Result<Option<T>, ApiError> {
    match given {
        Some(None) => Err(ApiError::invalid(
            pointer,
            "is null, which takes nothing away: leave it out to keep what is there, or end the connection with DELETE",
        )),
        given => Ok(given.flatten()),
    }
}

/// Gives a customer's connection, what waits in its queue, and why. Scope `customers:read`.
#[utoipa::path(get, path = "/customers/{uuid}/consumer", tag = "customers", params(("uuid" = Uuid, Path)),
    responses((status = 200, body = ConsumerView), (status = 404, body = Problem)))]
pub(crate) async fn connection(
    State(platform): State<Platform>,
    Path(uuid): Path<Uuid>,
    request: QueryRequest<()>,
) -> Result<Response, ApiError> {
    Ok(response::ok(&ConsumerView::from(&platform.consumer(&request.caller, uuid).await?)))
}

/// Event types that the provider has now.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Registered {
    registered: Vec<&'static str>,
}

/// Creates or updates both event types in the customer's provider account. Scope `customers:write`.
#[utoipa::path(post, path = "/customers/{uuid}/consumer/event-types", tag = "customers", params(("uuid" = Uuid, Path)),
    responses((status = 200, body = Registered), (status = 404, body = Problem), (status = 502, body = Problem)))]
pub(crate) async fn register_event_types(
    State(platform): State<Platform>,
    Path(uuid): Path<Uuid>,
    post: Post<NothingIn>,
) -> Result<Response, ApiError> {
    let render = |registered: &Vec<EventTypeRegistration>| {
        let registered = registered.iter().map(|registered| registered.event_type.name()).collect();
        response::body(&Registered { registered })
    };
    let answering = post.answering(200, &render);
    if let Some(replayed) = platform.replay(answering.as_ref()).await? {
        return Ok(response::replayed(replayed));
    }
    // What is done is done at the provider, and doing it again does the same: the answer can only be kept after it.
    let registered = platform.register_event_types(&post.caller, uuid).await?;
    platform.keep_answer(answering.as_ref(), &registered).await?;
    Ok(response::outcome(Outcome::Fresh(registered), 200, render, |_| None))
}

/// Tests the credentials and lets what waits go on at once: a parked queue, or events that wait to be tried again. Scope `customers:write`.
#[utoipa::path(post, path = "/customers/{uuid}/consumer/resume", tag = "customers", params(("uuid" = Uuid, Path)),
    responses((status = 200, body = ConsumerView), (status = 404, body = Problem), (status = 502, body = Problem)))]
pub(crate) async fn resume(
    State(platform): State<Platform>,
    Path(uuid): Path<Uuid>,
    post: Post<NothingIn>,
) -> Result<Response, ApiError> {
    let render = |consumer: &ConsumerState| response::body(&ConsumerView::from(consumer));
    let outcome = platform.resume_consumer(&post.caller, uuid, post.answering(200, &render)).await?;
    Ok(response::outcome(outcome, 200, render, |_| None))
}

/// Lists the events that the provider refused for good. Scope `customers:read`.
#[utoipa::path(get, path = "/customers/{uuid}/consumer/quarantine", tag = "customers",
    params(("uuid" = Uuid, Path), ListQuery),
    responses((status = 200, body = List<QuarantinedView>), (status = 404, body = Problem)))]
pub(crate) async fn quarantine(
    State(platform): State<Platform>,
    Path(uuid): Path<Uuid>,
    request: QueryRequest<ListQuery>,
) -> Result<Response, ApiError> {
    let page = request.query.page::<i64>()?;
    let events = platform.quarantined(&request.caller, uuid, page.with_lookahead()).await?;
    Ok(response::list(events, page, |quarantined| quarantined.event.cursor, |row| QuarantinedView::from(row)))
}
