//! Limits on the catalogues that a node reads at the same time.

use tokio::sync::Semaphore;

/// Workbooks that wait for their turn. One is read at a time, because it can take 200 MiB of memory.
const WORKBOOKS_WAITING_MAX: usize = 16;
/// Catalogues whose rows are compared with the lots at the same time: each keeps its rows in memory.
const MERGES_MAX: usize = 2;

/// Bounds what this node reads at the same time.
pub(crate) struct CatalogueTurns {
    pub(crate) workbooks_waiting: Semaphore,
    pub(crate) workbook: Semaphore,
    pub(crate) merges: Semaphore,
}

impl Default for CatalogueTurns {
    fn default() -> Self {
        Self {
            workbooks_waiting: Semaphore::new(WORKBOOKS_WAITING_MAX),
            workbook: Semaphore::new(1),
            merges: Semaphore::new(MERGES_MAX),
        }
    }
}
