//! The load during which servers or databases fail: a timed auction whose lots end one after another, and a webcast whose
//! clerk sends one command after another.

use std::sync::Mutex;
use std::time::Duration;

use consumer::{ApiClient, ApiError, ExpectedEvent};
use http::HeaderValue;
use jiff::Timestamp;
use serde_json::{Value, json};
use testkit::site::CustomerSite;

use crate::RigError;

/// Status changes that the server acknowledged to the clerk.
#[derive(Debug, Default)]
pub(crate) struct Acknowledged {
    pub(crate) events: Vec<ExpectedEvent>,
}

/// When the lots of a sale end.
pub(crate) struct Schedule {
    /// Lots of each of the two auctions.
    pub(crate) lots: u32,
    /// Milliseconds from the creation of the timed auction to the first end of a lot.
    pub(crate) first_end_ms: i64,
    /// Timed lots that end in each second.
    pub(crate) ends_per_s: u32,
}

/// Two LIVE auctions.
pub(crate) struct Sale {
    pub(crate) timed: Vec<Lot>,
    webcast: String,
    lots: Vec<Lot>,
}

/// A lot of a timed auction or of a webcast.
#[derive(Debug, Clone)]
pub(crate) struct Lot {
    pub(crate) uuid: String,
    pub(crate) minimum_bid: i64,
    /// The end of a timed lot.
    pub(crate) end: Option<Timestamp>,
}

/// Creates both auctions, items included, in one call each.
pub(crate) async fn prepare(site: &CustomerSite, schedule: &Schedule) -> Result<Sale, RigError> {
    let timed = json!({
        "kind": "timed", "title": "Round", "endsAt": site.in_ms(schedule.first_end_ms), "extensionSeconds": 0,
        "stagger": { "seconds": 1, "items": schedule.ends_per_s },
    });
    let webcast = json!({ "kind": "webcast", "title": "Round", "startsAt": site.in_ms(0) });
    let (_, timed) = create(site, timed, schedule.lots).await?;
    let (webcast, lots) = create(site, webcast, schedule.lots).await?;
    Ok(Sale { timed, webcast, lots })
}

/// Creates a LIVE auction. Returns its UUID and its lots.
pub(crate) async fn create(site: &CustomerSite, mut auction: Value, lots: u32) -> Result<(String, Vec<Lot>), RigError> {
    auction["status"] = json!("LIVE");
    auction["items"] =
        (1..=lots).map(|lot| json!({ "lotNumber": lot.to_string(), "title": "A lot", "openingBid": 100 })).collect();
    let auction = site.create_auction(auction).await?;
    let lot = |item: &Value| Lot {
        uuid: item["uuid"].as_str().unwrap_or_default().to_owned(),
        minimum_bid: item["minimumBid"].as_i64().unwrap_or(100),
        end: item["effectiveEndTime"].as_str().and_then(|end| end.parse().ok()),
    };
    let lots = site.items(&auction).await?.iter().map(lot).collect();
    Ok((auction, lots))
}

impl Sale {
    /// Bids and sells until the future is dropped. Errors are expected, because the server may be killed at any time.
    pub(crate) async fn sell(&self, site: &CustomerSite, acknowledged: &mut Acknowledged) {
        let acknowledged = Mutex::new(acknowledged);
        let note = |event| {
            if let Ok(mut acknowledged) = acknowledged.lock() {
                acknowledged.events.push(event);
            }
        };
        let _ = tokio::join!(self.bid(&site.platform), self.clerk(&site.platform, 0, Duration::ZERO, &note));
        // The lots of the timed auction continue to end until the kill.
        std::future::pending::<()>().await;
    }

    async fn bid(&self, platform: &ApiClient) -> Result<(), ApiError> {
        for lot in self.timed.iter().step_by(2) {
            let bid = json!({ "bidder": "paddle-1", "amount": lot.minimum_bid });
            // The server correctly refuses a bid after the end.
            match platform.post(&format!("/api/v1/items/{}/bids", lot.uuid), &bid).await {
                Err(error) if error.status().is_none() => return Err(error),
                _ => {}
            }
        }
        Ok(())
    }

    /// Sells or passes the lots of the webcast from the lot at `first` on, with a pause after each command. Calls `note`
    /// with each acknowledged result.
    ///
    /// Errors: the place of the lot whose command was not acknowledged, and why.
    pub(crate) async fn clerk(
        &self,
        platform: &ApiClient,
        first: usize,
        pause: Duration,
        note: &(dyn Fn(ExpectedEvent) + Sync),
    ) -> Result<(), (usize, ApiError)> {
        let ring = format!("/api/v1/auctions/{}/ring", self.webcast);
        let mut etag = platform.get(&ring).await.map_err(|error| (first, error))?.etag;
        for (number, lot) in self.lots.iter().enumerate().skip(first) {
            let sold = [
                ("send", json!({ "item": lot.uuid })),
                ("bid", json!({ "source": "room", "bidder": "room", "amount": lot.minimum_bid })),
                ("sell", json!({})),
            ];
            let passed = [("send", json!({ "item": lot.uuid })), ("pass", json!({}))];
            let (commands, status): (&[_], _) = if number % 3 == 0 { (&passed, "PASSED") } else { (&sold, "SOLD") };
            for (name, body) in commands {
                etag = command(platform, &ring, etag, name, body).await.map_err(|error| (number, error))?;
                tokio::time::sleep(pause).await;
            }
            lot.expect(status).into_iter().for_each(note);
        }
        Ok(())
    }

    /// Passes the lot that is in the ring, if one is. Calls `note` with the acknowledged result.
    pub(crate) async fn clear_ring(
        &self,
        platform: &ApiClient,
        note: &(dyn Fn(ExpectedEvent) + Sync),
    ) -> Result<(), ApiError> {
        let ring = format!("/api/v1/auctions/{}/ring", self.webcast);
        let response = platform.get(&ring).await?;
        let Some(lot) = response.body["item"]["uuid"].as_str() else { return Ok(()) };
        command(platform, &ring, response.etag, "pass", &json!({})).await?;
        let lot = self.lots.iter().find(|known| known.uuid == lot);
        lot.and_then(|lot| lot.expect("PASSED")).into_iter().for_each(note);
        Ok(())
    }
}

impl Lot {
    fn expect(&self, status: &str) -> Option<ExpectedEvent> {
        Some(ExpectedEvent { subject: self.uuid.parse().ok()?, status: status.to_owned() })
    }
}

async fn command(
    platform: &ApiClient,
    ring: &str,
    etag: Option<HeaderValue>,
    command: &str,
    body: &Value,
) -> Result<Option<HeaderValue>, ApiError> {
    Ok(platform.post_if_match(&format!("{ring}/{command}"), etag.as_ref(), body).await?.etag)
}

/// Number of LIVE lots of timed auctions, each of which will still announce its end. Lots of a webcast may stay LIVE.
pub(crate) async fn live_items(site: &CustomerSite) -> Result<u64, RigError> {
    let mut live = 0;
    let mut after = String::new();
    loop {
        let page = site.platform.get(&format!("/api/v1/auctions?limit=250&customer={}{after}", site.customer)).await?;
        for auction in page.body["data"].as_array().into_iter().flatten().filter(|auction| auction["kind"] == "timed") {
            let uuid = auction["uuid"].as_str().unwrap_or_default();
            let auction = site.platform.get(&format!("/api/v1/auctions/{uuid}")).await?;
            live += auction.body["itemCounts"]["live"].as_u64().unwrap_or(0);
        }
        let Some(next) = page.body["next"].as_str() else { return Ok(live) };
        after = format!("&after={next}");
    }
}
