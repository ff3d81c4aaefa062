//! Messages of event types that are not registered.

use serde_json::json;

use crate::fixture::{Answer, Fixture};

async fn send(fixture: &Fixture, event_type: &str) -> Answer {
    fixture.post("/app/app/msg", json!({"eventType": event_type, "payload": {}})).await
}

async fn fixture(handling: Option<&str>) -> Fixture {
    let fixture = Fixture::new().await;
    fixture.application("app").await;
    assert_eq!(fixture.get("/account").await.json()["unknownEventTypes"], "warn", "the default");
    if let Some(handling) = handling {
        let set = fixture.call("PATCH", "/account", &json!({"unknownEventTypes": handling}).to_string()).await;
        assert_eq!((set.status, set.field("unknownEventTypes").as_str()), (200, handling));
        assert_eq!(set.json()["payloadCheck"], "off", "it is independent");
    }
    fixture
}

#[tokio::test]
async fn reject_refuses_them_with_a_code_until_they_are_registered() {
    let fixture = fixture(Some("reject")).await;
    let refused = send(&fixture, "invoice.paid").await;
    assert_eq!((refused.status, refused.field("code").as_str()), (400, "unknown_event_type"));
    assert!(refused.field("detail").contains("invoice.paid"), "{}", refused.text);
    assert_eq!(fixture.get("/app/app/msg").await.json()["data"], json!([]));
    assert_eq!(fixture.post("/event-type", json!({"name": "invoice.paid", "description": ""})).await.status, 201);
    assert_eq!(send(&fixture, "invoice.paid").await.status, 202);
    assert_eq!(fixture.delete("/event-type/invoice.paid").await.status, 204);
    assert_eq!(send(&fixture, "invoice.paid").await.status, 202, "an archived event type is registered");
    assert_eq!(fixture.delete("/event-type/invoice.paid?expunge=true").await.status, 204);
    assert_eq!(send(&fixture, "invoice.paid").await.status, 400);
    let odd = fixture.call("PATCH", "/account", &json!({"unknownEventTypes": "off"}).to_string()).await;
    assert_eq!(odd.status, 422);
}

#[tokio::test]
async fn warn_and_accept_deliver_them() {
    for handling in [None, Some("warn"), Some("accept")] {
        let fixture = fixture(handling).await;
        assert_eq!(send(&fixture, "invoice.paid").await.status, 202, "{handling:?}");
    }
}
