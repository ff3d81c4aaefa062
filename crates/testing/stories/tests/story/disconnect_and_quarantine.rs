//! Support ends a connection, and sends what the provider refused again.

use std::process::Command;

use consumer::ApiClient;
use serde_json::{Value, json};
use testkit::server::{Launch, built_binary};
use testkit::site::http_client;

use crate::fake_provider::{Answer, FakeProvider};
use crate::support::{launch, lots};

async fn auction(platform: &ApiClient, auctioneer: &str) -> String {
    let auction = json!({ "auctioneer": auctioneer, "kind": "webcast", "title": "A sale", "currency": "GBP",
        "timeZone": "Europe/London", "startsAt": "2099-01-01T00:00:00Z", "items": lots(1) });
    platform.post("/api/v1/auctions", &auction).await.unwrap().text("/uuid").unwrap().to_owned()
}

async fn change(platform: &ApiClient, auction: &str, status: &str) {
    let path = format!("/api/v1/auctions/{auction}");
    let seen = platform.get(&path).await.unwrap().etag;
    platform.post_if_match(&format!("{path}/status"), seen.as_ref(), &json!({ "status": status })).await.unwrap();
}

fn accepted(provider: &FakeProvider) -> Vec<String> {
    provider.accepted().into_iter().map(|posted| posted.event_id).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn quarantined_events_are_resent_in_order_and_a_customer_is_disconnected() {
    let data = tempfile::tempdir().unwrap();
    let launch: Launch = launch(data.path()).roles(&["platform"]);
    let _server = launch.start(&http_client()).await.unwrap();
    let key = launch.run_command(&["key", "create", "--name", "test", "--scope", "all", "--json"]).unwrap();
    let platform = ApiClient::new(http_client(), launch.platform_url(), key["key"].as_str().unwrap()).unwrap();
    let provider = FakeProvider::start().await;
    let customer = launch.run_command(&["customer", "create", "House", "--json"]).unwrap();
    let customer = customer["uuid"].as_str().unwrap();
    let consumer = format!("/api/v1/customers/{customer}/consumer");
    let credentials = json!({ "providerUrl": provider.url, "applicationId": "app_one", "apiKey": "key" });
    platform.put(&consumer, &credentials).await.unwrap();
    let auctioneer = platform.post("/api/v1/auctioneers", &json!({ "customer": customer, "name": "A" })).await.unwrap();
    let auctioneer = auctioneer.text("/uuid").unwrap();

    // The first two are refused; a later one of the first goes out.
    provider.script(&[Answer::Status(422), Answer::Status(422)]);
    let first = auction(&platform, auctioneer).await;
    let second = auction(&platform, auctioneer).await;
    provider.wait_until(|provider| provider.posted().len() == 2).await;
    change(&platform, &first, "PREVIEW").await;
    provider.wait_until(|provider| provider.accepted().len() == 1).await;
    let list = platform.get(&format!("{consumer}/quarantine")).await.unwrap().body;
    let cursors: Vec<i64> =
        list["data"].as_array().unwrap().iter().map(|row| row["cursor"].as_i64().unwrap()).collect();

    let send = format!("{consumer}/quarantine/send");
    let late = platform.post(&send, &json!({ "cursors": [cursors[0]] })).await.unwrap_err();
    assert!(late.to_string().contains("comes too late"), "{late}");
    let sent = platform.post(&send, &json!({})).await.unwrap().body;
    assert_eq!(sent, json!({ "sent": [cursors[1]], "left": [cursors[0]], "quarantined": 1 }));
    provider.wait_until(|provider| provider.accepted().len() == 2).await;
    assert_eq!(accepted(&provider), [format!("{first}.2"), format!("{second}.1")]);
    platform.post(&send, &json!({ "cursors": [cursors[0]], "outOfOrder": true })).await.unwrap();
    provider.wait_until(|provider| provider.accepted().len() == 3).await;

    for (body, why) in [
        (json!({ "apiKey": null }), "takes nothing away"),
        (json!({ "applicationId": null }), "takes nothing away"),
        (json!({ "startFrom": 1_000_000_000 }), "there is no cursor"),
    ] {
        let refused = platform.put(&consumer, &body).await.unwrap_err().to_string();
        assert!(refused.contains(why), "{body}: {refused}");
    }

    let end = events_end(&platform, customer).await;
    let disconnect = Command::new(built_binary("lotwire").unwrap())
        .args(["customer", "disconnect", customer, "--yes", "--data-dir"])
        .arg(data.path())
        .env("LOTWIRE_SECRETS__KEY", "07".repeat(32))
        .output();
    assert!(disconnect.unwrap().status.success());
    assert_eq!(platform.get(&consumer).await.unwrap_err().status().map(|status| status.as_u16()), Some(404));
    change(&platform, &second, "PREVIEW").await;
    let again = json!({ "providerUrl": provider.url, "applicationId": "app_one", "apiKey": "key", "startFrom": end });
    platform.put(&consumer, &again).await.unwrap();
    provider.wait_until(|provider| provider.accepted().len() == 4).await;
    assert_eq!(accepted(&provider)[3], format!("{second}.2"));
}

/// The cursor of the last announced event.
async fn events_end(platform: &ApiClient, customer: &str) -> Value {
    let events = platform.get(&format!("/api/v1/events?customer={customer}")).await.unwrap().body;
    events["data"].as_array().unwrap().last().unwrap()["cursor"].clone()
}
