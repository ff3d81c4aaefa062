//! `legalNextStatuses` is the same in every response, and the platform accepts each listed status.

use std::time::Duration;

use http::Method;
use serde_json::{Value, json};

use crate::bidding::{RequestHeaders, Sale};

/// `legalNextStatuses` of an auction in the GET, the list and the response to an edit.
async fn of_auction(sale: &Sale) -> Value {
    let path = format!("/auctions/{}", sale.auction);
    let shown = sale.get(&path).await;
    let listed = sale.get("/auctions").await["data"][0].clone();
    let narrowed =
        sale.get(&format!("/auctions?status={}", shown["status"].as_str().unwrap())).await["data"][0].clone();
    let step = RequestHeaders { version: shown["version"].as_i64(), ..RequestHeaders::default() };
    let patched = sale.send(&Method::PATCH, &path, &step, &json!({ "title": shown["title"] })).await.json();
    for answer in [listed, narrowed, patched] {
        assert_eq!(answer["legalNextStatuses"], shown["legalNextStatuses"], "{answer}");
    }
    shown
}

async fn lead(sale: &Sale, to: &str) -> Value {
    let version = of_auction(sale).await["version"].as_i64().unwrap();
    let led = sale.step(&format!("/auctions/{}/status", sale.auction), version, json!({ "status": to })).await;
    assert_eq!(led.status, 200, "{to}: {}", led.text);
    assert_eq!(led.json()["legalNextStatuses"], of_auction(sale).await["legalNextStatuses"], "{to}");
    led.json()["legalNextStatuses"].clone()
}

#[tokio::test]
async fn every_response_shows_the_same_legal_next_statuses_of_an_auction() {
    let sale = Sale::timed(json!({}), &[json!({}), json!({})]).await;
    assert_eq!(of_auction(&sale).await["legalNextStatuses"], json!(["PREVIEW"]), "LIVE, with LIVE lots");
    assert_eq!(lead(&sale, "PREVIEW").await, json!(["DRAFT", "LIVE"]));
    assert_eq!(lead(&sale, "LIVE").await, json!(["PREVIEW"]));
    let (ends, version) =
        (format!("/auctions/{}/ends", sale.auction), of_auction(&sale).await["version"].as_i64().unwrap());
    let later = sale.step(&ends, version, json!({ "shiftSeconds": 60, "reason": "Fog" })).await;
    assert_eq!(later.json()["auction"]["legalNextStatuses"], json!(["PREVIEW"]));
    for place in [0, 1] {
        let version = sale.item(place).await["version"].as_i64().unwrap();
        let withdrawn = sale.step(&sale.path(place, "status"), version, json!({ "status": "WITHDRAWN" })).await;
        assert_eq!(withdrawn.status, 200, "{}", withdrawn.text);
    }
    assert_eq!(of_auction(&sale).await["legalNextStatuses"], json!(["PREVIEW", "RECONCILIATION"]));
    assert_eq!(lead(&sale, "RECONCILIATION").await, json!(["ARCHIVED"]));
    let item = sale.item(0).await;
    assert_eq!(item["legalNextStatuses"], json!([]), "an item of a reconciled auction has legal statuses");
    let refused =
        sale.step(&sale.path(0, "status"), item["version"].as_i64().unwrap(), json!({ "status": "DRAFT" })).await;
    assert_eq!((refused.status, refused.code().as_str()), (409, "auction_closed"), "{}", refused.text);
}

#[tokio::test]
async fn a_new_auction_shows_its_legal_next_statuses() {
    let sale = Sale::timed(json!({}), &[json!({})]).await;
    let shown = sale.get(&format!("/auctions/{}", sale.auction)).await;
    let live = json!({
        "auctioneer": shown["auctioneer"], "kind": "timed", "title": "More", "currency": "GBP", "timeZone": "UTC",
        "endsAt": "2099-01-01T10:00:00.000Z", "status": "LIVE",
        "items": [{ "lotNumber": "1", "title": "A lot", "openingBid": 1, "status": "LIVE" }],
    });
    let created = sale.post("/auctions", live).await;
    assert_eq!(created.json()["legalNextStatuses"], json!(["PREVIEW"]), "{}", created.text);
}

#[tokio::test]
async fn an_end_in_the_past_rules_out_going_live() {
    let sale = Sale::timed(json!({}), &[json!({})]).await;
    lead(&sale, "PREVIEW").await;
    assert_eq!(sale.item(0).await["legalNextStatuses"], json!(["PREVIEW", "SUSPENDED", "WITHDRAWN"]));
    // Advance past every end.
    sale.fixture.clock.advance(Duration::from_secs(100 * 366 * 24 * 3600));
    assert_eq!(of_auction(&sale).await["legalNextStatuses"], json!(["DRAFT"]));
    let version = of_auction(&sale).await["version"].as_i64().unwrap();
    let status = format!("/auctions/{}/status", sale.auction);
    let refused = sale.step(&status, version, json!({ "status": "LIVE" })).await;
    assert_eq!((refused.status, refused.code().as_str()), (409, "end_not_in_future"), "{}", refused.text);
}

#[tokio::test]
async fn a_suspended_lot_with_bids_can_not_become_draft() {
    let sale = Sale::timed(json!({}), &[json!({})]).await;
    sale.bid(0, "d", 900).await;
    let status = sale.path(0, "status");
    let lead = async |to: &str| {
        let version = sale.item(0).await["version"].as_i64().unwrap();
        sale.step(&status, version, json!({ "status": to, "reason": "query" })).await
    };
    let suspended = lead("SUSPENDED").await;
    assert_eq!(suspended.json()["legalNextStatuses"], json!(["LIVE", "WITHDRAWN"]), "{}", suspended.text);
    for to in ["DRAFT", "PREVIEW"] {
        assert_eq!(lead(to).await.code(), "item_has_bids", "{to}");
    }
    assert_eq!(lead("LIVE").await.json()["leader"], "d");
}
