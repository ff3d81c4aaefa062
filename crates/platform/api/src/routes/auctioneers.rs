//! Auctioneers: who holds a customer's auctions.

use axum::extract::{Path, State};
use axum::response::Response;
use contract::models::{CountryModel, CurrencyModel, UrlAttachmentApiModel};
use http::HeaderMap;
use platform_core::Platform;
use platform_core::auctioneer_input::{AuctioneerInput, AuctioneerPatch};
use platform_core::port::Auctioneer;
use serde::Deserialize;
use serde_json::value::RawValue;
use utoipa::ToSchema;
use uuid::Uuid;

use crate::cacheable::CacheableResponse;
use crate::errors::{ApiError, Problem};
use crate::extract::{CustomerListQuery, Post, QueryRequest};
use crate::extract_models::{Raw, address, model, no_null, or_null};
use crate::models::{AddressSchema, AuctioneerView, CountrySchema, CurrencySchema, List, UrlAttachmentSchema};
use crate::response;

/// An auctioneer to be.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct AuctioneerIn {
    /// The customer; the caller's own without one.
    customer: Option<Uuid>,
    /// Unique for the customer; 1 to 200 characters.
    name: String,
    /// A new address, without an id.
    #[schema(value_type = Option<AddressSchema>)]
    address: Option<Raw>,
    /// An address that the customer has, instead of a new one.
    address_id: Option<i64>,
    /// The country in which it is at home.
    #[schema(value_type = Option<CountrySchema>)]
    country: Option<Raw>,
    /// The currency that its sales are usually in.
    #[schema(value_type = Option<CurrencySchema>)]
    currency: Option<Raw>,
    #[schema(value_type = Option<UrlAttachmentSchema>)]
    logo: Option<Raw>,
    /// At most 50.
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

/// Creates an auctioneer, with its address in the same call if wanted. Scope `customers:write`.
#[utoipa::path(post, path = "/auctioneers", tag = "auctioneers", request_body = AuctioneerIn,
    responses((status = 201, body = AuctioneerView), (status = 409, body = Problem), (status = 422, body = Problem)))]
pub(crate) async fn create(State(platform): State<Platform>, post: Post<AuctioneerIn>) -> Result<Response, ApiError> {
    let (post, (customer, entry)) = post.map(AuctioneerIn::read)?;
    let customer = customer.or(post.caller.customer);
    let customer = customer.ok_or_else(|| ApiError::invalid("/customer", "name the customer"))?;
    let render = |auctioneer: &Auctioneer| response::body(&AuctioneerView::from(auctioneer));
    let tag = |auctioneer: &Auctioneer| response::tag(auctioneer.version);
    let answering = post.answering_tagged(201, &render, &tag);
    let outcome = platform.create_auctioneer(&post.caller, customer, entry, answering).await?;
    Ok(response::outcome_tagged(outcome, 201, render, tag))
}

/// What is to be another way. What is absent stays; null takes away what may be absent.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct AuctioneerPatchIn {
    /// Unique for the customer; 1 to 200 characters. Can't be taken away.
    #[serde(default, deserialize_with = "no_null")]
    #[schema(value_type = String, required = false)]
    name: Option<String>,
    /// Without an id a new address; with the id of the one that is there, what that one says from now on, wherever it is
    /// named.
    #[serde(default, deserialize_with = "or_null")]
    #[schema(value_type = Option<AddressSchema>)]
    address: Option<Option<Raw>>,
    /// An address that the customer has.
    #[serde(default, deserialize_with = "or_null")]
    #[schema(value_type = Option<i64>)]
    address_id: Option<Option<i64>>,
    #[serde(default, deserialize_with = "or_null")]
    #[schema(value_type = Option<CountrySchema>)]
    country: Option<Option<Raw>>,
    #[serde(default, deserialize_with = "or_null")]
    #[schema(value_type = Option<CurrencySchema>)]
    currency: Option<Option<Raw>>,
    #[serde(default, deserialize_with = "or_null")]
    #[schema(value_type = Option<UrlAttachmentSchema>)]
    logo: Option<Option<Raw>>,
    /// All of them, at most 50; `[]` takes them away.
    #[serde(default, deserialize_with = "no_null")]
    #[schema(value_type = Vec<UrlAttachmentSchema>, required = false)]
    attachments: Option<Vec<Raw>>,
}

impl AuctioneerPatchIn {
    fn read(self) -> Result<AuctioneerPatch, ApiError> {
        let Self { name, address: given, address_id, country, currency, logo: picture, attachments: files } = self;
        let is_named = given.is_some() || address_id.is_some();
        let entry = address(given.flatten().as_deref(), address_id.flatten())?;
        let country = country.map(|raw| raw.map(|raw| model("/country", &raw, CountryModel::from_json)).transpose());
        let currency =
            currency.map(|raw| raw.map(|raw| model("/currency", &raw, CurrencyModel::from_json)).transpose());
        Ok(AuctioneerPatch {
            name,
            address: is_named.then_some(entry),
            country: country.transpose()?.map(|model| model.map(|model| model.code())),
            currency: currency.transpose()?.map(|model| model.map(|model| model.code())),
            logo: picture.map(|raw| raw.as_deref().map(logo).transpose()).transpose()?,
            attachments: files.as_deref().map(attachments).transpose()?,
        })
    }
}

/// Changes an auctioneer. `If-Match` is heeded when it is sent. Scope `customers:write`.
#[utoipa::path(patch, path = "/auctioneers/{uuid}", tag = "auctioneers",
    params(("uuid" = Uuid, Path), ("If-Match" = Option<String>, Header)), request_body = AuctioneerPatchIn,
    responses((status = 200, body = AuctioneerView), (status = 404, body = Problem), (status = 409, body = Problem),
        (status = 412, body = Problem), (status = 422, body = Problem)))]
pub(crate) async fn change(
    State(platform): State<Platform>,
    Path(uuid): Path<Uuid>,
    post: Post<AuctioneerPatchIn>,
) -> Result<Response, ApiError> {
    let (post, patch) = post.map(AuctioneerPatchIn::read)?;
    let auctioneer = platform.change_auctioneer(&post.caller, uuid, &patch, post.version).await?;
    Ok(response::versioned(&AuctioneerView::from(&auctioneer), auctioneer.version))
}

/// Lists auctioneers in order of creation. Scope `customers:read` or `auctions:read`.
#[utoipa::path(get, path = "/auctioneers", tag = "auctioneers", params(CustomerListQuery),
    responses((status = 200, body = List<AuctioneerView>)))]
pub(crate) async fn list(
    State(platform): State<Platform>,
    request: QueryRequest<CustomerListQuery>,
) -> Result<Response, ApiError> {
    let page = request.query.page::<Uuid>()?;
    let auctioneers = platform.auctioneers(&request.caller, request.query.customer, page.with_lookahead()).await?;
    Ok(response::list(auctioneers, page, |auctioneer| auctioneer.uuid, |row| AuctioneerView::from(row)))
}

/// Gives an auctioneer. With `If-None-Match` the answer is 304 while it stands. Scope `customers:read` or `auctions:read`.
#[utoipa::path(get, path = "/auctioneers/{uuid}", tag = "auctioneers",
    params(("uuid" = Uuid, Path), ("If-None-Match" = Option<String>, Header)),
    responses((status = 200, body = AuctioneerView), (status = 304), (status = 404, body = Problem)))]
pub(crate) async fn get(
    State(platform): State<Platform>,
    Path(uuid): Path<Uuid>,
    request: QueryRequest<()>,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    let auctioneer = platform.auctioneer(&request.caller, uuid).await?;
    let view = AuctioneerView::from(&auctioneer);
    Ok(CacheableResponse::tagged(&view, auctioneer.version.to_string()).answer(&headers))
}
