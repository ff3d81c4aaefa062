//! No count, number or list of legal statuses reveals absentee bids.

use http::Method;
use platform_core::Scope;
use serde_json::{Value, json};

use crate::bidding::{RequestHeaders, Sale};
use crate::fixture::Answer;

async fn clerk(sale: &Sale, command: &str, body: Value) -> Answer {
    let ring = format!("/auctions/{}/ring", sale.auction);
    let ring_now = sale.send(&Method::GET, &ring, &RequestHeaders::default(), &Value::Null).await;
    let bearer = format!("Bearer {}", sale.key);
    let tag = ring_now.header("etag").unwrap().to_owned();
    let headers = [("authorization", &*bearer), ("content-type", "application/json"), ("if-match", &*tag)];
    let done = sale.fixture.send(&Method::POST, &format!("/api/v1{ring}/{command}"), &headers, &body.to_string()).await;
    assert_eq!(done.status, 200, "{command}: {}", done.text);
    done
}

/// The item's response without version and server time.
async fn public_item(sale: &Sale, place: usize) -> Value {
    let mut item = sale.item(place).await;
    ["uuid", "version", "serverTime", "lotNumber", "position"].iter().for_each(|field| item[field] = Value::Null);
    item
}

#[tokio::test]
async fn an_item_with_absentee_bids_looks_like_one_without() {
    let sale = Sale::new("webcast", json!({}), &[json!({}), json!({})]).await;
    let path = format!("/auctions/{}", sale.auction);
    let before = sale.get(&path).await;
    assert_eq!(before["itemCounts"]["withBids"], Value::Null);
    for bidder in ["a", "b", "c"] {
        let placed = sale
            .post(&sale.path(0, "absentee-bids"), json!({ "bidder": bidder, "maximum": 7_777, "unusualAmount": true }))
            .await;
        assert_eq!((placed.status, &placed.json()["bid"]["number"]), (201, &Value::Null), "{}", placed.text);
        assert_eq!(placed.json()["item"]["bidCount"], 0);
    }
    assert_eq!(public_item(&sale, 0).await, public_item(&sale, 1).await);
    let after = sale.get(&path).await;
    assert_eq!(
        (&after["itemCounts"], &after["legalNextStatuses"]),
        (&before["itemCounts"], &before["legalNextStatuses"])
    );
    // The rules count the absentee bids nevertheless.
    let version = sale.item(0).await["version"].as_i64();
    let step = RequestHeaders { version, key: None };
    let draft = json!({ "status": "DRAFT" });
    let refused = sale.send(&Method::POST, &sale.path(0, "status"), &step, &draft).await;
    assert_eq!(refused.code(), "item_has_bids");
    let record = async |scopes: &[Scope]| {
        let key = sale.fixture.key(None, scopes.iter().copied().collect()).await;
        sale.fixture.call(&Method::GET, &format!("/api/v1{}", sale.path(0, "record")), &key, &Value::Null).await
    };
    let closed = record(&[Scope::AuctionsRead]).await;
    assert_eq!((closed.status, closed.code().as_str()), (409, "record_not_open"));
    assert_eq!(record(&[Scope::AuctionsRead, Scope::RingWrite]).await.status, 200);

    clerk(&sale, "send", json!({ "item": sale.items[0] })).await;
    for (paddle, number) in [("1", 1), ("2", 2), ("3", 3)] {
        let done = clerk(&sale, "bid", json!({ "source": "room", "bidder": paddle })).await.json();
        assert_eq!((&done["item"]["bidCount"], &done["offer"]["standing"]["number"]), (&json!(number), &json!(number)));
    }
    let desk = clerk(&sale, "fair-warning", json!({})).await.json()["desk"].clone();
    let numbers: Vec<Value> = desk["bids"].as_array().unwrap().iter().map(|bid| bid["number"].clone()).collect();
    assert_eq!(numbers, [json!(3), json!(2), json!(1), Value::Null, Value::Null, Value::Null]);
    let bids = format!("{}?limit=2", sale.path(0, "bids"));
    let first = sale.get(&bids).await;
    let rest = sale.get(&format!("{bids}&after={}", first["next"].as_str().unwrap())).await;
    let shown =
        |page: &Value| page["data"].as_array().unwrap().iter().map(|bid| bid["number"].clone()).collect::<Vec<_>>();
    assert_eq!((shown(&first), shown(&rest), &rest["next"]), (vec![json!(1), json!(2)], vec![json!(3)], &Value::Null));
    clerk(&sale, "sell", json!({ "overWaitingBid": true })).await;
    assert_eq!(record(&[Scope::AuctionsRead]).await.status, 200);
}

#[tokio::test]
async fn absentee_bids_are_changed_and_withdrawn_while_the_item_waits_again() {
    let sale = Sale::new("webcast", json!({}), &[json!({}), json!({})]).await;
    let leave = async |bidder: &str, maximum: i64| {
        sale.post(
            &sale.path(0, "absentee-bids"),
            json!({ "bidder": bidder, "maximum": maximum, "unusualAmount": true }),
        )
        .await
    };
    let withdraw = async |bidder: &str| {
        sale.post(&format!("{}/withdraw", sale.path(0, "absentee-bids")), json!({ "bidder": bidder })).await
    };
    leave("a", 700).await;
    clerk(&sale, "send", json!({})).await;
    for (paddle, amount) in [("1", 100), ("2", 110)] {
        clerk(&sale, "bid", json!({ "source": "room", "bidder": paddle, "amount": amount })).await;
    }
    assert_eq!(leave("b", 900).await.code(), "item_in_ring");
    assert_eq!(withdraw("a").await.code(), "item_in_ring");
    clerk(&sale, "remove", json!({})).await;
    assert_eq!(withdraw("c").await.code(), "no_commission");
    let withdrawn = withdraw("a").await;
    assert_eq!((withdrawn.status, &withdrawn.json()["bidCount"]), (200, &json!(2)), "{}", withdrawn.text);
    assert_eq!(leave("b", 900).await.status, 201);
    assert_eq!(leave("c", 300).await.status, 201);
    let ring = clerk(&sale, "send", json!({ "item": sale.items[0] })).await.json();
    let maxima: Vec<&Value> =
        ring["desk"]["commissions"].as_array().unwrap().iter().map(|left| &left["maximum"]).collect();
    assert_eq!(maxima, [&json!(900), &json!(300)]);
    assert_eq!(ring["desk"]["nextCommission"], json!({ "bidder": "b", "amount": 310 }));
    let unknown = json!({ "bidder": "b", "amount": 310 });
    let ring_path = format!("/auctions/{}/ring", sale.auction);
    let now = sale.send(&Method::GET, &ring_path, &RequestHeaders::default(), &Value::Null).await;
    let bearer = format!("Bearer {}", sale.key);
    let tag = now.header("etag").unwrap().to_owned();
    let headers = [("authorization", &*bearer), ("content-type", "application/json"), ("if-match", &*tag)];
    let path = format!("/api/v1{ring_path}/commission-bid");
    let with_amount = sale.fixture.send(&Method::POST, &path, &headers, &unknown.to_string()).await;
    assert!(with_amount.status == 400 || with_amount.status == 422, "the amount is gone: {}", with_amount.text);
    let bid = clerk(&sale, "commission-bid", json!({})).await.json();
    assert_eq!((&bid["offer"]["standing"]["amount"], &bid["offer"]["standing"]["number"]), (&json!(310), &json!(3)));

    // Public numbers have no gap, and the pages of the list join.
    let bids = sale.path(0, "bids");
    let mut numbers = Vec::new();
    let mut after = String::new();
    loop {
        let page = sale.get(&format!("{bids}?limit=1{after}")).await;
        numbers.extend(page["data"].as_array().unwrap().iter().map(|bid| bid["number"].clone()));
        let Some(next) = page["next"].as_str() else { break };
        after = format!("&after={next}");
    }
    assert_eq!(numbers, [json!(1), json!(2), json!(3)]);
}

#[tokio::test]
async fn a_webcast_does_not_return_to_preview_while_an_item_is_in_the_ring() {
    let sale = Sale::new("webcast", json!({}), &[json!({})]).await;
    let path = format!("/auctions/{}", sale.auction);
    clerk(&sale, "send", json!({})).await;
    let auction = sale.get(&path).await;
    assert!(!auction["legalNextStatuses"].as_array().unwrap().contains(&json!("PREVIEW")));
    let back = async |auction: &Value| {
        let step = RequestHeaders { version: auction["version"].as_i64(), key: None };
        sale.send(&Method::POST, &format!("{path}/status"), &step, &json!({ "status": "PREVIEW" })).await
    };
    let refused = back(&auction).await;
    assert_eq!((refused.status, refused.code().as_str()), (409, "ring_occupied"), "{}", refused.text);
    clerk(&sale, "remove", json!({})).await;
    let taken = back(&sale.get(&path).await).await;
    assert_eq!((taken.status, &taken.json()["status"]), (200, &json!("PREVIEW")), "{}", taken.text);
    let reconciled = clerk_refused(&sale).await;
    assert_eq!(reconciled, "auction_not_live");
}

/// The code with which a command is rejected.
async fn clerk_refused(sale: &Sale) -> String {
    let ring = format!("/auctions/{}/ring", sale.auction);
    let ring_now = sale.send(&Method::GET, &ring, &RequestHeaders::default(), &Value::Null).await;
    let bearer = format!("Bearer {}", sale.key);
    let tag = ring_now.header("etag").unwrap().to_owned();
    let headers = [("authorization", &*bearer), ("content-type", "application/json"), ("if-match", &*tag)];
    sale.fixture.send(&Method::POST, &format!("/api/v1{ring}/begin"), &headers, "{}").await.code()
}
