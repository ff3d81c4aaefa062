//! Paddles that look the same are refused or equal, and a vendor can't buy their own lot.

use http::Method;
use serde_json::json;

use crate::bidding::{RequestHeaders, Sale};

#[tokio::test]
async fn invisible_characters_do_not_make_a_different_paddle() {
    let sale = Sale::timed(json!({}), &[json!({})]).await;
    let registrations = format!("/auctions/{}/registrations", sale.auction);
    let entered =
        sale.post(&registrations, json!({ "paddle": "77", "name": "Ada", "status": "approved" })).await.json();
    let status = format!("{registrations}/{}/status", entered["uuid"].as_str().unwrap());
    let version = entered["version"].as_i64().unwrap();
    assert_eq!(sale.step(&status, version, json!({ "status": "suspended", "reason": "fraud" })).await.status, 200);
    assert_eq!(sale.bid(0, "77", 100).await.code(), "bidder_suspended");
    for paddle in [
        "77\u{200b}",
        "\u{202e}77",
        "7\u{2060}7",
        "77\u{ad}",
        "\u{feff}77",
        "77\u{fe0f}",
        "\u{ff17}\u{ff17}",
        "77\u{a0}",
    ] {
        let refused = sale.bid(0, paddle, 100).await;
        assert_eq!((refused.status, &refused.json()["errors"][0]["pointer"]), (422, &json!("/bidder")), "{paddle:?}");
        let refused = sale.post(&registrations, json!({ "paddle": paddle, "name": "Eve" })).await;
        assert_eq!((refused.status, &refused.json()["errors"][0]["pointer"]), (422, &json!("/paddle")), "{paddle:?}");
    }
    let other = sale.post(&registrations, json!({ "paddle": "Żółć 7", "name": "Eve", "status": "approved" })).await;
    assert_eq!(other.status, 201, "{}", other.text);
    assert_eq!(sale.bid(0, "Żółć 7", 100).await.status, 201);
}

#[tokio::test]
async fn a_paddle_that_has_bid_on_a_lot_can_not_be_its_vendors() {
    let vendor = "019a0000-0000-7000-8000-0000000000aa";
    let sale = Sale::timed(json!({}), &[json!({ "vendor": vendor }), json!({})]).await;
    let bid = sale.bid(0, "vv", 500).await.json();
    let over = sale.bid(0, "w", 900).await;
    assert_eq!(over.json()["item"]["leader"], "w", "the higher bid does not lead");
    assert_eq!(sale.bid(1, "x", 500).await.status, 201);
    let registrations = format!("/auctions/{}/registrations", sale.auction);
    let entry = |paddle: &str| json!({ "paddle": paddle, "name": "V", "party": vendor, "status": "approved" });
    let refused = sale.post(&registrations, entry("vv")).await;
    assert_eq!((refused.status, refused.code().as_str()), (409, "vendor_has_bid"), "{}", refused.text);
    assert!(refused.json()["detail"].as_str().unwrap().contains("lot 0"), "{}", refused.text);

    let without = json!({ "paddle": "vv", "name": "V", "status": "approved" });
    let entered = sale.post(&registrations, without).await.json();
    let path = format!("{registrations}/{}", entered["uuid"].as_str().unwrap());
    let patch = async || {
        let step = RequestHeaders { version: entered["version"].as_i64(), ..RequestHeaders::default() };
        sale.send(&Method::PATCH, &path, &step, &json!({ "party": vendor })).await
    };
    assert_eq!(patch().await.code(), "vendor_has_bid");
    let cancel = format!("{}/{}/cancel", sale.path(0, "bids"), bid["bid"]["uuid"].as_str().unwrap());
    assert_eq!(sale.post(&cancel, json!({ "reason": "It is their own" })).await.status, 200);
    let patched = patch().await;
    assert_eq!(patched.status, 200, "{}", patched.text);
    assert_eq!(sale.bid(0, "vv", 2_000).await.code(), "vendor_barred");
}

#[tokio::test]
async fn a_vendor_who_has_bid_on_other_vendors_lots_can_be_entered() {
    let vendor = "019a0000-0000-7000-8000-0000000000aa";
    let sale = Sale::timed(json!({}), &[json!({ "vendor": vendor }), json!({})]).await;
    assert_eq!(sale.bid(1, "vv", 500).await.status, 201);
    sale.register(json!({ "paddle": "vv", "name": "V", "party": vendor, "status": "approved" })).await;
    assert_eq!(sale.bid(0, "vv", 500).await.code(), "vendor_barred");
}
