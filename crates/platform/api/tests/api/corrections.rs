//! Corrections of a sale's results: hammer prices, unpaid lots, offers for passed lots.

use http::Method;
use serde_json::{Value, json};

use crate::bidding::Sale;
use crate::fixture::Answer;

/// A webcast with two lots sold to paddle 7 at 100, and a third one passed.
async fn sold() -> Sale {
    let sale = Sale::new("webcast", json!({}), &[json!({}), json!({}), json!({ "reserve": 900 })]).await;
    let bidder = json!({ "paddle": "8", "name": "Dee", "status": "approved" });
    assert_eq!(sale.post(&format!("/auctions/{}/registrations", sale.auction), bidder).await.status, 201);
    for last in ["sell", "sell", "pass"] {
        for (command, body) in
            [("send", json!({})), ("bid", json!({ "source": "room", "bidder": "7" })), (last, json!({}))]
        {
            let answer = clerk(&sale, command, body).await;
            assert_eq!(answer.status, 200, "{command}: {}", answer.text);
        }
    }
    sale
}

async fn clerk(sale: &Sale, command: &str, body: Value) -> Answer {
    let ring = format!("/api/v1/auctions/{}/ring", sale.auction);
    let tag = sale.fixture.call(&Method::GET, &ring, &sale.key, &Value::Null).await;
    let bearer = format!("Bearer {}", sale.key);
    let tag = tag.header("etag").unwrap().to_owned();
    let headers = [("authorization", &*bearer), ("content-type", "application/json"), ("if-match", &*tag)];
    sale.fixture.send(&Method::POST, &format!("{ring}/{command}"), &headers, &body.to_string()).await
}

fn refuses(answer: Answer, status: u16, code: &str) {
    assert_eq!((answer.status, &answer.json()["code"]), (status, &json!(code)), "{}", answer.text);
}

async fn statuses(sale: &Sale, place: usize) -> Vec<Value> {
    let events = sale.get("/events").await;
    let about = |event: &&Value| event["eventId"].as_str().unwrap().starts_with(&sale.items[place]);
    events["data"].as_array().unwrap().iter().filter(about).map(|event| event["payload"]["status"].clone()).collect()
}

#[tokio::test]
async fn a_hammer_price_is_corrected_with_a_reason_and_without_an_event() {
    let sale = sold().await;
    let path = sale.path(0, "hammer-price");
    let right = json!({ "amount": 40, "reason": "misheard" });
    refuses(sale.post(&path, right.clone()).await, 428, "precondition_required");
    refuses(sale.step(&path, 1, right.clone()).await, 412, "precondition_failed");
    let version = sale.item(0).await["version"].as_i64().unwrap();
    let blank = json!({ "amount": 40, "reason": "" });
    refuses(sale.step(&path, version, blank).await, 422, "reason_required");
    let far = sale.step(&path, version, json!({ "amount": 19, "reason": "misheard" })).await;
    assert!(far.text.contains("less than a fifth of the price of 100 minor units"), "{}", far.text);
    refuses(far, 409, "unusual_amount");
    let corrected = sale.step(&path, version, right).await;
    assert_eq!((corrected.status, &corrected.json()["price"]), (200, &json!(40)));
    assert_eq!(corrected.json()["status"], "SOLD");
    assert_eq!(statuses(&sale, 0).await, ["SOLD"]);
    let results = sale.get(&format!("/auctions/{}/results", sale.auction)).await;
    assert_eq!(results["totals"]["hammer"], 140);
    let record = sale.get(&sale.path(0, "record")).await.to_string();
    assert!(record.contains("hammer_price_corrected") && record.contains("misheard"), "{record}");
    let version = sale.item(0).await["version"].as_i64().unwrap();
    let confirmed = json!({ "amount": 900, "reason": "a zero was missing", "unusualAmount": true });
    let confirmed = sale.step(&path, version, confirmed).await;
    assert_eq!((confirmed.status, &confirmed.json()["price"]), (200, &json!(900)));
    let passed = sale.item(2).await["version"].as_i64().unwrap();
    let refused = sale.step(&sale.path(2, "hammer-price"), passed, json!({ "amount": 1, "reason": "x" })).await;
    refuses(refused, 409, "item_not_sold");
}

#[tokio::test]
async fn unpaid_lots_become_unsold_together_and_each_is_announced() {
    let sale = sold().await;
    let path = format!("/auctions/{}/unpaid", sale.auction);
    let of = |items: &[&str]| json!({ "buyer": "7", "items": items, "reason": "the card was refused" });
    let with_passed = sale.post(&path, of(&[&sale.items[0], &sale.items[2]])).await;
    refuses(with_passed, 409, "not_sold_to_buyer");
    assert_eq!(sale.item(0).await["status"], "SOLD", "a refused call changed a lot");
    let other = json!({ "buyer": "8", "reason": "gone" });
    refuses(sale.post(&path, other).await, 409, "nothing_sold_to_buyer");
    let recorded = sale.post(&path, json!({ "buyer": "7", "reason": "the card was refused" })).await;
    assert_eq!(recorded.status, 200, "{}", recorded.text);
    assert_eq!(recorded.json()["items"].as_array().unwrap().len(), 2);
    for place in 0..2 {
        assert_eq!(statuses(&sale, place).await, ["SOLD", "UNSOLD"]);
    }
}

#[tokio::test]
async fn a_passed_lot_is_sold_to_an_offer_during_the_sale() {
    let sale = sold().await;
    let passed = sale.item(2).await;
    assert!(passed["legalNextStatuses"].as_array().unwrap().contains(&json!("SOLD")), "{passed}");
    let offer = json!({ "buyer": "8", "amount": 80, "reason": "agreed at the desk" });
    let version = passed["version"].as_i64().unwrap();
    let plain = json!({ "status": "SOLD", "reason": "x" });
    refuses(sale.step(&sale.path(2, "status"), version, plain).await, 409, "offer_required");
    let far = json!({ "buyer": "8", "amount": 80_000, "reason": "agreed at the desk" });
    refuses(sale.step(&sale.path(2, "offer"), version, far).await, 409, "unusual_amount");
    let sold = sale.step(&sale.path(2, "offer"), version, offer).await;
    assert_eq!((sold.status, &sold.json()["price"], &sold.json()["leader"]), (200, &json!(80), &json!("8")));
    assert_eq!(statuses(&sale, 2).await, ["PASSED", "SOLD"]);
}
