//! The load during which the server is killed: a timed auction whose lots end one after another, and a webcast whose
//! clerk sends one command after another.

use std::sync::Mutex;

use consumer::{ApiClient, ApiError, ExpectedEvent};
use http::HeaderValue;
use serde_json::{Value, json};

use crate::RigError;
use crate::site::RigSite;

/// Milliseconds from the start of a round to the first end of a lot.
const FIRST_END_MS: i64 = 900;

/// Status changes that the server acknowledged to the clerk.
#[derive(Debug, Default)]
pub(crate) struct Acknowledged {
    pub(crate) events: Vec<ExpectedEvent>,
}

/// Two LIVE auctions.
pub(crate) struct Load {
    timed: Vec<Lot>,
    webcast: String,
    lots: Vec<Lot>,
}

struct Lot {
    uuid: String,
    minimum_bid: i64,
}

/// Creates both auctions, items included, in one call each.
pub(crate) async fn prepare(site: &RigSite, lots: u32) -> Result<Load, RigError> {
    let timed = json!({
        "kind": "timed", "title": "Round", "endsAt": site.in_ms(FIRST_END_MS), "extensionSeconds": 0,
        "stagger": { "seconds": 1, "items": lots.div_ceil(2) },
    });
    let webcast = json!({ "kind": "webcast", "title": "Round", "startsAt": site.in_ms(0) });
    let (_, timed) = create(site, timed, lots).await?;
    let (webcast, lots) = create(site, webcast, lots).await?;
    Ok(Load { timed, webcast, lots })
}

async fn create(site: &RigSite, mut auction: Value, lots: u32) -> Result<(String, Vec<Lot>), RigError> {
    auction["status"] = json!("LIVE");
    auction["items"] =
        (1..=lots).map(|lot| json!({ "lotNumber": lot.to_string(), "title": "A lot", "openingBid": 100 })).collect();
    let auction = site.create_auction(auction).await?;
    let lot = |item: &Value| Lot {
        uuid: item["uuid"].as_str().unwrap_or_default().to_owned(),
        minimum_bid: item["minimumBid"].as_i64().unwrap_or(100),
    };
    let lots = site.items(&auction).await?.iter().map(lot).collect();
    Ok((auction, lots))
}

impl Load {
    /// Bids and sells until the future is dropped. Errors are expected, because the server may be killed at any time.
    pub(crate) async fn sell(&self, site: &RigSite, acknowledged: &mut Acknowledged) {
        let acknowledged = Mutex::new(acknowledged);
        let _ = tokio::join!(self.bid(&site.platform), self.clerk(&site.platform, &acknowledged));
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

    async fn clerk(&self, platform: &ApiClient, acknowledged: &Mutex<&mut Acknowledged>) -> Result<(), ApiError> {
        let ring = format!("/api/v1/auctions/{}/ring", self.webcast);
        let mut etag = platform.get(&ring).await?.etag;
        for (number, lot) in self.lots.iter().enumerate() {
            etag = command(platform, &ring, etag, "send", &json!({ "item": lot.uuid })).await?;
            let status = if number % 3 == 0 {
                etag = command(platform, &ring, etag, "pass", &json!({})).await?;
                "PASSED"
            } else {
                let bid = json!({ "source": "room", "bidder": "room", "amount": lot.minimum_bid });
                etag = command(platform, &ring, etag, "bid", &bid).await?;
                etag = command(platform, &ring, etag, "sell", &json!({})).await?;
                "SOLD"
            };
            if let (Ok(subject), Ok(mut acknowledged)) = (lot.uuid.parse(), acknowledged.lock()) {
                acknowledged.events.push(ExpectedEvent { subject, status: status.to_owned() });
            }
        }
        Ok(())
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
pub(crate) async fn live_items(site: &RigSite) -> Result<u64, RigError> {
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
