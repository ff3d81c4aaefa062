//! Auctioneers.

use contract::models::{CountryModel, CurrencyModel, UrlAttachmentApiModel};
use platform_core::port::Auctioneer;
use serde::Serialize;
use utoipa::ToSchema;
use uuid::Uuid;

use super::common::{CountrySchema, CurrencySchema, UrlAttachmentSchema};
use super::time;

/// An auctioneer: a party that holds a customer's auctions.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Auctioneer)]
pub(crate) struct AuctioneerView {
    /// UUID of the auctioneer, as in events.
    pub(crate) uuid: Uuid,
    /// Primary key of the common model `AuctioneerApiModel`; it never changes.
    pub(crate) id: i64,
    /// UUID of the customer.
    pub(crate) customer: Uuid,
    /// Name, unique for the customer.
    pub(crate) name: String,
    /// Id of the address; see `/reference/addresses/{id}`.
    pub(crate) address_id: Option<i64>,
    /// Home country.
    #[schema(value_type = Option<CountrySchema>)]
    pub(crate) country: Option<CountryModel>,
    /// Usual currency of its sales.
    #[schema(value_type = Option<CurrencySchema>)]
    pub(crate) currency: Option<CurrencyModel>,
    /// Logo image.
    #[schema(value_type = Option<UrlAttachmentSchema>)]
    pub(crate) logo: Option<UrlAttachmentApiModel>,
    /// Images, documents and videos about it.
    #[schema(value_type = Vec<UrlAttachmentSchema>)]
    pub(crate) attachments: Vec<UrlAttachmentApiModel>,
    /// Increases with each change; the `ETag`.
    pub(crate) version: i64,
    /// When the auctioneer was created.
    #[schema(format = DateTime)]
    pub(crate) created_at: String,
}

impl From<&Auctioneer> for AuctioneerView {
    fn from(auctioneer: &Auctioneer) -> Self {
        let profile = &auctioneer.profile;
        Self {
            uuid: auctioneer.uuid,
            id: auctioneer.id,
            customer: auctioneer.customer,
            name: auctioneer.name.clone(),
            address_id: profile.address_id,
            country: profile.country.map(CountryModel::of),
            currency: profile.currency.map(CurrencyModel::of),
            logo: profile.logo.clone(),
            attachments: profile.attachments.clone(),
            version: auctioneer.version,
            created_at: time(auctioneer.created_at),
        }
    }
}
