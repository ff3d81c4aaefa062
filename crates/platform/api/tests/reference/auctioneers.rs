//! Auctioneers: creating and changing them.

use serde_json::{Value, json};

use crate::fixture::{Fixture, NOW};

const COUNTRY: &str = "com.vendor.scaffold.models.address.CountryModel";
const CURRENCY: &str = "com.vendor.scaffold.models.reference.CurrencyModel";
const ATTACHMENT: &str = "com.vendor.scaffold.models.auctionapi.UrlAttachmentApiModel";
const ADDRESS: &str = "com.vendor.scaffold.models.address.AddressModel";

fn address() -> Value {
    json!({ "addressLine1": "Unit 4", "addressLine2": "Mill Lane", "city": "Oxford", "postcode": "OX1 1AA",
        "longitude": "-1.257300", "latitude": "51.752022" })
}

async fn address_by_id(fixture: &Fixture, id: &Value) -> Value {
    fixture.get(&format!("/reference/addresses/{id}")).await.json()
}

#[tokio::test]
async fn an_auctioneer_is_created_with_all_fields() {
    let fixture = Fixture::new().await;
    let body = json!({ "name": "Salter & Daughters", "address": address(), "country": { "id": 826 },
        "currency": { "@class": CURRENCY, "code": "GBP", "name": "quid" },
        "logo": { "@class": ATTACHMENT, "url": "https://example.com/logo.svg", "label": "Logo" },
        "attachments": [{ "url": "https://www.youtube.com/watch?v=dQw4w9WgXcQ&t=3" }, { "url": "vimeo.com/76979871" }] });
    let created = fixture.post_once("/auctioneers", "k1", body.clone()).await;
    let uuid = created.json()["uuid"].clone();
    let whole = json!({ "uuid": uuid, "id": 1, "customer": fixture.customer, "name": "Salter & Daughters", "addressId": 1,
        "country": { "@class": COUNTRY, "id": 826, "code": "GB",
            "name": "United Kingdom of Great Britain and Northern Ireland" },
        "currency": { "@class": CURRENCY, "id": 826, "code": "GBP", "name": "Pound sterling" },
        "logo": { "@class": ATTACHMENT, "url": "https://example.com/logo.svg", "label": "Logo" },
        "attachments": [{ "@class": ATTACHMENT, "url": "dQw4w9WgXcQ" }, { "@class": ATTACHMENT, "url": "76979871" }],
        "version": 1, "createdAt": NOW });
    let created = created.expect(201, &whole);
    assert_eq!(created.header("etag"), Some("\"1\""));
    fixture.post_once("/auctioneers", "k1", body).await.expect(201, &whole);
    fixture.get("/reference/addresses/2").await.refused(404, "not_found", "");

    let path = format!("/auctioneers/{}", uuid.as_str().unwrap());
    assert_eq!(fixture.get(&path).await.expect(200, &whole).header("etag"), Some("\"1\""));
    let kept = json!({ "@class": ADDRESS, "id": 1, "addressLine1": "Unit 4", "addressLine2": "Mill Lane", "city": "Oxford",
        "postcode": "OX1 1AA", "longitude": "-1.257300", "latitude": "51.752022", "countryCode": "uk" });
    assert_eq!(address_by_id(&fixture, &json!(1)).await, kept);
    // Another auctioneer may use the same address.
    let second = fixture.post("/auctioneers", json!({ "name": "Branch", "addressId": 1 })).await;
    let least = json!({ "uuid": second.json()["uuid"], "id": 2, "customer": fixture.customer, "name": "Branch",
        "addressId": 1, "country": null, "currency": null, "logo": null, "attachments": [], "version": 1,
        "createdAt": NOW });
    second.expect(201, &least);
}

#[tokio::test]
async fn a_patch_keeps_absent_fields() {
    let fixture = Fixture::new().await;
    let body = json!({ "name": "Salter", "address": address(), "country": { "code": "FR" },
        "logo": { "url": "https://example.com/logo.svg" } });
    let mut whole = fixture.post("/auctioneers", body).await.json();
    let path = format!("/auctioneers/{}", whole["uuid"].as_str().unwrap());

    whole["name"] = "Salter & Sons".into();
    whole["version"] = 2.into();
    let changed = fixture.patch(&path, json!({ "name": "Salter & Sons" })).await;
    assert_eq!(changed.expect(200, &whole).header("etag"), Some("\"2\""));

    // Null clears a field; an address with its id changes in place.
    let mut moved = address();
    moved["id"] = 1.into();
    moved["city"] = "Reading".into();
    let body = json!({ "address": moved, "country": null, "currency": { "code": "CHF" }, "logo": null,
        "attachments": [{ "url": "https://example.com/terms.pdf" }] });
    let changed = fixture.patch_if(&path, "\"2\"", body).await;
    assert_eq!((changed.status, &changed.json()["addressId"], &changed.json()["version"]), (200, &json!(1), &json!(3)));
    assert_eq!((&changed.json()["country"], &changed.json()["logo"]), (&json!(null), &json!(null)));
    assert_eq!(changed.json()["currency"]["id"], 756);
    assert_eq!(address_by_id(&fixture, &json!(1)).await["city"], "Reading");

    // An address without an id is created; the first address stays.
    let changed = fixture.patch(&path, json!({ "address": address() })).await;
    assert_eq!(changed.json()["addressId"], 2);
    assert_eq!(address_by_id(&fixture, &json!(1)).await["city"], "Reading");
    assert_eq!(address_by_id(&fixture, &json!(2)).await["city"], "Oxford");
    assert_eq!(fixture.patch(&path, json!({ "addressId": 1 })).await.json()["addressId"], 1);
    assert_eq!(fixture.patch(&path, json!({ "address": null })).await.json()["addressId"], json!(null));
    let last = fixture.get(&path).await;
    assert_eq!((&last.json()["version"], last.header("etag")), (&json!(6), Some("\"6\"")));
}

#[tokio::test]
async fn a_patch_with_an_old_version_or_another_customers_record_is_rejected() {
    let fixture = Fixture::new().await;
    let created = fixture.post("/auctioneers", json!({ "name": "Salter" })).await.json();
    fixture.post("/auctioneers", json!({ "name": "Jones" })).await;
    let path = format!("/auctioneers/{}", created["uuid"].as_str().unwrap());
    for tag in ["\"2\"", "\"0.1\"", "\"x\""] {
        fixture.patch_if(&path, tag, json!({ "name": "x" })).await.refused(412, "precondition_failed", "");
    }
    fixture.patch(&path, json!({ "name": "Jones" })).await.refused(409, "taken", "");
    fixture.patch(&path, json!({ "name": "" })).await.refused(422, "invalid", "/name");
    fixture.patch(&path, json!({ "name": null })).await.refused(422, "invalid", "/name");
    fixture.patch(&path, json!({ "attachments": null })).await.refused(422, "invalid", "/attachments");
    fixture.patch(&path, json!({ "addressId": 7 })).await.refused(422, "invalid", "/addressId");
    let unknown_id = "/auctioneers/019a0000-0000-7000-8000-000000000000";
    fixture.patch(unknown_id, json!({ "name": "x" })).await.refused(404, "not_found", "");
    fixture.get(&path).await.expect(200, &created);
}

#[tokio::test]
async fn each_error_has_a_pointer() {
    let fixture = Fixture::new().await;
    let with = |field: &str, value: Value| {
        let mut given = address();
        given[field] = value;
        json!({ "address": given })
    };
    for (body, pointer) in [
        (with("@class", json!(COUNTRY)), "/address/@class"),
        (with("town", json!("x")), "/address/town"),
        (with("id", json!(1)), "/address/id"),
        (with("countryCode", json!("GB")), "/address/countryCode"),
        (with("countryCode", json!("xx")), "/address/countryCode"),
        (with("longitude", json!("180.1")), "/address/longitude"),
        (with("latitude", json!("1e1")), "/address/latitude"),
        (with("latitude", json!(51.7)), "/address/latitude"),
        (with("postcode", json!(null)), "/address/postcode"),
        (with("city", json!("x".repeat(201))), "/address/city"),
        (with("county", json!("a\nb")), "/address/county"),
        (json!({ "address": [] }), "/address"),
        (json!({ "address": address(), "addressId": 1 }), "/addressId"),
        (json!({ "addressId": 1 }), "/addressId"),
        (json!({ "addressId": "1" }), "/addressId"),
        (json!({ "country": { "code": "UK" } }), "/country/code"),
        (json!({ "country": { "id": 827 } }), "/country/id"),
        (json!({ "country": { "id": 826, "code": "FR" } }), "/country/id"),
        (json!({ "country": {} }), "/country/code"),
        (json!({ "country": { "@class": CURRENCY, "code": "FR" } }), "/country/@class"),
        (json!({ "currency": { "code": "gbp" } }), "/currency/code"),
        (json!({ "currency": { "code": "GBP", "symbol": "£" } }), "/currency/symbol"),
        (json!({ "logo": { "url": "ftp://example.com" } }), "/logo/url"),
        (json!({ "logo": { "url": "https://example.com", "label": "" } }), "/logo/label"),
        (json!({ "attachments": [{ "url": "https://example.com" }, { "label": "x" }] }), "/attachments/1/url"),
        (json!({ "attachments": vec![json!({ "url": "https://example.com" }); 51] }), "/attachments"),
        (json!({ "tip": 1 }), "/tip"),
    ] {
        let mut body = body;
        body["name"] = "Salter".into();
        fixture.post("/auctioneers", body).await.refused(422, "invalid", pointer);
    }
    let refused = fixture.post("/auctioneers", with("@class", json!(COUNTRY))).await;
    assert_eq!(refused.status, 422);
    // The refused requests stored nothing.
    assert_eq!(fixture.get("/auctioneers").await.json()["data"], json!([]));
    fixture.get("/reference/addresses/1").await.refused(404, "not_found", "");
}
