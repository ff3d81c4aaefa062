//! The two events that a customer receives (service.md section 6).
//!
//! The platform writes their bodies when a status change is committed; the publisher, the replay of events and a
//! customer's consumer read them. A body has exactly the specified fields, in the specified order, and nothing else.

use serde::{Deserialize, Deserializer, Serialize};
use uuid::Uuid;

use crate::fields::Fields;
use crate::named::named;
use crate::{AuctionStatus, ItemStatus, ModelError};

/// What an event tells; the key by which the provider routes it to endpoints.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum EventType {
    /// `ITEM_STATUS_CHANGE`.
    ItemStatusChange,
    /// `AUCTION_STATUS_CHANGE`.
    AuctionStatusChange,
}

impl EventType {
    /// Every event type.
    pub const ALL: &'static [Self] = &[Self::ItemStatusChange, Self::AuctionStatusChange];

    /// The name in the provider's account and on every message.
    pub const fn name(self) -> &'static str {
        match self {
            Self::ItemStatusChange => "ITEM_STATUS_CHANGE",
            Self::AuctionStatusChange => "AUCTION_STATUS_CHANGE",
        }
    }

    /// The description of the event type, word for word.
    pub const fn description(self) -> &'static str {
        match self {
            Self::ItemStatusChange => "Event triggered when an item status changes",
            Self::AuctionStatusChange => "Event triggered when an auction status changes",
        }
    }

    /// The title of its schema, word for word.
    pub const fn title(self) -> &'static str {
        match self {
            Self::ItemStatusChange => "Item status changed",
            Self::AuctionStatusChange => "Auction status changed",
        }
    }
}

named!(EventType, "event type");

/// The body of `ITEM_STATUS_CHANGE`: the item has this status now.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ItemStatusChange {
    /// The item.
    pub item_uuid: Uuid,
    /// Whose auction it is.
    pub auctioneer_uuid: Uuid,
    /// The auction that the item is in.
    pub auction_uuid: Uuid,
    /// The new status.
    pub status: ItemStatus,
}

/// The body of `AUCTION_STATUS_CHANGE`: the auction has this status now.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct AuctionStatusChange {
    /// Whose auction it is.
    pub auctioneer_uuid: Uuid,
    /// The auction.
    pub auction_uuid: Uuid,
    /// The new status.
    pub status: AuctionStatus,
}

/// An event of either type. Serialises as its body alone; the type travels beside it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(untagged)]
pub enum Event {
    /// An item has a new status.
    ItemStatusChange(ItemStatusChange),
    /// An auction has a new status.
    AuctionStatusChange(AuctionStatusChange),
}

impl Event {
    /// Reads the body of an event of the given type.
    ///
    /// # Errors
    ///
    /// Anything but exactly the type's own fields, with UUIDs in their hyphenated form and a legal status name.
    pub fn parse(event_type: EventType, body: &str) -> Result<Self, ModelError> {
        let fields = Fields::from_json(body)?;
        match event_type {
            EventType::ItemStatusChange => ItemStatusChange::read(fields).map(Self::ItemStatusChange),
            EventType::AuctionStatusChange => AuctionStatusChange::read(fields).map(Self::AuctionStatusChange),
        }
    }

    /// Which type of event this is.
    pub const fn event_type(&self) -> EventType {
        match self {
            Self::ItemStatusChange(_) => EventType::ItemStatusChange,
            Self::AuctionStatusChange(_) => EventType::AuctionStatusChange,
        }
    }

    /// The body, exactly as it is sent: compact JSON, fields in the specified order.
    pub fn to_json(&self) -> String {
        // Written by hand because nothing in it can need escaping or fail, and a publisher does this for every event.
        match self {
            Self::ItemStatusChange(change) => format!(
                r#"{{"itemUuid":"{}","auctioneerUuid":"{}","auctionUuid":"{}","status":"{}"}}"#,
                change.item_uuid, change.auctioneer_uuid, change.auction_uuid, change.status
            ),
            Self::AuctionStatusChange(change) => format!(
                r#"{{"auctioneerUuid":"{}","auctionUuid":"{}","status":"{}"}}"#,
                change.auctioneer_uuid, change.auction_uuid, change.status
            ),
        }
    }

    /// Whose status it is: the item, or the auction.
    pub const fn subject(&self) -> Uuid {
        match self {
            Self::ItemStatusChange(change) => change.item_uuid,
            Self::AuctionStatusChange(change) => change.auction_uuid,
        }
    }

    /// The auction: the one that the item is in, or the one that the event is about.
    pub const fn auction(&self) -> Uuid {
        match self {
            Self::ItemStatusChange(change) => change.auction_uuid,
            Self::AuctionStatusChange(change) => change.auction_uuid,
        }
    }

    /// Whose auction it is.
    pub const fn auctioneer(&self) -> Uuid {
        match self {
            Self::ItemStatusChange(change) => change.auctioneer_uuid,
            Self::AuctionStatusChange(change) => change.auctioneer_uuid,
        }
    }

    /// Name of the new status, such as `SOLD`.
    pub const fn status_name(&self) -> &'static str {
        match self {
            Self::ItemStatusChange(change) => change.status.name(),
            Self::AuctionStatusChange(change) => change.status.name(),
        }
    }
}

impl From<ItemStatusChange> for Event {
    fn from(change: ItemStatusChange) -> Self {
        Self::ItemStatusChange(change)
    }
}

impl From<AuctionStatusChange> for Event {
    fn from(change: AuctionStatusChange) -> Self {
        Self::AuctionStatusChange(change)
    }
}

impl ItemStatusChange {
    fn read(mut fields: Fields) -> Result<Self, ModelError> {
        let change = Self {
            item_uuid: fields.required("itemUuid")?,
            auctioneer_uuid: fields.required("auctioneerUuid")?,
            auction_uuid: fields.required("auctionUuid")?,
            status: fields.required("status")?,
        };
        fields.end()?;
        Ok(change)
    }
}

impl<'de> Deserialize<'de> for ItemStatusChange {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::read(Fields::deserialize(deserializer)?).map_err(serde::de::Error::custom)
    }
}

impl AuctionStatusChange {
    fn read(mut fields: Fields) -> Result<Self, ModelError> {
        let change = Self {
            auctioneer_uuid: fields.required("auctioneerUuid")?,
            auction_uuid: fields.required("auctionUuid")?,
            status: fields.required("status")?,
        };
        fields.end()?;
        Ok(change)
    }
}

impl<'de> Deserialize<'de> for AuctionStatusChange {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::read(Fields::deserialize(deserializer)?).map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
        assert_eq!(
            (event.subject(), event.auction(), event.auctioneer()),
            (uuid(1), uuid(3), uuid(2))
        );
        assert_eq!(
            (event.event_type().name(), event.status_name()),
            ("ITEM_STATUS_CHANGE", "SOLD")
        );
    }

    #[test]
    fn an_auction_event_is_its_three_fields_in_order() {
        let change = AuctionStatusChange {
            auctioneer_uuid: uuid(2),
            auction_uuid: uuid(3),
            status: AuctionStatus::Live,
        };
        let event = Event::from(change);
        assert_eq!(event.to_json(), AUCTION);
        assert_eq!(serde_json::to_string(&event).unwrap(), AUCTION);
        assert_eq!(Event::parse(EventType::AuctionStatusChange, AUCTION).unwrap(), event);
        assert_eq!(serde_json::from_str::<AuctionStatusChange>(AUCTION).unwrap(), change);
        assert_eq!(
            (event.subject(), event.auction(), event.auctioneer()),
            (uuid(3), uuid(3), uuid(2))
        );
        assert_eq!(
            (event.event_type().name(), event.status_name()),
            ("AUCTION_STATUS_CHANGE", "LIVE")
        );
    }

    #[test]
    fn every_status_of_an_event_survives_the_wire() {
        for status in ItemStatus::ALL {
            let body = ITEM.replace("SOLD", status.name());
            assert_eq!(
                Event::parse(EventType::ItemStatusChange, &body).unwrap().to_json(),
                body
            );
        }
        for status in AuctionStatus::ALL {
            let body = AUCTION.replace("LIVE", status.name());
            assert_eq!(
                Event::parse(EventType::AuctionStatusChange, &body).unwrap().to_json(),
                body
            );
        }
    }

    #[test]
    fn an_event_without_one_of_its_fields_is_refused_at_that_field() {
        for (event_type, body) in [
            (EventType::ItemStatusChange, ITEM),
            (EventType::AuctionStatusChange, AUCTION),
        ] {
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
    fn an_event_that_is_not_exact_is_refused() {
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
            (
                Item,
                swap("01934b9e-7c5a", "01934b9e7c5a"),
                "invalid_value",
                "/itemUuid",
            ),
            (Item, swap("itemUuid", "item_uuid"), "missing_field", "/itemUuid"),
            (Item, format!("[{ITEM}]"), "not_an_object", ""),
            (Item, format!("{ITEM},"), "not_json", ""),
        ] {
            assert_eq!(refused(event_type, &body), (code, pointer.to_owned()), "{body}");
        }
    }

    #[test]
    fn event_types_have_the_words_of_the_specification() {
        let words: Vec<_> = EventType::ALL
            .iter()
            .map(|of| (of.name(), of.description(), of.title()))
            .collect();
        assert_eq!(
            words,
            [
                (
                    "ITEM_STATUS_CHANGE",
                    "Event triggered when an item status changes",
                    "Item status changed"
                ),
                (
                    "AUCTION_STATUS_CHANGE",
                    "Event triggered when an auction status changes",
                    "Auction status changed"
                ),
            ]
        );
        assert_eq!("ITEM_STATUS_CHANGE".parse(), Ok(EventType::ItemStatusChange));
        assert!("item_status_change".parse::<EventType>().is_err());
    }
}
