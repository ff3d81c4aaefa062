//! What both sales share: an auction with its catalogue and lots, and the record of the expected events.

use std::collections::HashMap;
use std::time::Duration;

use bytes::Bytes;
use consumer::{ApiClient, ExpectedEvent};
use futures_util::{StreamExt as _, TryStreamExt as _};
use serde_json::{Value, json};
use uuid::Uuid;

use super::picture::picture;
use super::setup::DemoCustomer;
use crate::error::{CommandError, ErrorContext as _};

/// Maximum number of polls for the end of a timed auction or of a bulk change: ten minutes.
const POLLS_MAX: u32 = 6_000;
const POLL_PAUSE: Duration = Duration::from_millis(100);

/// Lots of a sale that get a picture.
const PICTURED_LOTS_MAX: usize = 40;
const PICTURES_AT_ONCE: usize = 4;

/// A lot of an auction.
pub(super) struct Lot {
    pub(super) uuid: String,
    pub(super) lot_number: String,
    pub(super) minimum_bid: i64,
}

/// An auction and the events that it must have caused so far, in order.
pub(super) struct Sale {
    pub(super) auction: String,
    pub(super) expected: Vec<ExpectedEvent>,
}

impl Sale {
    /// Creates a draft auction.
    pub(super) async fn create(
        platform: &ApiClient,
        demo_customer: &DemoCustomer,
        mut auction: Value,
    ) -> Result<Self, CommandError> {
        auction["auctioneer"] = json!(demo_customer.auctioneer);
        auction["currency"] = json!("GBP");
        auction["timeZone"] = json!("Europe/London");
        let created = platform.post("/api/v1/auctions", &auction).await?;
        let mut sale = Sale { auction: created.text("/uuid")?.to_owned(), expected: Vec::new() };
        sale.expect_auction(created.text("/status")?)?;
        Ok(sale)
    }

    /// Imports a catalogue; `query` may ask for a dry run.
    pub(super) async fn import(&self, platform: &ApiClient, csv: Bytes, query: &str) -> Result<(), CommandError> {
        platform.post_csv(&format!("/api/v1/auctions/{}/catalogue{query}", self.auction), csv).await?;
        Ok(())
    }

    /// Changes the auction's status, as an administrator does.
    pub(super) async fn change_status(&mut self, platform: &ApiClient, status: &str) -> Result<(), CommandError> {
        let path = format!("/api/v1/auctions/{}", self.auction);
        let etag = platform.get(&path).await?.etag;
        platform.post_if_match(&format!("{path}/status"), etag.as_ref(), &json!({ "status": status })).await?;
        self.wait_for_bulk_change(platform).await?;
        self.expect_auction(status)
    }

    /// Waits until a background job has applied the auction's status to all lots of a large auction.
    async fn wait_for_bulk_change(&self, platform: &ApiClient) -> Result<(), CommandError> {
        for _ in 0..POLLS_MAX {
            let auction = platform.get(&format!("/api/v1/auctions/{}", self.auction)).await?;
            if auction.body["following"].is_null() {
                return Ok(());
            }
            kit_runtime::backoff::pause(POLL_PAUSE).await;
        }
        Err(CommandError::new(format!(
            "the lots of auction {} did not reach its status within ten minutes",
            self.auction
        )))
    }

    /// All lots, in running order.
    pub(super) async fn lots(&self, platform: &ApiClient) -> Result<Vec<Lot>, CommandError> {
        let mut lots = Vec::new();
        let mut after = String::new();
        loop {
            let path = format!("/api/v1/auctions/{}/items?limit=250{after}", self.auction);
            let page = platform.get(&path).await?;
            for item in page.body["data"].as_array().into_iter().flatten() {
                let text = |name: &str| {
                    item[name]
                        .as_str()
                        .map(str::to_owned)
                        .ok_or_else(|| CommandError::new(format!("the platform returned an item without {name}")))
                };
                lots.push(Lot {
                    uuid: text("uuid")?,
                    lot_number: text("lotNumber")?,
                    minimum_bid: item["minimumBid"]
                        .as_i64()
                        .ok_or_else(|| CommandError::new("the platform returned an item without minimumBid"))?,
                });
            }
            match page.body["next"].as_str() {
                Some(next) => after = format!("&after={next}"),
                None => return Ok(lots),
            }
        }
    }

    /// Adds a drawn picture to each of the first lots. `seed` is the number of the first picture.
    pub(super) async fn add_pictures(platform: &ApiClient, lots: &[Lot], seed: u64) -> Result<(), CommandError> {
        let lots = (seed..).zip(lots.iter().take(PICTURED_LOTS_MAX));
        let pictures = lots.map(|(seed, lot)| async move {
            let picture = tokio::task::spawn_blocking(move || picture(seed));
            let picture = picture.await.context("drawing a picture")?;
            // The lot's UUID is the picture's too: each lot has one.
            let uuid: Uuid = lot.uuid.parse().context(format!("{} is not a UUID", lot.uuid))?;
            platform.put_image(&lot.uuid, uuid, "drawing.jpg", picture).await?;
            Ok::<_, CommandError>(())
        });
        futures_util::stream::iter(pictures).buffer_unordered(PICTURES_AT_ONCE).try_collect::<()>().await
    }

    /// Waits for the last lot of a timed auction to end.
    pub(super) async fn wait_until_no_lot_is_live(&self, platform: &ApiClient) -> Result<(), CommandError> {
        for _ in 0..POLLS_MAX {
            let auction = platform.get(&format!("/api/v1/auctions/{}", self.auction)).await?;
            if auction.body["itemCounts"]["live"] == json!(0) {
                return Ok(());
            }
            kit_runtime::backoff::pause(POLL_PAUSE).await;
        }
        Err(CommandError::new(format!("auction {} still has live lots ten minutes after the last bids", self.auction)))
    }

    /// Reconciles and archives the auction. Lots that stayed PASSED become UNSOLD, which is announced.
    pub(super) async fn reconcile(&mut self, platform: &ApiClient) -> Result<(), CommandError> {
        let mut last: HashMap<Uuid, &str> = HashMap::new();
        for event in &self.expected {
            last.insert(event.subject, &event.status);
        }
        let passed: Vec<Uuid> =
            last.iter().filter(|(_, status)| **status == "PASSED").map(|(subject, _)| *subject).collect();
        self.change_status(platform, "RECONCILIATION").await?;
        self.expected.extend(passed.into_iter().map(|subject| ExpectedEvent { subject, status: "UNSOLD".to_owned() }));
        self.change_status(platform, "ARCHIVED").await
    }

    /// Records that the platform must announce this status of an item.
    pub(super) fn expect_item(&mut self, item: &str, status: &str) -> Result<(), CommandError> {
        self.expected.push(expected(item, status)?);
        Ok(())
    }

    fn expect_auction(&mut self, status: &str) -> Result<(), CommandError> {
        self.expected.push(expected(&self.auction, status)?);
        Ok(())
    }
}

fn expected(subject: &str, status: &str) -> Result<ExpectedEvent, CommandError> {
    let subject: Uuid = subject.parse().context(format!("{subject} is not a UUID"))?;
    Ok(ExpectedEvent { subject, status: status.to_owned() })
}
