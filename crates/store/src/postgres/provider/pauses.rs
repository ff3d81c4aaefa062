//! Which endpoints nodes leave alone because their receivers asked for it.

use ::provider::port::supervision::Pauses;
use ::provider::port::{NodeId, StoreResult};
use async_trait::async_trait;
use jiff::Timestamp;

use super::Provider;
use super::rows;

#[async_trait]
impl Pauses for Provider {
    async fn note_pause(&self, node: &NodeId, endpoint: &str, until: Timestamp, now: Timestamp) -> StoreResult<()> {
        let client = self.engine.client().await?;
        rows::write(&client, "DELETE FROM pauses WHERE until <= $1", &[&now]).await?;
        let note = "INSERT INTO pauses (endpoint, node, until, at) VALUES ($1, $2, $3, $4) \
             ON CONFLICT (endpoint, node) DO UPDATE SET until = excluded.until, at = excluded.at";
        rows::write(&client, note, &[&endpoint, &&*node.0, &until, &now]).await?;
        Ok(())
    }

    async fn paused_until(
        &self,
        endpoint: &str,
        now: Timestamp,
        heard_since: Timestamp,
    ) -> StoreResult<Option<Timestamp>> {
        let client = self.engine.client().await?;
        let select = "SELECT p.until FROM pauses p JOIN nodes n ON n.id = p.node JOIN endpoints e ON e.id = p.endpoint \
             WHERE p.endpoint = $1 AND p.until > $2 AND n.heard_at >= $3 AND p.at >= e.updated_at \
             ORDER BY p.until DESC LIMIT 1";
        Ok(rows::one(&client, select, &[&endpoint, &now, &heard_since], |row| rows::get(row, 0)).await?)
    }
}
