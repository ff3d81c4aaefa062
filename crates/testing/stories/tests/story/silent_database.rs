//! PostgreSQL hangs under two nodes: its processes are stopped, while its machine keeps the connections open. Requests end
//! with an error in time, and nothing acknowledged is lost.

use std::time::{Duration, Instant};

use consumer::ApiClient;
use http::StatusCode;
use serde_json::json;
use testkit::postgres::{DedicatedServer, Settings};
use testkit::site::{CustomerSite, http_client};

use crate::support::{WAIT_MAX, launch, lots};

const LOTS: usize = 40;
/// Longer than the time without a heartbeat after which a node is dead.
const OUTAGE_MIN: Duration = Duration::from_secs(12);
/// A request has a response after this time: a statement has one after 7 s, a new connection after 10 s, and a busy
/// machine adds to both.
const ANSWERED_WITHIN: Duration = Duration::from_secs(28);

/// Sends a request that needs the database, and checks that the response says that it is not available.
async fn is_unavailable(api: &ApiClient, path: &str) {
    let began = Instant::now();
    let error = api.get(path).await.unwrap_err();
    assert_eq!(error.status(), Some(StatusCode::SERVICE_UNAVAILABLE), "{error}");
    assert!(began.elapsed() < ANSWERED_WITHIN, "{:?}", began.elapsed());
}

async fn is_healthy(api: &ApiClient) -> bool {
    api.get("/api/v1/health").await.is_ok()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_database_that_hangs_fails_requests_in_time_and_loses_nothing() {
    let data = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
    let mut database = DedicatedServer::start(&Settings::default()).unwrap();
    database.sql("CREATE DATABASE sale ENCODING 'UTF8' TEMPLATE template0").unwrap();
    let first = launch(data[0].path()).database(&database.url("sale")).set("DATABASE__STATEMENT_TIMEOUT", "2s");
    let second = first.node_in(data[1].path()).unwrap();
    let _first = first.start(&http_client()).await.unwrap();
    let _second = second.start(&http_client()).await.unwrap();
    let site = CustomerSite::set_up(&first, &second).await.unwrap();

    // Lots end, and events are published and delivered, when the database stops to respond.
    let auction = json!({ "kind": "timed", "title": "Timed", "status": "LIVE", "endsAt": site.in_ms(1_000), "extensionSeconds": 0,
        "stagger": { "seconds": 1, "items": 4 }, "items": lots(LOTS) });
    site.create_auction(auction).await.unwrap();
    assert!(site.receiver.wait_until(WAIT_MAX, |record| record.arrivals().len() >= 2).await);
    database.freeze().unwrap();
    let began = Instant::now();
    while began.elapsed() < OUTAGE_MIN {
        tokio::join!(is_unavailable(&site.platform, "/api/v1/auctions"), is_unavailable(&site.provider, "/api/v1/app"));
    }
    assert!(!is_healthy(&site.platform).await && !is_healthy(&site.provider).await);

    database.thaw().unwrap();
    let recovered = async {
        while !(is_healthy(&site.platform).await && is_healthy(&site.provider).await) {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(WAIT_MAX, recovered).await.expect("a node did not recover");
    let wanted = LOTS + 1;
    assert!(site.receiver.wait_until(WAIT_MAX, |record| record.arrivals().len() >= wanted).await);
    let announced = site.announced_events().await.unwrap();
    let tally = site.receiver.read(|record| record.compare(&announced));
    // A duplicate is allowed, a loss is not.
    assert_eq!((tally.expected, tally.lost, tally.invalid), (wanted as u64, 0, 0), "{tally:?}");
}
