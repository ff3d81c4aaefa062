//! Records by `id`, in the common models that carry `@class` (service.md section 2).

use axum::extract::{Path, State};
use axum::response::Response;
use contract::models::{AuctioneerApiModel, CountryCode, CountryModel, CurrencyCode, CurrencyModel};
use http::HeaderMap;
use platform_core::{Platform, PlatformError};

use crate::cacheable::{CachePolicy, CacheableResponse};
use crate::errors::{ApiError, Problem};
use crate::extract::QueryRequest;
use crate::models::{AddressSchema, AuctioneerSchema, CountrySchema, CurrencySchema};

/// Gives an auctioneer in the common model. Scope `customers:read` or `auctions:read`.
#[utoipa::path(get, path = "/reference/auctioneers/{id}", tag = "reference", params(("id" = i64, Path)),
    responses((status = 200, body = AuctioneerSchema), (status = 304), (status = 404, body = Problem)))]
pub(crate) async fn auctioneer(
    State(platform): State<Platform>,
    Path(id): Path<String>,
    request: QueryRequest<()>,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    let auctioneer = platform.auctioneer_by_id(&request.caller, number(&id, "auctioneer")?).await?;
    let model = AuctioneerApiModel { id: Some(auctioneer.id), name: Some(auctioneer.name) };
    Ok(CacheableResponse::new(&model, CachePolicy::Caller).answer(&headers))
}

/// Gives an address in the common model. Scope `customers:read` or `auctions:read`.
#[utoipa::path(get, path = "/reference/addresses/{id}", tag = "reference", params(("id" = i64, Path)),
    responses((status = 200, body = AddressSchema), (status = 304), (status = 404, body = Problem)))]
pub(crate) async fn address(
    State(platform): State<Platform>,
    Path(id): Path<String>,
    request: QueryRequest<()>,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    let address = platform.address_by_id(&request.caller, number(&id, "address")?).await?;
    Ok(CacheableResponse::new(&address.model, CachePolicy::Caller).answer(&headers))
}

/// Gives a country by its ISO 3166-1 number. Any key.
#[utoipa::path(get, path = "/reference/countries/{id}", tag = "reference", params(("id" = i64, Path)),
    responses((status = 200, body = CountrySchema), (status = 304), (status = 404, body = Problem)))]
pub(crate) async fn country(
    Path(id): Path<String>,
    _asked: QueryRequest<()>,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    let code = CountryCode::from_id(number(&id, "country")?).ok_or(PlatformError::NotFound("country"))?;
    Ok(CacheableResponse::new(&CountryModel::of(code), CachePolicy::Day).answer(&headers))
}

/// Gives a currency by its ISO 4217 number. Any key.
#[utoipa::path(get, path = "/reference/currencies/{id}", tag = "reference", params(("id" = i64, Path)),
    responses((status = 200, body = CurrencySchema), (status = 304), (status = 404, body = Problem)))]
pub(crate) async fn currency(
    Path(id): Path<String>,
    _asked: QueryRequest<()>,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    let code = CurrencyCode::from_id(number(&id, "currency")?).ok_or(PlatformError::NotFound("currency"))?;
    Ok(CacheableResponse::new(&CurrencyModel::of(code), CachePolicy::Day).answer(&headers))
}

/// What is no 64-bit integer as we write it is the id of nothing: each record has one address.
fn number(id: &str, what: &'static str) -> Result<i64, ApiError> {
    let number = id.parse::<i64>().ok().filter(|number| number.to_string() == id);
    Ok(number.ok_or(PlatformError::NotFound(what))?)
}
