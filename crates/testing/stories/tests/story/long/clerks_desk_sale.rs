//! A sale of forty lots by keys, with a web bidder, a commission book and a second desk: each price agrees with the log of the
//! lot's bids and with the results, and the keys of each lot are counted.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use testkit::browser::Browser;

use crate::clerks_desk::{Desk, DeskFixture};

const LOTS: usize = 40;
/// Keys of a plain room lot: send, bid, hammer, and a paddle of three digits with Enter.
const PLAIN_KEYS: usize = 7;

/// A desk whose keys are counted.
struct CountedDesk {
    desk: Desk,
    pressed: usize,
}

impl CountedDesk {
    /// Presses the keys, and waits for the desk's line after the last one.
    async fn press(&mut self, keys: &[&str], said: &str) {
        self.pressed += keys.len();
        let (last, before) = keys.split_last().unwrap();
        for key in before {
            self.desk.presses(key).await;
        }
        self.desk.does(last, said).await;
    }

    /// Waits until the desk accepts a decision on the waiting bid, after the time that a clerk needs to read it.
    async fn reads(&self) {
        let read = "performance.now() - Math.max(webBoxChangedAt, waitingChangedAt) > 260";
        self.desk.page.wait_until(read).await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_sale_of_forty_lots_by_keys_matches_the_log() {
    let sale = DeskFixture::open_with(LOTS, json!({ "registration": "required" }), json!({})).await;
    let path = format!("/api/v1/auctions/{}/registrations", sale.webcast);
    for (paddle, name) in
        [("117", "Ada Bidder"), ("118", "Bea Buyer"), ("W-1", "Web"), ("11", "First"), ("12", "Second")]
    {
        let bidder = json!({ "paddle": paddle, "name": name, "status": "approved" });
        sale.site.platform.post(&path, &bidder).await.unwrap();
    }
    for lot in (1..=LOTS).filter(|lot| lot % 5 == 3) {
        for (bidder, maximum) in [("11", 30_000), ("12", 20_000)] {
            let path = format!("/api/v1/items/{}/absentee-bids", sale.lots[lot - 1]);
            sale.site.platform.post(&path, &json!({ "bidder": bidder, "maximum": maximum })).await.unwrap();
        }
    }
    let browser = Browser::start().await.unwrap();
    let mut first = CountedDesk { desk: sale.desk(&browser).await, pressed: 0 };
    let second = sale.desk(&browser).await;
    let mut keys: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    let mut expected: Vec<Option<(i64, String)>> = Vec::new();
    for lot in 1..=LOTS {
        first.pressed = 0;
        first.press(&["Enter"], &format!("Lot {lot} is in the ring")).await;
        let (kind, result) = match lot % 5 {
            1 => {
                first.press(&["+"], "£100 from the room").await;
                first.press(&["F9"], &format!("Lot {lot} sold at £100 to an open buyer")).await;
                first.press(&["1", "1", "7", "Enter"], "The buyer is paddle 117 (Ada Bidder)").await;
                ("plain room lot", Some((10_000, "117".to_owned())))
            }
            2 => {
                sale.web_bid(lot, "W-1", 12_000).await;
                first.desk.until_slot("web-amount", "£120").await;
                first.reads().await;
                first.press(&["*"], "£120 from paddle W-1").await;
                first.reads().await;
                first.press(&["F9"], &format!("Lot {lot} sold at £120 to paddle W-1")).await;
                ("web bid", Some((12_000, "W-1".to_owned())))
            }
            3 => {
                first.reads().await;
                first.press(&["/"], "£210 from paddle 11").await;
                first.reads().await;
                first.press(&["F9"], &format!("Lot {lot} sold at £210 to paddle 11")).await;
                ("commission book", Some((21_000, "11".to_owned())))
            }
            4 => {
                // A jump, a bid at the second desk, and a paddle that is not registered.
                first.press(&["1", "5", "0", "+"], "£150 from the room").await;
                second.until_slot("bid", "£150").await;
                second.does("+", "£160 from the room").await;
                // A command carries the version that its desk has seen.
                let tag = json!(second.page.text("truth.tag").await.unwrap());
                first.desk.page.wait_until(&format!("truth.tag === {tag}")).await.unwrap();
                first.desk.until_slot("bid", "£160").await;
                first.press(&["F9"], &format!("Lot {lot} sold at £160 to an open buyer")).await;
                let paddle = (200 + lot).to_string();
                let mut digits: Vec<&str> = paddle.split("").filter(|digit| !digit.is_empty()).collect();
                digits.push("Enter");
                first.pressed += digits.len();
                for key in &digits {
                    first.desk.presses(key).await;
                }
                first.desk.page.wait_until("document.getElementById('confirm').open").await.unwrap();
                first.press(&["y"], &format!("The buyer is paddle {paddle}")).await;
                ("jump, second desk, new paddle", Some((16_000, paddle)))
            }
            _ => {
                first.press(&["F2"], &format!("Lot {lot} passed")).await;
                ("passed", None)
            }
        };
        keys.entry(kind).or_default().push(first.pressed);
        expected.push(result);
    }
    assert_eq!(first.desk.slot("end-text").await, "All done: 8 passed, nothing skipped.");
    assert!(keys["plain room lot"].iter().all(|pressed| *pressed == PLAIN_KEYS), "{keys:?}");
    println!("keys of each lot: {keys:?}");

    // The price and the buyer of each lot agree with the last bid of its log that counts, and with the results.
    let mut hammer = 0;
    for (lot, expected) in (1..=LOTS).zip(&expected) {
        let item = sale.item(lot).await;
        let bids = format!("/api/v1/items/{}/bids", sale.lots[lot - 1]);
        let bids = sale.site.platform.get(&bids).await.unwrap().body["data"].as_array().unwrap().clone();
        let counting = bids.iter().filter(|bid| bid["struck"].is_null() && !bid["amount"].is_null());
        let last = counting.max_by_key(|bid| bid["number"].as_i64());
        match expected {
            Some((price, buyer)) => {
                assert_eq!((&item["status"], &item["price"]), (&json!("SOLD"), &json!(price)), "lot {lot}");
                assert_eq!((&item["leader"], &last.unwrap()["amount"]), (&json!(buyer), &json!(price)), "lot {lot}");
                hammer += price;
            }
            None => assert_eq!((&item["status"], last), (&json!("PASSED"), None::<&Value>), "lot {lot}"),
        }
    }
    let results = sale.site.platform.get(&format!("/api/v1/auctions/{}/results", sale.webcast)).await.unwrap().body;
    assert_eq!((&results["totals"]["hammer"], &results["openBuyers"]), (&json!(hammer), &json!(0)), "{results}");
}
