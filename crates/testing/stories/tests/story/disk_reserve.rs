//! A disk below its reserve: new work is refused, and what was accepted goes on. The reserve of these servers is larger
//! than any disk.

use consumer::ApiClient;
use http::StatusCode;
use serde_json::json;
use testkit::postgres::{DedicatedServer, Settings};
use testkit::server::Launch;
use testkit::site::{CustomerSite, http_client};

use crate::api_conventions::request;
use crate::support::{WAIT_MAX, launch, lots};

/// More than any disk.
const RESERVE_MIB: &str = "1000000000";
/// Long enough for a restart and for the requests before the lots end.
const SALE_MS: i64 = 15_000;

async fn refused(api: &ApiClient, path: &str, body: serde_json::Value) {
    let error = api.post(path, &body).await.unwrap_err();
    let text = error.to_string();
    let is_unavailable = error.status() == Some(StatusCode::SERVICE_UNAVAILABLE);
    assert!(is_unavailable && text.contains("too little free disk"), "{path}: {text}");
}

/// Checks the code and the header by which a program knows the refusal.
async fn refused_with_code(url: String, key: &str, body: &serde_json::Value) {
    let key = format!("Bearer {key}");
    let headers = [("authorization", key.as_str()), ("content-type", "application/json")];
    let (status, headers, answer) = request("POST", &url, &headers, &body.to_string()).await;
    assert_eq!((status, &answer["code"]), (503, &json!("disk_full")), "{answer}");
    assert_eq!(headers["retry-after"], "10");
}

/// The statuses that the receiver has received.
fn statuses(site: &CustomerSite) -> Vec<&'static str> {
    site.receiver.read(|record| record.arrivals().iter().map(|arrival| arrival.status).collect())
}

fn doctor(launch: &Launch) -> String {
    String::from_utf8(launch.command().arg("doctor").output().unwrap().stdout).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn below_the_reserve_new_work_is_refused_and_accepted_work_goes_on() {
    let data = tempfile::tempdir().unwrap();
    let roomy = launch(data.path()).set("DISK_RESERVE_MIB", "0");
    let running = roomy.start(&http_client()).await.unwrap();
    let site = CustomerSite::set_up(&roomy, &roomy).await.unwrap();
    // The first event of the auction waits for the receiver.
    site.receiver.respond_with(StatusCode::SERVICE_UNAVAILABLE);
    let auction = json!({ "kind": "timed", "title": "Timed", "status": "LIVE", "endsAt": site.in_ms(SALE_MS),
        "extensionSeconds": 0, "items": lots(1) });
    let auction = site.create_auction(auction).await.unwrap();
    assert!(tokio::task::block_in_place(|| running.stop()).unwrap().success());

    let full = roomy.clone().set("DISK_RESERVE_MIB", RESERVE_MIB);
    let running = full.start(&http_client()).await.unwrap();
    let messages = format!("/api/v1/app/{}/msg", site.application);
    let message = json!({ "eventType": "ITEM_STATUS_CHANGE", "payload": {} });
    refused(&site.provider, &messages, message.clone()).await;
    refused_with_code(full.provider_url() + &messages, &site.provider_key, &message).await;
    let replay = format!("/api/v1/app/{}/endpoint/{}/recover", site.application, site.endpoint);
    refused(&site.provider, &replay, json!({ "since": site.in_ms(-60_000) })).await;
    let new = json!({ "auctioneer": site.auctioneer, "kind": "timed", "currency": "GBP", "timeZone": "UTC" });
    let staff = full.create_staff_key("staff").unwrap();
    refused_with_code(full.platform_url() + "/api/v1/auctions", &staff, &new).await;
    refused(&site.platform, &format!("/api/v1/auctions/{auction}/items"), lots(1)[0].clone()).await;
    refused(&site.platform, &format!("/api/v1/auctions/{auction}/clone"), json!({ "title": "Again" })).await;
    let csv = site.platform.post_csv(&format!("/api/v1/auctions/{auction}/catalogue"), "lotNumber\n9\n".into()).await;
    assert_eq!(csv.unwrap_err().status(), Some(StatusCode::SERVICE_UNAVAILABLE));

    for api in [&site.platform, &site.provider] {
        api.get("/api/v1/health").await.unwrap();
    }
    let found = doctor(&full);
    assert!(found.contains("WRONG  free disk") && found.contains("refuses new messages"), "{found}");
    // A bid, the end of the lot, both events, and the delivery that waited.
    let lot = &site.items(&auction).await.unwrap()[0];
    let bid = json!({ "bidder": "paddle-1", "amount": lot["minimumBid"] });
    site.platform.post(&format!("/api/v1/items/{}/bids", lot["uuid"].as_str().unwrap()), &bid).await.unwrap();
    site.receiver.respond_with(StatusCode::NO_CONTENT);
    let has_all = |site: &CustomerSite| ["LIVE", "SOLD"].iter().all(|status| statuses(site).contains(status));
    let arrived = site.receiver.wait_until(WAIT_MAX, |record| record.arrivals().len() >= 2).await;
    assert!(arrived && has_all(&site), "{:?}", statuses(&site));
    assert!(tokio::task::block_in_place(|| running.stop()).unwrap().success());

    let _running = roomy.start(&http_client()).await.unwrap();
    site.provider.post(&messages, &message).await.unwrap();
    site.platform.post("/api/v1/auctions", &new).await.unwrap();
    assert!(!doctor(&roomy).contains("WRONG  free disk"));
}

/// PostgreSQL reports a full disk with SQLSTATE 53100, which a trigger raises here.
#[tokio::test(flavor = "multi_thread")]
async fn a_full_disk_of_postgresql_is_reported_and_accepted_work_goes_on() {
    let data = tempfile::tempdir().unwrap();
    let database = DedicatedServer::start(&Settings::default()).unwrap();
    database.sql("CREATE DATABASE sale ENCODING 'UTF8' TEMPLATE template0").unwrap();
    let launch = launch(data.path()).database(&database.url("sale"));
    let _running = launch.start(&http_client()).await.unwrap();
    let site = CustomerSite::set_up(&launch, &launch).await.unwrap();
    let sql = |text: &str| {
        let url = database.url("sale");
        let output =
            std::process::Command::new("psql").args([&url, "-v", "ON_ERROR_STOP=1", "-c", text]).output().unwrap();
        assert!(output.status.success(), "{output:?}");
    };
    sql("CREATE FUNCTION full_disk() RETURNS trigger LANGUAGE plpgsql AS \
         $$ BEGIN RAISE EXCEPTION 'could not extend file' USING ERRCODE = '53100'; END $$");
    for table in ["provider.messages", "platform.auctions"] {
        sql(&format!("CREATE TRIGGER full_disk BEFORE INSERT ON {table} EXECUTE FUNCTION full_disk()"));
    }
    let messages = format!("/api/v1/app/{}/msg", site.application);
    let message = json!({ "eventType": "ITEM_STATUS_CHANGE", "payload": {} });
    refused_with_code(launch.provider_url() + &messages, &site.provider_key, &message).await;
    let new = json!({ "auctioneer": site.auctioneer, "kind": "timed", "currency": "GBP", "timeZone": "UTC" });
    refused(&site.platform, "/api/v1/auctions", new.clone()).await;
    // An event whose message can't be stored waits in the outbox.
    sql("DROP TRIGGER full_disk ON platform.auctions");
    site.platform.post("/api/v1/auctions", &new).await.unwrap();
    sql("DROP TRIGGER full_disk ON provider.messages");
    assert!(site.receiver.wait_until(WAIT_MAX, |record| record.arrivals().len() == 1).await);
    site.provider.post(&messages, &message).await.unwrap();
}
