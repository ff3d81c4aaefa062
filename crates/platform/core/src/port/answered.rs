//! The part of the port for writes that are no [`Change`](super::Change) and whose answer is kept with them.

use async_trait::async_trait;
use jiff::Timestamp;
use uuid::Uuid;

use super::{IdempotentAnswer, StoreResult};

/// What such an answer takes.
#[async_trait]
pub trait AnsweredWrites: Send + Sync {
    /// An id for an auctioneer whose answer has to say it before it is written. Given once: if nothing is written, nothing
    /// ever has it.
    async fn next_auctioneer_id(&self) -> StoreResult<i64>;
    /// Lets a parked queue run again, and keeps the answer. The connection counts as changed at `at`; what waits for its time is
    /// due at once. `Replayed` when the answer's key was used before; nothing is done then.
    async fn resume_queue(&self, customer: Uuid, at: Timestamp, answer: Option<IdempotentAnswer>) -> StoreResult<()>;
}
