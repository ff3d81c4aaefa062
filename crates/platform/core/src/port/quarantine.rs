//! The part of the port for the end of a connection, and for events in quarantine.

use async_trait::async_trait;
use uuid::Uuid;

use super::{Cursor, IdempotentAnswer, StoreResult};

/// What becomes of an event of whose subject a later one has gone out already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OvertakenPolicy {
    /// It is not sent: its consumer would take an old status for the new one.
    Refuse,
    /// It is sent, out of order.
    Send,
}

/// What support does about them.
#[async_trait]
pub trait Quarantine: Send + Sync {
    /// Takes the connection away, its key, and what waits to be published; the journal and the quarantine stay. How many events
    /// waited; none when there was no connection.
    async fn disconnect(&self, customer: Uuid) -> StoreResult<Option<u64>>;
    /// Those of these events in a customer's quarantine of whose subject a later announced one is neither waiting nor in quarantine: it was
    /// published, is on its way, or was dropped.
    async fn overtaken(&self, customer: Uuid, cursors: Vec<Cursor>) -> StoreResult<Vec<Cursor>>;
    /// Puts events from quarantine back into the outbox, untried, all of them or none, with the answer. `Conflict` when one is
    /// not in quarantine, was passed by and is not to be, or the customer is not connected; `Replayed`.
    async fn requeue_quarantined(
        &self,
        customer: Uuid,
        cursors: Vec<Cursor>,
        after_later: OvertakenPolicy,
        answer: Option<IdempotentAnswer>,
    ) -> StoreResult<()>;
    /// Takes events out of quarantine for good, all of them or none, with the answer. `Conflict` when one is not there; `Replayed`.
    async fn drop_quarantined(
        &self,
        customer: Uuid,
        cursors: Vec<Cursor>,
        answer: Option<IdempotentAnswer>,
    ) -> StoreResult<()>;
}
