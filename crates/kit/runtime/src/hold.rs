//! The hold after a restore: nothing is decided, published or delivered until an operator has looked at what would happen.

use jiff::Timestamp;

/// An installation that was restored from a backup and has not been resumed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hold {
    /// The time of which the backup is; none when the operator restored with the database's own tools and did not give it.
    pub backup_at: Option<Timestamp>,
    /// When it was restored.
    pub since: Timestamp,
}
