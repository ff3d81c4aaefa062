//! Postal addresses.

use std::str::FromStr;

use serde::Serialize;

use super::country::CountryCode;
use super::degrees::{Latitude, Longitude};
use super::model;
use crate::fields::Fields;
use crate::text::{text, truncated};
use crate::{InvalidText, ModelError};

/// A postal address. A required field may be empty, because not every address has a second line or a postcode; it must
/// not be absent.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
#[serde(tag = "@class", rename = "com.vendor.scaffold.models.address.AddressModel", rename_all = "camelCase")]
pub struct AddressModel {
    /// Primary key, as in the reference API; it never changes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<i64>,
    /// First line, required.
    pub address_line1: String,
    /// Second line, required.
    pub address_line2: String,
    /// Third line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub address_line3: Option<String>,
    /// Fourth line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub address_line4: Option<String>,
    /// County, state or province.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub county: Option<String>,
    /// City or town.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub city: Option<String>,
    /// Postcode, required.
    pub postcode: String,
    /// Decimal degrees east as text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub longitude: Option<Longitude>,
    /// Decimal degrees north as text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub latitude: Option<Latitude>,
    /// Country code; `uk` by default.
    pub country_code: AddressCountryCode,
}

impl AddressModel {
    /// The value of `@class`.
    pub const CLASS: &'static str = "com.vendor.scaffold.models.address.AddressModel";

    fn read(fields: &mut Fields) -> Result<Self, ModelError> {
        fields.require(&["addressLine1", "addressLine2", "postcode"])?;
        Ok(Self {
            id: fields.optional("id")?,
            address_line1: fields.required("addressLine1")?,
            address_line2: fields.required("addressLine2")?,
            address_line3: fields.optional("addressLine3")?,
            address_line4: fields.optional("addressLine4")?,
            county: fields.optional("county")?,
            city: fields.optional("city")?,
            postcode: fields.required("postcode")?,
            longitude: fields.optional("longitude")?,
            latitude: fields.optional("latitude")?,
            country_code: fields.optional("countryCode")?.unwrap_or_default(),
        })
    }
}

model!(AddressModel);

/// The country code of an address: two lower-case letters of ISO 3166-1, except that the United Kingdom is `uk`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AddressCountryCode(String);

const UNITED_KINGDOM: &str = "uk";

impl AddressCountryCode {
    /// Two lower-case letters, such as `uk`.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Default for AddressCountryCode {
    fn default() -> Self {
        Self(UNITED_KINGDOM.to_owned())
    }
}

impl From<CountryCode> for AddressCountryCode {
    fn from(code: CountryCode) -> Self {
        match code.as_str() {
            "GB" => Self::default(),
            code => Self(code.to_ascii_lowercase()),
        }
    }
}

impl FromStr for AddressCountryCode {
    type Err = InvalidText;

    fn from_str(given: &str) -> Result<Self, InvalidText> {
        if given == UNITED_KINGDOM {
            return Ok(Self::default());
        }
        let lower_case = given.bytes().all(|byte| byte.is_ascii_lowercase());
        let code = given.to_ascii_uppercase().parse::<CountryCode>().ok().filter(|_| lower_case);
        code.map(Self::from).ok_or_else(|| {
            InvalidText::new(format!(
                "must be a country code of two lower-case letters, such as uk, us or fr; {:?} was given",
                truncated(given)
            ))
        })
    }
}

text!(AddressCountryCode, as_str, "a country code of two lower-case letters");

#[cfg(test)]
mod tests {
    use super::*;

    const FULL: &str = r#"{"@class":"com.vendor.scaffold.models.address.AddressModel","id":12,"addressLine1":"Unit 4","addressLine2":"The Old Maltings","addressLine3":"Mill Lane","addressLine4":"Wharfside","county":"Oxfordshire","city":"Oxford","postcode":"OX1 1AA","longitude":"-1.257300","latitude":"51.752022","countryCode":"uk"}"#;
    const LEAST: &str = r#"{"@class":"com.vendor.scaffold.models.address.AddressModel","addressLine1":"1 Rue Neuve","addressLine2":"","postcode":"69001","countryCode":"fr"}"#;

    #[test]
    fn an_address_survives_a_round_trip() {
        for json in [FULL, LEAST] {
            let model = AddressModel::from_json(json).unwrap();
            assert_eq!(serde_json::to_string(&model).unwrap(), json);
            assert_eq!(serde_json::from_str::<AddressModel>(json).unwrap(), model);
        }
    }

    #[test]
    fn an_address_without_a_country_is_in_the_united_kingdom() {
        let read = AddressModel::from_json(r#"{"addressLine1":"a","addressLine2":"b","postcode":"c"}"#).unwrap();
        assert_eq!(
            serde_json::to_string(&read).unwrap(),
            r#"{"@class":"com.vendor.scaffold.models.address.AddressModel","addressLine1":"a","addressLine2":"b","postcode":"c","countryCode":"uk"}"#
        );
    }

    #[test]
    fn country_codes_are_lower_case_and_gb_is_kept_as_uk() {
        for (given, kept) in [("uk", "uk"), ("gb", "uk"), ("us", "us"), ("fr", "fr"), ("de", "de")] {
            assert_eq!(given.parse::<AddressCountryCode>().unwrap().as_str(), kept);
        }
        for wrong in ["", "UK", "GB", "Fr", "fra", "f", "zz", "f ", "ﬁ", "é"] {
            assert!(wrong.parse::<AddressCountryCode>().is_err(), "{wrong:?}");
        }
        for code in CountryCode::all() {
            let code = AddressCountryCode::from(code);
            assert_eq!(code.as_str().parse(), Ok(code.clone()));
        }
    }

    #[test]
    fn an_incomplete_or_wrong_address_is_rejected_at_the_field() {
        let swap = |from: &str, to: &str| FULL.replacen(from, to, 1);
        for (json, code, pointer) in [
            (swap(r#""addressLine1":"Unit 4","#, ""), "missing_field", "/addressLine1"),
            (swap(r#""addressLine2":"The Old Maltings","#, ""), "missing_field", "/addressLine2"),
            (swap(r#""postcode":"OX1 1AA","#, ""), "missing_field", "/postcode"),
            (swap(r#""OX1 1AA""#, "null"), "wrong_type", "/postcode"),
            (swap(r#""51.752022""#, "51.752022"), "wrong_type", "/latitude"),
            (swap("51.752022", "91"), "invalid_value", "/latitude"),
            (swap("-1.257300", "181"), "invalid_value", "/longitude"),
            (swap(r#""uk""#, r#""UK""#), "invalid_value", "/countryCode"),
            (swap(r#""city""#, r#""town""#), "unknown_field", "/town"),
            (swap("address.AddressModel", "address.CountryModel"), "wrong_class", "/@class"),
        ] {
            let error = AddressModel::from_json(&json).unwrap_err();
            assert_eq!((error.code(), error.pointer()), (code, pointer), "{json}");
        }
    }

    #[test]
    fn all_missing_fields_are_named_at_once() {
        let error = AddressModel::from_json(r#"{"addressLine2":""}"#).unwrap_err().under("/address");
        assert_eq!(error.pointers().collect::<Vec<_>>(), ["/address/addressLine1", "/address/postcode"]);
        let text = "/address/addressLine1: the required field is missing; missing too: /address/postcode";
        assert_eq!((error.code(), error.to_string().as_str()), ("missing_field", text));
    }
}
