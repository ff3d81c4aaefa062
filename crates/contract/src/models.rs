//! The five common models, and the types of their fields.
//!
//! A model is written with `@class` first, and without absent optional fields. It is read strictly: `@class` may be
//! absent; a wrong `@class` and an unknown field are rejected. `from_json` and `from_value` return an error with a code
//! and a JSON pointer; the error of serde contains both as text only.

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

/// Implements reading for a model with `CLASS` and `read(&mut Fields)`.
macro_rules! model {
    ($type:ty) => {
        impl $type {
            /// Parses a JSON text.
            ///
            /// # Errors
            ///
            /// The first error, with its JSON pointer.
            pub fn from_json(json: &str) -> Result<Self, $crate::ModelError> {
                Self::from_fields($crate::fields::Fields::from_json(json)?)
            }

            /// Reads a JSON value, such as a field of a larger document; see
            /// [`ModelError::under`](crate::ModelError::under).
            ///
            /// # Errors
            ///
            /// The first error, with its JSON pointer in the value.
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
