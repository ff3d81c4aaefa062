//! Auctioneers.

use contract::models::{CountryModel, CurrencyModel, UrlAttachmentApiModel};
use platform_core::port::Auctioneer;
use serde::Serialize;
use utoipa::ToSchema;
use uuid::Uuid;

use super::common::{CountrySchema, CurrencySchema, UrlAttachmentSchema};
use super::time;

/// Who holds auctions.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Auctioneer)]
pub(crate) struct AuctioneerView {
    /// What events carry.
    pub(crate) uuid: Uuid,
    /// Primary key of the common model `AuctioneerApiModel`; stable for ever.
    pub(crate) id: i64,
    pub(crate) customer: Uuid,
    pub(crate) name: String,
    /// Its address; see `/reference/addresses/{id}`.
    pub(crate) address_id: Option<i64>,
    /// The country in which it is at home.
    #[schema(value_type = Option<CountrySchema>)]
    pub(crate) country: Option<CountryModel>,
    /// The currency that its sales are usually in.
    #[schema(value_type = Option<CurrencySchema>)]
    pub(crate) currency: Option<CurrencyModel>,
    #[schema(value_type = Option<UrlAttachmentSchema>)]
    pub(crate) logo: Option<UrlAttachmentApiModel>,
    /// Images, documents and videos about it.
    #[schema(value_type = Vec<UrlAttachmentSchema>)]
    pub(crate) attachments: Vec<UrlAttachmentApiModel>,
    /// Rises with each change; the `ETag`.
    pub(crate) version: i64,
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
