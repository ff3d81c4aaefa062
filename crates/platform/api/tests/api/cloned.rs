//! Cloning an auction with shifted times.

use serde_json::{Value, json};

use crate::bidding::Sale;

/// An auction that closes at 20:00 in London on the day before daylight saving time begins.
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
async fn a_shift_by_days_keeps_the_local_time_of_day() {
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
async fn a_shift_is_in_seconds_or_days_and_at_most_ten_years() {
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
