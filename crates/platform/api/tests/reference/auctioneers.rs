//! Auctioneers, entered and changed with what they have.

use serde_json::{Value, json};

use crate::stage::{NOW, Stage};

const COUNTRY: &str = "com.vendor.scaffold.models.address.CountryModel";
const CURRENCY: &str = "com.vendor.scaffold.models.reference.CurrencyModel";
const ATTACHMENT: &str = "com.vendor.scaffold.models.auctionapi.UrlAttachmentApiModel";
const ADDRESS: &str = "com.vendor.scaffold.models.address.AddressModel";

fn address() -> Value {
    json!({ "addressLine1": "Unit 4", "addressLine2": "Mill Lane", "city": "Oxford", "postcode": "OX1 1AA",
        "longitude": "-1.257300", "latitude": "51.752022" })
}

async fn address_by_id(stage: &Stage, id: &Value) -> Value {
    stage.get(&format!("/reference/addresses/{id}")).await.body
}

#[tokio::test]
async fn an_auctioneer_is_entered_with_all_that_it_has() {
    let stage = Stage::new().await;
    let body = json!({ "name": "Salter & Daughters", "address": address(), "country": { "id": 826 },
        "currency": { "@class": CURRENCY, "code": "GBP", "name": "quid" },
        "logo": { "@class": ATTACHMENT, "url": "https://example.com/logo.svg", "label": "Logo" },
        "attachments": [{ "url": "https://www.youtube.com/watch?v=dQw4w9WgXcQ&t=3" }, { "url": "vimeo.com/76979871" }] });
    let created = stage.post_once("/auctioneers", "k1", body.clone()).await;
    let uuid = created.body["uuid"].clone();
    let whole = json!({ "uuid": uuid, "id": 1, "customer": stage.customer, "name": "Salter & Daughters", "addressId": 1,
        "country": { "@class": COUNTRY, "id": 826, "code": "GB",
            "name": "United Kingdom of Great Britain and Northern Ireland" },
        "currency": { "@class": CURRENCY, "id": 826, "code": "GBP", "name": "Pound sterling" },
        "logo": { "@class": ATTACHMENT, "url": "https://example.com/logo.svg", "label": "Logo" },
        "attachments": [{ "@class": ATTACHMENT, "url": "dQw4w9WgXcQ" }, { "@class": ATTACHMENT, "url": "76979871" }],
        "version": 1, "createdAt": NOW });
    let created = created.expect(201, &whole);
    assert_eq!(created.header("etag"), "\"1\"");
    stage.post_once("/auctioneers", "k1", body).await.expect(201, &whole);
    stage.get("/reference/addresses/2").await.refused(404, "not_found", "");

    let path = format!("/auctioneers/{}", uuid.as_str().unwrap());
    assert_eq!(stage.get(&path).await.expect(200, &whole).header("etag"), "\"1\"");
    let kept = json!({ "@class": ADDRESS, "id": 1, "addressLine1": "Unit 4", "addressLine2": "Mill Lane", "city": "Oxford",
        "postcode": "OX1 1AA", "longitude": "-1.257300", "latitude": "51.752022", "countryCode": "uk" });
    assert_eq!(address_by_id(&stage, &json!(1)).await, kept);
    // The next one may share the address.
    let second = stage.post("/auctioneers", json!({ "name": "Branch", "addressId": 1 })).await;
    let least = json!({ "uuid": second.body["uuid"], "id": 2, "customer": stage.customer, "name": "Branch",
        "addressId": 1, "country": null, "currency": null, "logo": null, "attachments": [], "version": 1,
        "createdAt": NOW });
    second.expect(201, &least);
}

#[tokio::test]
async fn a_change_leaves_what_it_does_not_name() {
    let stage = Stage::new().await;
    let body = json!({ "name": "Salter", "address": address(), "country": { "code": "FR" },
        "logo": { "url": "https://example.com/logo.svg" } });
    let mut whole = stage.post("/auctioneers", body).await.body;
    let path = format!("/auctioneers/{}", whole["uuid"].as_str().unwrap());

    whole["name"] = "Salter & Sons".into();
    whole["version"] = 2.into();
    let changed = stage.patch(&path, json!({ "name": "Salter & Sons" })).await.expect(200, &whole);
    assert_eq!(changed.header("etag"), "\"2\"");

    // null takes away; the same address says something else under the same id.
    let mut moved = address();
    moved["id"] = 1.into();
    moved["city"] = "Reading".into();
    let body = json!({ "address": moved, "country": null, "currency": { "code": "CHF" }, "logo": null,
        "attachments": [{ "url": "https://example.com/terms.pdf" }] });
    let changed = stage.patch_if(&path, "\"2\"", body).await;
    assert_eq!((changed.status, &changed.body["addressId"], &changed.body["version"]), (200, &json!(1), &json!(3)));
    assert_eq!((&changed.body["country"], &changed.body["logo"]), (&json!(null), &json!(null)));
    assert_eq!(changed.body["currency"]["id"], 756);
    assert_eq!(address_by_id(&stage, &json!(1)).await["city"], "Reading");

    // Without an id it is another address, and the first stays what it was.
    let changed = stage.patch(&path, json!({ "address": address() })).await;
    assert_eq!(changed.body["addressId"], 2);
    assert_eq!(address_by_id(&stage, &json!(1)).await["city"], "Reading");
    assert_eq!(address_by_id(&stage, &json!(2)).await["city"], "Oxford");
    assert_eq!(stage.patch(&path, json!({ "addressId": 1 })).await.body["addressId"], 1);
    assert_eq!(stage.patch(&path, json!({ "address": null })).await.body["addressId"], json!(null));
    let last = stage.get(&path).await;
    assert_eq!((&last.body["version"], last.header("etag")), (&json!(6), "\"6\""));
}

#[tokio::test]
async fn a_change_of_something_else_is_refused() {
    let stage = Stage::new().await;
    let created = stage.post("/auctioneers", json!({ "name": "Salter" })).await.body;
    stage.post("/auctioneers", json!({ "name": "Jones" })).await;
    let path = format!("/auctioneers/{}", created["uuid"].as_str().unwrap());
    for tag in ["\"2\"", "\"0.1\"", "\"x\""] {
        stage.patch_if(&path, tag, json!({ "name": "x" })).await.refused(412, "precondition_failed", "");
    }
    stage.patch(&path, json!({ "name": "Jones" })).await.refused(409, "taken", "");
    stage.patch(&path, json!({ "name": "" })).await.refused(422, "invalid", "/name");
    stage.patch(&path, json!({ "name": null })).await.refused(422, "invalid", "/name");
    stage.patch(&path, json!({ "attachments": null })).await.refused(422, "invalid", "/attachments");
    stage.patch(&path, json!({ "addressId": 7 })).await.refused(422, "invalid", "/addressId");
    let nobody = "/auctioneers/019a0000-0000-7000-8000-000000000000";
    stage.patch(nobody, json!({ "name": "x" })).await.refused(404, "not_found", "");
    stage.get(&path).await.expect(200, &created);
}

#[tokio::test]
async fn what_is_wrong_is_named_at_its_place() {
    let stage = Stage::new().await;
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
        stage.post("/auctioneers", body).await.refused(422, "invalid", pointer);
    }
    let refused = stage.post("/auctioneers", with("@class", json!(COUNTRY))).await;
    assert_eq!(refused.status, 422);
    // Nothing of it was kept.
    assert_eq!(stage.get("/auctioneers").await.body["data"], json!([]));
    stage.get("/reference/addresses/1").await.refused(404, "not_found", "");
}
