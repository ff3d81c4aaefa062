//! Bulk changes of a large auction, and catalogue imports, continue after the process is killed.

use bytes::Bytes;
use http::HeaderValue;
use serde_json::{Value, json};
use testkit::server::Launch;
use testkit::site::{CustomerSite, http_client};

use crate::support::{WAIT_MAX, launch, received};

/// A bulk change stores 1,000 lots with the call, and the others in eight steps of 250, so that a kill comes between two steps.
const LOTS: usize = 3_000;

async fn draft(site: &CustomerSite) -> String {
    let auction = json!({ "kind": "timed", "title": "Large", "endsAt": site.in_ms(3_600_000) });
    site.create_auction(auction).await.unwrap()
}

fn catalogue() -> Bytes {
    let rows: String = (1..=LOTS).map(|lot| format!("{lot},A lot among many others\n")).collect();
    format!("lot_number,title\n{rows}").into()
}

async fn status(site: &CustomerSite, auction: &str, to: &str) {
    let path = format!("/api/v1/auctions/{auction}");
    let seen = site.platform.get(&path).await.unwrap().etag;
    site.platform.post_if_match(&format!("{path}/status"), seen.as_ref(), &json!({ "status": to })).await.unwrap();
}

async fn counts(site: &CustomerSite, auction: &str) -> (u64, u64) {
    let seen = site.platform.get(&format!("/api/v1/auctions/{auction}")).await.unwrap().body;
    let count = |of: &str| seen["itemCounts"][of].as_u64().unwrap();
    (count("total"), count("live"))
}

fn verifies(launch: &Launch) {
    let verified = launch.run_command(&["verify", "--all", "--json"]).unwrap();
    assert_eq!((&verified["holds"], &verified["items"]), (&json!(true), &json!(LOTS)), "{verified}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_import_interrupted_by_a_kill_is_complete_after_the_restart() {
    let data = tempfile::tempdir().unwrap();
    let launch = launch(data.path());
    let server = launch.start(&http_client()).await.unwrap();
    let site = CustomerSite::set_up(&launch, &launch).await.unwrap();
    let auction = draft(&site).await;
    let platform = site.platform.clone();
    let path = format!("/api/v1/auctions/{auction}");
    let posting = tokio::spawn({
        let platform = platform.clone();
        let path = format!("{path}/catalogue");
        async move { platform.post_csv(&path, catalogue()).await.is_ok() }
    });
    let begun = async {
        loop {
            let seen = platform.get(&path).await.unwrap().body;
            if seen["following"]["what"] == "importing" && seen["itemCounts"]["total"] != 0 {
                return seen["itemCounts"]["total"].as_u64().unwrap();
            }
        }
    };
    let imported = tokio::time::timeout(WAIT_MAX, begun).await.unwrap();
    server.kill();
    // On a busy machine, the import may finish before the kill.
    assert!(!posting.await.unwrap() || imported > 0);

    let _server = launch.start(&http_client()).await.unwrap();
    site.wait_for_bulk_change(&auction).await.unwrap();
    assert_eq!(counts(&site, &auction).await, (LOTS as u64, 0));
    verifies(&launch);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_auction_that_goes_live_during_a_kill_is_completely_live_after_the_restart() {
    let data = tempfile::tempdir().unwrap();
    let launch = launch(data.path());
    let server = launch.start(&http_client()).await.unwrap();
    let site = CustomerSite::set_up(&launch, &launch).await.unwrap();
    let auction = draft(&site).await;
    site.platform.post_csv(&format!("/api/v1/auctions/{auction}/catalogue"), catalogue()).await.unwrap();
    status(&site, &auction, "PREVIEW").await;
    status(&site, &auction, "LIVE").await;
    let (total, live) = counts(&site, &auction).await;
    server.kill();
    assert!(total == LOTS as u64 && (1_000..=LOTS as u64).contains(&live), "{live} of {total} were LIVE");

    let _server = launch.start(&http_client()).await.unwrap();
    site.wait_for_bulk_change(&auction).await.unwrap();
    assert_eq!(counts(&site, &auction).await, (LOTS as u64, LOTS as u64));
    received(&site, 3).await;
    verifies(&launch);
}

/// Waits until the bulk change has processed more than 1,000 items.
async fn is_under_way(site: &CustomerSite, auction: &str, kind: &str) {
    let path = format!("/api/v1/auctions/{auction}");
    let begun = async {
        loop {
            let following = site.platform.get(&path).await.unwrap().body["following"].clone();
            if following["what"] == kind && following["items"].as_u64().unwrap() > 1_000 {
                return;
            }
        }
    };
    tokio::time::timeout(WAIT_MAX, begun).await.unwrap();
}

/// Every item of an auction.
async fn items(site: &CustomerSite, auction: &str) -> Vec<Value> {
    let path = format!("/api/v1/auctions/{auction}/items?limit=250");
    let mut items = Vec::new();
    let mut next = String::new();
    loop {
        let page = site.platform.get(&format!("{path}{next}")).await.unwrap().body;
        items.extend(page["data"].as_array().unwrap().iter().cloned());
        match page["next"].as_str() {
            Some(after) => next = format!("&after={after}"),
            None => return items,
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn moved_ends_and_clones_are_applied_completely_and_once_despite_kills() {
    let data = tempfile::tempdir().unwrap();
    let launch = launch(data.path());
    let server = launch.start(&http_client()).await.unwrap();
    let site = CustomerSite::set_up(&launch, &launch).await.unwrap();
    let auction = draft(&site).await;
    let path = format!("/api/v1/auctions/{auction}");
    site.platform.post_csv(&format!("{path}/catalogue"), catalogue()).await.unwrap();
    status(&site, &auction, "PREVIEW").await;
    status(&site, &auction, "LIVE").await;
    site.wait_for_bulk_change(&auction).await.unwrap();
    let before = items(&site, &auction).await;
    let seen = site.platform.get(&path).await.unwrap().etag;
    let call = |path: String, seen: Option<HeaderValue>, body: Value| {
        let platform = site.platform.clone();
        tokio::spawn(async move { platform.post_if_match(&path, seen.as_ref(), &body).await.is_ok() })
    };
    let shift = json!({ "shiftSeconds": 600, "reason": "Snow" });
    let shifting = call(format!("{path}/ends"), seen, shift);
    is_under_way(&site, &auction, "moving_ends").await;
    server.kill();
    assert!(!shifting.await.unwrap(), "the kill interrupted the call");

    let server = launch.start(&http_client()).await.unwrap();
    site.wait_for_bulk_change(&auction).await.unwrap();
    let closing = site.platform.get(&path).await.unwrap().body["endsAt"].clone();
    let after = items(&site, &auction).await;
    assert_eq!(after.len(), LOTS);
    for (before, after) in before.iter().zip(&after) {
        let moved = after["version"].as_i64().unwrap() - before["version"].as_i64().unwrap();
        let lot = &after["lotNumber"];
        assert!(before["endTime"] != closing && after["endTime"] == closing && moved == 1, "{lot}: {after}");
    }

    let copying = call(format!("{path}/clone"), None, json!({ "title": "Once more", "withItems": true }));
    let copy = async {
        loop {
            let auctions = site.platform.get("/api/v1/auctions").await.unwrap().body;
            let copy = auctions["data"].as_array().unwrap().iter().find(|auction| auction["title"] == "Once more");
            if let Some(copy) = copy {
                return copy["uuid"].as_str().unwrap().to_owned();
            }
        }
    };
    let copy = tokio::time::timeout(WAIT_MAX, copy).await.unwrap();
    is_under_way(&site, &copy, "copying").await;
    server.kill();
    assert!(!copying.await.unwrap(), "the kill interrupted the call");
    let _server = launch.start(&http_client()).await.unwrap();
    site.wait_for_bulk_change(&copy).await.unwrap();
    let lots = |items: &[Value]| items.iter().map(|item| item["lotNumber"].clone()).collect::<Vec<_>>();
    assert_eq!(lots(&items(&site, &copy).await), lots(&after));
    let verified = launch.run_command(&["verify", "--all", "--json"]).unwrap();
    assert_eq!((&verified["holds"], &verified["items"]), (&json!(true), &json!(2 * LOTS)), "{verified}");
}
