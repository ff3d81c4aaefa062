//! The lists of reference data.

use std::collections::HashSet;

use contract::models::{CountryCode, CurrencyCode};
use serde_json::json;

use crate::fixture::Fixture;

const LISTS: [&str; 5] = ["countries", "currencies", "item-statuses", "auction-statuses", "event-types"];

#[tokio::test]
async fn every_list_can_be_cached_for_a_day_and_revalidated() {
    let fixture = Fixture::new().await;
    let mut tags = HashSet::new();
    for list in LISTS {
        let path = format!("/reference-data/{list}");
        let answer = fixture.get(&path).await;
        assert_eq!((answer.status, answer.header("content-type")), (200, Some("application/json")), "{list}");
        assert_eq!(answer.header("cache-control"), Some("private, max-age=86400"));
        assert_eq!(answer.json().as_object().unwrap().keys().collect::<Vec<_>>(), ["data"]);
        let tag = answer.header("etag").unwrap().to_owned();
        assert!(tag.starts_with('"') && tag.ends_with('"') && tags.insert(tag.clone()), "{tag}");

        for has in [tag.clone(), format!("W/{tag}"), format!("\"other\", {tag}"), "*".to_owned()] {
            let again = fixture.get_unless(&path, &has).await;
            assert_eq!((again.status, &again.json()), (304, &json!(null)), "{has}");
            assert_eq!(
                (again.header("etag"), again.header("cache-control")),
                (Some(&*tag), Some("private, max-age=86400"))
            );
        }
        assert_eq!(fixture.get_unless(&path, "\"other\"").await.status, 200);
        assert_eq!(fixture.get_as_other(&path).await.header("etag"), Some(&*tag));
    }
}

#[tokio::test]
async fn countries_have_their_iso_numbers_as_ids() {
    let fixture = Fixture::new().await;
    let body = fixture.get("/reference-data/countries").await.json();
    let countries = body["data"].as_array().unwrap();
    assert_eq!(countries.len(), CountryCode::all().count());
    let find = |code: &str| countries.iter().find(|country| country["code"] == code).unwrap();
    let class = "com.vendor.scaffold.models.address.CountryModel";
    assert_eq!(find("FR").to_string(), format!(r#"{{"@class":"{class}","id":250,"code":"FR","name":"France"}}"#));
    assert_eq!(find("GB")["id"], 826);
}

#[tokio::test]
async fn currencies_have_their_iso_numbers_as_ids() {
    let fixture = Fixture::new().await;
    let body = fixture.get("/reference-data/currencies").await.json();
    let currencies = body["data"].as_array().unwrap();
    assert_eq!(currencies.len(), CurrencyCode::all().filter(|code| !code.is_withdrawn()).count());
    assert!(!currencies.iter().any(|currency| currency["code"] == "HRK"), "withdrawn");
    let find = |code: &str| currencies.iter().find(|currency| currency["code"] == code).unwrap();
    let class = "com.vendor.scaffold.models.reference.CurrencyModel";
    let yen = format!(r#"{{"@class":"{class}","id":392,"code":"JPY","name":"Japanese yen"}}"#);
    assert_eq!(find("JPY").to_string(), yen);
    assert_eq!((&find("GBP")["id"], &find("EUR")["id"]), (&json!(826), &json!(978)));
}

#[tokio::test]
async fn statuses_and_event_types_are_those_of_the_contract() {
    let fixture = Fixture::new().await;
    let codes = |body: &serde_json::Value| -> Vec<(String, i64)> {
        let rows = body["data"].as_array().unwrap();
        rows.iter().map(|row| (row["name"].as_str().unwrap().to_owned(), row["code"].as_i64().unwrap())).collect()
    };
    let named = |list: &[(&str, i64)]| list.iter().map(|(name, code)| ((*name).to_owned(), *code)).collect::<Vec<_>>();
    let items = [
        ("DRAFT", 2),
        ("PREVIEW", 3),
        ("LIVE", 4),
        ("WITHDRAWN", 5),
        ("SOLD", 6),
        ("UNSOLD", 8),
        ("SUSPENDED", 9),
        ("SOLD_BUY_NOW", 10),
        ("PASSED", 17),
    ];
    let auctions = [("DRAFT", 2), ("PREVIEW", 3), ("LIVE", 4), ("RECONCILIATION", 5), ("ARCHIVED", 6)];
    assert_eq!(codes(&fixture.get("/reference-data/item-statuses").await.json()), named(&items));
    assert_eq!(codes(&fixture.get("/reference-data/auction-statuses").await.json()), named(&auctions));
    let types = json!({ "data": [
        { "name": "ITEM_STATUS_CHANGE", "title": "Item status changed",
          "description": "Event triggered when an item status changes" },
        { "name": "AUCTION_STATUS_CHANGE", "title": "Auction status changed",
          "description": "Event triggered when an auction status changes" },
    ] });
    fixture.get("/reference-data/event-types").await.expect(200, &types);
}
