//! Images of items: who may read them, and how they are cached.

use axum::body::Bytes;
use http::Method;
use platform_core::images::{ImageUpload, ItemImage};
use platform_core::{Caller, Scopes};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::fixture::Fixture;

/// A PNG image of two pixels.
#[rustfmt::skip]
const PNG: &[u8] = &[0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0x00, 0x00, 0x00, 0x0d, 0x49, 0x48, 0x44, 0x52, 0x00, 0x00, 0x00, 0x02, 0x00, 0x00, 0x00, 0x01, 0x08, 0x02, 0x00, 0x00, 0x00, 0x7b, 0x40, 0xe8, 0xdd, 0x00, 0x00, 0x00, 0x0d, 0x49, 0x44, 0x41, 0x54, 0x78, 0x9c, 0x63, 0xf8, 0xcf, 0xc0, 0x00, 0x44, 0x00, 0x08, 0xfe, 0x01, 0xff, 0xc6, 0x9e, 0x79, 0xf7, 0x00, 0x00, 0x00, 0x00, 0x49, 0x45, 0x4e, 0x44, 0xae, 0x42, 0x60, 0x82];

/// Adds an image to an item.
pub(crate) async fn add(fixture: &Fixture, item: &str) -> ItemImage {
    let upload = ImageUpload {
        uuid: Uuid::from_u128(7),
        file_name: "photos/1.png".to_owned(),
        content: Bytes::from_static(PNG),
    };
    fixture.platform.add_image(&Caller::command_line(), Uuid::parse_str(item).unwrap(), upload).await.unwrap()
}

#[tokio::test]
async fn images_of_drafts_need_a_key_and_others_are_public() {
    let fixture = Fixture::new();
    let customer = fixture.customer("Hartley").await;
    let key = fixture.key(Some(customer), Scopes::all()).await;
    let other = fixture.customer("Other").await;
    let other = fixture.key(Some(other), Scopes::all()).await;
    let auctioneer = json!({ "name": "Hartley & Sons", "customer": customer });
    let auctioneer = fixture.make("/api/v1/auctioneers", &key, auctioneer).await;
    let auction = json!({
        "auctioneer": auctioneer["uuid"], "kind": "timed", "title": "Maps", "currency": "GBP", "timeZone": "UTC",
        "endsAt": "2099-01-01T10:00:00.000Z", "items": [{ "lotNumber": "1", "title": "A map" }],
    });
    let auction = fixture.make("/api/v1/auctions", &key, auction).await;
    let auction = auction["uuid"].as_str().unwrap();
    let items = fixture.call(&Method::GET, &format!("/api/v1/auctions/{auction}/items"), &key, &Value::Null).await;
    let item = items.json()["data"][0]["uuid"].as_str().unwrap().to_owned();
    let added = add(&fixture, &item).await;
    assert_eq!(add(&fixture, &item).await.uuid, added.uuid, "a repeated upload adds no second image");

    let images = fixture.call(&Method::GET, &format!("/api/v1/items/{item}/images"), &key, &Value::Null).await.json();
    assert_eq!(images["data"].as_array().map(Vec::len), Some(1));
    let image = &images["data"][0];
    assert_eq!(
        (&image["fileName"], &image["width"], &image["mediaType"]),
        (&json!("1.png"), &json!(2), &json!("image/jpeg"))
    );
    let small = image["small"].as_str().unwrap();
    let seen = fixture.call(&Method::GET, small, &key, &Value::Null).await;
    assert_eq!(
        (seen.status, seen.header("content-type"), seen.header("cache-control")),
        (200, Some("image/jpeg"), Some("private, no-cache"))
    );
    assert_eq!(seen.header("content-security-policy"), Some("default-src 'none'; sandbox"));
    assert_eq!(fixture.call(&Method::GET, small, &other, &Value::Null).await.status, 404);
    assert_eq!(fixture.send(&Method::GET, small, &[], "").await.status, 404, "a draft without a key");

    let mut version = auction_version(&fixture, auction, &key).await;
    for status in ["PREVIEW", "LIVE"] {
        let bearer = format!("Bearer {key}");
        let tag = format!("\"{version}\"");
        let headers =
            [("authorization", bearer.as_str()), ("content-type", "application/json"), ("if-match", tag.as_str())];
        let path = format!("/api/v1/auctions/{auction}/status");
        let changed = fixture.send(&Method::POST, &path, &headers, &json!({ "status": status }).to_string()).await;
        assert_eq!(changed.status, 200, "{}", changed.text);
        version = auction_version(&fixture, auction, &key).await;
    }
    let shown = fixture.send(&Method::GET, small, &[], "").await;
    assert_eq!((shown.status, shown.header("cache-control")), (200, Some("public, max-age=3600")));
    let again = fixture.send(&Method::GET, small, &[("if-none-match", shown.header("etag").unwrap())], "").await;
    assert_eq!(again.status, 304);
    assert_eq!(fixture.send(&Method::GET, &small.replace("/320", "/640"), &[], "").await.status, 404);
    assert_eq!(fixture.send(&Method::GET, "/api/v1/images/x/320", &[], "").await.status, 404);
}

async fn auction_version(fixture: &Fixture, auction: &str, key: &str) -> i64 {
    let auction = fixture.call(&Method::GET, &format!("/api/v1/auctions/{auction}"), key, &Value::Null).await;
    auction.json()["version"].as_i64().unwrap()
}

#[tokio::test]
async fn a_file_that_is_no_image_is_refused() {
    let fixture = Fixture::new();
    let customer = fixture.customer("Hartley").await;
    let key = fixture.key(Some(customer), Scopes::all()).await;
    let auctioneer = fixture.make("/api/v1/auctioneers", &key, json!({ "name": "Hartley & Sons" })).await;
    let (_, item) = fixture.sale(&key, auctioneer["uuid"].as_str().unwrap()).await;
    let bearer = format!("Bearer {key}");
    let headers = [("authorization", bearer.as_str()), ("content-type", "image/svg+xml")];
    let path = format!("/api/v1/items/{item}/images/00000000-0000-7000-8000-000000000001?fileName=1.svg");
    let refused = fixture.send(&Method::PUT, &path, &headers, "<svg><script>alert(1)</script></svg>").await;
    assert_eq!((refused.status, refused.code().as_str()), (422, "invalid"), "{}", refused.text);
}
