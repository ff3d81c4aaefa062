//! Fields of a JSON body that serde alone can't read: the common models with `@class`, times, statuses, and the
//! difference between null and an absent field.
//!
//! The `contract` crate reads the models: it accepts a missing `@class`, rejects a wrong one, and reports where each
//! problem is.

use std::str::FromStr;

use contract::ModelError;
use contract::models::{AddressModel, CurrencyModel, UrlAttachmentApiModel};
use jiff::Timestamp;
use platform_core::customers::addresses::AddressInput;
use platform_core::{PlatformError, Problem as InputProblem};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

use crate::errors::ApiError;

/// A model as JSON text, before the `contract` crate reads it.
pub(crate) type Raw = Box<RawValue>;

/// Reads the model at `pointer` of the body.
pub(crate) fn model<T>(
    pointer: &str,
    raw: &RawValue,
    read: impl FnOnce(&str) -> Result<T, ModelError>,
) -> Result<T, ApiError> {
    read(raw.get()).map_err(|error| {
        let error = error.under(pointer);
        if let ModelError::MissingField { .. } = error {
            let missing = error.pointers().map(|pointer| InputProblem::new(pointer, "the required field is missing"));
            return PlatformError::Invalid(missing.collect()).into();
        }
        // The text begins with the field; the pointer already names it.
        let text = error.to_string();
        let message = text.split_once(": ").map_or(text.as_str(), |(_, message)| message);
        ApiError::invalid(error.pointer(), message)
    })
}

/// The address: a model in `address`, or the id of an existing one in `addressId`.
pub(crate) fn address(given: Option<&RawValue>, id: Option<i64>) -> Result<Option<AddressInput>, ApiError> {
    match (given, id) {
        (None, None) => Ok(None),
        (None, Some(id)) => Ok(Some(AddressInput::Existing(id))),
        (Some(given), None) => {
            model("/address", given, AddressModel::from_json).map(|model| Some(AddressInput::Full(Box::new(model))))
        }
        (Some(_), Some(_)) => {
            Err(ApiError::invalid("/addressId", "can't be combined with address: send one of the two"))
        }
    }
}

/// Reads a list of images, documents and videos.
pub(crate) fn attachments(pointer: &str, raw: &[Raw]) -> Result<Vec<UrlAttachmentApiModel>, ApiError> {
    let read =
        |(index, raw): (usize, &Raw)| model(&format!("{pointer}/{index}"), raw, UrlAttachmentApiModel::from_json);
    raw.iter().enumerate().map(read).collect()
}

/// Reads a currency: an ISO 4217 code, or a model with its code or id.
pub(crate) fn currency_code(pointer: &str, given: &RawValue) -> Result<String, ApiError> {
    if let Ok(code) = serde_json::from_str(given.get()) {
        return Ok(code);
    }
    if !given.get().starts_with('{') {
        return Err(ApiError::invalid(pointer, "must be an ISO 4217 code such as GBP, or a CurrencyModel"));
    }
    model(pointer, given, CurrencyModel::from_json).map(|model| model.code().as_str().to_owned())
}

/// For an optional field of a patch: an absent field is `None`, null is `Some(None)`.
pub(crate) fn or_null<'de, T: Deserialize<'de>, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<Option<T>>, D::Error> {
    Option::deserialize(deserializer).map(Some)
}

/// For a required field of a patch: it may be absent; null is rejected.
pub(crate) fn no_null<'de, T: Deserialize<'de>, D: Deserializer<'de>>(deserializer: D) -> Result<Option<T>, D::Error> {
    T::deserialize(deserializer).map(Some)
}

/// Reads a time, RFC 3339. The platform keeps milliseconds; smaller units are dropped.
pub(crate) fn instant(pointer: &str, text: Option<&str>) -> Result<Option<Timestamp>, ApiError> {
    let Some(text) = text else { return Ok(None) };
    let at: Timestamp = text.parse().map_err(|_| {
        ApiError::invalid(pointer, format!("{text:?} is not a time. Write it like 2027-03-01T18:00:00.000Z"))
    })?;
    Ok(Some(kit_runtime::clock::from_ms(kit_runtime::clock::to_ms(at))))
}

/// Reads a status by its name.
pub(crate) fn status<S: FromStr<Err: std::fmt::Display>>(pointer: &str, name: &str) -> Result<S, ApiError> {
    name.parse().map_err(|error: S::Err| ApiError::invalid(pointer, error.to_string()))
}
