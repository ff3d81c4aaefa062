//! The activity log of accounts.

use async_trait::async_trait;

use super::{Scan, ScanResult, StoreResult};
use crate::model::ActivityEntry;

/// The activity log. Calls that change users, keys and settings write their entry in their own transaction.
#[async_trait]
pub trait ActivityStore: Send + Sync {
    /// Adds an entry whose change is committed already.
    async fn record_activity(&self, entry: ActivityEntry) -> StoreResult<()>;
    /// Entries of an account that contain `text` in the actor, the action or the subject, in any case of ASCII letters;
    /// all when it is empty. `bytes_max` of the scan is ignored.
    async fn activity(&self, account: &str, text: &str, scan: &Scan) -> StoreResult<ScanResult<ActivityEntry>>;
    /// Deletes at most `limit` entries with ids before `before`; returns the number deleted.
    async fn delete_old_activity(&self, before: &str, limit: usize) -> StoreResult<usize>;
}
