//! Which endpoints nodes leave alone because their receivers asked for it.

use std::collections::HashMap;

use ::provider::model::Id;
use ::provider::port::supervision::Pauses;
use ::provider::port::{NodeId, StoreResult};
use async_trait::async_trait;
use jiff::Timestamp;

use super::Memory;

/// Until when, and when that was said; by endpoint and node.
pub(super) type PauseTable = HashMap<(Id, NodeId), (Timestamp, Timestamp)>;

#[async_trait]
impl Pauses for Memory {
    async fn note_pause(&self, node: &NodeId, endpoint: &str, until: Timestamp, now: Timestamp) -> StoreResult<()> {
        let pauses = &mut self.tables().pauses;
        pauses.retain(|_, (until, _)| *until > now);
        pauses.insert((endpoint.into(), node.clone()), (until, now));
        Ok(())
    }

    async fn paused_until(
        &self,
        endpoint: &str,
        now: Timestamp,
        heard_since: Timestamp,
    ) -> StoreResult<Option<Timestamp>> {
        let tables = self.tables();
        let Some((_, changed)) = tables.endpoint_anywhere(endpoint) else { return Ok(None) };
        let of_endpoint = tables.pauses.iter().filter(|((of, node), (until, at))| {
            **of == *endpoint && *until > now && *at >= changed.updated_at && tables.work.lives(node, heard_since)
        });
        Ok(of_endpoint.map(|(_, (until, _))| *until).max())
    }
}
