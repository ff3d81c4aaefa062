//! The two events that a customer receives.
//!
//! The platform writes the body of an event when it commits a status change. The publisher, the event feed and a
//! customer's consumer read it. A body has exactly the specified fields in the specified order.

use serde::{Deserialize, Deserializer, Serialize};
use uuid::Uuid;

use crate::enum_names::named;
use crate::fields::Fields;
use crate::{AuctionStatus, ItemStatus, ModelError};

/// The type of an event. The provider delivers an event to the endpoints that subscribe to its type.
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

    /// The name of the event type at the provider, and in every message.
    pub const fn name(self) -> &'static str {
        match self {
            Self::ItemStatusChange => "ITEM_STATUS_CHANGE",
            Self::AuctionStatusChange => "AUCTION_STATUS_CHANGE",
        }
    }

    /// The specified description of the event type.
    pub const fn description(self) -> &'static str {
        match self {
            Self::ItemStatusChange => "Event triggered when an item status changes",
            Self::AuctionStatusChange => "Event triggered when an auction status changes",
        }
    }

    /// The specified title of its schema.
    pub const fn title(self) -> &'static str {
        match self {
            Self::ItemStatusChange => "Item status changed",
            Self::AuctionStatusChange => "Auction status changed",
        }
    }
}

named!(EventType, "event type");

/// The body of `ITEM_STATUS_CHANGE`: the status of an item changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ItemStatusChange {
    /// The item.
    pub item_uuid: Uuid,
    /// The auctioneer of the auction.
    pub auctioneer_uuid: Uuid,
    /// The auction that the item is in.
    pub auction_uuid: Uuid,
    /// The new status.
    pub status: ItemStatus,
}

/// The body of `AUCTION_STATUS_CHANGE`: the status of an auction changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct AuctionStatusChange {
    /// The auctioneer of the auction.
    pub auctioneer_uuid: Uuid,
    /// The auction.
    pub auction_uuid: Uuid,
    /// The new status.
    pub status: AuctionStatus,
}

/// An event of either type. It is serialised as its body, without the type.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(untagged)]
pub enum Event {
    /// An item has a new status.
    ItemStatusChange(ItemStatusChange),
    /// An auction has a new status.
    AuctionStatusChange(AuctionStatusChange),
}

impl Event {
    /// Parses the body of an event of the given type.
    ///
    /// # Errors
    ///
    /// The body does not have exactly the fields of the type, a UUID is not in its hyphenated form, or the status has
    /// no legal name.
    pub fn parse(event_type: EventType, body: &str) -> Result<Self, ModelError> {
        let fields = Fields::from_json(body)?;
        match event_type {
            EventType::ItemStatusChange => ItemStatusChange::read(fields).map(Self::ItemStatusChange),
            EventType::AuctionStatusChange => AuctionStatusChange::read(fields).map(Self::AuctionStatusChange),
        }
    }

    /// The type of the event.
    pub const fn event_type(&self) -> EventType {
        match self {
            Self::ItemStatusChange(_) => EventType::ItemStatusChange,
            Self::AuctionStatusChange(_) => EventType::AuctionStatusChange,
        }
    }

    /// The body as it is sent: compact JSON with the fields in the specified order.
    pub fn to_json(&self) -> String {
        // The publisher does this for every event. No value needs escaping, so formatting is enough and can't fail.
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

    /// UUID of the item or auction whose status changed.
    pub const fn subject(&self) -> Uuid {
        match self {
            Self::ItemStatusChange(change) => change.item_uuid,
            Self::AuctionStatusChange(change) => change.auction_uuid,
        }
    }

    /// UUID of the auction: the item's auction, or the auction whose status changed.
    pub const fn auction(&self) -> Uuid {
        match self {
            Self::ItemStatusChange(change) => change.auction_uuid,
            Self::AuctionStatusChange(change) => change.auction_uuid,
        }
    }

    /// The auctioneer of the auction.
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
        fields.reject_unknown()?;
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
        fields.reject_unknown()?;
        Ok(change)
    }
}

impl<'de> Deserialize<'de> for AuctionStatusChange {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::read(Fields::deserialize(deserializer)?).map_err(serde::de::Error::custom)
    }
}
