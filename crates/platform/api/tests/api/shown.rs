//! Responses after exceptions: rejected, cancelled and lapsed bids, corrected sales, clocks
//! of sandbox auctions.

use http::Method;
use http_body_util::BodyExt as _;
use platform_core::Scope;
use serde_json::{Value, json};
use tower::ServiceExt as _;

use crate::bidding::Sale;

#[tokio::test]
async fn a_bid_under_the_leaders_paddle_does_not_disclose_the_maximum() {
    let sale = Sale::timed(json!({}), &[json!({})]).await;
    sale.bid(0, "a", 6_420_842).await;
    for amount in [1, 110, 6_420_841, 6_420_842] {
        let refused = sale.bid(0, "a", amount).await;
        assert_eq!((refused.status, refused.code().as_str()), (409, "maximum_not_raised"), "{}", refused.text);
        assert!(!refused.text.contains("6420842") && !refused.text.contains("6420843"), "{}", refused.text);
    }
    assert_eq!(sale.bid(0, "a", 6_420_843).await.status, 201);
}

#[tokio::test]
async fn a_bid_that_leads_again_after_a_cancellation_shows_no_more_than_the_price() {
    let sale = Sale::timed(json!({}), &[json!({})]).await;
    sale.bid(0, "a", 300).await;
    let wrong = sale.bid(0, "b", 500).await.json();
    sale.bid(0, "c", 400).await;
    let amounts = async || {
        let bids = sale.get(&sale.path(0, "bids")).await;
        bids["data"].as_array().unwrap().iter().map(|bid| bid["amount"].as_i64().unwrap()).collect::<Vec<_>>()
    };
    assert_eq!(amounts().await, [100, 310, 400], "an outbid bid does not show its whole maximum");
    let cancel = format!("{}/{}/cancel", sale.path(0, "bids"), wrong["bid"]["uuid"].as_str().unwrap());
    let item = sale.post(&cancel, json!({ "reason": "A slip" })).await.json();
    assert_eq!((&item["leader"], &item["price"]), (&json!("c"), &json!(310)));
    assert_eq!(amounts().await, [100, 310, 310]);
    sale.bid(0, "d", 395).await;
    assert_eq!(amounts().await, [100, 310, 400, 395], "the bid of c does not show the price that the bid of d forced");
}

#[tokio::test]
async fn an_earlier_bid_of_a_restored_leader_shows_no_more_than_the_price() {
    let sale = Sale::timed(json!({}), &[json!({})]).await;
    let wrong = sale.bid(0, "c", 368).await.json();
    sale.bid(0, "d", 368).await;
    sale.bid(0, "d", 379).await;
    let cancel = format!("{}/{}/cancel", sale.path(0, "bids"), wrong["bid"]["uuid"].as_str().unwrap());
    let item = sale.post(&cancel, json!({ "reason": "A slip" })).await.json();
    assert_eq!((&item["leader"], &item["price"]), (&json!("d"), &json!(100)));
    let bids = sale.get(&sale.path(0, "bids")).await;
    let of_leader = bids["data"].as_array().unwrap().iter().filter(|bid| bid["bidder"] == "d");
    assert_eq!(of_leader.map(|bid| &bid["amount"]).collect::<Vec<_>>(), [&json!(100), &json!(100)], "{bids}");
}

#[tokio::test]
async fn a_price_at_the_maximum_has_no_minimum_bid() {
    let highest = 1_000_000_000_000_000_i64;
    let sale = Sale::timed(json!({}), &[json!({ "openingBid": highest })]).await;
    assert_eq!(sale.item(0).await["minimumBid"], highest);
    assert_eq!(sale.bid(0, "a", highest).await.status, 201);
    assert_eq!(sale.item(0).await["minimumBid"], Value::Null);
}

#[tokio::test]
async fn bids_from_before_a_withdrawal_are_listed_as_lapsed() {
    let sale = Sale::timed(json!({}), &[json!({})]).await;
    sale.bid(0, "a", 300).await;
    let status = sale.path(0, "status");
    for to in ["WITHDRAWN", "DRAFT", "PREVIEW", "LIVE"] {
        let version = sale.item(0).await["version"].as_i64().unwrap();
        assert_eq!(sale.step(&status, version, json!({ "status": to })).await.status, 200);
    }
    sale.bid(0, "b", 100).await;
    let bids = sale.get(&sale.path(0, "bids")).await;
    let struck: Vec<&Value> = bids["data"].as_array().unwrap().iter().map(|bid| &bid["struck"]).collect();
    assert_eq!(struck, [&json!("lapsed"), &Value::Null]);
}

#[tokio::test]
async fn a_field_that_a_rule_rejects_is_named_by_its_pointer() {
    let sale = Sale::timed(json!({}), &[json!({})]).await;
    for bidder in ["", " 1", "1 ", "1\u{a0}", "a\u{7}b"] {
        let refused = sale.bid(0, bidder, 100).await;
        assert_eq!((refused.status, refused.code().as_str()), (422, "field_invalid"), "{bidder:?}: {}", refused.text);
        assert_eq!(refused.json()["errors"][0]["pointer"], "/bidder");
    }
    let body = json!({ "status": "SUSPENDED", "reason": "x".repeat(501) });
    let refused = sale.step(&sale.path(0, "status"), 1, body).await;
    assert_eq!((refused.status, &refused.json()["errors"][0]["pointer"]), (422, &json!("/reason")));
}

#[tokio::test]
async fn soft_close_is_off_with_null_and_600_seconds_by_default() {
    for (given, kept) in [
        (json!({}), json!(600)),
        (json!({ "extensionSeconds": null }), Value::Null),
        (json!({ "extensionSeconds": 0 }), Value::Null),
        (json!({ "extensionSeconds": 30 }), json!(30)),
    ] {
        let sale = Sale::timed(given.clone(), &[json!({})]).await;
        let auction = sale.get(&format!("/auctions/{}", sale.auction)).await;
        assert_eq!(auction["extensionSeconds"], kept, "{given}");
    }
}

#[tokio::test]
async fn a_clerk_reads_the_item_that_a_correction_reopens() {
    let sale = Sale::new("webcast", json!({}), &[json!({})]).await;
    let mut tag = "1.0".to_owned();
    for (command, body) in
        [("send", json!({})), ("bid", json!({ "source": "room", "bidder": "1" })), ("sell", json!({}))]
    {
        let answer = ring(&sale, &Method::POST, &format!("/{command}"), &tag, &body).await;
        assert_eq!(answer.status, 200, "{command}: {}", answer.text);
        tag = answer.header("etag").unwrap().trim_matches('"').to_owned();
    }
    let clerk = sale.fixture.key(None, [Scope::RingWrite].into_iter().collect()).await;
    let clerk = Sale { key: clerk, ..sale };
    let version = clerk.item(0).await["version"].as_i64().unwrap();
    let back = clerk.step(&clerk.path(0, "status"), version, json!({ "status": "LIVE", "reason": "Wrong lot" })).await;
    assert_eq!((back.status, &back.json()["status"]), (200, &json!("LIVE")), "{}", back.text);
}

#[tokio::test]
async fn a_removed_item_can_not_be_reopened() {
    let sale = Sale::new("webcast", json!({}), &[json!({}), json!({})]).await;
    let mut tag = "1.0".to_owned();
    for (command, last) in [("send", None), ("pass", Some("0")), ("send", None), ("remove", None)] {
        let answer = ring(&sale, &Method::POST, &format!("/{command}"), &tag, &json!({})).await;
        tag = answer.header("etag").unwrap().trim_matches('"').to_owned();
        let desk = answer.json()["desk"].clone();
        assert_eq!(desk["last"]["lotNumber"].as_str(), last, "{command}");
        let may_reopen = desk["commands"].as_array().unwrap().contains(&json!("reopen"));
        assert_eq!(may_reopen, last.is_some(), "{command}");
    }
}

#[tokio::test]
async fn ring_and_stream_of_a_sandbox_show_its_clock_and_nothing_of_the_desk() {
    let sale = Sale::new("webcast", json!({ "sandbox": true }), &[json!({})]).await;
    let advance = format!("/auctions/{}/clock/advance", sale.auction);
    let clock = sale.post(&advance, json!({ "seconds": 3_000 })).await.json();
    let version = clock["version"].as_i64().unwrap();
    let sent = ring(&sale, &Method::POST, "/send", &format!("{version}.0"), &json!({})).await;
    assert_eq!(sent.status, 200, "{}", sent.text);
    assert_eq!((&sent.json()["serverTime"], &sent.json()["item"]["serverTime"]), (&clock["now"], &clock["now"]));

    for path in [format!("items/{}", sale.items[0]), format!("auctions/{}", sale.auction)] {
        let request = http::Request::builder()
            .uri(format!("/api/v1/{path}/live"))
            .header("authorization", format!("Bearer {}", sale.key))
            .body(axum::body::Body::empty())
            .unwrap();
        let mut stream = sale.fixture.surface.clone().oneshot(request).await.unwrap().into_body();
        let snapshot: Value = loop {
            let frame = stream.frame().await.unwrap().unwrap().into_data().unwrap();
            let text = String::from_utf8(frame.to_vec()).unwrap();
            if let Some(data) = text.lines().find_map(|line| line.strip_prefix("data: ")) {
                break serde_json::from_str(data).unwrap();
            }
        };
        assert_eq!(snapshot["serverTime"], clock["now"], "{path}");
        let item = snapshot.get("item").unwrap_or(&snapshot["items"][0]);
        let ring = json!({ "askingPrice": 100, "askingPriceTotal": 100, "paused": false, "warnings": 0 });
        assert_eq!(item["ring"], ring);
    }
}

#[tokio::test]
async fn a_status_that_items_forbid_is_not_a_legal_next_status() {
    let sale = Sale::timed(json!({}), &[json!({ "buyNow": 500 })]).await;
    let legal = async || sale.get(&format!("/auctions/{}", sale.auction)).await["legalNextStatuses"].clone();
    assert_eq!(legal().await, json!(["PREVIEW"]), "with a LIVE item and no bids, only PREVIEW is legal");
    sale.bid(0, "1", 100).await;
    assert_eq!(legal().await, json!([]));
    sale.post(&sale.path(0, "buy-now"), json!({ "bidder": "1" })).await;
    assert_eq!(legal().await, json!(["RECONCILIATION"]));
}

async fn ring(sale: &Sale, method: &Method, below: &str, tag: &str, body: &Value) -> crate::fixture::Answer {
    let (bearer, tag) = (format!("Bearer {}", sale.key), format!("\"{tag}\""));
    let headers = [("authorization", &*bearer), ("content-type", "application/json"), ("if-match", &*tag)];
    let path = format!("/api/v1/auctions/{}/ring{below}", sale.auction);
    sale.fixture.send(method, &path, &headers, &body.to_string()).await
}
