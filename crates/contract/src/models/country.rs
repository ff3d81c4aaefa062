//! Countries by their ISO 3166-1 code.

use std::str::FromStr;

use serde::Serialize;

use super::model;
use super::reference_code::{self, ReferenceCode};
use crate::fields::Fields;
use crate::text::{text, truncated};
use crate::{InvalidText, ModelError};

/// A country of the reference data. It is read from its code, its id, or both.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "@class", rename = "com.vendor.scaffold.models.address.CountryModel")]
pub struct CountryModel {
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<i64>,
    code: CountryCode,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
}

impl CountryModel {
    /// The value of `@class`.
    pub const CLASS: &'static str = "com.vendor.scaffold.models.address.CountryModel";

    /// The country of the reference data, with id, code and name.
    pub fn of(code: CountryCode) -> Self {
        Self { id: Some(code.id()), code, name: Some(code.name().to_owned()) }
    }

    /// Primary key, if it was given; always the id of the code.
    pub fn id(&self) -> Option<i64> {
        self.id
    }

    /// The code.
    pub fn code(&self) -> CountryCode {
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

model!(CountryModel);

/// An assigned ISO 3166-1 alpha-2 code, upper case.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CountryCode(rust_iso3166::CountryCode);

impl CountryCode {
    /// Every assigned code, in the order of the English names.
    pub fn all() -> impl Iterator<Item = Self> {
        rust_iso3166::ALL.iter().map(|country| Self(*country))
    }

    /// Two upper-case letters, such as `GB`.
    pub fn as_str(&self) -> &'static str {
        self.0.alpha2
    }

    /// The id in the reference data: the ISO 3166-1 number.
    pub fn id(&self) -> i64 {
        i64::from(self.0.numeric)
    }

    /// The country with this id.
    pub fn from_id(id: i64) -> Option<Self> {
        u16::try_from(id).ok().and_then(rust_iso3166::from_numeric).map(Self)
    }

    /// English short name.
    pub fn name(&self) -> &'static str {
        self.0.name
    }
}

impl FromStr for CountryCode {
    type Err = InvalidText;

    fn from_str(given: &str) -> Result<Self, InvalidText> {
        rust_iso3166::from_alpha2(given).map(Self).ok_or_else(|| {
            let hint = match given {
                "UK" | "uk" | "gb" => "; the United Kingdom is GB",
                _ => "",
            };
            InvalidText::new(format!(
                "must be an ISO 3166-1 alpha-2 code in upper case, such as FR{hint}; {:?} was given",
                truncated(given)
            ))
        })
    }
}

text!(CountryCode, as_str, "an ISO 3166-1 alpha-2 code in upper case");

impl ReferenceCode for CountryCode {
    const KIND: &'static str = "country";

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
    fn a_country_survives_a_round_trip() {
        for json in [
            r#"{"@class":"com.vendor.scaffold.models.address.CountryModel","id":826,"code":"GB","name":"Great Britain"}"#,
            r#"{"@class":"com.vendor.scaffold.models.address.CountryModel","code":"FR"}"#,
        ] {
            let model = CountryModel::from_json(json).unwrap();
            assert_eq!(serde_json::to_string(&model).unwrap(), json);
            assert_eq!(serde_json::from_str::<CountryModel>(json).unwrap(), model);
        }
    }

    #[test]
    fn the_code_is_found_by_the_id() {
        let model = CountryModel::from_json(r#"{"id":250}"#).unwrap();
        assert_eq!(
            serde_json::to_string(&model).unwrap(),
            r#"{"@class":"com.vendor.scaffold.models.address.CountryModel","id":250,"code":"FR"}"#
        );
    }

    #[test]
    fn a_country_of_the_reference_data_is_complete() {
        let model = CountryModel::of("FR".parse().unwrap());
        assert_eq!((model.id(), model.code().as_str(), model.name()), (Some(250), "FR", Some("France")));
    }

    #[test]
    fn an_invalid_country_is_rejected() {
        for (json, code, pointer) in [
            ("{}", "missing_field", "/code"),
            (r#"{"code":null,"name":"France"}"#, "missing_field", "/code"),
            (r#"{"code":"fr"}"#, "invalid_value", "/code"),
            (r#"{"code":"UK"}"#, "invalid_value", "/code"),
            (r#"{"code":"FRA"}"#, "invalid_value", "/code"),
            (r#"{"code":"ZZ"}"#, "invalid_value", "/code"),
            (r#"{"code":""}"#, "invalid_value", "/code"),
            (r#"{"code":250}"#, "wrong_type", "/code"),
            (r#"{"id":999}"#, "invalid_value", "/id"),
            (r#"{"id":-250}"#, "invalid_value", "/id"),
            (r#"{"id":65786}"#, "invalid_value", "/id"),
            (r#"{"id":250,"code":"GB"}"#, "invalid_value", "/id"),
            (r#"{"code":"FR","iso":"FR"}"#, "unknown_field", "/iso"),
            (
                r#"{"@class":"com.vendor.scaffold.models.reference.CurrencyModel","code":"FR"}"#,
                "wrong_class",
                "/@class",
            ),
        ] {
            let error = CountryModel::from_json(json).unwrap_err();
            assert_eq!((error.code(), error.pointer()), (code, pointer), "{json}");
        }
        let both = CountryModel::from_json("{}").unwrap_err().to_string();
        assert_eq!(both, r#"/code: the required field is missing; give it or "id""#);
        assert!("UK".parse::<CountryCode>().unwrap_err().to_string().contains("the United Kingdom is GB"));
    }
}
