//! Payloads against the schemas of their event types.

use serde_json::{Value, json};

use crate::fixture::{Answer, Fixture};

async fn fixture(mode: &str) -> Fixture {
    let fixture = Fixture::new().await;
    fixture.application("app").await;
    let schema = json!({
        "type": "object", "required": ["status"],
        "properties": {"status": {"type": "string"}, "bids": {"items": {"properties": {"amount": {"type": "integer"}}}}},
    });
    let event_type = json!({"name": "SOLD", "description": "d", "schemas": {"1": schema}});
    assert_eq!(fixture.post("/event-type", event_type).await.status, 201);
    let set = fixture.call("PATCH", "/account", &json!({"payloadCheck": mode}).to_string()).await;
    assert_eq!((set.status, set.field("payloadCheck").as_str()), (200, mode));
    fixture
}

async fn send(fixture: &Fixture, payload: Value) -> Answer {
    fixture.post("/app/app/msg", json!({"eventType": "SOLD", "payload": payload})).await
}

async fn counts(fixture: &Fixture) -> Value {
    fixture.get("/account").await.json()["payloadMismatches"].clone()
}

#[tokio::test]
async fn a_payload_that_does_not_match_is_refused_with_the_place() {
    let fixture = fixture("reject").await;
    assert_eq!(send(&fixture, json!({"status": "SOLD", "more": 1})).await.status, 202);
    let refused = send(&fixture, json!({"status": 7, "bids": [{"amount": 1}, {"amount": "4242 4242"}]})).await;
    assert_eq!(refused.status, 422);
    let mut places: Vec<String> = refused.json()["detail"]
        .as_array()
        .unwrap()
        .iter()
        .map(|item| {
            item["loc"].as_array().unwrap().iter().map(|word| word.as_str().unwrap()).collect::<Vec<_>>().join(".")
        })
        .collect();
    places.sort();
    assert_eq!(places, ["body.payload.bids.1.amount", "body.payload.status"]);
    assert!(!refused.text.contains("4242"), "values are not repeated: {}", refused.text);
    let missing = send(&fixture, json!({})).await;
    assert_eq!(missing.json()["detail"][0]["msg"], json!("\"status\" is a required property"));
    assert_eq!(counts(&fixture).await, json!({"warned": 0, "rejected": 2}));
    assert_eq!(fixture.get("/app/app/msg").await.json()["data"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn warn_accepts_and_counts_mismatches_and_off_checks_nothing() {
    for (mode, warned) in [("warn", 1), ("off", 0)] {
        let fixture = fixture(mode).await;
        for payload in [json!({}), json!({"status": "SOLD"})] {
            assert_eq!(send(&fixture, payload).await.status, 202, "{mode}");
        }
        assert_eq!(counts(&fixture).await, json!({"warned": warned, "rejected": 0}), "{mode}");
    }
}

#[tokio::test]
async fn a_changed_schema_applies_immediately_and_each_of_its_versions_is_accepted() {
    let fixture = fixture("reject").await;
    assert_eq!(send(&fixture, json!({"lot": 1})).await.status, 422);
    let both = json!({"description": "d", "schemas": {"1": {"required": ["status"]}, "2": {"required": ["lot"]}}});
    assert_eq!(fixture.put("/event-type/SOLD", both).await.status, 200);
    assert_eq!(send(&fixture, json!({"lot": 1})).await.status, 202);
    assert_eq!(send(&fixture, json!({"status": 1})).await.status, 202);
    assert_eq!(send(&fixture, json!({})).await.status, 422);
    assert_eq!(fixture.delete("/event-type/SOLD?expunge=true").await.status, 204);
    assert_eq!(send(&fixture, json!({})).await.status, 202, "an unknown event type has no schema");
}

#[tokio::test]
async fn a_patched_or_restored_schema_applies_immediately() {
    let fixture = fixture("reject").await;
    let patch = async |body: Value| fixture.call("PATCH", "/event-type/SOLD", &body.to_string()).await.status;
    for round in 0..2 {
        assert_eq!(send(&fixture, json!({"lot": 1})).await.status, 422, "{round}");
        assert_eq!(patch(json!({"schemas": {"1": {"required": ["lot"]}}})).await, 200);
        assert_eq!(
            send(&fixture, json!({"lot": 1})).await.status,
            202,
            "the new schema, which accepts it, was not used"
        );
        assert_eq!(
            send(&fixture, json!({"status": "SOLD"})).await.status,
            422,
            "the new schema, which refuses it, was not used"
        );
        assert_eq!(patch(json!({"schemas": null})).await, 200);
        assert_eq!(send(&fixture, json!({})).await.status, 202, "an event type without a schema refused a payload");
        assert_eq!(patch(json!({"schemas": {"1": {"required": ["status"]}}})).await, 200);
    }
}

#[tokio::test]
async fn an_event_type_without_a_schema_accepts_any_object_and_an_unknown_setting_is_refused() {
    let fixture = fixture("reject").await;
    assert_eq!(fixture.post("/app/app/msg", json!({"eventType": "NEW", "payload": {"a": 1}})).await.status, 202);
    for body in [json!({"payloadCheck": "loud"}), json!({"endpointsMax": 9}), json!({"payloadCheck": true})] {
        assert_eq!(fixture.call("PATCH", "/account", &body.to_string()).await.status, 422, "{body}");
    }
    assert_eq!(fixture.call("PATCH", "/account", "{}").await.field("payloadCheck"), "reject");
}

#[tokio::test]
async fn an_unreadable_payload_is_the_callers_error_and_not_an_internal_one() {
    let fixture = fixture("reject").await;
    for value in ["1e99999", "\"\\ud800\""] {
        let message = format!("{{\"eventType\": \"SOLD\", \"payload\": {{\"status\": \"SOLD\", \"a\": {value}}}}}");
        let refused = fixture.post("/app/app/msg", message.as_str()).await;
        assert_eq!(
            (refused.status, &refused.json()["detail"][0]["loc"]),
            (422, &json!(["body", "payload"])),
            "{value}"
        );
        let other = message.replace("SOLD\", \"payload", "NEW\", \"payload");
        let unread = "/app/app/msg?with_content=false";
        assert_eq!(
            fixture.post(unread, other.as_str()).await.status,
            202,
            "an event type without a schema refused a payload"
        );
    }
    assert_eq!(counts(&fixture).await, json!({"warned": 0, "rejected": 2}));
    let deep = format!(
        "{{\"eventType\": \"NEW\", \"payload\": {}{}}}",
        "{\"a\":".repeat(125),
        "1".to_owned() + &"}".repeat(125)
    );
    assert_eq!(
        fixture.post("/app/app/msg", deep.as_str()).await.status,
        422,
        "a payload that is too deep was accepted"
    );
}
