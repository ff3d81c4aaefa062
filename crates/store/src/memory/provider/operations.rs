//! What those who run the provider ask.

use ::provider::port::operations::{BACKLOG_COUNT_MAX, Operations};
use ::provider::port::{Backlog, NodeId, StoreResult};
use async_trait::async_trait;
use jiff::Timestamp;

use super::Memory;

#[async_trait]
impl Operations for Memory {
    async fn total_backlog(&self) -> StoreResult<Backlog> {
        let backlog = self.tables().work.total_backlog();
        Ok(Backlog { deliveries: backlog.deliveries.min(BACKLOG_COUNT_MAX as u64), ..backlog })
    }

    async fn leave(&self, node: &NodeId, now: Timestamp) -> StoreResult<()> {
        self.tables().work.leave(node, now);
        Ok(())
    }

    async fn living_nodes(&self, heard_since: Timestamp) -> StoreResult<usize> {
        Ok(self.tables().work.living_nodes(heard_since))
    }
}
