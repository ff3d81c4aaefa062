//! What an operator, or a failover, does to the PostgreSQL below a running server: nothing acknowledged is lost, it is said what is
//! wrong, and nothing has to be restarted. The connections are TLS.

use std::time::Duration;

use consumer::ApiClient;
use http::StatusCode;
use serde_json::json;
use testkit::certificates::{Authority, Validity};
use testkit::postgres::{DedicatedServer, Settings, Tls};
use testkit::site::{CustomerSite, http_client};

use crate::support::{WAIT_MAX, launch, lots};

const LOTS: usize = 300;

const WELL: StatusCode = StatusCode::OK;
const AWAY: StatusCode = StatusCode::SERVICE_UNAVAILABLE;

/// Waits until the health of both is of this kind.
async fn health(site: &CustomerSite, wanted: StatusCode) {
    for api in [&site.platform, &site.provider] {
        let turns = async {
            while status(api).await.is_none_or(|status| status.is_success() != wanted.is_success()) {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        };
        tokio::time::timeout(WAIT_MAX, turns).await.unwrap_or_else(|_| panic!("health was never {wanted}"));
    }
}

async fn status(api: &ApiClient) -> Option<StatusCode> {
    match api.get("/api/v1/health").await {
        Ok(_) => Some(WELL),
        Err(error) => error.status(),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_sale_goes_on_by_itself_whenever_its_database_is_back() {
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

    // Lots end all the while.
    let auction = json!({ "kind": "timed", "title": "Timed", "status": "LIVE", "endsAt": site.in_ms(1_000), "extensionSeconds": 0,
        "stagger": { "seconds": 1, "items": 40 }, "items": lots(LOTS) });
    site.create_auction(auction).await.unwrap();

    database.stop().unwrap();
    health(&site, AWAY).await;
    database.start_again().unwrap();
    health(&site, WELL).await;

    database.sql("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = 'sale'").unwrap();
    health(&site, WELL).await;

    // What was the primary is a standby now, and then the primary again.
    database.sql("ALTER SYSTEM SET default_transaction_read_only = on; SELECT pg_reload_conf()").unwrap();
    health(&site, AWAY).await;
    database
        .sql("SET default_transaction_read_only = off; ALTER SYSTEM RESET default_transaction_read_only; SELECT pg_reload_conf()")
        .unwrap();
    health(&site, WELL).await;

    let wanted = LOTS + 1;
    assert!(site.receiver.wait_until(WAIT_MAX, |record| record.arrivals().len() >= wanted).await);
    let announced = site.announced_events().await.unwrap();
    let tally = site.receiver.read(|record| record.compare(&announced));
    // A copy is allowed, a loss is not.
    assert_eq!((tally.expected, tally.lost, tally.invalid), (wanted as u64, 0, 0), "{tally:?}");
}
