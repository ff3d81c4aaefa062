//! Records by `id`, as the common models that carry `@class`.

use axum::extract::{Path, State};
use axum::response::Response;
use contract::models::{AuctioneerApiModel, CountryCode, CountryModel, CurrencyCode, CurrencyModel};
use http::HeaderMap;
use platform_core::{Platform, PlatformError};

use crate::cacheable::{CachePolicy, CacheableResponse};
use crate::errors::{ApiError, Problem};
use crate::extract::QueryRequest;
use crate::models::{AddressSchema, AuctioneerSchema, CountrySchema, CurrencySchema};

/// Get an auctioneer by id
///
/// As the common model. Scope `customers:read` or `auctions:read`.
#[utoipa::path(
    get, path = "/reference/auctioneers/{id}", tag = "reference",
    params(("id" = i64, Path), ("If-None-Match" = Option<String>, Header)),
    responses(
        (status = 200, description = "The auctioneer as the common model.", body = AuctioneerSchema),
        (status = 304), (status = 404, body = Problem),
    ),
)]
pub(crate) async fn auctioneer(
    State(platform): State<Platform>,
    Path(id): Path<String>,
    request: QueryRequest<()>,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    let auctioneer = platform.auctioneer_by_id(&request.caller, number(&id, "auctioneer")?).await?;
    let model = AuctioneerApiModel { id: Some(auctioneer.id), name: Some(auctioneer.name) };
    Ok(CacheableResponse::new(&model, CachePolicy::Caller).respond(&headers))
}

/// Get an address by id
///
/// As the common model. Scope `customers:read` or `auctions:read`.
#[utoipa::path(
    get, path = "/reference/addresses/{id}", tag = "reference",
    params(("id" = i64, Path), ("If-None-Match" = Option<String>, Header)),
    responses(
        (status = 200, description = "The address as the common model.", body = AddressSchema),
        (status = 304), (status = 404, body = Problem),
    ),
)]
pub(crate) async fn address(
    State(platform): State<Platform>,
    Path(id): Path<String>,
    request: QueryRequest<()>,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    let address = platform.address_by_id(&request.caller, number(&id, "address")?).await?;
    Ok(CacheableResponse::new(&address.model, CachePolicy::Caller).respond(&headers))
}

/// Get a country by id
///
/// By its ISO 3166-1 number. Any key.
#[utoipa::path(
    get, path = "/reference/countries/{id}", tag = "reference",
    params(("id" = i64, Path), ("If-None-Match" = Option<String>, Header)),
    responses(
        (status = 200, description = "The country as the common model.", body = CountrySchema),
        (status = 304), (status = 404, body = Problem),
    ),
)]
pub(crate) async fn country(
    Path(id): Path<String>,
    _request: QueryRequest<()>,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    let code = CountryCode::from_id(number(&id, "country")?).ok_or(PlatformError::NotFound("country"))?;
    Ok(CacheableResponse::new(&CountryModel::of(code), CachePolicy::Day).respond(&headers))
}

/// Get a currency by id
///
/// By its ISO 4217 number. Any key.
#[utoipa::path(
    get, path = "/reference/currencies/{id}", tag = "reference",
    params(("id" = i64, Path), ("If-None-Match" = Option<String>, Header)),
    responses(
        (status = 200, description = "The currency as the common model.", body = CurrencySchema),
        (status = 304), (status = 404, body = Problem),
    ),
)]
pub(crate) async fn currency(
    Path(id): Path<String>,
    _request: QueryRequest<()>,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    let code = CurrencyCode::from_id(number(&id, "currency")?).ok_or(PlatformError::NotFound("currency"))?;
    Ok(CacheableResponse::new(&CurrencyModel::of(code), CachePolicy::Day).respond(&headers))
}

/// Reads an id. Other spellings of a number, such as `007`, are 404: each record has one address.
fn number(id: &str, what: &'static str) -> Result<i64, ApiError> {
    let number = id.parse::<i64>().ok().filter(|number| number.to_string() == id);
    Ok(number.ok_or(PlatformError::NotFound(what))?)
}
