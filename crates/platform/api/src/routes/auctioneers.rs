//! Auctioneers: the parties that hold a customer's auctions.

use axum::extract::{Path, State};
use axum::response::Response;
use contract::models::{CountryModel, CurrencyModel, UrlAttachmentApiModel};
use http::HeaderMap;
use platform_core::Platform;
use platform_core::customers::auctioneer_input::{AuctioneerInput, AuctioneerPatch};
use platform_core::port::Auctioneer;
use serde::Deserialize;
use serde_json::value::RawValue;
use utoipa::ToSchema;
use uuid::Uuid;

use crate::body_fields::{Raw, address, model, no_null, or_null};
use crate::cacheable::CacheableResponse;
use crate::errors::{ApiError, Problem};
use crate::extract::{Post, QueryRequest};
use crate::models::{AddressSchema, AuctioneerView, CountrySchema, CurrencySchema, List, UrlAttachmentSchema};
use crate::pagination::CustomerListQuery;
use crate::response;

/// A new auctioneer.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct AuctioneerIn {
    /// UUID of the customer. Default: the caller's own.
    customer: Option<Uuid>,
    /// Name, unique for the customer; 1 to 200 characters.
    name: String,
    /// A new address, without an id.
    #[schema(value_type = Option<AddressSchema>)]
    address: Option<Raw>,
    /// Id of an existing address of the customer, instead of a new one.
    address_id: Option<i64>,
    /// Home country.
    #[schema(value_type = Option<CountrySchema>)]
    country: Option<Raw>,
    /// Usual currency of its sales.
    #[schema(value_type = Option<CurrencySchema>)]
    currency: Option<Raw>,
    /// Logo image.
    #[schema(value_type = Option<UrlAttachmentSchema>)]
    logo: Option<Raw>,
    /// Images, documents and videos, at most 50.
    #[serde(default)]
    #[schema(value_type = Vec<UrlAttachmentSchema>)]
    attachments: Vec<Raw>,
}

impl AuctioneerIn {
    fn read(self) -> Result<(Option<Uuid>, AuctioneerInput), ApiError> {
        let country = self.country.as_deref().map(|raw| model("/country", raw, CountryModel::from_json)).transpose()?;
        let currency =
            self.currency.as_deref().map(|raw| model("/currency", raw, CurrencyModel::from_json)).transpose()?;
        let entry = AuctioneerInput {
            name: self.name,
            address: address(self.address.as_deref(), self.address_id)?,
            country: country.map(|model| model.code()),
            currency: currency.map(|model| model.code()),
            logo: self.logo.as_deref().map(logo).transpose()?,
            attachments: attachments(&self.attachments)?,
        };
        Ok((self.customer, entry))
    }
}

fn logo(raw: &RawValue) -> Result<UrlAttachmentApiModel, ApiError> {
    model("/logo", raw, UrlAttachmentApiModel::from_json)
}

fn attachments(raw: &[Raw]) -> Result<Vec<UrlAttachmentApiModel>, ApiError> {
    let read =
        |(index, raw): (usize, &Raw)| model(&format!("/attachments/{index}"), raw, UrlAttachmentApiModel::from_json);
    raw.iter().enumerate().map(read).collect()
}

/// Create an auctioneer
///
/// With a new address in the same call, or an existing one. Scope `customers:write`. Errors: 409 `taken` if the
/// customer has an auctioneer of this name.
#[utoipa::path(
    post, path = "/auctioneers", tag = "auctioneers", request_body = AuctioneerIn,
    responses(
        (status = 201, description = "The new auctioneer.", body = AuctioneerView),
        (status = 409, body = Problem), (status = 422, body = Problem),
    ),
)]
pub(crate) async fn create(State(platform): State<Platform>, post: Post<AuctioneerIn>) -> Result<Response, ApiError> {
    let (post, (customer, entry)) = post.map(AuctioneerIn::read)?;
    let customer = customer.or(post.caller.customer);
    let customer =
        customer.ok_or_else(|| ApiError::invalid("/customer", "is missing; send the UUID of the customer"))?;
    let render = |auctioneer: &Auctioneer| response::body(&AuctioneerView::from(auctioneer));
    let tag = |auctioneer: &Auctioneer| response::tag(auctioneer.version);
    let idempotent = post.idempotent_tagged(201, &render, &tag);
    let outcome = platform.create_auctioneer(&post.caller, customer, entry, idempotent).await?;
    Ok(response::outcome_tagged(outcome, 201, render, tag))
}

/// A JSON merge patch of an auctioneer: an absent field stays, null clears an optional one.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct AuctioneerPatchIn {
    /// Name, unique for the customer; 1 to 200 characters. It can't be cleared.
    #[serde(default, deserialize_with = "no_null")]
    #[schema(value_type = String, required = false)]
    name: Option<String>,
    /// Without an id, a new address. With the id of the present address, its new content, wherever it is used.
    #[serde(default, deserialize_with = "or_null")]
    #[schema(value_type = Option<AddressSchema>)]
    address: Option<Option<Raw>>,
    /// Id of an existing address of the customer.
    #[serde(default, deserialize_with = "or_null")]
    #[schema(value_type = Option<i64>)]
    address_id: Option<Option<i64>>,
    /// Home country.
    #[serde(default, deserialize_with = "or_null")]
    #[schema(value_type = Option<CountrySchema>)]
    country: Option<Option<Raw>>,
    /// Usual currency of its sales.
    #[serde(default, deserialize_with = "or_null")]
    #[schema(value_type = Option<CurrencySchema>)]
    currency: Option<Option<Raw>>,
    /// Logo image.
    #[serde(default, deserialize_with = "or_null")]
    #[schema(value_type = Option<UrlAttachmentSchema>)]
    logo: Option<Option<Raw>>,
    /// The complete list, at most 50; `[]` removes all.
    #[serde(default, deserialize_with = "no_null")]
    #[schema(value_type = Vec<UrlAttachmentSchema>, required = false)]
    attachments: Option<Vec<Raw>>,
}

impl AuctioneerPatchIn {
    fn read(self) -> Result<AuctioneerPatch, ApiError> {
        let Self { name, address: given, address_id, country, currency, logo: picture, attachments: files } = self;
        let has_address = given.is_some() || address_id.is_some();
        let entry = address(given.flatten().as_deref(), address_id.flatten())?;
        let country = country.map(|raw| raw.map(|raw| model("/country", &raw, CountryModel::from_json)).transpose());
        let currency =
            currency.map(|raw| raw.map(|raw| model("/currency", &raw, CurrencyModel::from_json)).transpose());
        Ok(AuctioneerPatch {
            name,
            address: has_address.then_some(entry),
            country: country.transpose()?.map(|model| model.map(|model| model.code())),
            currency: currency.transpose()?.map(|model| model.map(|model| model.code())),
            logo: picture.map(|raw| raw.as_deref().map(logo).transpose()).transpose()?,
            attachments: files.as_deref().map(attachments).transpose()?,
        })
    }
}

/// Change an auctioneer
///
/// An absent field stays, null clears an optional one. Accepts `If-Match`: if the version has changed, the server
/// does nothing (412 `precondition_failed`). Scope `customers:write`. Errors: 409 `taken` if the customer has another
/// auctioneer of this name.
#[utoipa::path(
    patch, path = "/auctioneers/{uuid}", tag = "auctioneers", request_body = AuctioneerPatchIn,
    params(("uuid" = Uuid, Path), ("If-Match" = Option<String>, Header)),
    responses(
        (status = 200, description = "The auctioneer after the change.", body = AuctioneerView),
        (status = 404, body = Problem), (status = 409, body = Problem), (status = 412, body = Problem),
        (status = 422, body = Problem),
    ),
)]
pub(crate) async fn change(
    State(platform): State<Platform>,
    Path(uuid): Path<Uuid>,
    post: Post<AuctioneerPatchIn>,
) -> Result<Response, ApiError> {
    let (post, patch) = post.map(AuctioneerPatchIn::read)?;
    let auctioneer = platform.change_auctioneer(&post.caller, uuid, &patch, post.version).await?;
    Ok(response::versioned(&AuctioneerView::from(&auctioneer), auctioneer.version))
}

/// List auctioneers
///
/// In order of creation. Scope `customers:read` or `auctions:read`.
#[utoipa::path(
    get, path = "/auctioneers", tag = "auctioneers",
    params(CustomerListQuery),
    responses(
        (status = 200, description = "A page of auctioneers in order of creation.", body = List<AuctioneerView>),
    ),
)]
pub(crate) async fn list(
    State(platform): State<Platform>,
    request: QueryRequest<CustomerListQuery>,
) -> Result<Response, ApiError> {
    let page = request.query.page::<Uuid>()?;
    let auctioneers = platform.auctioneers(&request.caller, request.query.customer, page.with_lookahead()).await?;
    Ok(response::list(auctioneers, page, |auctioneer| auctioneer.uuid, |row| AuctioneerView::from(row)))
}

/// Get an auctioneer
///
/// Scope `customers:read` or `auctions:read`.
#[utoipa::path(
    get, path = "/auctioneers/{uuid}", tag = "auctioneers",
    params(("uuid" = Uuid, Path), ("If-None-Match" = Option<String>, Header)),
    responses(
        (status = 200, description = "The auctioneer.", body = AuctioneerView),
        (status = 304), (status = 404, body = Problem),
    ),
)]
pub(crate) async fn get(
    State(platform): State<Platform>,
    Path(uuid): Path<Uuid>,
    request: QueryRequest<()>,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    let auctioneer = platform.auctioneer(&request.caller, uuid).await?;
    let view = AuctioneerView::from(&auctioneer);
    Ok(CacheableResponse::tagged(&view, auctioneer.version.to_string()).respond(&headers))
}
