//! The common models (service.md section 2), one file each, and the values that their fields are made of.
//!
//! A model is written with `@class` first and without the optional fields that it doesn't have. It is read strictly: a
//! missing `@class` is accepted, a wrong one is refused, and so is any field that the model doesn't have. Where a
//! refusal's code and place are wanted, `from_json` and `from_value` give both; serde's own error has them as text.

mod address;
mod auctioneer;
mod country;
mod currency;
mod degrees;
mod reference_code;
mod url_attachment;
mod video;

pub use address::{AddressCountryCode, AddressModel};
pub use auctioneer::AuctioneerApiModel;
pub use country::{CountryCode, CountryModel};
pub use currency::{CurrencyCode, CurrencyModel};
pub use degrees::{Degrees, Latitude, Longitude};
pub use url_attachment::{AttachmentUrl, ResourceAddress, UrlAttachmentApiModel};
pub use video::VideoId;

/// Reading for a model that has `CLASS` and `read(&mut Fields)`.
macro_rules! model {
    ($type:ty) => {
        impl $type {
            /// Reads a JSON text.
            ///
            /// # Errors
            ///
            /// The first thing that is wrong, with its place.
            pub fn from_json(json: &str) -> Result<Self, $crate::ModelError> {
                Self::from_fields($crate::fields::Fields::from_json(json)?)
            }

            /// Reads a JSON value, such as a field of a larger document; see [`ModelError::under`](crate::ModelError::under).
            ///
            /// # Errors
            ///
            /// The first thing that is wrong, with its place in the value.
            pub fn from_value(value: serde_json::Value) -> Result<Self, $crate::ModelError> {
                Self::from_fields($crate::fields::Fields::from_value(value)?)
            }

            fn from_fields(mut fields: $crate::fields::Fields) -> Result<Self, $crate::ModelError> {
                fields.class(Self::CLASS)?;
                let model = Self::read(&mut fields)?;
                fields.reject_unknown()?;
                Ok(model)
            }
        }

        impl<'de> serde::Deserialize<'de> for $type {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let fields = $crate::fields::Fields::deserialize(deserializer)?;
                Self::from_fields(fields).map_err(serde::de::Error::custom)
            }
        }
    };
}

use model;
