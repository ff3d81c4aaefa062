//! Auctions with an address and a currency.

use serde_json::{Value, json};

use crate::fixture::Fixture;

async fn auctioneer(fixture: &Fixture) -> Value {
    fixture.post("/auctioneers", json!({ "name": "Salter" })).await.json()["uuid"].clone()
}

fn sale(auctioneer: &Value, currency: Value, extra: &Value) -> Value {
    let mut sale = json!({ "auctioneer": auctioneer, "kind": "webcast", "currency": currency,
        "timeZone": "Europe/London" });
    for (field, value) in extra.as_object().unwrap() {
        sale[field] = value.clone();
    }
    sale
}

#[tokio::test]
async fn an_auction_has_a_new_address_or_an_existing_one() {
    let fixture = Fixture::new().await;
    let auctioneer = auctioneer(&fixture).await;
    let place = json!({ "addressLine1": "Corn Exchange", "addressLine2": "", "postcode": "OX1", "countryCode": "uk" });
    let first = sale(&auctioneer, json!("GBP"), &json!({ "address": place }));
    let created = fixture.post_once("/auctions", "k1", first.clone()).await;
    assert_eq!((created.status, &created.json()["addressId"]), (201, &json!(1)));
    fixture.post_once("/auctions", "k1", first).await.expect(201, &created.json());
    let model = json!({ "@class": "com.vendor.scaffold.models.address.AddressModel", "id": 1,
        "addressLine1": "Corn Exchange", "addressLine2": "", "postcode": "OX1", "countryCode": "uk" });
    fixture.get("/reference/addresses/1").await.expect(200, &model);

    let second = fixture.post("/auctions", sale(&auctioneer, json!("GBP"), &json!({ "addressId": 1 }))).await;
    assert_eq!(second.json()["addressId"], 1);
    let path = format!("/auctions/{}", second.json()["uuid"].as_str().unwrap());
    assert_eq!(fixture.get(&path).await.json()["addressId"], 1);
    let nowhere = fixture.post("/auctions", sale(&auctioneer, json!("GBP"), &json!({}))).await;
    assert_eq!(nowhere.json()["addressId"], json!(null));

    for (extra, pointer) in [
        (json!({ "addressId": 99 }), "/addressId"),
        (json!({ "address": place, "addressId": 1 }), "/addressId"),
        (json!({ "address": { "postcode": "OX1" } }), "/address/addressLine1"),
    ] {
        let refused = fixture.post("/auctions", sale(&auctioneer, json!("GBP"), &extra)).await;
        refused.refused(422, "invalid", pointer);
    }
}

#[tokio::test]
async fn an_auctions_currency_is_given_by_code_or_id() {
    let fixture = Fixture::new().await;
    let auctioneer = auctioneer(&fixture).await;
    let class = "com.vendor.scaffold.models.reference.CurrencyModel";
    for (given, kept) in [
        (json!("GBP"), "GBP"),
        (json!({ "id": 392 }), "JPY"),
        (json!({ "code": "CHF" }), "CHF"),
        (json!({ "@class": class, "id": 978, "code": "EUR", "name": "Euro" }), "EUR"),
    ] {
        let created = fixture.post("/auctions", sale(&auctioneer, given, &json!({}))).await;
        assert_eq!((created.status, &created.json()["currency"]), (201, &json!(kept)));
    }
    for (given, pointer) in [
        (json!("gbp"), "/currency"),
        (json!("ABC"), "/currency"),
        (json!(""), "/currency"),
        // Gold has an ISO 4217 code but is not a currency for bids.
        (json!("XAU"), "/currency"),
        (json!({ "code": "XTS" }), "/currency"),
        (json!(826), "/currency"),
        (json!(null), "/currency"),
        (json!({ "id": 1 }), "/currency/id"),
        (json!({ "id": 826, "code": "EUR" }), "/currency/id"),
        (json!({ "@class": "x", "code": "EUR" }), "/currency/@class"),
        (json!({ "code": "EUR", "rate": 1 }), "/currency/rate"),
    ] {
        let refused = fixture.post("/auctions", sale(&auctioneer, given, &json!({}))).await;
        refused.refused(422, "invalid", pointer);
    }
}
