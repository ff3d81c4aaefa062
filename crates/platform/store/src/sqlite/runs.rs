//! Downtimes.

use async_trait::async_trait;
use jiff::Timestamp;
use platform_core::port::{Downtime, Downtimes, StoreResult};

use super::{SqliteStore, rows};
use crate::codec::ms;

#[async_trait]
impl Downtimes for SqliteStore {
    async fn detect_downtime(&self, now: Timestamp, gap_ms_max: i64) -> StoreResult<Option<Downtime>> {
        // What is read in an update is what was there before it.
        let note = "INSERT INTO downtime (no, last_alive_at_ms) VALUES (1, ?1) ON CONFLICT (no) DO UPDATE SET \
             down_since_ms = CASE WHEN ?1 - last_alive_at_ms > ?2 THEN coalesce(down_since_ms, last_alive_at_ms) ELSE down_since_ms END, \
             down_until_ms = CASE WHEN ?1 - last_alive_at_ms > ?2 THEN ?1 ELSE down_until_ms END, \
             last_alive_at_ms = max(last_alive_at_ms, ?1) \
             RETURNING down_since_ms, down_until_ms";
        self.write(move |db| {
            let kept = rows::one(db, note, (ms(now), gap_ms_max), |row| {
                Ok((rows::optional_time(row, 0)?, rows::optional_time(row, 1)?))
            })?;
            Ok(kept.and_then(|(since, until)| Some(Downtime { since: since?, until: until? })))
        })
        .await
    }

    async fn clear_downtime(&self, downtime: Downtime) -> StoreResult<()> {
        let end = "UPDATE downtime SET down_since_ms = NULL, down_until_ms = NULL WHERE down_until_ms = ?1";
        self.write(move |db| rows::execute(db, end, [ms(downtime.until)]).map(drop)).await
    }
}
