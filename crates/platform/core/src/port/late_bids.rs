//! Bids over the internet that arrived after the end of their lot, and bids that no longer count.

use async_trait::async_trait;
use jiff::Timestamp;
use platform_rules::StrikeReason;
use uuid::Uuid;

use super::StoreResult;

/// A bid that arrived after the end of its lot. It was refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeptLateBid {
    /// UUID, version 7.
    pub uuid: Uuid,
    /// The auction.
    pub auction: Uuid,
    /// The item.
    pub item: Uuid,
    /// Paddle of the bidder.
    pub paddle: String,
    /// Minor units.
    pub amount: i64,
    /// When the server received it.
    pub received_at: Timestamp,
    /// Milliseconds after the end of the lot.
    pub late_ms: i64,
}

/// A bid that was cancelled, undone or retracted, or whose price was lowered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WithdrawnBid {
    /// The item.
    pub item: Uuid,
    /// Paddle of the bidder; empty for one in the room whose paddle is not known.
    pub paddle: String,
    /// Minor units.
    pub amount: i64,
    /// When it was accepted.
    pub at: Timestamp,
    /// Why it no longer counts.
    pub strike: StrikeReason,
    /// The reason that a person gave.
    pub reason: Option<String>,
    /// Who struck it, as the journal names callers.
    pub actor: String,
    /// When.
    pub struck_at: Timestamp,
}

/// Late and withdrawn bids of an auction.
#[async_trait]
pub trait LateBidStore: Send + Sync {
    /// Stores a late bid, unless its item has as many as the first number of `kept_max`, or as many with the paddle as the second.
    async fn keep_late_bid(&self, bid: KeptLateBid, kept_max: (usize, usize)) -> StoreResult<()>;
    /// The late bids of an auction, or those with one paddle, the latest first, at most `limit`.
    async fn late_bids_of(&self, auction: Uuid, paddle: Option<&str>, limit: usize) -> StoreResult<Vec<KeptLateBid>>;
    /// Struck bids of an auction, the last struck first, at most `limit`.
    async fn struck_bids_of(&self, auction: Uuid, limit: usize) -> StoreResult<Vec<WithdrawnBid>>;
}
