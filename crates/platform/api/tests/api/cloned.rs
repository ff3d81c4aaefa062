//! A sale is held again, so many seconds or days later.

use serde_json::{Value, json};

use crate::bidding::Sale;

/// A sale that closes at eight in the evening in London, the day before the clocks are put forward.
async fn weekly() -> Sale {
    let dates = json!({ "startsAt": "2027-03-20T10:00:00.000Z", "endsAt": "2027-03-27T20:00:00.000Z",
        "stagger": { "seconds": 60, "items": 1 } });
    let own = json!({ "endTime": "2027-03-27T21:30:00.000Z" });
    Sale::timed(dates, &[json!({}), json!({}), own]).await
}

async fn times(sale: &Sale, body: Value) -> Vec<String> {
    let copy = sale.post(&format!("/auctions/{}/clone", sale.auction), body).await;
    assert_eq!(copy.status, 201, "{}", copy.text);
    let copy = copy.json();
    let items = sale.get(&format!("/auctions/{}/items", copy["uuid"].as_str().unwrap())).await;
    let ends = items["data"].as_array().unwrap().iter().map(|item| &item["endTime"]);
    let text = |at: &Value| at.as_str().unwrap().to_owned();
    [&copy["startsAt"], &copy["endsAt"]].into_iter().chain(ends).map(text).collect()
}

#[tokio::test]
async fn a_week_later_is_the_same_hour_on_the_wall() {
    let sale = weekly().await;
    let later = times(&sale, json!({ "shiftDays": 7, "withItems": true })).await;
    assert_eq!(
        later,
        [
            "2027-03-27T10:00:00.000Z",
            "2027-04-03T19:00:00.000Z",
            "2027-04-03T19:00:00.000Z",
            "2027-04-03T19:01:00.000Z",
            "2027-04-03T20:30:00.000Z",
        ]
    );
    let seconds = times(&sale, json!({ "shiftSeconds": 604_800 })).await;
    assert_eq!(seconds, ["2027-03-27T10:00:00.000Z", "2027-04-03T20:00:00.000Z"]);
    assert_eq!(times(&sale, json!({})).await, ["2027-03-20T10:00:00.000Z", "2027-03-27T20:00:00.000Z"]);
}

#[tokio::test]
async fn seconds_or_days_but_not_both_and_not_further_than_ten_years() {
    let sale = weekly().await;
    let path = format!("/auctions/{}/clone", sale.auction);
    for (body, pointer) in [
        (json!({ "shiftDays": 7, "shiftSeconds": 0 }), ""),
        (json!({ "shiftDays": 3_661 }), "/shiftDays"),
        (json!({ "shiftDays": -3_661 }), "/shiftDays"),
        (json!({ "shiftSeconds": 316_224_001 }), "/shiftSeconds"),
        (json!({ "shiftDays": 1.5 }), "/shiftDays"),
    ] {
        let refused = sale.post(&path, body.clone()).await;
        assert_eq!((refused.status, &refused.json()["errors"][0]["pointer"]), (422, &json!(pointer)), "{body}");
    }
}
