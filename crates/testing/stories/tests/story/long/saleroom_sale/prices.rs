//! What the screens show of a lot is held against the log of its bids.

use serde_json::{Value, json};

use super::cast::Bidder;
use super::{Auction, Sale};

/// Bids that the page of a lot lists.
const BIDS_SHOWN: usize = 20;
/// The bids on the page with number, amount in whole pounds, and whether they were withdrawn, and then the price.
const SHOWN: &str = r#"(() => {
    const digits = (element) => element.textContent.replace(/\D/g, "");
    const bids = [...document.querySelectorAll(".bid-feed li")].map((row) => `${row.dataset.bid} ${digits(row.querySelector("b, s"))}${row.querySelector("s") ? " withdrawn" : ""}`);
    const price = document.querySelector('[data-live="price"]');
    return [...bids, price && !price.closest("[hidden]") ? digits(price) : "none"].join(", ");
})()"#;

impl Sale {
    /// The log of a lot, the latest bid first, and the lot.
    async fn log(&self, lot: &str) -> (Vec<Value>, Value) {
        let platform = &self.house.site.platform;
        let bids = platform.get(&format!("/api/v1/items/{lot}/bids")).await.unwrap().body;
        let mut bids = bids["data"].as_array().unwrap().clone();
        bids.retain(|bid| !bid["amount"].is_null());
        bids.sort_by_key(|bid| std::cmp::Reverse(bid["number"].as_i64()));
        (bids, platform.get(&format!("/api/v1/items/{lot}")).await.unwrap().body)
    }

    /// Each of the bidders opens the lot, or has it open, and sees the bids and the price of the log.
    pub async fn assert_prices(&self, bidders: &[&Bidder], auction: &Auction, number: usize) {
        let (log, item) = self.log(&auction.lots[number - 1]).await;
        let mut expected: Vec<String> = log.iter().take(BIDS_SHOWN).map(row).collect();
        // The highest bid that counts is the price of a webcast's lot. In a timed auction, a maximum leads a step above the bid that it
        // outbid, and the log keeps the price at which it first led.
        let highest = log.iter().filter(|bid| bid["struck"].is_null()).filter_map(|bid| bid["amount"].as_i64()).max();
        let price = item["price"].as_i64();
        let agrees = if auction.id == self.webcast.id { price == highest } else { price >= highest };
        let is_over_without_sale = matches!(item["status"].as_str().unwrap(), "UNSOLD" | "PASSED");
        assert!(agrees || is_over_without_sale, "the highest bid is {highest:?}: {item}");
        let shown = if is_over_without_sale { None } else { price.or(item["minimumBid"].as_i64()) };
        expected.push(shown.map_or_else(|| "none".to_owned(), |shown| (shown / 100).to_string()));
        let expected = expected.join(", ");
        for bidder in bidders {
            if !bidder.has_script() {
                bidder.opens(&self.lot(auction, number)).await;
            }
            let agrees = format!("({SHOWN}) === {}", json!(expected));
            if let Err(error) = bidder.page.wait_until(&agrees).await {
                let shown = bidder.page.text(SHOWN).await.unwrap();
                panic!("lot {number} of {}: {shown}, the log has {expected}: {error}", bidder.role.screen);
            }
        }
    }
}

fn row(bid: &Value) -> String {
    let pounds = bid["amount"].as_i64().unwrap() / 100;
    // A bid on a lot that was not sold lapses. That is no withdrawal.
    let withdrawn = if bid["struck"].is_null() || bid["struck"] == "lapsed" { "" } else { " withdrawn" };
    format!("{} {pounds}{withdrawn}", bid["number"])
}
