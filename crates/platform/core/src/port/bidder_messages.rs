//! Messages of staff to the bidders of a sale.

use async_trait::async_trait;
use jiff::Timestamp;
use uuid::Uuid;

use super::{NoticeCause, StoreResult};

/// A message of staff to the bidders of a sale, or to one of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BidderMessage {
    /// UUID. The form carries it, so that a form that is sent twice writes once.
    pub uuid: Uuid,
    /// The auction.
    pub auction: Uuid,
    /// The registration of the bidder; none for a message to all approved bidders.
    pub registration: Option<Uuid>,
    /// Who wrote it, as the journal names callers.
    pub actor: String,
    /// One line.
    pub subject: String,
    /// Lines of text.
    pub text: String,
    /// When it was sent.
    pub at: Timestamp,
}

/// Messages to bidders.
#[async_trait]
pub trait BidderMessageStore: Send + Sync {
    /// Stores a message with the cause of its notices; both or none. `Taken("message")` when it was sent before.
    async fn send_message(&self, message: BidderMessage, cause: NoticeCause) -> StoreResult<()>;
    /// A message.
    async fn bidder_message(&self, uuid: Uuid) -> StoreResult<Option<BidderMessage>>;
    /// The latest messages of an auction, the newest first, at most `limit`.
    async fn messages_of_auction(&self, auction: Uuid, limit: usize) -> StoreResult<Vec<BidderMessage>>;
}
