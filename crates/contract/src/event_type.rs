//! How the provider is told of the two event types (service.md section 4, `POST /api/v1/event-type/`).
//!
//! Support registers these definitions in a customer's account, and the document that describes the events is made from
//! them. They are data: what an event holds is decided in [`crate::event`].

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

use crate::event::EventType;

/// The version key of the schemas. A schema that changes gets a new key beside this one.
pub const SCHEMA_VERSION: &str = "1";

/// The request body that creates an event type. Reading is lenient, as a provider answers with fields of its own.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EventTypeDefinition {
    /// The event type's name, such as `ITEM_STATUS_CHANGE`.
    pub name: String,
    /// Free text for whoever chooses event types for an endpoint.
    pub description: String,
    /// False when creating.
    #[serde(default)]
    pub archived: bool,
    /// JSON Schema of the body, by version key.
    pub schemas: IndexMap<String, EventSchema>,
}

/// The JSON Schema of an event's body, of the few keywords that the provider's call has.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EventSchema {
    /// What the event tells.
    pub description: String,
    /// The provider's title of the schema.
    pub title: String,
    /// Always `object`.
    pub r#type: String,
    /// The fields by name, in the order of the body.
    pub properties: IndexMap<String, EventProperty>,
    /// Names of the required fields.
    pub required: Vec<String>,
}

/// One field of an event's body.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EventProperty {
    /// What the field holds.
    pub description: String,
    /// The JSON Schema word, always `string`.
    pub r#type: String,
}

/// The definition of an event type, ready to be sent to a provider.
pub fn definition(event_type: EventType) -> EventTypeDefinition {
    EventTypeDefinition {
        name: event_type.name().to_owned(),
        description: event_type.description().to_owned(),
        archived: false,
        schemas: IndexMap::from([(SCHEMA_VERSION.to_owned(), schema(event_type))]),
    }
}

/// The JSON Schema of an event's body.
pub fn schema(event_type: EventType) -> EventSchema {
    let properties: IndexMap<_, _> = fields(event_type)
        .iter()
        .map(|(name, description)| {
            let property = EventProperty { description: (*description).to_owned(), r#type: "string".to_owned() };
            ((*name).to_owned(), property)
        })
        .collect();
    EventSchema {
        description: event_type.description().to_owned(),
        title: event_type.title().to_owned(),
        r#type: "object".to_owned(),
        // An event carries all of its fields, always.
        required: properties.keys().cloned().collect(),
        properties,
    }
}

const fn fields(event_type: EventType) -> &'static [(&'static str, &'static str)] {
    match event_type {
        EventType::ItemStatusChange => &[
            ("itemUuid", "UUID of the item whose status changed"),
            ("auctioneerUuid", "UUID of the auctioneer that holds the auction"),
            ("auctionUuid", "UUID of the auction that the item is in"),
            ("status", "Name of the item's new status"),
        ],
        EventType::AuctionStatusChange => &[
            ("auctioneerUuid", "UUID of the auctioneer that holds the auction"),
            ("auctionUuid", "UUID of the auction whose status changed"),
            ("status", "Name of the auction's new status"),
        ],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_item_event_type_is_the_providers_request_body() {
        let expected = r#"{"name":"ITEM_STATUS_CHANGE","description":"Event triggered when an item status changes","archived":false,"schemas":{"1":{"description":"Event triggered when an item status changes","title":"Item status changed","type":"object","properties":{"itemUuid":{"description":"UUID of the item whose status changed","type":"string"},"auctioneerUuid":{"description":"UUID of the auctioneer that holds the auction","type":"string"},"auctionUuid":{"description":"UUID of the auction that the item is in","type":"string"},"status":{"description":"Name of the item's new status","type":"string"}},"required":["itemUuid","auctioneerUuid","auctionUuid","status"]}}}"#;
        assert_eq!(serde_json::to_string(&definition(EventType::ItemStatusChange)).unwrap(), expected);
    }

    #[test]
    fn the_auction_event_type_is_the_providers_request_body() {
        let expected = r#"{"name":"AUCTION_STATUS_CHANGE","description":"Event triggered when an auction status changes","archived":false,"schemas":{"1":{"description":"Event triggered when an auction status changes","title":"Auction status changed","type":"object","properties":{"auctioneerUuid":{"description":"UUID of the auctioneer that holds the auction","type":"string"},"auctionUuid":{"description":"UUID of the auction whose status changed","type":"string"},"status":{"description":"Name of the auction's new status","type":"string"}},"required":["auctioneerUuid","auctionUuid","status"]}}}"#;
        assert_eq!(serde_json::to_string(&definition(EventType::AuctionStatusChange)).unwrap(), expected);
    }

    #[test]
    fn a_definition_is_read_back_from_a_provider_that_adds_fields_of_its_own() {
        for event_type in EventType::ALL {
            let definition = definition(*event_type);
            let mut answer = serde_json::to_value(&definition).unwrap();
            answer["createdAt"] = "2026-11-21T06:28:03.123Z".into();
            assert_eq!(serde_json::from_value::<EventTypeDefinition>(answer).unwrap(), definition);
        }
    }
}
