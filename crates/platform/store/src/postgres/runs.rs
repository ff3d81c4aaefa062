//! Downtimes.

use async_trait::async_trait;
use jiff::Timestamp;
use platform_core::port::{Downtime, Runs, StoreResult};

use super::Shared;
use super::rows;
use crate::codec::ms;

#[async_trait]
impl Runs for Shared {
    async fn note_run(&self, now: Timestamp, gap_ms_max: i64) -> StoreResult<Option<Downtime>> {
        // What is read in an update is what was there before it.
        let note = "INSERT INTO runs AS r (no, alive_ms) VALUES (1, $1) ON CONFLICT (no) DO UPDATE SET \
             down_since_ms = CASE WHEN $1 - r.alive_ms > $2 THEN coalesce(r.down_since_ms, r.alive_ms) \
             ELSE r.down_since_ms END, \
             down_until_ms = CASE WHEN $1 - r.alive_ms > $2 THEN $1 ELSE r.down_until_ms END, \
             alive_ms = greatest(r.alive_ms, $1) \
             RETURNING down_since_ms, down_until_ms";
        let kept = rows::one(&self.client().await?, note, &[&ms(now), &gap_ms_max], |row| {
            Ok((rows::optional_time(row, 0)?, rows::optional_time(row, 1)?))
        })
        .await?;
        Ok(kept.and_then(|(since, until)| Some(Downtime { since: since?, until: until? })))
    }

    async fn end_downtime(&self, downtime: Downtime) -> StoreResult<()> {
        let end = "UPDATE runs SET down_since_ms = NULL, down_until_ms = NULL WHERE down_until_ms = $1";
        Ok(rows::execute(&self.client().await?, end, &[&ms(downtime.until)]).await.map(drop)?)
    }
}
