//! Telephone bookings of webcasts: whom staff call before a lot, and on which line.

use async_trait::async_trait;
use jiff::Timestamp;
use uuid::Uuid;

use super::StoreResult;

/// A bidder who wants to bid on an item by telephone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TelephoneBooking {
    /// The item's auction.
    pub auction: Uuid,
    /// The item.
    pub item: Uuid,
    /// Paddle of the bidder; one booking of each paddle on an item.
    pub paddle: String,
    /// Telephone number in the words of the person who entered it. It is personal data.
    pub telephone: String,
    /// The line, or the name of the member of staff who calls; may be empty.
    pub line: String,
    /// When it was entered or changed last.
    pub changed_at: Timestamp,
    /// Who did that, as logs name them.
    pub changed_by: String,
}

/// Telephone bookings.
#[async_trait]
pub trait TelephoneBookingStore: Send + Sync {
    /// The bookings of an auction, in the order of items and paddles.
    async fn telephone_bookings(&self, auction: Uuid) -> StoreResult<Vec<TelephoneBooking>>;
    /// The bookings of an item, in the order of paddles.
    async fn telephone_bookings_of(&self, item: Uuid) -> StoreResult<Vec<TelephoneBooking>>;
    /// Enters a booking, or replaces the one of the same paddle on the item. False, with no change, when the auction has
    /// `bookings_max` others already.
    async fn put_telephone_booking(&self, booking: TelephoneBooking, bookings_max: usize) -> StoreResult<bool>;
    /// Removes a booking. False when there was none.
    async fn remove_telephone_booking(&self, item: Uuid, paddle: &str) -> StoreResult<bool>;
}
