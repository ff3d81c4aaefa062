//! The installation as a whole.

use async_trait::async_trait;

use super::StoreResult;

/// The facts that the store has once for the installation.
#[async_trait]
pub trait InstallationStore: Send + Sync {
    /// How often the installation was restored from a backup; 0 if never.
    async fn restores(&self) -> StoreResult<u32>;
    /// Counts a restore, and returns the new number of restores. It is at least `at_least`, because a backup that is
    /// restored a second time contains the number from before the first time.
    ///
    /// No node may run: a node reads the number once, at its start.
    async fn count_restore(&self, at_least: u32) -> StoreResult<u32>;
}
