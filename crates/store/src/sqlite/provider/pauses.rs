//! Which endpoints nodes leave alone because their receivers asked for it.

use ::provider::port::supervision::Pauses;
use ::provider::port::{NodeId, StoreResult};
use async_trait::async_trait;
use jiff::Timestamp;

use super::Sqlite;
use super::rows::{self, ms};

#[async_trait]
impl Pauses for Sqlite {
    async fn note_pause(&self, node: &NodeId, endpoint: &str, until: Timestamp, now: Timestamp) -> StoreResult<()> {
        let (node, endpoint) = (node.clone(), endpoint.to_owned());
        self.write(move |db| {
            db.prepare_cached("DELETE FROM pauses WHERE until <= ?1")?.execute([ms(now)])?;
            let note = "INSERT INTO pauses (endpoint, node, until, at) VALUES (?1, ?2, ?3, ?4) \
                 ON CONFLICT (endpoint, node) DO UPDATE SET until = excluded.until, at = excluded.at";
            db.prepare_cached(note)?.execute((&endpoint, &*node.0, ms(until), ms(now)))?;
            Ok(())
        })
        .await
    }

    async fn paused_until(
        &self,
        endpoint: &str,
        now: Timestamp,
        heard_since: Timestamp,
    ) -> StoreResult<Option<Timestamp>> {
        let endpoint = endpoint.to_owned();
        self.read(move |db| {
            let select = "SELECT p.until FROM pauses p JOIN nodes n ON n.id = p.node JOIN endpoints e ON e.id = p.endpoint \
                 WHERE p.endpoint = ?1 AND p.until > ?2 AND n.heard_at >= ?3 AND p.at >= e.updated_at \
                 ORDER BY p.until DESC LIMIT 1";
            rows::one(db, select, (&endpoint, ms(now), ms(heard_since)), |row| rows::time(row, 0))
        })
        .await
    }
}
