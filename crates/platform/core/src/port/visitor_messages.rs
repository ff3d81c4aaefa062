//! Messages of the clerk to all visitors of a webcast.

use async_trait::async_trait;
use contract::AuctionStatus;
use jiff::Timestamp;
use platform_rules::{Auction, AuctionKind};
use uuid::Uuid;

use super::StoreResult;

/// A message of the clerk to all visitors of a webcast.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VisitorMessage {
    /// The auction.
    pub auction: Uuid,
    /// Its number in the sale, from 1.
    pub number: i64,
    /// The lot that was in the ring.
    pub item: Option<Uuid>,
    /// Who wrote it, as the journal names callers.
    pub actor: String,
    /// One line.
    pub text: String,
    /// When it was written.
    pub at: Timestamp,
    /// Who took it off the stage, and when; none while it was not.
    pub cleared: Option<(String, Timestamp)>,
}

/// Messages that visitors see, the latest ones.
pub const VISITOR_MESSAGES_SHOWN: usize = 20;

impl VisitorMessage {
    /// Visitors of this sale see messages: it is a webcast, and live.
    pub fn are_shown(sale: &Auction) -> bool {
        sale.kind == AuctionKind::Webcast && sale.status == AuctionStatus::Live
    }

    /// The message on the stage, among the latest ones, the newest first.
    pub fn on_stage(latest: &[Self]) -> Option<&Self> {
        latest.first().filter(|message| message.cleared.is_none())
    }
}

/// Messages to visitors. The last one of a sale is on the stage until it is cleared.
#[async_trait]
pub trait VisitorMessageStore: Send + Sync {
    /// Stores a message. `Conflict` when the sale has one with this number.
    async fn put_visitor_message(&self, message: VisitorMessage) -> StoreResult<()>;
    /// Takes a message off the stage. One that was cleared before keeps who did it.
    async fn clear_visitor_message(&self, auction: Uuid, number: i64, actor: &str, at: Timestamp) -> StoreResult<()>;
    /// The latest messages of a sale, the newest first, at most `limit`.
    async fn visitor_messages(&self, auction: Uuid, limit: usize) -> StoreResult<Vec<VisitorMessage>>;
}
