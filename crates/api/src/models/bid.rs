//! Bids.

use platform::bid::{Bid, BidSource};
use serde::Serialize;
use utoipa::ToSchema;
use uuid::Uuid;

use super::{ItemView, time};

/// An accepted bid. Never edited.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Bid)]
pub(crate) struct BidView {
    pub(crate) uuid: Uuid,
    /// Number of the bid on its item, from 1 without gaps.
    pub(crate) number: i64,
    pub(crate) bidder: String,
    /// Minor units.
    pub(crate) amount: i64,
    /// `internet` or `room`.
    pub(crate) source: &'static str,
    #[schema(format = DateTime)]
    pub(crate) at: String,
}

impl From<&Bid> for BidView {
    fn from(bid: &Bid) -> Self {
        Self {
            uuid: bid.uuid,
            number: bid.number,
            bidder: bid.bidder.clone(),
            amount: bid.amount,
            source: match bid.source {
                BidSource::Internet => "internet",
                BidSource::Room => "room",
            },
            at: time(bid.at),
        }
    }
}

/// A bid with the item as it stands after it.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = PlacedBid)]
pub(crate) struct PlacedBidView {
    pub(crate) bid: BidView,
    pub(crate) item: ItemView,
}
