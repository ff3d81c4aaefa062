//! The schemas that are registered with a provider agree with the events that are sent.

#![expect(clippy::unwrap_used, reason = "a failed unwrap fails the test")]

use contract::event::{AuctionStatusChange, Event, EventType, ItemStatusChange};
use contract::event_type::definition;
use contract::{AuctionStatus, ItemStatus};
use serde_json::{Value, json};
use uuid::Uuid;

fn events(event_type: EventType) -> Vec<Event> {
    let (item_uuid, auctioneer_uuid, auction_uuid) = (Uuid::from_u128(1), Uuid::from_u128(2), Uuid::from_u128(3));
    match event_type {
        EventType::ItemStatusChange => ItemStatus::ALL
            .iter()
            .map(|status| ItemStatusChange { item_uuid, auctioneer_uuid, auction_uuid, status: *status }.into())
            .collect(),
        EventType::AuctionStatusChange => AuctionStatus::ALL
            .iter()
            .map(|status| AuctionStatusChange { auctioneer_uuid, auction_uuid, status: *status }.into())
            .collect(),
    }
}

fn schema(event_type: EventType) -> Value {
    serde_json::to_value(definition(event_type)).unwrap()["schemas"]["1"].clone()
}

#[test]
fn the_schemas_are_json_schema() {
    for event_type in EventType::ALL {
        let schema = schema(*event_type);
        assert!(jsonschema::meta::is_valid(&schema), "{schema}");
        assert!(jsonschema::draft4::meta::is_valid(&schema), "{schema}");
        assert!(jsonschema::draft7::meta::is_valid(&schema), "{schema}");
    }
}

#[test]
fn the_schemas_accept_every_event() {
    for event_type in EventType::ALL {
        let validator = jsonschema::validator_for(&schema(*event_type)).unwrap();
        for event in events(*event_type) {
            let body: Value = serde_json::from_str(&event.to_json()).unwrap();
            assert!(validator.is_valid(&body), "{body}");
        }
    }
}

#[test]
fn the_schemas_reject_an_event_with_a_missing_or_mistyped_field() {
    for event_type in EventType::ALL {
        let validator = jsonschema::validator_for(&schema(*event_type)).unwrap();
        for event in events(*event_type) {
            let body: Value = serde_json::from_str(&event.to_json()).unwrap();
            for name in body.as_object().unwrap().keys() {
                let mut without = body.clone();
                without.as_object_mut().unwrap().remove(name);
                assert!(!validator.is_valid(&without), "{without}");
                let mut other = body.clone();
                other[name] = json!(6);
                assert!(!validator.is_valid(&other), "{other}");
            }
        }
        assert!(!validator.is_valid(&json!([])));
    }
}

#[test]
fn the_schemas_name_the_fields_of_the_events_in_their_order() {
    for event_type in EventType::ALL {
        let schema = schema(*event_type);
        let properties: Vec<_> = schema["properties"].as_object().unwrap().keys().cloned().collect();
        for event in events(*event_type) {
            let body: Value = serde_json::from_str(&event.to_json()).unwrap();
            assert_eq!(body.as_object().unwrap().keys().cloned().collect::<Vec<_>>(), properties);
            assert_eq!(schema["required"], json!(properties));
        }
    }
}
