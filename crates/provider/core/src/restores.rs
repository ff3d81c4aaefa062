//! An installation that was restored from a backup is on hold: no node starts until an operator resumes it. Messages that wait in the
//! backup may have been delivered since, so the operator sees their number first.

pub use kit_runtime::hold::Hold;

use crate::Provider;
use crate::error::ProviderResult;

impl Provider {
    /// The hold; none when the installation may work. For the operator; it checks no caller.
    pub async fn hold(&self) -> ProviderResult<Option<Hold>> {
        Ok(self.store().hold().await?)
    }

    /// Puts a restored installation on hold. No node may run. For the operator; it checks no caller.
    pub async fn put_on_hold(&self, hold: Hold) -> ProviderResult<()> {
        Ok(self.store().put_hold(Some(hold)).await?)
    }

    /// Ends the hold. For the operator; it checks no caller.
    pub async fn end_hold(&self) -> ProviderResult<()> {
        Ok(self.store().put_hold(None).await?)
    }

    /// Deliveries that would be sent as soon as a node starts; at most
    /// [`BACKLOG_COUNT_MAX`](crate::port::BACKLOG_COUNT_MAX) are counted. For the operator; it checks no caller.
    pub async fn waiting_deliveries(&self) -> ProviderResult<u64> {
        Ok(self.store().total_backlog().await?.deliveries)
    }
}
