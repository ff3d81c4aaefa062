//! Entering lots: as DRAFT in a LIVE auction, with missing fields, in bulk edits, and relisted in another kind
//! of auction.

use std::time::Duration;

use kit_runtime::clock::Clock as _;
use platform_core::sales::item_ends::ItemEndWorker;
use serde_json::{Value, json};

use crate::bidding::Sale;

#[tokio::test]
async fn a_lot_can_stay_draft_in_a_live_auction() {
    let lots = [json!({}), json!({ "status": "DRAFT" }), json!({ "status": "LIVE" })];
    let sale = Sale::timed(json!({}), &lots).await;
    let mut statuses = Vec::new();
    for place in 0..3 {
        statuses.push(sale.item(place).await["status"].clone());
    }
    assert_eq!(statuses, ["LIVE", "DRAFT", "LIVE"]);
    assert_eq!(sale.bid(1, "7", 100).await.code(), "item_not_live");
    let auction = sale.get(&format!("/auctions/{}", sale.auction)).await;
    // An auction without a LIVE item does not go LIVE.
    let mut again = json!({ "status": "LIVE", "items": [{ "lotNumber": "1", "title": "A", "status": "DRAFT" }] });
    for field in ["auctioneer", "kind", "title", "currency", "timeZone", "endsAt"] {
        again[field] = auction[field].clone();
    }
    assert_eq!(sale.post("/auctions", again).await.code(), "no_live_item");
}

#[tokio::test]
async fn all_missing_fields_are_named_at_once() {
    let sale = Sale::timed(json!({}), &[json!({})]).await;
    let items = format!("/auctions/{}/items", sale.auction);
    for (path, body, pointers) in [
        ("/auctioneers", json!({}), json!(["/name"])),
        (&items, json!({ "lotNumber": "9" }), json!(["/title"])),
        (&items, json!({}), json!(["/lotNumber", "/title"])),
        ("/auctions", json!({ "kind": "timed" }), json!(["/auctioneer", "/currency", "/timeZone"])),
    ] {
        let refused = sale.post(path, body).await;
        let errors = refused.json()["errors"].as_array().unwrap().clone();
        let named: Value = errors.iter().map(|error| error["pointer"].clone()).collect();
        assert_eq!((refused.status, named), (422, pointers), "{}", refused.text);
        for error in errors {
            let name = error["pointer"].as_str().unwrap().trim_start_matches('/');
            assert_eq!(error["detail"], format!("{name} is missing"));
        }
    }
}

#[tokio::test]
async fn a_lot_relisted_from_a_timed_auction_to_a_webcast_loses_its_buy_now_price() {
    let sale = Sale::timed(json!({ "extensionSeconds": 0 }), &[json!({ "buyNow": 900, "highEstimate": 800 })]).await;
    assert_eq!(sale.item(0).await["ring"], Value::Null, "an item of a timed sale has a ring state");
    sale.fixture.clock.advance(Duration::from_secs(100 * 366 * 86_400));
    ItemEndWorker::new(sale.fixture.platform.clone()).run_once(sale.fixture.clock.now()).await.unwrap();
    assert_eq!(sale.item(0).await["status"], "UNSOLD");
    let mut webcast =
        json!({ "kind": "webcast", "title": "Second chance", "currency": "GBP", "timeZone": "Europe/London" });
    webcast["auctioneer"] = sale.get(&format!("/auctions/{}", sale.auction)).await["auctioneer"].clone();
    let webcast = sale.post("/auctions", webcast).await.json()["uuid"].clone();
    let listed = sale.post(&format!("/auctions/{}/relist", sale.auction), json!({ "into": webcast })).await;
    assert_eq!(listed.status, 201, "{}", listed.text);
    let lot = listed.json()["items"][0].clone();
    assert_eq!((&lot["buyNow"], &lot["highEstimate"], &lot["ring"]), (&Value::Null, &json!(800), &json!("waiting")));
    let changes = format!("/auctions/{}/items/changes", webcast.as_str().unwrap());
    let priced = json!({ "items": [{ "item": lot["uuid"], "patch": { "buyNow": 500 } }] });
    let refused = sale.post(&changes, priced).await.json()["results"][0].clone();
    let place = &refused["errors"][0]["pointer"];
    assert_eq!((&refused["code"], place), (&json!("invalid"), &json!("/items/0/patch/buyNow")), "{refused}");
}

#[tokio::test]
async fn an_unreadable_entry_is_reported_and_does_not_affect_the_others() {
    let sale = Sale::timed(json!({}), &[json!({}), json!({}), json!({})]).await;
    let of = |place: usize| json!(sale.items[place]);
    let path = format!("/auctions/{}/items/changes", sale.auction);
    let video = json!({ "@class": "com.vendor.scaffold.models.auctionapi.UrlAttachmentApiModel", "url": "no address" });
    let mistakes = [
        (json!({ "item": of(0), "patch": { "endTime": "soon" } }), "/patch/endTime"),
        (json!({ "item": of(0), "patch": { "titel": "B" } }), "/patch/titel"),
        (json!({ "item": of(0), "patch": { "attachments": [video] } }), "/patch/attachments/0"),
        (json!({ "item": of(0), "status": "GONE" }), "/status"),
        (json!({ "item": of(0), "staus": "LIVE" }), "/staus"),
        (json!({ "item": of(0), "patch": { "openingBid": -1 } }), "/patch/openingBid"),
        (json!({ "item": "7" }), "/item"),
        (json!({ "patch": {} }), "/item"),
        (json!([of(0)]), ""),
        (json!(7), ""),
    ];
    for (mistake, pointer) in mistakes {
        let title = format!("B{pointer}");
        let right = json!({ "item": of(1), "patch": { "title": title } });
        let answer = sale.post(&path, json!({ "items": [mistake, right] })).await;
        assert_eq!(answer.status, 200, "{mistake}: {}", answer.text);
        let (done, wrong) = (answer.json(), answer.json()["results"][0].clone());
        assert_eq!(wrong["code"], "invalid", "{}", answer.text);
        let pointed_at = wrong["errors"][0]["pointer"].as_str().unwrap().to_owned();
        assert!(pointed_at.starts_with(&format!("/items/0{pointer}")), "{mistake}: {pointed_at}");
        assert_eq!(wrong["item"], if mistake["item"] == of(0) { of(0) } else { Value::Null });
        assert_eq!(done["results"][1]["state"]["title"], *title);
    }
    // The first of two entries for one item counts; an entry without an effect is `unchanged`.
    let twice = json!({ "items": [
        { "item": of(2), "patch": { "title": "C" } },
        { "item": of(2), "patch": { "title": "D" } },
        { "item": of(1) },
    ] });
    let answer = sale.post(&path, twice).await.json();
    let count = |what: &str| answer[what].as_u64().unwrap();
    assert_eq!((count("done"), count("unchanged"), count("refused")), (1, 1, 1), "{answer}");
    assert_eq!(answer["results"][1]["errors"][0]["pointer"], "/items/1/item");
    let changed: Vec<_> = answer["results"].as_array().unwrap().iter().map(|one| one["changed"].clone()).collect();
    assert_eq!(changed, [true, false, false]);
    assert_eq!((&sale.item(2).await["title"], &answer["results"][2]["code"]), (&json!("C"), &Value::Null));
}
