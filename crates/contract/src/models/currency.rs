//! Currencies by their ISO 4217 code.

use std::str::FromStr;

use iso_currency::Currency;
use serde::Serialize;

use super::model;
use super::reference_code::{self, ReferenceCode};
use crate::fields::Fields;
use crate::text::{text, truncated};
use crate::{InvalidText, ModelError};

/// A currency of the reference data. It is read from its code, its id, or both.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "@class", rename = "com.vendor.scaffold.models.reference.CurrencyModel")]
pub struct CurrencyModel {
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<i64>,
    code: CurrencyCode,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
}

impl CurrencyModel {
    /// The value of `@class`.
    pub const CLASS: &'static str = "com.vendor.scaffold.models.reference.CurrencyModel";

    /// The currency of the reference data, with id, code and name.
    pub fn of(code: CurrencyCode) -> Self {
        Self { id: Some(code.id()), code, name: Some(code.name()) }
    }

    /// Primary key, if it was given; always the id of the code.
    pub fn id(&self) -> Option<i64> {
        self.id
    }

    /// The code.
    pub fn code(&self) -> CurrencyCode {
        self.code
    }

    /// The name, if one was given; free text.
    pub fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    fn read(fields: &mut Fields) -> Result<Self, ModelError> {
        let (id, code) = reference_code::read(fields)?;
        Ok(Self { id, code, name: fields.optional("name")? })
    }
}

model!(CurrencyModel);

/// An ISO 4217 code, upper case. Recently withdrawn codes are still read, because old auctions use them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CurrencyCode(Currency);

/// Codes that ISO 4217 has withdrawn, with the year: kuna (2023), convertible peso (2021), Zimbabwe dollars (2009,
/// 2024), leone (2024), Antillean guilder (2025), lev (2026).
const WITHDRAWN: [&str; 7] = ["HRK", "CUC", "ZWD", "ZWL", "SLL", "ANG", "BGN"];

impl CurrencyCode {
    /// Every code, ordered by id.
    pub fn all() -> impl Iterator<Item = Self> {
        // An ISO number has three digits.
        (0..=999).filter_map(Currency::from_numeric).map(Self)
    }

    /// True for a withdrawn currency: it is read, but new auctions can't use it.
    pub fn is_withdrawn(&self) -> bool {
        WITHDRAWN.contains(&self.as_str())
    }

    /// Three upper-case letters, such as `GBP`.
    pub fn as_str(&self) -> &'static str {
        self.0.code()
    }

    /// The id in the reference data: the ISO 4217 number.
    pub fn id(&self) -> i64 {
        i64::from(self.0.numeric())
    }

    /// The currency with this id.
    pub fn from_id(id: i64) -> Option<Self> {
        u16::try_from(id).ok().and_then(Currency::from_numeric).map(Self)
    }

    /// English name.
    pub fn name(&self) -> String {
        self.0.name().to_owned()
    }

    /// Decimal digits of the minor unit: 2 for GBP, 0 for JPY. None for gold, test codes and other codes without a
    /// minor unit, which can't be the currency of an auction.
    pub fn minor_digits(&self) -> Option<u32> {
        self.0.exponent().map(u32::from)
    }
}

impl FromStr for CurrencyCode {
    type Err = InvalidText;

    fn from_str(given: &str) -> Result<Self, InvalidText> {
        Currency::from_code(given).map(Self).ok_or_else(|| {
            InvalidText::new(format!(
                "must be an ISO 4217 code in upper case, such as GBP; {:?} was given",
                truncated(given)
            ))
        })
    }
}

text!(CurrencyCode, as_str, "an ISO 4217 code in upper case");

impl ReferenceCode for CurrencyCode {
    const KIND: &'static str = "currency";

    fn as_str(&self) -> &'static str {
        self.as_str()
    }

    fn id(&self) -> i64 {
        self.id()
    }

    fn from_id(id: i64) -> Option<Self> {
        Self::from_id(id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_currency_survives_a_round_trip() {
        for json in [
            r#"{"@class":"com.vendor.scaffold.models.reference.CurrencyModel","id":826,"code":"GBP","name":"Sterling"}"#,
            r#"{"@class":"com.vendor.scaffold.models.reference.CurrencyModel","code":"EUR"}"#,
        ] {
            let model = CurrencyModel::from_json(json).unwrap();
            assert_eq!(serde_json::to_string(&model).unwrap(), json);
            assert_eq!(serde_json::from_str::<CurrencyModel>(json).unwrap(), model);
        }
    }

    #[test]
    fn the_code_is_found_by_the_id() {
        let model = CurrencyModel::from_json(r#"{"id":978}"#).unwrap();
        assert_eq!(
            serde_json::to_string(&model).unwrap(),
            r#"{"@class":"com.vendor.scaffold.models.reference.CurrencyModel","id":978,"code":"EUR"}"#
        );
    }

    #[test]
    fn a_currency_of_the_reference_data_is_complete() {
        let model = CurrencyModel::of("EUR".parse().unwrap());
        assert_eq!((model.id(), model.code().as_str(), model.name()), (Some(978), "EUR", Some("Euro")));
    }

    #[test]
    fn an_invalid_currency_is_rejected() {
        for (json, code, pointer) in [
            ("{}", "missing_field", "/code"),
            (r#"{"code":"gbp"}"#, "invalid_value", "/code"),
            (r#"{"code":"GB"}"#, "invalid_value", "/code"),
            (r#"{"code":"£"}"#, "invalid_value", "/code"),
            (r#"{"code":"QQQ"}"#, "invalid_value", "/code"),
            (r#"{"code":826}"#, "wrong_type", "/code"),
            (r#"{"id":1}"#, "invalid_value", "/id"),
            (r#"{"id":-826}"#, "invalid_value", "/id"),
            (r#"{"id":978,"code":"GBP"}"#, "invalid_value", "/id"),
            (r#"{"code":"GBP","symbol":"£"}"#, "unknown_field", "/symbol"),
            (r#"{"@class":"CurrencyModel","code":"GBP"}"#, "wrong_class", "/@class"),
        ] {
            let error = CurrencyModel::from_json(json).unwrap_err();
            assert_eq!((error.code(), error.pointer()), (code, pointer), "{json}");
        }
    }
}
