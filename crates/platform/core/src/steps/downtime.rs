//! Detects that all nodes were down: `docs/decisions/0014-ends-in-a-downtime.md`.

use jiff::Timestamp;

use crate::Platform;
use crate::error::PlatformResult;
use crate::port::Downtime;

/// A time without a heartbeat that is longer than this is a downtime. Nodes send one every second.
pub(crate) const HEARTBEAT_GAP_MS_MAX: i64 = 3_000;

impl Platform {
    /// Records a heartbeat. Returns the stored downtime, if there is one.
    pub(crate) async fn detect_downtime(&self, now: Timestamp) -> PlatformResult<Option<Downtime>> {
        Ok(self.store().detect_downtime(now, HEARTBEAT_GAP_MS_MAX).await?)
    }
}
