//! The live streams in the AsyncAPI document.

use contract::{AuctionStatus, ItemStatus};
use serde_json::{Map, Value, json};

/// Name, address, summary and messages of each stream.
const STREAMS: [(&str, &str, &str, &[&str]); 2] = [
    ("liveItem", "/api/v1/items/{uuid}/live", "An item as it changes.", &["itemSnapshot", "item"]),
    (
        "liveAuction",
        "/api/v1/auctions/{uuid}/live",
        "An auction and all of its items as they change.",
        &["auctionSnapshot", "auction", "item", "messages"],
    ),
];

/// Name, `event` field, summary and schema of each message.
const MESSAGES: [(&str, &str, &str, &str); 5] = [
    (
        "itemSnapshot",
        "snapshot",
        "The state of the item, at the beginning of the stream and after a gap.",
        "LiveItemEvent",
    ),
    ("item", "item", "An item changed: its whole public state.", "LiveItemEvent"),
    (
        "auctionSnapshot",
        "snapshot",
        "The state of the auction with its first 500 items and the one in the ring, at the beginning of the stream and after a gap.",
        "LiveAuctionSnapshot",
    ),
    ("auction", "auction", "The auction changed: its public state.", "LiveAuctionEvent"),
    (
        "messages",
        "messages",
        "The clerk of a webcast wrote to all visitors, or cleared a message: the latest 20 messages.",
        "LiveMessagesEvent",
    ),
];

/// Adds the streams to the document.
pub(super) fn add(document: &mut Value) {
    let into = |document: &mut Value, pointer: &str, parts: Vec<(&str, Value)>| {
        if let Some(object) = document.pointer_mut(pointer).and_then(Value::as_object_mut) {
            object.extend(parts.into_iter().map(|(name, part)| (name.to_owned(), part)));
        }
    };
    let (channels, operations) = STREAMS.iter().map(channel_and_operation).unzip();
    into(document, "/channels", channels);
    into(document, "/operations", operations);
    into(document, "/components/messages", MESSAGES.iter().map(message).collect());
    into(document, "/components/schemas", schemas());
}

type Part = (&'static str, Value);

fn channel_and_operation(
    &(name, address, summary, messages): &(&'static str, &'static str, &'static str, &'static [&'static str]),
) -> (Part, Part) {
    let of: Map<String, Value> = messages
        .iter()
        .map(|message| ((*message).to_owned(), json!({ "$ref": format!("#/components/messages/{message}") })))
        .collect();
    let channel = json!({
        "address": address,
        "title": summary,
        "description": "Server-sent events over HTTP, for a key with the scope `auctions:read`. Each event has an `id`; to reconnect, \
            send the last one as `Last-Event-ID`. Comments keep the connection alive. An event may repeat a state: ignore one \
            whose `version` is not above the last one that you received.",
        "parameters": { "uuid": { "description": "UUID of the item or auction." } },
        "messages": of,
    });
    let references: Vec<Value> =
        messages.iter().map(|message| json!({ "$ref": format!("#/channels/{name}/messages/{message}") })).collect();
    let operation = json!({
        "action": "send",
        "channel": { "$ref": format!("#/channels/{name}") },
        "title": summary,
        "summary": summary,
        "messages": references,
        "bindings": { "http": { "method": "GET", "bindingVersion": super::HTTP_BINDING } },
    });
    ((name, channel), (name, operation))
}

fn message(&(name, event, summary, schema): &(&'static str, &'static str, &'static str, &'static str)) -> Part {
    let message = json!({
        "name": event,
        "title": name,
        "summary": summary,
        "contentType": "application/json",
        "payload": { "$ref": format!("#/components/schemas/{schema}") },
        "examples": [{ "name": "event", "payload": example(name) }],
        "traits": [],
    });
    (name, message)
}

fn schemas() -> Vec<Part> {
    let time = || json!({ "type": "string", "format": "date-time" });
    let none_or = |kind: &str| json!({ "type": [kind, "null"] });
    let time_or_none = || json!({ "type": ["string", "null"], "format": "date-time" });
    let total = |of: &str| {
        let description = format!("The {of} with buyer's premium and taxes, in minor units; null without a {of}.");
        json!({ "type": ["integer", "null"], "description": description })
    };
    let uuid = || json!({ "type": "string", "format": "uuid" });
    let integer = || json!({ "type": "integer" });
    let item_statuses: Vec<&str> = ItemStatus::ALL.iter().map(|status| status.name()).collect();
    let auction_statuses: Vec<&str> = AuctionStatus::ALL.iter().map(|status| status.name()).collect();
    let ring = json!({
        "description": "How the item is offered while it is in the ring of a webcast; null otherwise.",
        "type": ["object", "null"],
        "properties": {
            "askingPrice": integer(),
            "askingPriceTotal": { "type": "integer", "description": "The asking price with buyer's premium and taxes, in minor units." },
            "paused": { "type": "boolean" },
            "warnings": { "type": "integer" },
        },
    });
    let item = closed(json!({
        "uuid": uuid(), "auction": uuid(), "lotNumber": { "type": "string" },
        "status": { "type": "string", "enum": item_statuses },
        "price": none_or("integer"), "priceTotal": total("price"),
        "leader": none_or("string"), "minimumBid": none_or("integer"), "minimumBidTotal": total("minimum bid"),
        "reserveMet": none_or("boolean"), "buyNow": none_or("integer"), "bidCount": integer(),
        "endTime": time_or_none(), "effectiveEndTime": time_or_none(), "ring": ring, "version": integer(),
    }));
    let auction = closed(json!({
        "uuid": uuid(), "status": { "type": "string", "enum": auction_statuses },
        "startsAt": time_or_none(), "endsAt": time_or_none(),
        "inRing": { "type": ["string", "null"], "format": "uuid" }, "version": integer(),
    }));
    let of = |name: &str| json!({ "$ref": format!("#/components/schemas/{name}") });
    let messages = || {
        let description = "The latest 20 messages of the clerk to all visitors, the oldest first.";
        json!({ "type": "array", "items": of("LiveMessage"), "description": description })
    };
    let whole = json!({
        "serverTime": time(), "auction": of("LiveAuction"),
        "items": { "type": "array", "items": of("LiveItem") },
        "itemsComplete": { "type": "boolean", "description": "False if the auction has more items: list them from `next`." },
        "next": {
            "description": "If the auction has more items, the value for `after` of GET /api/v1/auctions/{uuid}/items; null otherwise.",
            "type": ["string", "null"],
        },
        "messages": messages(),
    });
    let message = closed(json!({
        "number": { "type": "integer", "description": "Its number in the sale, from 1." },
        "text": { "type": "string", "description": "One line in the clerk's words. Show it as text." },
        "at": time(),
        "item": { "type": ["string", "null"], "format": "uuid", "description": "The item that was in the ring." },
        "onStage": { "type": "boolean", "description": "It is the last one, and was not cleared: show it." },
    }));
    vec![
        ("LiveMessage", message),
        ("LiveMessagesEvent", closed(json!({ "serverTime": time(), "messages": messages() }))),
        ("LiveItem", item),
        ("LiveAuction", auction),
        ("LiveItemEvent", closed(json!({ "serverTime": time(), "item": of("LiveItem") }))),
        ("LiveAuctionEvent", closed(json!({ "serverTime": time(), "auction": of("LiveAuction") }))),
        ("LiveAuctionSnapshot", closed(whole)),
    ]
}

/// An object with exactly these fields, all of them required.
fn closed(properties: Value) -> Value {
    let required: Vec<&String> = properties.as_object().map(|fields| fields.keys().collect()).unwrap_or_default();
    json!({ "type": "object", "required": required, "additionalProperties": false, "properties": properties })
}

fn example(name: &str) -> Value {
    let (item, auction) = ("019a0000-0000-7000-8000-000000000003", "019a0000-0000-7000-8000-000000000002");
    let end = "2027-01-01T00:00:00.000Z";
    let item = json!({
        "uuid": item, "auction": auction, "lotNumber": "12A", "status": "LIVE", "price": 12_000,
        "priceTotal": 15_600, "leader": "117", "minimumBid": 13_000, "minimumBidTotal": 16_900, "reserveMet": true, "buyNow": null, "bidCount": 4, "endTime": end, "effectiveEndTime": end,
        "ring": null, "version": 6,
    });
    let auction =
        json!({ "uuid": auction, "status": "LIVE", "startsAt": null, "endsAt": end, "inRing": null, "version": 3 });
    let now = "2026-12-31T23:50:00.000Z";
    let messages = json!([{ "number": 1, "text": "We go on at 14:30.", "at": now, "item": null, "onStage": true }]);
    match name {
        "messages" => json!({ "serverTime": now, "messages": messages }),
        "auction" => json!({ "serverTime": now, "auction": auction }),
        "auctionSnapshot" => {
            json!({ "serverTime": now, "auction": auction, "items": [item], "itemsComplete": true, "next": null, "messages": [] })
        }
        _ => json!({ "serverTime": now, "item": item }),
    }
}
