//! The OpenAPI document describes the common models as the contract crate serialises them.

use contract::models::{AddressModel, AuctioneerApiModel, CountryModel, CurrencyModel, UrlAttachmentApiModel};
use serde_json::{Value, json};

#[test]
fn the_common_models_are_described_field_by_field() {
    let document = serde_json::to_value(platform_api::openapi()).unwrap();
    let address = AddressModel {
        id: Some(1),
        address_line3: Some(String::new()),
        address_line4: Some(String::new()),
        county: Some(String::new()),
        city: Some(String::new()),
        longitude: Some("0".parse().unwrap()),
        latitude: Some("0".parse().unwrap()),
        ..AddressModel::default()
    };
    let attachment = UrlAttachmentApiModel { url: "1".parse().unwrap(), label: Some(String::new()) };
    let auctioneer = AuctioneerApiModel { id: Some(1), name: Some(String::new()) };
    for (name, written) in [
        ("AddressModel", json!(address)),
        ("AuctioneerApiModel", json!(auctioneer)),
        ("CountryModel", json!(CountryModel::of("FR".parse().unwrap()))),
        ("CurrencyModel", json!(CurrencyModel::of("EUR".parse().unwrap()))),
        ("UrlAttachmentApiModel", json!(attachment)),
    ] {
        let described = &document["components"]["schemas"][name]["properties"];
        let names = |of: &Value| of.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
        let sorted = |mut names: Vec<String>| {
            names.sort();
            names
        };
        assert_eq!(sorted(names(described)), sorted(names(&written)), "{name}");
        assert_eq!(described["@class"]["example"], written["@class"], "{name}");
    }
}
