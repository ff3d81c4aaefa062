//! Paddles that look the same are the same.

use serde_json::json;

use crate::bidding::Sale;

#[tokio::test]
async fn what_is_not_seen_makes_no_other_paddle_in_a_bid_or_a_registration() {
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
