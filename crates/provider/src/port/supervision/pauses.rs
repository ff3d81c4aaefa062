//! Which endpoints nodes leave alone because their receivers asked for it. The pause itself is in each node's memory; this is
//! for people who ask why something waits.

use async_trait::async_trait;
use jiff::Timestamp;

use super::super::{NodeId, StoreResult};

/// Part of [`super::Supervision`].
#[async_trait]
pub trait Pauses: Send + Sync {
    /// Says that `node` leaves the endpoint alone until then. Forgets pauses that are over.
    async fn note_pause(&self, node: &NodeId, endpoint: &str, until: Timestamp, now: Timestamp) -> StoreResult<()>;
    /// Until when the endpoint is left alone by a node that was heard of since `heard_since`; none when by nobody, or when the
    /// endpoint was changed after that was said.
    async fn paused_until(
        &self,
        endpoint: &str,
        now: Timestamp,
        heard_since: Timestamp,
    ) -> StoreResult<Option<Timestamp>>;
}
