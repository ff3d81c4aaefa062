//! Restarts and failovers of PostgreSQL under a running server: no acknowledged change is lost, the health endpoint
//! reports the outage, and the server recovers without a restart. The connections use TLS.

use std::time::Duration;

use consumer::ApiClient;
use http::StatusCode;
use serde_json::json;
use testkit::certificates::{Authority, Validity};
use testkit::postgres::{DedicatedServer, Settings, Tls};
use testkit::site::{CustomerSite, http_client};

use crate::support::{WAIT_MAX, launch, lots};

const LOTS: usize = 300;

const HEALTHY: StatusCode = StatusCode::OK;
const UNAVAILABLE: StatusCode = StatusCode::SERVICE_UNAVAILABLE;

/// Waits until both health endpoints report success, or both failure, as `wanted` does.
async fn health(site: &CustomerSite, wanted: StatusCode) {
    for api in [&site.platform, &site.provider] {
        let polling = async {
            while status(api).await.is_none_or(|status| status.is_success() != wanted.is_success()) {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        };
        tokio::time::timeout(WAIT_MAX, polling)
            .await
            .unwrap_or_else(|_| panic!("the health status never became {wanted}"));
    }
}

async fn status(api: &ApiClient) -> Option<StatusCode> {
    match api.get("/api/v1/health").await {
        Ok(_) => Some(HEALTHY),
        Err(error) => error.status(),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_sale_continues_after_each_outage_of_the_database() {
    let data = tempfile::tempdir().unwrap();
    let authority = Authority::new("the database's").unwrap();
    let roots = data.path().join("roots.pem");
    std::fs::write(&roots, authority.certificate()).unwrap();
    let identity = authority.server(&["127.0.0.1"], Validity::Now).unwrap();
    let tls = Tls { identity, client_authority: String::new() };
    let mut database = DedicatedServer::start(&Settings { tls: Some(tls), ..Settings::default() }).unwrap();
    database.sql("CREATE DATABASE sale ENCODING 'UTF8' TEMPLATE template0").unwrap();
    let url = format!("{}?sslmode=verify-full&sslrootcert={}", database.url("sale"), roots.display());

    let launch = launch(data.path()).database(&url);
    let _server = launch.start(&http_client()).await.unwrap();
    let site = CustomerSite::set_up(&launch, &launch).await.unwrap();
    let plain = "SELECT count(*) FROM pg_stat_activity JOIN pg_stat_ssl USING (pid) WHERE datname = 'sale' AND NOT ssl";
    assert_eq!(database.sql(plain).unwrap(), "0");

    // Lots end during the outages.
    let auction = json!({ "kind": "timed", "title": "Timed", "status": "LIVE", "endsAt": site.in_ms(1_000), "extensionSeconds": 0,
        "stagger": { "seconds": 1, "items": 40 }, "items": lots(LOTS) });
    site.create_auction(auction).await.unwrap();

    database.stop().unwrap();
    health(&site, UNAVAILABLE).await;
    database.start_again().unwrap();
    health(&site, HEALTHY).await;

    database.sql("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = 'sale'").unwrap();
    health(&site, HEALTHY).await;

    // The server becomes read-only, as a standby is, and then writable again.
    database.sql("ALTER SYSTEM SET default_transaction_read_only = on; SELECT pg_reload_conf()").unwrap();
    health(&site, UNAVAILABLE).await;
    database
        .sql("SET default_transaction_read_only = off; ALTER SYSTEM RESET default_transaction_read_only; SELECT pg_reload_conf()")
        .unwrap();
    health(&site, HEALTHY).await;

    let wanted = LOTS + 1;
    assert!(site.receiver.wait_until(WAIT_MAX, |record| record.arrivals().len() >= wanted).await);
    let announced = site.announced_events().await.unwrap();
    let tally = site.receiver.read(|record| record.compare(&announced));
    // A duplicate is allowed, a loss is not.
    assert_eq!((tally.expected, tally.lost, tally.invalid), (wanted as u64, 0, 0), "{tally:?}");
}
