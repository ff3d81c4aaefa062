//! The AsyncAPI document is valid AsyncAPI 3.0 and describes the published events.

use contract::event::{AuctionStatusChange, Event, EventType, ItemStatusChange};
use contract::{AuctionStatus, ItemStatus};
use http::Method;
use serde_json::{Value, json};
use uuid::Uuid;

use crate::fixture::Fixture;

async fn document() -> Value {
    let answer = Fixture::new().send(&Method::GET, "/api/v1/asyncapi.json", &[], "").await;
    assert_eq!((answer.status, answer.header("content-type")), (200, Some("application/json")));
    answer.json()
}

fn fields(value: &Value, allowed: &[&str], required: &[&str], at: &str) {
    let object = value.as_object().unwrap_or_else(|| panic!("{at} is no object"));
    for name in object.keys() {
        assert!(allowed.contains(&name.as_str()) || name.starts_with("x-"), "{at} has no field {name}");
    }
    for name in required {
        assert!(object.contains_key(*name), "{at} lacks {name}");
    }
}

/// The target of a reference.
fn follow<'a>(document: &'a Value, reference: &Value) -> &'a Value {
    let target = reference["$ref"].as_str().unwrap_or_else(|| panic!("{reference} is no reference"));
    document.pointer(target.strip_prefix('#').unwrap()).unwrap_or_else(|| panic!("{target} does not resolve"))
}

/// Calls `visit` with every reference object of a value.
fn references(value: &Value, visit: &mut dyn FnMut(&Value)) {
    match value {
        Value::Object(object) if object.contains_key("$ref") => {
            assert_eq!(object.len(), 1, "a $ref has sibling fields: {value}");
            visit(value);
        }
        Value::Object(object) => object.values().for_each(|inner| references(inner, visit)),
        Value::Array(list) => list.iter().for_each(|inner| references(inner, visit)),
        _ => {}
    }
}

#[tokio::test]
async fn the_document_is_valid_asyncapi_3() {
    let document = document().await;
    let root = ["asyncapi", "id", "info", "servers", "defaultContentType", "channels", "operations", "components"];
    fields(&document, &root, &["asyncapi", "info"], "the document");
    assert_eq!(document["asyncapi"], "3.0.0");
    let info = ["title", "version", "description", "termsOfService", "contact", "license", "tags", "externalDocs"];
    fields(&document["info"], &info, &["title", "version"], "info");
    let components = [
        "schemas",
        "servers",
        "channels",
        "operations",
        "messages",
        "securitySchemes",
        "serverVariables",
        "parameters",
        "correlationIds",
        "replies",
        "replyAddresses",
        "externalDocs",
        "tags",
        "operationTraits",
        "messageTraits",
        "serverBindings",
        "channelBindings",
        "operationBindings",
        "messageBindings",
    ];
    fields(&document["components"], &components, &[], "components");
    for (kind, parts) in document["components"].as_object().unwrap() {
        for name in parts.as_object().unwrap().keys() {
            let is_plain = name.chars().all(|c| c.is_ascii_alphanumeric() || "._-".contains(c));
            assert!(is_plain, "components/{kind}/{name}");
        }
    }
    references(&document, &mut |reference| {
        follow(&document, reference);
    });

    for (name, channel) in document["channels"].as_object().unwrap() {
        let allowed = [
            "address",
            "messages",
            "title",
            "summary",
            "description",
            "servers",
            "parameters",
            "tags",
            "externalDocs",
            "bindings",
        ];
        fields(channel, &allowed, &[], name);
        assert!(channel["address"].is_null() || channel["address"].is_string());
        assert!(!channel["messages"].as_object().unwrap().is_empty());
    }
    for (name, operation) in document["operations"].as_object().unwrap() {
        let allowed = [
            "action",
            "channel",
            "title",
            "summary",
            "description",
            "security",
            "tags",
            "externalDocs",
            "bindings",
            "traits",
            "messages",
            "reply",
        ];
        fields(operation, &allowed, &["action", "channel"], name);
        assert!(["send", "receive"].contains(&operation["action"].as_str().unwrap()));
        let channel = operation["channel"]["$ref"].as_str().unwrap();
        assert!(channel.starts_with("#/channels/"), "{channel}");
        for message in operation["messages"].as_array().unwrap() {
            // A message reference points into the operation's channel, not to components.
            let target = message["$ref"].as_str().unwrap();
            assert!(target.starts_with(&format!("{channel}/messages/")), "{target}");
        }
    }
    for (name, message) in document["components"]["messages"].as_object().unwrap() {
        let allowed = [
            "headers",
            "payload",
            "correlationId",
            "contentType",
            "name",
            "title",
            "summary",
            "description",
            "tags",
            "externalDocs",
            "bindings",
            "examples",
            "traits",
        ];
        fields(message, &allowed, &[], name);
        for example in message["examples"].as_array().unwrap() {
            fields(example, &["headers", "payload", "name", "summary"], &[], "an example");
        }
        for reference in message["traits"].as_array().unwrap() {
            let allowed: Vec<&str> = allowed.into_iter().filter(|name| !["payload", "traits"].contains(name)).collect();
            fields(follow(&document, reference), &allowed, &[], "a trait");
        }
    }
}

#[tokio::test]
async fn the_document_describes_exactly_the_published_bodies() {
    let document = document().await;
    let webhooks = document["channels"].as_object().unwrap().iter().filter(|(_, channel)| channel["address"].is_null());
    let names: Vec<&str> = webhooks.map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, EventType::ALL.iter().map(|event_type| event_type.name()).collect::<Vec<_>>());
    let item_uuid = Uuid::from_u128(1);
    let auctioneer_uuid = Uuid::from_u128(2);
    let auction_uuid = Uuid::from_u128(3);
    let items = ItemStatus::ALL
        .iter()
        .map(|status| Event::from(ItemStatusChange { item_uuid, auctioneer_uuid, auction_uuid, status: *status }));
    let auctions = AuctionStatus::ALL
        .iter()
        .map(|status| Event::from(AuctionStatusChange { auctioneer_uuid, auction_uuid, status: *status }));
    for event in items.chain(auctions) {
        let name = event.event_type().name();
        let message = &document["components"]["messages"][name];
        let schema = follow(&document, &message["payload"]);
        let validator = jsonschema::options().should_validate_formats(true).build(schema).unwrap();
        let body: Value = serde_json::from_str(&event.to_json()).unwrap();
        assert!(validator.is_valid(&body), "{name}: {body}");
        assert!(validator.is_valid(&message["examples"][0]["payload"]));
        let described: Vec<&String> = schema["properties"].as_object().unwrap().keys().collect();
        assert_eq!(
            described,
            body.as_object().unwrap().keys().collect::<Vec<_>>(),
            "the described fields differ from those of the body, or in their order"
        );

        let mut more = body.clone();
        more["more"] = json!(1);
        let mut wrong = body.clone();
        wrong["status"] = json!("GONE");
        assert!(!validator.is_valid(&more) && !validator.is_valid(&wrong));
        for field in described {
            let mut less = body.clone();
            less.as_object_mut().unwrap().remove(field);
            assert!(!validator.is_valid(&less), "{name} without {field}");
        }

        let headers = follow(&document, &message["traits"][0])["headers"].clone();
        assert!(jsonschema::is_valid(&headers, &message["examples"][0]["headers"]));
    }
}
