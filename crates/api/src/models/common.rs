//! The common models (service.md section 2) as the OpenAPI document describes them. The models themselves are those of the
//! `contract` crate, which reads and writes them and knows nothing of OpenAPI.
#![expect(dead_code, reason = "only described")]

use utoipa::ToSchema;

/// An auctioneer, as the reference API knows it.
#[derive(ToSchema)]
#[schema(as = AuctioneerApiModel)]
pub(crate) struct AuctioneerSchema {
    #[schema(rename = "@class", example = "com.vendor.scaffold.models.auctionapi.AuctioneerApiModel")]
    class: String,
    /// Primary key, stable for ever.
    id: i64,
    name: String,
}

/// A country.
#[derive(ToSchema)]
#[schema(as = CountryModel)]
pub(crate) struct CountrySchema {
    #[schema(rename = "@class", example = "com.vendor.scaffold.models.address.CountryModel")]
    class: String,
    /// ISO 3166-1 number, stable for ever. On input either `id` or `code`.
    id: Option<i64>,
    /// ISO 3166-1 alpha-2, upper case.
    code: Option<String>,
    name: Option<String>,
}

/// A currency.
#[derive(ToSchema)]
#[schema(as = CurrencyModel)]
pub(crate) struct CurrencySchema {
    #[schema(rename = "@class", example = "com.vendor.scaffold.models.reference.CurrencyModel")]
    class: String,
    /// ISO 4217 number, stable for ever. On input either `id` or `code`.
    id: Option<i64>,
    /// ISO 4217, upper case.
    code: Option<String>,
    name: Option<String>,
}
