//! The common models as the OpenAPI document describes them. The models themselves are in the `contract` crate, which
//! reads and writes them and does not depend on OpenAPI.
//!
//! `required` lists the fields that every model in a response has. In a request the platform accepts less: `@class` and
//! a `countryCode` may be absent, and an `id` replaces a `code`.
#![expect(dead_code, reason = "schemas only")]

use utoipa::ToSchema;

/// An auctioneer as the common model.
#[derive(ToSchema)]
#[schema(as = AuctioneerApiModel)]
pub(crate) struct AuctioneerSchema {
    /// Class name of the model.
    #[schema(rename = "@class", example = "com.vendor.scaffold.models.auctionapi.AuctioneerApiModel")]
    class: String,
    /// Primary key; it never changes.
    #[schema(required = false)]
    id: i64,
    /// Name.
    #[schema(required = false)]
    name: String,
}

/// A country as the common model.
#[derive(ToSchema)]
#[schema(as = CountryModel)]
pub(crate) struct CountrySchema {
    /// Class name of the model. A request may leave it out.
    #[schema(rename = "@class", example = "com.vendor.scaffold.models.address.CountryModel")]
    class: String,
    /// ISO 3166-1 number; it never changes.
    id: Option<i64>,
    /// ISO 3166-1 alpha-2, upper case. A request may send `id` instead.
    code: String,
    /// English name. Ignored in a request.
    name: Option<String>,
}

/// A currency as the common model.
#[derive(ToSchema)]
#[schema(as = CurrencyModel)]
pub(crate) struct CurrencySchema {
    /// Class name of the model. A request may leave it out.
    #[schema(rename = "@class", example = "com.vendor.scaffold.models.reference.CurrencyModel")]
    class: String,
    /// ISO 4217 number; it never changes.
    id: Option<i64>,
    /// ISO 4217, upper case. A request may send `id` instead.
    code: String,
    /// English name. Ignored in a request.
    name: Option<String>,
}

/// A postal address as the common model. A required line may be empty but not absent.
#[derive(ToSchema)]
#[schema(as = AddressModel, rename_all = "camelCase")]
pub(crate) struct AddressSchema {
    /// Class name of the model. A request may leave it out.
    #[schema(rename = "@class", example = "com.vendor.scaffold.models.address.AddressModel")]
    class: String,
    /// Primary key, assigned by the platform; it never changes.
    id: Option<i64>,
    /// First line; required, may be empty.
    address_line1: String,
    /// Second line; required, may be empty.
    address_line2: String,
    /// Third line.
    address_line3: Option<String>,
    /// Fourth line.
    address_line4: Option<String>,
    /// County or region.
    county: Option<String>,
    /// Town or city.
    city: Option<String>,
    /// Postcode; required, may be empty.
    postcode: String,
    /// Decimal degrees east, -180 to 180.
    #[schema(example = "-1.257300")]
    longitude: Option<String>,
    /// Decimal degrees north, -90 to 90.
    #[schema(example = "51.752022")]
    latitude: Option<String>,
    /// Two lower-case letters of ISO 3166-1; the United Kingdom is `uk`. A request may leave it out; the default is `uk`.
    #[schema(example = "uk")]
    country_code: String,
}

/// An image, a document or a video as the common model.
#[derive(ToSchema)]
#[schema(as = UrlAttachmentApiModel)]
pub(crate) struct UrlAttachmentSchema {
    /// Class name of the model. A request may leave it out.
    #[schema(rename = "@class", example = "com.vendor.scaffold.models.auctionapi.UrlAttachmentApiModel")]
    class: String,
    /// An http or https address. For a YouTube or Vimeo video, the platform keeps only the video's identifier.
    url: String,
    /// Caption for people.
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
