//! The AsyncAPI 3.0 document: the two events, from the definitions that the platform registers with a provider, and the
//! live streams.

mod live;

use contract::event::EventType;
use contract::event_type::{SCHEMA_VERSION, example, schema};
use contract::{AuctionStatus, ItemStatus};
use serde_json::{Map, Value, json};

/// Version of the AsyncAPI `http` binding.
const HTTP_BINDING: &str = "0.3.0";
const SIGNATURE: &str = "Signatures separated by spaces. Each is `v1,` and the base64 of HMAC-SHA256 over `id.timestamp.body` with the endpoint's \
     secret (the base64 after `whsec_`). One valid signature is enough. For a day after a rotation of the secret there are two.";
/// The secret that signs the examples.
const EXAMPLE_SECRET: &str = "whsec_HH/RGr0bD90+ozGPB8TH5ESTHQNa6r3I";

/// The document, as `/api/v1/asyncapi.json` serves it.
pub(crate) fn document() -> Value {
    let each = |part: fn(EventType) -> (String, Value)| -> Value {
        Value::Object(EventType::ALL.iter().map(|event_type| part(*event_type)).collect::<Map<_, _>>())
    };
    let mut document = json!({
        "asyncapi": "3.0.0",
        "info": {
            "title": "Lotwire events",
            "version": env!("CARGO_PKG_VERSION"),
            "description": "What customers receive when auctions and items change their status: signed HTTP POSTs of the delivery \
                provider to the endpoints of the customer's consumer application (Standard Webhooks). Delivery is at least once: \
                respond with 2xx within the time limit of the provider (30 seconds unless it is set otherwise), and ignore a `webhook-id` that you have already processed. Events of one item or \
                auction are sent in order; a retry may arrive after a later event. `GET /api/v1/events` has the true order.",
            "license": { "name": "MIT OR Apache-2.0" },
            "tags": [{ "name": "webhooks" }],
        },
        "defaultContentType": "application/json",
        "channels": each(channel),
        "operations": each(operation),
        "components": {
            "messages": each(message),
            "schemas": each(payload),
            "messageTraits": { "signed": signed() },
        },
    });
    live::add(&mut document);
    document
}

/// The channel of an event type: the customer's endpoints that subscribe to it.
fn channel(event_type: EventType) -> (String, Value) {
    let name = event_type.name();
    let channel = json!({
        "address": null,
        "title": event_type.title(),
        "description": format!(
            "The addresses of the customer's endpoints that are subscribed to the event type `{name}`, schema version `{SCHEMA_VERSION}`."
        ),
        "messages": { name: { "$ref": format!("#/components/messages/{name}") } },
    });
    (name.to_owned(), channel)
}

fn operation(event_type: EventType) -> (String, Value) {
    let name = event_type.name();
    let operation = json!({
        "action": "send",
        "channel": { "$ref": format!("#/channels/{name}") },
        "title": event_type.title(),
        "summary": cause(event_type),
        "messages": [{ "$ref": format!("#/channels/{name}/messages/{name}") }],
        "bindings": { "http": { "method": "POST", "bindingVersion": HTTP_BINDING } },
    });
    (name.to_owned(), operation)
}

fn message(event_type: EventType) -> (String, Value) {
    let name = event_type.name();
    let message = json!({
        "name": name,
        "title": event_type.title(),
        "summary": event_type.description(),
        "contentType": "application/json",
        "traits": [{ "$ref": "#/components/messageTraits/signed" }],
        "payload": { "$ref": format!("#/components/schemas/{name}") },
        "examples": [{
            "name": "delivery",
            "summary": format!("Signed with the secret `{EXAMPLE_SECRET}`."),
            "headers": example_headers(event_type),
            "payload": serde_json::from_str::<Value>(&example(event_type).to_json()).unwrap_or_default(),
        }],
    });
    (name.to_owned(), message)
}

/// The schema that is registered with the provider, with formats and enumerations added.
fn payload(event_type: EventType) -> (String, Value) {
    let registered = schema(event_type);
    let mut properties = Map::new();
    for (name, property) in registered.properties {
        let mut known = json!({ "type": property.r#type, "description": property.description });
        if name == "status" {
            known["enum"] = statuses(event_type);
        } else {
            known["format"] = "uuid".into();
        }
        properties.insert(name, known);
    }
    let schema = json!({
        "title": registered.title,
        "description": registered.description,
        "type": registered.r#type,
        "properties": properties,
        "required": registered.required,
        "additionalProperties": false,
    });
    (event_type.name().to_owned(), schema)
}

fn statuses(event_type: EventType) -> Value {
    match event_type {
        EventType::ItemStatusChange => ItemStatus::ALL.iter().map(|status| status.name()).collect(),
        EventType::AuctionStatusChange => AuctionStatus::ALL.iter().map(|status| status.name()).collect(),
    }
}

/// The headers with which a receiver verifies a delivery.
fn signed() -> Value {
    let id = json!({ "type": "string", "description": "Id of the message, the same on every attempt." });
    let timestamp = json!({
        "type": "string", "pattern": "^[0-9]+$",
        "description": "When this attempt was signed, in seconds since 1970. Reject a message that is older than five minutes.",
    });
    let signature = json!({ "type": "string", "pattern": "^v1,", "description": SIGNATURE });
    json!({
        "headers": {
            "type": "object",
            "required": ["webhook-id", "webhook-timestamp", "webhook-signature", "svix-id", "svix-timestamp", "svix-signature"],
            "properties": {
                "webhook-id": id, "webhook-timestamp": timestamp, "webhook-signature": signature,
                "svix-id": id, "svix-timestamp": timestamp, "svix-signature": signature,
            },
        },
    })
}

/// The headers of a delivery of [`example`], signed with [`EXAMPLE_SECRET`].
fn example_headers(event_type: EventType) -> Value {
    let (id, at, signature) = match event_type {
        EventType::ItemStatusChange => {
            ("msg_3Nq7XvT0bLrYkE2cWdH9mZsPa5u", "1804529341", "v1,+xxmeDP9qZ+97fdXYWkWxZf2C3OW9cYtNddI1n30MZE=")
        }
        EventType::AuctionStatusChange => {
            ("msg_3MhV4sQ8kPzJc1RtXnB6yWfGd2o", "1802685602", "v1,dzRnjVHEwpDOcWA3rTWx1XBgN9NadpttlYohrCujOoo=")
        }
    };
    json!({
        "webhook-id": id, "webhook-timestamp": at, "webhook-signature": signature,
        "svix-id": id, "svix-timestamp": at, "svix-signature": signature,
    })
}

fn cause(event_type: EventType) -> &'static str {
    match event_type {
        EventType::ItemStatusChange => {
            "The end of an item in a timed auction was reached, or it was sold or passed in a webcast; and each later change of an \
             item that was announced once."
        }
        EventType::AuctionStatusChange => "An auction was created, or its status was changed.",
    }
}
