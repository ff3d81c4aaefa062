//! Auctioneers, who hold auctions.

use serde::Serialize;

use super::model;
use crate::ModelError;
use crate::fields::Fields;

/// An auctioneer, as in the reference API and in imports.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
#[serde(tag = "@class", rename = "com.vendor.scaffold.models.auctionapi.AuctioneerApiModel")]
pub struct AuctioneerApiModel {
    /// Primary key, as in the reference API; it never changes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<i64>,
    /// Name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
}

impl AuctioneerApiModel {
    /// The value of `@class`.
    pub const CLASS: &'static str = "com.vendor.scaffold.models.auctionapi.AuctioneerApiModel";

    fn read(fields: &mut Fields) -> Result<Self, ModelError> {
        Ok(Self { id: fields.optional("id")?, name: fields.optional("name")? })
    }
}

model!(AuctioneerApiModel);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_auctioneer_survives_a_round_trip() {
        for json in [
            r#"{"@class":"com.vendor.scaffold.models.auctionapi.AuctioneerApiModel","id":7,"name":"Salter & Daughters"}"#,
            r#"{"@class":"com.vendor.scaffold.models.auctionapi.AuctioneerApiModel","id":-9223372036854775808}"#,
            r#"{"@class":"com.vendor.scaffold.models.auctionapi.AuctioneerApiModel"}"#,
        ] {
            let model = AuctioneerApiModel::from_json(json).unwrap();
            assert_eq!(serde_json::to_string(&model).unwrap(), json);
            assert_eq!(serde_json::from_str::<AuctioneerApiModel>(json).unwrap(), model);
        }
    }

    #[test]
    fn the_class_may_be_absent_and_must_be_right_otherwise() {
        assert_eq!(AuctioneerApiModel::from_json(r#"{"name":null}"#).unwrap(), AuctioneerApiModel::default());
        let error = AuctioneerApiModel::from_json(r#"{"@class":"AuctioneerApiModel"}"#).unwrap_err();
        assert_eq!((error.code(), error.pointer()), ("wrong_class", "/@class"));
        assert_eq!(
            error.to_string(),
            r#"/@class: must be "com.vendor.scaffold.models.auctionapi.AuctioneerApiModel" or absent; "AuctioneerApiModel" was given"#
        );
        for wrong in ["null", "7", r#""""#] {
            let error = AuctioneerApiModel::from_json(&format!(r#"{{"@class":{wrong}}}"#)).unwrap_err();
            assert_eq!(error.code(), "wrong_class", "{wrong}");
        }
    }

    #[test]
    fn a_wrong_or_unknown_field_is_rejected_at_its_pointer() {
        for (json, code, pointer) in [
            (r#"{"id":"7"}"#, "wrong_type", "/id"),
            (r#"{"id":7.5}"#, "wrong_type", "/id"),
            (r#"{"name":7}"#, "wrong_type", "/name"),
            (r#"{"Name":"x"}"#, "unknown_field", "/Name"),
            (r#"{"name":"x","name":"y"}"#, "duplicate_field", "/name"),
            ("[]", "not_an_object", ""),
        ] {
            let error = AuctioneerApiModel::from_json(json).unwrap_err();
            assert_eq!((error.code(), error.pointer()), (code, pointer), "{json}");
            let from_serde = serde_json::from_str::<AuctioneerApiModel>(json).unwrap_err().to_string();
            assert!(from_serde.contains(pointer), "{from_serde}");
        }
    }
}
