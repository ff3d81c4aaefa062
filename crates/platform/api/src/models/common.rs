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
    #[schema(rename = "@class", required = false, example = "com.vendor.scaffold.models.address.CountryModel")]
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
    #[schema(rename = "@class", required = false, example = "com.vendor.scaffold.models.reference.CurrencyModel")]
    class: String,
    /// ISO 4217 number, stable for ever. On input either `id` or `code`.
    id: Option<i64>,
    /// ISO 4217, upper case.
    code: Option<String>,
    name: Option<String>,
}

/// A postal address. A required line may be empty, not absent.
#[derive(ToSchema)]
#[schema(as = AddressModel, rename_all = "camelCase")]
pub(crate) struct AddressSchema {
    #[schema(rename = "@class", required = false, example = "com.vendor.scaffold.models.address.AddressModel")]
    class: String,
    /// Primary key, stable for ever; given by the platform.
    id: Option<i64>,
    address_line1: String,
    address_line2: String,
    address_line3: Option<String>,
    address_line4: Option<String>,
    county: Option<String>,
    city: Option<String>,
    postcode: String,
    /// Decimal degrees east, -180 to 180.
    #[schema(example = "-1.257300")]
    longitude: Option<String>,
    /// Decimal degrees north, -90 to 90.
    #[schema(example = "51.752022")]
    latitude: Option<String>,
    /// Two lower-case letters of ISO 3166-1, but for the United Kingdom, which is `uk`; that is also the default.
    #[schema(example = "uk")]
    country_code: Option<String>,
}

/// An image, a document, or a video.
#[derive(ToSchema)]
#[schema(as = UrlAttachmentApiModel)]
pub(crate) struct UrlAttachmentSchema {
    #[schema(
        rename = "@class",
        required = false,
        example = "com.vendor.scaffold.models.auctionapi.UrlAttachmentApiModel"
    )]
    class: String,
    /// An http or https address. Of a YouTube or Vimeo video, given as any of its usual addresses, only the identifier is
    /// kept.
    url: String,
    label: Option<String>,
}

/// A currency by its ISO 4217 code, or as a model with its `code` or its `id`.
#[derive(ToSchema)]
#[schema(as = CurrencyIn)]
#[serde(untagged)]
pub(crate) enum CurrencyInSchema {
    Code(String),
    Model(CurrencySchema),
}
