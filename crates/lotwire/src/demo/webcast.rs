//! The webcast: a clerk puts one lot after another in the ring, takes bids, and sells or passes the lot.

use std::time::Duration;

use consumer::ApiClient;
use http::HeaderValue;
use indicatif::ProgressBar;
use serde_json::{Value, json};
use tokio::time::{Instant, sleep_until};

use super::catalogue::Catalogue;
use super::sale::{Lot, Sale};
use super::setup::DemoCustomer;
use crate::error::CommandError;

/// Number of the first lot's picture.
const WEBCAST_PICTURES: u64 = 1_000;

/// Sells or passes every lot, spread evenly over `duration`.
pub(super) async fn sell(
    platform: &ApiClient,
    demo_customer: &DemoCustomer,
    catalogue: &Catalogue,
    (start, duration): (jiff::Timestamp, Duration),
    progress: &ProgressBar,
) -> Result<Sale, CommandError> {
    let auction = json!({ "kind": "webcast", "title": "Autumn sale, in the room", "startsAt": kit_runtime::clock::rfc3339_ms(start) });
    let mut sale = Sale::create(platform, demo_customer, auction).await?;
    sale.import(platform, catalogue.webcast.clone(), "").await?;
    sale.change_status(platform, "PREVIEW").await?;
    sale.change_status(platform, "LIVE").await?;
    let lots = sale.lots(platform).await?;
    Sale::add_pictures(platform, &lots, WEBCAST_PICTURES).await?;
    let mut clerk = Clerk { platform, ring: format!("/api/v1/auctions/{}/ring", sale.auction), etag: None };
    clerk.refresh().await?;

    let begin = Instant::now();
    for (number, lot) in lots.iter().enumerate() {
        let share = (number + 1) as f64 / lots.len() as f64;
        clerk.offer(&mut sale, number, lot).await?;
        progress.inc(1);
        sleep_until(begin + duration.mul_f64(share)).await;
    }
    Ok(sale)
}

/// A clerk, with the entity tag of the ring's last known state.
struct Clerk<'a> {
    platform: &'a ApiClient,
    ring: String,
    etag: Option<HeaderValue>,
}

impl Clerk<'_> {
    async fn refresh(&mut self) -> Result<(), CommandError> {
        self.etag = self.platform.get(&self.ring).await?.etag;
        Ok(())
    }

    async fn command(&mut self, command: &str, body: &Value) -> Result<Value, CommandError> {
        let path = format!("{}/{command}", self.ring);
        let reply = self.platform.post_if_match(&path, self.etag.as_ref(), body).await?;
        self.etag = reply.etag;
        Ok(reply.body)
    }

    /// Every third lot receives no bid and is passed. Every third passed lot is offered again and sold.
    async fn offer(&mut self, sale: &mut Sale, number: usize, lot: &Lot) -> Result<(), CommandError> {
        self.command("send", &json!({ "item": lot.uuid })).await?;
        if number % 3 != 2 {
            return self.sell(sale, lot).await;
        }
        self.command("pass", &json!({})).await?;
        sale.expect_item(&lot.uuid, "PASSED")?;
        if number % 9 == 8 {
            self.command("offer-again", &json!({ "item": lot.uuid })).await?;
            sale.expect_item(&lot.uuid, "LIVE")?;
            self.command("send", &json!({ "item": lot.uuid })).await?;
            self.sell(sale, lot).await?;
        }
        Ok(())
    }

    /// Takes an internet bid and a higher room bid, and sells the lot.
    async fn sell(&mut self, sale: &mut Sale, lot: &Lot) -> Result<(), CommandError> {
        let mut amount = lot.minimum_bid;
        for (source, bidder) in [("internet", "paddle-7"), ("room", "room")] {
            let ring = self.command("bid", &json!({ "source": source, "bidder": bidder, "amount": amount })).await?;
            amount = ring.pointer("/item/minimumBid").and_then(Value::as_i64).unwrap_or(amount);
        }
        // The demonstration's two bids may stay below the reserve: its clerk confirms the sale.
        self.command("sell", &json!({ "belowReserve": true })).await?;
        sale.expect_item(&lot.uuid, "SOLD")
    }
}
