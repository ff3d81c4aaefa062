//! Downtimes.

use ::platform::port::{Downtime, Runs as RunsPort, StoreResult};
use async_trait::async_trait;
use jiff::Timestamp;

use super::Memory;

#[derive(Default)]
pub(super) struct Runs {
    alive: Option<Timestamp>,
    down: Option<Downtime>,
}

#[async_trait]
impl RunsPort for Memory {
    async fn note_run(&self, now: Timestamp, gap_ms_max: i64) -> StoreResult<Option<Downtime>> {
        let runs = &mut self.tables().runs;
        if let Some(alive) = runs.alive
            && now.as_millisecond() - alive.as_millisecond() > gap_ms_max
        {
            runs.down = Some(Downtime { since: runs.down.map_or(alive, |down| down.since), until: now });
        }
        runs.alive = runs.alive.max(Some(now));
        Ok(runs.down)
    }

    async fn end_downtime(&self, downtime: Downtime) -> StoreResult<()> {
        let runs = &mut self.tables().runs;
        runs.down = runs.down.filter(|down| down.until != downtime.until);
        Ok(())
    }
}
