//! The definitions of the two event types, as `POST /api/v1/event-type/` of the provider expects them.
//!
//! The platform registers these definitions in a customer's provider account, and generates the documentation of the
//! events from them. The events themselves are in [`crate::event`].

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::event::{AuctionStatusChange, Event, EventType, ItemStatusChange};
use crate::{AuctionStatus, ItemStatus};

/// Version key of the schemas. A changed schema gets a new key, and this one stays.
pub const SCHEMA_VERSION: &str = "1";

/// The request body that creates an event type. Deserialization ignores unknown fields, because a provider's response
/// has fields of its own.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EventTypeDefinition {
    /// The event type's name, such as `ITEM_STATUS_CHANGE`.
    pub name: String,
    /// Description for the person who chooses the event types of an endpoint.
    pub description: String,
    /// False for a new event type.
    #[serde(default)]
    pub archived: bool,
    /// JSON Schemas of the body by version key.
    pub schemas: IndexMap<String, EventSchema>,
}

/// The JSON Schema of an event's body, limited to the keywords that the definitions use.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EventSchema {
    /// What the event announces.
    pub description: String,
    /// Title of the schema.
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
    /// The JSON Schema type, always `string`.
    pub r#type: String,
}

/// The definition of an event type, as the request body for a provider.
pub fn definition(event_type: EventType) -> EventTypeDefinition {
    EventTypeDefinition {
        name: event_type.name().to_owned(),
        description: event_type.description().to_owned(),
        archived: false,
        schemas: IndexMap::from([(SCHEMA_VERSION.to_owned(), schema(event_type))]),
    }
}

/// An example of an event, for documents and tests: an item that was sold, and the auction that it is in going LIVE.
pub const fn example(event_type: EventType) -> Event {
    let auctioneer_uuid = Uuid::from_u128(0x019c_22c6_901e_7c8e_b1d5_3e9a_6c40_2f17);
    let auction_uuid = Uuid::from_u128(0x01a3_9543_977e_7e1f_a4c7_8d13_f06b_29e5);
    let item_uuid = Uuid::from_u128(0x01a3_9550_fb6f_7a52_9c3e_5b7f_20d1_a864);
    match event_type {
        EventType::ItemStatusChange => {
            let status = ItemStatus::Sold;
            Event::ItemStatusChange(ItemStatusChange { item_uuid, auctioneer_uuid, auction_uuid, status })
        }
        EventType::AuctionStatusChange => {
            let status = AuctionStatus::Live;
            Event::AuctionStatusChange(AuctionStatusChange { auctioneer_uuid, auction_uuid, status })
        }
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
        // Every event has all fields.
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
    fn the_definition_of_the_item_event_is_the_request_body_of_the_provider() {
        let expected = r#"{"name":"ITEM_STATUS_CHANGE","description":"Event triggered when an item status changes","archived":false,"schemas":{"1":{"description":"Event triggered when an item status changes","title":"Item status changed","type":"object","properties":{"itemUuid":{"description":"UUID of the item whose status changed","type":"string"},"auctioneerUuid":{"description":"UUID of the auctioneer that holds the auction","type":"string"},"auctionUuid":{"description":"UUID of the auction that the item is in","type":"string"},"status":{"description":"Name of the item's new status","type":"string"}},"required":["itemUuid","auctioneerUuid","auctionUuid","status"]}}}"#;
        assert_eq!(serde_json::to_string(&definition(EventType::ItemStatusChange)).unwrap(), expected);
    }

    #[test]
    fn the_definition_of_the_auction_event_is_the_request_body_of_the_provider() {
        let expected = r#"{"name":"AUCTION_STATUS_CHANGE","description":"Event triggered when an auction status changes","archived":false,"schemas":{"1":{"description":"Event triggered when an auction status changes","title":"Auction status changed","type":"object","properties":{"auctioneerUuid":{"description":"UUID of the auctioneer that holds the auction","type":"string"},"auctionUuid":{"description":"UUID of the auction whose status changed","type":"string"},"status":{"description":"Name of the auction's new status","type":"string"}},"required":["auctioneerUuid","auctionUuid","status"]}}}"#;
        assert_eq!(serde_json::to_string(&definition(EventType::AuctionStatusChange)).unwrap(), expected);
    }

    #[test]
    fn a_definition_is_read_from_a_response_with_additional_fields() {
        for event_type in EventType::ALL {
            let definition = definition(*event_type);
            let mut response = serde_json::to_value(&definition).unwrap();
            response["createdAt"] = "2026-11-21T06:28:03.123Z".into();
            assert_eq!(serde_json::from_value::<EventTypeDefinition>(response).unwrap(), definition);
        }
    }
}
