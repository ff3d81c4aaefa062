//! What both sales have in common: an auction with its catalogue, its lots, and the record of what must be announced.

use std::collections::HashMap;
use std::time::Duration;

use bytes::Bytes;
use consumer::{Api, Expected};
use serde_json::{Value, json};
use uuid::Uuid;

use super::setup::House;
use crate::fault::{Fault, While as _};

/// Polls for the end of a timed auction: ten minutes at most.
const POLLS_MAX: u32 = 6_000;
const POLL_PAUSE: Duration = Duration::from_millis(100);

/// A lot of an auction, as its page shows it.
pub(super) struct Lot {
    pub(super) uuid: String,
    pub(super) lot_number: String,
    pub(super) minimum_bid: i64,
}

/// An auction with the events that it must have caused so far, in the order in which things happened.
pub(super) struct Sale {
    pub(super) auction: String,
    pub(super) expected: Vec<Expected>,
}

impl Sale {
    /// Creates a draft.
    pub(super) async fn create(platform: &Api, house: &House, mut auction: Value) -> Result<Self, Fault> {
        auction["auctioneer"] = json!(house.auctioneer);
        auction["currency"] = json!("GBP");
        auction["timeZone"] = json!("Europe/London");
        let created = platform.post("/api/v1/auctions", &auction).await?;
        let mut sale = Sale { auction: created.text("/uuid")?.to_owned(), expected: Vec::new() };
        sale.expect_auction(created.text("/status")?)?;
        Ok(sale)
    }

    /// Imports a catalogue; `query` may ask for a dry run.
    pub(super) async fn import(&self, platform: &Api, csv: Bytes, query: &str) -> Result<(), Fault> {
        platform.post_csv(&format!("/api/v1/auctions/{}/catalogue{query}", self.auction), csv).await?;
        Ok(())
    }

    /// Changes the auction's status, as an administrator does.
    pub(super) async fn change_status(&mut self, platform: &Api, status: &str) -> Result<(), Fault> {
        let path = format!("/api/v1/auctions/{}", self.auction);
        let seen = platform.get(&path).await?.etag;
        platform.post_if(&format!("{path}/status"), seen.as_ref(), &json!({ "status": status })).await?;
        self.wait_until_lots_have_followed(platform).await?;
        self.expect_auction(status)
    }

    /// Those of a large auction follow its status a moment later.
    async fn wait_until_lots_have_followed(&self, platform: &Api) -> Result<(), Fault> {
        for _ in 0..POLLS_MAX {
            let auction = platform.get(&format!("/api/v1/auctions/{}", self.auction)).await?;
            if auction.body["following"].is_null() {
                return Ok(());
            }
            tokio::time::sleep(POLL_PAUSE).await;
        }
        Err(Fault::new(format!("the lots of auction {} have not followed its status", self.auction)))
    }

    /// Every lot, in running order.
    pub(super) async fn lots(&self, platform: &Api) -> Result<Vec<Lot>, Fault> {
        let mut lots = Vec::new();
        let mut after = String::new();
        loop {
            let path = format!("/api/v1/auctions/{}/items?limit=250{after}", self.auction);
            let page = platform.get(&path).await?;
            for item in page.body["data"].as_array().into_iter().flatten() {
                let text = |name: &str| {
                    item[name].as_str().map(str::to_owned).ok_or_else(|| Fault::new(format!("an item without {name}")))
                };
                lots.push(Lot {
                    uuid: text("uuid")?,
                    lot_number: text("lotNumber")?,
                    minimum_bid: item["minimumBid"].as_i64().ok_or_else(|| Fault::new("an item without minimumBid"))?,
                });
            }
            match page.body["next"].as_str() {
                Some(next) => after = format!("&after={next}"),
                None => return Ok(lots),
            }
        }
    }

    /// Waits for the last lot of a timed auction to end.
    pub(super) async fn wait_until_no_lot_is_live(&self, platform: &Api) -> Result<(), Fault> {
        for _ in 0..POLLS_MAX {
            let auction = platform.get(&format!("/api/v1/auctions/{}", self.auction)).await?;
            if auction.body["itemCounts"]["live"] == json!(0) {
                return Ok(());
            }
            tokio::time::sleep(POLL_PAUSE).await;
        }
        Err(Fault::new(format!("auction {} still has live lots long after their end", self.auction)))
    }

    /// Reconciles and archives: what was passed for good becomes unsold, and whoever was told so is told.
    pub(super) async fn reconcile(&mut self, platform: &Api) -> Result<(), Fault> {
        let mut last: HashMap<Uuid, &str> = HashMap::new();
        for event in &self.expected {
            last.insert(event.subject, &event.status);
        }
        let passed: Vec<Uuid> =
            last.iter().filter(|(_, status)| **status == "PASSED").map(|(subject, _)| *subject).collect();
        self.change_status(platform, "RECONCILIATION").await?;
        self.expected.extend(passed.into_iter().map(|subject| Expected { subject, status: "UNSOLD".to_owned() }));
        self.change_status(platform, "ARCHIVED").await
    }

    /// Notes that an item's status has to be announced.
    pub(super) fn expect_item(&mut self, item: &str, status: &str) -> Result<(), Fault> {
        self.expected.push(expected(item, status)?);
        Ok(())
    }

    fn expect_auction(&mut self, status: &str) -> Result<(), Fault> {
        self.expected.push(expected(&self.auction, status)?);
        Ok(())
    }
}

fn expected(subject: &str, status: &str) -> Result<Expected, Fault> {
    let subject: Uuid = subject.parse().while_(format!("{subject} is no UUID"))?;
    Ok(Expected { subject, status: status.to_owned() })
}
