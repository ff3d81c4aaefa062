//! A small sale, and faults that make alerts fire.

use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};
use testkit::server::{Launch, Server};
use testkit::site::{CustomerSite, http_client};

use super::prometheus::Prometheus;
use crate::RigError;

/// The alerts that the faults make fire.
pub(super) const ALERTS: [&str; 7] = [
    "DeliveriesLate",
    "EndpointsDisabled",
    "EventsQuarantined",
    "QueueParked",
    "ServerDown",
    "ServerRestarts",
    "SignInsThrottled",
];
/// Messages to an endpoint that gets one a second.
const THROTTLED_MESSAGES: usize = 400;
/// More than the sign-ins with a wrong password that are allowed, and than the alert tolerates.
const WRONG_SIGN_INS: usize = 60;
/// Starts of a server, of which the alert tolerates three.
const STARTS: usize = 4;
const POLL: Duration = Duration::from_millis(200);

/// Makes a backup.
pub(super) fn back_up(launch: &Launch, to: &Path) -> Result<(), RigError> {
    let backup = launch.command().arg("backup").arg(to).output()?;
    if backup.status.success() { Ok(()) } else { Err(String::from_utf8_lossy(&backup.stderr).into_owned().into()) }
}

/// Runs the sale and causes the faults.
pub(super) async fn cause(site: &CustomerSite, launch: &Launch) -> Result<(), RigError> {
    sell(site).await?;
    park(site).await?;
    refuse_deliveries(site).await?;
    throttle(site).await?;
    let email = "ann@hartley.example";
    launch.run_command(&["user", "create", email, "--role", "administrator", "--json"])?;
    for _ in 0..WRONG_SIGN_INS {
        let wrong = json!({ "email": email, "password": "a wrong password" });
        // Refused: as a wrong password first, and then because of the number of attempts.
        if site.platform.post("/api/v1/sessions", &wrong).await.is_ok() {
            return Err("a wrong password was accepted".into());
        }
    }
    Ok(())
}

/// Sells lots, with bids. The provider has messages with the ids of later events of some lots, so that those go to quarantine.
async fn sell(site: &CustomerSite) -> Result<(), RigError> {
    let lots: Vec<Value> =
        (1..=9).map(|lot| json!({ "lotNumber": lot.to_string(), "title": "A lot", "openingBid": 100 })).collect();
    let auction = json!({
        "kind": "timed", "title": "Watched", "endsAt": site.in_ms(6_000), "extensionSeconds": 0, "status": "LIVE", "items": lots,
    });
    let auction = site.create_auction(auction).await?;
    for item in site.items(&auction).await? {
        let uuid = item["uuid"].as_str().unwrap_or_default();
        let bid = json!({ "bidder": "paddle-1", "amount": item["minimumBid"].as_i64().unwrap_or(100) });
        site.platform.post(&format!("/api/v1/items/{uuid}/bids"), &bid).await?;
        if item["lotNumber"] == "9" {
            for sequence in 1..=9 {
                let other = json!({
                    "eventType": "ITEM_STATUS_CHANGE", "eventId": format!("{uuid}.{sequence}"), "payload": { "other": true },
                });
                // Refused for the events that were published before.
                let _ = site.provider.post(&format!("/api/v1/app/{}/msg/", site.application), &other).await;
            }
        }
    }
    Ok(())
}

/// A customer whose provider refuses its key.
async fn park(site: &CustomerSite) -> Result<(), RigError> {
    let platform = &site.platform;
    let customer = platform.post("/api/v1/customers", &json!({ "name": "Wrong key" })).await?.text("/uuid")?.to_owned();
    let wrong = json!({ "providerUrl": "embedded", "applicationId": site.application, "apiKey": "lwp_wrong" });
    platform.put(&format!("/api/v1/customers/{customer}/consumer"), &wrong).await?;
    let auctioneer = json!({ "customer": customer, "name": "Wrong key" });
    let auctioneer = platform.post("/api/v1/auctioneers", &auctioneer).await?.text("/uuid")?.to_owned();
    let auction = json!({ "auctioneer": auctioneer, "kind": "timed", "currency": "GBP", "timeZone": "UTC" });
    platform.post("/api/v1/auctions", &auction).await?;
    Ok(())
}

/// An endpoint that fails, and one whose receiver is gone for good.
async fn refuse_deliveries(site: &CustomerSite) -> Result<(), RigError> {
    let application = site.add_application("Failing").await?;
    let (broken, gone) = (site.add_receiver(&application).await?, site.add_receiver(&application).await?);
    broken.respond_with(http::StatusCode::INTERNAL_SERVER_ERROR);
    gone.respond_with(http::StatusCode::GONE);
    let message = json!({ "eventType": "ITEM_STATUS_CHANGE", "payload": {} });
    site.provider.post(&format!("/api/v1/app/{application}/msg/"), &message).await?;
    while gone.requests() == 0 || broken.requests() == 0 {
        tokio::time::sleep(POLL).await;
    }
    Ok(())
}

/// An endpoint that gets fewer messages than wait for it.
async fn throttle(site: &CustomerSite) -> Result<(), RigError> {
    let application = site.add_application("Throttled").await?;
    let endpoint = json!({ "url": site.receiver.url(), "throttleRate": 1 });
    site.provider.post(&format!("/api/v1/app/{application}/endpoint/"), &endpoint).await?;
    let message = json!({ "eventType": "ITEM_STATUS_CHANGE", "payload": {} });
    for _ in 0..THROTTLED_MESSAGES {
        site.provider.post(&format!("/api/v1/app/{application}/msg/"), &message).await?;
    }
    Ok(())
}

/// Kills and starts the server again and again, so that Prometheus sees each start, and kills it at the end.
pub(super) async fn restart_and_stop(
    mut server: Server,
    launch: &Launch,
    prometheus: &Prometheus,
) -> Result<(), RigError> {
    let instance = launch.metrics_address();
    for start in 1..STARTS {
        server.kill();
        server = launch.start(&http_client()).await?;
        let changes = format!("changes(process_start_time_seconds{{instance=\"{instance}\"}}[5m])");
        while prometheus.query(&changes).await?.first() != Some(&start.to_string()) {
            tokio::time::sleep(POLL).await;
        }
    }
    server.kill();
    Ok(())
}
