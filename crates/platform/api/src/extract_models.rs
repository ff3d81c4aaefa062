//! Common models within a body (service.md section 2): read by the `contract` crate, so that a missing `@class` is taken,
//! a wrong one refused, and each refusal has its place.

use contract::ModelError;
use contract::models::{AddressModel, CurrencyModel, UrlAttachmentApiModel};
use platform_core::addresses::AddressInput;
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

use crate::errors::ApiError;

/// A model that has not been read yet.
pub(crate) type Raw = Box<RawValue>;

/// A model at a place of the body.
pub(crate) fn model<T>(
    pointer: &str,
    raw: &RawValue,
    read: impl FnOnce(&str) -> Result<T, ModelError>,
) -> Result<T, ApiError> {
    read(raw.get()).map_err(|error| {
        let (error, own) = (error.clone().under(pointer), error.to_string());
        // The text begins with the place within the model, which the pointer says better.
        let message = own.split_once(": ").map_or(own.as_str(), |(_, message)| message);
        ApiError::invalid(error.pointer(), message)
    })
}

/// An address that is given whole at `/address`, or named at `/addressId`.
pub(crate) fn address(given: Option<&RawValue>, id: Option<i64>) -> Result<Option<AddressInput>, ApiError> {
    match (given, id) {
        (None, None) => Ok(None),
        (None, Some(id)) => Ok(Some(AddressInput::Existing(id))),
        (Some(given), None) => {
            model("/address", given, AddressModel::from_json).map(|model| Some(AddressInput::Full(Box::new(model))))
        }
        (Some(_), Some(_)) => {
            Err(ApiError::invalid("/addressId", "stands beside address: give one of the two, not both"))
        }
    }
}

/// Images, documents and videos.
pub(crate) fn attachments(pointer: &str, raw: &[Raw]) -> Result<Vec<UrlAttachmentApiModel>, ApiError> {
    let read =
        |(index, raw): (usize, &Raw)| model(&format!("{pointer}/{index}"), raw, UrlAttachmentApiModel::from_json);
    raw.iter().enumerate().map(read).collect()
}

/// The code of a currency: given as it is, or as a model with its code or its id.
pub(crate) fn currency_code(pointer: &str, given: &RawValue) -> Result<String, ApiError> {
    if let Ok(code) = serde_json::from_str(given.get()) {
        return Ok(code);
    }
    if !given.get().starts_with('{') {
        return Err(ApiError::invalid(pointer, "must be an ISO 4217 code such as GBP, or a CurrencyModel"));
    }
    model(pointer, given, CurrencyModel::from_json).map(|model| model.code().as_str().to_owned())
}

/// For a field that may be taken away: what is absent is `None`, and null is `Some(None)`.
pub(crate) fn or_null<'de, T: Deserialize<'de>, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<Option<T>>, D::Error> {
    Option::deserialize(deserializer).map(Some)
}

/// For a field that can be left out and not taken away: null is refused.
pub(crate) fn no_null<'de, T: Deserialize<'de>, D: Deserializer<'de>>(deserializer: D) -> Result<Option<T>, D::Error> {
    T::deserialize(deserializer).map(Some)
}
