//! The hold after a restore from a backup.

use async_trait::async_trait;
use kit_runtime::hold::Hold;

use super::StoreResult;

/// The hold, which outlives every process: no node starts while there is one.
#[async_trait]
pub trait HoldStore: Send + Sync {
    /// The hold; none when the installation may work.
    async fn hold(&self) -> StoreResult<Option<Hold>>;
    /// Begins a hold, replaces one, or ends it.
    async fn put_hold(&self, hold: Option<Hold>) -> StoreResult<()>;
}
