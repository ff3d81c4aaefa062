//! One state has one tag in every response.

use http::Method;
use serde_json::{Value, json};

use crate::bidding::{RequestHeaders, Sale};
use crate::fixture::Answer;

/// The response has the tag of a following GET, and a GET with `If-None-Match` returns 304.
async fn is_known(sale: &Sale, answer: &Answer, path: &str) -> String {
    assert!(answer.status < 300, "{}", answer.text);
    let tag = answer.header("etag").unwrap().to_owned();
    let bearer = format!("Bearer {}", sale.key);
    let headers = [("authorization", bearer.as_str()), ("if-none-match", tag.as_str())];
    let shown = sale.fixture.send(&Method::GET, &format!("/api/v1{path}"), &headers, "").await;
    assert_eq!((shown.status, shown.header("etag")), (304, Some(tag.as_str())), "{}\n{}", answer.text, shown.text);
    tag
}

async fn patch(sale: &Sale, path: &str, body: Value) -> Answer {
    let step = RequestHeaders { version: sale.get(path).await["version"].as_i64(), key: None };
    sale.send(&Method::PATCH, path, &step, &body).await
}

async fn post(sale: &Sale, path: &str, below: &str, body: Value) -> Answer {
    let step = RequestHeaders { version: sale.get(path).await["version"].as_i64(), key: None };
    sale.send(&Method::POST, &format!("{path}/{below}"), &step, &body).await
}

#[tokio::test]
async fn every_response_about_an_auction_has_its_tag() {
    let sale = Sale::timed(json!({}), &[json!({}), json!({})]).await;
    let path = format!("/auctions/{}", sale.auction);
    let first = is_known(&sale, &patch(&sale, &path, json!({ "title": "Maps" })).await, &path).await;
    let same = is_known(&sale, &patch(&sale, &path, json!({ "title": "Maps" })).await, &path).await;
    assert_eq!(first, same, "an edit without an effect changed the tag");
    let ends = json!({ "shiftSeconds": 60, "reason": "Fog" });
    is_known(&sale, &post(&sale, &path, "ends", ends).await, &path).await;
    let ends = json!({ "shiftSeconds": 60, "reason": "Fog", "items": [sale.items[1]] });
    is_known(&sale, &post(&sale, &path, "ends", ends).await, &path).await;
    is_known(&sale, &post(&sale, &path, "status", json!({ "status": "PREVIEW" })).await, &path).await;
    is_known(&sale, &post(&sale, &path, "status", json!({ "status": "LIVE" })).await, &path).await;
    assert_eq!(sale.bid(0, "1", 100).await.status, 201);
    let suspended = json!({ "items": [{ "item": sale.items[0], "status": "SUSPENDED", "reason": "query" }] });
    is_known(&sale, &post(&sale, &path, "items/changes", suspended).await, &path).await;
    let withdrawn = json!({ "items": [
        { "item": sale.items[0], "status": "WITHDRAWN" }, { "item": sale.items[1], "status": "WITHDRAWN" },
    ] });
    is_known(&sale, &post(&sale, &path, "items/changes", withdrawn).await, &path).await;
    let reconciled = post(&sale, &path, "status", json!({ "status": "RECONCILIATION" })).await;
    is_known(&sale, &reconciled, &path).await;
    assert_eq!(reconciled.json(), sale.get(&path).await, "the response differs from a following GET");

    for items in [true, false] {
        let copy = sale.post(&format!("{path}/clone"), json!({ "withItems": items })).await;
        let copied = format!("/auctions/{}", copy.json()["uuid"].as_str().unwrap());
        is_known(&sale, &copy, &copied).await;
    }
    let made = sale.get(&path).await;
    let new = json!({ "auctioneer": made["auctioneer"], "kind": "timed", "title": "More", "currency": "GBP",
        "timeZone": "UTC", "status": "LIVE", "endsAt": "2099-01-01T10:00:00.000Z",
        "items": [{ "lotNumber": "1", "title": "A" }, { "lotNumber": "2", "title": "B", "status": "DRAFT" }] });
    let made = sale.post("/auctions", new).await;
    let path = format!("/auctions/{}", made.json()["uuid"].as_str().unwrap());
    is_known(&sale, &made, &path).await;
    assert_eq!(made.json()["itemCounts"]["live"], 1);
}

#[tokio::test]
async fn reconciling_a_webcast_with_passed_lots_returns_the_final_tag() {
    let sale = Sale::new("webcast", json!({}), &[json!({}), json!({})]).await;
    let (auction, ring) = (format!("/auctions/{}", sale.auction), format!("/auctions/{}/ring", sale.auction));
    let bearer = format!("Bearer {}", sale.key);
    for command in ["send", "pass", "send", "pass"] {
        let current = sale.send(&Method::GET, &ring, &RequestHeaders::default(), &Value::Null).await;
        let headers = [("authorization", bearer.as_str()), ("if-match", current.header("etag").unwrap())];
        let done = sale.fixture.send(&Method::POST, &format!("/api/v1{ring}/{command}"), &headers, "{}").await;
        assert_eq!(done.status, 200, "{}", done.text);
    }
    assert_eq!(sale.get(&auction).await["itemCounts"]["passed"], 2);
    let reconciled = post(&sale, &auction, "status", json!({ "status": "RECONCILIATION" })).await;
    is_known(&sale, &reconciled, &auction).await;
    assert_eq!(reconciled.json()["itemCounts"]["passed"], 0);
    let other = json!({ "auctioneer": sale.get(&auction).await["auctioneer"], "kind": "timed", "currency": "GBP",
        "timeZone": "UTC" });
    let other = sale.post("/auctions", other).await.json()["uuid"].clone();
    let into = format!("/auctions/{}", other.as_str().unwrap());
    is_known(&sale, &sale.post(&format!("{auction}/relist"), json!({ "into": other })).await, &into).await;
}

#[tokio::test]
async fn every_response_about_an_item_has_its_tag() {
    let sale = Sale::timed(json!({}), &[json!({ "buyNow": 5_000 })]).await;
    let path = format!("/items/{}", sale.items[0]);
    let first = is_known(&sale, &patch(&sale, &path, json!({ "title": "A map" })).await, &path).await;
    let same = is_known(&sale, &patch(&sale, &path, json!({ "title": "A map" })).await, &path).await;
    assert_eq!(first, same, "an edit without an effect changed the tag");
    let bid = sale.bid(0, "1", 100).await;
    is_known(&sale, &bid, &path).await;
    let cancel = format!("bids/{}/cancel", bid.json()["bid"]["uuid"].as_str().unwrap());
    is_known(&sale, &post(&sale, &path, &cancel, json!({ "reason": "typo" })).await, &path).await;
    let later = json!({ "endTime": "2099-02-01T10:00:00.000Z", "reason": "Fog" });
    is_known(&sale, &post(&sale, &path, "end", later).await, &path).await;
    let suspended = json!({ "status": "SUSPENDED", "reason": "query" });
    is_known(&sale, &post(&sale, &path, "status", suspended).await, &path).await;
    is_known(&sale, &post(&sale, &path, "status", json!({ "status": "LIVE", "reason": "ok" })).await, &path).await;
    is_known(&sale, &post(&sale, &path, "buy-now", json!({ "bidder": "2" })).await, &path).await;
    let added =
        sale.post(&format!("/auctions/{}/items", sale.auction), json!({ "lotNumber": "9", "title": "B" })).await;
    let path = format!("/items/{}", added.json()["uuid"].as_str().unwrap());
    is_known(&sale, &added, &path).await;
}
