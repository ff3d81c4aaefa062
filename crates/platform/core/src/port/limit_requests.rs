//! Wishes of bidders for a higher limit in a sale.

use async_trait::async_trait;
use jiff::Timestamp;
use uuid::Uuid;

use super::{NoticeCause, StoreResult};

/// The latest wish of a bidder for a higher limit. A registration has at most one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LimitRequest {
    /// The registration.
    pub registration: Uuid,
    /// The auction.
    pub auction: Uuid,
    /// The limit that the bidder asks for, minor units.
    pub amount: i64,
    /// What the bidder wrote; may be empty.
    pub words: String,
    /// When the bidder asked.
    pub asked_at: Timestamp,
    /// What staff decided; none while the wish is open.
    pub decision: Option<LimitDecision>,
}

/// What staff decided about a wish for a higher limit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LimitDecision {
    /// The limit that they set, minor units; none when they declined.
    pub granted: Option<i64>,
    /// Why they declined. The bidder reads it.
    pub reason: Option<String>,
    /// Who decided, as the journal names callers.
    pub actor: String,
    /// When.
    pub at: Timestamp,
}

/// A decision about the wish that a page showed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DecidedLimit {
    /// The registration.
    pub registration: Uuid,
    /// When the wish was made: a later one is another wish.
    pub asked_at: Timestamp,
    /// The decision.
    pub decision: LimitDecision,
}

/// Wishes for higher limits. [`RegistrationStore::put_registration`](super::RegistrationStore::put_registration) decides one that is
/// granted, with the limit.
#[async_trait]
pub trait LimitRequestStore: Send + Sync {
    /// Stores a wish in place of the one that was decided. `Taken("limit_request")` when the registration has an open one.
    async fn ask_limit(&self, request: LimitRequest) -> StoreResult<()>;
    /// The latest wish of a registration.
    async fn limit_request(&self, registration: Uuid) -> StoreResult<Option<LimitRequest>>;
    /// Open wishes of an auction, the oldest first, at most `limit`.
    async fn open_limit_requests(&self, auction: Uuid, limit: usize) -> StoreResult<Vec<LimitRequest>>;
    /// Decides a wish without a change of the limit, and inserts the cause. `Conflict` when it is not open any more.
    async fn decline_limit(&self, declined: DecidedLimit, cause: Option<NoticeCause>) -> StoreResult<()>;
}
