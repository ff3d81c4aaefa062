//! The two events: exact bodies, and bodies that are rejected.

#![expect(clippy::expect_used, reason = "a failed expectation fails the test")]

use contract::event::{AuctionStatusChange, Event, EventType, ItemStatusChange};
use contract::{AuctionStatus, ItemStatus};
use uuid::Uuid;

const ITEM: &str = r#"{"itemUuid":"01934b9e-7c5a-7d3e-8f21-000000000001","auctioneerUuid":"01934b9e-7c5a-7d3e-8f21-000000000002","auctionUuid":"01934b9e-7c5a-7d3e-8f21-000000000003","status":"SOLD"}"#;
const AUCTION: &str = r#"{"auctioneerUuid":"01934b9e-7c5a-7d3e-8f21-000000000002","auctionUuid":"01934b9e-7c5a-7d3e-8f21-000000000003","status":"LIVE"}"#;

fn uuid(last: u128) -> Uuid {
    Uuid::from_u128(0x01934b9e_7c5a_7d3e_8f21_000000000000 + last)
}

fn refused(event_type: EventType, body: &str) -> (&'static str, String) {
    let error = Event::parse(event_type, body).expect_err(body);
    (error.code(), error.pointer().to_owned())
}

#[test]
fn an_item_event_is_its_four_fields_in_order() {
    let change = ItemStatusChange {
        item_uuid: uuid(1),
        auctioneer_uuid: uuid(2),
        auction_uuid: uuid(3),
        status: ItemStatus::Sold,
    };
    let event = Event::from(change);
    assert_eq!(event.to_json(), ITEM);
    assert_eq!(serde_json::to_string(&event).unwrap(), ITEM);
    assert_eq!(Event::parse(EventType::ItemStatusChange, ITEM).unwrap(), event);
    assert_eq!(serde_json::from_str::<ItemStatusChange>(ITEM).unwrap(), change);
    assert_eq!((event.subject(), event.auction(), event.auctioneer()), (uuid(1), uuid(3), uuid(2)));
    assert_eq!((event.event_type().name(), event.status_name()), ("ITEM_STATUS_CHANGE", "SOLD"));
}

#[test]
fn an_auction_event_is_its_three_fields_in_order() {
    let change = AuctionStatusChange { auctioneer_uuid: uuid(2), auction_uuid: uuid(3), status: AuctionStatus::Live };
    let event = Event::from(change);
    assert_eq!(event.to_json(), AUCTION);
    assert_eq!(serde_json::to_string(&event).unwrap(), AUCTION);
    assert_eq!(Event::parse(EventType::AuctionStatusChange, AUCTION).unwrap(), event);
    assert_eq!(serde_json::from_str::<AuctionStatusChange>(AUCTION).unwrap(), change);
    assert_eq!((event.subject(), event.auction(), event.auctioneer()), (uuid(3), uuid(3), uuid(2)));
    assert_eq!((event.event_type().name(), event.status_name()), ("AUCTION_STATUS_CHANGE", "LIVE"));
}

#[test]
fn every_status_of_an_event_survives_a_round_trip() {
    for status in ItemStatus::ALL {
        let body = ITEM.replace("SOLD", status.name());
        assert_eq!(Event::parse(EventType::ItemStatusChange, &body).unwrap().to_json(), body);
    }
    for status in AuctionStatus::ALL {
        let body = AUCTION.replace("LIVE", status.name());
        assert_eq!(Event::parse(EventType::AuctionStatusChange, &body).unwrap().to_json(), body);
    }
}

#[test]
fn an_event_without_a_field_is_rejected_at_that_field() {
    for (event_type, body) in [(EventType::ItemStatusChange, ITEM), (EventType::AuctionStatusChange, AUCTION)] {
        let whole: serde_json::Map<String, serde_json::Value> = serde_json::from_str(body).unwrap();
        for name in whole.keys() {
            let mut without = whole.clone();
            without.remove(name);
            let body = serde_json::to_string(&without).unwrap();
            assert_eq!(refused(event_type, &body), ("missing_field", format!("/{name}")));
        }
    }
}

#[test]
fn an_event_that_is_not_exact_is_rejected() {
    use EventType::{AuctionStatusChange as Auction, ItemStatusChange as Item};
    let swap = |from: &str, to: &str| ITEM.replacen(from, to, 1);
    for (event_type, body, code, pointer) in [
        (Auction, ITEM.to_owned(), "invalid_value", "/status"),
        (Auction, swap("SOLD", "LIVE"), "unknown_field", "/itemUuid"),
        (Item, AUCTION.to_owned(), "missing_field", "/itemUuid"),
        (Item, swap("}", r#","at":1}"#), "unknown_field", "/at"),
        (Item, swap("}", r#","status":"SOLD"}"#), "duplicate_field", "/status"),
        (Item, swap("SOLD", "sold"), "invalid_value", "/status"),
        (Item, swap("SOLD", "NEW"), "invalid_value", "/status"),
        (Item, swap("\"SOLD\"", "6"), "wrong_type", "/status"),
        (Item, swap("\"SOLD\"", "null"), "wrong_type", "/status"),
        (Item, swap("01934b9e-7c5a", "01934b9e7c5a"), "invalid_value", "/itemUuid"),
        (Item, swap("itemUuid", "item_uuid"), "missing_field", "/itemUuid"),
        (Item, format!("[{ITEM}]"), "not_an_object", ""),
        (Item, format!("{ITEM},"), "not_json", ""),
    ] {
        assert_eq!(refused(event_type, &body), (code, pointer.to_owned()), "{body}");
    }
}

#[test]
fn event_types_have_the_specified_names_descriptions_and_titles() {
    let words: Vec<_> = EventType::ALL.iter().map(|of| (of.name(), of.description(), of.title())).collect();
    assert_eq!(
        words,
        [
            ("ITEM_STATUS_CHANGE", "Event triggered when an item status changes", "Item status changed"),
            ("AUCTION_STATUS_CHANGE", "Event triggered when an auction status changes", "Auction status changed"),
        ]
    );
    assert_eq!("ITEM_STATUS_CHANGE".parse(), Ok(EventType::ItemStatusChange));
    assert!("item_status_change".parse::<EventType>().is_err());
}

#[test]
fn the_webhooks_page_shows_the_examples_of_the_events() {
    let page = include_str!("../../../docs/receive-events/webhooks.md");
    for event_type in EventType::ALL {
        let body = contract::event_type::example(*event_type).to_json();
        assert!(page.contains(&body), "the page does not contain {body}");
        assert_eq!(Event::parse(*event_type, &body).expect(&body).to_json(), body);
    }
}
