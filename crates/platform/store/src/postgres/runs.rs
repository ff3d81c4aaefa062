//! Downtimes.

use async_trait::async_trait;
use jiff::Timestamp;
use platform_core::port::{Downtime, Downtimes, StoreResult};

use super::PostgresStore;
use super::rows;
use crate::codec::ms;

#[async_trait]
impl Downtimes for PostgresStore {
    async fn detect_downtime(&self, now: Timestamp, gap_ms_max: i64) -> StoreResult<Option<Downtime>> {
        // What is read in an update is what was there before it.
        let note = "INSERT INTO downtime AS r (no, last_alive_at_ms) VALUES (1, $1) ON CONFLICT (no) DO UPDATE SET \
             down_since_ms = CASE WHEN $1 - r.last_alive_at_ms > $2 THEN coalesce(r.down_since_ms, r.last_alive_at_ms) \
             ELSE r.down_since_ms END, \
             down_until_ms = CASE WHEN $1 - r.last_alive_at_ms > $2 THEN $1 ELSE r.down_until_ms END, \
             last_alive_at_ms = greatest(r.last_alive_at_ms, $1) \
             RETURNING down_since_ms, down_until_ms";
        let kept = rows::one(&self.client().await?, note, &[&ms(now), &gap_ms_max], |row| {
            Ok((rows::optional_time(row, 0)?, rows::optional_time(row, 1)?))
        })
        .await?;
        Ok(kept.and_then(|(since, until)| Some(Downtime { since: since?, until: until? })))
    }

    async fn clear_downtime(&self, downtime: Downtime) -> StoreResult<()> {
        let end = "UPDATE downtime SET down_since_ms = NULL, down_until_ms = NULL WHERE down_until_ms = $1";
        Ok(rows::execute(&self.client().await?, end, &[&ms(downtime.until)]).await.map(drop)?)
    }
}
