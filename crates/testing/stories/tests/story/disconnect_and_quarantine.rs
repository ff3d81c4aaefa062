//! Support disconnects a customer, and publishes quarantined events again.

use consumer::ApiClient;
use serde_json::{Value, json};

use crate::fake_provider::{Answer, FakeProvider};
use crate::publisher_fixture::PublisherFixture;

fn accepted(provider: &FakeProvider) -> Vec<String> {
    provider.accepted().into_iter().map(|posted| posted.event_id).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn quarantined_events_are_resent_in_order_and_a_customer_is_disconnected() {
    let fixture = PublisherFixture::new().await;
    let provider = FakeProvider::start().await;
    let customer = fixture.customer("one", &provider).await;
    let platform = &fixture.platform;
    let consumer = format!("/api/v1/customers/{}/consumer", customer.uuid);

    // The provider refuses the first event of both auctions, and accepts the second event of the first auction.
    provider.script(&[Answer::Status(422), Answer::Status(422)]);
    let first = fixture.auction(&customer).await;
    let second = fixture.auction(&customer).await;
    provider.wait_until(|provider| provider.posted().len() == 2).await;
    fixture.change(&first, "PREVIEW").await;
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
        (json!({ "apiKey": null }), "which deletes nothing"),
        (json!({ "applicationId": null }), "which deletes nothing"),
        (json!({ "startFrom": 1_000_000_000 }), "there is no cursor"),
    ] {
        let refused = platform.put(&consumer, &body).await.unwrap_err().to_string();
        assert!(refused.contains(why), "{body}: {refused}");
    }

    let end = events_end(platform, &customer.uuid).await;
    let disconnect = fixture.launch.command().args(["customer", "disconnect", &customer.uuid, "--yes"]).output();
    assert!(disconnect.unwrap().status.success());
    assert_eq!(platform.get(&consumer).await.unwrap_err().status().map(|status| status.as_u16()), Some(404));
    fixture.change(&second, "PREVIEW").await;
    let again =
        json!({ "providerUrl": provider.url, "applicationId": "app_one", "apiKey": "key-one", "startFrom": end });
    platform.put(&consumer, &again).await.unwrap();
    provider.wait_until(|provider| provider.accepted().len() == 4).await;
    assert_eq!(accepted(&provider)[3], format!("{second}.2"));
}

/// The cursor of the last announced event.
async fn events_end(platform: &ApiClient, customer: &str) -> Value {
    let events = platform.get(&format!("/api/v1/events?customer={customer}")).await.unwrap().body;
    events["data"].as_array().unwrap().last().unwrap()["cursor"].clone()
}
