//! Event types.

use serde_json::{Value, json};

use crate::fixture::{Fixture, NOW};

/// Both event types of the platform, as a customer registers them.
pub(crate) fn of_the_platform() -> [Value; 2] {
    let text = |description: &str| json!({"description": description, "type": "string"});
    let event_type = |name: &str, description: &str, title: &str, properties: Value| {
        let required: Vec<&String> = properties.as_object().unwrap().keys().collect();
        json!({"name": name, "description": description, "archived": false, "schemas": {"1": {
            "description": description, "title": title, "type": "object", "required": required,
            "properties": properties}}})
    };
    [
        event_type(
            "ITEM_STATUS_CHANGE",
            "Event triggered when an item status changes",
            "Item status changed",
            json!({"itemUuid": text("UUID of the item"), "auctioneerUuid": text("UUID of the auctioneer"),
                "auctionUuid": text("UUID of the auction"), "status": text("New status of the item")}),
        ),
        event_type(
            "AUCTION_STATUS_CHANGE",
            "Event triggered when an auction status changes",
            "Auction status changed",
            json!({"auctioneerUuid": text("UUID of the auctioneer"), "auctionUuid": text("UUID of the auction"),
                "status": text("New status of the auction")}),
        ),
    ]
}

#[tokio::test]
async fn both_event_types_of_the_platform_are_stored_unchanged() {
    let fixture = Fixture::new().await;
    for given in of_the_platform() {
        let created = fixture.post("/event-type/", &given).await;
        let mut whole = given.clone();
        for (name, value) in [("deprecated", json!(false)), ("createdAt", json!(NOW)), ("updatedAt", json!(NOW))] {
            whole[name] = value;
        }
        for name in ["featureFlag", "featureFlags", "groupName"] {
            whole[name] = Value::Null;
        }
        created.expect(201, &whole);
        fixture.get(&format!("/event-type/{}", given["name"].as_str().unwrap())).await.expect(200, &whole);
        let again = fixture.post("/event-type", &given).await;
        let name = given["name"].as_str().unwrap();
        let detail = format!("there is an event type {name} already");
        again.expect(409, &json!({"code": "event_type_exists", "detail": detail}));
    }
}

#[tokio::test]
async fn a_list_includes_schemas_and_archived_event_types_on_request_only() {
    let fixture = Fixture::new().await;
    for given in of_the_platform() {
        fixture.post("/event-type", &given).await;
    }
    assert_eq!(fixture.delete("/event-type/AUCTION_STATUS_CHANGE").await.status, 204);
    let list = async |query: &str| {
        let page = fixture.get(&format!("/event-type?{query}")).await.json();
        let rows = page["data"].as_array().unwrap().clone();
        rows.iter().map(|row| (row["name"].as_str().unwrap().to_owned(), !row["schemas"].is_null())).collect::<Vec<_>>()
    };
    let (item, auction) = ("ITEM_STATUS_CHANGE".to_owned(), "AUCTION_STATUS_CHANGE".to_owned());
    assert_eq!(list("").await, [(item.clone(), false)]);
    assert_eq!(list("with_content=true").await, [(item.clone(), true)]);
    assert_eq!(list("include_archived=true&with_content=false").await, [(auction, false), (item, false)]);
}

#[tokio::test]
async fn a_post_restores_an_archived_event_type_and_not_an_expunged_one() {
    let fixture = Fixture::new().await;
    let [item, _] = of_the_platform();
    fixture.post("/event-type", &item).await;
    assert_eq!(fixture.delete("/event-type/ITEM_STATUS_CHANGE").await.status, 204);
    assert_eq!(fixture.get("/event-type/ITEM_STATUS_CHANGE").await.json()["archived"], true);
    assert_eq!(fixture.post("/event-type", &item).await.status, 201);
    assert_eq!(fixture.get("/event-type/ITEM_STATUS_CHANGE").await.json()["archived"], false);
    for status in [204, 404] {
        assert_eq!(fixture.delete("/event-type/ITEM_STATUS_CHANGE?expunge=true").await.status, status);
    }
}

#[tokio::test]
async fn an_event_type_is_replaced_or_created_by_its_name() {
    let fixture = Fixture::new().await;
    let whole = |description: &str| {
        json!({"name": "a.b", "description": description, "archived": false, "deprecated": false, "groupName": "g",
            "featureFlag": "f", "featureFlags": ["f"], "schemas": null, "createdAt": NOW, "updatedAt": NOW})
    };
    let body = |description: &str| json!({"description": description, "groupName": "g", "featureFlag": "f"});
    fixture.put("/event-type/a.b", body("one")).await.expect(201, &whole("one"));
    fixture.put("/event-type/a.b/", body("two")).await.expect(200, &whole("two"));
}

#[tokio::test]
async fn an_invalid_schema_is_refused_with_its_place() {
    let fixture = Fixture::new().await;
    let refused =
        fixture.post("/event-type", json!({"name": "a", "description": "", "schemas": {"1": {"type": "words"}}})).await;
    assert_eq!((refused.status, &refused.json()["detail"][0]["loc"]), (422, &json!(["body", "schemas", "1"])));
}
