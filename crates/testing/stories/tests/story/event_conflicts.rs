//! Events whose ids the embedded provider has already: the platform reads its message, and shows on the page of the lot that
//! it is another one.

use serde_json::json;
use testkit::site::CustomerSite;

use crate::administration::{Administration, assert_accessible, desk_page};
use crate::support::{Clerk, WAIT_MAX, webcast};

/// Sends a message under the id of the next event of an item, as the item announces `status`.
async fn occupy(site: &CustomerSite, auction: &str, item: &str, status: &str) {
    let history = site.platform.get(&format!("/api/v1/items/{item}/history")).await.unwrap().body;
    let next = history["data"].as_array().unwrap().len() + 1;
    let message = json!({
        "eventType": "ITEM_STATUS_CHANGE",
        "eventId": format!("{item}.{next}"),
        "payload": {
            "status": status, "auctionUuid": auction, "auctioneerUuid": site.auctioneer, "itemUuid": item,
        },
    });
    site.provider.post(&format!("/api/v1/app/{}/msg/", site.application), &message).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn an_event_under_whose_id_the_provider_has_another_message_waits_for_a_person() {
    let administration = Administration::open().await;
    let site = CustomerSite::set_up(&administration.launch, &administration.launch).await.unwrap();
    let auction = webcast(&site, 2).await;
    let items = site.items(&auction).await.unwrap();
    let uuids: Vec<&str> = items.iter().map(|item| item["uuid"].as_str().unwrap()).collect();
    // As a provider has them that was not restored: the first lot was sold before, too, and the second one was not passed.
    occupy(&site, &auction, uuids[0], "SOLD").await;
    occupy(&site, &auction, uuids[1], "SOLD").await;
    let clerk = Clerk::new(site.platform.clone(), &auction);
    clerk.sell(&items[0]).await;
    clerk.pass(&items[1]).await;

    let consumer = format!("/api/v1/customers/{}/consumer", site.customer);
    let settled = async {
        loop {
            let backlog = site.platform.get(&consumer).await.unwrap().body["backlog"].clone();
            if backlog["pending"] == 0 && backlog["quarantined"] == 1 {
                return;
            }
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(WAIT_MAX, settled).await.unwrap();
    for message in ["same", "other"] {
        let name = format!("lotwire_platform_event_conflicts_total{{message=\"{message}\"}}");
        assert_eq!(administration.launch.metric(&name).await.unwrap(), 1.0, "{message}");
    }
    let quarantine = site.platform.get(&format!("{consumer}/quarantine")).await.unwrap().body;
    let quarantined = &quarantine["data"][0];
    assert_eq!(quarantined["payload"]["itemUuid"], json!(uuids[1]), "{quarantine}");
    let reason = "he provider has another message under this event id: its payload differs.";
    assert!(quarantined["error"].as_str().unwrap().contains(reason), "{quarantine}");

    let page = desk_page(&administration.browser).await;
    administration.set_up(&page).await;
    let lot = |item: &str| administration.url(&format!("/auctions/{auction}/lots/{item}"));
    page.open(&lot(uuids[1])).await.unwrap();
    page.wait_until_shown(reason).await.unwrap();
    assert_accessible(&page).await;
    page.click_through("Send the event again or drop it").await.unwrap();
    page.wait_until_shown(reason).await.unwrap();
    assert_accessible(&page).await;
    // The published event has its message.
    page.open(&lot(uuids[0])).await.unwrap();
    page.wait_until_shown("accepted").await.unwrap();
    assert!(!page.text("document.body.innerText").await.unwrap().contains("In quarantine"));
}
