//! Paddles that look like another bidder's.

use serde_json::{Value, json};

use crate::support::Running;

/// Paddles that look like `A7`, `Anna` or `7` and differ from them.
const LOOKALIKES: &[&str] = &[
    "\u{410}A7",
    "A\u{43d}na",
    "\u{391}nna",
    "Ann\u{430}",
    "A\u{200b}7",
    "A7\u{200d}",
    "A\u{ad}7",
    "\u{ff17}",
    "\u{2460}",
    "A\u{a0}7",
    "\u{202e}7A",
    "\u{2066}A7",
    " A7",
    "A7 ",
    "A  7",
    "A\t7",
    "A7\n",
    "A7\u{0}",
    "A7\u{fe0f}",
    "\u{feff}A7",
    "",
];

#[tokio::test(flavor = "multi_thread")]
async fn a_paddle_that_looks_like_another_one_is_refused() {
    let running = Running::new(&[]).await;
    let (api, key) = (running.platform(), running.launch.create_staff_key("staff").unwrap());
    let make = async |path: &str, body: Value| api.make("post", path, &key, &body).await.text("uuid");
    let customer = make("/api/v1/customers", json!({ "name": "one" })).await;
    let auctioneer = make("/api/v1/auctioneers", json!({ "customer": customer, "name": "one" })).await;
    let auction = json!({ "auctioneer": auctioneer, "kind": "timed", "title": "A sale", "currency": "GBP", "timeZone": "UTC",
        "status": "LIVE", "endsAt": "2031-01-01T00:00:00.000Z",
        "items": [{ "lotNumber": "1", "title": "A lot", "openingBid": 100 }] });
    let auction = make("/api/v1/auctions", auction).await;
    let items = api.make("get", &format!("/api/v1/auctions/{auction}/items"), &key, &Value::Null).await.body;
    let bids = format!("/api/v1/items/{}/bids", items["data"][0]["uuid"].as_str().unwrap());
    let registrations = format!("/api/v1/auctions/{auction}/registrations");
    for paddle in LOOKALIKES {
        let bid = api.plain("post", &bids, &key, &json!({ "bidder": paddle, "amount": 100 })).await;
        assert_eq!(bid.status, 422, "a bid of {paddle:?}: {bid:?}");
        let body = json!({ "name": "A bidder", "paddle": paddle });
        let registration = api.plain("post", &registrations, &key, &body).await;
        assert_eq!(registration.status, 422, "a registration of {paddle:?}: {registration:?}");
    }
    for paddle in ["A7", "\u{410}\u{43d}\u{43d}\u{430}", "\u{391}\u{3bd}\u{3bd}\u{3b1}", "\u{5c71}\u{7530}"] {
        api.make("post", &registrations, &key, &json!({ "name": "A bidder", "paddle": paddle })).await;
    }
    println!("paddles: {} lookalikes refused", LOOKALIKES.len());
}
